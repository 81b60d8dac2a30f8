"""The graph beside the truth, where there is one: scores, and which edges are right."""

from __future__ import annotations

from collections import Counter

import networkx as nx

from rinn.errors import clip, count
from rinn.graphs.basics import by_role, collapse
from rinn.graphs.compare import keep_known, match_latents
from rinn.report.html.graph import draw_graph
from rinn.report.html.markup import Markup, element, join, key, paragraph, table
from rinn.runs.manifest import Scores
from rinn.runs.read import RunContents
from rinn.runs.sentences import NO_NETWORKS

KINDS = {"right": "right", "missed": "missed", "extra": "found but not true"}
MAX_LISTED = 60


def say_scores(contents: RunContents) -> Markup:
    """Compare with the truth, where there is one."""
    scores = contents.scores
    if not scores:
        given = "A truth lies in the folder, but no scores." if contents.truth else (
            "No truth was given, so nothing on this page was checked against one."
        )  # fmt: skip
        return paragraph(given)
    parts = [_list_scores(contents, scores)]
    if contents.truth:
        parts.append(_show_edges(compare_info(contents.graph, contents.truth)))
    return join(parts)


def compare_info(found: nx.DiGraph, truth: nx.DiGraph) -> nx.DiGraph:
    """Join a found and a true graph into one whose edges say which of them has them.

    Latents of the truth that reach the same outputs are made one first. A found latent that
    matches a true one stands for both, under its own name; latents of the truth that none matches
    bear theirs.

    Example:
        >>> truth = nx.DiGraph([("x0", "h"), ("h", "y0"), ("h", "y1")])
        >>> roles = {"x0": "input", "h": "latent", "y0": "output", "y1": "output"}
        >>> nx.set_node_attributes(truth, roles, "role")
        >>> found = nx.relabel_nodes(truth, {"h": "L1"})
        >>> found.remove_edge("x0", "L1")
        >>> compare_info(found, truth).edges(data="kind")
        OutEdgeDataView([('x0', 'L1', 'missed'), ('L1', 'y0', 'right'), ('L1', 'y1', 'right')])
    """
    truth = collapse(truth)
    judged = keep_known(found, truth)
    names = {true: own for own, true in match_latents(judged, truth)}
    for latent in by_role(truth, "latent"):
        if latent not in names:
            names[latent] = _free_name(latent, found)
    true = nx.relabel_nodes(truth, names)
    whole: nx.DiGraph = nx.DiGraph()
    for graph in (true, found):
        whole.add_nodes_from((node, {"role": role}) for node, role in graph.nodes(data="role"))
    for node in by_role(whole, "latent"):
        kind = "right" if node in true and node in found else "missed" if node in true else "extra"
        whole.nodes[node]["kind"] = kind if node in judged or node in true else "unjudged"
    for edge in true.edges:
        whole.add_edge(*edge, kind="right" if judged.has_edge(*edge) else "missed")
    for edge in found.edges:
        if not true.has_edge(*edge):
            whole.add_edge(*edge, kind="extra" if judged.has_edge(*edge) else "unjudged")
    return whole


def _free_name(latent: str, found: nx.DiGraph) -> str:
    while latent in found:
        latent += "*"
    return latent


def _show_edges(whole: nx.DiGraph) -> Markup:
    """Draw the joined graph, and list what was missed and what is extra."""
    numbers = Counter(values["kind"] for _, _, values in whole.edges(data=True))
    keys = [
        element("span", key(kind, f"{words}: {numbers[kind]}")) for kind, words in KINDS.items()
    ]
    drawing = element("div", draw_graph(whole), class_="stage", role="region",
                      aria_label="Found and true graph", tabindex=0)  # fmt: skip
    if numbers["missed"] + numbers["extra"] + numbers["unjudged"] == 0:
        words = "Every edge is right, and none is missing."
        return join([element("p", *keys, class_="legend"), paragraph(words)])
    lists = [
        element("details", element("summary", f"{words}: {count(numbers[kind], 'edge')}"),
                element("ul", *_list_edges(whole, kind)))
        for kind, words in (("missed", "Missed"), ("extra", "Found but not true"))
        if numbers[kind]
    ]  # fmt: skip
    caption = element("figcaption", element("p", *keys, class_="legend"), *lists)
    return element("figure", drawing, caption, class_="panel")


def _list_edges(whole: nx.DiGraph, kind: str) -> list[Markup]:
    edges = [edge for edge in whole.edges if whole.edges[edge]["kind"] == kind]
    lines = [element("li", f"{clip(source)} → {clip(target)}") for source, target in edges]
    more = len(lines) - MAX_LISTED
    return lines[:MAX_LISTED] + ([element("li", f"and {more} more")] if more > 0 else [])


def _list_scores(contents: RunContents, scores: Scores) -> Markup:
    paper, graph = scores["paper"], scores["graph"]
    whose = "paper's protocol, {} *" if contents.nets else "paper's rule, {}"
    rows = [("graph, latents", graph["latents"]), ("graph, edges", graph["edges"])]
    if graph["latent_edges"]:
        rows.append(("graph, edges between latents", graph["latent_edges"]))
    rows.append((whose.format("hidden nodes"), paper["hidden"]))
    rows += [(whose.format("inputs"), paper["input"])] if paper["input"] else []
    cells = [
        (name, *(f"{values[key]:.2f}" for key in ("precision", "recall", "f1")))
        for name, values in rows
    ]
    number = len(by_role(collapse(contents.truth), "latent")) if contents.truth else 0
    size = f"The truth has {number} latents that act on different outputs. " if number else ""
    note = (
        "* Mean over the ten networks that the paper's distance chooses, threshold chosen with "
        "sight of the truth. It says what the networks hold, not what a reader without the truth "
        "would get."
    )
    if not contents.nets:
        note = NO_NETWORKS
    differ = (
        f"{size}The graph was made without it; edges that differ (SHD): {graph['shd']}; pairs of "
        f"latents in the opposite order: {graph['order_errors']}."
    )
    if graph["twins"]:
        differ += (
            f" Of {graph['twins']} latents that share their outputs with another, "
            f"{graph['twins_found']} have a latent of their own."
        )
    headers = ("what", "precision", "recall", "F1")
    return join(
        [
            paragraph(differ),
            table(headers, cells, "Scores against the truth"),
            paragraph(note, class_="note"),
        ]
    )
