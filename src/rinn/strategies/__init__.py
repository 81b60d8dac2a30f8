"""The strategies: one file each, one line in this registry."""

from __future__ import annotations

from collections.abc import Callable

from rinn.config import RunSettings, Trial
from rinn.errors import InputError, suggest
from rinn.problem import Problem
from rinn.strategies.rinn import plan_rinn

STRATEGIES: dict[str, Callable[[RunSettings, Problem], list[Trial]]] = {
    "rinn": plan_rinn,
}


def plan_trials(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks that a run with these settings trains.

    Args:
        settings: of the run.
        problem: its data, whose scale the L1 rates follow.

    Returns:
        Trials, both splits of a setting next to each other.

    Raises:
        InputError: the strategy is unknown.
    """
    if settings.strategy not in STRATEGIES:
        raise InputError(
            f"strategy must be one of {', '.join(STRATEGIES)}, got {settings.strategy!r}"
            f"{suggest(settings.strategy, STRATEGIES, listed=False)}"
        )
    return STRATEGIES[settings.strategy](settings, problem)
