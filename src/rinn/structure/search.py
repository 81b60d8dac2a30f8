"""The search for the graph with the best score.

From a first graph of proportional effects, and then from graphs of perturbed effects, the score is
lowered move by move: edges are added by score tests and dropped by Wald tests, latents are
inserted, merged, split, removed or contracted, and single edges are taken out on trial. Every graph
that is taken is fitted and has a better score than the one before. The effects come first, then the
covariance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from rinn.config import Stream
from rinn.structure import constants as c
from rinn.structure.local_search import LATE_STEPS, MIN_GAIN, LocalSearch, Scored
from rinn.structure.moves import propose_inserts, remove_latent, remove_unreached
from rinn.structure.prior.log_odds import Prior
from rinn.structure.records import GraphSettings, Moments, Structure
from rinn.structure.score import Misfit, find_penalty


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
        result = _search(part, settings, None, None, min(sweeps, 1))
    else:
        nodes = np.concatenate([kept, np.arange(inputs, len(start.edges))])
        block = np.ix_(nodes, nodes)
        start = replace(
            start, inputs=len(kept), edges=start.edges[block], weights=start.weights[block]
        )
        search = LocalSearch(part, replace(settings, effects_only=True), None)
        result = search.prune(search.fit(start))[0]  # a resample only says which edges it drops
    count = inputs + len(result.edges) - len(kept)
    edges, weights = np.zeros((count, count), bool), np.zeros((count, count))
    block = np.ix_(*[np.concatenate([kept, np.arange(inputs, count)])] * 2)
    edges[block], weights[block] = result.edges, result.weights
    return replace(result, inputs=inputs, edges=edges, weights=weights)


def _search(
    moments: Moments,
    settings: GraphSettings,
    prior: Prior | None,
    start: Structure | None,
    sweeps: int,
    starts: int = 0,
) -> Structure:
    alone = replace(settings, effects_only=True)
    by_effects = (
        settings.effects_only or Misfit(moments).covariance_weight < c.MIN_COVARIANCE_WEIGHT
    )
    search = LocalSearch(moments, alone if by_effects else settings, prior)
    if start is not None:
        return search.improve(search.fit(start, LATE_STEPS), sweeps)[0]
    first = LocalSearch(moments, alone, prior)
    result = _search_effects(first, sweeps, starts)
    if not by_effects:
        result = [search.improve(search.fit(graph, LATE_STEPS), sweeps) for graph, _ in result]
        result = [_drop_without_effects(one, search) for one in result]
    if not settings.effects_only:
        result = [_insert_shared(one, search) for one in result]
    return min(result, key=search.score_edges)[0]


def _search_effects(search: LocalSearch, sweeps: int, starts: int) -> list[Scored]:
    """The best graphs of several starts, the best first."""
    result: dict[float, Scored] = {}
    repeats: Counter[float] = Counter()
    for start in _find_starts(search, starts, sweeps):
        one = search.improve(start, sweeps)
        key = round(one[1], 3)  # graphs with the same score are the same
        result.setdefault(key, one)
        repeats[key] += 1
        if repeats[min(repeats)] == c.MAX_REPEATS:
            break
    limit = min(result) + c.MAX_BEHIND * search.penalty
    return [result[key] for key in sorted(result) if key <= limit][: c.MAX_FINISHED]


def _find_starts(search: LocalSearch, count: int, sweeps: int) -> Iterator[Scored]:
    """Graphs to begin from: one of proportional effects, others of perturbed effects."""
    yield search.propose()
    for moments in _perturb(search.misfit.moments, count):
        other = LocalSearch(
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


def _drop_without_effects(now: Scored, search: LocalSearch) -> Scored:
    """Remove latents that only covariance supports.

    A latent stays if the misfit of the effects rises by the penalty of an edge without it, or if
    the other edges that then explain them cost no less.
    """
    settings = GraphSettings(direct=search.direct, effects_only=True)
    effects = LocalSearch(search.misfit.moments, settings, search.prior)
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


def _insert_shared(now: Scored, search: LocalSearch) -> Scored:
    """Insert latents without inputs that save edges and whose children share noise.

    Their penalty (NO_INPUT) is waived where the covariance of the outputs is likelier with them by
    `MIN_SHARED` for each sample, relative to the misfit of the covariance.
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
            if after[0].latents > before[0].latents and saved > MIN_GAIN and shared > least:
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
