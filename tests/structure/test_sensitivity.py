"""Robustness values: published figures, limits, and which pairs an edge carries."""

import networkx as nx
import numpy as np
import pytest

from rinn.structure.sensitivity import (
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
