"""What makes random worlds harder: the graph stays valid, and the rows show what is said."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import by_role, check_graph, reach
from rinn.simulate.datasets import make_dataset
from rinn.simulate.graphs import make_random_graph
from rinn.simulate.variations import add_direct, add_twins, share_inputs, spread_effects

VARIATIONS = {
    "direct": 3,
    "twins": 2,
    "two_latents": 0.5,
    "unequal": 10,
    "correlated": 0.5,
    "input_noise": 0.1,
    "factor": 0.3,
    "output_edges": 3,
}
REAL = ("gaussian", "curved", "mixed")


def make(samples=400, **parameters):
    return make_dataset("random", samples=samples, inputs=20, latents=6, **parameters)


def draw_graph(seed=0, **more):
    return make_random_graph(np.random.default_rng(seed), 20, 16, latents=5, **more)


@pytest.mark.parametrize("mechanism", ["or", "logic", *REAL])
@pytest.mark.parametrize("levels", [1, 2])
def test_all_at_once_on_every_mechanism(mechanism, levels):
    world = make(mechanism=mechanism, levels=levels, **VARIATIONS)
    check_graph(world.truth)
    assert world.x.shape == (400, 20)
    assert len(by_role(world.truth, "latent")) == 6
    for role in ("input", "output"):
        names = by_role(world.truth, role)
        assert names == [f"{'x' if role == 'input' else 'y'}{i}" for i in range(len(names))]
    assert world.parameters.items() >= VARIATIONS.items()
    again = make_dataset("random", samples=100, **world.parameters)
    pd.testing.assert_frame_equal(again.x, world.x[:100])
    pd.testing.assert_frame_equal(again.y, world.y[:100])


@pytest.mark.parametrize("levels", [1, 4])
def test_fewest_and_max_levels(levels):
    world = make(levels=levels)
    latents = world.truth.subgraph(by_role(world.truth, "latent"))
    assert nx.dag_longest_path_length(latents) == levels - 1


@pytest.mark.parametrize("name", ["direct", "two_latents", "unequal", "factor", "output_edges"])
def test_nothing_asked_is_the_same_world(name):
    plain, same = make(), make(**{name: 1 if name == "unequal" else 0})
    pd.testing.assert_frame_equal(plain.y, same.y)
    assert nx.utils.graphs_equal(nx.DiGraph(plain.truth.edges), nx.DiGraph(same.truth.edges))


def test_direct_edges_are_new_effects():
    graph = draw_graph()
    found = add_direct(np.random.default_rng(0), graph, 4)
    added = set(found.edges) - set(graph.edges)
    assert len(added) == 4
    reached = reach(graph)
    for source, target in added:
        assert graph.nodes[source]["role"] == "input"
        assert graph.nodes[target]["role"] == "output"
        assert target not in reached[source]
    world = make(5000, mechanism="gaussian", direct=4)
    straight = [(a, b) for a, b in world.truth.edges if a[0] == "x" and b[0] == "y"]
    assert len(straight) == 4
    for source, target in straight:
        assert abs(np.corrcoef(world.x[source], world.y[target])[0, 1]) > 4 / np.sqrt(5000)


def test_twins_share_outputs_and_no_input():
    graph = draw_graph(levels=1)
    found = add_twins(np.random.default_rng(0), graph, 2)
    assert len(found) == len(graph) + 2 * 3
    for twin in ("h5", "h6"):
        (other,) = (
            node
            for node in by_role(graph, "latent")
            if set(found.successors(node)) == set(found.successors(twin))
        )
        assert found.in_degree(twin) >= 2
        assert found.in_degree(other) >= 2
        assert not set(found.predecessors(twin)) & set(found.predecessors(other))
    check_graph(found)


def test_inputs_act_on_two_latents():
    graph = draw_graph()
    found = share_inputs(np.random.default_rng(0), graph, 0.5)
    twice = [node for node in by_role(found, "input") if found.out_degree(node) == 2]
    assert len(twice) == 10
    reached = reach(found)
    for node in twice:
        one, other = (reached[latent] for latent in found.successors(node))
        assert not one <= other
        assert not other <= one


def test_strengths_are_spread_over_the_factor():
    found = spread_effects(np.random.default_rng(0), draw_graph(), 10)
    sizes = np.array([size for _, _, size in found.edges(data="strength")])
    assert 0.1 <= sizes.min() < 0.15
    assert 0.8 < sizes.max() <= 1


def test_unequal_weights_keep_their_mean_and_spread():
    plain, unequal = (make(5, mechanism="gaussian", unequal=size) for size in (1, 10))
    logs = [
        np.log([abs(weight) for *_, weight in world.truth.edges(data="weight")])
        for world in (plain, unequal)
    ]
    assert logs[0].mean() == pytest.approx(logs[1].mean())
    assert np.ptp(logs[1] - logs[0]) == pytest.approx(np.log(10), rel=0.15)


def test_weak_edges_pass_fewer_ones_on():
    world = make(50_000, mechanism="or", levels=1, unequal=10, prevalence=0.3)
    effects, chances = [], []
    for output in by_role(world.truth, "output"):
        parents = list(world.truth.predecessors(output))
        for latent in parents if len(parents) == 1 else []:
            for source in world.truth.predecessors(latent):
                chance = world.truth[source][latent]["strength"]
                chance *= world.truth[latent][output]["strength"]
                on = world.x[source] == 1
                effects.append(world.y[output][on].mean() - world.y[output][~on].mean())
                chances.append(chance)
    assert np.corrcoef(effects, chances)[0, 1] > 0.8


@pytest.mark.parametrize("mechanism", REAL)
def test_numeric_inputs_have_the_correlation(mechanism):
    world = make(20_000, mechanism=mechanism, correlated=0.4)
    found = world.x.corr().to_numpy()[np.triu_indices(20, 1)]
    np.testing.assert_allclose(found, 0.4, atol=0.05)


def test_binary_inputs_correlate_and_keep_their_prevalence():
    world = make(20_000, correlated=0.5, prevalence=0.2)
    found = world.x.corr().to_numpy()[np.triu_indices(20, 1)]
    assert found.min() > 0.2
    assert found.max() < 0.5
    np.testing.assert_allclose(world.x.mean(), 0.2, atol=0.02)


def test_inputs_are_measured_wrongly():
    plain, noisy = (make(20_000, input_noise=noise) for noise in (0, 0.1))
    np.testing.assert_allclose((plain.x != noisy.x).mean(), 0.1, atol=0.01)
    pd.testing.assert_frame_equal(plain.y, noisy.y)
    plain, noisy = (make(20_000, mechanism="gaussian", input_noise=noise) for noise in (0, 0.5))
    np.testing.assert_allclose((noisy.x - plain.x).var() / plain.x.var(), 0.5, atol=0.03)


@pytest.mark.parametrize("mechanism", ["or", "gaussian", "mixed"])
def test_factor_acts_on_all_outputs_beside_the_inputs(mechanism):
    plain, moved = (make(5000, mechanism=mechanism, factor=size) for size in (0, 0.5))
    pd.testing.assert_frame_equal(plain.x, moved.x)
    added = moved.y - plain.y
    assert (added != 0).any(axis=0).all()
    changed = added.abs().corr().to_numpy()[np.triu_indices(added.shape[1], 1)]
    assert changed.min() > 0.2 if mechanism != "mixed" else (changed > 0.2).mean() > 0.3
    if mechanism != "gaussian":
        binary = [name for name in plain.y if set(plain.y[name]) == {0, 1}]
        assert binary
        assert set(np.unique(moved.y[binary])) == {0, 1}


@pytest.mark.parametrize("mechanism", ["or", "gaussian", "mixed", "matrix"])
def test_outputs_act_on_outputs(mechanism):
    plain, moved = (make(5000, mechanism=mechanism, output_edges=size) for size in (0, 5))
    edges = [edge for edge in moved.truth.edges if edge not in plain.truth.edges]
    assert len(edges) == 5
    assert {moved.truth.nodes[name]["role"] for edge in edges for name in edge} == {"output"}
    effects = {effect for _, effect in edges}
    changed = [name for name in plain.y if (plain.y[name] != moved.y[name]).any()]
    assert set(changed) == effects
    check_graph(moved.truth)
    for cause, effect in edges:
        assert abs(np.corrcoef(moved.y[cause], moved.y[effect])[0, 1]) > 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"direct": 10_000}, r"direct must be at most .* got 10000; lower direct"),
        ({"direct": -1}, r"direct must be a whole number of at least 0"),
        ({"twins": 6}, r"latents must be a whole number of at least 7"),
        ({"twins": 3, "levels": 1, "latents": 5, "outputs": 9, "inputs": 30, "orphans": 0.9},
         "orphans must leave two latents"),
        ({"two_latents": 2}, r"two_latents must be a number of at least 0 and at most 1"),
        ({"unequal": 0.5}, r"unequal must be a number of at least 1 .* got 0.5"),
        ({"unequal": "much"}, r"unequal must be a number of at least 1 .* got 'much'"),
        ({"correlated": 1}, r"correlated must be a number of at least 0 and below 1"),
        ({"input_noise": 2}, r"input_noise must be a number of at least 0 and at most 1"),
        ({"factor": 2}, r"factor must be a number of at least 0 and at most 1"),
        ({"output_edges": 121}, r"output_edges must be a whole number from 0 to"),
        ({"mechanism": "matrix", "unequal": 2}, r"unequal must come with another mechanism"),
        ({"mechanism": "matrix", "correlated": 0.2}, r"correlated must come with another mech"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_met(parameters, message):
    with pytest.raises(InputError, match=message):
        make_dataset("random", samples=9, **{"latents": 6} | parameters)


def test_no_room_for_twins():
    with pytest.raises(
        InputError,
        match=r"twins must be at most .* which is 1, got 4; raise inputs, or lower twins",
    ):
        add_twins(np.random.default_rng(0), draw_graph(levels=3), 4)
