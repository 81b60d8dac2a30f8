"""A first graph: inputs with proportional effects share a latent, and latents act on latents.

Rows of the whitened effects have independent errors of variance 1. Two inputs of one latent have
proportional rows: the smaller eigenvalue of their inner products is then a chi-square. Groups of
inputs are merged while that costs less than the edges it saves; the common row of a group is made
sparse, and what it shares with the row of another group becomes an edge between their latents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from rinn.structure import constants as c
from rinn.structure.records import Moments, Structure, make_structure

Row = Float[np.ndarray, " output"]


def propose_graph(moments: Moments, penalty: float) -> Structure:
    """Propose a graph with starting weights."""
    groups, rows = _group_inputs(moments, penalty)
    inputs, outputs = moments.effects.shape
    count = len(groups)
    edges = np.zeros((inputs + count + outputs,) * 2, bool)
    reached = [_find_support(row, moments.residual, penalty) for row in rows]
    order = sorted(range(count), key=lambda g: len(reached[g]))
    for position, g in enumerate(order):
        below = {h: np.where(_mark(reached[h], outputs), rows[h], 0.0) for h in order[:position]}
        children, direct = _find_children(rows[g], moments.residual, penalty, below)
        edges[groups[g], inputs + g] = True
        edges[inputs + g, [inputs + child for child in children]] = True
        edges[inputs + g, [inputs + count + o for o in direct]] = True
        reached[g] = sorted(set(direct).union(*(reached[child] for child in children)))
    return set_start(make_structure(edges, inputs, outputs), moments)


def _mark(indices: Sequence[int], count: int) -> np.ndarray:
    result = np.zeros(count, bool)
    result[list(indices)] = True
    return result


def _group_inputs(moments: Moments, penalty: float) -> tuple[list[list[int]], list[Row]]:
    """Inputs with clear and proportional effects, and the common effects of each group."""
    outputs = moments.effects.shape[1]
    root = np.linalg.cholesky(moments.precision)
    scale = moments.errors / np.sqrt(np.diag(moments.residual) / moments.samples)
    rows = moments.effects @ root * np.sqrt(moments.samples) / scale  # white, variance 1
    noise = np.sqrt(np.diag(moments.residual))
    back = np.linalg.inv(root)

    def count_outputs(row: Row) -> int:
        return max(1, int((np.abs(row @ back) > c.CLEAR_OUTPUT * noise).sum()))

    least = outputs + 2 * penalty + 2 * np.sqrt(2 * outputs)
    clear = np.flatnonzero((rows**2).sum(axis=1) > least)
    groups = [[int(i)] for i in clear]
    common = [rows[i] for i in clear]
    sizes = [count_outputs(row) for row in common]
    while len(groups) > 1:
        inner = np.array(common) @ np.array(common).T
        squares = np.diag(inner)
        total = squares[:, None] + squares
        gap = np.maximum(squares[:, None] * squares - inner**2, 0.0)
        misfit = (total - np.sqrt(np.maximum(total**2 - 4 * gap, 0.0))) / 2
        saved = penalty * np.minimum.outer(sizes, sizes)
        cosine = np.abs(inner) / np.sqrt(squares[:, None] * squares)
        good = (saved > misfit - (outputs - 1)) & (cosine > c.MIN_ROW_COSINE)
        np.fill_diagonal(good, False)
        if not good.any():
            break
        i, j = np.unravel_index(np.argmax(np.where(good, cosine, -1.0)), good.shape)
        _, size, right = np.linalg.svd(np.array([common[i], common[j]]), full_matrices=False)
        groups[i] += groups[j]
        common[i] = size[0] * right[0]
        sizes[i] = count_outputs(common[i])
        del groups[j], common[j], sizes[j]
    return groups, [row @ back for row in common]


def _find_support(row: Row, residual: np.ndarray, penalty: float) -> list[int]:
    """The outputs whose effects pay for an edge: backward elimination."""
    return _find_children(row, residual, penalty, {})[1]


def _find_children(
    row: Row, residual: np.ndarray, penalty: float, below: dict[int, Row]
) -> tuple[list[int], list[int]]:
    """Groups and outputs that together give a row at the lowest cost: greedy."""
    chosen: list[int] = []
    cost, direct = _eliminate(row, residual, penalty, [])
    left = {
        g: other
        for g, other in below.items()
        if np.count_nonzero(other) > 1
        and np.isin(np.flatnonzero(other), direct).mean() > c.MIN_INSIDE
    }
    while left:
        trials = {
            g: _eliminate(row, residual, penalty, [below[h] for h in (*chosen, g)]) for g in left
        }
        best = min(trials, key=lambda g: (trials[g][0], g))
        if trials[best][0] >= cost - 1e-6:
            break
        cost, direct = trials[best]
        chosen.append(best)
        del left[best]
    return chosen, direct


def _eliminate(
    row: Row, residual: np.ndarray, penalty: float, others: Sequence[Row]
) -> tuple[float, list[int]]:
    """Explain a row by other rows, and by outputs of its own as long as these pay for an edge.

    Outputs that the other rows explain are taken one by one, the cheapest first; what is left
    given those (sweep operator) makes the chi-square with a further output a rank-one update.
    """
    table = np.array(others).reshape(len(others), len(row))
    kept, misfit = np.ones(len(row), bool), 0.0
    covariance, left = residual.copy(), np.vstack([row, table])  # [row and others, output]
    inner = np.zeros((len(left),) * 2)  # of the rows, over the outputs taken
    inner[1:, 1:] = 1e-9 * np.eye(len(others))
    while kept.any():
        indices = np.flatnonzero(kept)
        spread = np.maximum(np.diag(covariance)[indices], 1e-12)
        values = _find_misfits(inner, left[:, indices], spread)
        best = int(np.argmin(values))
        if values[best] - misfit > penalty:
            break
        misfit, at, variance = float(values[best]), indices[best], spread[best]
        inner = inner + np.outer(left[:, at], left[:, at]) / variance
        slope = covariance[at] / variance
        left = left - np.outer(left[:, at], slope)
        covariance = covariance - np.outer(covariance[at], slope)
        kept[at] = False
    count = int(kept.sum())
    return misfit + penalty * (count + len(others)), np.flatnonzero(kept).tolist()


def _find_misfits(
    inner: np.ndarray, left: np.ndarray, spread: np.ndarray
) -> Float[np.ndarray, " output"]:
    """Chi-square that other rows leave of the first, with each output taken in addition."""
    every = inner + left.T[:, :, None] * left.T[:, None, :] / spread[:, None, None]
    result = every[:, 0, 0]
    if len(inner) > 1:
        across = every[:, 1:, 0, None]
        slope = np.linalg.pinv(every[:, 1:, 1:], rcond=1e-12, hermitian=True) @ across
        result = result - (slope * across).sum(axis=(1, 2))
    return np.asarray(result)


def set_start(graph: Structure, moments: Moments) -> Structure:
    """Give a graph starting weights, latent by latent, from the effects of its inputs."""
    inputs, first = graph.inputs, graph.first_output
    weights, reach = np.zeros(graph.edges.shape), graph.reach
    loadings = np.zeros((graph.latents, graph.outputs))
    for k, node in enumerate(graph.latent_nodes):
        parents = np.flatnonzero(graph.edges[:inputs, node])
        above = parents if len(parents) else np.flatnonzero(reach[:inputs, node])
        below = np.flatnonzero(reach[node, first:])
        if len(above) and len(below):
            block = moments.effects[np.ix_(above, below)]
            loadings[k, below] = np.linalg.svd(block, full_matrices=False)[2][0]
    for k, node in enumerate(graph.latent_nodes):
        _explain(weights, graph, node, loadings[k], loadings)
    started = replace(graph, weights=weights)
    loadings = started.loadings
    for i in range(inputs):
        _explain(weights, graph, i, moments.effects[i], loadings)
    noise = np.full(graph.latents + graph.outputs, c.NEW_NOISE)
    noise[: graph.latents] *= np.diag(moments.residual).mean()
    noise[: graph.latents] /= np.maximum((loadings**2).sum(axis=1), 1e-3)
    noise[graph.latents :] = c.OUTPUT_NOISE * np.diag(moments.residual)
    return replace(graph, weights=weights, noise=noise)


def _explain(
    weights: np.ndarray, graph: Structure, node: int, row: Row, loadings: np.ndarray
) -> None:
    """Fill in the weights of a node's edges so that they add up to its effects."""
    first = graph.first_output
    children = np.flatnonzero(graph.edges[node, graph.inputs : first])
    direct = np.flatnonzero(graph.edges[node, first:])
    others = np.setdiff1d(np.arange(graph.outputs), direct)
    slope = np.zeros(len(children))
    if len(children) and len(others):
        slope = np.linalg.lstsq(loadings[children][:, others].T, row[others], rcond=None)[0]
    weights[node, graph.inputs + children] = slope
    weights[node, first + direct] = (row - slope @ loadings[children])[direct]
