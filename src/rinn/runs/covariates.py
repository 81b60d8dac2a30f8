"""What covariates do to the outputs, told apart from the graph: a table and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rinn.data.adjustment import fit_covariates
from rinn.data.covariates import Covariates
from rinn.errors import quote_some
from rinn.runs.manifest import CovariateSummary

if TYPE_CHECKING:
    from rinn.data.problem import Problem

COVARIATES = "covariates.csv"
INTERCEPT = "(intercept)"


def tabulate_covariates(
    problem: Problem, covariates: Covariates, outputs: Sequence[str]
) -> pd.DataFrame:
    """List what each covariate alone does to each output, fitted outside the test set."""
    rows = np.sort(problem.seen)
    known = None if problem.observed is None else problem.observed[:, rows].T
    numbers = covariates.take(rows).numbers
    model = fit_covariates(numbers, problem.y[:, rows].T, problem.likelihood, known)
    scale, centre = problem.likelihood.link.std, problem.likelihood.link.mean
    references = {c.name: c.levels[0] if c.levels else "" for c in covariates.codings}
    columns = [(INTERCEPT, "", ""), *((n, lv, references[n]) for n, lv in covariates.columns)]
    found = []
    for o, output in enumerate(outputs):
        for c, place in enumerate(columns):
            coefficient = model.coefficients[c, o] * scale[o] + (0 if c else centre[o])
            found.append((output, *place, coefficient, model.errors[c, o] * scale[o]))
    names = ["output", "covariate", "level", "reference", "coefficient", "standard_error"]
    return pd.DataFrame(found, columns=pd.Index(names))


def summarise_covariates(problem: Problem, covariates: Covariates) -> CovariateSummary:
    """Say how much of the outputs the covariates alone explain, for the manifest.

    The share is 1 - L(covariates) / L(mean), where L is the loss summed over the outputs and the
    validation samples of both splits, and covariates and mean know the training samples alone.
    """
    share = _find_share(problem)
    what = "variance" if problem.loss == "mse" else "deviance"
    names = quote_some(covariates.names).replace("'", "")
    return CovariateSummary(
        names=tuple(covariates.names),
        columns=tuple({"covariate": name, "level": level} for name, level in covariates.columns),
        share=share,
        sentence=(
            f"Covariates alone ({names}) explain {100 * max(share, 0.0):.0f} % of the outputs' "
            f"{what} in held-out samples; they act on the outputs directly and are no part of the "
            f"graph."
        ),
        notes=tuple(covariates.notes),
    )


def _find_share(problem: Problem) -> float:
    if problem.adjustment is None:
        return 0.0
    left = whole = 0.0
    for split, offset in zip(problem.splits, problem.adjustment.offset, strict=True):
        nothing = np.zeros((len(split.train), 0))
        known = None if problem.observed is None else problem.observed[:, split.train].T
        plain = fit_covariates(nothing, problem.y[:, split.train].T, problem.likelihood, known)
        mean = np.broadcast_to(plain.coefficients.T, (len(problem.y), len(split.validation)))
        left += _sum_losses(problem, split.validation, offset[:, split.validation])
        whole += _sum_losses(problem, split.validation, mean)
    return 1 - left / whole if whole > 0 else 0.0


def _sum_losses(problem: Problem, rows: np.ndarray, raw: np.ndarray) -> float:
    y = problem.y[:, rows].astype(np.float64)
    each = problem.likelihood.measure(raw.astype(np.float64), y)
    return float(each.sum() if problem.observed is None else each[problem.observed[:, rows]].sum())
