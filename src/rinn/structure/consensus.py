"""One graph, and the fraction of bootstrap samples that have each of its latents and edges.

The graph with the best score is searched for on the samples as they are; then on resamples of
their rows (Efron 1979), each starting from that graph. A latent of a resample is the one of the
graph that reaches most of the same outputs. What no test tells from chance is not reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from rinn.cluster.tasks import Workers, run_tasks
from rinn.config import Stream
from rinn.data.stages import stage
from rinn.structure import constants as c
from rinn.structure.effects import Effects
from rinn.structure.local_search import LocalSearch
from rinn.structure.moves import remove_latent, remove_unreached
from rinn.structure.prior.log_odds import Prior
from rinn.structure.records import GraphSettings, LatentGraph, Structure
from rinn.structure.regression import Sample, estimate_moments, resample_residuals
from rinn.structure.reported import Resamples, report_graph
from rinn.structure.search import find_structure


@threadpool_limits.wrap(limits=1, user_api="blas")  # small products are slower on several threads
def learn_graph(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    prior: Prior | None = None,
    settings: GraphSettings | None = None,
    workers: Workers | None = None,
) -> LatentGraph:
    """Learn one graph from effects.

    A latent is reported if half of the resamples have it. Nothing is reported unless one input
    passes a test against chance at the level 0.01 / number of inputs, where it acts; then inputs
    of latents are reported that pass at 0.05, and direct edges that pass at 0.01 / number of
    inputs that have not passed yet, from the smallest p-value on.
    Inputs are not tested where the prior speaks for them.

    Args:
        effects: what the inputs do, and the samples.
        inputs: names.
        outputs: names.
        seed: of the resamples.
        prior: what is known of these inputs and outputs; it takes part in every search.
        settings: of the search.
        workers: of a cluster, for the resamples.

    Returns:
        The graph; latents and edges have `frequency`, edges have `support`: effects, covariance,
        both, or neither where an edge rests on the prior or only on others with it; and
        `exchangeable`, another edge that could stand in its place, where the data do not tell.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(500, 2))
        >>> hidden = x.sum(axis=1) + rng.normal(size=500)
        >>> y = hidden[:, None] + rng.normal(size=(500, 3))
        >>> from rinn.data.problem import make_problem
        >>> from rinn.data.records import Data
        >>> from rinn.structure.effects import estimate_effects
        >>> effects = estimate_effects(make_problem(Data(x, y, ("a", "b"), ("u", "v", "w"))))
        >>> found = learn_graph(effects, ("a", "b"), ("u", "v", "w"))
        >>> sorted(found.graph.edges), found.graph.edges["a", "L1"]["frequency"]
        ([('L1', 'u'), ('L1', 'v'), ('L1', 'w'), ('a', 'L1'), ('b', 'L1')], 1.0)
    """
    settings = settings or GraphSettings()
    with stage("search"):
        best = find_structure(effects.moments, settings, prior, starts=c.STARTS)
    with stage("bootstrap"):
        shared = effects.sample, best, len(inputs), settings, prior, seed
        found = dict(run_tasks(workers, search_resample, range(settings.bootstraps), *shared))
        others = [found[number] for number in range(settings.bootstraps)]
    with stage("tests"):
        graph = LocalSearch(effects.moments, settings, prior).drop_unpaid(best)
        graph = _resolve_products(graph, effects.sample.owners, len(inputs), prior)
        graph = _drop_unsupported(graph, effects, prior)
        resamples = _match_resamples(graph, others)
        rare = [node for node, often in resamples.frequency.items() if often < c.MIN_FREQUENCY]
        if rare:
            graph = _drop_latents(graph, rare, effects, settings, prior)
            graph = _drop_unsupported(graph, effects, prior)
            resamples = _match_resamples(graph, others)
        return report_graph(graph, resamples, effects, inputs, outputs, settings)


@threadpool_limits.wrap(limits=1, user_api="blas")
def search_resample(
    number: int,
    sample: Sample,
    best: Structure,
    inputs: int,
    settings: GraphSettings,
    prior: Prior | None,
    seed: int,
) -> Structure:
    """The graph of one resample of the rows, or of residuals, without products."""
    rng = np.random.default_rng([seed, Stream.BOOTSTRAPS, number + 1])
    samples, columns = sample.x.shape
    is_joint = samples >= c.SAMPLES_PER_INPUT * columns
    if sample.is_small and is_joint:
        moments = estimate_moments(resample_residuals(sample, rng))
    else:
        weights = rng.multinomial(samples, np.full(samples, 1 / samples)).astype(np.float64)
        moments = estimate_moments(sample, weights)
    graph = find_structure(moments, settings, prior, start=best, sweeps=0)
    return _resolve_products(graph, sample.owners, inputs, prior)


def _resolve_products(
    graph: Structure, owners: Sequence[tuple[int, ...]], inputs: int, prior: Prior | None = None
) -> Structure:
    """The graph without products: each of their edges becomes one from each of their inputs."""
    graph = remove_unreached(graph)
    if graph.inputs == inputs:
        return graph
    edges, weights = graph.edges.copy(), graph.weights.copy()
    for row in range(inputs, graph.inputs):
        for owner in owners[row]:
            new = edges[row] & ~edges[owner]
            edges[owner] |= edges[row]
            weights[owner] = np.where(new, weights[row], weights[owner])
    keep = np.delete(np.arange(len(edges)), np.arange(inputs, graph.inputs))
    part = np.ix_(keep, keep)
    graph = replace(graph, inputs=inputs, edges=edges[part], weights=weights[part])
    return graph if prior is None else remove_unreached(prior.obey(graph))


def _match_resamples(graph: Structure, others: Sequence[Structure]) -> Resamples:
    """Which latents of resamples are those of the graph; a frequency is 1 without resamples."""
    matches = [match_latents(graph, other) for other in others]
    counts = Counter(node for match in matches for node in match.values())
    frequency = {node: counts[node] / len(others) if others else 1.0 for node in graph.latent_nodes}
    return Resamples(tuple(others), tuple(matches), frequency)


def match_latents(graph: Structure, other: Structure) -> dict[int, int]:
    """Match latents of two graphs by overlapping outputs (Jaccard >= 0.5), then inputs."""
    if not graph.latents or not other.latents:
        return {}
    below = _find_overlap(graph.latent_outputs, other.latent_outputs)
    above = _find_overlap(graph.latent_inputs, other.latent_inputs)
    gain = np.where(below >= c.MIN_OVERLAP, below + c.INPUT_OVERLAP * above, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return {
        other.inputs + int(j): graph.inputs + int(i)
        for i, j in zip(rows, columns, strict=True)
        if gain[i, j] > 0
    }


def _find_overlap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Jaccard overlap of the rows of two tables of marks."""
    both = one.astype(float) @ other.T.astype(float)
    either = one.sum(axis=1)[:, None] + other.sum(axis=1) - both
    return np.asarray(both / np.maximum(either, 1))


def _drop_latents(
    graph: Structure,
    nodes: Sequence[int],
    effects: Effects,
    settings: GraphSettings,
    prior: Prior | None,
) -> Structure:
    """Remove latents and let other edges explain the effects that they explained."""
    for node in sorted(nodes, reverse=True):
        graph = remove_latent(graph, node)
    moments = effects.moments.take(graph.inputs)
    search = LocalSearch(moments, settings, prior)
    return remove_unreached(search.drop_unpaid(search.polish(search.fit(graph))[0]))


def _drop_unsupported(graph: Structure, effects: Effects, prior: Prior | None) -> Structure:
    """The graph without inputs whose effects may be chance; levels as in `learn_graph`."""
    if effects.test is None:
        return graph
    tested = max(effects.sample.tested[0], graph.inputs, 1)
    reach, p = graph.reach, np.ones(graph.edges[: graph.inputs].shape)
    for i, v in zip(*np.nonzero(graph.edges[: graph.inputs]), strict=True):
        below = np.flatnonzero(reach[v, graph.first_output :])
        causes = reach[: graph.inputs, graph.first_output + below].any(axis=1)
        beside = np.setdiff1d(np.flatnonzero(causes), i).tolist()
        p[i, v] = _find_p(effects, int(i), below.tolist(), beside, c.LEVEL / tested, prior)
    # Holm 1979: an input that acts need not be allowed for when the next one is tested.
    smallest = np.sort(p.min(axis=1, initial=1.0))
    is_clear = smallest <= c.LEVEL / (tested - np.arange(graph.inputs))
    clear = int(np.cumprod(is_clear).sum())
    levels = np.full(len(graph.edges), c.LEVEL / max(tested - clear, 1))
    levels[graph.inputs : graph.first_output] = c.INPUT_LEVEL
    edges = graph.edges.copy()
    edges[: graph.inputs] &= (p <= levels) & (clear > 0)
    return remove_unreached(
        replace(graph, edges=edges, weights=np.where(edges, graph.weights, 0.0))
    )


def _find_p(
    effects: Effects,
    row: int,
    outputs: Sequence[int],
    beside: Sequence[int],
    level: float,
    prior: Prior | None,
) -> float:
    """The p-value of an input's effects, exact above the level; 0 where the prior speaks for it."""
    if effects.test is None or (prior is not None and prior.speaks_for(row, list(outputs))):
        return 0.0
    # The test allows for the choice among the outputs that were kept.
    chosen = max(effects.sample.tested[1] / effects.sample.y.shape[1], 1.0)
    return chosen * effects.test.find_p(row, outputs, level / chosen, beside)
