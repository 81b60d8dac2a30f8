"""How well a graph's network predicts, compared with free networks or a regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from rinn.data.adjustment import fit_adjustment
from rinn.data.problem import MANY_INPUTS, MIN_HELD_OUT, Problem, is_large, weigh_observed
from rinn.errors import InputError
from rinn.refit.effects import find_error
from rinn.refit.refit import Refit

MAX_LINEAR = 1000  # inputs of a regression by least squares: seconds
SAMPLES_PER_COLUMN = 3  # with fewer, a regression predicts poorly
NEGLIGIBLE = 1e-3  # of the outputs' variance, or of a bit or so
# Standard errors: of linear data a regression has the right form, while a graph's network with all
# its hidden units fits some noise, and is a little worse without leaving anything out.
MAX_ERRORS = 2.0


@dataclass(frozen=True)
class Comparison:
    """A graph's network compared with `other` models on the same test samples.

    `difference` is the graph's mean loss less theirs, `error` its standard error, paired over
    samples, of which it may be `max_errors` worse; it is infinite for a single sample, and not
    written then. `mean_loss` is that of guessing each output's mean, or by covariates alone;
    `regression_loss` and `network_loss` those of a regression on all inputs and of the best
    networks; None where there is none.
    """

    graph_loss: float
    free_loss: float
    difference: float
    error: float = math.inf
    other: str = "the best free network"
    mean_loss: float | None = None
    max_errors: float = 1.0
    regression_loss: float | None = None
    network_loss: float | None = None

    @property
    def is_adequate(self) -> bool:
        """Whether the graph's network is at most `max_errors` errors, or a thousandth, worse."""
        return self.difference <= max(self.max_errors * self.error, NEGLIGIBLE)

    def to_json(self) -> dict[str, Any]:
        """The numbers, the verdict and the sentence."""
        known = {name: value for name, value in vars(self).items() if value != math.inf}
        return known | {"is_adequate": self.is_adequate, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        numbers = (
            f"(loss {self.graph_loss:.4f} against {self.free_loss:.4f}, "
            f"difference {self.difference:.4f} ± {self.error:.4f}"
        )
        numbers += ")" if self.mean_loss is None else f"; with no input {self.mean_loss:.4f})"
        how = "worse than" if not self.is_adequate else "as well as"
        how = "better than" if self.difference < -max(self.error, NEGLIGIBLE) else how
        why = "" if self.is_adequate else ": the graph misses something in the data"
        return f"The graph's network predicts held-out samples {how} {self.other} {numbers}{why}."


def compare_losses(refit: Refit, free: Float[np.ndarray, "*net sample"]) -> Comparison:
    """Compare the graph's network with free ones that predicted the same test samples.

    Args:
        refit: from `refit_graph`.
        free: the loss of each test sample, in the same order and units; of several networks the
            mean is taken, as it is over the graph's models.

    Returns:
        The difference of the mean losses, its standard error, and a sentence.

    Raises:
        InputError: the number of samples differs.

    Example:
        >>> refit = Refit("mse", (), (), np.array([[1.0, 2.0, 3.0]]), (), (), np.zeros((9, 0)))
        >>> result = compare_losses(refit, np.array([1.0, 1.9, 2.5]))
        >>> round(result.difference, 6), result.is_adequate
        (0.2, False)
    """
    samples = refit.test_losses.shape[1]
    if not samples:
        raise InputError(
            f"refit must have losses of test samples, but none was held out, as with fewer than "
            f"{MIN_HELD_OUT} samples; compare on other samples"
        )
    theirs = np.asarray(free, np.float64).reshape(-1, np.shape(free)[-1]).mean(axis=0)  # [sample]
    if len(theirs) != samples:
        raise InputError(
            f"free must hold one loss for each of the {samples} test samples, got {len(theirs)}"
        )
    ours = refit.test_losses.mean(axis=0)  # [sample]
    difference = ours - theirs
    return Comparison(
        graph_loss=float(ours.mean()),
        free_loss=float(theirs.mean()),
        difference=float(difference.mean()),
        error=find_error(difference),
    )


def compare_regression(refit: Refit, problem: Problem) -> Comparison:
    """Compare a graph's network with a regression of each output on all inputs and covariates.

    With many inputs, or few samples for each, it is compared with each output's mean.
    """
    covariates = _find_covariates(problem)
    mean = _score_regression(problem, covariates)
    guess = "covariates alone" if covariates.size else "each output's mean"
    if is_large(problem) or _has_few_samples(problem):
        comparison = replace(compare_losses(refit, mean), other=guess, max_errors=MAX_ERRORS)
        return replace(comparison, regression_loss=_find_regression_loss(problem))
    losses = _score_regression(problem, np.hstack([covariates, problem.x.T]))
    return replace(
        compare_losses(refit, losses),
        other="a regression on all inputs",
        mean_loss=float(mean.mean()),
        regression_loss=float(losses.mean()),
        max_errors=MAX_ERRORS,
    )


def compare_networks(
    refit: Refit, free: Float[np.ndarray, "*net sample"], problem: Problem
) -> Comparison:
    """Compare a graph's network with the best free ones, a regression, and each output's mean."""
    comparison = compare_losses(refit, free)
    return replace(
        comparison,
        mean_loss=float(_score_regression(problem, _find_covariates(problem)).mean()),
        regression_loss=_find_regression_loss(problem),
        network_loss=comparison.free_loss,
    )


def _find_covariates(problem: Problem) -> Float[np.ndarray, "sample column"]:
    if problem.adjustment is None:
        return np.zeros((problem.x.shape[1], 0))
    return np.asarray(problem.adjustment.design.T)


def _has_few_samples(problem: Problem) -> bool:
    return len(problem.splits[0].train) < SAMPLES_PER_COLUMN * len(problem.x)


def _find_regression_loss(problem: Problem) -> float | None:
    """The mean loss of a regression on all inputs; None where it would be poor or take long."""
    is_linear = problem.likelihood.loss == "mse" and problem.observed is None
    most = MAX_LINEAR if is_linear else MANY_INPUTS
    if len(problem.x) > most or _has_few_samples(problem):
        return None
    columns = np.hstack([_find_covariates(problem), problem.x.T])
    return float(_score_regression(problem, columns).mean())


def _score_regression(
    problem: Problem, columns: Float[np.ndarray, "sample column"]
) -> Float[np.ndarray, "split sample"]:
    """The loss of each test sample by a regression on these columns in each split."""
    trains = [split.train for split in problem.splits]
    fitted = fit_adjustment(columns, problem.y, problem.likelihood, trains, problem.observed)
    y = problem.y[:, problem.test].astype(np.float64)
    raw = fitted.offset[:, :, problem.test].astype(np.float64)  # [split, output, sample]
    each = np.stack([problem.likelihood.measure(values, y) for values in raw])
    return np.asarray((each * weigh_observed(problem, problem.test)).mean(axis=1))
