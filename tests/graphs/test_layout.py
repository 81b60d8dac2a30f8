from itertools import pairwise

import networkx as nx
from hypothesis import given, settings

from rinn.graphs import layout
from rinn.graphs.layout import (
    count_crossings,
    find_folds,
    layer_nodes,
    order_columns,
    position_nodes,
)
from tiny_graphs import graphs, paper_truth


def test_latents_stand_by_causal_level():
    layers = layer_nodes(paper_truth())
    assert [len(column) for column in layers.columns] == [16, 4, 5, 16]
    assert set(layers.columns[1]) == {"16", "17", "18", "19"}


def test_edges_pass_between_the_nodes_of_a_column():
    layers = layer_nodes(paper_truth())
    for route in layers.routes.values():
        for column, row in route[1:-1]:
            others = [layers.positions[node][1] for node in layers.columns[round(column)]]
            assert min(abs(row - other) for other in others) > 0.4
    assert len(layers.routes["x6", "21"]) == 3


@given(graphs())
@settings(max_examples=40, deadline=None)
def test_layout_holds_for_any_graph(graph):
    layers = layer_nodes(graph)
    assert set(layers.positions) == set(graph)
    assert set(layers.routes) == set(graph.edges)
    for column in layers.columns:
        rows = [layers.positions[node][1] for node in column]
        assert all(later - earlier > 0.9 for earlier, later in pairwise(rows))
        assert all(0 <= row <= layers.rows for row in rows)
    for (source, target), route in layers.routes.items():
        assert route[0] == layers.positions[source]
        assert route[-1] == layers.positions[target]
        columns = [round(point[0]) for point in route]
        assert columns == list(range(columns[0], columns[-1] + 1))


def test_ordering_takes_crossings_away():
    graph = nx.DiGraph((f"a{i}", f"b{7 - i}") for i in range(8))
    columns = [[f"a{i}" for i in range(8)], [f"b{i}" for i in range(8)]]
    assert count_crossings(columns, graph) == 28
    assert count_crossings(order_columns(columns, graph), graph) == 0
    assert columns[1][0] == "b0"  # the argument is as it was


def test_edges_with_one_end_pass_side_by_side_in_large_graphs(monkeypatch):
    """At one point they would look as if they met at a latent."""
    monkeypatch.setattr(layout, "MAX_OWN_BENDS", 0)
    layers = layer_nodes(paper_truth())
    edges = [edge for edge in layers.routes if edge[1] == "21" and edge[0].startswith("x")]
    assert len(edges) > 1
    heights = [layers.routes[edge][1][1] for edge in edges]
    assert len(set(heights)) == len(edges)
    assert max(heights) - min(heights) < layout.MAX_BUNDLE
    starts = [layers.positions[edge[0]][1] for edge in edges]
    assert sorted(heights) == [height for _, height in sorted(zip(starts, heights, strict=True))]


def test_nodes_with_the_same_edges_and_signs_are_folded():
    graph = nx.DiGraph()
    graph.add_nodes_from("abcd", role="input")
    graph.add_nodes_from("LM", role="latent")
    graph.add_nodes_from("uvw", role="output")
    for edge, weight in {"aL": 1.0, "bL": 2.0, "cL": -1.0, "dM": 1.0, "Lu": 1.0, "Lv": 1.0}.items():
        graph.add_edge(*edge, weight=weight)
    assert find_folds(graph) == {"a": ("a", "b"), "u": ("u", "v")}
    assert len(graph) == 9  # the argument is as it was


def test_positions_are_pixels_about_the_middle():
    graph = nx.DiGraph([("x", "h"), ("h", "y0"), ("h", "y1")])
    nx.set_node_attributes(
        graph, {"x": "input", "h": "latent", "y0": "output", "y1": "output"}, "role"
    )
    positions = position_nodes(graph)
    assert (positions["h"], positions["y1"]) == ((220.0, 0.0), (440.0, 25.0))
