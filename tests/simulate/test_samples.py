import networkx as nx
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import lay_out
from rinn.simulate.graphs import paper_graph


def test_parents_come_first_and_columns_keep_the_graph_order():
    layout = lay_out(paper_graph())
    for node, parents in enumerate(layout.parents):
        assert all(parent < node for parent in parents)
    assert [layout.nodes[i] for i in layout.inputs] == [f"x{i}" for i in range(16)]
    assert [layout.nodes[i] for i in layout.outputs] == [f"y{i}" for i in range(16)]


def test_a_node_without_a_role_is_refused():
    graph = nx.DiGraph([("x0", "y0")])
    with pytest.raises(InputError, match=r"node 'x0' has no role"):
        lay_out(graph)


def test_a_cycle_is_refused():
    graph = nx.DiGraph([("a", "b"), ("b", "a")])
    nx.set_node_attributes(graph, "latent", "role")
    with pytest.raises(InputError, match=r"graph must have no cycle"):
        lay_out(graph)
