"""Nonlinear structural equations: real-valued inputs, real-valued or binary outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number, check_range
from rinn.graphs.basics import Layout, lay_out
from rinn.simulate.gaussian import draw_equations
from rinn.simulate.samples import Sampled, draw_normals, draw_rows

# Each has mean 0 and variance 1 over a standard normal. The last one falls again beyond 1.26
# standard deviations, so that a fifth of the samples are on its falling sides.
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": lambda z: np.tanh(1.5 * z) / 0.735,
    "softplus": lambda z: (np.log1p(np.exp(2 * z)) - 1.068) / 1.091,
    "sine": lambda z: np.sin(1.25 * z) / 0.691,
    "linear": lambda z: z,
}
CURVES = ("tanh", "softplus", "sine")
# Rows that give the mean and spread of each node, by which its effects are scaled.
PILOT_ROWS = 4000
# A binary output is 1 above a quantile from this range.
QUANTILES = (0.3, 0.7)


@dataclass(frozen=True)
class _Equations:
    """What was drawn for each node: noise, parents with weight and shape, mean and spread."""

    layout: Layout
    noises: np.ndarray  # [node]
    terms: tuple[tuple[tuple[int, float, str], ...], ...]
    means: np.ndarray  # [node]
    spreads: np.ndarray  # [node]


def sample_curved(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    noise: tuple[float, float] = (1.0, 3.0),
    weight: tuple[float, float] = (0.5, 1.5),
    correlated: float = 0.0,
    block: int | None = None,
) -> Sampled:
    """Draw rows in which each node is a weighted sum of smooth functions of its parents.

    n_j = sum_i w_ij s_i f_ij((n_i - m_i) / s_i) + b_j with the mean m_i and the standard deviation
    s_i of the parent; f_ij is drawn from `CURVES`, the rest is as in `sample_gaussian`.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> sampled = sample_curved(np.random.default_rng(0), paper_graph(), 10)
        >>> sampled.graph["x0"]["h16"]["shape"] in CURVES
        True
    """
    return _sample(rng, graph, samples, noise, weight, correlated, block, mixed=False)


def sample_mixed(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    noise: tuple[float, float] = (1.0, 3.0),
    weight: tuple[float, float] = (0.5, 1.5),
    correlated: float = 0.0,
    block: int | None = None,
) -> Sampled:
    """Draw rows with linear and curved latents, and with binary and real-valued outputs.

    As `sample_curved`; the edges into half of the latents, on average, are linear, and every other
    output of a random order is 1 above a `threshold` and else 0.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> sampled = sample_mixed(np.random.default_rng(0), paper_graph(), 10)
        >>> sum("threshold" in sampled.graph.nodes[f"y{i}"] for i in range(16))
        8
    """
    return _sample(rng, graph, samples, noise, weight, correlated, block, mixed=True)


def _sample(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    noise: tuple[float, float],
    weight: tuple[float, float],
    correlated: float,
    block: int | None,
    mixed: bool,
) -> Sampled:
    noise = check_range("noise", noise)
    weight = check_range("weight", weight, above=True)
    correlated = check_number("correlated", correlated, maximum=1, below=True)
    check_integer("samples", samples)
    layout = lay_out(graph)
    truth = draw_equations(rng, graph, layout.nodes, noise, weight)
    _draw_shapes(rng, truth, mixed)
    equations, pilot = _measure_spreads(rng, truth, layout)
    if mixed:
        _draw_thresholds(rng, truth, layout, pilot)
    cuts = {
        place: truth.nodes[node]["threshold"]
        for place, node in enumerate(layout.nodes)
        if "threshold" in truth.nodes[node]
    }

    def draw_block(rows: int) -> np.ndarray:
        values = _draw_values(rng, equations, rows, correlated)
        for place, cut in cuts.items():
            values[place] = values[place] > cut
        return values

    x, y = draw_rows(layout, samples, draw_block, (np.float64, np.float64), block)
    return Sampled(x, y, truth, {"noise": noise, "weight": weight})


def _draw_shapes(rng: np.random.Generator, truth: nx.DiGraph, mixed: bool) -> None:
    """Put a shape on each edge; where `mixed`, all edges into a latent may be linear."""
    for node, role in truth.nodes(data="role"):
        linear = mixed and role == "latent" and rng.random() < 0.5
        for parent in truth.predecessors(node):
            shape = "linear" if linear else str(rng.choice(CURVES))
            truth[parent][node]["shape"] = shape


def _measure_spreads(
    rng: np.random.Generator, truth: nx.DiGraph, layout: Layout
) -> tuple[_Equations, np.ndarray]:
    """Find each node's mean and spread, after those of its parents, in a pilot [node, row]."""
    names, count = layout.nodes, len(layout.nodes)
    noises = np.sqrt([truth.nodes[node]["variance"] for node in names])
    edges = [[(parent, truth[names[parent]][node]) for parent in parents]
             for node, parents in zip(names, layout.parents, strict=True)]  # fmt: skip
    terms = tuple(tuple((p, edge["weight"], edge["shape"]) for p, edge in own) for own in edges)
    equations = _Equations(layout, noises, terms, np.zeros(count), np.ones(count))
    pilot = (draw_normals(rng, layout, PILOT_ROWS) * noises).T.copy()  # [node, row]
    for node in range(count):
        _add_parents(equations, pilot, node)
        equations.means[node] = pilot[node].mean()
        equations.spreads[node] = pilot[node].std() or 1.0
    return equations, pilot


def _draw_values(
    rng: np.random.Generator, equations: _Equations, rows: int, correlated: float
) -> np.ndarray:
    """Draw the values [node, row] of the next rows."""
    normals = draw_normals(rng, equations.layout, rows, correlated)
    values = (normals * equations.noises).T.copy()
    for node in range(len(values)):
        _add_parents(equations, values, node)
    return values


def _add_parents(equations: _Equations, values: np.ndarray, node: int) -> None:
    """Add to a node's noise what its parents do."""
    for parent, weight, shape in equations.terms[node]:
        spread = equations.spreads[parent]
        scaled = (values[parent] - equations.means[parent]) / spread
        values[node] += weight * spread * SHAPES[shape](scaled)


def _draw_thresholds(
    rng: np.random.Generator, truth: nx.DiGraph, layout: Layout, pilot: np.ndarray
) -> None:
    """Give every other output of a random order a threshold."""
    order = rng.permutation(layout.outputs)
    for place in order[::2]:
        cut = np.quantile(pilot[place], rng.uniform(*QUANTILES))
        truth.nodes[layout.nodes[place]]["threshold"] = float(cut)
