"""Local search: moves that lower the score of a graph, each fitted before it is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from rinn.structure import constants as c
from rinn.structure.first_graph import propose_graph
from rinn.structure.moves import (
    bypass_latent,
    contract_latent,
    find_noise_groups,
    insert_latent,
    propose_inserts,
    propose_merges,
    propose_splits,
    propose_targets,
    remove_latent,
    set_edges,
)
from rinn.structure.prior.log_odds import Prior
from rinn.structure.records import GraphSettings, Moments, Structure
from rinn.structure.score import Misfit, find_penalty

MIN_GAIN = 0.05  # of the score: fits stop at this tolerance
LATE_STEPS = 60  # of the fit of a graph that was fitted without the covariance so far

Scored = tuple[Structure, float]


class LocalSearch:
    """Moves that lower the score of a graph."""

    def __init__(self, moments: Moments, settings: GraphSettings, prior: Prior | None) -> None:
        self.misfit = Misfit(moments, effects_only=settings.effects_only)
        self.penalty, self.direct, self.prior = find_penalty(moments), settings.direct, prior
        self.with_covariance = not settings.effects_only

    def count_edges(self, graph: Structure) -> float:
        """How many edges a graph has, direct ones counted as more than one."""
        return float(graph.edges.sum() + (c.DIRECT - 1) * graph.is_direct.sum())

    def count_cost(self, graph: Structure) -> float:
        """The penalty of all edges, and what the prior says against the graph."""
        cost = self.penalty * self.count_edges(graph) + self._penalise_orphans(graph)
        return cost if self.prior is None else cost - 2 * self.prior.count_log_odds(graph)

    def _penalise_orphans(self, graph: Structure) -> float:
        """The penalty of latents without inputs of their own."""
        without = ~graph.edges[: graph.inputs, list(graph.latent_nodes)].any(axis=0)
        return self.penalty * c.NO_INPUT * float(without.sum())

    def is_better(self, after: Scored, now: Scored) -> bool:
        """Whether a change pays, apart from the penalty of latents without inputs."""
        return self.score_edges(after) < self.score_edges(now) - MIN_GAIN

    def score_edges(self, now: Scored) -> float:
        """The score without the penalty of latents that have no input."""
        return now[1] - self._penalise_orphans(now[0])

    def propose(self) -> Scored:
        """A first graph of proportional effects."""
        graph = propose_graph(self.misfit.moments, self.penalty)
        return self.fit(graph if self.prior is None else self.prior.obey(graph))

    def fit(self, graph: Structure, steps: int = 10) -> Scored:
        """Fit a simplified graph; return it with its score."""
        graph, misfit = self.misfit.fit(self._simplify(graph), steps)
        return graph, misfit + self.count_cost(graph)

    def improve(self, now: Scored, sweeps: int) -> Scored:
        """Try all moves until none helps."""
        now = self.polish(now)
        if not sweeps:
            return now
        moves: list[Callable[[Scored], Scored]] = [
            self._explain_groups,
            partial(self._repeat, propose_inserts), partial(self._repeat, propose_merges),
            self._reassign, self._split, self._remove, self._swap,
        ]  # fmt: skip
        if self.misfit.moments.has_few_samples:
            # With more samples, development graphs are no better for it.
            moves.append(self._bypass)
        if self.with_covariance:
            moves.insert(0, self._add_factors)
        for _ in range(sweeps):
            before = now[1]
            for move in moves:
                now = move(now)
            if now[1] >= before - MIN_GAIN:
                break
        return now

    def polish(self, now: Scored) -> Scored:
        """Drop and add single edges until neither helps."""
        while True:
            after = self._grow(self.prune(now))
            if not self.is_better(after, now):
                return after
            now = after

    def _penalise(self, graph: Structure, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        is_direct = (sources < graph.inputs) & (targets >= graph.first_output)
        return self.penalty * np.where(is_direct, c.DIRECT, 1.0)

    def _simplify(self, graph: Structure) -> Structure:
        """Remove or contract latents without use, with one child, or with one parent."""
        again = True
        while again:
            again = False
            reach = graph.reach
            for node in graph.latent_nodes:
                parents = np.flatnonzero(graph.edges[:, node])
                children = np.flatnonzero(graph.edges[node])
                used = reach[node, graph.first_output :].any()
                fed = reach[: graph.inputs, node].any()
                idle = not used or (
                    not fed and (not self.with_covariance or len(children) < c.MIN_FACTOR_CHILDREN)
                )
                if idle:
                    graph, again = remove_latent(graph, node), True
                elif len(children) == 1 or self._is_redundant(graph, parents, children):
                    graph, again = contract_latent(graph, node), True
                if again:
                    break
        if not self.direct and graph.is_direct.any():
            sources, targets = np.nonzero(graph.is_direct)
            graph = set_edges(graph, sources, targets, None)
        return graph

    def _is_redundant(self, graph: Structure, parents: np.ndarray, children: np.ndarray) -> bool:
        """Whether the only parent of a latent could act on its children with no more edges."""
        if self.with_covariance or len(parents) != 1:
            return False
        if parents[0] >= graph.inputs:
            return True
        outputs = int((children >= graph.first_output).sum())
        if outputs and not self.direct:
            return False
        return c.DIRECT * outputs + len(children) - outputs <= len(children) + 1

    def prune(self, now: Scored) -> Scored:
        """Drop single edges that do not pay."""
        while True:
            graph = now[0]
            result = self.misfit.linearise(graph)
            losses = result.find_losses() - self._penalise(graph, *result.edges)
            if self.prior is not None:
                losses += 2 * self.prior.count_log_odds(graph)
                losses -= [
                    2 * self.prior.count_log_odds(set_edges(graph, u, v, None))
                    for u, v in zip(*result.edges, strict=True)
                ]
            order = np.flatnonzero(losses < 0)
            order = order[np.argsort(losses[order], kind="stable")]
            trials = [order[: len(order) // 3]] if len(order) >= c.MIN_PRUNED else []
            trials += [order[i : i + 1] for i in range(min(c.MAX_PRUNED, len(order)))]
            sources, targets = result.edges
            for chosen in trials:
                after = self.fit(set_edges(graph, sources[chosen], targets[chosen], None))
                if self.is_better(after, now):
                    now = after
                    break
            else:
                return now

    def drop_unpaid(self, graph: Structure) -> Structure:
        """Drop edges into latents that do not pay by the variance which pooled effects have."""
        alone, now = Misfit(self.misfit.moments, effects_only=True), self.fit(graph, LATE_STEPS)
        while True:
            fitted = now[0]
            sources, targets = np.nonzero(fitted.edges)
            inner = np.flatnonzero(targets < fitted.first_output)
            inflation = self.misfit.moments.find_inflation(fitted.loadings)
            inflation = inflation[targets[inner] - fitted.inputs]
            losses = alone.linearise(alone.fit(fitted)[0]).find_losses()[inner] / inflation
            for index in np.argsort(losses, kind="stable")[: c.MAX_PRUNED]:
                u, v = sources[inner[index]], targets[inner[index]]
                after = self.fit(set_edges(fitted, u, v, None))
                rise = alone.measure_effects(after[0]) - alone.measure_effects(fitted)
                chance = max(rise, 0.0) * (1 - 1 / inflation[index])
                if self.score_edges(after) < self.score_edges(now) + chance - MIN_GAIN:
                    graph, now = after[0], after
                    break
            else:
                return graph

    def _grow(self, now: Scored) -> Scored:
        while True:
            best = self._find_addition(now)
            if best is None:
                return now
            now = self.prune(best)

    def _find_addition(self, now: Scored) -> Scored | None:
        graph, score = now
        (sources, targets), gains, weights = self._rank_additions(graph)
        several = _pick_apart(graph, sources, targets, gains)
        if len(several) >= c.MIN_BATCH:
            edges = sources[several], targets[several]
            after = self.fit(set_edges(graph, *edges, weights[several]))
            if after[1] < score - gains[several].sum() / 2 and self.is_better(after, now):
                return after
        best = None
        for tried, index in enumerate(np.argsort(-gains, kind="stable")[: c.MAX_TRIALS]):
            if gains[index] < -c.MAX_SHORTFALL * self.penalty:
                break
            after = self.fit(set_edges(graph, sources[index], targets[index], weights[index]))
            if self.is_better(after, now if best is None else best):
                best = after
            if best is not None and tried:
                break
        return best

    def _rank_additions(
        self, graph: Structure
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
        """Edges that may be added, what they would gain after their penalty, and their weights."""
        allowed = ~graph.edges & ~graph.reach.T
        allowed[:, : graph.inputs] = False
        allowed[graph.first_output :] = False
        if not self.direct:
            allowed[: graph.inputs, graph.first_output :] = False
        result = self.misfit.linearise(graph)
        edges, gains, weights = result.find_gains(allowed, c.MAX_RANKED)
        gains = gains - self._penalise(graph, *edges)
        if self.prior is not None:
            before = self.prior.count_log_odds(graph)
            gains += [
                2 * (self.prior.count_log_odds(set_edges(graph, u, v, 1.0)) - before)
                for u, v in zip(*edges, strict=True)
            ]
        return edges, gains, weights

    def _choose_best(self, now: Scored, candidates: Iterable[Structure]) -> Scored:
        """The best of several graphs, each pruned, if it is better than the current one."""
        best = now
        for candidate in candidates:
            after = self.fit(candidate)
            if after[1] < now[1] + c.MAX_RISE_PRUNED * self.penalty:
                after = self.prune(after)
            if after[1] < best[1] - MIN_GAIN:
                best = after
        return best

    def _polish_best(self, now: Scored, candidates: Iterable[Structure]) -> Scored:
        """The best of several graphs, polished, if it is better than the current one."""
        best = self._choose_best(now, candidates)
        after = best if best is now else self.polish(best)
        return after if after[1] < now[1] - MIN_GAIN else now

    def _repeat(self, propose: Callable[[Structure], Iterable[Structure]], now: Scored) -> Scored:
        """Take the best of what is proposed, and polish it, until nothing proposed helps."""
        while True:
            after = self._polish_best(now, propose(now[0]))
            if after is now:
                return now
            now = after

    def _explain_groups(self, now: Scored) -> Scored:
        """Insert latents for outputs that share noise, if their pooled effects have parents."""
        for children, loading in find_noise_groups(self.misfit.moments, now[0]):
            graph = now[0]
            at = graph.first_output + children
            wider = insert_latent(graph, [], at, np.zeros(0), loading)
            node = wider.first_output - 1
            allowed = np.zeros(wider.edges.shape, bool)
            allowed[:, node] = ~wider.reach[node]
            allowed[wider.first_output :] = False
            (sources, _), gains, weights = self.misfit.linearise(wider).find_gains(
                allowed, c.MAX_RANKED
            )
            chosen = gains > c.MIN_POOLED_GAIN * self.penalty
            if chosen.any():
                wider = set_edges(
                    wider, sources[chosen], np.full(chosen.sum(), node), weights[chosen]
                )
                after = self.polish(self.fit(wider))
                now = after if after[1] < now[1] - MIN_GAIN else now
        return now

    def _reassign(self, now: Scored) -> Scored:
        """Let each input act on those latents whose effects add up to its own."""
        for source in np.flatnonzero(now[0].edges[: now[0].inputs].any(axis=1)):
            proposed = propose_targets(now[0], int(source), self.misfit.moments, self.penalty)
            now = self._choose_best(now, proposed)
        return now

    def _split(self, now: Scored) -> Scored:
        for node in now[0].latent_nodes:
            if node < now[0].first_output:
                splits = list(propose_splits(now[0], node, self.misfit.moments, self.penalty))
                now = self._polish_best(now, splits)
        return now

    def _remove(self, now: Scored) -> Scored:
        for node in now[0].latent_nodes:
            if node >= now[0].first_output:
                break
            graph, score = now
            for change in (remove_latent, contract_latent):
                after = self.fit(change(graph, node))
                if after[1] < score + c.MAX_RISE_REMOVED * self.penalty and self.misfit.is_small:
                    after = self.polish(after)
                if after[1] < score - MIN_GAIN:
                    now = after
                    break
        return now

    def _bypass(self, now: Scored) -> Scored:
        """Let the parents of a latent act on a child of it themselves, as far as that pays.

        Where some have no effect through the child, edges that cancel their paths are saved.
        """
        inner, before = slice(now[0].inputs, now[0].first_output), now[0].latents
        for node, child in np.argwhere(now[0].edges[inner, inner]) + now[0].inputs:
            graph = now[0]
            if graph.latents == before and graph.edges[node, child]:
                after = self.fit(bypass_latent(graph, node, child))
                if after[1] < now[1] + c.MAX_RISE_REMOVED * self.penalty:
                    after = self.polish(after)
                is_smaller = self.count_edges(after[0]) < self.count_edges(graph)
                now = after if is_smaller and after[1] < now[1] - MIN_GAIN else now
        return now

    def _swap(self, now: Scored) -> Scored:
        """Remove each weak edge on trial, and let others replace it."""
        result = self.misfit.linearise(now[0])
        losses, latents = result.find_losses(), now[0].latents
        for index in np.argsort(losses, kind="stable")[: c.MAX_SWAPS]:
            graph, score = now
            u, v = result.edges[0][index], result.edges[1][index]
            if losses[index] > c.MAX_SWAP_LOSS * self.penalty or graph.latents != latents:
                break
            if graph.edges[u, v]:
                after = self.polish(self.fit(set_edges(graph, u, v, None)))
                now = after if after[1] < score - MIN_GAIN else now
        return now

    def _add_factors(self, now: Scored) -> Scored:
        """Add latents for outputs that are more correlated than the graph implies."""
        while True:
            trials = [self.fit(graph) for graph in self._propose_factors(now[0])]
            if not trials:
                return now
            after = self.polish(min(trials, key=lambda trial: trial[1]))
            if after[1] >= now[1] - MIN_GAIN:
                return now
            now = after

    def _propose_factors(self, graph: Structure) -> Iterable[Structure]:
        scale = np.sqrt(np.diag(self.misfit.moments.residual))
        excess = -self.misfit.linearise(graph).excess * np.outer(scale, scale)
        np.fill_diagonal(excess, 0.0)
        if graph.outputs < c.MIN_FACTOR_CHILDREN:
            return
        vectors = np.linalg.eigh(excess)[1]
        i, j = np.unravel_index(np.argmax(excess), excess.shape)
        for vector in (vectors[:, -1], vectors[:, -2], excess[i] + excess[j]):
            size = np.abs(vector)
            for cutoff in c.FACTOR_CUTOFFS:
                children = np.flatnonzero(size > cutoff * size.max())
                if len(children) < c.MIN_FACTOR_CHILDREN:
                    largest = np.argsort(-size, kind="stable")[: c.MIN_FACTOR_CHILDREN]
                    children = np.sort(largest)
                loading = vector[children] * scale[children]
                loading = loading / max(float(np.linalg.norm(loading)), 1e-12)
                noise = c.FACTOR_NOISE * float((scale**2).mean()) * len(children)
                at = graph.first_output + children
                yield insert_latent(graph, [], at, np.zeros(0), loading, noise)


def _pick_apart(
    graph: Structure, sources: np.ndarray, targets: np.ndarray, gains: np.ndarray
) -> np.ndarray:
    """Additions that pay, the best first, without common ends; at most one joins latents."""
    chosen: list[int] = []
    taken: set[tuple[str, int]] = set()
    for index in np.argsort(-gains, kind="stable").tolist():
        if gains[index] <= 0 or len(chosen) == c.MAX_BATCH:
            break
        ends = {("source", int(sources[index])), ("target", int(targets[index]))}
        if sources[index] >= graph.inputs and targets[index] < graph.first_output:
            ends.add(("between", 0))
        if not ends & taken:
            chosen.append(index)
            taken |= ends
    return np.array(chosen, int)
