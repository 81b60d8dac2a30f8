from dataclasses import replace

import numpy as np
import pytest

from networks import small_problem
from rinn.cohorts import TrainedNet
from rinn.config import EvolutionSettings, NetSettings, Trial
from rinn.consensus import measure_effects
from rinn.consensus.effects import ROWS
from rinn.nets.activations import ACTIVATIONS
from rinn.nets.redundant import Weights, draw_weights, run_net

FAR = 50.0  # a bias that keeps a relu in its linear range


def make_net(weights, activation="relu", split=0, number=0, settings=None):
    layers, width = weights.bias.shape
    kind = "redundant" if len(weights.inputs) == layers else "plain"
    settings = settings or NetSettings(width=width, layers=layers, activation=activation, kind=kind)
    weights = Weights(*(np.asarray(part, np.float32) for part in weights))
    return TrainedNet(
        Trial(number, number, split, settings), weights, "converged", 1, 1.0, 1.0, 1.0
    )


def linear_net(slopes, **changes):
    """A network in which output o moves by slopes[i, o] with input i."""
    outputs = slopes.shape[1]
    hidden = np.zeros((0, outputs, outputs))
    bias = np.full((1, outputs), FAR)
    return make_net(
        Weights(slopes.T[None], hidden, np.eye(outputs), bias, np.ones(outputs)), **changes
    )


def drawn_net(problem, activation="relu", redundant=True, seed=0, **changes):
    rng = np.random.default_rng(seed)
    shape = len(problem.x), len(problem.y)
    return make_net(
        draw_weights(rng, "he", 3, 4, *shape, redundant=redundant), activation, **changes
    )


def with_inputs(problem, x):
    return replace(problem, x=np.ascontiguousarray(x, np.float32))


def continuous(problem, seed=0):
    return with_inputs(problem, np.random.default_rng(seed).normal(1.0, 2.0, problem.x.shape))


def move_one_by_one(net, problem, i):
    """The effect of input i on each output and sample, by running the whole network twice."""
    x = problem.x[:, problem.seen]
    binary = np.isin(x[i], (0, 1)).all()
    centre, spread = x[i].mean(), x[i].std()
    ends = (0.0, 1.0) if binary else (centre - spread, centre + spread)
    low, high = (
        np.asarray(run_net(net.weights, ACTIVATIONS[net.trial.net.activation], moved))
        for moved in (np.where(np.arange(len(x))[:, None] == i, end, x) for end in ends)
    )
    return (high - low) * (spread if binary else 0.5)  # [output, sample]


@pytest.mark.parametrize("change", [lambda problem: problem, continuous])
def test_effect_is_slope_times_spread_times_root_of_samples(change):
    problem = change(small_problem())
    slopes = np.random.default_rng(1).normal(size=(4, 3))
    effects = measure_effects([linear_net(slopes)], problem)
    spread = problem.x[:, problem.seen].std(axis=1)
    expected = slopes * spread[:, None] * np.sqrt(len(problem.seen))
    np.testing.assert_allclose(effects.all, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(effects.each, expected[None], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(effects.error, 1 / np.sqrt(len(problem.seen)))


def test_error_in_logits_follows_the_share_of_ones():
    problem = small_problem(binary=True)
    y = np.zeros_like(problem.y)
    y[0, ::2], y[1, ::10] = 1, 1  # the third output is constant
    effects = measure_effects([drawn_net(problem)], replace(problem, y=y))
    n = len(problem.seen)
    share = y[:2, problem.seen].mean(axis=1)
    np.testing.assert_allclose(effects.error[:2], 1 / np.sqrt(n * share * (1 - share)), rtol=1e-6)
    assert effects.error[2] == pytest.approx(1.0)


def test_evolved_networks_have_seen_fewer_samples():
    problem = small_problem()
    settings = EvolutionSettings(width=3, layers=1, rows=45)
    slopes = np.ones((4, 3))
    evolved, other = linear_net(slopes, settings=settings), linear_net(slopes)
    np.testing.assert_allclose(measure_effects([evolved], problem).error, 1 / np.sqrt(45))
    both = measure_effects([evolved, other], problem)
    np.testing.assert_allclose(both.error, 1 / np.sqrt(45))
    few = measure_effects([linear_net(slopes, settings=replace(settings, rows=10_000))], problem)
    np.testing.assert_allclose(few.error, 1 / np.sqrt(len(problem.seen)))


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("redundant", [True, False])
def test_effects_are_those_of_the_whole_network(activation, redundant):
    problem = small_problem()
    mixed = problem.x.copy()
    mixed[1:3] = continuous(problem).x[1:3]
    problem = with_inputs(problem, mixed)
    net = drawn_net(problem, activation, redundant)
    effects = measure_effects([net], problem)
    for i in range(4):
        moved = move_one_by_one(net, problem, i)
        size = np.sqrt((moved**2).mean(axis=1)) / effects.error
        np.testing.assert_allclose(np.abs(effects.all[i]), size, rtol=1e-3, atol=1e-3)
        mean = moved.mean(axis=1) / effects.error
        np.testing.assert_allclose(effects.each[0, i], mean, rtol=1e-3, atol=1e-3)
        clear = np.abs(mean) > 0.01
        np.testing.assert_array_equal(np.sign(effects.all[i])[clear], np.sign(mean)[clear])


@pytest.mark.parametrize("inputs", [63, 64, 65, 130])
def test_many_inputs_equal_one_by_one(inputs):
    problem = continuous(small_problem(inputs=inputs))
    nets = [drawn_net(problem, activation, seed=n) for n, activation in enumerate(("tanh", "relu"))]
    effects = measure_effects(nets, problem)
    for i in {0, 1, 62, inputs - 2, inputs - 1}:
        moved = [move_one_by_one(net, problem, i) for net in nets]
        size = np.sqrt((np.mean(moved, axis=0) ** 2).mean(axis=1)) / effects.error
        np.testing.assert_allclose(np.abs(effects.all[i]), size, rtol=1e-3, atol=1e-3)
        mean = np.mean(moved, axis=2) / effects.error
        np.testing.assert_allclose(effects.each[:, i], mean, rtol=1e-3, atol=1e-3)


def test_an_input_without_weights_has_no_effect():
    problem = continuous(small_problem())
    net = drawn_net(problem)
    inputs = net.weights.inputs.copy()
    inputs[:, :, 2] = 0
    effects = measure_effects([replace(net, weights=net.weights._replace(inputs=inputs))], problem)
    assert (effects.all[2] == 0).all()
    assert (effects.each[:, 2] == 0).all()
    assert (effects.all[[0, 1, 3]] != 0).any(axis=1).all()


def test_an_effect_that_another_input_turns_is_not_lost():
    """y = |a - b| of two bits: moving one of them raises or lowers y, as the other has it."""
    problem = small_problem(inputs=2, outputs=1)
    x = np.zeros_like(problem.x)
    half = problem.seen[: len(problem.seen) // 2]
    x[:, half], x[1, half[::2]], x[1, problem.seen[1::2]] = 1, 0, 1
    for i, j in ((0, 1), (1, 0)):
        ones = x[j, problem.seen] == 1
        assert ones.mean() == pytest.approx(0.5)
        assert 0.4 < x[i, problem.seen][ones].mean() < 0.6
    weights = Weights(
        np.array([[[1.0, -1.0], [-1.0, 1.0]]]), np.zeros((0, 2, 2)), np.ones((1, 2)),
        np.zeros((1, 2)), np.zeros(1),
    )  # fmt: skip
    effects = measure_effects([make_net(weights)], with_inputs(problem, x))
    full = 0.5 * np.sqrt(len(problem.seen))
    np.testing.assert_allclose(np.abs(effects.all), full, rtol=1e-5)
    np.testing.assert_allclose(effects.each, 0, atol=1e-3 * full)


def test_networks_that_disagree_cancel():
    problem = continuous(small_problem())
    slopes = np.random.default_rng(1).normal(size=(4, 3))
    nets = [linear_net(slopes, split=0), linear_net(-slopes, split=1, number=1)]
    effects = measure_effects(nets, problem)
    assert np.abs(effects.all).max() < 1e-2 < np.abs(effects.each).min()
    assert effects.splits == (0, 1)


def test_test_samples_are_never_looked_at():
    for binary in (False, True):
        problem = small_problem(samples=2 * ROWS, binary=binary)
        x, y = problem.x.copy(), problem.y.copy()
        x[:, problem.test], y[:, problem.test] = 77.0, 1.0
        net = drawn_net(problem)
        ours = measure_effects([net], problem)
        theirs = measure_effects([net], replace(problem, x=x, y=y))
        np.testing.assert_array_equal(ours.all, theirs.all)
        np.testing.assert_array_equal(ours.each, theirs.each)
        np.testing.assert_array_equal(ours.error, theirs.error)


def test_a_seen_sample_counts():
    problem = continuous(small_problem())
    x = problem.x.copy()
    x[:, problem.seen[0]] += 9.0
    net = drawn_net(problem)
    ours, theirs = (measure_effects([net], p) for p in (problem, with_inputs(problem, x)))
    assert (ours.all != theirs.all).any()


def test_an_input_that_never_varies_has_no_effect():
    problem = small_problem()
    for value in (0.0, 1.0, 3.0):
        x = problem.x.copy()
        x[1] = value
        effects = measure_effects([drawn_net(problem)], with_inputs(problem, x))
        np.testing.assert_allclose(effects.all[1], 0, atol=1e-4)
