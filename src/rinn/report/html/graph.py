"""The graph with all that the page can do with it: controls, picture, legend, card."""

from __future__ import annotations

from rinn.graphs.basics import by_role
from rinn.report.html.graphdrawing import draw_graph, list_edges
from rinn.report.html.layout import layout_info
from rinn.report.html.markup import Markup, count, element, join, key, paragraph
from rinn.runs.read import Contents
from rinn.runs.sentences import say_comparison
from rinn.structure.constants import MIN_FREQUENCY as LINE

BUTTONS = (
    ("in", "+", "Zoom in"),
    ("out", "\N{MINUS SIGN}", "Zoom out"),
    ("fit", "Fit", "Fit the whole graph"),
)


def say_graph(contents: Contents) -> Markup:
    """Draw the graph, with the controls that the page's script brings to life."""
    drawing = element(
        "div",
        draw_graph(contents.graph, contents.found, name="graph"),
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


def say_carries(contents: Contents) -> Markup:
    """Say whether the graph carries the data, where that is known, and how sure it is."""
    parts = (contents.manifest.get(name) for name in ("outputs", "covariates", "fit", "null"))
    *first, fit, last = (part["sentence"] if part else None for part in parts)
    sentences = [*first, say_comparison(contents.manifest, contents.graph), fit, last]
    return join([paragraph(sentence) for sentence in sentences if sentence])


def _write_controls(contents: Contents) -> Markup:
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


def _write_slider(contents: Contents) -> Markup | None:
    if not any("frequency" in values for _, _, values in contents.found.edges(data=True)):
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


def _write_legend(contents: Contents) -> Markup:
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
    layout = layout_info(contents.graph, contents.found)
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


def _has_weaker(contents: Contents) -> bool:
    return contents.found.number_of_edges() > contents.graph.number_of_edges()
