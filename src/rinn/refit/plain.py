"""A graph's network beside a plain regression, where there are no free networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from rinn.data.adjustment import fit_adjustment
from rinn.data.problem import Problem, is_large, weigh_observed
from rinn.refit.refit import Comparison, Refit, compare_losses

# Standard errors: of linear data a regression has the right form, while a graph's network with all
# its curves fits some noise, and is a little worse without leaving anything out.
MAX_ERRORS = 2.0
SAMPLES_PER_INPUT = 3  # with fewer a regression on all inputs predicts nothing


def compare_regression(refit: Refit, problem: Problem) -> Comparison:
    """Set a graph's network beside a regression of each output on all inputs.

    The regression is linear, logistic or log-linear, as the output is a number, 0 or 1, or a count.
    With more than 100 inputs, or fewer than three samples for each, only each output's mean stands
    beside the graph. Covariates take part in all of them.
    """
    samples = problem.x.shape[1]
    covariates = np.zeros((samples, 0))
    if problem.adjustment is not None:
        covariates = problem.adjustment.design.T
    mean = _find_losses(problem, covariates)
    guess = "covariates alone" if covariates.size else "each output's mean"
    if is_large(problem) or len(problem.splits[0].train) < SAMPLES_PER_INPUT * len(problem.x):
        return replace(compare_losses(refit, mean), other=guess, max_errors=MAX_ERRORS)
    losses = _find_losses(problem, np.hstack([covariates, problem.x.T]))
    return replace(
        compare_losses(refit, losses),
        other="a regression on all inputs",
        mean_loss=float(mean.mean()),
        max_errors=MAX_ERRORS,
    )


def _find_losses(
    problem: Problem, columns: Float[np.ndarray, "sample column"]
) -> Float[np.ndarray, "split sample"]:
    """The loss of each test sample by a regression on these columns in each split."""
    trains = [split.train for split in problem.splits]
    found = fit_adjustment(columns, problem.y, problem.likelihood, trains, problem.observed)
    y = problem.y[:, problem.test].astype(np.float64)
    raw = found.offset[:, :, problem.test].astype(np.float64)  # [split, output, sample]
    each = np.stack([problem.likelihood.measure(own, y) for own in raw])
    return np.asarray((each * weigh_observed(problem, problem.test)).mean(axis=1))
