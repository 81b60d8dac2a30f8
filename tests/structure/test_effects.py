from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from threadpoolctl import threadpool_limits

from networks import small_problem
from rinn.config import NetSettings, Trial
from rinn.data.covariates import CovariateTable, code_covariates
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import predict_net
from rinn.nets.redundant import ACTIVATIONS, Weights, draw_weights
from rinn.structure.effects import LEVELS, ROWS, estimate_effects, explain_regression
from rinn.structure.effects import _move as move

FAR = 50.0  # a bias that keeps a relu in its linear range


def make_net(weights, activation="relu", split=0):
    layers, width = weights.bias.shape
    kind = "redundant" if len(weights.inputs) == layers else "plain"
    settings = NetSettings(width=width, layers=layers, activation=activation, kind=kind)
    weights = Weights(*(np.asarray(part, np.float32) for part in weights))
    return TrainedNet(Trial(split, split, split, settings), weights, "converged", 1, 1.0, 1.0, 1.0)


def linear_net(slopes, **changes):
    """A network in which output o moves by slopes[i, o] with input i."""
    outputs = slopes.shape[1]
    hidden = np.zeros((0, outputs, outputs))
    bias, back = np.full((1, outputs), FAR), np.full(outputs, -FAR)
    return make_net(Weights(slopes.T[None], hidden, np.eye(outputs), bias, back), **changes)


def drawn_net(problem, activation="relu", redundant=True, seed=0, **changes):
    rng = np.random.default_rng(seed)
    shape = len(problem.x), len(problem.y)
    return make_net(
        draw_weights(rng, "he", 3, 4, *shape, redundant=redundant), activation, **changes
    )


def both_splits(problem, **changes):
    return [drawn_net(problem, split=split, seed=split, **changes) for split in (0, 1)]


def make_data(x, y):
    names = [tuple(f"{c}{i}" for i in range(t.shape[1])) for c, t in (("x", x), ("y", y))]
    return Data(x, y, *names)


def continuous(problem, seed=0):
    x = np.random.default_rng(seed).normal(1.0, 2.0, problem.x.shape)
    return replace(problem, x=x.astype(np.float32))


def regress(problem, y):
    """Slopes of least squares on the samples that are seen, by the problem's units."""
    rows = np.sort(problem.seen)
    x = problem.x[:, rows].T.astype(float)
    design = np.column_stack([np.ones(len(x)), x])
    return np.linalg.lstsq(design, y, rcond=None)[0][1:]


def find_slopes(effects):
    """Slopes of the outcomes that effects were read from."""
    return np.linalg.lstsq(effects.sample.x, effects.sample.y, rcond=None)[0]


def test_without_networks_effects_are_a_regression_s():
    problem = small_problem()
    rows = np.sort(problem.seen)
    for source in ("auto", "network", "regression", "corrected"):
        effects = estimate_effects(problem, source=source)
        assert effects.source == "regression"
        expected = regress(problem, problem.y[:, rows].T.astype(float))
        np.testing.assert_allclose(find_slopes(effects), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("make", [lambda problem: problem, continuous])
def test_the_slope_of_a_linear_network_is_its_weight(make):
    problem = make(small_problem())
    slopes = np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_allclose(move([linear_net(slopes)], 0, problem), slopes, atol=1e-4)
    effects = estimate_effects(problem, [linear_net(slopes)], "network")
    assert effects.source == "network"
    np.testing.assert_allclose(find_slopes(effects), slopes, atol=1e-4)


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("redundant", [True, False])
def test_slopes_are_those_of_the_whole_network(activation, redundant):
    problem = small_problem()
    problem.x[1:3] = continuous(problem).x[1:3]
    net = drawn_net(problem, activation, redundant)
    found = move([net], 0, problem)
    seen = np.sort(problem.seen)
    assert len(seen) <= ROWS
    for i in range(4):
        levels = np.array([0.0, 1.0])
        if not np.isin(problem.x[i, seen], (0, 1)).all():
            levels = np.quantile(problem.x[i, seen], np.linspace(0.1, 0.9, LEVELS))
        means = []
        for level in levels:
            x = problem.x[:, seen].copy()
            x[i] = level
            means.append(predict_net(net, x).astype(float).mean(axis=1))
        np.testing.assert_allclose(found[i], np.polyfit(levels, means, 1)[0], atol=1e-4)


def test_corrected_effects_are_the_network_s_and_a_regression_of_its_residuals():
    problem = continuous(small_problem())
    nets = [drawn_net(problem)]
    rows = np.sort(problem.seen)
    left = problem.y[:, rows].T - predict_net(nets[0], problem.x[:, rows]).astype(float).T
    expected = move(nets, 0, problem) + regress(problem, left)
    effects = estimate_effects(problem, nets, "corrected")
    assert effects.source == "corrected"
    assert len(effects.sample.owners) == 4
    np.testing.assert_allclose(find_slopes(effects), expected, rtol=1e-5, atol=1e-5)


def test_networks_are_asked_of_samples_they_were_not_trained_on():
    problem = continuous(small_problem())
    nets = both_splits(problem)
    rows = np.sort(problem.seen)
    each = [predict_net(net, problem.x[:, rows]).astype(float).T for net in nets]
    mean = (each[0] + each[1]) / 2
    for split, own in zip(problem.splits, each, strict=True):
        held = np.isin(rows, split.validation)
        mean[held] = own[held]
    slopes = (move(nets[:1], 0, problem) + move(nets[1:], 1, problem)) / 2
    expected = slopes + regress(problem, problem.y[:, rows].T - mean)
    effects = estimate_effects(problem, nets, "corrected")
    np.testing.assert_allclose(find_slopes(effects), expected, rtol=1e-5, atol=1e-5)


def test_what_a_network_shrinks_is_put_back():
    """A network of half the true slopes: corrected effects are those of a regression."""
    problem = continuous(small_problem())
    rows = np.sort(problem.seen)
    plain = regress(problem, problem.y[:, rows].T.astype(float))
    effects = estimate_effects(problem, [linear_net(plain / 2)], "corrected")
    np.testing.assert_allclose(find_slopes(effects), plain, atol=1e-4)
    network = estimate_effects(problem, [linear_net(plain / 2)], "network")
    np.testing.assert_allclose(find_slopes(network), plain / 2, atol=1e-4)


def make_xor(seed=0, samples=800):
    rng = np.random.default_rng(seed)
    x = (rng.random((samples, 3)) < 0.5).astype(float)
    y = (x[:, :1] != x[:, 1:2]) + 0.3 * rng.normal(size=(samples, 4))
    problem = make_problem(make_data(x, y))
    spread = problem.y_scale.std
    output = np.repeat(1 / spread[:, None], 2, axis=1)
    bias = -(problem.y_scale.mean / spread)
    hidden = np.array([[[1.0, -1, 0], [-1, 1, 0]]])
    one = make_net(Weights(hidden, np.zeros((0, 2, 2)), output, np.zeros((1, 2)), bias))
    other = replace(one, trial=replace(one.trial, split=1))
    return problem, [one, other]


def test_auto_takes_networks_where_they_predict_better():
    problem, nets = make_xor()
    effects = estimate_effects(problem, nets)
    assert effects.source == "corrected"
    assert effects.sample.owners[3:] == ((0, 1),)
    assert np.abs(effects.z[:2]).min() > 8
    plain = estimate_effects(problem)
    assert plain.sample.owners[3:] == ((0, 1),)
    assert np.abs(plain.z[:2]).min() > 8


def test_an_idle_input_beside_a_product_has_effects_of_nothing():
    found = []
    for seed in range(15):
        problem, nets = make_xor(seed)
        effects = estimate_effects(problem, nets, "corrected")
        found.append(effects.z[2])
    assert np.std(found) == pytest.approx(1, abs=0.3)


def test_auto_takes_a_regression_on_linear_data():
    """Networks that found just what a regression finds, or less, are no better."""
    problem = small_problem(samples=500)
    for share in (1.0, 0.8, 0.0):
        nets = []
        for number, split in enumerate(problem.splits):
            x, y = (table[:, split.train].T.astype(float) for table in (problem.x, problem.y))
            design = np.column_stack([np.ones(len(x)), x])
            slopes = np.linalg.lstsq(design, y, rcond=None)[0][1:]
            nets.append(linear_net(share * slopes, split=number))
        assert estimate_effects(problem, nets).source == "regression"


def test_with_few_samples_for_each_input_networks_are_not_asked():
    problem = small_problem(samples=60, inputs=40)
    effects = estimate_effects(problem, both_splits(problem), "network")
    assert effects.source == "regression"
    np.testing.assert_array_equal(effects.moments.inputs, np.eye(40))


@pytest.mark.parametrize("source", ["auto", "network", "regression", "corrected"])
def test_test_samples_are_never_looked_at(source):
    for binary in (False, True):
        problem = small_problem(samples=2 * ROWS, binary=binary)
        x, y = problem.x.copy(), problem.y.copy()
        x[:, problem.test], y[:, problem.test] = 77.0, 1.0
        nets = both_splits(problem)
        ours = estimate_effects(problem, nets, source)
        theirs = estimate_effects(replace(problem, x=x, y=y), nets, source)
        assert ours.source == theirs.source
        np.testing.assert_array_equal(ours.z, theirs.z)
        np.testing.assert_array_equal(ours.moments.residual, theirs.moments.residual)


@pytest.mark.parametrize("source", ["network", "regression", "corrected"])
def test_a_seen_sample_counts(source):
    problem = continuous(small_problem())
    x = problem.x.copy()
    x[:, problem.seen[0]] += 9.0
    nets = both_splits(problem)
    ours, theirs = (estimate_effects(p, nets, source).z for p in (problem, replace(problem, x=x)))
    assert (ours != theirs).any()


@pytest.mark.parametrize("source", ["network", "regression", "corrected"])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.0])
def test_an_input_that_never_varies_has_no_effect(source, value):
    problem = small_problem()
    problem.x[1] = value
    effects = estimate_effects(problem, both_splits(problem), source)
    np.testing.assert_allclose(effects.z[1], 0, atol=1e-4)
    assert np.isfinite(effects.z).all()


def test_an_input_without_weights_has_no_effect_on_a_network():
    problem = continuous(small_problem())
    net = drawn_net(problem)
    inputs = net.weights.inputs.copy()
    inputs[:, :, 2] = 0
    net = replace(net, weights=net.weights._replace(inputs=inputs))
    slopes = find_slopes(estimate_effects(problem, [net], "network"))
    np.testing.assert_allclose(slopes[2], 0, atol=1e-6)
    assert (np.abs(slopes[[0, 1, 3]]) > 1e-3).any(axis=1).all()


def test_networks_that_disagree_cancel():
    problem = continuous(small_problem())
    slopes = np.random.default_rng(1).normal(size=(4, 3))
    nets = [linear_net(slopes, split=0), linear_net(-slopes, split=1)]
    found = find_slopes(estimate_effects(problem, nets, "network"))
    np.testing.assert_allclose(found, 0, atol=1e-4)


def test_a_square_is_an_effect_of_its_input():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1000, 3))
    y = x[:, :1] ** 2 + rng.normal(size=(1000, 3))
    effects = estimate_effects(make_problem(make_data(x, y)))
    assert effects.z.shape == (3, 3)
    assert effects.moments.effects.shape == (4, 3)
    assert np.abs(effects.z[0]).min() > 8
    assert np.abs(effects.z[1:]).max() < 4


def confounded(seed, *, binary, samples=1500, inputs=20, outputs=10):
    """Inputs and outputs that depend on five tissues and on nothing else."""
    rng = np.random.default_rng(seed)
    tissue = rng.integers(5, size=samples)
    x = (rng.random((samples, inputs)) < rng.beta(0.5, 0.8, (5, inputs))[tissue]).astype(float)
    levels = rng.normal(size=(5, outputs)) * 2
    if binary:
        y = (rng.random((samples, outputs)) < expit(levels[tissue])).astype(float)
    else:
        noise = rng.uniform(0.2, 2, (5, outputs))[tissue]
        y = levels[tissue] + noise * rng.normal(size=(samples, outputs))
    words = np.array([f"t{k}" for k in tissue], dtype=object)
    coded, _ = code_covariates(CovariateTable({"tissue": words}))
    return replace(make_data(x, y), covariates=coded)


@pytest.mark.parametrize("binary", [False, True])
def test_effects_of_nothing_are_standard_normal_beside_covariates(binary):
    found = []
    for seed in range(6):
        data = confounded(seed, binary=binary)
        found.append(estimate_effects(make_problem(data)).z.ravel())
    found = np.concatenate(found)
    assert found.std() == pytest.approx(1, abs=0.08)
    assert (np.abs(found) > 3).mean() < 0.01
    bare = make_problem(replace(data, covariates=None))
    assert estimate_effects(bare).z.std() > 1.5


def test_an_input_that_is_the_tissue_has_no_effect_of_its_own():
    data = confounded(7, binary=True)
    tissue = data.covariates.numbers[:, 0]
    same = replace(data, x=np.column_stack([tissue, data.x[:, 1:]]))
    effects = estimate_effects(make_problem(same))
    assert np.isfinite(effects.z).all()
    assert np.abs(effects.z[0]).max() < 1e-3


@pytest.mark.parametrize("source", ["regression", "corrected"])
def test_covariates_are_held_fixed(source):
    """The slopes are those of a regression on inputs and covariates together."""
    rng = np.random.default_rng(9)
    tissue = rng.integers(3, size=600)
    x = rng.normal(size=(600, 2)) + tissue[:, None]
    y = x @ rng.normal(size=(2, 3)) + 2.0 * tissue[:, None] + rng.normal(size=(600, 3))
    words = np.array([f"t{k}" for k in tissue], dtype=object)
    coded, _ = code_covariates(CovariateTable({"tissue": words}))
    problem = make_problem(replace(make_data(x, y), covariates=coded))
    rows = np.sort(problem.seen)
    design = np.column_stack([np.eye(3)[tissue[rows]], problem.x[:, rows].T])
    expected = np.linalg.lstsq(design, problem.y[:, rows].T.astype(float), rcond=None)[0][3:]
    slopes = rng.normal(size=(2, 3))
    nets = [linear_net(slopes, split=split) for split in (0, 1)]
    effects = estimate_effects(problem, nets, source)
    assert effects.source == source
    assert effects.sample.covariates == 2
    np.testing.assert_allclose(find_slopes(effects), expected, atol=1e-3)


def draw_effects(slope, samples=600, inputs=4, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, inputs))
    return make_problem(make_data(x, slope * x + rng.normal(size=x.shape)))


def test_a_regression_is_enough_where_its_effects_are_clear_or_networks_cannot_help():
    assert explain_regression(draw_effects(1.0)).startswith("its effects are clear (2")
    assert explain_regression(draw_effects(0.25)) is None  # about six standard errors
    assert explain_regression(draw_effects(0.0)) is None
    assert "fewer than 2 samples for each" in explain_regression(draw_effects(1.0, 105, 60))
    assert "fewer than 100 samples" in explain_regression(draw_effects(1.0, 99, 5))
    assert "more than 100 inputs" in explain_regression(draw_effects(0.0, 400, 101))


def test_what_is_known_before_training_decides_also_after_it():
    """Networks that are better than any regression are not read where its effects are clear."""
    x = np.random.default_rng(1).normal(size=(600, 2))
    y = np.abs(x) + x + 0.1 * np.random.default_rng(2).normal(size=x.shape)
    problem = make_problem(make_data(x, y))
    nets = both_splits(problem)
    assert explain_regression(problem)
    assert estimate_effects(problem, nets).source == "regression"


def test_effects_do_not_depend_on_the_threads_of_blas():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(3000, 40)), rng.normal(size=(3000, 60))
    y = x @ rng.normal(size=(40, 60)) + noise
    names = tuple(f"x{i}" for i in range(40)), tuple(f"y{i}" for i in range(60))
    problem = make_problem(Data(x, y, *names))
    results = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            results.append(estimate_effects(problem).moments.effects)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
