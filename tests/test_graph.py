import networkx as nx
import numpy as np
import pytest

from rinn.graph import NetView, build_graph
from rinn.graphs import check_graph
from rinn.maps import NetMaps
from rinn.matching import score_graph

OUTPUTS = [f"y{o}" for o in range(6)]


def view(nodes, inputs, spread=None):
    """A network of one layer whose hidden nodes and inputs have these maps."""
    hidden = np.array(nodes, float)[None]  # [layer, hidden, output]
    inputs = np.array(inputs, float)
    spread = np.ones(hidden.shape[:2]) if spread is None else np.array([spread], float)
    return NetView(NetMaps(hidden, inputs, inputs[None]), spread)


LEFT, RIGHT, ALL = [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1]


def build(views, inputs=3):
    names = [f"x{i}" for i in range(inputs)]
    return build_graph(views, np.ones(inputs), names, OUTPUTS)


def edges(graph):
    return {(a, b) for a, b in graph.edges}


def test_combination_node_is_above_its_parts():
    found = build([view([LEFT, RIGHT, ALL], [LEFT, RIGHT, ALL])] * 5).graph
    truth = nx.DiGraph([("x0", "B"), ("x1", "C"), ("x2", "A"), ("A", "B"), ("A", "C")])
    truth.add_edges_from([("B", o) for o in OUTPUTS[:3]] + [("C", o) for o in OUTPUTS[3:]])
    for node in truth:
        role = {"x": "input", "y": "output"}.get(node[0], "latent")
        truth.nodes[node]["role"] = role
    scores = score_graph(found, truth)
    assert scores.shd == 0
    assert found.nodes["L1"]["frequency"] == 1.0
    check_graph(found)


def test_pattern_of_few_networks_is_no_latent():
    rare = [0, 1, 1, 1, 0, 0]
    inputs = [LEFT, RIGHT, LEFT]
    views = [view([LEFT, RIGHT, rare], inputs)] + [view([LEFT, RIGHT], inputs)] * 4
    reached = {frozenset(found) for found in _reach(build(views).graph)}
    assert reached == {frozenset(OUTPUTS[:3]), frozenset(OUTPUTS[3:])}


def _reach(graph):
    latents = [n for n, role in graph.nodes(data="role") if role == "latent"]
    return [[o for o in OUTPUTS if o in nx.descendants(graph, n)] for n in latents]


def test_three_inputs_call_for_a_latent_that_no_node_shows():
    found = build([view([LEFT, RIGHT], [ALL, ALL, ALL, LEFT, RIGHT])] * 4, inputs=5)
    graph = found.graph
    (top,) = [n for n in graph if graph.nodes[n]["role"] == "latent" and n in graph["x0"]]
    assert set(graph.predecessors(top)) == {"x0", "x1", "x2"}
    assert {graph.nodes[child]["role"] for child in graph[top]} == {"latent"}
    assert found.members[top] == ()


def test_two_inputs_to_two_latents_need_none():
    graph = build([view([LEFT, RIGHT], [ALL, ALL, LEFT, RIGHT])] * 4, inputs=4).graph
    assert sum(role == "latent" for _, role in graph.nodes(data="role")) == 2
    assert graph.out_degree("x0") == 2


def test_node_that_never_varies_says_nothing():
    dead = view([LEFT, RIGHT], [LEFT, LEFT, LEFT], spread=[1.0, 0.0])
    graph = build([dead] * 3).graph
    assert _reach(graph) == [OUTPUTS[:3]]


def test_latent_that_no_input_reaches_is_left_out():
    graph = build([view([LEFT, RIGHT], [LEFT, LEFT, [0] * 6])] * 3).graph
    assert _reach(graph) == [OUTPUTS[:3]]
    assert graph.degree("x2") == 0


def test_signs_follow_the_latent():
    lowers = [-1, -1, -1, 0, 0, 0]
    graph = build([view([lowers], [LEFT, lowers, LEFT])] * 3).graph
    assert graph.edges["L1", "y0"]["weight"] == pytest.approx(1.0)
    assert graph.edges["x0", "L1"]["weight"] == pytest.approx(1.0)
    assert graph.edges["x1", "L1"]["weight"] == pytest.approx(-1.0)


def test_columns_keep_their_names():
    views = [view([LEFT, RIGHT], [LEFT, RIGHT, LEFT])] * 3
    found = build_graph(views, np.ones(3), ["L1", "x1", "L_2"], OUTPUTS).graph
    assert found.nodes["L1"]["role"] == "input"
    latents = [n for n, role in found.nodes(data="role") if role == "latent"]
    assert latents == ["L__1", "L__2"]


def test_nothing_found():
    graph = build([view([[0] * 6], [[0] * 6] * 3)] * 3).graph
    assert graph.number_of_edges() == 0
    assert graph.number_of_nodes() == 9
