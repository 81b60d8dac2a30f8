"""DNN: feed-forward networks with L1, whose depth is searched too."""

from __future__ import annotations

import numpy as np

from rinn.config import NetSettings, RunSettings, Stream, Trial
from rinn.data.problem import Problem
from rinn.strategies.base import Networks
from rinn.strategies.planning import draw_default, draw_paper, plan_descent

DEPTHS = (1, 2, 3, 4, 5)
PAPER_RANDOM_SETS = 332
PAPER_GRID = {
    "kind": ("plain",),
    "layers": DEPTHS,
    "width": (8, 16),
    "learning_rate": (1e-2, 1e-3),
    "l1": (0.05, 0.01, 0.005, 0.001, 0.0005),
    "activation": ("relu", "sigmoid"),
    "optimiser": ("adam", "rmsprop"),
}


def plan_dnn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a DNN search, each setting on both splits."""
    rng = np.random.default_rng([settings.seed, Stream.DNN_TRIALS])

    def draw(widths: tuple[int, ...]) -> NetSettings:
        return draw_paper(rng, widths, kind="plain", layers=int(rng.choice(DEPTHS)))

    def default(number: int) -> NetSettings:
        return draw_default(rng, problem, kind="plain", layers=DEPTHS[number % len(DEPTHS)])

    return plan_descent(
        settings,
        problem,
        rng,
        random_sets=PAPER_RANDOM_SETS,
        grid=PAPER_GRID,
        draw=draw,
        default=default,
    )


DNN = Networks(
    title="feed-forward networks",
    plan=plan_dnn,
    takes_covariates=True,
    takes_missing=True,
    takes_mixed=True,
    takes_prior=True,
    setup="the networks of the budget, whose effects alone are read",
    assumes="as rinn; effects that plain networks learn",
    suits="a comparison of network types",
)
