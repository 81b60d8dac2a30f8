"""The latent graph as inline SVG, and what the page can do with it: controls, legend, card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from typing import Any

import networkx as nx

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.graphs.layout import Point, find_folds
from rinn.report.html.charts import draw_bar
from rinn.report.html.layout import (
    DOT,
    HALF,
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
    table,
)
from rinn.report.info import EdgeInfo, edges_info, graph_info, should_fold
from rinn.runs.manifest import Manifest
from rinn.runs.read import RunContents
from rinn.runs.sentences import EMPTY, describe_comparison, list_yardsticks, name_explained
from rinn.structure.constants import MIN_FREQUENCY

HEAD = 7.0  # of an arrow
LATENT_HEIGHT = 24.0
LATENT_LETTERS = 7
SIGNS = {1: "plus", -1: "minus", 0: "unknown"}
FAINTEST = 0.3
MAX_THICK = 150  # edges; more are drawn thinner
MAX_DASHED = 600  # edges; browsers take a second to paint thousands of dashed curves

BUTTONS = (
    ("in", "+", "Zoom in"),
    ("out", "\N{MINUS SIGN}", "Zoom out"),
    ("fit", "Fit", "Fit the graph to the frame"),
)


def draw_graph(
    graph: nx.DiGraph, layout: GraphLayout, *, others: Container[str] = (), name: str | None = None
) -> Markup:
    """Draw a latent graph from left to right, as `plot_graph`; weaker edges are not displayed.

    Nodes have the ids n0, n1 and so on in the order of the graph, edges e0, e1 and so on. Nodes in
    `others` have no place in the layout; the page's script may give them one.
    """
    reported = [node for node in layout.positions if graph.nodes[node].get("reported", True)]
    roles = [graph.nodes[node]["role"] for node in reported]
    label = (
        f"Latent graph: {count(roles.count('input'), 'input')} at the left, "
        f"{count(roles.count('latent'), 'latent')} in the middle, "
        f"{count(roles.count('output'), 'output')} at the right."
    )
    drawing = _Drawing(graph, layout, others)
    edges = element("g", *drawing.draw_levels(name), class_="edges")
    nodes = element("g", *drawing.draw_nodes(name), class_="nodes")
    look = "graph few" if graph.number_of_edges() <= MAX_DASHED else "graph dense"
    parts = (*_draw_heads(layout), edges, nodes)
    return svg(layout.width, layout.height, label, *parts, class_=look, id_=name)


def _draw_heads(layout: GraphLayout) -> list[Markup]:
    first, last = layout.find_x(0), layout.find_x(layout.columns - 1)
    xs = first, (first + last) / 2, last
    return [
        element("text", head, x=x, y=16, class_="head", font_size=11, text_anchor="middle")
        for head, x in zip(("inputs", "latents", "outputs"), xs, strict=True)
    ]


class _Drawing:
    """Nodes and edges at the places of a layout."""

    def __init__(self, graph: nx.DiGraph, layout: GraphLayout, others: Container[str]) -> None:
        self.graph, self.layout, self.others = graph, layout, others
        self.thick = 1.0 if graph.number_of_edges() <= MAX_THICK else 0.55
        self.stands = {name: first for first, names in layout.info.folds.items() for name in names}

    def draw_levels(self, name: str | None) -> list[Markup]:
        """One group for each frequency, the lowest beneath; weaker edges are not displayed."""
        levels: dict[tuple[bool, float], list[Markup]] = defaultdict(list)
        for number, edge in enumerate(edges_info(self.graph)):
            if not self._is_there(edge.source) or not self._is_there(edge.target):
                continue
            values = self.graph.edges[edge.source, edge.target]
            often = 2.0 if edge.frequency is None else edge.frequency
            path = element("path", id_=name and f"e{number}", **self._draw_edge(edge, values))
            levels[values.get("reported", True), often].append(path)
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

    def _is_there(self, node: str) -> bool:
        return self.stands.get(node, node) in self.layout.positions or node in self.others

    def _draw_edge(self, edge: EdgeInfo, values: dict[str, Any]) -> dict[str, object]:
        """The attributes of an edge's path; one that another stands for is not displayed."""
        ends = tuple(self.stands.get(node, node) for node in (edge.source, edge.target))
        width = round(self.thick * (1.2 + 2.8 * edge.width), 2)
        prior = " from-prior" if edge.from_prior and values.get("reported", True) else ""
        look = {"class_": f"edge {values.get('kind', SIGNS[edge.sign])}{prior}",
                "stroke_width": width}  # fmt: skip
        if not set(ends) <= set(self.layout.positions):
            return look
        is_double = ends != (edge.source, edge.target) and self.graph.has_edge(*ends)
        return look | {"d": self._route(*ends), "display": "none" if is_double else None}

    def _route(self, source: str, target: str) -> str:
        places, find_x = self.layout.positions, self.layout.find_x
        (first, y0), (last, y1) = places[source], places[target]
        role = self.graph.nodes
        x0 = find_x(first) + (HALF if role[source]["role"] == "latent" else DOT)
        x1 = find_x(last) - (HALF if role[target]["role"] == "latent" else DOT) - 1
        if role[source]["role"] == "output":
            return _bow((find_x(first) - DOT, y0), (x1, y1))
        path, at = f"M{x0:.0f} {y0:.1f}", (x0, y0)
        for column, y in self.layout.routes.get((source, target), ()):
            # Level past the nodes of the column.
            middle = find_x(column)
            path += f"{_bend(at, (middle - HALF, y))}H{middle + HALF:.0f}"
            at = middle + HALF, y
        return path + _bend(at, (x1, y1)) + _write_head(x1, y1)

    def draw_nodes(self, name: str | None) -> list[Markup]:
        """Draw the nodes, each as a group at its place."""
        nodes = []
        for number, (node, values) in enumerate(self.graph.nodes(data=True)):
            if node not in self.layout.positions and node not in self.others:
                continue
            role, reported = values["role"], values.get("reported", True)
            column, y = self.layout.positions.get(node, (0, 0.0))
            edges = [*self.graph.pred[node].values(), *self.graph.succ[node].values()]
            is_joined = reported and any(edge.get("reported") is not False for edge in edges)
            classes = [f"node {role}"]
            classes += [] if is_joined else ["isolated"]
            classes += [values["kind"]] if "kind" in values else []
            classes += [] if reported else ["weak"]
            is_shown = node in self.layout.positions and y <= self.layout.height
            draw = _draw_latent if role == "latent" else _draw_end
            parts = [
                element("title", f"{role} {clip(node, 300)}"),
                *draw(self.layout.info.labels.get(node, node), role),
            ]
            nodes.append(element(
                "g", *parts, id_=name and f"n{number}", class_=" ".join(classes),
                transform=f"translate({self.layout.find_x(column):.0f} {y:.1f})",
                display=None if is_shown else "none",
            ))  # fmt: skip
        return nodes


def _bend(start: Point, end: Point) -> str:
    """One part of an edge, level at both ends."""
    (x0, y0), (x1, y1) = start, end
    bend = (x1 - x0) / 2 if x1 > x0 else max((x0 - x1) / 2, 24.0)  # backwards: a loop
    return f"C{x0 + bend:.0f} {y0:.1f} {x1 - bend:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"


def _bow(start: Point, end: Point) -> str:
    """An edge from output to output, on the side without labels."""
    (x0, y0), (x1, y1) = start, end
    out = min(110.0, 30.0 + abs(y1 - y0) / 4)
    bow = f"M{x0:.0f} {y0:.1f}C{x0 - out:.0f} {y0:.1f} {x1 - out:.0f} {y1:.1f} {x1:.0f} {y1:.1f}"
    return bow + _write_head(x1, y1)


def _write_head(x: float, y: float) -> str:
    """The head of an arrow, as part of the edge's path, so that it has the edge's colour."""
    return f"M{x - HEAD:.0f} {y - HEAD / 2:.1f}L{x:.0f} {y:.1f}l{-HEAD:.0f} {HEAD / 2:.1f}"


def _draw_latent(label: str, role: str) -> list[Markup]:
    return [
        element("rect", x=-HALF, y=-LATENT_HEIGHT / 2, width=2 * HALF, height=LATENT_HEIGHT, rx=7),
        element("text", clip(label, LATENT_LETTERS), y=4.5, font_size=12.5, text_anchor="middle"),
    ]


def _draw_end(label: str, role: str) -> list[Markup]:
    left = role == "input"
    return [
        element("circle", r=DOT),
        element("text", fit_label(label), x=-10 if left else 10, y=4,
                text_anchor="end" if left else "start"),
    ]  # fmt: skip


def make_layouts(contents: RunContents) -> dict[str, GraphLayout]:
    """The layouts that the reader can choose from, the one that the page opens with first."""
    graph, found = contents.graph, contents.candidates
    part = graph_info(graph).graph
    layouts = {"open": layout_info(graph, found)}
    if find_folds(part):
        layouts["folded"] = layout_info(graph, found, folded=True)
    first = "folded" if should_fold(part) else "open"
    return {first: layouts.pop(first), **layouts}


def render_graph(contents: RunContents, layouts: dict[str, GraphLayout]) -> Markup:
    """Draw the graph, with the controls that the page's script makes work."""
    first, *others = layouts.values()
    unplaced = {node for layout in others for node in layout.positions} - set(first.positions)
    drawing = element(
        "div",
        draw_graph(contents.candidates, first, others=unplaced, name="graph"),
        id_="stage", class_="stage", role="region", aria_label="Drawing of the latent graph",
        tabindex=0,
    )  # fmt: skip
    card = element(
        "div", id_="card", class_="card", role="region", aria_labelledby="card-name",
        tabindex="-1", hidden=True,
    )  # fmt: skip
    frame = element("div", drawing, card, class_="frame-of-graph")
    parts = [_render_controls(contents, layouts), frame, _render_legend(contents)]
    return element("figure", *parts, class_="panel", id_="graph-panel")


def render_fit(contents: RunContents) -> Markup:
    """Say how well the graph predicts, beside simpler models, and whether it fits the data."""
    manifest = contents.manifest
    parts = (manifest.outputs, manifest.covariates, manifest.fit, manifest.null)
    *first, fit, null = (part and part.sentence for part in parts)
    sentences = [*first, describe_comparison(manifest, contents.graph), fit, null]
    return join([
        *(paragraph(sentence) for sentence in sentences if sentence), _render_yardsticks(manifest)
    ])  # fmt: skip


def _render_yardsticks(manifest: Manifest) -> Markup | None:
    """A table of how well guessing, a regression, the best network and the graph predict."""
    if not (rows := list_yardsticks(manifest)):
        return None
    what = name_explained(manifest)
    cells = [
        (name, f"{loss:.4f}", join([f"{100 * fraction:.1f}%", draw_bar(max(fraction, 0.0))]))
        for name, loss, fraction in rows
    ]
    scaled = ", each output scaled to a standard deviation of 1" if what == "R²" else ""
    note = f"Loss: mean over outputs and held-out samples{scaled}. {what[0].upper()}{what[1:]}: "
    note += "the fraction by which the loss is below that of guessing; 100% is perfect."
    if not any("regression" in name for name, *_ in rows):
        note += " With this many inputs, or this few samples, no regression on all inputs is shown."
    listed = table(("prediction by", "loss", what), cells, "How well it predicts")
    head = paragraph(element("strong", "How well it predicts"))
    return join([head, listed, paragraph(note, class_="note")])


def _render_controls(contents: RunContents, layouts: dict[str, GraphLayout]) -> Markup:
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
    fold = element(
        "button", "Fold", type="button", id_="fold", aria_pressed="false",
        title="Draw inputs, or outputs, with the same edges and signs as one",
    ) if "folded" in layouts else None  # fmt: skip
    status = element("p", id_="found", class_="status", role="status")
    zoom = element("div", element("div", *buttons, role="group", aria_label="Zoom"), fold,
                   save_buttons("graph", "graph"), class_="buttons")  # fmt: skip
    parts = [search, _render_slider(contents), zoom, status]
    return element("div", *parts, class_="controls", id_="controls", hidden=True)


def _render_slider(contents: RunContents) -> Markup | None:
    if not any("frequency" in values for _, _, values in contents.candidates.edges(data=True)):
        return None
    percent = round(100 * MIN_FREQUENCY)
    label = element("label", "Edges found in at least ",
                    element("output", f"{percent}%", id_="line"),
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
            text = f"No edge was found often enough to be reported. {EMPTY} {text}"
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
        "output to highlight its paths; arrow keys go from node to node. Drag or scroll to move; "
        "Ctrl and the wheel, or + and \N{MINUS SIGN}, zoom.",
        class_="with-script", hidden=True,
    )  # fmt: skip
    caption = paragraph(f"{text} {graph_info(contents.candidates).note}".strip())
    return element("figcaption", legend if keys else None, caption, how)
