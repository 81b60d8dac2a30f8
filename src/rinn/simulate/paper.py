"""The ground-truth graph of the simulations: 16 inputs, 9 latents in two levels, 16 outputs.

Each latent lights up a picture on the outputs, read as four rows of four.
"""

from __future__ import annotations

import networkx as nx

# latent: (level, inputs, latent children, output children)
_LATENTS: dict[int, tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    16: (1, (0,), (20,), ()),
    17: (1, (1, 2, 8), (21, 22), ()),
    18: (1, (3,), (23,), ()),
    19: (1, (4, 5, 11), (23, 24), ()),
    20: (2, (7,), (), (0, 5, 10, 15)),  # diagonal
    21: (2, (6, 14), (), (0, 1, 4, 8, 12, 13)),  # left bracket
    22: (2, (13, 15), (), (2, 3, 7, 11, 14, 15)),  # right bracket
    23: (2, (10,), (), (2, 3, 6, 7)),  # little square
    24: (2, (9, 12), (), (5, 8, 9, 10, 13)),  # plus sign
}


def paper_graph() -> nx.DiGraph:
    """Build the ground-truth graph G_T with its nine latents and 47 edges.

    Returns:
        A new graph: x0..x15, h16..h24, y0..y15; each node has a `role`, each latent a `level`.

    Example:
        >>> graph = paper_graph()
        >>> graph.number_of_edges(), sorted(graph.successors("h23"))
        (47, ['y2', 'y3', 'y6', 'y7'])
    """
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(16)), role="input")
    for latent, (level, _, _, _) in _LATENTS.items():
        graph.add_node(f"h{latent}", role="latent", level=level)
    graph.add_nodes_from((f"y{i}" for i in range(16)), role="output")
    for latent, (_, inputs, latents, outputs) in _LATENTS.items():
        graph.add_edges_from((f"x{i}", f"h{latent}") for i in inputs)
        graph.add_edges_from((f"h{latent}", f"h{i}") for i in latents)
        graph.add_edges_from((f"h{latent}", f"y{i}") for i in outputs)
    return graph
