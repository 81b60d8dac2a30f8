"""The graph compared with the truth, where there is one: scores, and which edges are right."""

from __future__ import annotations

import networkx as nx

from rinn.errors import clip, count
from rinn.graphs.basics import by_role, collapse
from rinn.report.html.graph import draw_graph
from rinn.report.html.layout import layout_info
from rinn.report.html.markup import Markup, element, join, key, paragraph, table
from rinn.report.info import EXTRA, MISSED, RIGHT, UNJUDGED, ComparisonInfo, comparison_info
from rinn.runs.manifest import Scores
from rinn.runs.read import RunContents
from rinn.runs.sentences import NO_NETWORKS

KINDS = {RIGHT: "right", MISSED: "missed", EXTRA: "found but not true"}
MAX_LISTED = 60


def render_scores(contents: RunContents) -> Markup:
    """Compare with the truth."""
    scores = contents.scores
    if not scores:
        return paragraph("The folder has a truth, but no scores.")
    parts = [_render_table(contents, scores)]
    if contents.truth:
        parts.append(_render_edges(comparison_info(contents.graph, contents.truth)))
    return join(parts)


def _render_edges(info: ComparisonInfo) -> Markup:
    """Draw both graphs as one, and list what was missed and what is extra."""
    keys = [
        element("span", key(kind, f"{meaning}: {info.count_edges(kind)}"))
        for kind, meaning in KINDS.items()
    ]
    legend = element("p", *keys, class_="legend")
    if not any(map(info.count_edges, (MISSED, EXTRA, UNJUDGED))):
        return join([legend, paragraph("Every edge is right, and none is missing.")])
    layout = layout_info(info.graph, backward=info.backward)
    drawing = element("div", draw_graph(info.graph, layout), class_="stage",
                      role="region", aria_label="Found and true graph", tabindex=0)  # fmt: skip
    lists = [
        element("details",
                element("summary", f"{head}: {count(info.count_edges(kind), 'edge')}"),
                element("ul", *_list_edges(info.graph, kind)))
        for kind, head in ((MISSED, "Missed"), (EXTRA, "Found but not true"))
        if info.count_edges(kind)
    ]  # fmt: skip
    caption = element("figcaption", legend, *lists)
    return element("figure", drawing, caption, class_="panel")


def _list_edges(graph: nx.DiGraph, kind: str) -> list[Markup]:
    edges = [edge for edge in graph.edges if graph.edges[edge]["kind"] == kind]
    lines = [element("li", f"{clip(source)} → {clip(target)}") for source, target in edges]
    more = len(lines) - MAX_LISTED
    return lines[:MAX_LISTED] + ([element("li", f"and {more} more")] if more > 0 else [])


def _render_table(contents: RunContents, scores: Scores) -> Markup:
    paper, graph = scores["paper"], scores["graph"]
    row = "paper's protocol, {} *" if contents.nets else "paper's rule, {}"
    rows = [("graph, latents", graph["latents"]), ("graph, edges", graph["edges"])]
    if graph["latent_edges"]:
        rows.append(("graph, edges between latents", graph["latent_edges"]))
    rows.append((row.format("hidden nodes"), paper["hidden"]))
    rows += [(row.format("inputs"), paper["input"])] if paper["input"] else []
    cells = [
        (name, *(f"{values[key]:.2f}" for key in ("precision", "recall", "f1")))
        for name, values in rows
    ]
    number = len(by_role(collapse(contents.truth), "latent")) if contents.truth else 0
    size = f"The truth has {number} latents that act on different outputs. " if number else ""
    note = (
        "* Mean over the ten networks that the paper's distance chooses, threshold chosen with "
        "knowledge of the truth: what the networks contain, not what one would get without it."
    )
    if not contents.nets:
        note = NO_NETWORKS
    differ = (
        f"{size}The graph was made without it. Edges that differ (SHD): {graph['shd']}; pairs of "
        f"latents in the opposite order: {graph['order_errors']}."
    )
    if graph["twins"]:
        differ += (
            f" Of {graph['twins']} latents that share their outputs with another, "
            f"{graph['twins_found']} have a latent of their own."
        )
    listed = table(("what", "precision", "recall", "F1"), cells, "Scores against the truth")
    return join([paragraph(differ), listed, paragraph(note, class_="note")])
