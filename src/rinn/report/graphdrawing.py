"""The latent graph as inline SVG."""

from __future__ import annotations

from collections import defaultdict

import networkx as nx
import numpy as np

from rinn.report.layout import GraphLayout, fit_label, layout_info
from rinn.report.markup import Markup, clip, count, element, svg

LATENT_WIDTH, LATENT_HEIGHT = 52.0, 22.0


def draw_graph(graph: nx.DiGraph) -> Markup:
    """Draw a latent graph from left to right.

    An edge's width is its |weight| relative to the largest of its kind, its colour the sign, its
    opacity the frequency.
    """
    layout = layout_info(graph)
    roles = [graph.nodes[node]["role"] for node in layout.places]
    label = (
        f"Latent graph: {count(roles.count('input'), 'input')} at the left, "
        f"{count(roles.count('latent'), 'latent')} in the middle, "
        f"{count(roles.count('output'), 'output')} at the right."
    )
    heads = [
        element("text", word, x=x, y=16, class_="head", text_anchor="middle")
        for word, x in (
            ("inputs", layout.left),
            ("latents", (layout.left + layout.right) / 2),
            ("outputs", layout.right),
        )
    ]
    edges, nodes = _draw_edges(graph, layout), _draw_nodes(graph, layout)
    return svg(layout.width, layout.height, label, *heads, *edges, *nodes)


def _draw_edges(graph: nx.DiGraph, layout: GraphLayout) -> list[Markup]:
    strongest: dict[tuple[str, str], float] = defaultdict(float)
    drawn = []
    for source, target, values in graph.edges(data=True):
        if source in layout.places and target in layout.places:
            kind = graph.nodes[source]["role"], graph.nodes[target]["role"]
            weight = float(values.get("weight") or 0.0)
            strongest[kind] = max(strongest[kind], abs(weight))
            drawn.append((source, target, kind, weight, float(values.get("frequency", 1.0))))
    return [
        _draw_edge(source, target, kind, weight, abs(weight) / (strongest[kind] or 1.0), share,
                   layout)
        for source, target, kind, weight, share in drawn
    ]  # fmt: skip


def _draw_edge(
    source: str,
    target: str,
    kind: tuple[str, str],
    weight: float,
    relative: float,
    share: float,
    layout: GraphLayout,
) -> Markup:
    (x0, y0), (x1, y1) = layout.places[source], layout.places[target]
    x0 += LATENT_WIDTH / 2 if kind[0] == "latent" else 5
    x1 -= LATENT_WIDTH / 2 if kind[1] == "latent" else 5
    bend = (x1 - x0) / 2
    path = f"M{x0:g} {y0:.1f}C{x0 + bend:g} {y0:.1f} {x1 - bend:g} {y1:.1f} {x1:g} {y1:.1f}"
    colour = "plus" if weight > 0 else "minus" if weight < 0 else ""
    words = (
        f"{clip(source)} → {clip(target)}: {weight:+.3g}, found in {100 * share:.0f} % of searches"
    )
    return element(
        "path", element("title", words), d=path, class_=f"edge {colour}".strip(),
        stroke_width=1.0 + 4.0 * relative, stroke_opacity=float(np.clip(share, 0.15, 1.0)),
    )  # fmt: skip


def _draw_nodes(graph: nx.DiGraph, layout: GraphLayout) -> list[Markup]:
    nodes = []
    for name, (x, y) in layout.places.items():
        role = graph.nodes[name]["role"]
        if role == "latent":
            half = LATENT_WIDTH / 2
            shape = element("rect", x=x - half, y=y - LATENT_HEIGHT / 2, width=LATENT_WIDTH,
                            height=LATENT_HEIGHT, rx=6)  # fmt: skip
            text = element("text", clip(name, 7), x=x, y=y + 4, text_anchor="middle")
        else:
            left = role == "input"
            shape = element("circle", cx=x, cy=y, r=5)
            text = element("text", fit_label(name), x=x - 10 if left else x + 10, y=y + 4,
                           text_anchor="end" if left else "start")  # fmt: skip
        lone = "" if graph.degree(name) else " lone"
        title = element("title", f"{role} {clip(name, 300)}")
        nodes.append(element("g", title, shape, text, class_=f"node {role}{lone}"))
    return nodes
