import networkx as nx

from rinn.simulate.graphs import paper_graph


def reached(graph, node):
    return {n for n in nx.descendants(graph, node) if graph.nodes[n]["role"] == "output"}


def test_counts_and_node_order():
    graph = paper_graph()
    assert graph.number_of_edges() == 47
    assert list(graph)[15:26] == ["x15", *(f"h{i}" for i in range(16, 25)), "y0"]
    roles = [role for _, role in graph.nodes(data="role")]
    assert roles == ["input"] * 16 + ["latent"] * 9 + ["output"] * 16


def test_seven_patterns_of_the_stated_sizes():
    graph = paper_graph()
    patterns = {frozenset(reached(graph, f"h{i}")) for i in range(16, 25)}
    assert sorted(map(len, patterns)) == [4, 4, 5, 6, 6, 9, 12]
    assert reached(graph, "h16") == reached(graph, "h20") == {"y0", "y5", "y10", "y15"}
    assert reached(graph, "h18") == reached(graph, "h23") == {"y2", "y3", "y6", "y7"}
    assert reached(graph, "h17") == reached(graph, "h21") | reached(graph, "h22")
    assert reached(graph, "h19") == reached(graph, "h23") | reached(graph, "h24")


def test_each_input_has_one_child():
    graph = paper_graph()
    assert [graph.out_degree(f"x{i}") for i in range(16)] == [1] * 16
    assert set(graph.predecessors("h19")) == {"x4", "x5", "x11"}


def test_each_call_gives_a_new_graph():
    first = paper_graph()
    first.remove_node("x0")
    assert "x0" in paper_graph()
