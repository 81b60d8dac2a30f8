"""The report and the figures show the same numbers, since both draw the same records."""

import matplotlib
import networkx as nx
import numpy as np
import pandas as pd
from test_report import Reader

from rinn.graphs.layout import layer_nodes
from rinn.nets.selection import average_splits
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.graph import plot_graph
from rinn.report.figures.selection import plot_selection
from rinn.report.html.charts import draw_curves, draw_scatter, make_axis
from rinn.report.html.graph import draw_graph
from rinn.report.html.layout import layout_info
from rinn.report.html.truth import KINDS, _render_edges
from rinn.report.info import (
    comparison_info,
    curves_info,
    find_active,
    graph_info,
    grid_shape,
    selection_info,
    take_nodes,
)
from tiny_graphs import make_graph, paper_truth


def make_trials():
    """Two splits of four settings; the last network is beyond the quantile, yet kept."""
    return pd.DataFrame({
        "trial": range(8), "setting": [0, 0, 1, 1, 2, 2, 3, 3],
        "sum_abs_weights": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 90.0],
        "validation_loss": [0.4, 0.6, 0.3, 0.9, 0.5, 0.7, 0.2, 0.4],
        "distance": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, np.nan],
        "kept": [False] * 6 + [True] * 2,
    })  # fmt: skip


def test_networks_are_at_the_mean_loss_of_their_setting_in_both():
    trials = make_trials()
    info = selection_info(trials)
    means = average_splits(trials["validation_loss"].to_numpy(), trials["setting"].to_numpy())
    circles = [attrs for tag, attrs in Reader(draw_scatter(info)).tags if tag == "circle"]
    assert len(circles) == len(trials)
    axis = make_axis(means, 332.0, 12.0)
    for circle in circles:
        assert float(circle["cy"]) == float(f"{axis.position(means[int(circle['data-t'])]):.4g}")
    points = [line.get_xydata() for line in plot_selection(info).axes[0].lines]
    drawn = {(x, y) for line in points for x, y in line.tolist()}
    assert drawn >= set(zip(trials["sum_abs_weights"], means, strict=True))
    assert sum("kept" in circle["class"] for circle in circles) == info.kept.sum() == 2


def test_both_draw_the_same_curves():
    rows = [(trial, epoch, 2 / epoch, 3 / epoch) for trial in (1, 4) for epoch in range(1, 9)]
    names = ["trial", "epoch", "train_loss", "validation_loss"]
    info = curves_info(pd.DataFrame(rows, columns=names))
    paths = [attrs for tag, attrs in Reader(draw_curves(info)).tags if "data-t" in attrs]
    assert [int(path["data-t"]) for path in paths] == [curve.trial for curve in info.curves]
    figure = plot_curves(info)
    solid = [line for line in figure.axes[0].lines if line.get_linewidth() < 1]
    assert len(solid) == 2 * len(paths)
    assert [path["d"].count("L") + 1 for path in paths] == [8, 8]


def test_both_count_the_same_edges_against_a_truth():
    truth = paper_truth()
    found = nx.relabel_nodes(truth, {"24": "L1", "17": "L2"})
    found.remove_edges_from([("x1", "L2"), ("L1", "y5")])
    found.add_edges_from([("x9", "23"), ("21", "22")])
    info = comparison_info(found, truth)
    page = Reader(_render_edges(info))
    figure = plot_comparison(info)
    texts = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    for kind, label in KINDS.items():
        assert f"{label}: {info.count_edges(kind)}" in page.words
        assert f"{kind}: {info.count_edges(kind)} edges" in texts
        assert page.count("path", kind) == info.count_edges(kind)
        assert page.count("g", kind) == info.count_latents(kind)


def test_widths_are_relative_to_the_same_edge_in_both():
    graph = make_graph([("x0", "h"), ("x1", "h"), ("h", "y0"), ("h", "y1")])
    weights = {("x0", "h"): 8.0, ("x1", "h"): -4.0, ("h", "y0"): 0.5, ("h", "y1"): 0.25}
    nx.set_edge_attributes(graph, weights, "weight")
    info = graph_info(graph)
    assert {(edge.source, edge.target): edge.width for edge in info.edges} == {
        ("x0", "h"): 1.0, ("x1", "h"): 0.5, ("h", "y0"): 1.0, ("h", "y1"): 0.5
    }  # fmt: skip
    paths = [
        attrs
        for tag, attrs in Reader(draw_graph(graph, layout_info(graph))).tags
        if "stroke-width" in attrs
    ]
    drawn = [float(path["stroke-width"]) for path in paths]
    assert drawn == [round(1.2 + 2.8 * edge.width, 2) for edge in info.edges]
    patches = [p for p in plot_graph(info).axes[0].patches if not p.get_fill()]
    widths = sorted(patch.get_linewidth() for patch in patches)
    assert widths[0] == widths[1] < widths[2] == widths[3]


def test_parts_of_graphs_keep_their_order():
    assert list(take_nodes(nx.DiGraph([("b", "a"), ("a", "c")]), {"a", "b"})) == ["b", "a"]


def test_active_nodes_have_an_effect_that_is_not_near_zero():
    assert find_active(np.array([[1.0, 0.0], [0.04, -0.04]]), 1.0).tolist() == [True, False]


def test_grids_are_near_square():
    assert [grid_shape(cells) for cells in (16, 84, 5)] == [(4, 4), (10, 9), (3, 2)]


def test_report_and_figure_have_one_layout():
    graph = paper_truth()
    places, layers = layout_info(graph).positions, layer_nodes(graph)
    assert [places[node][0] for node in graph] == [layers.positions[n][0] for n in graph]
    for column in layers.columns:
        assert sorted(column, key=lambda node: places[node][1]) == list(column)
    figure = plot_graph(graph_info(graph))
    texts = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    assert sorted(layers.columns[0], key=texts.__getitem__) == list(layers.columns[0])


def test_folded_nodes_are_named_with_their_number():
    graph = make_graph([("x0", "h"), ("x1", "h"), ("x2", "h"), ("h", "y0"), ("h", "y1")])
    info = graph_info(graph, folded=True)
    assert info.labels == {"x0": "x0 + 2 more", "y0": "y0 + 1 more"}
    assert "drawn as one" in info.note
    words = [text.get_text() for text in plot_graph(info).axes[0].texts]
    assert "x0 + 2 more" in words
    assert "x1" not in words
