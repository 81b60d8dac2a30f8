"""DNN: feed-forward networks with L1, whose depth is searched too."""

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

DEPTHS = (1, 2, 3, 4, 5)
PAPER_RANDOM_SETS = 332


def plan_dnn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a DNN search, each setting on both splits."""
    rng = np.random.default_rng([settings.seed, Stream.DNN_TRIALS])
    if settings.budget == "paper":
        return make_trials(fit_rates(_paper_nets(rng, problem), problem), settings)
    sets = range(count_sets(settings, DEFAULT_SETS))
    depths = [DEPTHS[number % len(DEPTHS)] for number in sets]
    return make_trials(
        [draw_default(rng, problem, kind="plain", layers=depth) for depth in depths], settings
    )


def _paper_nets(rng: np.random.Generator, problem: Problem) -> list[NetSettings]:
    def draw(*widths: tuple[int, ...]) -> NetSettings:
        return draw_paper(rng, *widths, kind="plain", layers=int(rng.choice(DEPTHS)))

    drawn = [draw() for _ in range(PAPER_RANDOM_SETS)]
    gridded = make_grid(
        rng,
        kind=("plain",),
        layers=DEPTHS,
        width=(8, 16),
        learning_rate=(1e-2, 1e-3),
        l1=(0.05, 0.01, 0.005, 0.001, 0.0005),
        activation=("relu", "sigmoid"),
        optimiser=("adam", "rmsprop"),
    )
    more = MORE_SETS if is_large(problem) else 0
    return drawn + gridded + [draw(LARGE_WIDTHS) for _ in range(more)]


DNN = Networks(
    title="feed-forward networks",
    plan=plan_dnn,
    takes_covariates=True,
    takes_missing=True,
    takes_mixed=True,
    takes_prior=True,
)
