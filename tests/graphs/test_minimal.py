import networkx as nx
import pytest

from rinn.graphs.minimal import count_tries, find_smaller, is_minimal
from rinn.simulate.graphs import paper_graph

ROLES = {"x": "input", "h": "latent", "y": "output"}


def build(**children):
    """A graph from children written as words, each node's role from its first letter."""
    graph = nx.DiGraph()
    for parent, words in children.items():
        graph.add_edges_from((parent, child) for child in words.split())
    for node in graph:
        graph.nodes[node]["role"] = ROLES[node[0]]
    return graph


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [(2, 3, True), (3, 2, True), (3, 3, True), (2, 2, False), (1, 5, False), (5, 1, False)],
)
def test_one_latent_is_worth_its_edges(inputs, outputs, expected):
    targets = " ".join(f"y{i}" for i in range(outputs))
    graph = build(**{f"x{i}": "h0" for i in range(inputs)}, h0=targets)
    assert is_minimal(graph) is expected


def test_a_tie_without_the_latent():
    graph = build(x0="h0", x1="h0", h0="y0 y1")
    assert find_smaller(graph) == "h0 can be removed and its parents connected without it"


def test_two_latents_in_a_chain():
    graph = build(x0="h0", x1="h0", x2="h1", h0="h1 y0 y1", h1="y2 y3 y4")
    assert find_smaller(graph) is None


def test_a_latent_that_only_relays():
    graph = build(x0="h0", x1="h0", x2="h1", h0="h1", h1="y2 y3 y4")
    assert find_smaller(graph) == "h0 and h1 reach the same outputs"


def test_latents_reached_from_the_same_inputs():
    graph = build(x0="h0 h1", x1="h0 h1", h0="y0 y1 y2", h1="y3 y4 y5")
    assert find_smaller(graph) == "h0 and h1 are reached from the same inputs"


def test_an_edge_past_a_latent():
    graph = build(x0="h0", x1="h0", x2="h1", h0="h1 y0 y1 y2", h1="y2 y3 y4")
    assert find_smaller(graph) == "h0 has other children that do the same with as few edges"


def test_edges_that_an_existing_latent_would_save():
    graph = build(x0="h0", x1="h0", x2="h1", x3="h1", h0="y0 y1 y2 y3 y4", h1="y2 y3 y4")
    assert find_smaller(graph) == "h0 and h1 share the children y2 y3 y4"


def test_a_tie_between_a_latent_and_an_output():
    # h0 could reach y1 through h2 as cheaply: the rest of h2 is reached through h1.
    graph = build(
        x0="h0", x1="h0", x2="h1", x3="h1", x4="h2", x5="h2", x6="h2",
        h0="h1 y1 y5 y6", h1="y0 y2 y3 y4", h2="y0 y1",
    )  # fmt: skip
    assert find_smaller(graph) == "h0 has other children that do the same with as few edges"


def test_latents_that_join_nothing():
    graph = build(x0="h0", x1="h0", h0="y0 y1 y2", h1="y0")
    assert find_smaller(graph) == "h1 is reached from no input"
    assert find_smaller(build(x0="h0")) == "h0 reaches no output"


def test_an_orphan_needs_two_latent_parents():
    above = {f"x{i}": f"h{i // 3}" for i in range(6)}
    both = build(**above, h0="h2 y0 y1", h1="h2 y2 y3", h2="y4 y5 y6")
    assert find_smaller(both) is None
    one = build(**above, h0="h2 y0 y1", h1="y0 y2 y3", h2="y4 y5 y6")
    assert find_smaller(one) == "h0 and h2 are reached from the same inputs"


def test_other_parents_through_an_orphan():
    # y7 hangs on h0 and h3, and h3 hangs on h1: h2 joins h0 and h1, so it could replace h0.
    graph = build(
        x0="h0", x1="h0", x2="h1", x3="h1", x4="h3", x5="h3",
        h0="h2 y0 y1 y7", h1="h2 h3 y2 y3", h2="y4 y5 y6", h3="y7 y8 y9",
    )  # fmt: skip
    assert find_smaller(graph) == "y7 has other parents that do the same with as few edges"


def test_ground_truth_is_not_the_smallest_with_its_reach():
    graph = paper_graph()
    for keep, drop in (("h20", "h16"), ("h23", "h18")):
        graph = nx.contracted_nodes(graph, keep, drop, self_loops=False)
    assert graph.number_of_edges() == 45
    assert find_smaller(graph) == "h20 and h24 share the children y5 y10"
    smaller = graph.copy()  # the right bracket and the little square share three outputs
    smaller.add_node("h25", role="latent")
    for child in ("y2", "y3", "y7"):
        smaller.remove_edges_from([("h22", child), ("h23", child)])
        smaller.add_edge("h25", child)
    smaller.add_edges_from([("h22", "h25"), ("h23", "h25")])
    assert smaller.number_of_edges() == 44
    for node in (f"x{i}" for i in range(16)):
        kept = nx.descendants(smaller, node) - {"h25"}
        assert kept == nx.descendants(graph, node)


def test_many_latents_below_one_are_searched_step_by_step():
    inputs = {f"x{i}": f"h{i // 2}" for i in range(24)}
    leaves = {f"h{i}": f"y{3 * i} y{3 * i + 1} y{3 * i + 2}" for i in range(1, 12)}
    below = " ".join(leaves)
    assert find_smaller(build(**inputs, h0=f"{below} y0", **leaves)) is None
    last = below.removesuffix(" h11")
    assert "h0" in find_smaller(build(**inputs, h0=f"{last} y0 y33 y34 y35", **leaves))


def test_connections_are_not_tried_where_that_takes_too_many_tries():
    graph = build(x0="h0 h1", x1="h0", x2="h1", h0="y0 y1 y2", h1="y3")
    assert find_smaller(graph) is not None
    assert find_smaller(graph, count_tries(graph)) == find_smaller(graph)
    assert find_smaller(graph, count_tries(graph) - 1) is None


def test_of_many_shared_children_a_few_are_named():
    children = " ".join(f"y{i}" for i in range(9))
    graph = build(x0="h0", x1="h1", h0=f"{children} y10", h1=f"{children} y11")
    expected = "h0 and h1 share the children y0 y1 y2 y3 y4 y5 and 3 more"
    assert find_smaller(graph) == expected
