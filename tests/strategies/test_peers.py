"""The peers on small graphs with a known answer."""

import networkx as nx
import numpy as np
import pytest

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, check_graph, reach
from rinn.graphs.compare import score_graph
from rinn.simulate.datasets import make_dataset
from rinn.strategies import STRATEGIES, find_strategy
from rinn.strategies.peers.drawing import attach_inputs, finish_graph, start_graph
from rinn.strategies.peers.fci import detect_fci
from rinn.strategies.peers.multitask_lasso import group_outputs, select_inputs
from rinn.strategies.peers.nem import attach_outputs, find_classes, find_likelihood, search_relation
from rinn.strategies.peers.rlcd import turn_edge
from rinn.strategies.peers.sparse_pca import count_components

OWN = ("nem", "sparse-pca", "multitask-lasso")
CAUSAL_LEARN = ("fci", "gin", "rlcd")
SETTINGS = RunSettings()


def make_data(effects, samples=2000, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, len(effects)))
    y = x @ np.array(effects, float) + noise * rng.normal(size=(samples, len(effects[0])))
    names = [tuple(f"{letter}{i}" for i in range(table.shape[1]))
             for letter, table in (("x", x), ("y", y))]  # fmt: skip
    return Data(x, y, *names)


def detect(strategy, data):
    detected = STRATEGIES[strategy].detect(data, SETTINGS)
    return detected.graphs[detected.chosen]


# Two modules that have nothing in common: every peer can describe them.
APART = [[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize("strategy", OWN)
def test_two_modules_are_two_latents(strategy):
    graph = detect(strategy, make_data(APART))
    check_graph(graph)
    reached = reach(graph)
    found = sorted(
        (sorted(graph.pred[one]), sorted(reached[one])) for one in by_role(graph, "latent")
    )
    assert found == [
        (["x0", "x1"], ["y0", "y1", "y2"]),
        (["x2", "x3"], ["y3", "y4", "y5"]),
    ]


@pytest.mark.parametrize("strategy", OWN)
def test_noise_gives_an_empty_graph(strategy):
    graph = detect(strategy, make_data(np.zeros((5, 6)), samples=400))
    assert graph.number_of_edges() == 0
    assert not by_role(graph, "latent")


@pytest.mark.parametrize("strategy", OWN)
def test_few_samples_are_refused(strategy):
    with pytest.raises(InputError, match="X must have at least 7 samples for a regression"):
        detect(strategy, make_data(np.ones((5, 3)), samples=6))


def test_nem_finds_what_is_nested():
    effects = [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]]
    graph = detect("nem", make_data(effects))
    top, below = sorted(by_role(graph, "latent"), key=lambda one: -len(reach(graph)[one]))
    assert set(graph.succ[top]) == {below, "y0", "y1"}
    assert set(graph.pred[below]) == {top, "x2", "x3"}
    truth = nx.relabel_nodes(graph, {top: "a", below: "b"})
    assert score_graph(graph, truth).shd == 0


def test_a_relation_is_transitive_and_none_is_more_likely():
    rng = np.random.default_rng(0)
    evidence = rng.choice([-2.0, 2.0], size=(4, 8))
    relation = search_relation(evidence)
    assert ((relation.astype(int) @ relation.astype(int) > 0) == relation).all()
    assert find_likelihood(relation, evidence) >= find_likelihood(np.eye(4, dtype=bool), evidence)
    assert find_likelihood(relation, evidence) >= find_likelihood(np.ones((4, 4), bool), evidence)


def test_a_relation_is_removed_where_that_is_more_likely():
    # Adding 0 -> 1 first is best; 1 -> 0 then makes both one.
    evidence = np.array([[3.0, 3, 3], [3, 3, 3], [-3, -3, 3]])
    relation = search_relation(evidence)
    assert find_classes(relation) == [[0, 1], [2]]
    assert relation[0, 2]
    assert not relation[2, 0]


def test_an_output_without_effects_is_attached_to_nothing():
    evidence = np.array([[3.0, -3.0]])
    assert attach_outputs(np.eye(1, dtype=bool), evidence).tolist() == [0, -1]
    assert attach_outputs(np.zeros((0, 0), bool), np.zeros((0, 2))).tolist() == [-1, -1]


def test_noise_has_no_component():
    rng = np.random.default_rng(0)
    assert count_components(rng.normal(size=(10, 12))) == 0


def test_outputs_are_grouped_whatever_their_sign():
    base = np.random.default_rng(0).normal(size=(300, 2))
    groups = group_outputs(np.column_stack([base[:, 0], -base[:, 0], base[:, 1], 2 * base[:, 1]]))
    assert [group.tolist() for group in groups] == [[0, 1], [2, 3]]
    assert group_outputs(np.zeros((5, 0))) == []
    assert [group.tolist() for group in group_outputs(base)] == [[0, 1]]


def test_a_module_s_inputs_are_chosen_together():
    data = make_data([[1, 1], [0, 0], [0.5, 0.5]])
    assert select_inputs(data.x, data.y - data.y.mean(axis=0)) == [0, 2]


def test_latents_of_one_output_become_direct_edges():
    data = make_data([[1, 0], [0, 1]])
    graph, (name,) = start_graph(data, 1)
    graph.add_edges_from([("x0", name), (name, "y0")])
    before = set(graph.edges)
    drawn = finish_graph(graph, data, np.array([[9.0, 0.0], [0.0, 0.0]]), alpha=0.1)
    assert set(drawn.graphs[0].edges) == {("x0", "y0")}
    assert set(graph.edges) == before
    assert drawn.graphs[0]["x0"]["y0"]["weight"] == pytest.approx(9 / np.sqrt(2000))
    assert drawn.trials[["alpha", "latents", "edges"]].to_numpy().tolist() == [[0.1, 0, 1]]


def test_inputs_join_the_first_latent_that_they_act_on():
    data = make_data([[1, 1, 1, 1], [0, 0, 1, 1]])
    graph, (one, other) = start_graph(data, 2)
    graph.add_edges_from([(one, other), (one, "y0"), (one, "y1"), (other, "y2"), (other, "y3")])
    attach_inputs(graph, data, np.array([[9.0, 9, 9, 9], [0, 0, 9, 9]]), [one, other])
    assert set(graph.pred[one]) == {"x0"}
    assert set(graph.pred[other]) == {one, "x1"}


def test_edges_are_turned_from_x_to_y():
    graph, (one, other) = start_graph(make_data([[1.0]]), 2)
    assert turn_edge(graph, "y0", one) == (one, "y0")
    assert turn_edge(graph, one, "x0") == ("x0", one)
    assert turn_edge(graph, one, other) == (one, other)
    assert turn_edge(graph, "x0", "x0") is None


def test_fci_makes_latents_of_cliques(monkeypatch):
    joined = np.zeros((6, 6), bool)  # x0 x1 | y0 y1 y2 y3
    for i, j in [(0, 2), (0, 3), (1, 5), (2, 3), (3, 4)]:
        joined[i, j] = joined[j, i] = True
    monkeypatch.setattr("rinn.strategies.peers.fci.find_joined", lambda values, inputs: joined)
    graph = detect_fci(make_data(np.ones((2, 4))), SETTINGS).graphs[0]
    cliques = sorted((sorted(graph.pred[one]), sorted(graph.succ[one]))
                     for one in by_role(graph, "latent"))  # fmt: skip
    assert cliques == [([], ["y1", "y2"]), (["x0"], ["y0", "y1"])]
    assert graph.has_edge("x1", "y3")


@pytest.mark.parametrize("strategy", CAUSAL_LEARN)
def test_a_missing_package_is_named(strategy, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = f"strategy must be one that is installed, but {strategy} needs the package causallearn"
    with pytest.raises(InputError, match=words):
        find_strategy(RunSettings(strategy=strategy))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", CAUSAL_LEARN)
def test_causal_learn_gives_a_graph(strategy):
    pytest.importorskip("causallearn", reason="pip install 'rinn[peers]'")
    data = make_dataset("random", samples=400, inputs=5, outputs=8, latents=2, mechanism="gaussian")
    graph = detect(strategy, as_data(data.x, data.y))
    check_graph(graph)
    assert all({"weight", "frequency"} <= set(about) for _, _, about in graph.edges(data=True))
    assert len(by_role(graph, "output")) == 8
