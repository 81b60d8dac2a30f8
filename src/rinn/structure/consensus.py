"""One graph with the share of bootstrap samples that find each latent and edge.

The graph with the best score is searched for on the samples as they are; then on resamples of
their rows (Efron 1979), each starting from that graph. A latent of a resample is the one of the
graph that reaches most of the same outputs. What no test tells from chance is not reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from rinn.config import Stream
from rinn.graphs.basics import name_latents
from rinn.structure import constants as c
from rinn.structure.alternatives import find_alternatives
from rinn.structure.effects import Effects
from rinn.structure.moves import remove_latent, remove_unreached, set_edges
from rinn.structure.prior import Prior
from rinn.structure.records import GraphSettings, Moments, Structure, make_structure
from rinn.structure.regression import estimate_moments, find_overdispersion
from rinn.structure.score import Misfit
from rinn.structure.search import Search, find_penalty, find_structure
from rinn.structure.vote import LatentGraph

MIN_CANDIDATE = 0.1  # of resamples: what fewer find is not listed
MAX_CANDIDATES = 30  # latents that are listed and not reported

Edge = tuple[str, str]
Outputs = frozenset[int]


@dataclass(frozen=True)
class Reading:
    """A graph, and what the resamples found.

    `outputs` are those of each latent by its name, the reported ones first; `paths` the share of
    resamples in which one node leads to another.
    """

    latent: LatentGraph
    outputs: dict[str, Outputs]
    paths: dict[Edge, float]


def learn_graph(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    prior: Prior | None = None,
    settings: GraphSettings | None = None,
) -> LatentGraph:
    """Learn one graph from effects.

    A latent is reported if half of the resamples find it. Nothing is reported unless one input
    passes a test against chance at the level 0.01 / number of inputs, where it acts; then inputs
    of latents are reported that pass at 0.05, and direct edges that pass at the first level.
    Inputs are not tested where the prior speaks for them.

    Args:
        effects: what the inputs do, and the samples.
        inputs: names.
        outputs: names.
        seed: of the resamples.
        prior: what is known of these inputs and outputs; it takes part in every search.
        settings: of the search.

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
    return read_resamples(effects, inputs, outputs, seed, prior, settings).latent


def read_resamples(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    seed: int = 0,
    prior: Prior | None = None,
    settings: GraphSettings | None = None,
) -> Reading:
    """Do what `learn_graph` does, and keep what the resamples found."""
    # Products of small matrices are slower on several threads.
    with threadpool_limits(1, user_api="blas"):
        return _read_resamples(effects, inputs, outputs, seed, prior, settings or GraphSettings())


def _read_resamples(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    seed: int,
    prior: Prior | None,
    settings: GraphSettings,
) -> Reading:
    whole = find_structure(effects.moments, settings, prior, starts=c.STARTS)
    owners = effects.sample.owners
    found = [
        _resolve_products(
            find_structure(moments, settings, prior, start=whole, sweeps=0),
            owners,
            len(inputs),
            prior,
        )
        for moments in _resample(effects, settings.bootstraps, seed)
    ]
    graph = _resolve_products(whole, owners, len(inputs), prior)
    graph = _drop_unsupported(graph, effects, prior)
    matches = [match_latents(graph, other) for other in found]
    share = _count_latents(graph, matches)
    rare = [node for node, often in share.items() if often < c.MIN_FREQUENCY]
    if rare:
        graph = _drop_latents(graph, rare, effects, settings, prior)
        graph = _drop_unsupported(graph, effects, prior)
        matches = [match_latents(graph, other) for other in found]
        share = _count_latents(graph, matches)
    return _describe(graph, found, matches, share, effects, inputs, outputs, settings)


def _resample(effects: Effects, count: int, seed: int) -> Iterator[Moments]:
    rng = np.random.default_rng([seed, Stream.BOOTSTRAPS, 1])
    samples = len(effects.sample.x)
    for _ in range(count):
        weights = rng.multinomial(samples, np.full(samples, 1 / samples)).astype(np.float64)
        yield estimate_moments(effects.sample, weights)


def _resolve_products(
    graph: Structure, owners: Sequence[tuple[int, ...]], inputs: int, prior: Prior | None = None
) -> Structure:
    """The graph of the inputs alone: an edge from a product is one from each of its inputs."""
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


def match_latents(graph: Structure, other: Structure) -> dict[int, int]:
    """Which latent of another graph each latent is: by the outputs and inputs that they reach.

    Two latents match whose outputs overlap by at least half (Jaccard); of all assignments the one
    with the largest overlap of outputs, then of inputs, is taken.
    """
    if not graph.latents or not other.latents:
        return {}
    below = _find_overlap(_list_outputs(graph), _list_outputs(other))
    above = _find_overlap(_list_inputs(graph), _list_inputs(other))
    gain = np.where(below >= c.MIN_OVERLAP, below + 0.25 * above, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return {
        other.inputs + int(j): graph.inputs + int(i)
        for i, j in zip(rows, columns, strict=True)
        if gain[i, j] > 0
    }


def _list_outputs(graph: Structure) -> np.ndarray:
    return graph.reach[graph.inputs : graph.first_output, graph.first_output :]


def _list_inputs(graph: Structure) -> np.ndarray:
    return graph.reach[: graph.inputs, graph.inputs : graph.first_output].T


def _find_overlap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Jaccard overlap of the rows of two tables of marks."""
    both = one.astype(float) @ other.T.astype(float)
    either = one.sum(axis=1)[:, None] + other.sum(axis=1) - both
    return np.asarray(both / np.maximum(either, 1))


def _count_latents(graph: Structure, matches: Sequence[dict[int, int]]) -> dict[int, float]:
    """The share of resamples that find each latent; 1 without resamples."""
    counts = Counter(node for match in matches for node in match.values())
    return {node: counts[node] / len(matches) if matches else 1.0 for node in graph.latent_nodes}


def _drop_latents(
    graph: Structure,
    nodes: Sequence[int],
    effects: Effects,
    settings: GraphSettings,
    prior: Prior | None,
) -> Structure:
    """Take latents out and let other edges explain the effects that they explained."""
    for node in sorted(nodes, reverse=True):
        graph = remove_latent(graph, node)
    moments = _take_inputs(effects.moments, graph.inputs)
    search = Search(moments, settings, prior)
    return remove_unreached(search.polish(search.fit(graph))[0])


def _take_inputs(moments: Moments, inputs: int) -> Moments:
    """Moments without products of inputs."""
    return Moments(
        moments.samples,
        moments.inputs[:inputs, :inputs],
        moments.effects[:inputs],
        moments.residual,
    )


def _drop_unsupported(graph: Structure, effects: Effects, prior: Prior | None) -> Structure:
    """The graph without edges from inputs whose effects may be chance.

    Nothing is left unless one input passes the level for the whole table; then every input of a
    latent must pass a level of its own, and every direct edge that of the table.
    """
    if effects.test is None:
        return graph
    level, reach = c.LEVEL / max(graph.inputs, 1), graph.reach
    edges, is_clear = graph.edges.copy(), False
    for i, v in zip(*np.nonzero(graph.edges[: graph.inputs]), strict=True):
        below = np.flatnonzero(reach[v, graph.first_output :]).tolist()
        passes = _is_supported(effects, int(i), below, level, prior)
        is_clear |= passes
        if not passes and v < graph.first_output:
            passes = _is_supported(effects, int(i), below, c.INPUT_LEVEL, prior)
        edges[i, v] = passes
    edges &= is_clear
    return remove_unreached(
        replace(graph, edges=edges, weights=np.where(edges, graph.weights, 0.0))
    )


def _is_supported(
    effects: Effects, row: int, outputs: Sequence[int], level: float, prior: Prior | None
) -> bool:
    if effects.test is None or (prior is not None and prior.speaks_for(row, list(outputs))):
        return True
    return effects.test.find_p(row, outputs, level) <= level


def _describe(
    graph: Structure,
    found: Sequence[Structure],
    matches: Sequence[dict[int, int]],
    share: dict[int, float],
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    settings: GraphSettings,
) -> Reading:
    """Name the nodes and count how often each edge was found."""
    graph, order = _order_latents(graph)
    share = {order[node]: often for node, often in share.items()}
    matches = [{one: order[node] for one, node in match.items()} for match in matches]
    names = name_latents(graph.latents, {*inputs, *outputs})
    others, labels = _name_others(found, matches, {*inputs, *outputs, *names})
    paths: Counter[Edge] = Counter()
    direct: Counter[Edge] = Counter()
    for number, (one, match) in enumerate(zip(found, matches, strict=True)):
        own = [*inputs, *[""] * one.latents, *outputs]
        for node in one.latent_nodes:
            known = match.get(node)
            own[node] = (
                labels.get((number, node), "") if known is None else (names[known - graph.inputs])
            )
        paths.update(_list_pairs(one.reach & ~np.eye(len(own), dtype=bool), own))
        direct.update(set(_list_pairs(one.edges, own)))
    nodes = [*inputs, *names, *outputs]
    main = set(_list_pairs(graph.edges, nodes))
    total = max(len(found), 1)
    frequency = {edge: count / total for edge, count in paths.items()}
    if not found:
        frequency = dict.fromkeys(_list_pairs(graph.reach, nodes), 1.0)
    support = _find_support(graph, effects, settings)
    moments = _take_inputs(effects.moments, graph.inputs)
    others_of = find_alternatives(graph, moments, direct=settings.direct)
    reported: nx.DiGraph = nx.DiGraph()
    reported.add_nodes_from((name, {"role": "input"}) for name in inputs)
    for node, name in zip(graph.latent_nodes, names, strict=True):
        reported.add_node(name, role="latent", frequency=share[node])
    reported.add_nodes_from((name, {"role": "output"}) for name in outputs)
    for u, v in zip(*np.nonzero(graph.edges), strict=True):
        edge = nodes[u], nodes[v]
        reported.add_edge(*edge, frequency=frequency.get(edge, 0.0), support=support[u, v])
        if (u, v) in others_of:
            other = " -> ".join(nodes[end] for end in others_of[u, v])
            reported.edges[edge]["exchangeable"] = other
    candidates: nx.DiGraph = nx.DiGraph(reported)
    for name, (_, often) in others.items():
        candidates.add_node(name, role="latent", frequency=often)
    for edge in sorted(direct.keys() - main):
        if edge[0] in candidates and edge[1] in candidates:
            # Not the share of paths, which an edge that is reported may be part of.
            candidates.add_edge(*edge, frequency=direct[edge] / total)
    below = {
        name: frozenset(np.flatnonzero(row).tolist())
        for name, row in zip(names, _list_outputs(graph), strict=True)
    }
    below |= {name: some for name, (some, _) in others.items()}
    fit = test_fit(graph, effects)
    return Reading(LatentGraph(reported, candidates, fit), below, frequency)


def _order_latents(graph: Structure) -> tuple[Structure, dict[int, int]]:
    """Causes before effects, and latents with more outputs first; and where each has gone."""
    below = _list_outputs(graph)
    inner = graph.reach[graph.inputs : graph.first_output, graph.inputs : graph.first_output]
    order = sorted(
        range(graph.latents),
        key=lambda k: (
            int(inner[:, k].sum()),
            -int(below[k].sum()),
            np.flatnonzero(below[k]).tolist(),
        ),
    )
    nodes = [*range(graph.inputs), *(graph.inputs + k for k in order)]
    nodes += range(graph.first_output, len(graph.edges))
    part = np.ix_(nodes, nodes)
    noise = graph.noise[[*order, *range(graph.latents, len(graph.noise))]]
    moved = replace(graph, edges=graph.edges[part], weights=graph.weights[part], noise=noise)
    return moved, {graph.inputs + k: graph.inputs + place for place, k in enumerate(order)}


def _list_pairs(marks: np.ndarray, names: Sequence[str]) -> Iterator[Edge]:
    """The pairs of named nodes that are marked."""
    for u, v in zip(*np.nonzero(marks), strict=True):
        if names[u] and names[v] and u != v:
            yield names[u], names[v]


def _name_others(
    found: Sequence[Structure], matches: Sequence[dict[int, int]], taken: set[str]
) -> tuple[dict[str, tuple[Outputs, float]], dict[tuple[int, int], str]]:
    """Latents that only resamples have, by their outputs; and which nodes they are."""
    where: dict[Outputs, list[tuple[int, int]]] = {}
    for number, (one, match) in enumerate(zip(found, matches, strict=True)):
        below = _list_outputs(one)
        for node in one.latent_nodes:
            if node not in match:
                some = frozenset(np.flatnonzero(below[node - one.inputs]).tolist())
                where.setdefault(some, []).append((number, node))
    often = {some: len({number for number, _ in nodes}) for some, nodes in where.items()}
    least = MIN_CANDIDATE * max(len(found), 1)
    kept = [some for some in where if often[some] >= least]
    kept.sort(key=lambda some: (-often[some], sorted(some)))
    kept = kept[:MAX_CANDIDATES]
    names = name_latents(len(kept), taken | {name.replace("L", "U") for name in taken}, "U")
    labels = {node: name for name, some in zip(names, kept, strict=True) for node in where[some]}
    shares = {
        name: (some, often[some] / len(found)) for name, some in zip(names, kept, strict=True)
    }
    return shares, labels


def _find_support(
    graph: Structure, effects: Effects, settings: GraphSettings
) -> dict[tuple[int, int], str]:
    """Whether effects, covariance or both pay for each edge."""
    moments = _take_inputs(effects.moments, graph.inputs)
    penalty = find_penalty(moments)
    alone = Misfit(moments, effects_only=True)
    fitted = alone.fit(graph)[0]
    losses = alone.linearise(fitted).find_losses()
    misfit = Misfit(moments, effects_only=settings.effects_only)
    fitted = misfit.fit(fitted, 30)[0]
    before = misfit.measure_covariance(fitted)
    found = {}
    for u, v, loss in zip(*np.nonzero(graph.edges), losses, strict=True):
        rise = misfit.measure_covariance(set_edges(fitted, u, v, None)) - before
        by_effects, by_covariance = loss >= penalty, misfit.share * rise >= penalty
        word = "both" if by_effects and by_covariance else "effects" if by_effects else "neither"
        found[int(u), int(v)] = "covariance" if by_covariance and not by_effects else word
    return found


def test_fit(graph: Structure, effects: Effects) -> dict[str, float]:
    """Test whether a graph explains the effects: chi-square, degrees of freedom, p-value."""
    moments = _take_inputs(effects.moments, graph.inputs)
    misfit = Misfit(moments, effects_only=True)
    value = misfit.fit(graph, 30)[1]
    free = moments.effects.size - int(graph.edges.sum()) + graph.latents
    # Hotelling: the residual covariance is estimated as well.
    known = max(moments.samples - graph.inputs - 1, 1.0)
    scaled = value * max(known - graph.outputs - 1, 1.0) / known
    scaled /= max(find_overdispersion(effects.sample, effects.moments, graph.inputs), 1e-12)
    p = float(stats.chi2.sf(scaled, free)) if free > 0 else 1.0
    return {"chi2": float(scaled), "df": int(max(free, 0)), "p": p}


def from_graph(graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]) -> Structure:
    """A graph of named nodes as a structure."""
    latents = [node for node, role in graph.nodes(data="role") if role == "latent"]
    place = {name: at for at, name in enumerate([*inputs, *latents, *outputs])}
    edges = np.zeros((len(place),) * 2, bool)
    for source, target in graph.edges:
        edges[place[source], place[target]] = True
    return make_structure(edges, len(inputs), len(outputs))
