"""The strategies: one file each, one line in this registry."""

from __future__ import annotations

from rinn.config import RunSettings, Trial, check_choice
from rinn.data.problem import Problem
from rinn.errors import InputError
from rinn.strategies.base import Detection, Networks, Strategy
from rinn.strategies.dbn import DBN
from rinn.strategies.dm import DM
from rinn.strategies.dnn import DNN
from rinn.strategies.esc import ESC
from rinn.strategies.peers.fci import FCI
from rinn.strategies.peers.gin import GIN
from rinn.strategies.peers.multitask_lasso import MULTITASK_LASSO
from rinn.strategies.peers.nem import NEM
from rinn.strategies.peers.rlcd import RLCD
from rinn.strategies.peers.sparse_pca import SPARSE_PCA
from rinn.strategies.regression import REGRESSION
from rinn.strategies.rinn import RINN

STRATEGIES: dict[str, Strategy] = {
    "rinn": RINN,
    "dnn": DNN,
    "dbn": DBN,
    "esc": ESC,
    "dm": DM,
    "regression": REGRESSION,
    "nem": NEM,
    "sparse-pca": SPARSE_PCA,
    "multitask-lasso": MULTITASK_LASSO,
    "fci": FCI,
    "gin": GIN,
    "rlcd": RLCD,
}


def find_strategy(settings: RunSettings) -> Strategy:
    """Look up the strategy of a run; refuse settings that it cannot take."""
    name = settings.strategy
    strategy = STRATEGIES[check_choice("strategy", name, STRATEGIES)]
    if not strategy.is_installed:
        raise InputError(
            f"strategy must be one that is installed, but {explain_absence(name)}, or choose "
            f"another strategy"
        )
    for owner, other in STRATEGIES.items():
        for option in set(other.options) - set(strategy.options):
            if getattr(settings, option) is not None:
                raise InputError(
                    f"{option} must be given with the strategy {owner} only, got "
                    f"{getattr(settings, option)} with {name!r}; leave it out"
                )
    if isinstance(strategy, Detection):
        for option in ("epochs",) if strategy.takes_trials else ("epochs", "trials"):
            if getattr(settings, option) is not None:
                raise InputError(
                    f"{option} must not be given with the strategy {name}, which trains nothing, "
                    f"got {getattr(settings, option)}; leave it out"
                )
    return strategy


def explain_absence(name: str) -> str:
    """Say how to install the package that a strategy needs."""
    return f"{name} needs the package {STRATEGIES[name].package}: pip install 'rinn[peers]'"


def list_strategies(field: str) -> str:
    """Name the strategies that can take something, for an error message.

    Example:
        >>> list_strategies("takes_prior")
        'rinn, dnn or esc'
    """
    *names, last = [name for name, strategy in STRATEGIES.items() if getattr(strategy, field)]
    return f"{', '.join(names)} or {last}" if names else last


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
    return strategy.plan(settings, problem) if isinstance(strategy, Networks) else []
