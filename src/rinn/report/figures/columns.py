"""The drawing of nodes in columns, which graphs and comparisons share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from rinn.graphs.basics import by_role
from rinn.report.figures.canvas import (
    GREY,
    INK,
    MARGIN,
    NORMAL,
    NOTE_LINE,
    SMALL,
    TITLE,
    WHITE,
    add_legend,
    fit_text,
    make_sheet,
    measure,
    wrap_text,
    write,
    write_lines,
    write_title,
)
from rinn.report.figures.layers import Layers, Point

LABEL = 1.35  # inches for the longest name of an input or output
WIDEST = 1.15  # inches of a latent's box
NARROWEST_GAP, GAP = 0.75, 1.7  # inches between columns
PAGE = 7.0  # inches: the width that figures with few columns have
LEGEND_ITEM = 1.25  # inches
LEGEND_ROW = 0.17
LEAST_BOW, BOW, MOST_BOW = 0.12, 0.06, 0.5  # inches that an edge within a column stands out
HEAD = 0.06  # inches of its arrowhead


@dataclass(frozen=True)
class Frame:
    """The sheet, and the way from (column, row) to inches on it."""

    figure: Figure
    axes: Axes
    centres: tuple[float, ...]
    halves: tuple[float, ...]
    top: float
    row: float
    size: float

    def point(self, place: Point, side: int = 0) -> Point:
        """The place in inches; `side` -1 and 1 are the left and right edge of the column."""
        column = round(place[0])
        return self.centres[column] + side * self.halves[column], self.top + place[1] * self.row


def make_frame(
    graph: nx.DiGraph,
    layers: Layers,
    title: str,
    handles: Sequence[Any],
    note: str,
    names: dict[str, str] | None = None,
) -> Frame:
    """Make the sheet with all but nodes and edges.

    Args:
        graph: what is drawn.
        layers: where its nodes stand.
        title: above; may be empty.
        handles: of the legend below.
        note: below the legend; may be empty.
        names: of latents, where they are not their ids.

    Returns:
        The frame, as high as the longest column needs, a page wide or as wide as needed.
    """
    row = 0.235 if layers.rows <= 30 else 0.16 if layers.rows <= 70 else 0.125
    size = NORMAL if row > 0.2 else SMALL if row > 0.14 else 5.5
    centres, halves, width = _stand(graph, layers, names or {}, size)
    columns = max(1, min(len(handles), int((width - 2 * MARGIN) / LEGEND_ITEM)))
    lines = wrap_text(note, width - 2 * MARGIN)
    top = 0.42 + TITLE * bool(title)
    bottom = top + row * layers.rows + 0.12
    legend = 0.1 + LEGEND_ROW * math.ceil(len(handles) / columns) if handles else 0.0
    height = bottom + legend + NOTE_LINE * len(lines) + 0.1 * bool(lines)
    figure, axes = make_sheet(width, height)
    frame = Frame(figure, axes, centres, halves, top, row, size)
    write_title(axes, title, width)
    _write_heads(frame, layers)
    if handles:
        place = (MARGIN / width, 1 - bottom / height)
        add_legend(figure, handles, loc="upper left", ncols=columns, bbox_to_anchor=place)
    write_lines(axes, MARGIN, bottom + legend + 0.07, lines)
    return frame


def _stand(
    graph: nx.DiGraph, layers: Layers, names: dict[str, str], size: float
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """The middle and half the width of each column, and the width of the sheet."""
    left, right = (
        max((_label_width(node, size) for node in by_role(graph, role)), default=0.3)
        for role in ("input", "output")
    )
    halves = [0.06, *(_half_width(column, names, size) for column in layers.columns[1:-1]), 0.06]
    halves = halves[: len(layers.columns)]
    gaps = len(layers.columns) - 1
    fixed = 2 * MARGIN + left + right + 2 * sum(halves)
    gap = max(GAP if layers.rows > 30 else NARROWEST_GAP, (PAGE - fixed) / max(gaps, 1))
    centres, at = [], MARGIN + left
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
    for number, place in enumerate(() if is_within else route[1:], 1):
        last = number == len(route) - 1
        end = frame.point(place, -1)
        _curve(vertices, codes, end)
        if not last:  # straight through the column, past its nodes
            vertices.append(frame.point(place, 1))
            codes.append(Path.LINETO)
    thin = {"linewidth": linewidth * min(1.0, frame.row / 0.2)}
    style = {"capstyle": "butt", "zorder": 2} | thin | style
    frame.axes.add_patch(PathPatch(Path(vertices, codes), fill=False, **style))


def _bow(vertices: list[Point], codes: list[Any], end: Point, row: float) -> None:
    """An edge within a column, to its left, with an arrowhead: no side says where it leads."""
    start = vertices[-1]
    out = min(MOST_BOW, LEAST_BOW + BOW * abs(end[1] - start[1]) / row)
    vertices += [(start[0] - out, start[1]), (end[0] - out, end[1]), end]
    vertices += [(end[0] - HEAD, end[1] - HEAD / 2), end, (end[0] - HEAD, end[1] + HEAD / 2)]
    codes += [Path.CURVE4] * 3 + [Path.MOVETO, Path.LINETO, Path.LINETO]


def _curve(vertices: list[Point], codes: list[Any], end: Point) -> None:
    start = vertices[-1]
    middle = (start[0] + end[0]) / 2
    vertices += [(middle, start[1]), (middle, end[1]), end]
    codes += [Path.CURVE4] * 3


def draw_nodes(frame: Frame, graph: nx.DiGraph, layers: Layers, **looks: dict[str, Any]) -> None:
    """Draw every node with its name; `looks` hold names and styles by node."""
    names, styles = looks.get("names", {}), looks.get("styles", {})
    for node, place in layers.places.items():
        x, y = frame.point(place)
        role = graph.nodes[node]["role"]
        if role == "latent":
            label = names.get(node, node)
            _draw_latent(frame, x, y, frame.halves[round(place[0])], label, styles.get(node, {}))
            continue
        ahead, side = ("right", -1) if role == "input" else ("left", 1)
        marker = "s" if role == "input" else "D"
        frame.axes.plot([x], [y], marker, markersize=3.6 if frame.row > 0.14 else 2.6, color=INK,
                        zorder=4)  # fmt: skip
        label = fit_text(node, LABEL, frame.size)
        write(frame.axes, x + side * 0.1, y, label, frame.size, ha=ahead)


def _draw_latent(
    frame: Frame, x: float, y: float, half: float, name: str, style: dict[str, Any]
) -> None:
    tall = min(0.22, 0.92 * frame.row * 1.25)
    look: dict[str, Any] = {"facecolor": WHITE, "edgecolor": INK, "linewidth": 0.9} | style
    box = FancyBboxPatch(
        (x - half, y - tall / 2),
        2 * half,
        tall,
        boxstyle=f"round,pad=0,rounding_size={tall / 2:.4f}",
        zorder=3,
        **look,
    )
    frame.axes.add_patch(box)
    label = fit_text(name, 2 * half - 0.06, frame.size - 0.5)
    write(frame.axes, x, y, label, frame.size - 0.5, ha="center", zorder=5)


def _write_heads(frame: Frame, layers: Layers) -> None:
    """Write the heads of the columns."""
    count = len(layers.columns)
    heads = {0: "inputs", count - 1: "outputs"}
    if count == 3:
        heads[1] = "latents"
    elif count > 3:
        heads |= {number: f"level {number}" for number in range(1, count - 1)}
        heads[1] = "latents, level 1"
    y = frame.top - 0.19
    for number, head in heads.items():
        ahead = {0: "right", count - 1: "left"}.get(number, "center")
        x = frame.centres[number] + {0: 0.06, count - 1: -0.06}.get(number, 0.0)
        write(frame.axes, x, y, head, NORMAL, ha=ahead, color=GREY)


def _label_width(node: str, size: float) -> float:
    return 0.1 + measure(fit_text(node, LABEL, size), size)


def _half_width(column: tuple[str, ...], names: dict[str, str], size: float) -> float:
    longest = max((measure(fit_text(names.get(node, node), WIDEST, size), size) for node in column),
                  default=0.1)  # fmt: skip
    return max(0.16, longest / 2 + 0.08)
