"""ES-C: redundant-input networks whose weights, limited to legal values, evolve (Algorithm 2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rinn.config import EvolutionSettings, RunSettings, Stream, Trial
from rinn.data.problem import Problem
from rinn.nets.search import Engine
from rinn.strategies.base import Networks
from rinn.strategies.evolution.populations import Evolver, plan_populations
from rinn.strategies.planning import count_sets, draw_seed, make_trials

PAPER_SETS = 500
DEFAULT_SETS, DEFAULT_GENERATIONS = 16, 1500
# As the authors listed them: what stands twice was drawn twice as often.
ELITE_RATIOS = (0.7, 0.5, 0.45, 0.4, 0.4, 0.4, 0.35, 0.3, 0.25, 0.2, 0.2, 0.15, 0.1)
MUTATION_RATES = (0.006, 0.005, 0.004, 0.003, 0.002, 0.001, 0.001)
L1_RANGE = (5.0, 20.0)


def plan_esc(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the populations of an ES-C search, each on the first split."""
    rng = np.random.default_rng([settings.seed, Stream.ESC_TRIALS])
    if settings.budget == "paper":
        return make_trials([_draw(rng) for _ in range(PAPER_SETS)], settings, splits=1)
    sets = count_sets(settings, DEFAULT_SETS, splits=1)
    nets = [replace(_draw(rng), epochs=DEFAULT_GENERATIONS) for _ in range(sets)]
    return make_trials(nets, settings, splits=1)


def _draw(rng: np.random.Generator) -> EvolutionSettings:
    return EvolutionSettings(
        elite_ratio=float(rng.choice(ELITE_RATIOS)),
        mutation_rate=float(rng.choice(MUTATION_RATES)),
        l1=rng.uniform(*L1_RANGE),
        legal=str(rng.choice(["even", "uneven"])),
        seed=draw_seed(rng),
    )


ESC = Networks(
    title="constrained evolution of redundant-input networks",
    plan=plan_esc,
    engine=Engine(plan_populations, Evolver),
    takes_prior=True,
    setup="the populations of the budget, whose effects alone are read",
    assumes="as rinn; weights of a few values",
    suits="a comparison of ways to train",
)
