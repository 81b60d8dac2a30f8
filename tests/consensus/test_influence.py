import networkx as nx
import numpy as np
import pytest
from test_smallest import noisy_effects

from rinn.consensus import Effects, make_prior, read_consensus, read_informed
from rinn.graphs import check_graph

INPUTS, OUTPUTS = [f"x{i}" for i in range(12)], [f"y{o}" for o in range(9)]


@pytest.fixture(scope="module")
def effects():
    strong = noisy_effects(3)
    each = np.stack([strong + shift for shift in (-0.2, 0.2)])
    return Effects(strong, each, np.ones(9), (0, 1))


@pytest.fixture(scope="module")
def plain(effects):
    return read_consensus(effects, INPUTS, OUTPUTS).graph


def edges_of(graph):
    return {(a, b): v["frequency"] for a, b, v in graph.edges(data=True)}


def test_a_prior_that_says_nothing_leaves_the_graph_as_it_is(effects, plain):
    found, did = read_informed(effects, INPUTS, OUTPUTS, make_prior(12, 9))
    assert edges_of(found.graph) == edges_of(plain)
    assert {v["origin"] for *_, v in found.graph.edges(data=True)} == {"data"}
    for *_, values in found.graph.edges(data=True):
        assert values["frequency_without"] == values["frequency"]
    counts = did.to_json()["counts"]
    assert counts.pop("edges") == plain.number_of_edges()
    assert not any(counts.values())
    assert did.sentence.startswith(f"Of {plain.number_of_edges()} edges none owes its place")


def test_what_is_ordered_is_obeyed_and_named(effects, plain):
    joined = {(i, o) for i in INPUTS for o in nx.descendants(plain, i) & set(OUTPUTS)}
    size = np.abs(effects.all)
    clear = max(joined, key=lambda p: size[INPUTS.index(p[0]), OUTPUTS.index(p[1])])
    apart = [(i, o) for i in INPUTS for o in OUTPUTS if (i, o) not in joined]
    faint = min(apart, key=lambda p: size[INPUTS.index(p[0]), OUTPUTS.index(p[1])])
    prior = make_prior(12, 9)
    prior.order[INPUTS.index(clear[0]), OUTPUTS.index(clear[1])] = -1
    prior.order[INPUTS.index(faint[0]), OUTPUTS.index(faint[1])] = 1
    found, did = read_informed(effects, INPUTS, OUTPUTS, prior)
    check_graph(found.graph)
    assert clear[1] not in nx.descendants(found.graph, clear[0])
    assert faint[1] in nx.descendants(found.graph, faint[0])
    assert clear in did.lost
    assert faint in did.gained
    said = {(c.input, c.output): c for c in did.contradictions}
    assert said.keys() == {clear, faint}
    assert said[clear].says == "mustnot"
    assert said[clear].evidence > 3
    assert said[clear].without == 1.0
    assert not said[clear].drawn
    assert said[faint].says == "must"
    assert said[faint].evidence < -3
    assert said[faint].drawn
    assert "2 firm statements go against the data" in did.sentence
    assert did.to_json()["counts"]["contradictions"] == 2


def test_an_order_that_no_search_follows_is_an_edge_of_its_own():
    quiet = Effects(np.full((2, 5), 0.1), np.full((1, 2, 5), 0.1), np.ones(5), (0,))
    prior = make_prior(2, 5)
    prior.order[1, 3] = 1
    found, did = read_informed(quiet, ["a", "b"], list("vwxyz"), prior)
    assert list(found.graph.edges) == [("b", "y")]
    about = found.graph.edges["b", "y"]
    assert about["frequency"] < 0.6
    assert about["frequency_without"] == 0
    assert about["origin"] == "stated"
    assert found.doubtful.has_edge("b", "y")
    assert did.stated == (("b", "y"),)
    assert "one is drawn only because the prior says so" in did.sentence
    assert (did.contradictions[0].says, did.contradictions[0].drawn) == ("must", True)
    assert "One firm statement goes against the data: must of 'b' and 'y'" in did.sentence
    assert "it joined 1 pair of input and output and parted none" in did.sentence


def test_edges_that_the_prior_alone_shows_say_so():
    rng = np.random.default_rng(0)
    faint = rng.standard_normal((4, 6)) * 0.3
    faint[:2, :3], faint[2:, 3:] = 9.0, 1.6
    effects = Effects(faint, faint[None], np.ones(6), (0,))
    names = ["a", "b", "c", "d"], list("uvwxyz")
    prior = make_prior(4, 6)
    prior.odds[2:, 3:] = 5.0
    found, did = read_informed(effects, *names, prior)
    origin = {edge: found.graph.edges[edge]["origin"] for edge in found.graph.edges}
    own = {edge for edge in origin if set(edge) & {"c", "d", "x", "y", "z"}}
    assert {origin[edge] for edge in own} == {"prior"}
    assert len(own) == 5
    assert {origin[edge] for edge in origin if edge not in own} == {"data"}
    assert set(did.owed) == own
    assert len(did.gained) == 6
    assert found.graph.edges["c", next(found.graph.successors("c"))]["frequency_without"] < 0.6
    assert not did.contradictions


def test_an_input_without_any_level_left_is_named():
    strong = np.zeros((3, 5))
    strong[:, :4] = 9.0
    effects = Effects(strong, strong[None], np.ones(5), (0,))
    prior = make_prior(3, 5)
    prior.lowest[0] = 2
    found, did = read_informed(effects, ["a", "b", "c"], list("vwxyz"), prior)
    assert not found.graph.out_degree("a")
    assert did.silenced == ("a",)
