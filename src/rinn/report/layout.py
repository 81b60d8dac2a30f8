"""Where the nodes of a latent graph stand: inputs left, latents by causal level, outputs right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import networkx as nx
import numpy as np

from rinn.graphs import by_role, latents_in_order
from rinn.report.markup import clip

ALL_DRAWN = 40
MOST_DRAWN = 120
ROW, COLUMN, TOP = 22.0, 230.0, 34.0
LABEL, LETTER, WIDE_LETTER = 140.0, 7.0, 12.0
STAGGER = 0.15
SWEEPS = 8


@dataclass(frozen=True)
class GraphLayout:
    """The place (x, y) of every drawn node, and how many inputs and outputs are not drawn.

    Inputs stand at `left`, outputs at `right`.
    `without_edge` and `weaker` count by role: nodes that no edge touches, and nodes whose edges
    are weaker than those of the drawn ones.
    """

    places: dict[str, tuple[float, float]]
    left: float
    right: float
    width: float
    height: float
    without_edge: dict[str, int]
    weaker: dict[str, int]


def layout_info(graph: nx.DiGraph) -> GraphLayout:
    """Place the nodes of a graph in columns, with few crossings.

    Args:
        graph: a latent graph. Of more than 40 inputs or outputs only those with an edge are
            placed, and of those the 120 with the strongest edges.

    Returns:
        Places and size of the drawing.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> [x for x, y in layout_info(graph).places.values()]
        [27.0, 257.0, 487.0]
    """
    inputs, outputs = (_choose(graph, by_role(graph, role)) for role in ("input", "output"))
    columns = _sort([inputs, *_levels(graph), outputs], graph)
    height = ROW * max(len(column) for column in columns)
    left, margin = _label_width(columns[0]), _label_width(columns[-1])
    right = left + COLUMN * (len(columns) - 1)
    places = {
        name: (left + COLUMN * number, TOP + height * (place + shift) / len(column))
        for number, (column, shift) in enumerate(zip(columns, _shifts(len(columns)), strict=True))
        for place, name in enumerate(column)
    }
    missing = [node for node in graph if node not in places]
    lone = Counter(graph.nodes[node]["role"] for node in missing if not graph.degree(node))
    weak = Counter(graph.nodes[node]["role"] for node in missing if graph.degree(node))
    return GraphLayout(places, left, right, right + margin, TOP + height, dict(lone), dict(weak))


def fit_label(name: str) -> str:
    """Shorten a name to the room for a label; letters outside ASCII are taken as wide.

    Example:
        >>> fit_label("x" * 50), fit_label("x0")
        ('xxxxxxxxxxxxxxxxxxx…', 'x0')
    """
    length = len(name)
    while _width(clip(name, length)) > LABEL:
        length -= 1
    return clip(name, length)


def _width(label: str) -> float:
    return sum(LETTER if letter.isascii() or letter == "…" else WIDE_LETTER for letter in label)


def _shifts(columns: int) -> list[float]:
    """Move neighbouring columns of latents apart, so that edges pass between the nodes."""
    if columns == 3:
        return [0.5] * 3
    return [0.5, *(0.5 + STAGGER * (-1) ** number for number in range(columns - 2)), 0.5]


def _choose(graph: nx.DiGraph, names: list[str]) -> list[str]:
    """Leave out nodes of a role that has too many of them to draw."""
    if len(names) <= ALL_DRAWN:
        return names
    strength = {name: _strongest_edge(graph, name) for name in names if graph.degree(name)}
    chosen = set(sorted(strength, key=lambda name: -strength[name])[:MOST_DRAWN])
    return [name for name in names if name in chosen]


def _label_width(names: list[str]) -> float:
    return 20.0 + max((_width(fit_label(name)) for name in names), default=0.0)


def _strongest_edge(graph: nx.DiGraph, node: str) -> float:
    edges = [*graph.in_edges(node, data="weight"), *graph.out_edges(node, data="weight")]
    return max(abs(weight or 0.0) for _, _, weight in edges)


def _levels(graph: nx.DiGraph) -> list[list[str]]:
    """Latents by the longest path of latents above them; one empty column where there is none."""
    level: dict[str, int] = {}
    for latent in latents_in_order(graph):
        above = [level[parent] for parent in graph.predecessors(latent) if parent in level]
        level[latent] = 1 + max(above, default=-1)
    count = 1 + max(level.values(), default=0)
    return [[name for name in level if level[name] == number] for number in range(count)]


def _sort(columns: list[list[str]], graph: nx.DiGraph) -> list[list[str]]:
    """Order each column by the mean place of its nodes' neighbours; nodes without any go last."""
    place = {n: (i + 0.5) / len(column) for column in columns for i, n in enumerate(column)}
    for _ in range(SWEEPS):
        columns = [sorted(column, key=lambda n: _middle(graph, n, place)) for column in columns]
        place = {n: (i + 0.5) / len(column) for column in columns for i, n in enumerate(column)}
    return columns


def _middle(graph: nx.DiGraph, node: str, place: dict[str, float]) -> float:
    near = [place[other] for other in nx.all_neighbors(graph, node) if other in place]
    return float(np.mean(near)) if near else 2.0
