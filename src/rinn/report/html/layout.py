"""The layered layout in pixels; nodes of weaker edges are below, and move nothing when shown."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import networkx as nx

from rinn.errors import clip
from rinn.graphs.layout import LATENT, Edge, layer_nodes
from rinn.report.info import GraphInfo, graph_info

ROW, TOP, BOTTOM = 23.0, 34.0, 12.0
GAP = 120.0  # between columns, where nothing says how wide the page is
OUTER = 1.8  # times as wide is the gap beside inputs and outputs, which holds most of the edges
HALF = 27.0  # of a latent's width
DOT = 5.0
LABEL, LETTER, WIDE_LETTER = 140.0, 7.0, 12.0
MAX_BELOW = 30  # nodes of a role that only weaker edges touch

Place = tuple[int, float]  # column and height


@dataclass(frozen=True)
class GraphLayout:
    """The column and height of every node, and what edges pass; the graph ends at `height`."""

    columns: int
    positions: dict[str, Place]
    routes: dict[Edge, list[Place]]
    height: float
    labels: tuple[float, float]
    info: GraphInfo

    @property
    def width(self) -> float:
        """The width where the page sets none."""
        return self.find_x(self.columns - 1) + self.labels[1]

    def find_x(self, column: int) -> float:
        """The middle of a column."""
        if not column:
            return self.labels[0]
        is_last = column == self.columns - 1
        gaps = column - 1 + OUTER + (OUTER - 1) * is_last
        boxes = 2 * (column - is_last) - (not is_last)
        return self.labels[0] + GAP * gaps + HALF * boxes

    def to_json(self, number: dict[str, int], edges: dict[Edge, int]) -> dict[str, Any]:
        """The layout by the numbers of nodes and edges, for the page's script."""
        return {
            "columns": self.columns,
            "height": round(self.height),
            "labels": [round(label) for label in self.labels],
            "nodes": {number[n]: [c, round(y, 1)] for n, (c, y) in self.positions.items()},
            "routes": {
                edges[edge]: [[c, round(y, 1)] for c, y in route]
                for edge, route in self.routes.items()
                if route and edge in edges
            },
        }


def layout_info(
    graph: nx.DiGraph,
    found: nx.DiGraph | None = None,
    backward: Container[Edge] = (),
    *,
    folded: bool = False,
) -> GraphLayout:
    """Position the nodes of a graph, and below it those of the weaker edges of `found`."""
    info = graph_info(graph, folded=folded)
    layers = layer_nodes(info.graph, backward=backward)
    last = max(len(layers.columns) - 1, 2)  # room for latents where there is none

    def to_place(point: tuple[float, float]) -> Place:
        column = round(point[0])
        return last if column == len(layers.columns) - 1 else column, TOP + ROW * point[1]

    positions = {node: to_place(point) for node, point in layers.positions.items()}
    height = TOP + ROW * layers.rows
    if found is not None:
        drawn = {name for names in info.folds.values() for name in names} | {*info.graph}
        positions |= _position_below(found, drawn, last, height)
    labels = [
        find_label_width([info.labels.get(n, n) for n, at in positions.items() if at[0] == column])
        for column in (0, last)
    ]
    return GraphLayout(
        columns=last + 1,
        positions=positions,
        routes={edge: [*map(to_place, route[1:-1])] for edge, route in layers.routes.items()},
        height=height + BOTTOM,
        labels=(labels[0], labels[1]),
        info=info,
    )


def fit_label(name: str, room: float = LABEL) -> str:
    """Shorten a name to the room for a label; letters outside ASCII are taken as wide."""
    length = min(len(name), int(room))
    while _find_width(clip(name, length)) > room:
        length -= 1
    return clip(name, length)


def _find_width(label: str) -> float:
    return sum(LETTER if letter.isascii() or letter == "…" else WIDE_LETTER for letter in label)


def find_label_width(names: Sequence[str], room: float = LABEL) -> float:
    """The room that the longest of these names takes, with a margin."""
    return 20.0 + max((_find_width(fit_label(name, room)) for name in names), default=30.0)


def _position_below(
    found: nx.DiGraph, drawn: Container[str], last: int, top: float
) -> dict[str, Place]:
    """Position the nodes that only weaker edges touch, the most frequent first."""
    frequency = {
        node: max(values.get("frequency", 0.0) for values in (*found.pred[node].values(),
                                                              *found.succ[node].values()))
        for node in found
        if node not in drawn and found.degree(node)
    }  # fmt: skip
    role = dict(found.nodes(data="role"))
    order = sorted(frequency, key=lambda node: (role[node], -frequency[node]))
    below: dict[str, Place] = {}
    for kind, names in groupby(order, key=role.__getitem__):
        for number, node in enumerate([*names][:MAX_BELOW]):
            if kind == "latent":
                row, column = divmod(number, last - 1)
                below[node] = 1 + column, top + ROW * LATENT * (row + 1)
            else:
                below[node] = 0 if kind == "input" else last, top + ROW * (number + 1)
    return below
