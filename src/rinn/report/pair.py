"""Two runs side by side as one HTML page: what both found, and what only one of them found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx

from rinn.errors import InputError, clip, count
from rinn.graphs.basics import by_role
from rinn.graphs.compare import match_latents
from rinn.graphs.files import load_graph
from rinn.report.folders import REPORT, write_address
from rinn.report.html.document import REPORT_STYLES, render_document
from rinn.report.html.graph import draw_graph
from rinn.report.html.layout import layout_info
from rinn.report.html.markup import Markup, element, key, list_names, paragraph, table
from rinn.report.index import Card, list_facts
from rinn.report.info import EXTRA, MISSED, RIGHT, UNJUDGED, comparison_info


def render_pair(root: Path, cards: Sequence[Card]) -> Markup:
    """Write the page; a run that is not finished or damaged has no graph to compare."""
    title = " and ".join(clip(card.name, 60) for card in cards)
    back = element("nav", element("a", "← All runs", href="/"), aria_label="Back")
    header = element("header", back, element("h1", "Runs ", element("bdi", title)))
    parts = [_render_facts(cards)]
    try:
        graphs = [load_graph(root.joinpath(*card.parts, "graph.json")) for card in cards]
        parts += _render_graphs(cards, graphs)
    except InputError:
        broken = next((card for card in cards if card.problem), cards[0])
        why = broken.problem or "their graphs cannot be compared."
        parts.append(
            paragraph(f"There is nothing to compare: {broken.name}: {why}", class_="careful")
        )
    return render_document(f"Runs {title}", header, element("main", *parts), styles=REPORT_STYLES)


def _render_facts(cards: Sequence[Card]) -> Markup:
    """What is known of each run, those that differ marked."""
    facts = [list_facts(card) for card in cards]
    names = [
        element("a", element("bdi", card.name), href=write_address((*card.parts, REPORT)))
        if card.has_report
        else element("bdi", card.name)
        for card in cards
    ]
    rows = []
    for term in dict.fromkeys(term for one in facts for term in one):
        values = [str(one.get(term, "")) for one in facts]
        same = values[0] == values[1]
        rows.append((term, *(value if same else element("strong", value) for value in values)))
    return table(("what", *names), rows, "What is known of each run")


def _render_graphs(cards: Sequence[Card], graphs: Sequence[nx.DiGraph]) -> list[Markup]:
    first, second = graphs
    info = comparison_info(first, second)
    kinds = {
        RIGHT: "in both",
        EXTRA: f"only in {clip(cards[0].name, 40)}",
        MISSED: f"only in {clip(cards[1].name, 40)}",
    }
    edges = ", ".join(f"{info.count_edges(kind)} {where}" for kind, where in kinds.items())
    latents = ", ".join(f"{info.count_latents(kind)} {where}" for kind, where in kinds.items())
    said = f"Latents: {latents}. Edges: {edges}."
    if unjudged := info.count_edges(UNJUDGED):
        said += f" {count(unjudged, 'edge')} of columns that only one run has are not compared."
    keys = [element("span", key(kind, where)) for kind, where in kinds.items()]
    drawn = layout_info(info.graph, backward=info.backward)
    drawing = element("div", draw_graph(info.graph, drawn), class_="stage", role="region",
                      aria_label="Both graphs as one", tabindex=0)  # fmt: skip
    note = (
        "Latents are matched by the outputs they reach, which may differ in one, and by the inputs "
        "that reach them; their names are ignored. A matched latent has its name in the first run."
    )
    caption = element("figcaption", element("p", *keys, class_="legend"), paragraph(note))
    return [
        element("h2", "What is common, and what differs"),
        paragraph(said),
        element("figure", drawing, caption, class_="panel"),
        element("h2", "Latents"),
        _render_latents(cards, graphs),
    ]


def _render_latents(cards: Sequence[Card], graphs: Sequence[nx.DiGraph]) -> Markup:
    """One row for each latent of either run: its match, and the edges that differ."""
    first, second = graphs
    match = dict(match_latents(first, second))
    other = {theirs: ours for ours, theirs in match.items()}
    rows = []
    for ours in by_role(first, "latent"):
        theirs = match.get(ours)
        rows.append((clip(ours), clip(theirs) if theirs else "none",
                     *_compare_ends(first, ours, second, theirs, match)))  # fmt: skip
    for theirs in by_role(second, "latent"):
        if theirs not in other:
            rows.append(("none", clip(theirs), *_compare_ends(first, None, second, theirs, match)))
    if not rows:
        return paragraph("Neither run has a latent.")
    heads = [f"in {clip(card.name, 40)}" for card in cards]
    return table((*heads, "neighbours in both", *(f"only {head}" for head in heads)), rows,
                 "Latents of both runs")  # fmt: skip


def _compare_ends(
    first: nx.DiGraph, ours: str | None, second: nx.DiGraph, theirs: str | None,
    match: dict[str, str],
) -> tuple[Markup, Markup, Markup]:  # fmt: skip
    """Neighbours that both have, and those that one of them has, by the second's names."""
    own = {} if ours is None else {match.get(n, n): n for n in nx.all_neighbors(first, ours)}
    others = set() if theirs is None else set(nx.all_neighbors(second, theirs))
    both = [name for name in own if name in others]
    return (
        list_names(both),
        list_names([name for name in own if name not in others]),
        list_names([name for name in second if name in others and name not in own]),
    )
