"""The strategies: one file each, one line in this registry."""

from __future__ import annotations

from collections.abc import Callable

from rinn.config import RunSettings, Trial
from rinn.errors import InputError, suggest
from rinn.strategies.rinn import plan_rinn

STRATEGIES: dict[str, Callable[[RunSettings], list[Trial]]] = {
    "rinn": plan_rinn,
}


def plan_trials(settings: RunSettings) -> list[Trial]:
    """List the networks that a run with these settings trains.

    Args:
        settings: of the run.

    Returns:
        Trials, both splits of a setting next to each other.

    Raises:
        InputError: the strategy is unknown.

    Example:
        >>> trials = plan_trials(RunSettings(budget="paper"))
        >>> len(trials), trials[0].split, trials[1].split
        (880, 0, 1)
    """
    if settings.strategy not in STRATEGIES:
        raise InputError(
            f"strategy must be one of {', '.join(STRATEGIES)}, got {settings.strategy!r}"
            f"{suggest(settings.strategy, STRATEGIES)}."
        )
    return STRATEGIES[settings.strategy](settings)
