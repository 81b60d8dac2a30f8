"""The search for the graph with the best score.

From a first graph of proportional effects, and then from graphs of perturbed effects, the score is
lowered move by move: edges are added by score tests and dropped by Wald tests, latents are
inserted, merged, split, removed or contracted, and single edges are taken out on trial. Every graph
that is taken is fitted and has a better score than the one before. The effects come first, then the
covariance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from rinn.config import Stream
from rinn.structure import constants as c
from rinn.structure.candidates import find_groups, propose_inserts, propose_merges, propose_splits
from rinn.structure.moves import (
    contract_latent,
    insert_latent,
    remove_latent,
    remove_unreached,
    set_edges,
)
from rinn.structure.prior import Prior
from rinn.structure.proposal import propose_graph
from rinn.structure.records import GraphSettings, Moments, Structure
from rinn.structure.score import Misfit

GAIN = 0.05  # less is no better score: fits stop at this tolerance
LATE_STEPS = 60  # for a graph that was fitted without the covariance so far

Scored = tuple[Structure, float]


def find_penalty(moments: Moments) -> float:
    """The penalty of an edge: log(samples) + log(inputs x outputs)."""
    return float(np.log(max(moments.samples, 8)) + np.log(max(moments.effects.size, 8)))


def find_structure(
    moments: Moments,
    settings: GraphSettings | None = None,
    prior: Prior | None = None,
    *,
    start: Structure | None = None,
    sweeps: int = c.SWEEPS,
    starts: int = 0,
) -> Structure:
    """Search for the graph with the lowest score."""
    settings = settings or GraphSettings()
    if moments.effects.shape[0] > c.MANY_INPUTS and prior is None:
        return _search_part(moments, settings, start, sweeps)
    return _search(moments, settings, prior, start, sweeps, starts)


def _search_part(
    moments: Moments, settings: GraphSettings, start: Structure | None, sweeps: int
) -> Structure:
    """Search among the inputs with clear effects, or those of the start; the others get no edge."""
    inputs = len(moments.effects)
    if start is None:
        clear = (moments.z**2).max(axis=1) > find_penalty(moments) / 2
    else:
        clear = start.edges[:inputs].any(axis=1)
    kept, left = np.flatnonzero(clear), np.flatnonzero(~clear)
    # Effects of the kept inputs where the others have none.
    inner = moments.inputs[np.ix_(kept, kept)]
    more = np.linalg.lstsq(
        inner, moments.inputs[np.ix_(kept, left)] @ moments.effects[left], rcond=None
    )[0]
    part = replace(moments, inputs=inner, effects=moments.effects[kept] + more)
    if start is None:
        found = _search(part, settings, None, None, min(sweeps, 1))
    else:
        nodes = np.concatenate([kept, np.arange(inputs, len(start.edges))])
        block = np.ix_(nodes, nodes)
        start = replace(
            start, inputs=len(kept), edges=start.edges[block], weights=start.weights[block]
        )
        search = Search(part, replace(settings, effects_only=True), None)
        found = search.prune(search.fit(start))[0]  # a resample only says which edges it drops
    count = inputs + len(found.edges) - len(kept)
    edges, weights = np.zeros((count, count), bool), np.zeros((count, count))
    block = np.ix_(*[np.concatenate([kept, np.arange(inputs, count)])] * 2)
    edges[block], weights[block] = found.edges, found.weights
    return replace(found, inputs=inputs, edges=edges, weights=weights)


def _search(
    moments: Moments,
    settings: GraphSettings,
    prior: Prior | None,
    start: Structure | None,
    sweeps: int,
    starts: int = 0,
) -> Structure:
    alone = replace(settings, effects_only=True)
    by_effects = settings.effects_only or Misfit(moments).share < c.MIN_SHARE
    search = Search(moments, alone if by_effects else settings, prior)
    if start is not None:
        return search.improve(search.fit(start, LATE_STEPS), sweeps)[0]
    first = Search(moments, alone, prior)
    found = _search_effects(first, sweeps, starts)
    if not by_effects:
        found = [search.improve(search.fit(graph, LATE_STEPS), sweeps) for graph, _ in found]
        found = [_drop_without_effects(one, search) for one in found]
    if not settings.effects_only:
        found = [_insert_shared(one, search) for one in found]
    return min(found, key=search.score_plain)[0]


def _search_effects(search: Search, sweeps: int, starts: int) -> list[Scored]:
    """The best graphs of several starts, the best first."""
    found: dict[float, Scored] = {}
    repeats: Counter[float] = Counter()
    for start in _find_starts(search, starts, sweeps):
        one = search.improve(start, sweeps)
        key = round(one[1], 3)  # graphs with the same score are the same
        found.setdefault(key, one)
        repeats[key] += 1
        if repeats[min(repeats)] == c.MAX_REPEATS:
            break
    limit = min(found) + c.MAX_BEHIND * search.penalty
    return [found[key] for key in sorted(found) if key <= limit][: c.MAX_FINISHED]


def _find_starts(search: Search, count: int, sweeps: int) -> Iterator[Scored]:
    """Graphs to begin from: one of proportional effects, others of perturbed effects."""
    yield search.propose()
    for moments in _perturb(search.misfit.moments, count):
        other = Search(
            moments, GraphSettings(direct=search.direct, effects_only=True), search.prior
        )
        yield search.fit(other.improve(other.propose(), min(sweeps, 2))[0])


def _perturb(moments: Moments, count: int) -> Iterable[Moments]:
    """Moments whose effects are drawn from their sampling distribution: other starts."""
    rng = np.random.default_rng([Stream.UNSEEDED, *moments.effects.shape])
    spread = np.linalg.pinv(moments.inputs, rcond=1e-9, hermitian=True) / moments.samples
    values, vectors = np.linalg.eigh(spread)
    above = vectors * np.sqrt(np.maximum(values, 0.0))
    below = np.linalg.cholesky(moments.residual)
    for _ in range(count):
        noise = above @ rng.normal(size=moments.effects.shape) @ below.T
        yield replace(moments, effects=moments.effects + noise)


class Search:
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
        cost = self.penalty * self.count_edges(graph) + self._count_without_inputs(graph)
        return cost if self.prior is None else cost - 2 * self.prior.count_log_odds(graph)

    def _count_without_inputs(self, graph: Structure) -> float:
        """The penalty of latents without inputs of their own."""
        without = ~graph.edges[: graph.inputs, list(graph.latent_nodes)].any(axis=0)
        return self.penalty * c.NO_INPUT * float(without.sum())

    def is_better(self, after: Scored, now: Scored) -> bool:
        """Whether an edge more or less pays by itself, not by giving a latent an input."""
        return self.score_plain(after) < self.score_plain(now) - GAIN

    def score_plain(self, now: Scored) -> float:
        """The score without the penalty of latents that have no input."""
        return now[1] - self._count_without_inputs(now[0])

    def propose(self) -> Scored:
        """A first graph of proportional effects."""
        graph = propose_graph(self.misfit.moments, self.penalty)
        return self.fit(graph if self.prior is None else self.prior.obey(graph))

    def fit(self, graph: Structure, steps: int = 10) -> Scored:
        """Fit a graph without what is of no use in it; and its score."""
        graph, misfit = self.misfit.fit(self._tidy(graph), steps)
        return graph, misfit + self.count_cost(graph)

    def improve(self, now: Scored, sweeps: int) -> Scored:
        """Try all moves until none helps."""
        now = self.polish(now)
        if not sweeps:
            return now
        moves: list[Callable[[Scored], Scored]] = [
            self._explain_groups,
            self._insert, self._merge, self._split, self._remove, self._swap,
        ]  # fmt: skip
        if self.with_covariance:
            moves.insert(0, self._add_factors)
        for _ in range(sweeps):
            before = now[1]
            for move in moves:
                now = move(now)
            if now[1] >= before - GAIN:
                break
        return now

    def polish(self, now: Scored) -> Scored:
        """Drop and add single edges until neither helps."""
        while True:
            after = self._grow(self.prune(now))
            if not self.is_better(after, now):
                return after
            now = after

    def _price(self, graph: Structure, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        is_direct = (sources < graph.inputs) & (targets >= graph.first_output)
        return self.penalty * np.where(is_direct, c.DIRECT, 1.0)

    def _tidy(self, graph: Structure) -> Structure:
        """Take out latents that only cost: without use, with one child, or with one parent."""
        again = True
        while again:
            again = False
            reach = graph.reach
            for node in graph.latent_nodes:
                parents = np.flatnonzero(graph.edges[:, node])
                children = np.flatnonzero(graph.edges[node])
                used = reach[node, graph.first_output :].any()
                fed = reach[: graph.inputs, node].any()
                idle = not used or (not fed and (not self.with_covariance or len(children) < 3))
                if idle:
                    graph, again = remove_latent(graph, node), True
                elif len(children) == 1 or self._is_needless(graph, parents, children):
                    graph, again = contract_latent(graph, node), True
                if again:
                    break
        if not self.direct and graph.is_direct.any():
            sources, targets = np.nonzero(graph.is_direct)
            graph = set_edges(graph, sources, targets, None)
        return graph

    def _is_needless(self, graph: Structure, parents: np.ndarray, children: np.ndarray) -> bool:
        """Whether the one parent of a latent acts on its children for no more edges."""
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
            found = self.misfit.linearise(graph)
            losses = found.find_losses() - self._price(graph, *found.edges)
            if self.prior is not None:
                losses += 2 * self.prior.count_log_odds(graph)
                losses -= [
                    2 * self.prior.count_log_odds(set_edges(graph, u, v, None))
                    for u, v in zip(*found.edges, strict=True)
                ]
            order = np.flatnonzero(losses < 0)
            order = order[np.argsort(losses[order], kind="stable")]
            trials = [order[: len(order) // 3]] if len(order) > 5 else []
            trials += [order[place : place + 1] for place in range(min(3, len(order)))]
            sources, targets = found.edges
            for some in trials:
                after = self.fit(set_edges(graph, sources[some], targets[some], None))
                if self.is_better(after, now):
                    now = after
                    break
            else:
                return now

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
        for tried, place in enumerate(np.argsort(-gains, kind="stable")[: c.MAX_TRIALS]):
            if gains[place] < -0.3 * self.penalty:
                break
            after = self.fit(set_edges(graph, sources[place], targets[place], weights[place]))
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
        found = self.misfit.linearise(graph)
        edges, gains, weights = found.find_gains(allowed, c.MAX_RANKED)
        gains = gains - self._price(graph, *edges)
        if self.prior is not None:
            before = self.prior.count_log_odds(graph)
            gains += [
                2 * (self.prior.count_log_odds(set_edges(graph, u, v, 1.0)) - before)
                for u, v in zip(*edges, strict=True)
            ]
        return edges, gains, weights

    def _take_best(self, now: Scored, candidates: Iterable[Structure]) -> Scored:
        """The best of some graphs, each pruned, if it is better than the one at hand."""
        best = now
        for candidate in candidates:
            after = self.fit(candidate)
            if after[1] < now[1] + 3 * self.penalty:
                after = self.prune(after)
            if after[1] < best[1] - GAIN:
                best = after
        return best

    def _polish_best(self, now: Scored, candidates: Iterable[Structure]) -> Scored:
        """The best of some graphs, polished, if it is better than the one at hand."""
        best = self._take_best(now, candidates)
        after = best if best is now else self.polish(best)
        return after if after[1] < now[1] - GAIN else now

    def _repeat(self, now: Scored, propose: Callable[[Structure], Iterable[Structure]]) -> Scored:
        """Take the best of what is proposed, and polish it, until nothing proposed helps."""
        while True:
            after = self._polish_best(now, propose(now[0]))
            if after is now:
                return now
            now = after

    def _insert(self, now: Scored) -> Scored:
        return self._repeat(now, propose_inserts)

    def _merge(self, now: Scored) -> Scored:
        return self._repeat(now, propose_merges)

    def _explain_groups(self, now: Scored) -> Scored:
        """Insert latents for outputs that share noise, with the parents that effects ask for.

        Effects too faint for any one output show where outputs are pooled; which belong together,
        the residual covariance says, and effects alone decide.
        """
        for children, loading in find_groups(self.misfit.moments, now[0]):
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
            chosen = gains > 0.3 * self.penalty
            if chosen.any():
                wider = set_edges(
                    wider, sources[chosen], np.full(chosen.sum(), node), weights[chosen]
                )
                after = self.polish(self.fit(wider))
                now = after if after[1] < now[1] - GAIN else now
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
                if after[1] < score + c.HOPELESS * self.penalty and self.misfit.is_small:
                    after = self.polish(after)
                if after[1] < score - GAIN:
                    now = after
                    break
        return now

    def _swap(self, now: Scored) -> Scored:
        """Take out one edge after the other on trial, and let others take its place."""
        found = self.misfit.linearise(now[0])
        losses, latents = found.find_losses(), now[0].latents
        for place in np.argsort(losses, kind="stable")[: c.MAX_SWAPS]:
            graph, score = now
            u, v = found.edges[0][place], found.edges[1][place]
            if losses[place] > 8 * self.penalty or graph.latents != latents:
                break
            if graph.edges[u, v]:
                after = self.polish(self.fit(set_edges(graph, u, v, None)))
                now = after if after[1] < score - GAIN else now
        return now

    def _add_factors(self, now: Scored) -> Scored:
        """Add latents for outputs that are more correlated than the graph says."""
        while True:
            trials = [self.fit(graph) for graph in self._propose_factors(now[0])]
            if not trials:
                return now
            after = self.polish(min(trials, key=lambda trial: trial[1]))
            if after[1] >= now[1] - GAIN:
                return now
            now = after

    def _propose_factors(self, graph: Structure) -> Iterable[Structure]:
        scale = np.sqrt(np.diag(self.misfit.moments.residual))
        excess = -self.misfit.linearise(graph).excess * np.outer(scale, scale)
        np.fill_diagonal(excess, 0.0)
        if graph.outputs < 3:
            return
        vectors = np.linalg.eigh(excess)[1]
        i, j = np.unravel_index(np.argmax(excess), excess.shape)
        for vector in (vectors[:, -1], vectors[:, -2], excess[i] + excess[j]):
            size = np.abs(vector)
            for share in (0.35, 0.6):
                children = np.flatnonzero(size > share * size.max())
                if len(children) < 3:
                    children = np.sort(np.argsort(-size, kind="stable")[:3])
                loading = vector[children] * scale[children]
                loading = loading / max(float(np.linalg.norm(loading)), 1e-12)
                noise = 0.1 * float((scale**2).mean()) * len(children)
                at = graph.first_output + children
                yield insert_latent(graph, [], at, np.zeros(0), loading, noise)


def _pick_apart(
    graph: Structure, sources: np.ndarray, targets: np.ndarray, gains: np.ndarray
) -> np.ndarray:
    """Additions that pay, the best first, of which no two share a source or a target.

    At most one joins two latents: two could make a cycle.
    """
    chosen: list[int] = []
    taken: set[tuple[str, int]] = set()
    for place in np.argsort(-gains, kind="stable").tolist():
        if gains[place] <= 0 or len(chosen) == c.MAX_BATCH:
            break
        ends = {("source", int(sources[place])), ("target", int(targets[place]))}
        if sources[place] >= graph.inputs and targets[place] < graph.first_output:
            ends.add(("between", 0))
        if not ends & taken:
            chosen.append(place)
            taken |= ends
    return np.array(chosen, int)


def _drop_without_effects(now: Scored, search: Search) -> Scored:
    """Take out latents that only covariance asks for: the effects are explained without them.

    A latent stays if the misfit of the effects rises by the penalty of an edge without it, or if
    the other edges that then explain them cost no less.
    """
    settings = GraphSettings(direct=search.direct, effects_only=True)
    effects = Search(search.misfit.moments, settings, search.prior)
    again = True
    while again:
        again = False
        graph = remove_unreached(now[0])
        fitted = effects.misfit.fit(graph)
        for node in reversed(graph.latent_nodes):
            without = effects.polish(effects.fit(remove_latent(fitted[0], node)))[0]
            rise = effects.misfit.fit(without)[1] - fitted[1]
            saved = search.count_edges(graph) - search.count_edges(without)
            if rise < search.penalty * min(1.0, saved):
                now = search.polish(search.fit(remove_latent(graph, node), LATE_STEPS))
                again = True
                break
    return now


def _insert_shared(now: Scored, search: Search) -> Scored:
    """Insert latents without inputs that save edges and whose children share noise.

    Nodes that act on the same others with proportional weights save an edge or more with a latent
    between. It is inserted at its plain cost only where the covariance of the outputs is likelier
    with it, by `MIN_SHARED` for each sample, relative to how badly the covariance fits in all.
    """
    exact = Misfit(search.misfit.moments, exact=True)
    least = c.MIN_SHARED * search.misfit.moments.samples
    graph = remove_unreached(now[0])
    steps: list[tuple[Scored, float]] = [(search.fit(graph), np.inf)]
    misfit = exact.fit(graph, LATE_STEPS)[1]
    while True:
        before = steps[-1][0]
        for candidate in propose_inserts(before[0]):
            after = search.fit(candidate)
            saved = before[1] - after[1] + c.NO_INPUT * search.penalty
            shared = misfit - exact.fit(after[0], LATE_STEPS)[1]
            if after[0].latents > before[0].latents and saved > GAIN and shared > least:
                steps.append((after, shared))
                misfit -= shared
                break
        else:
            break
    # Outputs that are not linear in their latents share more than noise.
    inputs, outputs = search.misfit.moments.effects.shape
    free = inputs * outputs + outputs * (outputs + 1) // 2 - int(graph.edges.sum()) - outputs
    excess = max(1.0, misfit / max(free, 1))
    while steps[-1][1] < least * excess:
        steps.pop()
    return steps[-1][0] if len(steps) > 1 else now
