"""RINN: redundant-input networks with L1 (Young, Andrews, Cooper, Lu 2020)."""

from __future__ import annotations

import numpy as np

from rinn.config import NetSettings, RunSettings, Stream, Trial
from rinn.data.problem import Problem, is_large
from rinn.strategies.base import Networks
from rinn.strategies.planning import (
    DEFAULT_SETS,
    LARGE_WIDTHS,
    MORE_SETS,
    count_sets,
    draw_default,
    draw_paper,
    fit_rates,
    make_grid,
    make_trials,
)

PAPER_RANDOM_SETS = 200
LARGE_WIDTH = 24  # of the default budget, for large problems


def plan_rinn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a RINN search, each setting on both splits."""
    rng = np.random.default_rng([settings.seed, Stream.RINN_TRIALS])
    if settings.budget == "paper":
        return make_trials(fit_rates(_paper_nets(rng, problem), problem), settings)
    sets = count_sets(settings, DEFAULT_SETS)
    width = LARGE_WIDTH if is_large(problem) else NetSettings.width
    nets = [draw_default(rng, problem, width=width) for _ in range(sets)]
    return make_trials(nets, settings)


def _paper_nets(rng: np.random.Generator, problem: Problem) -> list[NetSettings]:
    """The authors' 200 random and 240 grid settings, and those for large problems."""
    drawn = [draw_paper(rng) for _ in range(PAPER_RANDOM_SETS)]
    gridded = make_grid(
        rng,
        initialiser=("normal", "he"),
        width=(8, 16),
        learning_rate=(1e-2, 1e-3, 1e-4),
        l1=(0.05, 0.01, 0.005, 0.001, 0.0005),
        activation=("relu", "sigmoid"),
        optimiser=("adam", "rmsprop"),
    )
    more = MORE_SETS if is_large(problem) else 0
    return drawn + gridded + [draw_paper(rng, LARGE_WIDTHS) for _ in range(more)]


RINN = Networks(
    title="redundant-input neural networks",
    plan=plan_rinn,
    is_optional=True,
    takes_covariates=True,
    takes_missing=True,
    takes_mixed=True,
    takes_prior=True,
)
