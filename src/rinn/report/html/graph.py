"""The latent graph as inline SVG, and what the page can do with it: controls, legend, card."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.graphs.files import ORIGIN
from rinn.report.html.layout import (
    LABEL,
    LATENT_HEIGHT,
    LATENT_WIDTH,
    PACKED_LABEL,
    GraphLayout,
    Place,
    fit_label,
    layout_info,
)
from rinn.report.html.markup import Markup, element, join, key, paragraph, svg
from rinn.runs.read import RunContents
from rinn.runs.sentences import describe_comparison
from rinn.structure.constants import MIN_FREQUENCY as LINE
from rinn.structure.records import FORCED, PRIOR

DOT = 5.0
HEAD = 8.0  # of an edge within a column
LATENT_LETTERS = 7
OWED = (PRIOR, FORCED)
FAINTEST = 0.3
MAX_DASHED = 600  # edges; browsers take a second to paint thousands of dashed curves

BUTTONS = (
    ("in", "+", "Zoom in"),
    ("out", "\N{MINUS SIGN}", "Zoom out"),
    ("fit", "Fit", "Fit the whole graph"),
)


@dataclass(frozen=True)
class DrawnEdge:
    """One edge: its number in the graph, its width between 0 and 1, and where it begins and ends.

    `kind` is the class that gives its colour, `share` how often it was found, and `owed` says
    whether the edge owes its place to prior knowledge.
    """

    number: int
    source: str
    target: str
    kind: str
    weight: float | None
    width: float
    share: float | None
    drawn: bool
    owed: bool = False


def draw_graph(
    graph: nx.DiGraph, found: nx.DiGraph | None = None, *, name: str | None = None
) -> Markup:
    """Draw a latent graph from left to right.

    An edge's width is its |weight| relative to the largest of its kind, its colour the sign, its
    opacity the frequency. Weaker edges are there too, but not displayed. The nodes bear the ids
    n0, n1 and so on in the order of `found`, the edges e0, e1 and so on.
    """
    whole = graph if found is None else found
    layout = layout_info(graph, found)
    roles = [graph.nodes[node]["role"] for node in layout.places if node in graph]
    label = (
        f"Latent graph: {count(roles.count('input'), 'input')} at the left, "
        f"{count(roles.count('latent'), 'latent')} in the middle, "
        f"{count(roles.count('output'), 'output')} at the right."
    )
    edges = element("g", *_draw_levels(whole, layout, name), class_="edges")
    nodes = element("g", *_draw_nodes(whole, layout, name), class_="nodes")
    view = element("g", *_draw_heads(layout), edges, nodes, class_="view")
    few = whole.number_of_edges() <= MAX_DASHED
    look = "graph few" if few else "graph dense"
    return svg(layout.width, layout.height, label, view, class_=look, id_=name)


def list_edges(graph: nx.DiGraph) -> list[DrawnEdge]:
    """Say how each edge is drawn, in the graph's order.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_nodes_from([("x", {"role": "input"}), ("h", {"role": "latent"})])
        >>> graph.add_edge("x", "h", weight=-2.0, frequency=0.5)
        >>> edge = list_edges(graph)[0]
        >>> edge.kind, edge.width, edge.share, edge.drawn
        ('minus', 1.0, 0.5, True)
    """
    strongest: dict[tuple[str, str], float] = defaultdict(float)
    role = dict(graph.nodes(data="role"))
    for source, target, values in graph.edges(data=True):
        kind = role[source], role[target]
        strongest[kind] = max(strongest[kind], abs(values.get("weight") or 0.0))
    edges = []
    for number, (source, target, values) in enumerate(graph.edges(data=True)):
        weight = values.get("weight")
        sign = "plus" if (weight or 0.0) > 0 else "minus" if (weight or 0.0) < 0 else "unknown"
        width = abs(weight or 0.0) / (strongest[role[source], role[target]] or 1.0)
        edges.append(
            DrawnEdge(
                number,
                source,
                target,
                values.get("kind", sign),
                weight,
                width,
                values.get("frequency"),
                values.get("reported", True),
                values.get(ORIGIN) in OWED,
            )
        )
    return edges


def _draw_heads(layout: GraphLayout) -> list[Markup]:
    size = round(11 * layout.scale, 1)
    return [
        element(
            "text",
            word,
            x=x,
            y=round(8 + 10 * layout.scale),
            class_="head",
            font_size=size,
            text_anchor="middle",
        )
        for word, x in (
            ("inputs", layout.left),
            ("latents", (layout.left + layout.right) / 2),
            ("outputs", layout.right),
        )
    ]


def _draw_levels(graph: nx.DiGraph, layout: GraphLayout, name: str | None) -> list[Markup]:
    """One group for each frequency, the seldom ones beneath; what is not drawn is not displayed."""
    levels: dict[tuple[bool, float], list[Markup]] = defaultdict(list)
    for edge in list_edges(graph):
        if edge.source in layout.places and edge.target in layout.places:
            share = 2.0 if edge.share is None else edge.share
            levels[edge.drawn, share].append(_draw_edge(edge, graph, layout, name))
    groups = []
    for (drawn, share), paths in sorted(levels.items()):
        # The exact number: the page compares with it as a reader of edges.csv would.
        known = None if share > 1 else repr(float(share))
        opacity = None if share > 1 else float(np.clip(share, FAINTEST, 1.0))
        groups.append(
            element(
                "g",
                *paths,
                class_="level" if drawn else "level weak",
                data_f=known,
                stroke_opacity=opacity,
                display=None if drawn else "none",
            )
        )
    return groups


def _draw_edge(edge: DrawnEdge, graph: nx.DiGraph, layout: GraphLayout, name: str | None) -> Markup:
    (x0, y0), (x1, y1) = layout.places[edge.source], layout.places[edge.target]
    half = layout.scale * LATENT_WIDTH / 2
    x0 += half if graph.nodes[edge.source]["role"] == "latent" else DOT
    x1 -= half if graph.nodes[edge.target]["role"] == "latent" else DOT
    way = [(x0, y0), *layout.ways.get((edge.source, edge.target), ()), (x1, y1)]
    path = f"M{x0:.0f} {y0:.1f}" + "".join(_bend(*ends) for ends in pairwise(way))
    if graph.nodes[edge.source]["role"] == "output":
        path = _bow(layout.places[edge.source], (x1, y1))
    return element(
        "path", d=path, id_=name and f"e{edge.number}",
        class_=f"edge {edge.kind}{' owed' if edge.owed and edge.drawn else ''}",
        stroke_width=round(1.2 + 2.8 * edge.width, 2),
    )  # fmt: skip


def _bend(start: Place, end: Place) -> str:
    """One stretch of an edge, level at both ends."""
    (x0, y0), (x1, y1) = start, end
    bend = max(abs(x1 - x0) / 2, 60.0)  # an edge within a column, or backwards, is a loop
    return f"C{x0 + bend:.0f} {y0:.1f} {x1 - bend:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"


def _bow(start: Place, end: Place) -> str:
    """An edge from output to output, on the side without labels, with an arrowhead."""
    (x0, y0), (x1, y1) = start, end
    out = min(110.0, 30.0 + abs(y1 - y0) / 4)
    x0 -= DOT
    bow = f"M{x0:.0f} {y0:.1f}C{x0 - out:.0f} {y0:.1f} {x1 - out:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"
    return f"{bow}M{x1 - HEAD:.0f} {y1 - HEAD / 2:.1f}L{x1:.0f} {y1:.1f}l{-HEAD:.0f} {HEAD / 2:.1f}"


def _draw_nodes(graph: nx.DiGraph, layout: GraphLayout, name: str | None) -> list[Markup]:
    nodes = []
    for number, (node, values) in enumerate(graph.nodes(data=True)):
        if node not in layout.places:
            continue
        role, drawn = values["role"], values.get("reported", True)
        x, y = layout.places[node]
        draw = _draw_latent if role == "latent" else _draw_end
        classes = [f"node {role}"]
        classes += [] if drawn and _has_drawn_edge(graph, node) else ["lone"]
        classes += [values["kind"]] if "kind" in values else []
        classes += [] if drawn else ["weak"]
        above = y <= layout.height
        nodes.append(
            element(
                "g",
                element("title", f"{role} {clip(node, 300)}"),
                *draw(node, role, x, y, layout),
                id_=name and f"n{number}",
                class_=" ".join(classes),
                display=None if above else "none",
                data_below=None if above else f"{y:.0f}",
            )
        )
    return nodes


def _draw_latent(node: str, role: str, x: float, y: float, layout: GraphLayout) -> list[Markup]:
    width, height = layout.scale * LATENT_WIDTH, layout.scale * LATENT_HEIGHT
    size = round(12.5 * layout.scale, 1)
    return [
        element("rect", x=x - width / 2, y=y - height / 2, width=width, height=height,
                rx=round(7 * layout.scale, 1)),
        element("text", clip(node, LATENT_LETTERS), x=x, y=y + 0.36 * size, font_size=size,
                text_anchor="middle"),
    ]  # fmt: skip


def _draw_end(node: str, role: str, x: float, y: float, layout: GraphLayout) -> list[Markup]:
    left = role == "input"
    room = PACKED_LABEL if role in layout.packed else LABEL
    return [
        element("circle", cx=x, cy=y, r=DOT),
        element("text", fit_label(node, room), x=x - 10 if left else x + 10, y=y + 4,
                text_anchor="end" if left else "start"),
    ]  # fmt: skip


def _has_drawn_edge(graph: nx.DiGraph, node: str) -> bool:
    edges = [*graph.in_edges(node, data="reported"), *graph.out_edges(node, data="reported")]
    return any(drawn is not False for _, _, drawn in edges)


def say_graph(contents: RunContents) -> Markup:
    """Draw the graph, with the controls that the page's script brings to life."""
    drawing = element(
        "div",
        draw_graph(contents.graph, contents.candidates, name="graph"),
        id_="stage", class_="stage", role="region", aria_label="Drawing of the latent graph",
        tabindex=0,
    )  # fmt: skip
    card = element(
        "div", id_="card", class_="card", role="dialog", aria_labelledby="card-name",
        tabindex="-1", hidden=True,
    )  # fmt: skip
    frame = element("div", drawing, card, class_="frame-of-graph")
    parts = [_write_controls(contents), frame, _write_legend(contents)]
    return element("figure", *parts, class_="panel", id_="graph-panel")


def say_carries(contents: RunContents) -> Markup:
    """Say whether the graph carries the data, where that is known, and how sure it is."""
    manifest = contents.manifest
    parts = (manifest.outputs, manifest.covariates, manifest.fit, manifest.null)
    *first, fit, last = (part and part.sentence for part in parts)
    sentences = [*first, describe_comparison(manifest, contents.graph), fit, last]
    return join([paragraph(sentence) for sentence in sentences if sentence])


def _write_controls(contents: RunContents) -> Markup:
    """The toolbar; without a script it does nothing, and so it is hidden."""
    names = [*by_role(contents.graph, "input"), *by_role(contents.graph, "output")]
    search = element(
        "div",
        element("label", "Find an input or output", for_="search"),
        element(
            "input", type="search", id_="search", list="names", autocomplete="off",
            spellcheck="false", placeholder="name", aria_describedby="found",
        ),
        element("datalist", *(element("option", value=name) for name in names), id_="names"),
        class_="control",
    )  # fmt: skip
    buttons = [
        element("button", word, type="button", data_zoom=what, aria_label=label, title=label)
        for what, word, label in BUTTONS
    ]
    zoom = element("div", *buttons, class_="buttons", role="group", aria_label="Zoom")
    status = element("p", id_="found", class_="status", role="status")
    parts = [search, _write_slider(contents), zoom, status]
    return element("div", *parts, class_="controls", id_="controls", hidden=True)


def _write_slider(contents: RunContents) -> Markup | None:
    if not any("frequency" in values for _, _, values in contents.candidates.edges(data=True)):
        return None
    label = join(["Edges found in at least ", element("output", f"{100 * LINE:.0f} %", id_="line"),
                  f" of {contents.repeats}"])  # fmt: skip
    reset = element("button", "As drawn", type="button", id_="as-drawn",
                    title="Show exactly the edges of the graph")  # fmt: skip
    slider = element(
        "input", type="range", id_="slider", min=0, max=100, step=1, value=round(100 * LINE),
        aria_describedby="shown",
    )  # fmt: skip
    shown = element("span", id_="shown", class_="status")
    row = element("div", slider, reset, class_="row")
    return element("div", element("label", label, for_="slider"), row, shown,
                   class_="control slider")  # fmt: skip


def _write_legend(contents: RunContents) -> Markup:
    words = (
        "Effects run from left to right. Width: strength relative to the strongest edge of its "
        "kind; opacity: how often the edge was found. A latent has no natural direction; each is "
        "turned so that its effects add up to more than zero."
    )
    if contents.is_measured and not contents.graph.number_of_edges():
        words = "No edge was found often enough to be drawn. " + words
    keys = [key("plus", "raises"), key("minus", "lowers")]
    if not contents.is_measured:
        keys = []
        words = (
            "Effects run from left to right. Whether an effect raises or lowers, and how strongly, "
            "is not known."
        )
    else:
        if any(edge.owed for edge in list_edges(contents.graph)):
            keys.append(key("owed", "owes its place to prior knowledge"))
        if _has_weaker(contents):
            keys.append(key("seldom", "found too seldom to be drawn"))
    layout = layout_info(contents.graph, contents.candidates)
    missing = [f"{count(n, role)} without an edge" for role, n in layout.without_edge.items()]
    if missing:
        words += f" Not drawn: {', '.join(missing)}."
    legend = (
        element("p", *(element("span", one) for one in keys), class_="legend") if keys else None
    )
    how = element(
        "p",
        "Point at anything for its numbers. Select a latent for its card, an input or output to "
        "light up its whole way. Drag to move; Ctrl and the wheel, or + and \N{MINUS SIGN}, zoom.",
        class_="with-script", hidden=True,
    )  # fmt: skip
    return element("figcaption", legend, paragraph(words), how)


def _has_weaker(contents: RunContents) -> bool:
    return contents.candidates.number_of_edges() > contents.graph.number_of_edges()
