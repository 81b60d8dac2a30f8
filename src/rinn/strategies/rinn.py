"""RINN: redundant-input networks with L1 (Young, Andrews, Cooper, Lu 2020)."""

from __future__ import annotations

import numpy as np

from rinn.config import NetSettings, RunSettings, Stream, Trial
from rinn.data.problem import Problem, is_large
from rinn.strategies.base import Networks
from rinn.strategies.planning import draw_default, draw_paper, plan_descent

PAPER_RANDOM_SETS = 200
PAPER_GRID = {
    "initialiser": ("normal", "he"),
    "width": (8, 16),
    "learning_rate": (1e-2, 1e-3, 1e-4),
    "l1": (0.05, 0.01, 0.005, 0.001, 0.0005),
    "activation": ("relu", "sigmoid"),
    "optimiser": ("adam", "rmsprop"),
}
LARGE_WIDTH = 24  # of the default budget, for large problems


def plan_rinn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a RINN search, each setting on both splits."""
    rng = np.random.default_rng([settings.seed, Stream.RINN_TRIALS])
    width = LARGE_WIDTH if is_large(problem) else NetSettings.width
    return plan_descent(
        settings,
        problem,
        rng,
        random_sets=PAPER_RANDOM_SETS,
        grid=PAPER_GRID,
        draw=lambda widths: draw_paper(rng, widths),
        default=lambda number: draw_default(rng, problem, width=width),
    )


RINN = Networks(
    title="redundant-input neural networks",
    plan=plan_rinn,
    is_optional=True,
    takes_covariates=True,
    takes_missing=True,
    takes_mixed=True,
    takes_few=True,
    takes_prior=True,
    setup="as rinn fit without options",
    assumes="no unmeasured cause of both X and Y; latents that differ in their outputs",
)
