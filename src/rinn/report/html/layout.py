"""The layered layout in pixels; nodes of weaker edges are below, and move nothing when shown."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass

import networkx as nx

from rinn.errors import clip
from rinn.graphs.basics import by_role
from rinn.graphs.layout import Edge, Layers, Point, layer_nodes
from rinn.report.info import ALL_DRAWN, graph_info

MAX_ROWS = 100  # of a role with more nodes, several share a row
ROW, COLUMN, TOP, BOTTOM = 24.0, 230.0, 40.0, 10.0
LABEL, LETTER, WIDE_LETTER = 140.0, 7.0, 12.0
PACKED_LABEL, PACKED_COLUMN = 84.0, 108.0
LATENT_WIDTH, LATENT_HEIGHT = 54.0, 24.0
LATENT_ROWS, BEND_ROWS = 1.3, 0.65
MAX_SCALE = 2.6
ASPECT = 1.7  # of a drawing higher than usual
USUAL_HEIGHT = 700.0


@dataclass(frozen=True)
class GraphLayout:
    """The position (x, y) of every node; inputs end at `left`, outputs start at `right`.

    The drawn part ends at `height`, latents are `scale` times as large as usual, and roles in
    `packed` have several nodes in a row.
    """

    positions: dict[str, Point]
    routes: dict[Edge, list[Point]]
    left: float
    right: float
    width: float
    height: float
    scale: float
    packed: tuple[str, ...]


def layout_info(
    graph: nx.DiGraph, found: nx.DiGraph | None = None, backward: Container[Edge] = ()
) -> GraphLayout:
    """Position the nodes of a graph, and below it those of the weaker edges of `found`."""
    part = graph_info(graph).graph
    sides = [len(by_role(part, role)) for role in ("input", "output")]
    across = [math.ceil(side / MAX_ROWS) or 1 for side in sides]
    rows = min(MAX_ROWS, max(*sides, 1))
    scale = min(MAX_SCALE, max(1.0, rows / ALL_DRAWN))
    layers = layer_nodes(part, backward=backward, latent=scale * LATENT_ROWS,
                         bend=scale * BEND_ROWS, max_rows=MAX_ROWS)  # fmt: skip
    height = TOP + ROW * layers.rows
    xs = _set_columns(layers, across, height)
    positions: dict[str, Point] = {}
    for side in (0, -1):
        positions |= _fill_side(layers.columns[side], xs[side], TOP, height - TOP, 0.5)

    def to_pixels(point: Point) -> Point:
        return xs[round(point[0])][0], TOP + ROW * point[1]

    for name in (name for column in layers.columns[1:-1] for name in column):
        positions[name] = to_pixels(layers.positions[name])
    below = _position_below(found, positions, xs, height, scale) if found is not None else {}
    outputs = [*layers.columns[-1], *(name for name, (x, _) in below.items() if x >= xs[-1][0])]
    return GraphLayout(
        positions=positions | below,
        routes={edge: [*map(to_pixels, route[1:-1])] for edge, route in layers.routes.items()},
        left=xs[0][-1],
        right=xs[-1][0],
        width=xs[-1][-1] + find_label_width(outputs, LABEL if across[1] == 1 else PACKED_LABEL),
        height=height + BOTTOM,
        scale=scale,
        packed=tuple(role for role, wide in zip(("input", "output"), across, strict=True)
                     if wide > 1),
    )  # fmt: skip


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


def _set_columns(layers: Layers, across: list[int], height: float) -> list[list[float]]:
    """The x of every column, several for packed roles; one for latents where there is none."""
    gaps, packed = max(len(layers.columns) - 1, 2), sum(across) - 2
    usual = COLUMN * gaps + PACKED_COLUMN * packed
    stretch = max(1.0, ASPECT * height / usual) if height > USUAL_HEIGHT else 1.0
    pitch, step = COLUMN * stretch, PACKED_COLUMN * min(stretch, 1.6)
    pitch += (usual * stretch - pitch * gaps - step * packed) / gaps
    first = find_label_width(layers.columns[0], LABEL if across[0] == 1 else PACKED_LABEL)
    left = [first + step * number for number in range(across[0])]
    middle = [[left[-1] + pitch * (number + 1)] for number in range(gaps - 1)]
    right = [left[-1] + pitch * gaps + step * number for number in range(across[1])]
    return [left, *middle, right]


def _fill_side(
    names: Sequence[str], xs: list[float], top: float, room: float, shift: float
) -> dict[str, Point]:
    """Spread inputs or outputs over the height, several in a row where they are packed."""
    rows = math.ceil(len(names) / len(xs)) or 1
    return {
        name: (xs[number % len(xs)], top + room * (number // len(xs) + shift) / rows)
        for number, name in enumerate(names)
    }


def _position_below(
    found: nx.DiGraph, drawn: Container[str], xs: list[list[float]], top: float, scale: float
) -> dict[str, Point]:
    """Position the nodes that only weaker edges touch, the most frequent first."""
    frequency = {
        node: max(values.get("frequency", 0.0) for values in (*found.pred[node].values(),
                                                              *found.succ[node].values()))
        for node in found
        if node not in drawn and found.degree(node)
    }  # fmt: skip
    order = sorted(frequency, key=lambda node: -frequency[node])
    below: dict[str, Point] = {}
    for role, side in (("input", xs[0]), ("output", xs[-1])):
        names = [node for node in order if found.nodes[node]["role"] == role]
        rows = math.ceil(len(names) / len(side))
        below |= _fill_side(names, side, top, ROW * rows, 1.0)
    latents = [node for node in order if found.nodes[node]["role"] == "latent"]
    for number, node in enumerate(latents):
        row, column = divmod(number, len(xs) - 2)
        below[node] = xs[1 + column][0], top + scale * ROW * LATENT_ROWS * (row + 1)
    return below
