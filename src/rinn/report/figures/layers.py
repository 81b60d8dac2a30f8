"""Where nodes stand and edges run: inputs left, latents by causal level, outputs right."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Float
from sklearn.isotonic import isotonic_regression

from rinn.graphs.basics import ROLES, by_role, latents_in_order
from rinn.graphs.layout import COLUMN, place_nodes
from rinn.report.figures.ordering import order_columns

BEND = 0.34  # rows that an edge takes where it passes a column
LATENT = 1.25  # rows that a latent takes
SWEEPS = 12

Point = tuple[float, float]


@dataclass(frozen=True)
class Layers:
    """Places as (column, row): columns count from 0 at the inputs, rows from 0 at the top.

    `routes` holds the points that each edge goes through, from source to target. Edges that run
    past a column have a point in it, so that they pass between its nodes.
    """

    columns: tuple[tuple[str, ...], ...]
    places: dict[str, Point]
    routes: dict[tuple[str, str], tuple[Point, ...]]
    rows: float


def layer_nodes(graph: nx.DiGraph) -> Layers:
    """Place nodes in columns with few crossings, and lead edges past the columns between.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> layer_nodes(graph).columns
        (('x',), ('h',), ('y',))
    """
    column, last = _columns(graph)
    routed, chains = _add_bends(graph, column)
    order = order_columns(_begin(routed, last), routed)
    sizes = {node: _size(routed.nodes[node]["role"], node in column) for node in routed}
    rows = max(1.0, *(sum(sizes[node] for node in nodes) for nodes in order))
    even = _spread(order, sizes, rows)
    heights = dict(even)
    for _ in range(SWEEPS):
        for nodes in order[1:-1]:
            wanted = [_want(routed, node, heights, even, node in column) for node in nodes]
            size = np.array([sizes[node] for node in nodes])
            apart = _keep_apart(np.array(wanted), size, rows)
            heights |= dict(zip(nodes, apart.tolist(), strict=True))
    places = {node: (float(number), heights[node]) for number, nodes in enumerate(order)
              for node in nodes}  # fmt: skip
    return Layers(
        columns=tuple(tuple(node for node in nodes if node in column) for nodes in order),
        places={node: places[node] for node in graph},
        routes={edge: tuple(places[node] for node in chain) for edge, chain in chains.items()},
        rows=rows,
    )


def take_part(graph: nx.DiGraph, nodes: Container[str]) -> nx.DiGraph:
    """Take a part of a graph in the graph's own order.

    networkx's `subgraph` gives an order that changes from process to process, and figures with it.

    Example:
        >>> list(take_part(nx.DiGraph([("b", "a"), ("a", "c")]), {"a", "b"}))
        ['b', 'a']
    """
    part: nx.DiGraph = nx.DiGraph()
    part.add_nodes_from((node, about) for node, about in graph.nodes(data=True) if node in nodes)
    part.add_edges_from(
        (source, target, about)
        for source, target, about in graph.edges(data=True)
        if source in nodes and target in nodes
    )
    return part


def _columns(graph: nx.DiGraph) -> tuple[dict[str, int], int]:
    """Inputs in column 0, latents by the longest path of latents above them, outputs last."""
    level: dict[str, int] = {}
    for latent in latents_in_order(graph):
        above = [level[parent] for parent in graph.predecessors(latent) if parent in level]
        level[latent] = 1 + max(above, default=0)
    last = 1 + max(level.values(), default=0)
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    return level | dict.fromkeys(inputs, 0) | dict.fromkeys(outputs, last), last


def _add_bends(
    graph: nx.DiGraph, column: dict[str, int]
) -> tuple[nx.DiGraph, dict[tuple[str, str], tuple[str, ...]]]:
    """Break edges that skip columns into steps, with a stand-in for a latent in each column."""
    routed: nx.DiGraph = nx.DiGraph()
    routed.add_nodes_from((node, {"role": graph.nodes[node]["role"]}) for node in graph)
    chains: dict[tuple[str, str], tuple[str, ...]] = {}
    taken = set(graph)
    for number, (source, target) in enumerate(graph.edges):
        between = range(column[source] + 1, column[target])
        bends = [_free_name(f"{number}.{place}", taken) for place in between]
        routed.add_nodes_from(bends, role="latent")
        chains[source, target] = (source, *bends, target)
        if column[source] < column[target]:  # outputs that act on outputs share their column
            nx.add_path(routed, chains[source, target])
    return routed, chains


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _begin(routed: nx.DiGraph, last: int) -> list[list[str]]:
    """The columns from top to bottom, as they stand in exported files."""
    places = place_nodes(routed)
    columns: list[list[str]] = [[] for _ in range(last + 1)]
    for node in sorted(places, key=lambda node: places[node][1]):
        columns[round(places[node][0] / COLUMN)].append(node)
    return columns


def _size(role: str, real: bool) -> float:
    if not real:
        return BEND
    return LATENT if role == ROLES[1] else 1.0


def _spread(order: list[list[str]], sizes: dict[str, float], rows: float) -> dict[str, float]:
    """Spread each column over the whole height."""
    heights = {}
    for nodes in order:
        size = np.array([sizes[node] for node in nodes])
        ends = np.cumsum(size) - size / 2
        for node, height in zip(nodes, ends * rows / max(size.sum(), 1e-9), strict=True):
            heights[node] = float(height)
    return heights


def _want(
    routed: nx.DiGraph, node: str, heights: dict[str, float], even: dict[str, float], real: bool
) -> float:
    """Bends go where their edge is straight; latents also keep to the whole height."""
    middle = _middle(routed, node, heights)
    return (middle + even[node]) / 2 if real else middle


def _middle(routed: nx.DiGraph, node: str, heights: dict[str, float]) -> float:
    """The mean of the neighbours' heights, causes and effects with equal say."""
    sides = [
        np.mean([heights[other] for other in others])
        for others in (list(routed.predecessors(node)), list(routed.successors(node)))
        if others
    ]
    return float(np.mean(sides)) if sides else heights[node]


def _keep_apart(
    wanted: Float[np.ndarray, " node"], size: Float[np.ndarray, " node"], rows: float
) -> Float[np.ndarray, " node"]:
    """The heights nearest to those wanted that keep the order and leave room for every node."""
    offset = np.cumsum(size) - size / 2  # as high as each could stand
    room = max(rows - float(size.sum()), 0.0)
    moved = isotonic_regression(wanted - offset, y_min=0.0, y_max=room)
    return np.asarray(moved) + offset
