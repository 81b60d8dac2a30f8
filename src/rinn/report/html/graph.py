"""The latent graph as inline SVG, and what the page can do with it: controls, legend, card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from itertools import pairwise
from typing import Any

import networkx as nx

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.graphs.layout import Edge, Point
from rinn.report.html.layout import (
    LABEL,
    LATENT_HEIGHT,
    LATENT_WIDTH,
    PACKED_LABEL,
    GraphLayout,
    fit_label,
    layout_info,
)
from rinn.report.html.markup import (
    Markup,
    element,
    join,
    key,
    paragraph,
    save_buttons,
    svg,
)
from rinn.report.info import EdgeInfo, edges_info, graph_info
from rinn.runs.read import RunContents
from rinn.runs.sentences import describe_comparison
from rinn.structure.constants import MIN_FREQUENCY

DOT = 5.0
HEAD = 8.0  # of an edge within a column
LATENT_LETTERS = 7
SIGNS = {1: "plus", -1: "minus", 0: "unknown"}
FAINTEST = 0.3
MAX_DASHED = 600  # edges; browsers take a second to paint thousands of dashed curves

BUTTONS = (
    ("in", "+", "Zoom in"),
    ("out", "\N{MINUS SIGN}", "Zoom out"),
    ("fit", "Fit", "Fit the graph to the frame"),
)


def draw_graph(
    graph: nx.DiGraph,
    found: nx.DiGraph | None = None,
    *,
    backward: Container[Edge] = (),
    name: str | None = None,
) -> Markup:
    """Draw a latent graph from left to right, as `plot_graph`; weaker edges are not displayed.

    Nodes have the ids n0, n1 and so on in the order of `found`, edges e0, e1 and so on.
    """
    everything = graph if found is None else found
    layout = layout_info(graph, found, backward)
    roles = [graph.nodes[node]["role"] for node in layout.positions if node in graph]
    label = (
        f"Latent graph: {count(roles.count('input'), 'input')} at the left, "
        f"{count(roles.count('latent'), 'latent')} in the middle, "
        f"{count(roles.count('output'), 'output')} at the right."
    )
    edges = element("g", *_draw_levels(everything, layout, name), class_="edges")
    nodes = element("g", *_draw_nodes(everything, layout, name), class_="nodes")
    view = element("g", *_draw_heads(layout), edges, nodes, class_="view")
    look = "graph few" if everything.number_of_edges() <= MAX_DASHED else "graph dense"
    return svg(layout.width, layout.height, label, view, class_=look, id_=name)


def _draw_heads(layout: GraphLayout) -> list[Markup]:
    size, y = round(11 * layout.scale, 1), round(8 + 10 * layout.scale)
    xs = layout.left, (layout.left + layout.right) / 2, layout.right
    return [
        element("text", head, x=x, y=y, class_="head", font_size=size, text_anchor="middle")
        for head, x in zip(("inputs", "latents", "outputs"), xs, strict=True)
    ]


def _draw_levels(graph: nx.DiGraph, layout: GraphLayout, name: str | None) -> list[Markup]:
    """One group for each frequency, the lowest beneath; what is not reported is not displayed."""
    levels: dict[tuple[bool, float], list[Markup]] = defaultdict(list)
    for number, edge in enumerate(edges_info(graph)):
        if edge.source in layout.positions and edge.target in layout.positions:
            values = graph.edges[edge.source, edge.target]
            level = values.get("reported", True), 2.0 if edge.frequency is None else edge.frequency
            path = _draw_edge(edge, values, graph, layout)
            levels[level].append(element("path", id_=name and f"e{number}", **path))
    groups = []
    for (reported, frequency), paths in sorted(levels.items()):
        known: dict[str, object] = {}
        if frequency <= 1:
            # The exact number: the page compares with it as a reader of edges.csv would.
            known = {"data_f": repr(frequency), "stroke_opacity": max(frequency, FAINTEST)}
        look = {} if reported else {"display": "none"}
        kind = "level" if reported else "level weak"
        groups.append(element("g", *paths, class_=kind, **known, **look))
    return groups


def _draw_edge(
    edge: EdgeInfo, values: dict[str, Any], graph: nx.DiGraph, layout: GraphLayout
) -> dict[str, object]:
    """The attributes of an edge's path."""
    (x0, y0), (x1, y1) = layout.positions[edge.source], layout.positions[edge.target]
    half = layout.scale * LATENT_WIDTH / 2
    x0 += half if graph.nodes[edge.source]["role"] == "latent" else DOT
    x1 -= half if graph.nodes[edge.target]["role"] == "latent" else DOT
    route = [(x0, y0), *layout.routes.get((edge.source, edge.target), ()), (x1, y1)]
    path = f"M{x0:.0f} {y0:.1f}" + "".join(_bend(*ends) for ends in pairwise(route))
    if graph.nodes[edge.source]["role"] == "output":
        path = _bow(layout.positions[edge.source], (x1, y1))
    kind = values.get("kind", SIGNS[edge.sign])
    prior = " from-prior" if edge.from_prior and values.get("reported", True) else ""
    width = round(1.2 + 2.8 * edge.width, 2)
    return {"d": path, "class_": f"edge {kind}{prior}", "stroke_width": width}


def _bend(start: Point, end: Point) -> str:
    """One part of an edge, level at both ends."""
    (x0, y0), (x1, y1) = start, end
    bend = max(abs(x1 - x0) / 2, 60.0)  # an edge within a column, or backwards, is a loop
    return f"C{x0 + bend:.0f} {y0:.1f} {x1 - bend:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"


def _bow(start: Point, end: Point) -> str:
    """An edge from output to output, on the side without labels, with an arrowhead."""
    (x0, y0), (x1, y1) = start, end
    out = min(110.0, 30.0 + abs(y1 - y0) / 4)
    x0 -= DOT
    bow = f"M{x0:.0f} {y0:.1f}C{x0 - out:.0f} {y0:.1f} {x1 - out:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"
    return f"{bow}M{x1 - HEAD:.0f} {y1 - HEAD / 2:.1f}L{x1:.0f} {y1:.1f}l{-HEAD:.0f} {HEAD / 2:.1f}"


def _draw_nodes(graph: nx.DiGraph, layout: GraphLayout, name: str | None) -> list[Markup]:
    nodes = []
    for number, (node, values) in enumerate(graph.nodes(data=True)):
        if node not in layout.positions:
            continue
        role, reported = values["role"], values.get("reported", True)
        x, y = layout.positions[node]
        draw = _draw_latent if role == "latent" else _draw_end
        classes = [f"node {role}"]
        edges = [*graph.pred[node].values(), *graph.succ[node].values()]
        is_joined = reported and any(edge.get("reported") is not False for edge in edges)
        classes += [] if is_joined else ["isolated"]
        classes += [values["kind"]] if "kind" in values else []
        classes += [] if reported else ["weak"]
        below = {} if y <= layout.height else {"display": "none", "data_below": f"{y:.0f}"}
        parts = [element("title", f"{role} {clip(node, 300)}"), *draw(node, role, x, y, layout)]
        nodes.append(
            element("g", *parts, id_=name and f"n{number}", class_=" ".join(classes), **below)
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


def render_graph(contents: RunContents) -> Markup:
    """Draw the graph, with the controls that the page's script makes work."""
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
    parts = [_render_controls(contents), frame, _render_legend(contents)]
    return element("figure", *parts, class_="panel", id_="graph-panel")


def render_fit(contents: RunContents) -> Markup:
    """Say how well the graph fits the data, where that was tested."""
    manifest = contents.manifest
    parts = (manifest.outputs, manifest.covariates, manifest.fit, manifest.null)
    *first, fit, null = (part and part.sentence for part in parts)
    sentences = [*first, describe_comparison(manifest, contents.graph), fit, null]
    return join([paragraph(sentence) for sentence in sentences if sentence])


def _render_controls(contents: RunContents) -> Markup:
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
        element("button", text, type="button", data_zoom=what, aria_label=label, title=label)
        for what, text, label in BUTTONS
    ]
    zoom = element("div", element("div", *buttons, role="group", aria_label="Zoom"),
                   save_buttons("graph", "graph"), class_="buttons")  # fmt: skip
    status = element("p", id_="found", class_="status", role="status")
    parts = [search, _render_slider(contents), zoom, status]
    return element("div", *parts, class_="controls", id_="controls", hidden=True)


def _render_slider(contents: RunContents) -> Markup | None:
    if not any("frequency" in values for _, _, values in contents.candidates.edges(data=True)):
        return None
    percent = round(100 * MIN_FREQUENCY)
    label = element("label", "Edges found in at least ",
                    element("output", f"{percent} %", id_="line"),
                    f" of {contents.repeats}", for_="slider")  # fmt: skip
    reset = element("button", "Reset", type="button", id_="reset",
                    title="Show exactly the edges of the graph")  # fmt: skip
    slider = element("input", type="range", id_="slider", min=0, max=100, step=1, value=percent,
                     aria_describedby="shown")  # fmt: skip
    shown = element("span", id_="shown", class_="status")
    row = element("div", slider, reset, class_="row")
    return element("div", label, row, shown, class_="control slider")


def _render_legend(contents: RunContents) -> Markup:
    text = "Effects run from left to right. "
    keys = []
    if contents.is_measured:
        if not contents.graph.number_of_edges():
            text = "No edge was found often enough to be reported. " + text
        text += (
            "Width: strength relative to the strongest edge of its kind; opacity: how often the "
            "edge was found. The sign of a latent is arbitrary; it is chosen so that the latent's "
            "effects sum to more than zero."
        )
        keys = [key("plus", "raises"), key("minus", "lowers")]
        if any(edge.from_prior for edge in edges_info(contents.graph)):
            keys.append(key("from-prior", "there because of prior knowledge"))
        if contents.candidates.number_of_edges() > contents.graph.number_of_edges():
            keys.append(key("rare", "found too rarely to be reported"))
    else:
        text += "Whether an effect raises or lowers, and how strongly, is not known."
    legend = element("p", *(element("span", one) for one in keys), class_="legend")
    how = element(
        "p",
        "Point at a node or an edge for its numbers. Select a latent for its card, an input or "
        "output to highlight its paths. Drag to move; Ctrl and the wheel, or + and \N{MINUS SIGN}, "
        "zoom.",
        class_="with-script", hidden=True,
    )  # fmt: skip
    caption = paragraph(f"{text} {graph_info(contents.candidates).note}".strip())
    return element("figcaption", legend if keys else None, caption, how)
