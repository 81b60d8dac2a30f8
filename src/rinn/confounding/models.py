"""The outputs by the covariates alone: a generalised linear model of each output.

Least squares for outputs that are numbers, logistic regression with a small ridge for those that
are 0 or 1 (Nelder, Wedderburn 1972: Generalized Linear Models).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import expit

RIDGE = 0.1  # on log odds: keeps those of a level without a single 0 or 1 finite
MOST_STEPS, HALVINGS, CLOSE = 50, 20, 1e-10


@dataclass(frozen=True)
class CovariateModel:
    """Coefficients of the covariates' columns, the intercept first, and their standard errors."""

    coefficients: Float[np.ndarray, "column+1 output"]
    errors: Float[np.ndarray, "column+1 output"]

    def predict(self, z: Float[np.ndarray, "sample column"]) -> Float[np.ndarray, "sample output"]:
        """The outputs that are expected, binary ones as log odds."""
        return self.coefficients[0] + z @ self.coefficients[1:]


@dataclass(frozen=True)
class Adjustment:
    """What covariates say of the outputs before any network does.

    `offset` is added to what the networks of a split give, and is in their units: log odds, or
    standard deviations. It is fitted on the training samples of the split alone.
    """

    design: Float[np.ndarray, "column sample"]
    models: tuple[CovariateModel, ...]
    offset: Float[np.ndarray, "split output sample"]

    def expect(self, loss: str) -> Float[np.ndarray, "split output sample"]:
        """The outputs that the covariates let expect, by each split: log odds as chances."""
        offset = self.offset.astype(np.float64)
        return np.asarray(expit(offset)) if loss == "bce" else offset


def fit_adjustment(
    values: Float[np.ndarray, "sample column"],
    y: Float[np.ndarray, "output sample"],
    loss: str,
    trains: Sequence[np.ndarray],
) -> Adjustment:
    """Fit the outputs by the covariates on the training samples of each split.

    Args:
        values: coded covariates of all samples.
        y: outputs of all samples in the networks' units.
        loss: mse or bce.
        trains: row numbers of the training samples of each split.

    Returns:
        Models and offsets.
    """
    models = [fit_covariates(values[rows], y[:, rows].T, loss) for rows in trains]
    offset = np.stack([model.predict(values).T for model in models]).astype(np.float32)
    return Adjustment(np.ascontiguousarray(values.T), tuple(models), offset)


def fit_covariates(
    z: Float[np.ndarray, "sample column"], y: Float[np.ndarray, "sample output"], loss: str
) -> CovariateModel:
    """Fit each output by the covariates.

    mse: the b of least |y - b0 - z b|^2. bce: the b of least -log P(y | b0 + z b) + 0.05 |b|^2,
    found by Newton's steps.

    Args:
        z: coded covariates.
        y: the outputs; zeros and ones for bce.
        loss: mse or bce.

    Returns:
        Coefficients and standard errors; both are 0 for a level that none of these samples has.

    Example:
        >>> z = np.array([[0.0], [0.0], [1.0], [1.0]])
        >>> fit_covariates(z, np.array([[1.0], [3.0], [6.0], [8.0]]), "mse").coefficients.round(6)
        array([[2.],
               [5.]])
    """
    design = np.column_stack([np.ones(len(z)), np.asarray(z, np.float64)])
    y = np.asarray(y, np.float64)
    if loss == "mse":
        return _fit_lines(design, y)
    found = [_fit_odds(design, y[:, output]) for output in range(y.shape[1])]
    return CovariateModel(*(np.stack(part, axis=1) for part in zip(*found, strict=True)))


def _fit_lines(
    design: Float[np.ndarray, "sample column"], y: Float[np.ndarray, "sample output"]
) -> CovariateModel:
    coefficients, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    left = ((y - design @ coefficients) ** 2).sum(axis=0) / max(len(y) - int(rank), 1)  # [output]
    spread = np.diag(np.linalg.pinv(design.T @ design, hermitian=True))
    return CovariateModel(coefficients, np.sqrt(np.outer(np.maximum(spread, 0), left)))


def _fit_odds(
    design: Float[np.ndarray, "sample column"], y: Float[np.ndarray, " sample"]
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and standard errors of one logistic regression."""
    ridge = RIDGE * np.eye(design.shape[1])
    b = np.zeros(design.shape[1])

    def find_cost(b: np.ndarray) -> float:
        z = design @ b
        return float((np.logaddexp(0, z) - y * z).sum() + RIDGE / 2 * b @ b)

    cost = find_cost(b)
    for _ in range(MOST_STEPS):
        p = expit(design @ b)
        curvature = design.T @ (design * (p * (1 - p))[:, None]) + ridge
        step = np.linalg.solve(curvature, design.T @ (y - p) - RIDGE * b)
        for _ in range(HALVINGS):
            new = find_cost(b + step)
            if new <= cost:
                break
            step = step / 2
        b, gained, cost = b + step, cost - new, new
        if gained < CLOSE * (1 + abs(cost)):
            break
    p = expit(design @ b)
    curvature = design.T @ (design * (p * (1 - p))[:, None]) + ridge
    known = (design != 0).any(axis=0)
    return b, np.where(known, np.sqrt(np.diag(np.linalg.inv(curvature))), 0.0)
