"""Of inputs that correlate with each other those that act are found, and idle ones are not."""

import dataclasses

import numpy as np
import pytest

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.records import GraphSettings
from rinn.structure.support import SetTest, make_support_test


def name(letter, count):
    return tuple(f"{letter}{number}" for number in range(count))


def learn(x, y):
    problem = make_problem(Data(x, y, name("x", x.shape[1]), name("y", y.shape[1])))
    effects = estimate_effects(problem)
    effects = dataclasses.replace(effects, test=make_support_test(problem, (), effects.sample))
    settings = GraphSettings(bootstraps=3)
    names = name("x", x.shape[1]), name("y", y.shape[1])
    return learn_graph(effects, *names, settings=settings).graph


def draw_idle(rng, correlation, mixed):
    """Four inputs that act, and four idle ones that go with one of them or with the sum of two."""
    active = rng.normal(size=(400, 4))
    near = (active + np.roll(active, 1, axis=1)) / np.sqrt(2) if mixed else active
    idle = correlation * near + np.sqrt(1 - correlation**2) * rng.normal(size=near.shape)
    y = rng.normal(size=(400, 9))
    y[:, :4] += 0.25 * (active[:, [0]] + active[:, [1]])
    y[:, 4:8] += 0.25 * (active[:, [1]] + active[:, [2]])
    y[:, 8] += 0.4 * active[:, 3]
    return np.concatenate([active, idle], axis=1), y


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("correlation", [0.5, 0.7, 0.9, 0.95])
def test_idle_inputs_beside_causes_get_no_edge(correlation, mixed):
    rng = np.random.default_rng([int(100 * correlation), mixed, 5])
    for _ in range(2):
        graph = learn(*draw_idle(rng, correlation, mixed))
        assert sum(graph.out_degree(node) for node in name("x", 8)[4:]) == 0
        if correlation < 0.9:
            assert graph.number_of_edges() > 0


def draw_linked(rng):
    """Twelve neighbours in a row, each with its own output."""
    x = np.zeros((500, 12))
    x[:, 0] = rng.normal(size=500)
    for column in range(1, 12):
        x[:, column] = 0.9 * x[:, column - 1] + np.sqrt(1 - 0.9**2) * rng.normal(size=500)
    return x, 0.6 * x + rng.normal(size=x.shape)


def test_linked_inputs_are_tested_beside_those_of_the_same_outputs():
    """Beside all neighbours no effect is clear at the level of 3000 inputs, by itself each is."""
    x, y = draw_linked(np.random.default_rng(0))
    level = 0.01 / 3000
    tests = [SetTest(x.T, y.T, chosen=chosen) for chosen in (False, True)]
    assert np.mean([tests[1].find_p(i, [i]) <= level for i in range(12)]) < 0.3
    assert all(tests[1].find_p(i, [i], []) <= level for i in range(12))
    # Where no screening chose them, each must be told from its neighbours at .01 as well.
    for i in range(12):
        beside_all = tests[0].find_p(i, [i])
        assert (tests[0].find_p(i, [i], []) <= level) == (beside_all <= 0.01)


def test_inputs_beside_are_held_fixed():
    rng = np.random.default_rng(1)
    cause = rng.normal(size=400)
    x = np.vstack([cause, cause + 0.5 * rng.normal(size=400), rng.normal(size=400)])
    y = cause + rng.normal(size=(4, 400))
    test = SetTest(x, y, chosen=True)
    assert test.find_p(1, range(4), []) < 1e-6
    assert test.find_p(1, range(4), [0]) > 0.01
    assert test.find_p(0, range(4), [1, 2]) == pytest.approx(test.find_p(0, range(4)))


def test_copies_beside_each_other_share_what_they_do():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    test = SetTest(np.vstack([x, x]), x + rng.normal(size=(3, 300)))
    assert test.find_p(0, range(3), [1]) < 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_linked_loci_that_do_nothing_get_no_edge(seed):
    cross = make_dataset("cross", samples=200, seed=seed, markers=400, outputs=40, local=10)
    order = np.random.default_rng(seed).permutation(200)
    y = cross.y.iloc[order].set_axis(cross.y.index)
    settings = RunSettings(effects="regression")
    found = fit_data(as_data(cross.x, y), settings, find_devices("cpu"), refit=False)
    assert found.latent.graph.number_of_edges() == 0
