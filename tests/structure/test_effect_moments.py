import dataclasses

import numpy as np
import pytest
from scipy import stats

from linear_graphs import make_sample
from rinn.structure.constants import FEATURE_LEVEL, MIN_RESIDUAL, SAMPLES_PER_INPUT
from rinn.structure.regression import add_products, estimate_moments


def draw(seed=0, samples=400, inputs=4, outputs=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, inputs)) @ rng.normal(size=(inputs, inputs))
    y = x @ rng.normal(size=(inputs, outputs)) + rng.normal(size=(samples, outputs))
    return x, y


def regress(x, y):
    """Least squares with an intercept: slopes and residuals."""
    design = np.column_stack([np.ones(len(x)), x])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    return slopes[1:], y - design @ slopes


def test_effects_are_those_of_min_squares():
    x, y = draw()
    found = estimate_moments(make_sample(x, y))
    slopes, left = regress(x, y)
    ratio = found.effects / (slopes * x.std(axis=0)[:, None] / y.std(axis=0))
    # One factor for each input, for uneven noise; with even noise it is near 1.
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), rtol=1e-10)
    np.testing.assert_allclose(ratio, 1, atol=0.12)
    np.testing.assert_allclose(found.inputs, np.corrcoef(x.T), atol=1e-10)
    free = len(x) - 5
    share = 3 / 403  # shrinkage towards the diagonal
    expected = left.T @ left / free / np.outer(y.std(axis=0), y.std(axis=0))
    expected = np.where(np.eye(3) > 0, expected, (1 - share) * expected)
    np.testing.assert_allclose(found.residual, expected + MIN_RESIDUAL * np.eye(3), rtol=1e-9)
    own = np.diag(np.linalg.inv(np.corrcoef(x.T)))
    errors = np.sqrt(np.outer(own, np.diag(expected) + MIN_RESIDUAL) / 400)
    np.testing.assert_allclose(found.errors, errors, rtol=1e-9)
    assert found.samples == 400


def test_weights_count_rows_as_often():
    x, y = draw(1)
    weights = np.random.default_rng(2).multinomial(400, np.full(400, 1 / 400)).astype(float)
    own = estimate_moments(make_sample(x, y), weights)
    rows = np.repeat(np.arange(400), weights.astype(int))
    again = estimate_moments(make_sample(x[rows], y[rows]))
    for name in ("samples", "inputs", "effects", "residual"):
        np.testing.assert_allclose(getattr(own, name), getattr(again, name), rtol=1e-9, atol=1e-12)
    once = estimate_moments(make_sample(x, y), np.ones(400))
    np.testing.assert_array_equal(once.effects, estimate_moments(make_sample(x, y)).effects)


def test_missing_cells_leave_a_regression_of_the_rows_that_are_there():
    x, y = draw(3)
    observed = np.random.default_rng(4).random(y.shape) < 0.8
    observed[:, 2] = True
    found = estimate_moments(make_sample(x, np.where(observed, y, 0.0), observed))
    ratios = []
    for o in range(3):
        rows = observed[:, o]
        slopes = regress(x[rows], y[rows, o : o + 1])[0][:, 0]
        share = np.sqrt(rows.mean())
        ratios.append(found.effects[:, o] / (slopes * x.std(axis=0) / y[rows, o].std() * share))
    np.testing.assert_allclose(ratios, 1, atol=0.12)
    np.testing.assert_allclose(ratios, np.broadcast_to(ratios[0], (3, 4)), rtol=1e-6)


def test_all_cells_observed_is_none_missing():
    x, y = draw(5)
    y = y - y.mean(axis=0)
    plain = estimate_moments(make_sample(x, y))
    masked = estimate_moments(make_sample(x, y, np.ones(y.shape, bool)))
    np.testing.assert_allclose(masked.effects, plain.effects, rtol=1e-9)
    np.testing.assert_allclose(masked.residual, plain.residual, rtol=1e-9, atol=1e-12)


def test_an_output_with_hardly_any_value_says_nothing():
    x, y = draw(6)
    observed = np.ones(y.shape, bool)
    observed[12:, 1] = False
    found = estimate_moments(make_sample(x, np.where(observed, y, 0.0), observed))
    assert (found.effects[:, 1] == 0).all()
    assert (found.effects[:, 0] != 0).all()
    np.linalg.cholesky(found.residual)


@pytest.mark.parametrize("seed", range(3))
def test_many_gaps_leave_a_covariance(seed):
    """Pairs of outputs are observed together in few rows, or in none."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 3))
    y = x[:, :1] + 0.1 * rng.normal(size=(60, 12))
    observed = rng.random(y.shape) < 0.4
    observed[:30, 0] = observed[30:, 1] = False
    found = estimate_moments(make_sample(x, np.where(observed, y, 0.0), observed))
    np.linalg.cholesky(found.residual)
    np.linalg.cholesky(found.precision)


@pytest.mark.parametrize("kind", ["normal", "rare", "heavy", "correlated"])
def test_z_of_nothing_is_standard_normal(kind):
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 7])
        x = rng.normal(size=(600, 8))
        y = rng.normal(size=(600, 6))
        if kind == "rare":
            x = (rng.random((600, 8)) < 0.02).astype(float)
        if kind == "heavy":
            y = rng.standard_t(4, size=(600, 6))
        if kind == "correlated":
            x = x + 2 * rng.normal(size=(600, 1))
        found.append(estimate_moments(make_sample(x, y)).z)
    found = np.ravel(found)
    # White's errors of an input with twelve carriers are a little too small.
    assert found.std() == pytest.approx(1, abs=0.1 if kind == "rare" else 0.06)
    assert (np.abs(found) > 3).mean() < 0.009


@pytest.mark.parametrize(("samples", "least"), [(60, 1.5), (2000, 1.0)])
def test_effects_pooled_over_outputs_that_share_noise_vary_as_the_inflation_says(samples, least):
    rng = np.random.default_rng(11)
    x = rng.normal(size=(samples, 3))
    loading = rng.uniform(0.5, 1.5, size=30)
    squares, found = [], []
    for _ in range(300 if samples < 100 else 60):
        y = rng.normal(size=(samples, 1)) * loading + rng.normal(size=(samples, 30))
        moments = estimate_moments(make_sample(x, y))
        pooled = loading / y.std(axis=0) @ moments.precision
        variance = np.diag(np.linalg.inv(moments.inputs)) / samples
        said = pooled @ (loading / y.std(axis=0)) * variance
        squares.append((moments.effects @ pooled) ** 2 / said)
        found.append(moments.find_inflation((loading / y.std(axis=0))[None])[0])
    assert np.mean(squares) == pytest.approx(np.mean(found), rel=0.2)
    assert least <= np.mean(found) < least + 1
    assert dataclasses.replace(moments, left_out=None).find_inflation(np.eye(30)).max() == 1


def test_noise_that_is_larger_where_an_input_is_on_makes_its_errors_larger():
    rng = np.random.default_rng(8)
    found = []
    for _ in range(30):
        x = (rng.random((800, 2)) < 0.1).astype(float)
        y = rng.normal(size=(800, 4)) * (1 + 3 * x[:, :1])
        found.append(estimate_moments(make_sample(x, y)).z)
    spread = np.std(found, axis=(0, 2))
    np.testing.assert_allclose(spread, 1, atol=0.2)


def test_with_few_samples_effects_are_marginal():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(39, 20)) + rng.normal(size=(39, 1))
    y = x[:, :2] + rng.normal(size=(39, 2))
    assert SAMPLES_PER_INPUT * 20 > 39
    found = estimate_moments(make_sample(x, y))
    np.testing.assert_array_equal(found.inputs, np.eye(20))
    correlation = np.corrcoef(x.T, y.T)[:20, 20:]
    ratio = found.effects / correlation
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), rtol=1e-9)
    np.testing.assert_allclose(ratio.mean(), 1, atol=0.2)
    joint = estimate_moments(make_sample(x[:, :16], y))
    assert np.abs(joint.inputs - np.eye(16)).max() > 0.2
    assert np.isfinite(estimate_moments(make_sample(x[:5], y[:5])).z).all()


def test_covariates_take_degrees_of_freedom():
    x, y = draw(10, samples=60)
    plain = make_sample(x, y)
    few = type(plain)(plain.x, plain.y, None, 10, plain.owners)
    ratio = np.diag(estimate_moments(few).residual) - MIN_RESIDUAL
    ratio = ratio / (np.diag(estimate_moments(plain).residual) - MIN_RESIDUAL)
    np.testing.assert_allclose(ratio, 55 / 45, rtol=1e-9)


def test_squared_effects_of_few_samples_have_mean_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 3))
    squares = []
    for _ in range(300):
        sample = make_sample(x, rng.normal(size=(12, 30)))
        few = dataclasses.replace(sample, is_small=True)
        plain = estimate_moments(sample).residual - MIN_RESIDUAL * np.eye(30)
        small = estimate_moments(few)
        np.testing.assert_allclose(
            np.diag(small.residual - MIN_RESIDUAL * np.eye(30)), np.diag(plain) * 8 / 6, rtol=1e-9
        )
        squares.append(small.z**2)
    assert 0.8 < np.mean(squares) < 1.2


def test_constant_columns_have_no_effect():
    x, y = draw(11)
    x[:, 1], y[:, 2] = 3.0, -1.0
    found = estimate_moments(make_sample(x, y))
    assert (found.effects[1] == 0).all()
    assert (found.effects[:, 2] == 0).all()
    assert np.isfinite(found.z).all()
    alone = estimate_moments(make_sample(x[:, [0, 2, 3]], y[:, :2]))
    np.testing.assert_allclose(found.effects[np.ix_([0, 2, 3], [0, 1])], alone.effects, rtol=0.01)


def test_collinear_inputs_share_their_effect():
    rng = np.random.default_rng(12)
    x = rng.normal(size=(300, 1))
    y = x + rng.normal(size=(300, 1))
    found = estimate_moments(make_sample(np.hstack([x, x]), y))
    np.testing.assert_allclose(found.effects[0], found.effects[1], rtol=1e-6)
    alone = estimate_moments(make_sample(x, y))
    assert float(found.effects.sum()) == pytest.approx(float(alone.effects[0, 0]), rel=0.02)


def test_rows_are_left_as_they_are():
    x, y = draw(13)
    sample = make_sample(x, y)
    before = sample.x.copy(), sample.y.copy()
    estimate_moments(sample, np.arange(400.0))
    add_products(sample, estimate_moments(sample), sample.y)
    np.testing.assert_array_equal(sample.x, before[0])
    np.testing.assert_array_equal(sample.y, before[1])


def add(x, y):
    sample = make_sample(x, y)
    return add_products(sample, estimate_moments(sample), sample.y)


def test_a_product_is_added_for_xor():
    rng = np.random.default_rng(14)
    x = (rng.random((1000, 4)) < 0.5).astype(float)
    y = (x[:, :1] != x[:, 2:3]) + rng.normal(size=(1000, 3))
    found = add(x, y)
    assert found.owners == ((0,), (1,), (2,), (3,), (0, 2))
    centred = x - x.mean(axis=0)
    product = centred[:, 0] * centred[:, 2]
    np.testing.assert_allclose(found.x[:, 4], product - product.mean())


def test_a_square_is_added_where_an_input_acts_in_both_directions():
    rng = np.random.default_rng(15)
    x = rng.normal(size=(1000, 4))
    y = x[:, 1:2] ** 2 + rng.normal(size=(1000, 3))
    assert add(x, y).owners[4:] == ((1,),)


def test_clear_effects_need_no_products():
    """Both inputs of the product act by themselves: it would say nothing new."""
    rng = np.random.default_rng(16)
    x = rng.normal(size=(1000, 4))
    y = x[:, :1] + x[:, 1:2] + x[:, :1] * x[:, 1:2] + rng.normal(size=(1000, 3))
    assert len(add(x, y).owners) == 4


def test_noise_hardly_ever_has_a_product():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 17])
        x = np.column_stack([rng.normal(size=(500, 3)), rng.random((500, 3)) < 0.2])
        y = rng.normal(size=(500, 4)) + rng.normal(size=(500, 1))
        found += len(add(x, y).owners) > 6
    # 0.01 in each of 40 tables.
    assert stats.binom.sf(found - 1, 40, FEATURE_LEVEL) > 0.001


def test_few_samples_have_no_products():
    rng = np.random.default_rng(18)
    x = (rng.random((100, 4)) < 0.5).astype(float)
    y = np.repeat((x[:, :1] != x[:, 2:3]).astype(float), 3, axis=1)
    y += 0.1 * rng.normal(size=y.shape)
    assert len(add(x, y).owners) == 4


def test_constant_inputs_do_not_overflow_with_few_samples():
    rng = np.random.default_rng(19)
    x = rng.normal(size=(20, 9))
    x[:, 4] = 0.1
    found = estimate_moments(make_sample(x, rng.normal(size=(20, 2))))
    assert (found.effects[4] == 0).all()
    assert np.isfinite(found.z).all()
