"""Where every node of a graph stands: inputs left, latents by causal level, outputs right."""

from __future__ import annotations

import networkx as nx

from rinn.graphs.basics import by_role, latents_in_order

COLUMN, ROW = 220.0, 50.0
SWEEPS = 8


def place_nodes(graph: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """Place all nodes in columns, in pixels: x to the right, y down, columns centred on y = 0.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y0"), ("h", "y1")])
        >>> roles = dict(x="input", h="latent", y0="output", y1="output")
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> place_nodes(graph)["h"], place_nodes(graph)["y1"]
        ((220.0, 0.0), (440.0, 25.0))
    """
    columns = [by_role(graph, "input"), *_levels(graph), by_role(graph, "output")]
    return {
        node: (COLUMN * number, ROW * (place - (len(column) - 1) / 2))
        for number, column in enumerate(_sort(columns, graph))
        for place, node in enumerate(column)
    }


def _levels(graph: nx.DiGraph) -> list[list[str]]:
    """Latents by the longest path of latents above them."""
    level: dict[str, int] = {}
    for latent in latents_in_order(graph):
        above = [level[parent] for parent in graph.predecessors(latent) if parent in level]
        level[latent] = 1 + max(above, default=-1)
    levels: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for latent, number in level.items():
        levels[number].append(latent)
    return levels


def _sort(columns: list[list[str]], graph: nx.DiGraph) -> list[list[str]]:
    """Order each column by the mean place of its nodes' neighbours; nodes without any go last."""

    def middle(node: str) -> float:
        near = [place[other] for other in nx.all_neighbors(graph, node)]
        return sum(near) / len(near) if near else 2.0

    for _ in range(SWEEPS):
        place = {n: (i + 0.5) / len(column) for column in columns for i, n in enumerate(column)}
        columns = [sorted(column, key=middle) for column in columns]
    return columns
