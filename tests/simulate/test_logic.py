import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.simulate.graphs import paper_graph
from rinn.simulate.logic import evaluate, sample_logic, sample_or


def star(parents):
    """Inputs that all lead straight to one output."""
    graph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(parents)), role="input")
    graph.add_node("y0", role="output")
    graph.add_edges_from((f"x{i}", "y0") for i in range(parents))
    return graph


def test_operators_by_hand():
    values = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])
    assert evaluate("and", values).tolist() == [False, False, False, True]
    assert evaluate("or", values).tolist() == [False, True, True, True]
    assert evaluate("xor", values).tolist() == [False, True, False, True]
    assert evaluate("and", values[:0]).tolist() == [False] * 4


@pytest.mark.parametrize("operator", ["and", "or", "xor"])
@pytest.mark.parametrize("parents", [1, 3, 14])
def test_without_noise_the_output_is_the_operator(operator, parents):
    sampled = sample_logic(
        np.random.default_rng(0), star(parents), 500, prevalence=0.7, noise=0, operators=operator
    )
    expected = evaluate(operator, sampled.x.T)
    np.testing.assert_array_equal(sampled.y[:, 0], expected)
    assert sampled.graph.nodes["y0"]["operator"] == operator


@pytest.mark.parametrize("parents", [2, 14])
def test_chance_of_a_one_given_the_operator(parents):
    truths, falses = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sampled = sample_or(rng, star(parents), 4000, prevalence=0.5 / parents, noise=0.1)
        held = sampled.x.any(axis=1)
        truths.append(sampled.y[held].mean())
        falses.append(sampled.y[~held].mean())
    assert np.mean(truths) == pytest.approx(0.9, abs=0.02)
    assert np.mean(falses) == pytest.approx(0.1, abs=0.02)
    assert np.std(truths) < 0.06  # Beta(90, 10) has a standard deviation of 0.03


def test_means_of_inputs():
    for sample, share in ((sample_or, 0.08), (sample_logic, 0.155)):
        sampled = sample(np.random.default_rng(0), paper_graph(), 20_000)
        assert sampled.x.mean() == pytest.approx(share, abs=0.004)
        assert set(np.unique(sampled.y)) == {0, 1}


def test_a_latent_without_parents_is_seldom_one():
    graph = nx.DiGraph()
    graph.add_node("h0", role="latent")
    graph.add_node("y0", role="output")
    graph.add_edge("h0", "y0")
    sampled = sample_logic(np.random.default_rng(0), graph, 5000, operators=("and",))
    assert sampled.y.mean() < 0.25


def test_operators_are_drawn_for_each_node():
    truth = sample_logic(np.random.default_rng(0), paper_graph(), 2).graph
    drawn = [operator for _, operator in truth.nodes(data="operator")]
    assert drawn[:16] == [None] * 16
    assert set(drawn[16:]) == {"and", "or", "xor"}
    only = sample_or(np.random.default_rng(0), paper_graph(), 2).graph
    assert {operator for _, operator in only.nodes(data="operator")} == {None, "or"}


def test_arguments_are_checked():
    rng, graph = np.random.default_rng(0), paper_graph()
    with pytest.raises(InputError, match=r"prevalence must be .* got 2"):
        sample_or(rng, graph, 3, prevalence=2)
    with pytest.raises(InputError, match=r"noise must be .* below 0\.5, got 0\.6"):
        sample_or(rng, graph, 3, noise=0.6)
    with pytest.raises(InputError, match=r"operators must be .* got 'nand'"):
        sample_logic(rng, graph, 3, operators=("nand",))
