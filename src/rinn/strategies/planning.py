"""What the plans of several strategies share: settings to trials, and the authors' ranges."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rinn.config import SPLITS, EvolutionSettings, NetSettings, RunSettings, Trial
from rinn.data.problem import Problem, is_large
from rinn.errors import InputError

DEFAULT_SETS = 64
DEFAULT_STEPS = 8700  # as many as 300 epochs have with 5000 samples
MIN_EPOCHS = 60
DEFAULT_L1 = {"mse": (0.5, 2.0), "bce": (0.3, 1.5), "mixed": (0.5, 2.0)}
DEFAULT_MCP_THRESHOLD, DEFAULT_FINAL_LR_FACTOR = 0.5, 0.02
PAPER_EPOCHS = 3000
# Further sets for large problems, with larger layers.
MORE_SETS = 100
SMALL_WIDTHS, LARGE_WIDTHS = (8, 10, 20), (20, 30, 50)
PAPER_OUTPUTS = 16  # for which the authors published their L1 rates


def plan_descent(
    settings: RunSettings,
    problem: Problem,
    rng: np.random.Generator,
    *,
    random_sets: int,
    grid: Mapping[str, Sequence[Any]],
    draw: Callable[[tuple[int, ...]], NetSettings],
    default: Callable[[int], NetSettings],
) -> list[Trial]:
    """List trials: of the paper's budget random settings and a grid, else default ones."""
    if settings.budget != "paper":
        sets = count_sets(settings, DEFAULT_SETS)
        return make_trials([default(number) for number in range(sets)], settings)
    nets = [draw(SMALL_WIDTHS) for _ in range(random_sets)]
    for values in itertools.product(*grid.values()):
        net = dict(zip(grid, values, strict=True))
        nets.append(NetSettings(**net, seed=draw_seed(rng), epochs=PAPER_EPOCHS))
    more = MORE_SETS if is_large(problem) else 0
    nets += [draw(LARGE_WIDTHS) for _ in range(more)]
    return make_trials(fit_rates(nets, problem), settings)


def make_trials(
    nets: Sequence[NetSettings | EvolutionSettings], settings: RunSettings, splits: int = SPLITS
) -> list[Trial]:
    """Number the trials, the splits of a setting next to each other."""
    if settings.epochs is not None:
        nets = [replace(net, epochs=settings.epochs) for net in nets]
    trials = [
        Trial(number=splits * setting + split, setting=setting, split=split, net=net)
        for setting, net in enumerate(nets)
        for split in range(splits)
    ]
    if settings.trials is not None and settings.trials > len(trials):
        raise InputError(
            f"trials must be at most {len(trials)} for the budget {settings.budget!r}, got "
            f"{settings.trials}"
        )
    return trials[: settings.trials]


def fit_rates(nets: Sequence[NetSettings], problem: Problem) -> list[NetSettings]:
    """Scale the authors' L1 rates, made for 16 outputs: the loss is a mean over outputs."""
    factor = min(1.0, PAPER_OUTPUTS / len(problem.y))
    return [replace(net, l1=net.l1 * factor) for net in nets]


def count_sets(settings: RunSettings, usual: int, splits: int = SPLITS) -> int:
    """How many settings a default budget draws: enough for the trials, where they are given."""
    return usual if settings.trials is None else -(-settings.trials // splits)


def draw_default(rng: np.random.Generator, problem: Problem, **shape: Any) -> NetSettings:
    """Draw a setting of the default budget: the L1 rate relative to lambda_max of the data.

    With few samples there are more epochs, so that networks take the same number of steps.
    """
    low, high = DEFAULT_L1[problem.loss]
    epochs = _count_epochs(problem)
    return NetSettings(
        l1=problem.max_l1 * 10 ** -rng.uniform(low, high),
        learning_rate=10 ** -rng.uniform(2.0, 2.7),
        mcp_threshold=DEFAULT_MCP_THRESHOLD,
        final_lr_factor=DEFAULT_FINAL_LR_FACTOR,
        seed=draw_seed(rng),
        epochs=epochs,
        patience=epochs,
        **shape,
    )


def _count_epochs(problem: Problem) -> int:
    steps = max(1, len(problem.splits[0].train) // NetSettings.batch_size)
    return max(MIN_EPOCHS, round(DEFAULT_STEPS / steps))


def draw_paper(
    rng: np.random.Generator, widths: Sequence[int] = SMALL_WIDTHS, **shape: Any
) -> NetSettings:
    """Draw a setting from the authors' ranges."""
    return NetSettings(
        width=int(rng.choice(widths)),
        l1=10 ** -rng.uniform(2, 5.3),
        learning_rate=10 ** -rng.uniform(1, 4.5),
        batch_size=int(rng.choice([64, 128, 256])),
        activation=str(rng.choice(["relu", "sigmoid", "softplus"])),
        initialiser=str(rng.choice(["xavier", "he", "normal"])),
        optimiser=str(rng.choice(["adam", "rmsprop", "sgd"])),
        seed=draw_seed(rng),
        epochs=PAPER_EPOCHS,
        **shape,
    )


def draw_seed(rng: np.random.Generator) -> int:
    """Draw the seed of one network."""
    return int(rng.integers(2**31))
