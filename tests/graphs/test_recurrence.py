"""Which latents and edges other graphs have, whatever their latents are called."""

import networkx as nx

from rinn.graphs.recurrence import tabulate_edges, tabulate_latents, tabulate_pairs


def make_graph(*edges):
    """Names a to m are inputs, n to z outputs, those in capitals latents."""
    graph = nx.DiGraph()
    for source, target in (edge.split(">") for edge in edges):
        graph.add_edge(source, target, frequency=0.9)
    for node in graph:
        role = "latent" if node.isupper() else "input" if node < "n" else "output"
        graph.nodes[node]["role"] = role
    return graph


OWN = make_graph("a>L", "b>L", "L>u", "L>v", "c>M", "M>x", "M>y", "M>z")
SAME = make_graph("a>H", "b>H", "H>u", "H>v", "c>K", "K>x", "K>y", "K>z", "b>x")
LESS = make_graph("a>H", "b>H", "H>u", "H>v", "b>x", "c>x")


def test_latents_and_edges_by_hand():
    latents = tabulate_latents(OWN, {"one": SAME, "two": LESS})
    edges = tabulate_edges(OWN, {"one": SAME, "two": LESS})
    found = latents[["latent", "found", "missing_in"]].to_numpy().tolist()
    assert sorted(found) == [["L", 2, ""], ["M", 1, "two"]]
    rows = {(row.source, row.target): row for row in edges.itertuples()}
    assert (rows["a", "L"].found, rows["a", "L"].of, rows["a", "L"].in_run) == (2, 2, True)
    assert (rows["c", "M"].found, rows["c", "M"].missing_in) == (1, "two")
    assert (rows["b", "x"].found, rows["b", "x"].in_run) == (2, False)
    assert rows["c", "x"].found == 1
    # The second graph has no y, so that it cannot have the edge.
    assert (rows["M", "y"].found, rows["M", "y"].of) == (1, 1)
    assert edges["in_run"].tolist() == sorted(edges["in_run"], reverse=True)


def test_nearest_latents_may_differ_in_several_outputs():
    own = make_graph("a>L", *(f"L>{name}" for name in "nopqrstu"))
    other = make_graph("a>H", *(f"H>{name}" for name in "nopqrs"))
    assert tabulate_latents(own, {"other": other})["found"].tolist() == [1]
    far = make_graph("a>H", *(f"H>{name}" for name in "nop"))
    assert tabulate_latents(own, {"other": far})["found"].tolist() == [0]


def test_latents_with_the_same_edges_match_whatever_they_reach():
    own = make_graph("a>L", "b>L", "L>u", "L>v", "L>M", *(f"M>{name}" for name in "nopqrst"))
    other = make_graph("a>H", "b>H", "H>u", "H>v", "c>K", *(f"K>{name}" for name in "nopqrst"))
    assert tabulate_latents(own, {"other": other})["found"].tolist() == [1, 1]


def test_pairs_whatever_the_latents():
    pairs = tabulate_pairs(OWN, {"one": SAME, "two": LESS})
    rows = {(row.input, row.output): row for row in pairs.itertuples()}
    assert (rows["c", "x"].found, rows["c", "x"].in_run) == (2, True)
    assert (rows["c", "y"].found, rows["c", "y"].of) == (1, 1)
    assert (rows["b", "x"].found, rows["b", "x"].in_run) == (2, False)


def test_many_graphs_are_counted_but_not_named():
    many = {str(number): LESS for number in range(30)}
    latents, edges = tabulate_latents(OWN, many), tabulate_edges(OWN, many)
    assert latents.set_index("latent")["found"].to_dict() == {"L": 30, "M": 0}
    assert (latents["missing_in"] == "").all()
    assert (edges["missing_in"] == "").all()
