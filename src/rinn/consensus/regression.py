"""Effects by linear regression, for tables too wide for the networks to show weak ones."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from rinn.consensus.adjusted import find_basis, find_variances
from rinn.consensus.effects import REGRESSION, Effects
from rinn.problem import Problem, is_large

SAMPLES_PER_INPUT = 3
FEWEST_FREE = 10  # samples beyond the inputs: with fewer an output says nothing


def wants_regression(problem: Problem) -> bool:
    """Whether effects are better read from a regression than from networks.

    With hundreds of inputs the L1 penalty that keeps networks readable also removes effects that
    a test would find. A regression on all inputs at once needs several samples for each of them.

    Args:
        problem: the data.

    Returns:
        True for more than 100 inputs with at least three samples each, in which an output is known
        on average.
    """
    samples = float(len(problem.seen))
    if problem.known is not None:
        samples *= problem.known[:, problem.seen].mean()
    return is_large(problem) and samples >= SAMPLES_PER_INPUT * len(problem.x)


def regress_effects(problem: Problem) -> Effects:
    """Measure what each input does to each output, all other inputs held fixed, by regression.

    Binary outputs and counts are regressed as numbers: what counts is the effect in units of its
    error, which is hardly another in a logistic regression. Outputs that are missing in the same
    samples are regressed together on the others. Covariates are regressed on as well; errors then
    follow how uncertain each output is at their levels (White 1980: A heteroskedasticity-consistent
    covariance matrix estimator).

    Args:
        problem: the data; test samples are not looked at.

    Returns:
        Effects in units of their sampling error, of all samples and of each split's training
        samples; `error` is that of one standard deviation of an input.

    Example:
        >>> from rinn.problem import make_problem
        >>> from rinn.records import Data
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> noise = np.random.default_rng(1).normal(size=(1000, 1))
        >>> data = Data(x, x[:, :1] + noise, ("a", "b"), ("y",))
        >>> regress_effects(make_problem(data)).all.round(0)
        array([[29.],
               [ 1.]])
    """
    seen = np.sort(problem.seen)
    whole, error = _regress(problem, seen)
    each = [_regress(problem, np.sort(split.train))[0] for split in problem.splits]
    splits = tuple(range(len(each)))
    return Effects(whole, np.stack(each), error, splits, source=REGRESSION)


def _regress(
    problem: Problem, rows: np.ndarray
) -> tuple[Float[np.ndarray, "input output"], Float[np.ndarray, " output"]]:
    """Effects in units of their error, and that error, by the samples that know each output."""
    outputs = len(problem.y)
    if problem.known is None:
        return _regress_some(problem, rows, np.arange(outputs))
    effects, errors = np.zeros((len(problem.x), outputs)), np.ones(outputs)
    taken = len(problem.x) + (0 if problem.adjustment is None else len(problem.adjustment.design))
    patterns, which = np.unique(problem.known[:, rows], axis=0, return_inverse=True)
    for number, known in enumerate(patterns):
        some = np.flatnonzero(which == number)
        if known.sum() - taken > FEWEST_FREE:
            effects[:, some], errors[some] = _regress_some(problem, rows[known], some)
    return effects, errors


def _regress_some(
    problem: Problem, rows: np.ndarray, outputs: np.ndarray
) -> tuple[Float[np.ndarray, "input output"], Float[np.ndarray, " output"]]:
    x = problem.x[:, rows].T.astype(np.float64)
    y = problem.y[np.ix_(outputs, rows)].T.astype(np.float64)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    samples, inputs = x.shape
    taken = 0
    if problem.adjustment is not None:
        basis = find_basis(problem.adjustment.design[:, rows])
        x, y = (table - basis @ (basis.T @ table) for table in (x, y))
        taken = basis.shape[1]
    # Inputs that others say exactly have no effect of their own; the ridge keeps them finite.
    inverse = np.linalg.inv(x.T @ x + 1e-6 * samples * np.eye(inputs))
    slopes = inverse @ (x.T @ y)  # [input, output]
    free = max(samples - inputs - taken - 1, 1)
    spread = np.sqrt(((y - x @ slopes) ** 2).sum(axis=0) / free)  # [output]
    errors = np.sqrt(np.diag(inverse))[:, None] * np.maximum(spread, 1e-12)
    if problem.adjustment is not None:
        errors = errors * _find_unevenness(
            x @ inverse, find_variances(problem, problem.adjustment, rows)[outputs]
        )
    return slopes / errors, spread / np.sqrt(samples)


def _find_unevenness(
    readers: Float[np.ndarray, "sample input"], variances: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, "input output"]:
    """How much larger an error is as the samples that tell an effect are the uncertain ones."""
    share = readers**2
    total = share.sum(axis=0)
    share = np.divide(share, total, out=np.full_like(share, 1 / len(share)), where=total > 0)
    return np.sqrt(share.T @ (variances / variances.mean(axis=1, keepdims=True)).T)
