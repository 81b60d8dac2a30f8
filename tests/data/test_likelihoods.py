import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from rinn.data.likelihoods import Likelihood, make_likelihood
from rinn.data.scaling import Standardizer, fit_standardizer
from rinn.nets.training import measure_losses


@pytest.fixture
def y():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(2.0, 3.0, 4000))
    return np.column_stack([5 + 2 * rng.normal(size=4000), rng.random(4000) < 0.3, counts])


@pytest.fixture
def mixed(y):
    return make_likelihood(("number", "binary", "count"), y, fit_standardizer(y, binary=False))


def test_one_kind_keeps_its_plain_loss(y):
    scale = fit_standardizer(y, binary=False)
    numbers = make_likelihood(("number",) * 3, y, scale)
    assert (numbers.loss, numbers.scale) == ("mse", scale)
    binary = make_likelihood(("binary",), y[:, 1:2], scale)
    assert binary.loss == "bce"
    np.testing.assert_array_equal(binary.scale.apply(y[:, 1:2]), y[:, 1:2])
    raw = np.random.default_rng(1).normal(size=(2, 50))
    target = np.random.default_rng(2).integers(2, size=(2, 50)).astype(float)
    np.testing.assert_array_equal(numbers.measure(raw, target), (raw - target) ** 2)
    p = expit(raw)
    entropy = -target * np.log(p) - (1 - target) * np.log(1 - p)
    np.testing.assert_allclose(binary.measure(raw, target), entropy)


def test_losses_are_deviances(mixed, y):
    """Twice the log likelihood that is missing to a perfect prediction, by scipy's densities."""
    scaled = mixed.scale.apply(y).T
    raw = np.random.default_rng(1).normal(size=scaled.shape) / 3
    found = mixed.measure(raw, scaled)
    mean = mixed.to_units(raw.T).T
    spread, centre = mixed.scale.std, mixed.scale.mean
    normal = ((y[:, 0] - mean[0]) / spread[0]) ** 2
    np.testing.assert_allclose(found[0], normal)
    binary = -2 * stats.bernoulli.logpmf(y[:, 1], mean[1])
    np.testing.assert_allclose(found[1], binary)
    best = stats.poisson.logpmf(y[:, 2], np.maximum(y[:, 2], 1e-300))
    poisson = 2 * (best - stats.poisson.logpmf(y[:, 2], mean[2]))
    np.testing.assert_allclose(found[2], poisson * centre[2] / spread[2] ** 2, rtol=1e-6)


def test_means_of_nothing_are_the_means(mixed, y):
    np.testing.assert_allclose(mixed.to_units(np.zeros((1, 3)))[0], y.mean(axis=0))
    np.testing.assert_allclose(mixed.expect(np.zeros((3, 1))), 0, atol=1e-12)


def test_every_kind_has_the_slope_and_bend_of_a_number(mixed, y):
    """Close to the mean: slope -2 y and curvature 2 in the networks' units, whatever the kind."""
    scaled, step = mixed.scale.apply(y).T, 1e-3
    low, rest, high = (mixed.measure(np.full(scaled.shape, d), scaled) for d in (-step, 0, step))
    np.testing.assert_allclose((high - low) / (2 * step), -2 * scaled, atol=1e-3)
    bend = (high - 2 * rest + low).mean(axis=1) / step**2
    np.testing.assert_allclose(bend, 2, rtol=1e-3)


def test_compiled_losses_and_slopes_agree(mixed, y):
    scaled = mixed.scale.apply(y).T.astype(np.float32)
    raw = np.random.default_rng(3).normal(size=scaled.shape).astype(np.float32)
    units = mixed.make_units()
    found = measure_losses("mixed", jnp.asarray(raw), scaled, units)
    expected = mixed.measure(raw.astype(float), scaled.astype(float))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)
    slope = jax.grad(lambda r: measure_losses("mixed", r, scaled, units).sum())(raw)
    assert np.isfinite(slope).all()


def test_slopes_stay_finite_far_away(mixed, y):
    scaled = mixed.scale.apply(y).T.astype(np.float32)[:, :4]
    for far in (-1e4, 1e4):
        raw = np.full(scaled.shape, far, np.float32)
        loss, slope = jax.value_and_grad(
            lambda r: measure_losses("mixed", r, scaled, mixed.make_units()).sum()
        )(raw)
        assert np.isfinite(loss)
        assert np.isfinite(slope).all()
        assert np.isfinite(mixed.to_units(raw.T)).all()


def test_outputs_with_one_value_outside_the_test_set_stay_finite():
    y = np.column_stack([np.zeros(50), np.zeros(50), np.arange(50.0), np.full(50, 3.0)])
    kinds = ("binary", "count", "number", "count")
    found = make_likelihood(kinds, y, fit_standardizer(y, binary=False))
    held = np.array([[1.0, 4.0, 7.0, 5.0]])
    loss = found.measure(np.zeros((4, 1)), found.scale.apply(held).T)
    assert np.isfinite(loss).all()
    assert np.isfinite(found.to_units(np.zeros((1, 4)))).all()
    assert (found.scale.std > 0).all()


def test_units_of_several_networks():
    scale = Standardizer(np.array([0.5, 8.0]), np.array([0.5, 4.0]))
    two = Likelihood("mixed", ("binary", "count"), scale, np.array([0.0, 3.0]))
    raw = np.random.default_rng(0).normal(size=(3, 5, 2))
    found = two.to_units(raw)
    assert found.shape == raw.shape
    np.testing.assert_allclose(found[..., 0], expit(raw[..., 0] / 0.5))
    np.testing.assert_allclose(found[..., 1], 8 * np.exp(0.5 * raw[..., 1]))
    swapped = two.expect(np.swapaxes(raw, 1, 2))
    np.testing.assert_allclose(np.swapaxes(swapped, 1, 2), (found - [0.5, 8]) / [0.5, 4])
