"""What covariates do to the outputs, apart from the graph: a table and a sentence."""

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
    seen = np.sort(problem.seen)
    observed = None if problem.observed is None else problem.observed[:, seen].T
    numbers = covariates.take(seen).numbers
    model = fit_covariates(numbers, problem.y[:, seen].T, problem.likelihood, observed)
    std, mean = problem.likelihood.link.std, problem.likelihood.link.mean
    references = {c.name: c.levels[0] if c.levels else "" for c in covariates.codings}
    columns = [(INTERCEPT, "", ""), *((n, lv, references[n]) for n, lv in covariates.columns)]
    rows = []
    for o, output in enumerate(outputs):
        for c, column in enumerate(columns):
            coefficient = model.coefficients[c, o] * std[o] + (0 if c else mean[o])
            rows.append((output, *column, coefficient, model.errors[c, o] * std[o]))
    names = ["output", "covariate", "level", "reference", "coefficient", "standard_error"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def summarise_covariates(problem: Problem, covariates: Covariates) -> CovariateSummary:
    """Say how much of the outputs the covariates alone explain, for the manifest."""
    fraction = _find_fraction(problem)
    what = "variance" if problem.loss == "mse" else "deviance"
    names = quote_some(covariates.names).replace("'", "")
    return CovariateSummary(
        names=tuple(covariates.names),
        columns=tuple({"covariate": name, "level": level} for name, level in covariates.columns),
        fraction=fraction,
        sentence=(
            f"Covariates alone ({names}) explain {100 * max(fraction, 0.0):.0f}% of the outputs' "
            f"{what} in samples left out of their fit; they act on the outputs directly and are "
            f"not part of the graph."
        ),
        notes=tuple(covariates.notes),
    )


def _find_fraction(problem: Problem) -> float:
    """1 - L(covariates) / L(mean), where L is the loss summed over validation samples."""
    if problem.adjustment is None:
        return 0.0
    adjusted = total = 0.0
    for split, offset in zip(problem.splits, problem.adjustment.offset, strict=True):
        empty = np.zeros((len(split.train), 0))
        observed = None if problem.observed is None else problem.observed[:, split.train].T
        model = fit_covariates(empty, problem.y[:, split.train].T, problem.likelihood, observed)
        mean = np.broadcast_to(model.coefficients.T, (len(problem.y), len(split.validation)))
        adjusted += _sum_losses(problem, split.validation, offset[:, split.validation])
        total += _sum_losses(problem, split.validation, mean)
    return 1 - adjusted / total if total > 0 else 0.0


def _sum_losses(problem: Problem, rows: np.ndarray, raw: np.ndarray) -> float:
    y = problem.y[:, rows].astype(np.float64)
    each = problem.likelihood.measure(raw.astype(np.float64), y)
    return float(each.sum() if problem.observed is None else each[problem.observed[:, rows]].sum())
