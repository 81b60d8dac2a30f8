"""Changes of a graph: a latent removed, contracted, inserted, merged or split; which to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components

from rinn.structure import constants as c
from rinn.structure.records import Moments, Structure


def is_acyclic(graph: Structure) -> bool:
    """Whether no node leads back to itself."""
    edges = graph.edges
    while len(edges):
        inner = edges.any(axis=0)
        if inner.all():
            return False
        edges = edges[np.ix_(inner, inner)]
    return True


def set_edges(
    graph: Structure,
    sources: np.ndarray | int,
    targets: np.ndarray | int,
    weights: np.ndarray | float | None,
) -> Structure:
    """The graph with these edges; a weight of None removes them."""
    edges, new = graph.edges.copy(), graph.weights.copy()
    edges[sources, targets] = weights is not None
    new[sources, targets] = 0.0 if weights is None else weights
    return replace(graph, edges=edges, weights=new)


def remove_latent(graph: Structure, node: int) -> Structure:
    """The graph without a latent and its edges."""
    keep = np.delete(np.arange(len(graph.edges)), node)
    part = np.ix_(keep, keep)
    return replace(
        graph,
        latents=graph.latents - 1,
        edges=graph.edges[part],
        weights=graph.weights[part],
        noise=np.delete(graph.noise, node - graph.inputs),
    )


def contract_latent(graph: Structure, node: int) -> Structure:
    """The graph without a latent, whose parents act on its children themselves."""
    edges, weights = graph.edges.copy(), graph.weights.copy()
    parents, children = edges[:, node].copy(), edges[node].copy()
    edges |= np.outer(parents, children)
    weights += np.outer(weights[:, node] * parents, weights[node] * children)
    return remove_latent(replace(graph, edges=edges, weights=weights), node)


def bypass_latent(graph: Structure, node: int, child: int) -> Structure:
    """The graph in which the parents of a latent act on one of its children themselves."""
    parents = np.flatnonzero(graph.edges[:, node])
    weights = (
        graph.weights[parents, child] + graph.weights[parents, node] * graph.weights[node, child]
    )
    return set_edges(set_edges(graph, node, child, None), parents, child, weights)


def insert_latent(
    graph: Structure,
    parents: Sequence[int] | np.ndarray,
    children: Sequence[int] | np.ndarray,
    weights_in: np.ndarray,
    weights_out: np.ndarray,
    noise: float = c.NEW_NOISE,
) -> Structure:
    """The graph with a new last latent; parents and children are indices before the change."""
    at, count = graph.first_output, len(graph.edges)
    old = np.delete(np.arange(count + 1), at)
    edges, weights = np.zeros((count + 1,) * 2, bool), np.zeros((count + 1,) * 2)
    edges[np.ix_(old, old)], weights[np.ix_(old, old)] = graph.edges, graph.weights
    above, below = old[np.asarray(parents, int)], old[np.asarray(children, int)]
    edges[above, at], weights[above, at] = True, weights_in
    edges[at, below], weights[at, below] = True, weights_out
    return replace(
        graph,
        latents=graph.latents + 1,
        edges=edges,
        weights=weights,
        noise=np.insert(graph.noise, graph.latents, noise),
    )


def pool_edges(graph: Structure, parents: Sequence[int], children: np.ndarray) -> Structure:
    """The graph with a latent in place of all edges from some nodes to others."""
    above = np.asarray(parents, int)[:, None]
    left, size, right = np.linalg.svd(graph.weights[above, children], full_matrices=False)
    return insert_latent(
        set_edges(graph, above, children, None), parents, children, left[:, 0] * size[0], right[0]
    )


def merge_latents(graph: Structure, kept: int, other: int) -> list[Structure]:
    """Two latents as one: with the children of the first, and with those of both."""
    loadings = graph.loadings
    one, two = loadings[kept - graph.inputs], loadings[other - graph.inputs]
    ratio = float(one @ two) / max(float(one @ one), 1e-12)
    edges, weights = graph.edges.copy(), graph.weights.copy()
    edges[kept, other] = edges[other, kept] = False
    weights[kept, other] = weights[other, kept] = 0.0
    edges[:, kept] |= edges[:, other]
    weights[:, kept] += weights[:, other] * ratio
    merged = replace(graph, edges=edges, weights=weights)
    both = edges.copy()
    both[kept] |= both[other]
    both[kept, kept] = False
    result = [remove_latent(one, other) for one in (merged, replace(merged, edges=both))]
    return [graph for graph in result if is_acyclic(graph)]


def split_latent(graph: Structure, node: int, inputs: np.ndarray) -> Structure:
    """The graph with a second latent with the same children, for some of a latent's inputs."""
    children = np.flatnonzero(graph.edges[node])
    part = set_edges(graph, inputs, node, None)
    return insert_latent(
        part, inputs, children, graph.weights[inputs, node], graph.weights[node, children]
    )


def remove_unreached(graph: Structure) -> Structure:
    """The graph without latents that no input reaches or that reach no output."""
    while True:
        reach = graph.reach
        idle = [
            node
            for node in graph.latent_nodes
            if not (reach[: graph.inputs, node].any() and reach[node, graph.first_output :].any())
        ]
        if not idle:
            return graph
        graph = remove_latent(graph, idle[-1])


def find_noise_groups(
    moments: Moments, graph: Structure
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Outputs without a latent parent that share noise, and the direction of what they share."""
    first = graph.first_output
    alone = np.flatnonzero(~graph.edges[graph.inputs : first, first:].any(axis=0))
    scale = np.sqrt(np.diag(moments.residual))
    correlation = moments.residual / np.outer(scale, scale)
    linked = np.abs(correlation[np.ix_(alone, alone)]) > c.MIN_LINK / np.sqrt(moments.samples)
    count, labels = connected_components(linked, directed=False)
    for label in range(count):
        children = alone[labels == label]
        if len(children) > 1:
            part = correlation[np.ix_(children, children)]
            yield children, np.linalg.eigh(part)[1][:, -1] * scale[children]


def propose_inserts(graph: Structure) -> Iterable[Structure]:
    """A latent for nodes that act on the same others with proportional weights."""
    nodes = [node for node in range(graph.first_output) if graph.edges[node].sum() > 1]
    result: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for one, other in combinations(nodes, 2):
        both = np.flatnonzero(graph.edges[one] & graph.edges[other])
        if len(both) < 2:
            continue
        everyone = tuple(node for node in nodes if graph.edges[node][both].all())
        for parents in {(one, other), everyone}:
            size = np.linalg.svd(graph.weights[list(parents)][:, both], compute_uv=False)
            if len(parents) * len(both) > len(parents) + len(both):
                result[parents, tuple(both.tolist())] = float(size[1] / max(size[0], 1e-12))
        if len(both) > 3:
            ratio = np.arctan2(graph.weights[one, both], graph.weights[other, both])
            for angle in ratio:
                apart = np.abs((ratio - angle + np.pi / 2) % np.pi - np.pi / 2)
                children = tuple(both[apart < c.ANGLE].tolist())
                if len(children) > 2:
                    result.setdefault(((one, other), children), 0.0)
    best = sorted(result, key=lambda key: (result[key], key))[: c.MAX_INSERTS]
    return [pool_edges(graph, parents, np.array(children)) for parents, children in best]


def propose_merges(graph: Structure) -> Iterable[Structure]:
    """One latent in place of two with similar effects on the outputs, the most similar first."""
    loadings = graph.loadings
    size = np.maximum(np.linalg.norm(loadings, axis=1, keepdims=True), 1e-12)
    cosine = np.abs((loadings / size) @ (loadings / size).T)
    pairs = [
        (-cosine[one, other], one, other)
        for other, one in combinations(range(graph.latents), 2)
        if cosine[one, other] > c.MIN_COSINE
    ]
    for _, one, other in sorted(pairs)[: c.MAX_MERGES]:
        yield from merge_latents(graph, graph.inputs + one, graph.inputs + other)


def propose_splits(
    graph: Structure, node: int, moments: Moments, penalty: float
) -> Iterable[Structure]:
    """Two latents in place of one whose inputs have effects in two directions."""
    inputs = np.flatnonzero(graph.edges[: graph.inputs, node])
    if len(inputs) < c.MIN_SPLIT_INPUTS:
        return
    root = np.linalg.cholesky(moments.precision)
    rows = moments.effects[inputs] @ root * np.sqrt(moments.samples)
    left, size, _ = np.linalg.svd(rows, full_matrices=False)
    if size[1] ** 2 < graph.outputs + c.MIN_SPLIT * penalty:
        return
    angle = np.arctan2(left[:, 1] * size[1], left[:, 0] * size[0]) % np.pi
    ordered = np.sort(angle)
    widest = np.diff(np.append(ordered, ordered[0] + np.pi)).argmax()
    order = np.argsort((angle - ordered[widest] - 1e-9) % np.pi, kind="stable")
    for cut in range(2, len(inputs) - 1):
        yield split_latent(graph, node, inputs[order[:cut]])


def propose_targets(
    graph: Structure, source: int, moments: Moments, penalty: float
) -> Iterable[Structure]:
    """Other latents for an input to act on, whose effects add up to its own.

    They are chosen by forward selection, or are the parents of those that it acts on now.
    """
    root = np.linalg.cholesky(moments.precision)
    variance = moments.errors[source, 0] ** 2 / moments.residual[0, 0]  # over that of an output
    row = moments.effects[source] @ root / np.sqrt(variance)
    loadings = graph.loadings @ root
    nodes = slice(graph.inputs, graph.first_output)
    current = np.flatnonzero(graph.edges[source, nodes])
    inner = graph.edges[nodes, nodes]
    parents = {int(p[0]) if len(p := np.flatnonzero(inner[:, k])) == 1 else int(k) for k in current}
    usable = np.flatnonzero(np.delete(graph.latent_inputs, source, axis=1).any(axis=1))
    for targets in (_select_rows(loadings, usable, row, penalty), sorted(parents)):
        if targets and set(targets) != set(current.tolist()):
            weights = np.linalg.lstsq(loadings[targets].T, row, rcond=None)[0]
            changed = set_edges(graph, np.full(len(current), source), graph.inputs + current, None)
            ends = graph.inputs + np.array(targets)
            sources = np.full(len(targets), source)
            yield set_edges(changed, sources, ends, weights * np.sqrt(variance))


def _select_rows(
    rows: np.ndarray, usable: np.ndarray, total: np.ndarray, penalty: float
) -> list[int]:
    """Rows that add up to a total, as long as each pays for an edge: forward selection."""
    chosen: list[int] = []
    size = (rows**2).sum(axis=1)
    while len(chosen) < len(usable):
        taken = rows[chosen]
        project = np.linalg.pinv(taken) @ taken
        part, left = rows[usable] - rows[usable] @ project, total - total @ project
        alone = (part**2).sum(axis=1)
        gains = (part @ left) ** 2 / np.maximum(alone, 1e-12)
        gains[alone < 1e-6 * size[usable]] = 0.0
        best = int(np.argmax(gains))
        if gains[best] < penalty:
            break
        chosen.append(int(usable[best]))
    return chosen
