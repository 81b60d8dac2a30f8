"""Structural equations with gaussian noise: real-valued inputs, real-valued or binary outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number, check_range
from rinn.graphs.basics import Layout, lay_out
from rinn.simulate.samples import Sampled, draw_normals, draw_rows

# Each has mean 0 and variance 1 over a standard normal. The sine falls again beyond 1.26
# standard deviations, so that a fifth of the samples are on its falling sides.
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": lambda z: np.tanh(1.5 * z) / 0.735,
    "softplus": lambda z: (np.log1p(np.exp(2 * z)) - 1.068) / 1.091,
    "sine": lambda z: np.sin(1.25 * z) / 0.691,
    "linear": lambda z: z,
}
CURVES = ("tanh", "softplus", "sine")
# Rows that give the mean and the standard deviation of each node, by which its effects are scaled.
PILOT_ROWS = 4000
# A binary output is 1 above a quantile from this range.
QUANTILES = (0.3, 0.7)


@dataclass(frozen=True)
class _Equations:
    """The drawn noise of each node, its parents with weight and shape, its mean and deviation."""

    noises: np.ndarray  # [node]
    terms: tuple[tuple[tuple[int, float, str], ...], ...]
    means: np.ndarray  # [node]
    stds: np.ndarray  # [node]


def sample_equations(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    noise: tuple[float, float] = (1.0, 3.0),
    weight: tuple[float, float] = (0.5, 1.5),
    correlated: float = 0.0,
    block: int | None = None,
    kind: str = "gaussian",
) -> Sampled:
    """Draw rows in which each node is a weighted sum of functions of its parents, plus noise.

    n_j = sum_i w_ij s_i f_ij((n_i - m_i) / s_i) + b_j, with b_j ~ N(0, v_j), v_j ~ U(noise) and
    w_ij ~ ±U(weight); m_i and s_i are the mean and standard deviation of the parent. An input is
    its noise alone. Where edges have a `strength`, weights are multiplied by it, relative to the
    geometric mean of all. `kind` says what f_ij is:

    - gaussian: linear, so that n_j = sum_i w_ij n_i + b_j.
    - curved: drawn from `CURVES`.
    - mixed: as curved, but the edges into half of the latents, on average, are linear, and every
      other output in a random order is 1 above a `threshold` and else 0.
    """
    noise = check_range("noise", noise)
    weight = check_range("weight", weight, above=True)
    correlated = check_number("correlated", correlated, maximum=1, below=True)
    check_integer("samples", samples)
    layout = lay_out(graph)
    truth = _draw_equations(rng, graph, layout.nodes, noise, weight)
    for node, role in truth.nodes(data="role") if kind != "gaussian" else ():
        linear = kind == "mixed" and role == "latent" and rng.random() < 0.5
        for parent in truth.predecessors(node):
            truth[parent][node]["shape"] = "linear" if linear else str(rng.choice(CURVES))
    equations = _read_equations(truth, layout)
    thresholds: dict[int, float] = {}
    if kind != "gaussian":
        # each node's mean and deviation, after those of its parents, by a pilot [node, row]
        pilot = (draw_normals(rng, layout, PILOT_ROWS) * equations.noises).T.copy()
        for index in range(len(pilot)):
            _add_parents(equations, pilot, index)
            equations.means[index] = pilot[index].mean()
            equations.stds[index] = pilot[index].std() or 1.0
    if kind == "mixed":
        for index in rng.permutation(layout.outputs)[::2].tolist():
            thresholds[index] = float(np.quantile(pilot[index], rng.uniform(*QUANTILES)))
            truth.nodes[layout.nodes[index]]["threshold"] = thresholds[index]

    def draw_block(rows: int) -> np.ndarray:
        normals = draw_normals(rng, layout, rows, correlated)
        values = (normals * equations.noises).T.copy()  # [node, row]
        for node in range(len(values)):
            _add_parents(equations, values, node)
        for node, threshold in thresholds.items():
            values[node] = values[node] > threshold
        return values

    x, y = draw_rows(layout, samples, draw_block, (np.float64, np.float64), block)
    return Sampled(x, y, truth, {"noise": noise, "weight": weight})


sample_gaussian = partial(sample_equations, kind="gaussian")
sample_curved = partial(sample_equations, kind="curved")
sample_mixed = partial(sample_equations, kind="mixed")


def _draw_equations(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    nodes: tuple[str, ...],
    noise: tuple[float, float],
    weight: tuple[float, float],
) -> nx.DiGraph:
    """Copy a graph with a noise variance on each node and a weight on each edge."""
    truth = graph.copy()
    for node, variance in zip(nodes, rng.uniform(*noise, len(nodes)), strict=True):
        truth.nodes[node]["variance"] = float(variance)
    edges = list(truth.edges)
    weights = rng.uniform(*weight, len(edges)) * rng.choice((-1.0, 1.0), len(edges))
    logs = np.log([truth.edges[edge].get("strength", 1.0) for edge in edges])
    weights *= np.exp(logs - (logs.mean() if len(edges) else 0.0))
    for (parent, child), size in zip(edges, weights, strict=True):
        truth[parent][child]["weight"] = float(size)
    return truth


def _read_equations(truth: nx.DiGraph, layout: Layout) -> _Equations:
    """The equations of a graph, with mean 0 and standard deviation 1 for each node."""
    names, terms = layout.nodes, []
    for node, parents in zip(names, layout.parents, strict=True):
        edges = [(parent, truth[names[parent]][node]) for parent in parents]
        terms.append(tuple((p, edge["weight"], edge.get("shape", "linear")) for p, edge in edges))
    noises = np.sqrt([truth.nodes[node]["variance"] for node in names])
    return _Equations(noises, tuple(terms), np.zeros(len(names)), np.ones(len(names)))


def _add_parents(equations: _Equations, values: np.ndarray, node: int) -> None:
    """Add the effects of the parents to a node's noise.

    Parent by parent: a matrix product may round differently for other blocks.
    """
    for parent, weight, shape in equations.terms[node]:
        std = equations.stds[parent]
        scaled = (values[parent] - equations.means[parent]) / std
        values[node] += weight * std * SHAPES[shape](scaled)
