"""A latent graph in layers: width is effect, colour is sign, opacity is frequency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from rinn.config import check_integer
from rinn.graphs.basics import ROLES, by_role, check_graph
from rinn.report.figures.canvas import (
    BLUE,
    GREY,
    INK,
    MARGIN,
    NORMAL,
    NOTE_LINE,
    SMALL,
    TITLE,
    VERMILION,
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
from rinn.report.figures.layers import Layers, Point, layer_nodes, take_part

LABEL = 1.35  # inches for the longest name of an input or output
WIDEST = 1.15  # inches of a latent's box
NARROWEST_GAP, GAP = 0.75, 1.7  # inches between columns
PAGE = 7.0  # inches: the width that figures with few columns have
LEGEND_ITEM = 1.25  # inches
LEGEND_ROW = 0.17
MIN_BOW, BOW, MAX_BOW = 0.12, 0.06, 0.5  # inches that an edge within a column stands out
HEAD = 0.06  # inches of its arrowhead

ALL_DRAWN = 40
MAX_DRAWN = 120
THINNEST, THICKEST = 0.5, 2.8
FAINTEST = 0.12

COLOURS = {1: BLUE, -1: VERMILION, 0: GREY}
DASHES: dict[int, Any] = {1: "-", -1: (0, (2.2, 1.1)), 0: "-"}


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
    """Make the sheet with all but nodes and edges."""
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
    out = min(MAX_BOW, MIN_BOW + BOW * abs(end[1] - start[1]) / row)
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


@dataclass(frozen=True)
class GraphEdge:
    """An edge and its look: `width` from 0 to 1, `sign` 1, -1 or 0, `opacity` from 0 to 1."""

    source: str
    target: str
    weight: float | None
    frequency: float | None
    width: float
    sign: int
    opacity: float


@dataclass(frozen=True)
class GraphInfo:
    """What the figure shows, and what it leaves out.

    `without_edge` and `weaker` count by role: nodes that no edge touches, and nodes whose edges
    are weaker than those of the drawn ones; `edges_left_out` counts the edges of the latter.
    """

    graph: nx.DiGraph
    layers: Layers
    edges: tuple[GraphEdge, ...]
    strongest: float
    without_edge: dict[str, int]
    weaker: dict[str, int]
    edges_left_out: int

    @property
    def note(self) -> str:
        """Say what is not drawn; empty where everything is."""
        groups = ((self.without_edge, "without an edge"), (self.weaker, "with weaker edges"))
        parts = [
            f"{count} {role}{'s' * (count > 1)} {why}"
            for counts, why in groups
            for role, count in counts.items()
        ]
        theirs = f" and their {self.edges_left_out} edges" if self.edges_left_out else ""
        return f"Not drawn: {', '.join(parts)}{theirs}." if parts else ""


def graph_info(
    graph: nx.DiGraph, *, all_drawn: int = ALL_DRAWN, max_drawn: int = MAX_DRAWN
) -> GraphInfo:
    """Compute the layers of a latent graph and the look of its edges.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> nx.set_edge_attributes(graph, {("x", "h"): -2.0, ("h", "y"): 1.0}, "weight")
        >>> [(edge.width, edge.sign) for edge in graph_info(graph).edges]
        [(1.0, -1), (0.5, 1)]
    """
    check_graph(graph)
    for name, limit in (("all_drawn", all_drawn), ("max_drawn", max_drawn)):
        check_integer(name, limit)
    chosen = {node for role in ROLES for node in _choose(graph, role, all_drawn, max_drawn)}
    part = take_part(graph, chosen)
    weights = [_number(about.get("weight")) or 0.0 for *_, about in part.edges(data=True)]
    strongest = max(map(abs, weights), default=0.0)
    missing = [node for node in graph if node not in chosen]
    role = dict(graph.nodes(data="role"))
    return GraphInfo(
        graph=part,
        layers=layer_nodes(part),
        edges=tuple(_describe(*edge, strongest) for edge in part.edges(data=True)),
        strongest=strongest,
        without_edge=dict(Counter(role[node] for node in missing if not graph.degree(node))),
        weaker=dict(Counter(role[node] for node in missing if graph.degree(node))),
        edges_left_out=graph.number_of_edges() - part.number_of_edges(),
    )


def plot_graph(
    graph: nx.DiGraph,
    *,
    title: str = "",
    all_drawn: int = ALL_DRAWN,
    max_drawn: int = MAX_DRAWN,
) -> Figure:
    """Draw a latent graph: inputs left, latents by causal level, outputs right.

    Width shows |weight|, colour and dashes its sign, opacity the frequency. Where an edge has no
    weight it is grey.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> len(plot_graph(graph).axes)
        1
    """
    info = graph_info(graph, all_drawn=all_drawn, max_drawn=max_drawn)
    handles = _list_handles(info)
    frame = make_frame(info.graph, info.layers, title, handles, info.note)
    for edge in sorted(info.edges, key=lambda edge: (edge.opacity, edge.width)):
        draw_edge(
            frame,
            info.layers.routes[edge.source, edge.target],
            color=COLOURS[edge.sign],
            linestyle=DASHES[edge.sign],
            linewidth=_line_width(edge.width),
            alpha=_alpha(edge.opacity),
        )
    draw_nodes(frame, info.graph, info.layers)
    return frame.figure


def _choose(graph: nx.DiGraph, role: str, all_drawn: int, max_drawn: int) -> list[str]:
    """Leave out nodes of a role that has too many of them to draw."""
    names = by_role(graph, role)
    if len(names) <= min(all_drawn, max_drawn):
        return names
    strength = {name: _strongest_edge(graph, name) for name in names if graph.degree(name)}
    return sorted(strength, key=lambda name: -strength[name])[:max_drawn]


def _strongest_edge(graph: nx.DiGraph, node: str) -> float:
    edges = [*graph.in_edges(node, data="weight"), *graph.out_edges(node, data="weight")]
    return max(abs(_number(weight) or 0.0) for *_, weight in edges)


def _number(value: object) -> float | None:
    good = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if good else None  # type: ignore[arg-type]


def _describe(source: str, target: str, about: dict[str, object], strongest: float) -> GraphEdge:
    weight, frequency = _number(about.get("weight")), _number(about.get("frequency"))
    width = abs(weight) / strongest if weight is not None and strongest else 0.3
    sign = 0 if weight is None else (weight > 0) - (weight < 0)
    opacity = 1.0 if frequency is None else min(max(frequency, 0.0), 1.0)
    return GraphEdge(source, target, weight, frequency, width, sign, opacity)


def _line_width(width: float) -> float:
    return THINNEST + (THICKEST - THINNEST) * width


def _alpha(frequency: float) -> float:
    """Squared, since most frequencies that are drawn lie near 1."""
    return max(FAINTEST, frequency**2)


def _list_handles(info: GraphInfo) -> list[Line2D]:
    """The legend: only of what the figure shows."""
    signs = {edge.sign for edge in info.edges}
    words = {1: "raises", -1: "lowers", 0: "effect unknown"}
    handles = [
        Line2D([], [], color=COLOURS[sign], linestyle=DASHES[sign], linewidth=2.0,
               label=words[sign])
        for sign in (1, -1, 0)
        if sign in signs and signs != {0}
    ]  # fmt: skip
    if info.strongest:
        handles += [
            Line2D([], [], color=INK, linewidth=_line_width(share),
                   label=f"effect {share * info.strongest:.2g}")
            for share in (0.25, 1.0)
        ]  # fmt: skip
    found = sorted({edge.opacity for edge in info.edges if edge.frequency is not None})
    if found and found[0] < 1:
        handles += [
            Line2D([], [], color=INK, linewidth=2.0, alpha=_alpha(share),
                   label=f"in {share:.0%} of resamples")
            for share in (found[0], 1.0)
        ]  # fmt: skip
    return handles
