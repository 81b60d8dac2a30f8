"""How far sampling alone moves effects where covariates act on the outputs as well.

Levels of a covariate differ in how uncertain an output is, and inputs in how they are spread over
the levels: a gene altered in one tissue alone is measured by that tissue's samples. So each pair of
input and output has an error of its own.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from rinn.confounding import Adjustment
from rinn.confounding.directions import find_basis
from rinn.problem import Problem

LEAST_OWN = 0.1  # of an input's variance: what covariates leave of it counts for no less
LEAST_VARIANCE = 0.1  # of an output's mean variance, for numbers


def find_adjusted_errors(
    problem: Problem, adjustment: Adjustment, rows: np.ndarray
) -> Float[np.ndarray, "input output"]:
    """Find the sampling error of an input's effect in networks that are given the offset.

    At first order such a network finds sum x~ r / sum w x^2 for an input x, where r is what the
    covariates leave of the output, x~ what they leave of the input, and w = p (1 - p), or 1 for
    numbers. Its sampling error is sqrt(sum x~^2 v) / sum w x^2, with v the variance of r, here
    for one standard deviation of the input. Without covariates this is 1 / sqrt(n), and
    1 / sqrt(n p (1 - p)) in log odds.

    Args:
        problem: the data.
        adjustment: what its covariates say.
        rows: the samples to count.

    Returns:
        Errors in the networks' units.
    """
    x = problem.x[:, rows].astype(np.float64)
    x -= x.mean(axis=1, keepdims=True)
    own = x - project(adjustment.design[:, rows], x)
    variance = find_variances(problem, adjustment, rows)  # [output, sample]
    weight = variance if problem.loss == "bce" else np.ones_like(variance)
    if problem.known is not None:
        variance, weight = (part * problem.known[:, rows] for part in (variance, weight))
    total = weight.sum(axis=1)
    moments = x**2 @ weight.T - (x @ weight.T) ** 2 / total  # [input, output], about the mean
    least = np.finfo(float).tiny
    usual = x**2 @ variance.T
    scatter = np.maximum(own**2 @ variance.T, LEAST_OWN * usual)
    spread = x.std(axis=1)[:, None]
    return (
        np.sqrt(np.maximum(scatter, least)) / np.maximum(moments, 1e-9) * np.maximum(spread, 1e-9)
    )


def find_variances(
    problem: Problem, adjustment: Adjustment, rows: np.ndarray
) -> Float[np.ndarray, "output sample"]:
    """Find how uncertain each output of each sample is, given its covariates.

    p (1 - p) for outputs that are 0 or 1; for others the squared distance from what is expected,
    by least squares on the covariates.

    Args:
        problem: the data.
        adjustment: what its covariates say.
        rows: the samples.

    Returns:
        Variances above zero, in the networks' units.
    """
    expected = adjustment.expected.mean(axis=0)[:, rows]
    if problem.loss == "bce":
        return np.maximum(expected * (1 - expected), 1 / len(rows))
    squares = (problem.y[:, rows] - expected) ** 2
    weight = weigh_each(problem, rows)
    mean = (squares * weight).mean(axis=1, keepdims=True)
    fitted = mean + project(adjustment.design[:, rows], (squares - mean) * weight)
    return np.maximum(fitted, np.maximum(LEAST_VARIANCE * mean, 1e-12))


def weigh_each(problem: Problem, rows: np.ndarray) -> Float[np.ndarray, "output sample"] | float:
    """What the samples of each output count: none where it is missing, on average 1."""
    if problem.known is None:
        return 1.0
    known = problem.known[:, rows]
    return known / np.maximum(known.mean(axis=1, keepdims=True), 1 / known.shape[1])


def project(
    design: Float[np.ndarray, "column sample"], values: Float[np.ndarray, "row sample"]
) -> Float[np.ndarray, "row sample"]:
    """What straight lines in the covariates say of centred values.

    Example:
        >>> project(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[-3.0, -1.0, 1.0, 3.0]]))
        array([[-2., -2.,  2.,  2.]])
    """
    basis = find_basis(design)
    return values @ basis @ basis.T
