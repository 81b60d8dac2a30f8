"""Edges from outputs to outputs: drawn where an output takes the place of a latent, else not."""

import networkx as nx
import numpy as np
import pytest

from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.simulate.datasets import make_dataset
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.output_edges import add_output_edges
from rinn.structure.records import GraphSettings, LatentGraph

INPUTS = ("a", "b", "c", "d")
OUTPUTS = ("y0", "y1", "y2", "y3", "z0", "z1", "z2")
FEW = GraphSettings(bootstraps=6)
CAUSED = {("a", "y0"), ("b", "y0"), ("y0", "y1"), ("y0", "y2"), ("y0", "y3")}


def make_effects(seed=0, *, noise=0.0, rows=2000, missing=0.0, more=None):
    """Inputs a, b act on y0 to y3 through y0, or a latent of which y0 is noisy; c, d on z0-z2."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    cause = x[:, 0] - 0.7 * x[:, 1] + rng.normal(size=rows)
    other = x[:, 2] + x[:, 3] + rng.normal(size=rows)
    y = rng.normal(size=(rows, 7))
    y[:, 1:4] += cause[:, None] * [1.0, -0.8, 1.2]
    y[:, 0] = cause + noise * y[:, 0]
    y[:, 4:] += other[:, None] * [1.0, 1.2, -0.8]
    if more:
        y[:, more[1]] += 0.8 * y[:, more[0]]
    y[rng.random(y.shape) < missing] = np.nan
    return estimate_effects(make_problem(Data(x, y, INPUTS, OUTPUTS)))


def learn(effects, settings=FEW, inputs=INPUTS, outputs=OUTPUTS):
    found = learn_graph(effects, inputs, outputs, settings=settings)
    return found, add_output_edges(found, effects.sample, inputs, outputs, settings=settings)


def list_output_edges(graph):
    roles = dict(graph.nodes(data="role"))
    return {edge for edge in graph.edges if roles[edge[0]] == "output"}


@pytest.mark.parametrize("seed", range(3))
def test_an_output_takes_the_place_of_its_latent(seed):
    before, after = learn(make_effects(seed))
    assert len([n for n, role in before.graph.nodes(data="role") if role == "latent"]) == 2
    edges = set(after.graph.edges)
    assert {edge for edge in edges if edge[1] in OUTPUTS[:4]} == CAUSED
    assert {edge for edge in edges - CAUSED if edge[0] == "L1"} == {("L1", z) for z in OUTPUTS[4:]}
    assert "L2" not in after.graph
    for edge in list_output_edges(after.graph):
        assert after.graph.edges[edge] == {"frequency": 1.0, "support": "effects"}
    assert set(after.graph.edges) <= set(after.candidates.edges)
    assert after.graph.edges["a", "y0"]["frequency"] == 1.0


def test_the_graph_that_is_given_stays_as_it_is():
    effects = make_effects()
    before = learn_graph(effects, INPUTS, OUTPUTS, settings=FEW)
    edges = set(before.graph.edges), set(before.candidates.edges)
    add_output_edges(before, effects.sample, INPUTS, OUTPUTS, settings=FEW)
    assert edges == (set(before.graph.edges), set(before.candidates.edges))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0])
def test_a_true_latent_draws_none(seed, noise):
    before, after = learn(make_effects(seed, noise=noise))
    assert after is before


def test_an_output_of_one_latent_acts_on_an_output_of_another():
    before, after = learn(make_effects(noise=1.0, more=(1, 5)))
    (latent,) = before.graph.predecessors("y0")
    assert list_output_edges(after.graph) == {("y1", "z1")}
    assert not after.graph.has_edge(latent, "z1")
    assert set(after.graph.edges) - {("y1", "z1")} == set(before.graph.edges) - {(latent, "z1")}


def test_the_nearest_of_several_causes_is_taken():
    """y1 acts on z1, and y0, which is the cause of y1, passes the tests for z1 as well."""
    _, after = learn(make_effects(more=(1, 5)))
    assert {("y0", "y1"), ("y1", "z1")} <= list_output_edges(after.graph)
    assert ("y0", "z1") not in after.graph.edges


def test_missing_outputs_leave_the_samples_that_have_all_of_them():
    _, after = learn(make_effects(missing=0.05))
    assert list_output_edges(after.graph) == CAUSED - {("a", "y0"), ("b", "y0")}


def test_without_direct_edges_the_latent_stays_above_its_output():
    _, after = learn(make_effects(), GraphSettings(bootstraps=2, direct=False))
    assert len(list_output_edges(after.graph)) == 3
    (latent,) = after.graph.predecessors("y0")
    assert set(after.graph.predecessors(latent)) == {"a", "b"}
    assert list(after.graph.successors(latent)) == ["y0"]


def test_an_input_gives_its_outputs_to_the_first_of_them():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    first = x + rng.normal(size=(2000, 1))
    y = np.hstack([first, first + rng.normal(size=(2000, 2))])
    effects = estimate_effects(make_problem(Data(x, y, ("a",), ("u", "v", "w"))))
    _, after = learn(effects, inputs=("a",), outputs=("u", "v", "w"))
    assert set(after.graph.edges) == {("a", "u"), ("u", "v"), ("u", "w")}


def test_two_outputs_are_not_told_apart_from_a_latent():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    first = x.sum(axis=1, keepdims=True) + rng.normal(size=(2000, 1))
    y = np.hstack([first, first + rng.normal(size=(2000, 1))])
    effects = estimate_effects(make_problem(Data(x, y, ("a", "b", "c"), ("u", "v"))))
    before, after = learn(effects, inputs=("a", "b", "c"), outputs=("u", "v"))
    assert after is before


def test_few_samples_and_a_graph_without_edges_draw_none():
    few = make_effects(rows=40)
    graph = nx.DiGraph([("a", "L1"), *(("L1", name) for name in OUTPUTS)])
    nx.set_node_attributes(graph, {"a": "input", "L1": "latent"}, "role")
    nx.set_node_attributes(graph, dict.fromkeys(OUTPUTS, "output"), "role")
    empty = nx.create_empty_copy(graph)
    for latent in (LatentGraph(graph, graph), LatentGraph(empty, empty)):
        assert add_output_edges(latent, few.sample, INPUTS, OUTPUTS) is latent


@pytest.mark.parametrize("mechanism", ["or", "gaussian"])
def test_random_graphs_without_such_edges_get_none(mechanism):
    for seed in range(500, 503):
        made = make_dataset(
            "random", samples=4000, seed=seed, mechanism=mechanism, latents=5, inputs=14, levels=2
        )
        data = Data(made.x.to_numpy(float), made.y.to_numpy(float), tuple(made.x), tuple(made.y))
        effects = estimate_effects(make_problem(data))
        _, after = learn(effects, GraphSettings(bootstraps=0), data.inputs, data.outputs)
        assert not list_output_edges(after.graph)
