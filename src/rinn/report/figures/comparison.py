"""A found graph against a true one: right, missed and extra edges in three styles."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.graphs.layout import layer_nodes
from rinn.report.figures import canvas
from rinn.report.figures.graph import PAGE, draw_edge, draw_nodes, make_frame
from rinn.report.info import EXTRA, MISSED, RIGHT, ComparisonInfo, graph_info

STYLES: dict[str, dict[str, Any]] = {
    RIGHT: {"color": canvas.BLUE, "linestyle": "-", "linewidth": 1.3},
    MISSED: {"color": canvas.VERMILION, "linestyle": (0, (4.0, 2.0)), "linewidth": 1.5},
    EXTRA: {"color": canvas.PURPLE, "linestyle": (0, (0.8, 1.2)), "linewidth": 2.2},
}
BOXES: dict[str, dict[str, Any]] = {
    RIGHT: {},
    MISSED: {"edgecolor": canvas.VERMILION, "linestyle": "--"},
    EXTRA: {"edgecolor": canvas.PURPLE, "linestyle": ":", "linewidth": 1.4},
}


def plot_comparison(info: ComparisonInfo, *, title: str = "", page: float = PAGE) -> Figure:
    """Draw a found graph over the true one: right, missed and extra edges in three styles."""
    drawn = graph_info(info.judged)
    layers = layer_nodes(drawn.graph, backward=info.backward)
    counts = ", ".join(f"{info.count_latents(kind)} {kind}" for kind in STYLES)
    note = f"Latents: {counts}. {drawn.note}".strip()
    handles = [
        Line2D([], [], label=f"{kind}: {info.count_edges(kind)} edges", **style)
        for kind, style in STYLES.items()
    ]
    frame = make_frame(drawn.graph, layers, title, handles, note, info.labels, page)
    for kind, style in STYLES.items():
        for source, target, about in drawn.graph.edges(data=True):
            if about["kind"] == kind:
                draw_edge(frame, layers.routes[source, target], **style)
    nodes = drawn.graph.nodes(data=True)
    styles = {node: BOXES[about["kind"]] for node, about in nodes if "kind" in about}
    draw_nodes(frame, drawn.graph, layers, names=info.labels, styles=styles)
    return frame.figure
