import networkx as nx
import numpy as np
import pytest

from rinn.graphs.basics import by_role, check_graph, reach
from rinn.nets.maps import NetMaps
from rinn.nets.predict import NetView
from rinn.structure.vote import vote_graph

INPUTS = ["x0", "x1", "x2"]
OUTPUTS = [f"y{o}" for o in range(6)]
LEFT, RIGHT, ALL = [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1]


def view(nodes, spread=None):
    """A network without inputs, of one layer whose hidden nodes have these maps."""
    hidden = np.array(nodes, float)[None]  # [layer, hidden, output]
    spread = np.ones(hidden.shape[:2]) if spread is None else np.array([spread], float)
    none = np.zeros((0, hidden.shape[2]))
    return NetView(NetMaps(hidden, none, none[None]), spread)


def vote(views, inputs=INPUTS, outputs=OUTPUTS):
    return vote_graph(views, inputs, outputs).graph


def reached(graph):
    found = reach(graph)
    return {frozenset(found[latent]) for latent in by_role(graph, "latent")}


def test_combination_node_is_above_its_parts():
    found = vote_graph([view([LEFT, RIGHT, ALL])] * 5, INPUTS, OUTPUTS)
    edges = {("L1", "L2"), ("L1", "L3")}
    edges |= {("L2", o) for o in OUTPUTS[:3]} | {("L3", o) for o in OUTPUTS[3:]}
    assert set(found.graph.edges) == edges
    assert set(nx.get_node_attributes(found.graph, "frequency").values()) == {1.0}
    assert found.candidates is found.graph
    check_graph(found.graph)


def test_inputs_stay_without_an_edge():
    graph = vote([view([LEFT, RIGHT])] * 3)
    assert by_role(graph, "input") == INPUTS
    assert by_role(graph, "output") == OUTPUTS
    assert all(graph.degree(name) == 0 for name in INPUTS)


@pytest.mark.parametrize(("networks", "known"), [(1, False), (2, True)])
def test_two_in_five_networks_make_a_latent(networks, known):
    rare = [0, 1, 1, 1, 0, 0]
    views = [view([LEFT, RIGHT, rare])] * networks + [view([LEFT, RIGHT])] * (5 - networks)
    graph = vote(views)
    assert reached(graph) - {frozenset({"y1", "y2", "y3"})} == {
        frozenset(OUTPUTS[:3]),
        frozenset(OUTPUTS[3:]),
    }
    assert (frozenset({"y1", "y2", "y3"}) in reached(graph)) == known
    shares = sorted(nx.get_node_attributes(graph, "frequency").values())
    assert shares == ([0.4, 1.0, 1.0] if known else [1.0, 1.0])


def test_edges_are_as_frequent_as_the_rarer_of_their_latents():
    graph = vote([view([ALL, LEFT])] * 2 + [view([LEFT])] * 2)
    assert graph.edges["L1", "L2"]["frequency"] == 0.5
    assert graph.edges["L1", "y4"]["frequency"] == 0.5
    assert graph.edges["L2", "y0"]["frequency"] == 1.0


def test_small_effects_of_a_node_do_not_count():
    graph = vote([view([[10, -10, 10, 1.9, 0, 0], [0, 0, 0, 1, 2.1, 10]])] * 3)
    assert reached(graph) == {frozenset(OUTPUTS[:3]), frozenset({"y4", "y5"})}


def test_node_that_never_varies_says_nothing():
    assert reached(vote([view([LEFT, RIGHT], spread=[1.0, 0.0])] * 3)) == {frozenset(OUTPUTS[:3])}


def test_faint_nodes_say_nothing():
    assert reached(vote([view([LEFT, RIGHT], spread=[1.0, 0.04])] * 3)) == {frozenset(OUTPUTS[:3])}
    assert len(reached(vote([view([LEFT, RIGHT], spread=[1.0, 0.06])] * 3))) == 2


def test_weights_are_effects_of_the_strongest_node():
    lowers = [-3, -2, -2, 0, 0, 0]
    graph = vote([view([lowers, LEFT], spread=[0.5, 0.5])] * 3)
    assert graph.nodes["L1"]["effects"] == {"y0": 1.5, "y1": 1.0, "y2": 1.0}
    assert [graph.edges["L1", o]["weight"] for o in OUTPUTS[:3]] == [1.5, 1.0, 1.0]


def test_weight_to_a_child_has_the_sign_that_they_share():
    graph = vote([view([[2, 2, 2, -1, -1, -1], RIGHT])] * 3)
    assert graph.edges["L1", "L2"]["weight"] == pytest.approx(-1.0)


def test_effects_of_networks_do_not_cancel_by_their_signs():
    """What a latent raises and lowers adds up to nearly nothing: each network has its own sign."""
    one, other = [2.0, -2.1, 2.0, -2.0, 0, 0], [2.1, -2.0, 2.0, -2.0, 0, 0]
    graph = vote([view([one]), view([other])])
    signs = {name: np.sign(effect) for name, effect in graph.nodes["L1"]["effects"].items()}
    assert signs["y0"] == signs["y2"] == -signs["y1"] == -signs["y3"] != 0
    assert [abs(graph.edges["L1", o]["weight"]) for o in OUTPUTS[:4]] == pytest.approx(
        [2.05, 2.05, 2.0, 2.0]
    )


def test_a_latent_raises_what_it_reaches_in_sum():
    below = [0.3, 0.3, -1.0, 0.19, 0.19, 0.19]  # what it does not reach would turn it round
    graph = vote([view([below])] * 3)
    assert graph.nodes["L1"]["effects"] == pytest.approx({"y0": -0.3, "y1": -0.3, "y2": 1.0})


def test_a_child_adds_at_min_two_outputs():
    first, second = [1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]
    graph = vote([view([ALL, first, second])] * 3)
    assert set(graph["L1"]) == {"L2", "y4", "y5"}


def test_columns_keep_their_names():
    graph = vote([view([LEFT, RIGHT])] * 3, inputs=["L1", "x1", "L_2"])
    assert graph.nodes["L1"]["role"] == "input"
    assert by_role(graph, "latent") == ["L__1", "L__2"]


def test_nothing_found():
    graph = vote([view([[0] * 6])] * 3)
    assert graph.number_of_edges() == 0
    assert graph.number_of_nodes() == 9
