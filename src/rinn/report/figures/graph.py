"""A latent graph in layers: width is effect, colour is sign, opacity is frequency."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.errors import InputError
from rinn.graphs.basics import ROLES, by_role, check_graph
from rinn.report.figures.canvas import BLUE, GREY, INK, VERMILION
from rinn.report.figures.columns import draw_edge, draw_nodes, make_frame
from rinn.report.figures.layers import Layers, layer_nodes, take_part

ALL_DRAWN = 40
MOST_DRAWN = 120
THINNEST, THICKEST = 0.5, 2.8
FAINTEST = 0.12

COLOURS = {1: BLUE, -1: VERMILION, 0: GREY}
DASHES: dict[int, Any] = {1: "-", -1: (0, (2.2, 1.1)), 0: "-"}


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
    graph: nx.DiGraph, *, all_drawn: int = ALL_DRAWN, most_drawn: int = MOST_DRAWN
) -> GraphInfo:
    """Compute the layers of a latent graph and the look of its edges.

    Args:
        graph: nodes with a role, edges with `weight` and `frequency` where they are known; it is
            not changed.
        all_drawn: with more inputs (or latents, or outputs) than this, those without an edge are
            left out.
        most_drawn: the most of one role that are drawn: those with the strongest edges.

    Returns:
        Places, routes, edges and what is left out.

    Raises:
        InputError: the graph is not a causal graph (see `check_graph`), or a limit is not
            positive.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> nx.set_edge_attributes(graph, {("x", "h"): -2.0, ("h", "y"): 1.0}, "weight")
        >>> [(edge.width, edge.sign) for edge in graph_info(graph).edges]
        [(1.0, -1), (0.5, 1)]
    """
    check_graph(graph)
    for name, limit in (("all_drawn", all_drawn), ("most_drawn", most_drawn)):
        if limit < 1:
            raise InputError(
                f"{name} must be at least 1, got {limit}; leave it out for the default"
            )
    chosen = {node for role in ROLES for node in _choose(graph, role, all_drawn, most_drawn)}
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
    most_drawn: int = MOST_DRAWN,
) -> Figure:
    """Draw a latent graph: inputs left, latents by causal level, outputs right.

    Width shows |weight|, colour and dashes its sign, opacity the frequency. Where an edge has no
    weight it is grey.

    Args:
        graph: see `graph_info`.
        title: above the figure.
        all_drawn: see `graph_info`.
        most_drawn: see `graph_info`.

    Returns:
        The figure.

    Raises:
        InputError: see `graph_info`.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> len(plot_graph(graph).axes)
        1
    """
    info = graph_info(graph, all_drawn=all_drawn, most_drawn=most_drawn)
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


def _choose(graph: nx.DiGraph, role: str, all_drawn: int, most_drawn: int) -> list[str]:
    """Leave out nodes of a role that has too many of them to draw."""
    names = by_role(graph, role)
    if len(names) <= min(all_drawn, most_drawn):
        return names
    strength = {name: _strongest_edge(graph, name) for name in names if graph.degree(name)}
    return sorted(strength, key=lambda name: -strength[name])[:most_drawn]


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
