"""The outputs by the covariates alone: a generalised linear model of each output.

Least squares for outputs that are numbers, logistic and log-linear regression with a small ridge
for zeros and ones and for counts (Nelder, Wedderburn 1972: Generalized Linear Models).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit

from rinn.data.likelihoods import BINARY, COUNT, NUMBER, Likelihood

RIDGE = 0.1  # on log odds and rates: keeps those of a level without a single 0 or 1 finite
MAX_LOG = 30.0  # of a mean count
MAX_STEPS, HALVINGS, CLOSE = 50, 20, 1e-10

SMALLEST = 1e-9  # of the largest singular value: smaller ones are rounding errors


@dataclass(frozen=True)
class CovariateModel:
    """Coefficients of the covariates' columns, the intercept first, and their standard errors."""

    coefficients: Float[np.ndarray, "column+1 output"]
    errors: Float[np.ndarray, "column+1 output"]

    def predict(self, z: Float[np.ndarray, "sample column"]) -> Float[np.ndarray, "sample output"]:
        """The predicted outputs, in the networks' units: binary ones as log odds."""
        return self.coefficients[0] + z @ self.coefficients[1:]


@dataclass(frozen=True)
class Adjustment:
    """The outputs that covariates predict.

    `offset` is added to the raw outputs of the networks of a split, in their units: log odds, or
    standard deviations. It is fitted on the training samples of the split alone. `expected` are
    the predicted outputs, probabilities in place of log odds.
    """

    design: Float[np.ndarray, "column sample"]
    models: tuple[CovariateModel, ...]
    offset: Float[np.ndarray, "split output sample"]
    expected: Float[np.ndarray, "split output sample"]


def fit_adjustment(
    values: Float[np.ndarray, "sample column"],
    y: Float[np.ndarray, "output sample"],
    likelihood: Likelihood,
    trains: Sequence[np.ndarray],
    observed: Bool[np.ndarray, "output sample"] | None = None,
) -> Adjustment:
    """Fit the outputs by the covariates on the training samples of each split."""
    models = []
    for rows in trains:
        mask = None if observed is None else observed[:, rows].T
        models.append(fit_covariates(values[rows], y[:, rows].T, likelihood, mask))
    offset = np.stack([model.predict(values).T for model in models]).astype(np.float32)
    expected = likelihood.expect(offset.astype(np.float64))
    return Adjustment(np.ascontiguousarray(values.T), tuple(models), offset, expected)


def fit_covariates(
    z: Float[np.ndarray, "sample column"],
    y: Float[np.ndarray, "sample output"],
    likelihood: Likelihood,
    observed: Bool[np.ndarray, "sample output"] | None = None,
) -> CovariateModel:
    """Fit each output by the covariates.

    Numbers: min_b |y - b0 - z b|^2. Zeros and ones, and counts: min_b -log P(y | b0 + z b)
    + 0.05 |b|^2 by Newton's method. Standard errors of counts include their dispersion.
    """
    design = np.column_stack([np.ones(len(z)), np.asarray(z, np.float64)])
    y = np.asarray(y, np.float64)
    if likelihood.loss == "mse" and observed is None:
        return _fit_lines(design, y)
    link, parts = likelihood.link, []
    for o, kind in enumerate(likelihood.kinds):
        rows = slice(None) if observed is None else observed[:, o]
        if kind == NUMBER:
            line = _fit_lines(design[rows], y[rows, o, None])
            parts.append((line.coefficients[:, 0], line.errors[:, 0]))
            continue
        values = y[rows, o]
        if likelihood.loss != "bce":
            values = np.round(values * likelihood.scale.std[o] + likelihood.scale.mean[o])
        b, errors = _fit_family(design[rows], values, FAMILIES[kind])
        b[0] -= link.mean[o]
        parts.append((b / link.std[o], errors / link.std[o]))
    return CovariateModel(*(np.stack(part, axis=1) for part in zip(*parts, strict=True)))


def _fit_lines(
    design: Float[np.ndarray, "sample column"], y: Float[np.ndarray, "sample output"]
) -> CovariateModel:
    coefficients, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    noise = ((y - design @ coefficients) ** 2).sum(axis=0) / max(len(y) - int(rank), 1)  # [output]
    variance = np.diag(np.linalg.pinv(design.T @ design, hermitian=True))
    return CovariateModel(coefficients, np.sqrt(np.outer(np.maximum(variance, 0), noise)))


@dataclass(frozen=True)
class _Family:
    """A family: mean, its slope, the log of the normaliser, and whether it is dispersed."""

    mean: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]  # of the mean, as a function of it
    normaliser: Callable[[np.ndarray], np.ndarray]
    is_dispersed: bool


def _bounded_exp(z: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(z, MAX_LOG))


FAMILIES = {
    BINARY: _Family(expit, lambda p: p * (1 - p), partial(np.logaddexp, 0), False),
    COUNT: _Family(_bounded_exp, lambda mean: mean, _bounded_exp, True),
}


def _fit_family(
    design: Float[np.ndarray, "sample column"], y: Float[np.ndarray, " sample"], family: _Family
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and standard errors of one logistic or log-linear regression."""
    ridge = RIDGE * np.eye(design.shape[1])
    b = np.zeros(design.shape[1])
    if family.is_dispersed:
        b[0] = np.log(max(float(y.mean()), 0.01))  # from 0, large counts would take long

    def find_loss(b: np.ndarray) -> float:
        z = design @ b
        return float((family.normaliser(z) - y * z).sum() + RIDGE / 2 * b @ b)

    loss = find_loss(b)
    for _ in range(MAX_STEPS):
        p = family.mean(design @ b)
        curvature = design.T @ (design * family.slope(p)[:, None]) + ridge
        step = np.linalg.solve(curvature, design.T @ (y - p) - RIDGE * b)
        for _ in range(HALVINGS):
            new = find_loss(b + step)
            if new <= loss:
                break
            step = step / 2
        b, gained, loss = b + step, loss - new, new
        if gained < CLOSE * (1 + abs(loss)):
            break
    p = family.mean(design @ b)
    curvature = design.T @ (design * family.slope(p)[:, None]) + ridge
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    if family.is_dispersed:
        chi = ((y - p) ** 2 / np.maximum(p, 1e-12)).sum() / max(len(y) - design.shape[1], 1)
        errors = errors * np.sqrt(max(chi, 1.0))
    is_used = (design != 0).any(axis=0)
    return b, np.where(is_used, errors, 0.0)


def find_basis(design: Float[np.ndarray, "column sample"]) -> Float[np.ndarray, "sample rank"]:
    """Orthonormal basis of the centred covariates; dependent ones add no direction.

    >>> tissue = np.array([0.0, 0.0, 1.0, 1.0])
    >>> np.abs(find_basis(np.stack([tissue, 1 - tissue]))).ravel()
    array([0.5, 0.5, 0.5, 0.5])
    """
    centred = design - design.mean(axis=1, keepdims=True)
    directions, sizes, _ = np.linalg.svd(centred.T, full_matrices=False)
    return directions[:, sizes > SMALLEST * max(sizes.max(initial=0.0), 1e-300)]


def project(
    design: Float[np.ndarray, "column sample"], values: Float[np.ndarray, "row sample"]
) -> Float[np.ndarray, "row sample"]:
    """The linear prediction of centred values by the covariates.

    >>> project(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[-3.0, -1.0, 1.0, 3.0]]))
    array([[-2., -2.,  2.,  2.]])
    """
    basis = find_basis(design)
    return values @ basis @ basis.T
