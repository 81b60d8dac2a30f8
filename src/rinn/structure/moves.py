"""Changes of a graph: a latent removed, contracted, inserted, merged or split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rinn.structure.records import Structure
from rinn.structure.score import find_loadings

FIRST_NOISE = 0.3  # of a new latent, before it is fitted


def is_acyclic(graph: Structure) -> bool:
    """Whether no node leads back to itself."""
    edges = graph.edges
    while len(edges):
        rest = edges.any(axis=0)
        if rest.all():
            return False
        edges = edges[np.ix_(rest, rest)]
    return True


def set_edges(
    graph: Structure,
    sources: np.ndarray | int,
    targets: np.ndarray | int,
    weights: np.ndarray | float | None,
) -> Structure:
    """The graph with these edges; a weight of None takes them out."""
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


def insert_latent(
    graph: Structure,
    parents: Sequence[int] | np.ndarray,
    children: Sequence[int] | np.ndarray,
    weights_in: np.ndarray,
    weights_out: np.ndarray,
    noise: float = FIRST_NOISE,
) -> Structure:
    """The graph with one latent more, the last; parents and children are nodes as they were."""
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
    loadings = find_loadings(graph)
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
    found = [remove_latent(one, other) for one in (merged, replace(merged, edges=both))]
    return [graph for graph in found if is_acyclic(graph)]


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
