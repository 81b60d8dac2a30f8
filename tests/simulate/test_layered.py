import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rinn.errors import InputError
from rinn.graphs.minimal import is_minimal
from rinn.simulate.graphs import make_random_graph


def nodes_of(graph, role):
    return [node for node, kind in graph.nodes(data="role") if kind == role]


def check_graph(graph, inputs, outputs, levels, latents, orphans):
    kinds = [nodes_of(graph, role) for role in ("input", "latent", "output")]
    assert [len(kind) for kind in kinds] == [inputs, latents, outputs]
    assert list(graph) == [node for kind in kinds for node in kind]
    assert nx.is_directed_acyclic_graph(graph)
    assert all(graph.out_degree(node) == 1 for node in kinds[0])
    assert all(graph.in_degree(node) >= 1 for node in kinds[2])
    reach = {frozenset(nx.descendants(graph, node) & set(kinds[2])) for node in kinds[1]}
    assert len(reach) == latents
    assert frozenset() not in reach
    assert nx.dag_longest_path_length(graph.subgraph(kinds[1])) == levels - 1
    own = [any(parent in kinds[0] for parent in graph.predecessors(h)) for h in kinds[1]]
    assert own.count(False) == orphans
    assert is_minimal(graph)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_drawn_graphs_keep_their_promises(data):
    levels = data.draw(st.integers(1, 4))
    latents = data.draw(st.integers(levels, 10))
    inputs = data.draw(st.integers(3 * latents, 5 * latents))
    outputs = data.draw(st.integers(3 * latents, 50))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    graph = make_random_graph(rng, inputs, outputs, levels, latents)
    check_graph(graph, inputs, outputs, levels, latents, orphans=0)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 1000), st.integers(2, 4))
def test_orphans_have_no_input(seed, levels):
    graph = make_random_graph(np.random.default_rng(seed), 30, 30, levels, 10, orphans=0.2)
    check_graph(graph, 30, 30, levels, 10, orphans=2)


@pytest.mark.parametrize("shape", [(2, 3, 1, 1), (3, 2, 1, 1), (5, 6, 3, 3), (9, 30, 2, 6)])
def test_few_inputs_or_outputs(shape):
    check_graph(make_random_graph(np.random.default_rng(0), *shape), *shape, orphans=0)


def test_many_inputs():
    check_graph(make_random_graph(np.random.default_rng(0), 650, 84, 3, 30), 650, 84, 3, 30, 0)


def test_same_seed_same_graph():
    one, two = (make_random_graph(np.random.default_rng(5)) for _ in range(2))
    assert list(one.edges) == list(two.edges)
    assert list(one.edges) != list(make_random_graph(np.random.default_rng(6)).edges)


@pytest.mark.parametrize(
    ("shape", "orphans", "message"),
    [
        ((16, 16, 4, 3), 0, r"latents must be at least levels=4, .* got 3"),
        ((4, 16, 2, 4), 0, r"inputs must be at least 5 for latents=4.* got 4"),
        ((7, 16, 1, 4), 0, r"inputs must be at least 8 for latents=4.* got 7"),
        ((16, 3, 3, 4), 0, r"outputs must be at least 4 .* got 3"),
        ((16, 16, 1, 4), 0.5, r"orphans must leave two latents above them"),
        ((16, 16, 2, 4), 0.9, r"orphans must leave two latents above them"),
        ((16, 16, 2, 4), 1.0, r"orphans must be a number of at least 0 and below 1, got"),
        ((40, 4, 2, 12), 0, r"no graph was found .*inputs=40, outputs=4.*raise inputs or outputs"),
        ((0, 4, 1, 1), 0, r"inputs must be a whole number from 1 to .*, got 0"),
    ],
)
def test_numbers_that_cannot_be_met(shape, orphans, message):
    with pytest.raises(InputError, match=message):
        make_random_graph(np.random.default_rng(0), *shape, orphans=orphans)
