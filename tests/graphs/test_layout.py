from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given, settings

from rinn.graphs import layout
from rinn.graphs.layout import count_crossings, layer_nodes, order_columns, position_nodes
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


@pytest.mark.parametrize("most", [0, 1000])
def test_edges_with_one_end_share_their_bends_in_large_graphs(monkeypatch, most):
    """In small graphs they would meet at points that look like latents."""
    monkeypatch.setattr(layout, "MAX_OWN_BENDS", most)
    layers = layer_nodes(paper_truth())
    edges = [edge for edge in layers.routes if edge[1] == "21" and edge[0].startswith("x")]
    assert len(edges) > 1
    assert len({layers.routes[edge][1] for edge in edges}) == (len(edges) if most else 1)


def test_positions_are_pixels_about_the_middle():
    graph = nx.DiGraph([("x", "h"), ("h", "y0"), ("h", "y1")])
    nx.set_node_attributes(
        graph, {"x": "input", "h": "latent", "y0": "output", "y1": "output"}, "role"
    )
    positions = position_nodes(graph)
    assert (positions["h"], positions["y1"]) == ((220.0, 0.0), (440.0, 25.0))
