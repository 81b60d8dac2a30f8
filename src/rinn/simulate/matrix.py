"""Matrix multiplication with interventions: no noise, binary inputs, whole-numbered outputs."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number
from rinn.graphs.basics import Layout, lay_out
from rinn.simulate.samples import Sampled, draw_rows


def sample_matrix(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    p: float = 0.10,
    block: int | None = None,
) -> Sampled:
    """Draw rows in which an active input sets its child to 0.

    The value of a latent or output is the sum of its latent parents' values, or 1 where it has
    none, and 0 where one of its input parents is active.
    """
    p = check_number("p", p, maximum=1)
    check_integer("samples", samples)
    layout = lay_out(graph)
    # without an active input, a node is its number of paths from the first latents
    nothing = np.zeros((1, len(layout.inputs)), int)
    resting = propagate_interventions(layout, nothing, np.dtype(object))
    dtype = np.min_scalar_type(-resting.max(initial=1) - 1)

    def draw_block(rows: int) -> np.ndarray:
        active = rng.random((rows, len(layout.inputs)), dtype=np.float32) < np.float32(p)
        return propagate_interventions(layout, active, dtype)

    x, y = draw_rows(layout, samples, draw_block, (np.int8, dtype), block)
    return Sampled(x, y, graph.copy(), {"p": p})


def propagate_interventions(layout: Layout, active: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values [node, row] of all nodes, where active inputs set their children to 0."""
    values = np.empty((len(layout.nodes), len(active)), dtype)
    values[list(layout.inputs)] = active.T  # [input, row]
    for node, parents in enumerate(layout.parents):
        if layout.roles[node] == "input":
            continue
        sources = [parent for parent in parents if layout.roles[parent] != "input"]
        values[node] = values[sources].sum(axis=0, dtype=dtype) if sources else 1
        for parent in parents:
            if layout.roles[parent] == "input":
                values[node] *= 1 - values[parent]
    return values
