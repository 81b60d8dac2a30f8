import networkx as nx
import pytest
from hypothesis import given

from rinn.errors import InputError
from rinn.graphs.basics import (
    by_role,
    check_graph,
    collapse,
    latents_in_order,
    name_latents,
    reach,
    sources,
)
from tiny_graphs import graphs, make_graph, paper_truth, same


def test_reach_and_sources_on_a_chain():
    chain = make_graph([("x0", "a"), ("a", "b"), ("x1", "b"), ("b", "y0"), ("b", "y1")])
    assert reach(chain)["a"] == reach(chain)["b"] == {"y0", "y1"}
    assert reach(chain)["y0"] == {"y0"}
    assert sources(chain) == {"a": {"x0"}, "b": {"x0", "x1"}}


def test_reach_goes_round_a_cycle():
    graph = make_graph([("a", "b"), ("b", "a"), ("b", "y0"), ("a", "y1"), ("x0", "b")])
    assert reach(graph)["a"] == reach(graph)["b"] == {"y0", "y1"}
    assert sources(graph) == {"a": {"x0"}, "b": {"x0"}}
    assert sorted(collapse(graph).edges) == [("b", "y0"), ("b", "y1"), ("x0", "b")]


def test_latents_come_in_causal_order():
    order = latents_in_order(paper_truth())
    assert order.index("19") < order.index("23")
    assert order.index("16") < order.index("20")


def test_paper_graph_collapses_to_seven_latents_and_45_edges():
    truth = paper_truth()
    assert truth.number_of_edges() == 47
    small = collapse(truth)
    assert by_role(small, "latent") == ["17", "19", "20", "21", "22", "23", "24"]
    assert small.number_of_edges() == 45
    latent_edges = {(a, b) for a, b in small.edges if a[0] not in "xy" and b[0] not in "xy"}
    assert latent_edges == {("17", "21"), ("17", "22"), ("19", "23"), ("19", "24")}
    assert small.nodes["20"]["merged"] == ["16", "20"]
    assert "merged" not in small.nodes["21"]
    assert set(small.predecessors("23")) == {"x3", "x10", "19"}
    assert same(truth, paper_truth())


def test_collapse_drops_a_direct_edge_that_merging_made_redundant():
    beside = [("a", "c"), ("a", "y2"), ("c", "y0"), ("c", "y1")]
    flat = [("b", "y0"), ("b", "y1"), ("b", "y2")]
    small = collapse(make_graph(beside + flat))
    assert sorted(small.edges) == [("b", "c"), ("b", "y2"), ("c", "y0"), ("c", "y1")]


def test_collapse_keeps_a_shortcut_that_one_latent_had():
    edges = [("a", "c"), ("a", "y0"), ("a", "y2"), ("c", "y0"), ("c", "y1")]
    assert sorted(collapse(make_graph(edges)).edges) == edges
    relay = collapse(make_graph([("r", "a"), *edges]))
    assert sorted(relay.edges) == edges


def test_collapse_keeps_the_stronger_of_edges_that_coincide():
    graph = make_graph([("x0", "a"), ("x0", "b"), ("a", "b"), ("b", "y0")])
    graph.edges["x0", "a"]["weight"] = -3.0
    graph.edges["x0", "b"]["weight"] = 1.0
    assert collapse(graph).edges["x0", "b"]["weight"] == -3.0


def test_collapse_leaves_out_latents_without_outputs():
    graph = make_graph([("x0", "a"), ("x0", "b"), ("b", "y0")])
    assert by_role(collapse(graph), "latent") == ["b"]


def test_collapse_twice_keeps_all_merged_names():
    small = collapse(collapse(paper_truth()))
    assert small.nodes["23"]["merged"] == ["18", "23"]


@given(graphs())
def test_collapse_keeps_what_inputs_reach_and_settles(graph):
    small = collapse(graph)
    check_graph(small)
    kept = [reach(small)[latent] for latent in by_role(small, "latent")]
    assert len(set(kept)) == len(kept)
    assert set(kept) == {reach(graph)[h] for h in by_role(graph, "latent")} - {frozenset()}
    assert all(reach(small)[x] == reach(graph)[x] for x in by_role(graph, "input"))
    assert same(collapse(small), small)


@given(graphs())
def test_reach_agrees_with_a_walk(graph):
    outputs = set(by_role(graph, "output"))
    for latent, reached in reach(graph).items():
        assert reached == outputs & (nx.descendants(graph, latent) | {latent})


def test_check_accepts_the_paper_graph():
    check_graph(paper_truth())


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph(), "graph must be an nx.DiGraph, got Graph; make it one"),
        (nx.DiGraph([(1, 2)]), "every node id must be a string, got '1'; make it text"),
        (
            nx.DiGraph([("a", "b")]),
            "node 'a' has no role; it must be one of: input, latent, output",
        ),
        (
            make_graph([("a", "x0")]),
            "input 'x0' must not have parents, but has the edge from 'a'; remove that edge, or "
            "change a role",
        ),
        (
            make_graph([("y0", "a")]),
            "output 'y0' must act on outputs alone, but has the edge to 'a'; remove that edge, or "
            "change a role",
        ),
        (
            make_graph([("a", "b"), ("b", "a")]),
            "graph must have no cycle, but has 'a' -> 'b' -> 'a'; remove one of these edges",
        ),
        (
            make_graph([(f"h{i}", f"h{(i + 1) % 4000}") for i in range(4000)]),
            "graph must have no cycle, but has 'h0' -> 'h1' -> 'h2' -> 'h3' -> 'h4' -> 'h5' -> ... "
            "-> 'h0'; remove one of these edges",
        ),
    ],
)
def test_check_refuses(graph, message):
    with pytest.raises(InputError) as caught:
        check_graph(graph)
    assert str(caught.value) == message


def test_check_suggests_a_role():
    graph = nx.DiGraph()
    graph.add_node("a", role="hidden")
    with pytest.raises(InputError, match=r"node 'a' has the unknown role 'hidden'; known: input"):
        check_graph(graph)


def test_latents_avoid_the_names_of_columns():
    assert name_latents(2, {"x", "L2"}) == ["L_1", "L_2"]
