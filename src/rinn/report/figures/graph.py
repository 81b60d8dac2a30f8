"""A latent graph in layers: width is effect, colour is sign, opacity is frequency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from rinn.graphs.basics import by_role, check_graph
from rinn.graphs.layout import Layers, Point, layer_nodes
from rinn.report.figures import canvas
from rinn.report.info import EdgeInfo, GraphInfo

LABEL = 1.35  # inches for the longest name of an input or output
WIDEST = 1.15  # inches of a latent's box
NARROWEST_GAP = 0.45  # inches between columns
PAGE = 7.0  # inches: the width that figures with few columns have
LEGEND_ITEM = 1.55  # inches
LEGEND_ROW = 0.17
MAX_WIDE_HEADS = 4  # columns
MIN_BOW, BOW, MAX_BOW = 0.12, 0.06, 0.5  # inches that an edge within a column stands out
HEAD = 0.06  # inches of an arrowhead

THINNEST, THICKEST = 0.5, 2.8
FAINTEST = 0.12

COLOURS = {1: canvas.BLUE, -1: canvas.VERMILION, 0: canvas.GREY}
DASHES: dict[int, Any] = {1: "-", -1: (0, (2.2, 1.1)), 0: "-"}


@dataclass(frozen=True)
class Frame:
    """The sheet, and how (column, row) becomes inches on it."""

    figure: Figure
    axes: Axes
    centres: tuple[float, ...]
    halves: tuple[float, ...]
    top: float
    row: float
    size: float

    def point(self, position: Point, side: int = 0) -> Point:
        """The position in inches; `side` -1 and 1 are the left and right edge of the column."""
        column = round(position[0])
        return self.centres[column] + side * self.halves[column], self.top + position[1] * self.row


def make_frame(
    graph: nx.DiGraph,
    layers: Layers,
    title: str,
    handles: Sequence[Any],
    note: str,
    names: dict[str, str] | None = None,
    page: float = PAGE,
) -> Frame:
    """Make the sheet with all but nodes and edges; `page` is its width where that is enough."""
    row = 0.235 if layers.rows <= 30 else 0.16 if layers.rows <= 70 else 0.125
    size = canvas.NORMAL if row > 0.2 else canvas.SMALL if row > 0.14 else 5.5
    centres, halves, width = _set_columns(graph, layers, names or {}, size, page)
    columns = max(1, min(len(handles), int((width - 2 * canvas.MARGIN) / LEGEND_ITEM)))
    lines = canvas.wrap_text(note, width - 2 * canvas.MARGIN)
    top = 0.42 + canvas.TITLE * bool(title)
    bottom = top + row * layers.rows + 0.12
    legend = 0.1 + LEGEND_ROW * math.ceil(len(handles) / columns) if handles else 0.0
    height = bottom + legend + canvas.NOTE_LINE * len(lines) + 0.1 * bool(lines)
    figure, axes = canvas.make_sheet(width, height)
    frame = Frame(figure, axes, centres, halves, top, row, size)
    canvas.write_title(axes, title, width)
    _write_heads(frame, layers)
    if handles:
        corner = (canvas.MARGIN / width, 1 - bottom / height)
        canvas.add_legend(figure, handles, loc="upper left", ncols=columns, bbox_to_anchor=corner)
    canvas.write_lines(axes, canvas.MARGIN, bottom + legend + 0.07, lines)
    return frame


def _set_columns(
    graph: nx.DiGraph, layers: Layers, names: dict[str, str], size: float, page: float
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """The middle and half the width of each column, and the width of the sheet."""
    left, right = (
        0.1
        + (canvas.find_widest([names.get(n, n) for n in by_role(graph, role)], LABEL, size) or 0.2)
        for role in ("input", "output")
    )
    shown = ([names.get(node, node) for node in column] for column in layers.columns[1:-1])
    widest = (canvas.find_widest(column, WIDEST, size) for column in shown)
    halves = [0.06, *(max(0.16, longest / 2 + 0.08) for longest in widest), 0.06]
    gaps = len(layers.columns) - 1
    fixed = 2 * canvas.MARGIN + left + right + 2 * sum(halves)
    gap = max(NARROWEST_GAP, (page - fixed) / gaps)
    centres, at = [], canvas.MARGIN + left
    for half in halves:
        centres.append(at + half)
        at += 2 * half + gap
    return tuple(centres), tuple(halves), fixed + gap * gaps


def draw_edge(frame: Frame, route: tuple[Point, ...], linewidth: float, **style: Any) -> None:
    """Draw an edge as a curve that leaves and arrives level; thinner where rows are narrow."""
    is_within = round(route[0][0]) == round(route[-1][0])
    start = frame.point(route[0], -1 if is_within else 1)
    vertices, codes = [start], [Path.MOVETO]
    if is_within:
        _bow(vertices, codes, frame.point(route[-1], -1), frame.row)
    else:
        for position in route[1:]:  # straight through the columns between, past their nodes
            (x0, y0), (x1, y1) = vertices[-1], frame.point(position, -1)
            middle = (x0 + x1) / 2
            vertices += [(middle, y0), (middle, y1), (x1, y1), frame.point(position, 1)]
            codes += [Path.CURVE4] * 3 + [Path.LINETO]
        del vertices[-1], codes[-1]
        _add_head(vertices, codes, min(HEAD, 0.35 * frame.row))
    thin = {"linewidth": linewidth * min(1.0, frame.row / 0.2)}
    style = {"capstyle": "butt", "zorder": 2} | thin | style
    frame.axes.add_patch(PathPatch(Path(vertices, codes), fill=False, **style))


def _bow(vertices: list[Point], codes: list[Any], end: Point, row: float) -> None:
    """An edge within a column, to its left."""
    start = vertices[-1]
    out = min(MAX_BOW, MIN_BOW + BOW * abs(end[1] - start[1]) / row)
    vertices += [(start[0] - out, start[1]), (end[0] - out, end[1]), end]
    codes += [Path.CURVE4] * 3
    _add_head(vertices, codes, HEAD)


def _add_head(vertices: list[Point], codes: list[Any], size: float) -> None:
    """The head of an arrow at the end of an edge."""
    x, y = vertices[-1]
    vertices += [(x - size, y - size / 2), (x, y), (x - size, y + size / 2)]
    codes += [Path.MOVETO, Path.LINETO, Path.LINETO]


def draw_nodes(frame: Frame, graph: nx.DiGraph, layers: Layers, **looks: dict[str, Any]) -> None:
    """Draw every node with its name; `looks` hold names and styles by node."""
    names, styles = looks.get("names", {}), looks.get("styles", {})
    for node, position in layers.positions.items():
        x, y = frame.point(position)
        role = graph.nodes[node]["role"]
        if role == "latent":
            half = frame.halves[round(position[0])]
            _draw_latent(frame, x, y, half, names.get(node, node), styles.get(node, {}))
            continue
        ahead, side = ("right", -1) if role == "input" else ("left", 1)
        marker = "s" if role == "input" else "D"
        size = 3.6 if frame.row > 0.14 else 2.6
        frame.axes.plot([x], [y], marker, markersize=size, color=canvas.INK, zorder=4)
        label = canvas.fit_text(names.get(node, node), LABEL, frame.size)
        canvas.write(frame.axes, x + side * 0.1, y, label, frame.size, ha=ahead)


def _draw_latent(
    frame: Frame, x: float, y: float, half: float, name: str, style: dict[str, Any]
) -> None:
    tall = min(0.22, 0.92 * frame.row * 1.25)
    shape = f"round,pad=0,rounding_size={tall / 2:.4f}"
    look: dict[str, Any] = {"facecolor": canvas.WHITE, "edgecolor": canvas.INK, "linewidth": 0.9}
    corner = (x - half, y - tall / 2)
    frame.axes.add_patch(
        FancyBboxPatch(corner, 2 * half, tall, boxstyle=shape, zorder=3, **look | style)
    )
    label = canvas.fit_text(name, 2 * half - 0.06, frame.size - 0.5)
    canvas.write(frame.axes, x, y, label, frame.size - 0.5, ha="center", zorder=5)


def _write_heads(frame: Frame, layers: Layers) -> None:
    """Write the heads of the columns."""
    last = len(layers.columns) - 1
    first = "latents, level 1" if last <= MAX_WIDE_HEADS else "level 1"
    levels = [first, *(f"level {number}" for number in range(2, last))]
    heads = ["inputs", *(["latents"] if last == 2 else levels[: last - 1]), "outputs"]
    for number in (0, last, *range(1, last)):
        ahead, shift = {0: ("right", 0.06), last: ("left", -0.06)}.get(number, ("center", 0.0))
        x, y = frame.centres[number] + shift, frame.top - 0.19
        canvas.write(frame.axes, x, y, heads[number], canvas.NORMAL, ha=ahead, color=canvas.GREY)


def plot_graph(info: GraphInfo, *, title: str = "", page: float = PAGE) -> Figure:
    """Draw a graph in layers: width is |weight|, colour and dashes sign, opacity frequency."""
    check_graph(info.graph)
    layers = layer_nodes(info.graph)
    handles, names = _list_handles(info.edges), info.labels
    frame = make_frame(info.graph, layers, title, handles, info.note, names, page)
    for edge in sorted(info.edges, key=lambda edge: (_find_alpha(edge.frequency), edge.width)):
        draw_edge(frame, layers.routes[edge.source, edge.target], _find_line_width(edge.width),
                  color=COLOURS[edge.sign], linestyle=DASHES[edge.sign],
                  alpha=_find_alpha(edge.frequency))  # fmt: skip
    draw_nodes(frame, info.graph, layers, names=names)
    return frame.figure


def _find_line_width(width: float) -> float:
    return THINNEST + (THICKEST - THINNEST) * width


def _find_alpha(frequency: float | None) -> float:
    """Squared, since most frequencies that are drawn are near 1."""
    return 1.0 if frequency is None else max(FAINTEST, min(max(frequency, 0.0), 1.0) ** 2)


def _list_handles(edges: Sequence[EdgeInfo]) -> list[Line2D]:
    """The legend: only of what the figure shows."""
    signs = {edge.sign for edge in edges}
    labels = {1: "raises", -1: "lowers", 0: "effect unknown"}
    looks: list[dict[str, Any]] = [
        {"color": COLOURS[sign], "linestyle": DASHES[sign], "label": label}
        for sign, label in labels.items()
        if sign in signs and signs != {0}
    ]
    if signs - {0}:
        looks += [
            {"linewidth": _find_line_width(width), "label": label}
            for width, label in ((1.0, "strongest of its kind"), (0.25, "a quarter of that"))
        ]
    lowest = min((edge.frequency for edge in edges if edge.frequency is not None), default=1.0)
    if lowest < 1:
        looks += [
            {"alpha": _find_alpha(frequency), "label": f"in {frequency:.0%} of resamples"}
            for frequency in (lowest, 1.0)
        ]
    usual: dict[str, Any] = {"color": canvas.INK, "linewidth": 2.0}
    return [Line2D([], [], **usual | look) for look in looks]
