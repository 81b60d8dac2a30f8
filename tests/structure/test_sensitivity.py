"""Robustness values: published figures, limits, and which pairs an edge carries."""

import networkx as nx
import numpy as np
import pytest

from rinn.structure.sensitivity import (
    find_e_value,
    find_e_values,
    find_robustness,
    find_significant_robustness,
    tabulate_sensitivity,
)


def test_published_figures():
    # Cinelli and Hazlett (2020), Table 1: t = 4.184 with 783 degrees of freedom.
    assert find_robustness(np.array(4.184), 783) == pytest.approx(0.139, abs=5e-4)
    assert find_significant_robustness(np.array(4.184), 783) == pytest.approx(0.076, abs=5e-4)


def test_a_confounder_of_that_strength_explains_the_effect_away():
    """With partial R2 of rv on both sides, the bias is as large as the estimate."""
    t, df = 5.0, 200
    rv = float(find_robustness(np.array(t), df))
    bias = np.sqrt(rv * rv / (1 - rv)) * np.sqrt(df)  # in units of the standard error
    assert bias == pytest.approx(t)


def test_published_e_values():
    # VanderWeele and Ding (2017): a risk ratio of 3.9 with the lower limit 1.8.
    assert find_e_value(np.array([3.9, 1.8])) == pytest.approx([7.26, 3.0], abs=5e-3)
    assert find_e_value(np.array([1.0, 0.5])) == pytest.approx([1.0, 2 + np.sqrt(2)])


def test_e_values_by_hand():
    """Risks .2 and .4 of 100 samples each: ratio 2, and the usual error of its logarithm."""
    t = 0.2 / np.sqrt((0.2 * 0.8 + 0.4 * 0.6) / 100)
    ratio, e, bound = find_e_values(np.array(0.2), np.array(t), np.array(0.5), np.array(0.3), 200)
    assert (ratio, e) == (pytest.approx(2), pytest.approx(2 + np.sqrt(2)))
    lower = 2 * np.exp(-1.96 * np.sqrt(0.8 / 20 + 0.6 / 40))  # Katz 1978
    assert bound == pytest.approx(lower + np.sqrt(lower * (lower - 1)), rel=1e-4)
    # One below 1 is the other way round; without an effect, or where a risk is 0, none is needed.
    half = find_e_values(np.array(-0.2), np.array(-3.16), np.array(0.5), np.array(0.3), 200)
    assert [half[0], half[1]] == pytest.approx([0.5, 2 + np.sqrt(2)])
    none = find_e_values(np.array(0.0), np.array(0.0), np.array(0.5), np.array(0.3), 200)
    assert none == pytest.approx([1, 1, 1])
    gone = find_e_values(np.array(0.5), np.array(5.0), np.array(0.5), np.array(0.2), 200)
    assert np.isnan(gone).all()


def test_limits():
    t = np.array([0.0, 1.0, 3.0, 30.0, 1e6])
    rv, significant = find_robustness(t, 50), find_significant_robustness(t, 50)
    assert rv[0] == significant[0] == significant[1] == 0
    assert (np.diff(rv) > 0).all()
    assert (significant <= rv).all()
    assert rv[-1] == pytest.approx(1)
    np.testing.assert_array_equal(rv, find_robustness(-t, 50))
    assert find_significant_robustness(np.array([30.0]), 3)[0] < 1  # f is above 1 / critical


def test_edges_carry_the_pairs_along_their_paths():
    graph = nx.DiGraph([("a", "L1"), ("b", "L2"), ("L1", "L2"), ("L1", "u"), ("L2", "v")])
    roles = {"a": "input", "b": "input", "L1": "latent", "L2": "latent", "c": "input"}
    graph.add_node("c")
    nx.set_node_attributes(graph, "output", "role")
    nx.set_node_attributes(graph, roles, "role")
    t = np.array([[8.0, 4.0], [1.0, 2.0], [9.0, 9.0]])
    effects, edges = tabulate_sensitivity(graph, t, ("a", "b", "c"), ("u", "v"), 100)
    assert list(zip(effects["input"], effects["output"], strict=True)) == [
        ("b", "v"), ("a", "v"), ("a", "u"),
    ]  # fmt: skip
    by_edge = edges.set_index(["source", "target"])
    rv = find_robustness(np.array([8.0, 4.0, 2.0]), 100)
    first = by_edge.loc[("a", "L1")]
    assert (first["pairs"], first["weakest"]) == (2, "a -> v")
    assert first["median_rv"] == pytest.approx(rv[:2].mean())
    assert by_edge.loc[("L1", "L2")]["max_rv"] == pytest.approx(rv[1])
    last = by_edge.loc[("L2", "v")]
    assert (last["pairs"], last["min_rv"]) == (2, pytest.approx(rv[2]))


def test_a_graph_without_edges():
    graph = nx.DiGraph()
    graph.add_node("a", role="input")
    graph.add_node("u", role="output")
    effects, edges = tabulate_sensitivity(graph, np.ones((1, 1)), ("a",), ("u",), 10)
    assert effects.empty
    assert edges.empty
