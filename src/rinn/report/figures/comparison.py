"""A found graph against a true one: right, missed and extra edges in three styles."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.graphs.basics import by_role, check_graph, collapse
from rinn.graphs.compare import keep_known, match_latents
from rinn.report.figures.canvas import BLUE, PURPLE, VERMILION, WHITE
from rinn.report.figures.graph import draw_edge, draw_nodes, make_frame
from rinn.report.figures.layers import Layers, layer_nodes

RIGHT, MISSED, EXTRA = "right", "missed", "extra"
STYLES: dict[str, dict[str, Any]] = {
    RIGHT: {"color": BLUE, "linestyle": "-", "linewidth": 1.3},
    MISSED: {"color": VERMILION, "linestyle": (0, (4.0, 2.0)), "linewidth": 1.5},
    EXTRA: {"color": PURPLE, "linestyle": (0, (0.8, 1.2)), "linewidth": 2.2},
}
MAX_LONE = 12
BOXES: dict[str, dict[str, Any]] = {
    RIGHT: {},
    MISSED: {"edgecolor": VERMILION, "linestyle": "--"},
    EXTRA: {"edgecolor": PURPLE, "linestyle": ":", "linewidth": 1.4},
}


@dataclass(frozen=True)
class ComparisonInfo:
    """Both graphs as one, whose latents bear the true names where they match.

    `edges` and `latents` say of each which it is: right, missed or extra. `names` are those that
    the figure writes: a matched latent has its true and its found name.
    """

    graph: nx.DiGraph
    layers: Layers
    edges: dict[tuple[str, str], str]
    latents: dict[str, str]
    names: dict[str, str]
    without_edge: int

    def count_edges(self, kind: str) -> int:
        """Count the edges that are right, missed or extra."""
        return Counter(self.edges.values())[kind]

    def count_latents(self, kind: str) -> int:
        """Count the latents that are right, missed or extra."""
        return Counter(self.latents.values())[kind]


def comparison_info(found: nx.DiGraph, truth: nx.DiGraph) -> ComparisonInfo:
    """Match the latents of two graphs and compare their edges, as `score_graph` does.

    Latents of the truth that reach the same outputs are one. Only inputs and outputs that the
    truth knows are compared.

    Example:
        >>> truth = nx.DiGraph([("x", "h"), ("h", "y0"), ("h", "y1")])
        >>> roles = dict(x="input", h="latent", y0="output", y1="output")
        >>> nx.set_node_attributes(truth, roles, "role")
        >>> found = nx.relabel_nodes(truth, {"h": "L1"})
        >>> found.remove_edge("x", "L1")
        >>> comparison_info(found, truth).edges["x", "h"]
        'missed'
    """
    check_graph(found)
    check_graph(truth)
    truth = collapse(truth)
    found = keep_known(found, truth)
    true_names = dict(match_latents(found, truth))
    found_names = {true: name for name, true in true_names.items()}
    taken = set(truth)
    renamed = {
        latent: true_names.get(latent) or _free_name(latent, taken)
        for latent in by_role(found, "latent")
    }
    found = nx.relabel_nodes(found, renamed)
    edges = {edge: RIGHT if found.has_edge(*edge) else MISSED for edge in truth.edges}
    edges |= {edge: EXTRA for edge in found.edges if edge not in edges}
    latents = {name: RIGHT if name in found_names else MISSED for name in by_role(truth, "latent")}
    latents |= {name: EXTRA for name in by_role(found, "latent") if name not in latents}
    both, lone = _join(truth, found, edges)
    names = {name: f"{name} = {found_names[name]}" if name in found_names else name
             for name in latents}  # fmt: skip
    names |= {new: old for old, new in renamed.items() if latents[new] == EXTRA}
    return ComparisonInfo(both, _lay_out(both, edges), edges, latents, names, lone)


def plot_comparison(found: nx.DiGraph, truth: nx.DiGraph, *, title: str = "") -> Figure:
    """Draw a found graph over the true one.

    Edges of both are solid, edges of the truth alone dashed, edges found alone dotted. A latent
    that was found bears both names, true = found.

    Example:
        >>> truth = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(truth, dict(x="input", h="latent", y="output"), "role")
        >>> len(plot_comparison(truth, truth).axes)
        1
    """
    info = comparison_info(found, truth)
    note, handles = _say_note(info), _list_handles(info)
    frame = make_frame(info.graph, info.layers, title, handles, note, info.names)
    for kind in (RIGHT, MISSED, EXTRA):
        for edge in (edge for edge, its_kind in info.edges.items() if its_kind == kind):
            draw_edge(frame, info.layers.routes[edge], **STYLES[kind])
    styles = {name: {"facecolor": WHITE} | BOXES[kind] for name, kind in info.latents.items()}
    draw_nodes(frame, info.graph, info.layers, names=info.names, styles=styles)
    return frame.figure


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _join(
    truth: nx.DiGraph, found: nx.DiGraph, edges: dict[tuple[str, str], str]
) -> tuple[nx.DiGraph, int]:
    """Both graphs as one, without inputs and outputs that neither connects where these are many."""
    both: nx.DiGraph = nx.DiGraph()
    for graph in (truth, found):
        both.add_nodes_from((node, {"role": role}) for node, role in graph.nodes(data="role"))
    both.add_edges_from(edges)
    lone = [node for node in both if not both.degree(node)]
    if len(lone) <= MAX_LONE:
        return both, 0
    both.remove_nodes_from(lone)
    return both, len(lone)


def _lay_out(both: nx.DiGraph, edges: dict[tuple[str, str], str]) -> Layers:
    """Lay out the truth first; an extra edge that would close a cycle runs back as a line."""
    forward: nx.DiGraph = nx.DiGraph()
    forward.add_nodes_from(both.nodes(data=True))
    forward.add_edges_from(edge for edge, kind in edges.items() if kind != EXTRA)
    backward = []
    for source, target in (edge for edge, kind in edges.items() if kind == EXTRA):
        if nx.has_path(forward, target, source):
            backward.append((source, target))
        else:
            forward.add_edge(source, target)
    layers = layer_nodes(forward)
    back = {edge: (layers.places[edge[0]], layers.places[edge[1]]) for edge in backward}
    return Layers(layers.columns, layers.places, layers.routes | back, layers.rows)


def _list_handles(info: ComparisonInfo) -> list[Line2D]:
    words = {RIGHT: "right", MISSED: "missed", EXTRA: "extra"}
    return [
        Line2D([], [], label=f"{words[kind]}: {info.count_edges(kind)} edges", **STYLES[kind])
        for kind in STYLES
    ]


def _say_note(info: ComparisonInfo) -> str:
    counts = {kind: info.count_latents(kind) for kind in (RIGHT, MISSED, EXTRA)}
    words = "Latents: " + ", ".join(f"{count} {kind}" for kind, count in counts.items())
    if info.without_edge:
        words += f". Not drawn: {info.without_edge} inputs and outputs that no edge touches"
    return f"{words}."
