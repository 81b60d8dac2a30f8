"""RINN: redundant-input networks with L1 (Young, Andrews, Cooper, Lu 2020)."""

from __future__ import annotations

import itertools

import numpy as np

from rinn.config import SPLITS, NetSettings, RunSettings, Trial
from rinn.errors import InputError
from rinn.problem import Problem, find_price

DEFAULT_SETS = 64
DEFAULT_L1 = {"mse": (0.75, 1.75), "bce": (0.4, 1.2)}
PAPER_RANDOM_SETS = 200
PAPER_EPOCHS = 3000


def plan_rinn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a RINN search, each setting on both splits.

    Args:
        settings: budget `paper` is the authors' space (200 random and 240 grid settings);
            `default` draws the L1 rate relative to the data's own price.
        problem: the data.

    Returns:
        Trials; with `trials` given, the first so many.
    """
    rng = np.random.default_rng([settings.seed, 3])
    nets = _paper_nets(rng) if settings.budget == "paper" else _default_nets(rng, settings, problem)
    if settings.epochs is not None:
        nets = [_with_epochs(net, settings.epochs) for net in nets]
    trials = [
        Trial(number=SPLITS * setting + split, setting=setting, split=split, net=net)
        for setting, net in enumerate(nets)
        for split in range(SPLITS)
    ]
    if settings.trials is not None and settings.trials > len(trials):
        raise InputError(
            f"trials must be at most {len(trials)} for the budget {settings.budget!r}, got "
            f"{settings.trials}"
        )
    return trials[: settings.trials]


def _default_nets(
    rng: np.random.Generator, settings: RunSettings, problem: Problem
) -> list[NetSettings]:
    low, high = DEFAULT_L1[problem.loss]
    price = find_price(problem)
    sets = DEFAULT_SETS if settings.trials is None else -(-settings.trials // SPLITS)
    return [_draw_default(rng, price * 10 ** -rng.uniform(low, high)) for _ in range(sets)]


def _draw_default(rng: np.random.Generator, l1: float) -> NetSettings:
    return NetSettings(
        width=12,
        l1=l1,
        learning_rate=10 ** -rng.uniform(2.0, 2.7),
        seed=_draw_seed(rng),
        epochs=300,
    )


def _paper_nets(rng: np.random.Generator) -> list[NetSettings]:
    """The authors' 200 random and 240 grid settings."""
    drawn = [_draw_paper(rng) for _ in range(PAPER_RANDOM_SETS)]
    grid = itertools.product(
        ("normal", "he"),
        (8, 16),
        (1e-2, 1e-3, 1e-4),
        (0.05, 0.01, 0.005, 0.001, 0.0005),
        ("relu", "sigmoid"),
        ("adam", "rmsprop"),
    )
    return drawn + [
        NetSettings(
            initialiser=initialiser,
            width=width,
            learning_rate=learning_rate,
            l1=l1,
            activation=activation,
            optimiser=optimiser,
            seed=_draw_seed(rng),
            epochs=PAPER_EPOCHS,
        )
        for initialiser, width, learning_rate, l1, activation, optimiser in grid
    ]


def _draw_paper(rng: np.random.Generator) -> NetSettings:
    return NetSettings(
        width=int(rng.choice([8, 10, 20])),
        l1=10 ** -rng.uniform(2, 5.3),
        learning_rate=10 ** -rng.uniform(1, 4.5),
        batch_size=int(rng.choice([64, 128, 256])),
        activation=str(rng.choice(["relu", "sigmoid", "softplus"])),
        initialiser=str(rng.choice(["xavier", "he", "normal"])),
        optimiser=str(rng.choice(["adam", "rmsprop", "sgd"])),
        seed=_draw_seed(rng),
        epochs=PAPER_EPOCHS,
    )


def _with_epochs(net: NetSettings, epochs: int) -> NetSettings:
    return NetSettings(**{**net.__dict__, "epochs": epochs})


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
