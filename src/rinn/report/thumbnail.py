"""A graph as a small picture: inputs left, latents between, outputs right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from html import escape

import networkx as nx

from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.layout import place_nodes

WIDTH, HEIGHT, MARGIN = 280.0, 170.0, 12.0
MOST_EDGES = 400
LARGEST_DOT, SMALLEST_DOT = 9.0, 1.5


def draw_thumbnail(graph: nx.DiGraph) -> str:
    """Draw a graph as inline SVG without names.

    Inputs and outputs are squares, latents dots; edges are drawn in the classes `plus`, `minus`
    and `plain` (no weight). Of very many edges the most frequent are drawn.

    Args:
        graph: an acyclic graph with roles.

    Returns:
        An svg element; its label says how much there is of everything.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, {"x": "input", "h": "latent", "y": "output"}, "role")
        >>> '<path class="latent" stroke-width="9" d="M140 85h0"/>' in draw_thumbnail(graph)
        True
    """
    places = _fit(place_nodes(graph))
    counts = {role: len(by_role(graph, role)) for role in ROLES}
    dot = HEIGHT / max(1, *counts.values()) * 0.6
    dot = round(min(LARGEST_DOT, max(SMALLEST_DOT, dot)), 1)
    edges = _draw_edges(graph, places)
    nodes = "".join(
        f'<path class="{role}" stroke-width="{dot:g}" d="{_dots(by_role(graph, role), places)}"/>'
        for role in ROLES
        if counts[role]
    )
    label = escape(_label(counts, graph.number_of_edges()))
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{label}">'
        f"{edges}{nodes}</svg>"
    )


def _fit(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Spread the columns over the width, and the nodes of each over the height."""
    columns: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for node, (x, y) in places.items():
        columns[x].append((y, node))
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    found = {}
    for number, x in enumerate(sorted(columns)):
        share = number / (len(columns) - 1) if len(columns) > 1 else 0.5
        for place, (_, node) in enumerate(sorted(columns[x])):
            down = (place + 0.5) / len(columns[x])
            found[node] = round(MARGIN + share * wide, 1), round(MARGIN + down * high, 1)
    return found


def _draw_edges(graph: nx.DiGraph, places: dict[str, tuple[float, float]]) -> str:
    """One path for each sign; the thinner, the more edges there are."""
    ranked = sorted(graph.edges(data=True), key=lambda edge: -_number(edge[2].get("frequency"), 1))
    drawn = ranked[:MOST_EDGES]
    width = round(min(1.4, max(0.3, 60 / max(1, len(drawn)))), 2)
    lines: dict[str, list[str]] = {"plain": [], "minus": [], "plus": []}
    for source, target, about in drawn:
        weight = _number(about.get("weight"), 0)
        kind = "plus" if weight > 0 else "minus" if weight < 0 else "plain"
        (x, y), (to_x, to_y) = places[source], places[target]
        lines[kind].append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
    return "".join(
        f'<path class="{kind}" stroke-width="{width:g}" d="{"".join(parts)}"/>'
        for kind, parts in lines.items()
        if parts
    )


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise


def _dots(nodes: Iterable[str], places: dict[str, tuple[float, float]]) -> str:
    """Lines without length: their caps are the dots."""
    return "".join(f"M{places[node][0]:g} {places[node][1]:g}h0" for node in nodes)


def _label(counts: dict[str, int], edges: int) -> str:
    words = [f"{number} {role}{'' if number == 1 else 's'}" for role, number in counts.items()]
    more = f", of which the {MOST_EDGES} most frequent are drawn" if edges > MOST_EDGES else ""
    return f"Graph of {', '.join(words)} and {edges} edge{'' if edges == 1 else 's'}{more}"
