"""Tests of inputs against outputs: correlations with other columns and covariates held fixed.

A partial correlation is tested as the slope of a regression. Where covariates are held fixed, the
residual variance of an output may differ between their levels: it is fitted by the covariates, and
the standard errors of slopes follow it (White 1980).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

from rinn.data.adjustment import find_basis
from rinn.data.least_squares import weigh_variances

# Directions in which the inputs vary less than this share of the largest are taken for exact
# repetitions of other inputs; rounding leaves about 1e-15.
SINGULAR = 1e-10
MIN_VARIANCE = 0.1  # of an output's mean variance, at any level of a covariate
FEWEST_FREE = 2


@dataclass(frozen=True)
class Correlations:
    """Correlation and p-value of each pair (NaN if untestable); outputs with `enough` values."""

    r: Float[np.ndarray, "input output"]
    p: Float[np.ndarray, "input output"]
    enough: Bool[np.ndarray, " output"]
    needed: int


def correlate_pairs(
    x: Float[np.ndarray, "sample input"],
    y: Float[np.ndarray, "sample output"],
    covariates: Float[np.ndarray, "sample column"] | None = None,
    *,
    partly: bool = True,
) -> Correlations:
    """Test each input against each output by a t-test.

    Outputs that are missing in the same samples are tested together, by the others.
    """
    r = np.full((x.shape[1], y.shape[1]), np.nan)
    p, enough, needed = r.copy(), np.zeros(y.shape[1], bool), 0
    patterns, which = np.unique(~np.isnan(y), axis=1, return_inverse=True)
    for number, observed in enumerate(patterns.T):
        outputs = np.flatnonzero(which.ravel() == number)
        z = None if covariates is None else covariates[observed]
        t, freedom, taken = _find_slopes(x[observed], y[np.ix_(observed, outputs)], z, partly)
        needed = max(needed, taken + FEWEST_FREE)
        if freedom < FEWEST_FREE:
            continue
        enough[outputs] = True
        r[:, outputs] = np.clip(t / np.sqrt(freedom + t**2), -1, 1)
        p[:, outputs] = 2 * stats.t.sf(np.abs(t), freedom)
    return Correlations(r, p, enough, needed)


def _find_slopes(
    x: np.ndarray, y: np.ndarray, z: np.ndarray | None, partly: bool
) -> tuple[Float[np.ndarray, "input output"], int, int]:
    """Slopes in units of their errors, degrees of freedom, and parameters used."""
    basis = find_basis(np.zeros((0, len(x))) if z is None else z.T)
    x, alone = _hold_fixed(x, basis)
    y, _ = _hold_fixed(y, basis)
    samples = len(x)
    if partly:
        spread, axes = np.linalg.eigh(x.T @ x / samples)  # [axis], [input, axis]
        used = spread > SINGULAR * max(spread.max(initial=0.0), SINGULAR)
        inverse = (axes[:, used] / spread[used]) @ axes[:, used].T  # [input, input]
        alone = alone & ~(np.abs(axes[:, ~used]) > np.sqrt(SINGULAR)).any(axis=1)
        rank = int(used.sum())
    else:
        inverse, rank = np.eye(x.shape[1]), 1
    taken = rank + basis.shape[1] + 1
    freedom = samples - taken
    if freedom < FEWEST_FREE:
        return np.zeros((x.shape[1], y.shape[1])), freedom, taken
    shared = x.T @ y / samples  # [input, output]
    slopes = inverse @ shared
    explained = (slopes * shared).sum(axis=0) if partly else slopes**2
    left = np.maximum((y**2).mean(axis=0) - explained, SINGULAR)  # [output], or [input, output]
    errors = np.sqrt(np.diag(inverse)[:, None] * left / freedom)
    if basis.shape[1]:
        residual = y - x @ slopes if partly else y
        errors = errors * _find_error_ratio(x @ inverse, residual**2, basis)
    t = np.divide(slopes, errors, out=np.zeros_like(slopes), where=errors > 0)
    t[~alone] = np.nan
    return t, freedom, taken


def _hold_fixed(
    values: np.ndarray, basis: Float[np.ndarray, "sample rank"]
) -> tuple[Float[np.ndarray, "sample column"], np.ndarray]:
    """Columns without what covariates explain, at variance 1, and whether anything is left."""
    values = values.astype(float)
    values = values - values.mean(axis=0)
    total = values.std(axis=0)
    values = values - basis @ (basis.T @ values)
    left = values.std(axis=0)
    varies = left > np.sqrt(SINGULAR) * total
    return np.where(varies, values, 0.0) / np.where(varies, left, 1.0), varies


def _find_error_ratio(
    readers: Float[np.ndarray, "sample input"],
    squares: Float[np.ndarray, "sample output"],
    basis: Float[np.ndarray, "sample rank"],
) -> Float[np.ndarray, "input output"]:
    """Ratio of errors where the samples that determine a slope are the noisier ones."""
    mean = squares.mean(axis=0)
    variances = mean + basis @ (basis.T @ squares)  # the basis is centred
    variances = np.maximum(variances, np.maximum(MIN_VARIANCE * mean, 1e-300))
    ratio = weigh_variances(readers**2, variances / variances.mean(axis=0))
    return np.sqrt(np.maximum(ratio, 1e-12))
