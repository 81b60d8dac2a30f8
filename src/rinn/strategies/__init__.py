"""The strategies: one file each, one line in this registry."""

from __future__ import annotations

from rinn.config import RunSettings, Trial
from rinn.data.problem import Problem
from rinn.errors import InputError, suggest
from rinn.strategies.base import Detected, Detection, Networks, Strategy
from rinn.strategies.dbn import BELIEF, plan_dbn
from rinn.strategies.dm import detect_dm
from rinn.strategies.dnn import plan_dnn
from rinn.strategies.esc import EVOLUTION, plan_esc
from rinn.strategies.regression import detect_regression
from rinn.strategies.rinn import plan_rinn

__all__ = [
    "STRATEGIES",
    "Detected",
    "Detection",
    "Networks",
    "Strategy",
    "find_strategy",
    "plan_trials",
]

STRATEGIES: dict[str, Strategy] = {
    "rinn": Networks("redundant-input neural networks", plan_rinn, is_optional=True),
    "dnn": Networks("plain feed-forward networks", plan_dnn),
    "dbn": Networks("deep belief networks on the outputs alone", plan_dbn, BELIEF, True),
    "esc": Networks("constrained evolution of redundant-input networks", plan_esc, EVOLUTION),
    "dm": Detection("Detect MIMIC", detect_dm),
    "regression": Detection(
        "linear regression of each output, and groups of inputs", detect_regression
    ),
}


def find_strategy(settings: RunSettings) -> Strategy:
    """Look a run's strategy up."""
    if settings.strategy not in STRATEGIES:
        raise InputError(
            f"strategy must be one of {', '.join(STRATEGIES)}, got {settings.strategy!r}"
            f"{suggest(settings.strategy, STRATEGIES, listed=False)}"
        )
    strategy = STRATEGIES[settings.strategy]
    for name in ("alpha_pc", "alpha_sober"):
        if settings.strategy != "dm" and getattr(settings, name) is not None:
            raise InputError(
                f"{name} must be given with the strategy dm only, got {getattr(settings, name)} "
                f"with {settings.strategy!r}; leave it out"
            )
    return strategy


def plan_trials(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks that a run with these settings trains.

    Args:
        settings: of the run.
        problem: its data, whose scale the L1 rates follow.

    Returns:
        Trials, the splits of a setting next to each other; none where the strategy trains no
        networks.

    Raises:
        InputError: the strategy is unknown.
    """
    strategy = find_strategy(settings)
    if isinstance(strategy, Detection):
        return []
    return strategy.plan(settings, problem)
