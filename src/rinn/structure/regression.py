"""Effects by least squares, with standard errors that allow for uneven noise.

The outcomes are the outputs themselves, or what networks and their residuals make of them
(`effects.py`); either way effects are one regression, and a bootstrap only changes the weights of
the samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

from rinn.data.least_squares import RCOND, regress, weigh_variances
from rinn.structure import constants as c
from rinn.structure.records import Moments


@dataclass(frozen=True)
class Sample:
    """Rows that effects are estimated from; columns have mean 0."""

    x: Float[np.ndarray, "sample column"]  # inputs, and products of inputs after them
    y: Float[np.ndarray, "sample output"]  # outcomes; 0 where one is missing
    # which outcomes are not missing, where some are
    observed: Bool[np.ndarray, "sample output"] | None
    covariates: int  # how many columns were regressed out of both before
    owners: tuple[tuple[int, ...], ...]  # the inputs that each column of x is made of
    tested: tuple[int, int] = (0, 0)  # inputs and outputs before screening, where there was one
    is_small: bool = False  # whether resamples need all rows


def estimate_moments(
    sample: Sample, weights: Float[np.ndarray, " sample"] | None = None
) -> Moments:
    """Estimate effects and residual covariance.

    With fewer than two samples for each column, effects are marginal: each input by itself.
    Effects of an input are divided by the ratio of its robust to its usual standard errors (White
    1980, mean over the outputs), so that they are in units of error.
    """
    weight = np.ones(len(sample.x)) if weights is None else weights
    x = sample.x - np.average(sample.x, axis=0, weights=weight)
    observed = np.ones(sample.y.shape) if sample.observed is None else sample.observed.astype(float)
    count = np.maximum(weight @ observed, 1.0)  # [output]
    y = (sample.y - (weight @ (sample.y * observed)) / count) * observed
    samples, columns = float(weight.sum()), x.shape[1]
    is_joint = samples >= c.SAMPLES_PER_INPUT * columns
    covariance = (x.T * weight) @ x / samples
    projection = _find_projection(x, covariance, joint=is_joint)
    leverage = (projection * x).sum(axis=1) / samples if is_joint else np.zeros(len(x))
    taken = sample.covariates + 1 + (columns if is_joint else 0)
    if sample.observed is None:
        slopes = (projection.T * weight) @ y / samples
    else:
        slopes = _regress_observed(x, y, observed * weight[:, None], taken, joint=is_joint)
    residual = (y - x @ slopes if is_joint else y) * observed
    both = (observed.T * weight) @ observed
    # Of few samples two less than usual: squares of Student's t then have mean 1.
    free = np.maximum(both - taken - (2 if sample.is_small else 0), 1.0)
    residual_covariance = (residual.T * weight) @ residual / free
    if sample.observed is not None:
        residual_covariance = _make_positive(residual_covariance)
    variance = (y**2 * weight[:, None]).sum(axis=0) / count
    moments = _standardise(
        Moments(
            samples, covariance, slopes, residual_covariance, prod(sample.tested), sample.is_small
        ),
        variance,
        np.sqrt(count / samples),
        _find_error_ratio(projection, residual, weight, leverage),
        joint=is_joint,
    )
    if weights is not None:  # resamples do not need it
        return moments
    scaled = residual / np.sqrt(np.where(variance > 1e-24, variance, 1.0) * free.diagonal())
    return replace(moments, left_out=_leave_one_out(scaled, moments.precision))


def resample_residuals(sample: Sample, rng: np.random.Generator) -> Sample:
    """The sample with residuals drawn anew from its own (Freedman 1981): the design stays."""
    samples, columns = sample.x.shape
    fitted = sample.x @ regress(sample.x, sample.y)[0]
    free = max(samples - 1 - sample.covariates - columns, 1)
    drawn = (sample.y - fitted)[rng.integers(samples, size=samples)]
    drawn = (drawn - drawn.mean(axis=0)) * np.sqrt(samples / free)
    # Covariates explain nothing of these residuals, and take no degree of freedom.
    return replace(sample, y=fitted + drawn, covariates=0)


def _find_projection(x: np.ndarray, covariance: np.ndarray, *, joint: bool) -> np.ndarray:
    """What outcomes are multiplied by to give effects, [sample, column]."""
    if joint:
        return np.asarray(x @ np.linalg.pinv(covariance, rcond=RCOND, hermitian=True))
    variance = np.diag(covariance)
    return np.asarray(x * np.where(variance > 1e-24, 1 / np.maximum(variance, 1e-24), 0.0))


def _regress_observed(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, taken: int, *, joint: bool
) -> Float[np.ndarray, "column output"]:
    """Effects on each outcome by the rows in which it is observed."""
    slopes = np.zeros((x.shape[1], y.shape[1]))
    for o, row_weight in enumerate(weight.T):
        if row_weight.sum() - taken <= c.MIN_FREE:
            continue
        centred = x - np.average(x, axis=0, weights=row_weight)
        covariance = (centred.T * row_weight) @ centred / row_weight.sum()
        projection = _find_projection(centred, covariance, joint=joint)
        slopes[:, o] = (projection.T * row_weight) @ y[:, o] / row_weight.sum()
    return slopes


def _make_positive(covariance: np.ndarray) -> np.ndarray:
    """The covariance without negative eigenvalues: pairs of outcomes are observed in other rows."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    if values[0] >= 0:
        return covariance
    result = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size = scale / np.sqrt(np.maximum(np.diag(result), 1e-300))
    return np.asarray(result * np.outer(size, size))


def _find_error_ratio(
    projection: np.ndarray, residual: np.ndarray, weight: np.ndarray, leverage: np.ndarray
) -> Float[np.ndarray, " column"]:
    """Ratio of the robust to the usual standard errors of each column's effects.

    Squared residuals of rows with leverage h are divided by (1 - h)^d, d from 1 (HC2) to 2 (HC3:
    MacKinnon, White 1985) by h in units of its mean (HC4: Cribari-Neto 2004).
    """
    left = np.maximum(1 - leverage, 0.1)[:, None]
    squares = residual**2 / left
    mean = np.maximum(np.average(squares, axis=0, weights=weight), 1e-300)
    usual = max(float(np.average(leverage, weights=weight)), 1e-300)
    more = np.clip(leverage / usual - 1, 0, 1)[:, None]
    ratio = weigh_variances(projection**2 * weight[:, None], squares / left**more / mean)
    ratio = np.where(mean > 1e-24, np.sqrt(ratio), 1.0)  # a constant output has no noise
    return np.maximum(np.exp(np.log(np.maximum(ratio, 1e-3)).mean(axis=1)), c.MIN_ERROR_RATIO)


def find_overdispersion(sample: Sample, moments: Moments, inputs: int) -> float:
    """Mean of the chi-square of the effects over its degrees of freedom (Satorra, Bentler 1994).

    The mean is that under the covariance which the residuals have, sample by sample. 1 where
    outputs are missing, or with few samples.
    """
    samples, columns = sample.x.shape
    if sample.observed is not None or samples < c.SAMPLES_PER_INPUT * columns:
        return 1.0
    x, y = (table / np.maximum(table.std(axis=0), 1e-12) for table in (sample.x, sample.y))
    projection = _find_projection(x, x.T @ x / samples, joint=True)
    residual = y - x @ (projection.T @ y / samples)
    leverage = (projection * x).sum(axis=1) / samples
    ratio = _find_error_ratio(projection, residual, np.ones(samples), leverage)[:inputs]
    free = 1 - leverage - (1 + sample.covariates) / samples
    scaled = projection[:, :inputs] / ratio
    weight = ((scaled @ moments.inputs[:inputs, :inputs]) * scaled).sum(axis=1) / np.maximum(
        free, 0.1
    )
    distance = ((residual @ moments.precision) * residual).sum(axis=1)
    return float((weight * distance).mean() / (inputs * y.shape[1]))


def _standardise(
    moments: Moments,
    variance: Float[np.ndarray, " output"],
    observed: Float[np.ndarray, " output"],
    ratio: Float[np.ndarray, " column"],
    *,
    joint: bool,
) -> Moments:
    sx = np.sqrt(np.diag(moments.inputs))
    sy = np.sqrt(variance)
    moving = (sx > 1e-12)[:, None] & (sy > 1e-12)
    sx, sy = np.where(sx > 1e-12, sx, 1.0), np.where(sy > 1e-12, sy, 1.0)
    effects = moments.effects * sx[:, None] / sy * observed / ratio[:, None]
    residual = moments.residual / np.outer(sy, sy)
    outputs = len(residual)
    shrinkage = outputs / (outputs + moments.samples)
    residual = (1 - shrinkage) * residual + shrinkage * np.diag(np.diag(residual))
    residual = residual + c.MIN_RESIDUAL * np.eye(outputs)
    inputs = moments.inputs / np.outer(sx, sx) if joint else np.eye(len(sx))
    inputs[np.diag_indices(len(sx))] = 1.0
    effects = np.where(moving, effects, 0.0)
    return replace(moments, inputs=inputs, effects=effects, residual=residual)


def _leave_one_out(
    residual: np.ndarray, precision: np.ndarray
) -> Float[np.ndarray, "output output"]:
    """The residual covariance, each sample as a precision without it weighs it.

    Without the sample r the precision P gives P r / (1 - share r' P r), where the share is what
    shrinkage leaves to the samples (Sherman and Morrison 1950).
    """
    samples, outputs = residual.shape
    share = samples / (samples + outputs)
    left = 1 - share * ((residual @ precision) * residual).sum(axis=1)
    rows = residual / np.maximum(left, 0.1)[:, None]
    return np.asarray(rows.T @ rows)


def count_inputs(sample: Sample) -> int:
    """How many columns are inputs, not products."""
    return sum(owners == (i,) for i, owners in enumerate(sample.owners))


def can_add_products(sample: Sample) -> bool:
    """Whether products of inputs are looked for: few inputs, many samples, no gaps."""
    inputs = count_inputs(sample)
    is_enough = len(sample.x) >= c.SAMPLES_PER_FEATURED * inputs
    return inputs <= c.MAX_FEATURED and sample.observed is None and is_enough


def add_products(sample: Sample, moments: Moments, outcomes: np.ndarray) -> Sample:
    """Add squares and products of inputs that act on outputs where the inputs alone do not.

    The sum of squared effects of a product on what the inputs leave of the outputs, whitened, is a
    chi-square; it must pass 0.01 / number of tests, and one of its inputs have no clear effect.
    """
    inputs, outputs = moments.effects.shape
    if not can_add_products(sample):
        return sample
    white = np.linalg.cholesky(moments.precision)
    strength = ((moments.effects @ white) ** 2).sum(axis=1) * moments.samples
    faint = strength < stats.chi2.isf(c.FEATURE_LEVEL / inputs, outputs)
    pairs = [(i, i) for i in range(inputs) if len(np.unique(sample.x[:, i])) > 2]
    pairs += list(combinations(range(inputs), 2))
    pairs = [(i, j) for i, j in pairs if faint[i] or faint[j]]
    if not pairs:
        return sample
    y = outcomes - outcomes.mean(axis=0)
    spread = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
    basis = np.linalg.qr(sample.x)[0]
    y = y / spread
    y = y - basis @ (basis.T @ y)
    result = []
    root = np.linalg.cholesky(np.linalg.inv(y.T @ y / len(y) + c.MIN_RESIDUAL * np.eye(outputs)))
    for i, j in pairs:
        product = sample.x[:, i] * sample.x[:, j]
        product = product - product.mean()
        alone = product - basis @ (basis.T @ product)
        size = float(np.linalg.norm(alone))
        if size > 1e-6 * max(float(np.linalg.norm(product)), 1e-300):
            value = float((((alone / size) @ y @ root) ** 2).sum())
            if stats.chi2.sf(value, outputs) < c.FEATURE_LEVEL / len(pairs):
                result.append((value, (i, j), product))
    if not result:
        return sample
    result.sort(key=lambda one: (-one[0], one[1]))
    result = result[:inputs]
    columns = np.stack([product for _, _, product in result], axis=1)
    owners = tuple(tuple(sorted({i, j})) for _, (i, j), _ in result)
    return replace(
        sample, x=np.concatenate([sample.x, columns], axis=1), owners=sample.owners + owners
    )
