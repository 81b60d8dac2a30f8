import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rinn.data.adjustment import RIDGE, fit_adjustment, fit_covariates
from rinn.data.likelihoods import Likelihood, make_likelihood
from rinn.data.scaling import Standardizer, fit_standardizer


def plain(loss, outputs=1):
    kind = {"mse": "number", "bce": "binary"}[loss]
    return Likelihood(
        loss, (kind,) * outputs, Standardizer(np.zeros(outputs), np.ones(outputs)), None
    )


def levels(rng, samples=600, count=4):
    tissue = rng.integers(count, size=samples)
    return tissue, (tissue[:, None] == np.arange(1, count)).astype(float)


def test_min_squares_gives_means_of_levels_and_their_errors():
    rng = np.random.default_rng(0)
    tissue, z = levels(rng)
    y = tissue[:, None] * [[1.0, -2.0]] + rng.normal(size=(600, 2))
    model = fit_covariates(z, y, plain("mse", 2))
    means = np.stack([y[tissue == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(model.coefficients[0], means[0])
    np.testing.assert_allclose(model.coefficients[1:], means[1:] - means[0])
    left = y - means[tissue]
    variance = (left**2).sum(axis=0) / (600 - 4)
    counts = np.bincount(tissue)
    expected = np.sqrt(variance * (1 / counts[1] + 1 / counts[0]))
    np.testing.assert_allclose(model.errors[1], expected)


def test_odds_are_those_of_a_ridge_regression():
    rng = np.random.default_rng(1)
    _, z = levels(rng)
    z = np.column_stack([z, rng.normal(size=600)])
    y = (rng.random((600, 2)) < expit(z @ rng.normal(size=(4, 2)))).astype(float)
    model = fit_covariates(z, y, plain("bce", 2))
    design = np.column_stack([np.ones(600), z])
    for output in range(2):
        theirs = LogisticRegression(C=1 / RIDGE, fit_intercept=False, tol=1e-10, max_iter=1000)
        theirs.fit(design, y[:, output])
        np.testing.assert_allclose(model.coefficients[:, output], theirs.coef_[0], atol=1e-5)
    p = expit(model.predict(z)[:, 0])
    curvature = design.T @ (design * (p * (1 - p))[:, None]) + RIDGE * np.eye(5)
    expected = np.sqrt(np.diag(np.linalg.inv(curvature)))
    np.testing.assert_allclose(model.errors[:, 0], expected, rtol=1e-6)


def test_levels_without_a_one_stay_finite():
    z = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([[0.0], [1.0]], 50, axis=0)
    found = expit(fit_covariates(z, y, plain("bce")).predict(np.array([[0.0], [1.0]]))).ravel()
    assert found[0] < 0.03
    assert found[1] > 0.97
    constant = fit_covariates(z, np.zeros((100, 1)), plain("bce")).predict(z)
    assert np.isfinite(constant).all()
    assert (expit(constant) < 0.01).all()


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_levels_that_training_lacks_and_repeated_columns_say_nothing(loss):
    z = np.zeros((40, 3))
    z[::2, 0] = z[::2, 1] = 1
    y = np.random.default_rng(2).integers(2, size=(40, 1)).astype(float)
    model = fit_covariates(z, y, plain(loss))
    assert model.coefficients[3, 0] == pytest.approx(0, abs=1e-9)
    assert model.errors[3, 0] == pytest.approx(0, abs=1e-9)
    assert np.isfinite(model.errors).all()
    one = fit_covariates(z[:, :1], y, plain("mse")) if loss == "mse" else model
    np.testing.assert_allclose(model.predict(z), one.predict(z[:, : len(one.errors) - 1]))


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_each_split_knows_its_training_samples_alone(loss):
    rng = np.random.default_rng(3)
    _, z = levels(rng, 100)
    y = rng.integers(2, size=(3, 100)).astype(np.float32)
    trains = [np.arange(70), np.arange(30, 100)]
    found = fit_adjustment(z, y, plain(loss, 3), trains)
    assert found.offset.shape == (2, 3, 100)
    assert found.offset.dtype == np.float32
    changed = y.copy()
    changed[:, 70:] = 1 - changed[:, 70:]
    again = fit_adjustment(z, changed, plain(loss, 3), trains)
    assert (again.offset[0] == found.offset[0]).all()
    assert (again.offset[1] != found.offset[1]).any()
    expected = found.expected
    if loss == "bce":
        np.testing.assert_allclose(expected, expit(found.offset.astype(float)))
    else:
        np.testing.assert_allclose(expected, found.offset)


def test_mixed_outputs_have_the_models_of_their_kinds():
    rng = np.random.default_rng(4)
    tissue, z = levels(rng, 4000)
    logs = np.array([0.5, 1.0, 2.0, -0.5])[tissue]
    chances = np.array([0.1, 0.5, 0.8, 0.3])[tissue]
    y = np.column_stack(
        [
            tissue + rng.normal(size=4000),
            rng.random(4000) < chances,
            rng.poisson(np.exp(logs) * rng.gamma(2, 0.5, 4000)),
        ]
    )
    mixed = make_likelihood(("number", "binary", "count"), y, fit_standardizer(y, binary=False))
    scaled = mixed.scale.apply(y)
    model = fit_covariates(z, scaled, mixed)
    means = np.stack([y[tissue == k].mean(axis=0) for k in range(4)])
    expected = mixed.to_units(model.predict(np.vstack([np.zeros(3), np.eye(3)])))
    np.testing.assert_allclose(expected, means, rtol=0.01)
    # Of counts whose scatter is that of a gamma mixture, the error is larger than Poisson's.
    total = y[tissue == 1, 2].sum() ** -1 + y[tissue == 0, 2].sum() ** -1
    slope = mixed.link.std[2]
    assert model.errors[1, 2] * slope > 1.2 * np.sqrt(total)
    known = rng.random(y.shape) < 0.7
    some = fit_covariates(z, np.where(known, scaled, 0), mixed, known)
    for output in range(3):
        rows = known[:, output]
        alone = fit_covariates(z[rows], scaled[rows], mixed)
        found = (some.coefficients[:, output], some.errors[:, output])
        np.testing.assert_allclose(found[0], alone.coefficients[:, output], atol=1e-8)
        np.testing.assert_allclose(found[1], alone.errors[:, output], rtol=1e-6)
