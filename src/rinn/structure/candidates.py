"""Graphs that the search may take next: with a latent more or less, by weights and covariance."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components

from rinn.structure import constants as c
from rinn.structure.moves import merge_latents, pool_edges, split_latent
from rinn.structure.records import Moments, Structure
from rinn.structure.score import find_loadings


def find_groups(moments: Moments, graph: Structure) -> Iterable[tuple[np.ndarray, np.ndarray]]:
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
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for one, other in combinations(nodes, 2):
        both = np.flatnonzero(graph.edges[one] & graph.edges[other])
        if len(both) < 2:
            continue
        everyone = tuple(node for node in nodes if graph.edges[node][both].all())
        for parents in {(one, other), everyone}:
            size = np.linalg.svd(graph.weights[list(parents)][:, both], compute_uv=False)
            if len(parents) * len(both) > len(parents) + len(both):
                found[parents, tuple(both.tolist())] = float(size[1] / max(size[0], 1e-12))
        if len(both) > 3:
            ratio = np.arctan2(graph.weights[one, both], graph.weights[other, both])
            for angle in ratio:
                apart = np.abs((ratio - angle + np.pi / 2) % np.pi - np.pi / 2)
                some = tuple(both[apart < c.ANGLE].tolist())
                if len(some) > 2:
                    found.setdefault(((one, other), some), 0.0)
    best = sorted(found, key=lambda key: (found[key], key))[: c.MAX_INSERTS]
    return [pool_edges(graph, parents, np.array(children)) for parents, children in best]


def propose_merges(graph: Structure) -> Iterable[Structure]:
    """One latent in place of two with similar effects on the outputs, the most similar first."""
    loadings = find_loadings(graph)
    size = np.maximum(np.linalg.norm(loadings, axis=1, keepdims=True), 1e-12)
    cosine = np.abs((loadings / size) @ (loadings / size).T)
    pairs = [
        (-cosine[one, other], one, other)
        for other, one in combinations(range(graph.latents), 2)
        if cosine[one, other] > c.MIN_COSINE
    ]
    for _, one, other in sorted(pairs)[:10]:
        yield from merge_latents(graph, graph.inputs + one, graph.inputs + other)


def propose_splits(
    graph: Structure, node: int, moments: Moments, penalty: float
) -> Iterable[Structure]:
    """Two latents in place of one whose inputs have effects in two directions."""
    inputs = np.flatnonzero(graph.edges[: graph.inputs, node])
    if len(inputs) < 4:
        return
    root = np.linalg.cholesky(moments.precision)
    rows = moments.effects[inputs] @ root * np.sqrt(moments.samples)
    left, size, _ = np.linalg.svd(rows, full_matrices=False)
    if size[1] ** 2 < graph.outputs + 3 * penalty:
        return
    angle = np.arctan2(left[:, 1] * size[1], left[:, 0] * size[0]) % np.pi
    ordered = np.sort(angle)
    widest = np.diff(np.append(ordered, ordered[0] + np.pi)).argmax()
    order = np.argsort((angle - ordered[widest] - 1e-9) % np.pi, kind="stable")
    for cut in range(2, len(inputs) - 1):
        yield split_latent(graph, node, inputs[order[:cut]])
