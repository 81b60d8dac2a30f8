"""The reported graph with named nodes, and the candidates that resamples add to it.

An edge is exchangeable if another with the same source or target, in its place, pays its penalty
and gives a graph that the data cannot tell apart. The two graphs imply effects B and B', and their
chi-squares differ by d with the standard error

    2 sqrt( n tr[ (B - B')' C (B - B') S^-1 ] ),

that of a likelihood ratio of non-nested models (Vuong 1989), in the notation of `score.py`. Both
have as many parameters, so that d is not biased by the fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
from scipy import stats

from rinn.graphs.basics import name_latents
from rinn.structure import constants as c
from rinn.structure.effects import Effects
from rinn.structure.moves import set_edges
from rinn.structure.records import GraphSettings, LatentGraph, Moments, Structure, make_structure
from rinn.structure.regression import estimate_moments, find_overdispersion
from rinn.structure.score import Misfit, find_penalty

# By whether effects, and covariance, pay for an edge.
SUPPORT = {
    (True, True): "both",
    (True, False): "effects",
    (False, True): "covariance",
    (False, False): "neither",
}

Edge = tuple[str, str]
NodePair = tuple[int, int]
Outputs = frozenset[int]


@dataclass(frozen=True)
class Resamples:
    """The graphs of all resamples, which of their latents are those of the graph, and how often."""

    graphs: tuple[Structure, ...]
    matches: tuple[dict[int, int], ...]
    frequency: dict[int, float]


def report_graph(
    graph: Structure,
    resamples: Resamples,
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    settings: GraphSettings,
) -> LatentGraph:
    """Name the nodes, and count how often each edge was found."""
    graph, order = _order_latents(graph)
    names = name_latents(graph.latents, {*inputs, *outputs})
    label = {node: names[new - graph.inputs] for node, new in order.items()}
    others, labels = _name_others(resamples, {*inputs, *outputs, *names})
    paths: Counter[Edge] = Counter()
    direct: Counter[Edge] = Counter()
    for number, (one, match) in enumerate(zip(resamples.graphs, resamples.matches, strict=True)):
        nodes = [*inputs, *[""] * one.latents, *outputs]
        for node in one.latent_nodes:
            nodes[node] = label[match[node]] if node in match else labels.get((number, node), "")
        paths.update(_list_pairs(one.reach & ~np.eye(len(nodes), dtype=bool), nodes))
        direct.update(set(_list_pairs(one.edges, nodes)))
    nodes = [*inputs, *names, *outputs]
    total = max(len(resamples.graphs), 1)
    frequency = {edge: count / total for edge, count in paths.items()}
    if not resamples.graphs:
        frequency = dict.fromkeys(_list_pairs(graph.reach, nodes), 1.0)
    often = {label[node]: value for node, value in resamples.frequency.items()}
    reported: nx.DiGraph = nx.DiGraph()
    reported.add_nodes_from(inputs, role="input")
    reported.add_nodes_from((name, {"role": "latent", "frequency": often[name]}) for name in names)
    reported.add_nodes_from(outputs, role="output")
    support = _find_support(graph, effects, settings)
    moments = effects.moments.take(graph.inputs)
    alternatives = find_alternatives(graph, moments, direct=settings.direct)
    for u, v in zip(*np.nonzero(graph.edges), strict=True):
        edge = nodes[u], nodes[v]
        reported.add_edge(*edge, frequency=frequency.get(edge, 0.0), support=support[u, v])
        if (u, v) in alternatives:
            other = " -> ".join(nodes[end] for end in alternatives[u, v])
            reported.edges[edge]["exchangeable"] = other
    candidates: nx.DiGraph = nx.DiGraph(reported)
    for name, (_, fraction) in others.items():
        candidates.add_node(name, role="latent", frequency=fraction)
    for edge in sorted(direct.keys() - set(reported.edges)):
        if edge[0] in candidates and edge[1] in candidates:
            # Not the frequency of paths, which a reported edge may be part of.
            candidates.add_edge(*edge, frequency=direct[edge] / total)
    below = {
        name: frozenset(np.flatnonzero(row).tolist())
        for name, row in zip(names, graph.latent_outputs, strict=True)
    }
    below |= {name: reached for name, (reached, _) in others.items()}
    return LatentGraph(reported, candidates, test_fit(graph, effects), below, frequency)


def _order_latents(graph: Structure) -> tuple[Structure, dict[int, int]]:
    """Causes before effects, and latents with more outputs first; and the new index of each."""
    below = graph.latent_outputs
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
    return moved, {graph.inputs + k: graph.inputs + new for new, k in enumerate(order)}


def _list_pairs(marks: np.ndarray, names: Sequence[str]) -> Iterator[Edge]:
    """The marked pairs of nodes that have names."""
    for u, v in zip(*np.nonzero(marks), strict=True):
        if names[u] and names[v] and u != v:
            yield names[u], names[v]


def _name_others(
    resamples: Resamples, taken: set[str]
) -> tuple[dict[str, tuple[Outputs, float]], dict[tuple[int, int], str]]:
    """Latents that only resamples have: their outputs and frequency, and which nodes they are."""
    nodes: dict[Outputs, list[tuple[int, int]]] = {}
    for number, (one, match) in enumerate(zip(resamples.graphs, resamples.matches, strict=True)):
        for node, below in zip(one.latent_nodes, one.latent_outputs, strict=True):
            if node not in match:
                reached = frozenset(np.flatnonzero(below).tolist())
                nodes.setdefault(reached, []).append((number, node))
    total = max(len(resamples.graphs), 1)
    often = {reached: len({number for number, _ in members}) for reached, members in nodes.items()}
    kept = [reached for reached in nodes if often[reached] >= c.MIN_CANDIDATE * total]
    kept.sort(key=lambda reached: (-often[reached], sorted(reached)))
    kept = kept[: c.MAX_CANDIDATES]
    names = name_latents(len(kept), taken | {name.replace("L", "U") for name in taken}, "U")
    named = list(zip(names, kept, strict=True))
    labels = {node: name for name, reached in named for node in nodes[reached]}
    return {name: (reached, often[reached] / total) for name, reached in named}, labels


def _find_support(
    graph: Structure, effects: Effects, settings: GraphSettings
) -> dict[NodePair, str]:
    """Whether effects, covariance or both pay for each edge."""
    moments = effects.moments.take(graph.inputs)
    penalty = find_penalty(moments)
    alone = Misfit(moments, effects_only=True)
    fitted = alone.fit(graph)[0]
    losses = alone.linearise(fitted).find_losses()
    misfit = Misfit(moments, effects_only=settings.effects_only)
    fitted = misfit.fit(fitted, c.SUPPORT_STEPS)[0]
    before = misfit.measure_covariance(fitted)
    support = {}
    for u, v, loss in zip(*np.nonzero(graph.edges), losses, strict=True):
        rise = misfit.measure_covariance(set_edges(fitted, u, v, None)) - before
        pays = bool(loss >= penalty), bool(misfit.covariance_weight * rise >= penalty)
        support[int(u), int(v)] = SUPPORT[pays]
    return support


def test_fit(graph: Structure, effects: Effects) -> dict[str, float] | None:
    """Test whether a graph explains the effects: chi-square, degrees of freedom, p-value.

    A screening keeps columns whose effects are large by chance too. After one, those without an
    edge take no part, and without any edge there is no test. There is none either with more outputs
    than residual degrees of freedom: their covariance is singular.
    """
    if any(effects.sample.tested):
        if not graph.edges.any():
            return None
        graph, effects = _take_connected(graph, effects)
    moments = effects.moments.take(graph.inputs)
    # Hotelling: the residual covariance is estimated as well.
    freedom = max(moments.samples - graph.inputs - 1, 1.0)
    if freedom <= graph.outputs * (2 if effects.sample.is_small else 1) + 1:
        return None
    misfit = Misfit(moments, effects_only=True)
    value = max(misfit.fit(graph, c.SUPPORT_STEPS)[1], 0.0)  # an exact fit may round below 0
    free = moments.effects.size - int(graph.edges.sum()) + graph.latents
    scaled = value * (freedom - graph.outputs - 1) / freedom
    scaled /= max(find_overdispersion(effects.sample, effects.moments, graph.inputs), 1e-12)
    p = float(stats.chi2.sf(scaled, free)) if free > 0 else 1.0
    return {"chi2": float(scaled), "df": int(max(free, 0)), "p": p}


def _take_connected(graph: Structure, effects: Effects) -> tuple[Structure, Effects]:
    """The graph and effects of the inputs and outputs that have edges."""
    sample = effects.sample
    columns = np.arange(sample.x.shape[1])
    if len(columns) == graph.inputs:  # without products of inputs
        columns = np.flatnonzero(graph.edges[: graph.inputs].any(axis=1))
    outputs = np.flatnonzero(graph.edges[:, graph.first_output :].any(axis=0))
    sample = replace(
        sample,
        x=sample.x[:, columns],
        y=sample.y[:, outputs],
        observed=None if sample.observed is None else sample.observed[:, outputs],
        owners=tuple(sample.owners[i] for i in columns),
    )
    inputs = columns[columns < graph.inputs]
    nodes = np.concatenate(
        [inputs, np.array(graph.latent_nodes, int), graph.first_output + outputs]
    )
    part = np.ix_(nodes, nodes)
    graph = make_structure(graph.edges[part], len(inputs), len(outputs), graph.weights[part])
    return graph, replace(effects, sample=sample, moments=estimate_moments(sample))


def from_graph(graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]) -> Structure:
    """A graph of named nodes as a structure."""
    latents = [node for node, role in graph.nodes(data="role") if role == "latent"]
    index = {name: at for at, name in enumerate([*inputs, *latents, *outputs])}
    edges = np.zeros((len(index),) * 2, bool)
    for source, target in graph.edges:
        edges[index[source], index[target]] = True
    return make_structure(edges, len(inputs), len(outputs))


def find_alternatives(
    graph: Structure, moments: Moments, *, direct: bool = True
) -> dict[NodePair, NodePair]:
    """For each exchangeable edge the best other one; none with more than 100 inputs."""
    if graph.inputs > c.MANY_INPUTS:
        return {}
    misfit = Misfit(moments, effects_only=True)
    graph, least = misfit.fit(graph)
    result = {}
    for u, v in zip(*(side.tolist() for side in np.nonzero(graph.edges)), strict=True):
        without, worst = misfit.fit(set_edges(graph, u, v, None))
        allowed = _list_allowed(without, u, v, direct=direct)
        others, gains, weights = misfit.linearise(without).find_gains(allowed, c.MAX_ALTERNATIVES)
        near = []
        for index in np.argsort(-gains, kind="stable").tolist():
            one = int(others[0][index]), int(others[1][index])
            other, after = misfit.fit(set_edges(without, *one, weights[index]))
            pays = worst - after >= find_penalty(moments) and _is_complete(other)
            if pays and _is_near(graph, other, after - least, moments):
                near.append((after, one))
        if near:
            result[u, v] = min(near)[1]
    return result


def _list_allowed(graph: Structure, u: int, v: int, *, direct: bool) -> np.ndarray:
    """Edges with the same source or target that make no cycle and cost no more."""
    allowed = np.zeros_like(graph.edges)
    allowed[u], allowed[:, v] = True, True
    allowed &= ~graph.edges & ~graph.reach.T
    allowed[:, : graph.inputs] = False
    allowed[graph.first_output :] = False
    if not direct or not (u < graph.inputs and v >= graph.first_output):
        allowed[: graph.inputs, graph.first_output :] = False
    allowed[u, v] = False
    return allowed


def _is_complete(graph: Structure) -> bool:
    """Whether every latent has a parent and at least two children."""
    nodes = list(graph.latent_nodes)
    return bool((graph.edges[:, nodes].any(axis=0) & (graph.edges[nodes].sum(axis=1) > 1)).all())


def _is_near(graph: Structure, other: Structure, rise: float, moments: Moments) -> bool:
    """Whether another graph is worse by less than two standard errors."""
    effects = (one.totals[: one.inputs, one.first_output :] for one in (graph, other))
    apart = np.subtract(*effects)
    distance = moments.samples * ((moments.inputs @ apart) * (apart @ moments.precision)).sum()
    return bool(rise <= c.EQUIVALENT * 2 * np.sqrt(max(distance, 0.0)))
