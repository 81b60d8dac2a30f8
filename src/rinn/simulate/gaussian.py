"""Linear structural equations with gaussian noise: real-valued inputs and outputs."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number, check_range
from rinn.graphs.basics import lay_out
from rinn.simulate.samples import Sampled, draw_normals, draw_rows


def sample_gaussian(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    noise: tuple[float, float] = (1.0, 3.0),
    weight: tuple[float, float] = (0.5, 1.5),
    correlated: float = 0.0,
    block: int | None = None,
) -> Sampled:
    """Draw rows in which each node is a weighted sum of its parents plus noise.

    n_j = sum_i w_ij n_i + b_j, with b_j ~ N(0, v_j), v_j ~ U(noise) and w_ij ~ ±U(weight); an
    input is its noise alone. Where edges have a `strength`, weights are
    multiplied by it, relative to the geometric mean of all.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> sampled = sample_gaussian(np.random.default_rng(0), paper_graph(), 10)
        >>> sampled.y.shape, 0.5 <= abs(sampled.graph["x0"]["h16"]["weight"]) <= 1.5
        ((10, 16), True)
    """
    noise = check_range("noise", noise)
    weight = check_range("weight", weight, above=True)
    correlated = check_number("correlated", correlated, maximum=1, below=True)
    check_integer("samples", samples)
    layout = lay_out(graph)
    truth = draw_equations(rng, graph, layout.nodes, noise, weight)
    names = layout.nodes
    spread = np.sqrt([truth.nodes[node]["variance"] for node in names])  # [node]
    weights = [
        np.array([truth[names[parent]][node]["weight"] for parent in parents])
        for node, parents in zip(names, layout.parents, strict=True)
    ]

    def draw_block(rows: int) -> np.ndarray:
        noises = draw_normals(rng, layout, rows, correlated) * spread  # [row, node]
        values = noises.T.copy()  # [node, row]
        for node, parents in enumerate(layout.parents):
            # Added parent by parent: a matrix product may round differently for other blocks.
            for parent, size in zip(parents, weights[node], strict=True):
                values[node] += size * values[parent]
        return values

    x, y = draw_rows(layout, samples, draw_block, (np.float64, np.float64), block)
    return Sampled(x, y, truth, {"noise": noise, "weight": weight})


def draw_equations(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    nodes: tuple[str, ...],
    noise: tuple[float, float],
    weight: tuple[float, float],
) -> nx.DiGraph:
    """Copy a graph with a noise variance on each node and a weight on each edge.

    Example:
        >>> graph = nx.DiGraph([("x0", "y0")])
        >>> found = draw_equations(np.random.default_rng(0), graph, ("x0", "y0"), (1, 1), (2, 2))
        >>> found.nodes["y0"], abs(found["x0"]["y0"]["weight"])
        ({'variance': 1.0}, 2.0)
    """
    truth = graph.copy()
    for node, variance in zip(nodes, rng.uniform(*noise, len(nodes)), strict=True):
        truth.nodes[node]["variance"] = float(variance)
    edges = list(truth.edges)
    sizes = rng.uniform(*weight, len(edges)) * rng.choice((-1.0, 1.0), len(edges))
    logs = np.log([truth.edges[edge].get("strength", 1.0) for edge in edges])
    sizes *= np.exp(logs - (logs.mean() if len(edges) else 0.0))
    for (parent, child), size in zip(edges, sizes, strict=True):
        truth[parent][child]["weight"] = float(size)
    return truth
