"""The graph of an estimator in a notebook: inline SVG with a style of its own, and no script."""

from __future__ import annotations

import networkx as nx

from rinn.errors import count
from rinn.graphs.basics import by_role, collapse
from rinn.report.html.graph import draw_graph
from rinn.report.html.layout import layout_info
from rinn.report.html.markup import Markup, element, paragraph
from rinn.report.info import graph_info, should_fold

# Notebooks are light or dark: text has their colour, and boxes have none.
STYLE = """
.rinn-graph svg { max-width: 100%; height: auto; font: 12px sans-serif; }
.rinn-graph text { fill: currentColor; }
.rinn-graph rect { fill: none; stroke: currentColor; }
.rinn-graph circle { fill: currentColor; }
.rinn-graph .edge { fill: none; stroke: #0072b2; }
.rinn-graph .edge.minus { stroke: #d55e00; stroke-dasharray: 5 3; }
.rinn-graph .edge.unknown { stroke: #808080; }
.rinn-graph .isolated { opacity: 0.5; }
"""


def draw_in_notebook(graph: nx.DiGraph, title: str, max_drawn: int) -> Markup:
    """Draw a graph with a line about it; of many inputs and outputs the strongest are drawn."""
    if not nx.is_directed_acyclic_graph(graph):
        graph = collapse(graph)
    found = {role: count(len(by_role(graph, role)), role) for role in ("latent", "input", "output")}
    edges = count(graph.number_of_edges(), "edge")
    line = f"{title}: {found['latent']} and {edges} between {found['input']} and {found['output']}."
    info = graph_info(graph, max_drawn=max_drawn)
    legend = "Blue edges raise, orange dashed ones lower." if graph.number_of_edges() else ""
    return element(
        "div",
        element("style", Markup(STYLE)),
        paragraph(line),
        draw_graph(info.graph, layout_info(info.graph, folded=should_fold(info.graph))),
        paragraph(f"{legend} {info.note}".strip()),
        class_="rinn-graph",
    )
