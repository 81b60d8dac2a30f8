"""Settings of one network and of a whole run, with their checks: the only place of defaults."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from rinn.errors import InputError, suggest

ACTIVATIONS = ("relu", "sigmoid", "tanh", "softplus")
OPTIMISERS = ("adam", "rmsprop", "sgd")
INITIALISERS = ("xavier", "he", "normal")
LOSSES = ("auto", "bce", "mse")
BUDGETS = ("default", "paper")
DEVICES = ("auto", "cpu", "gpu")

TEST_SHARE = 0.10
VALIDATION_SHARE = 0.15
SPLITS = 2
KEPT = 10


@dataclass(frozen=True)
class NetSettings:
    """What one network is and how it is trained.

    `patience` counts checks (one per epoch) without the validation cost falling below
    `tolerance` of its best, as the paper's authors stopped their networks.
    """

    width: int = 12
    layers: int = 8
    activation: str = "relu"
    initialiser: str = "he"
    optimiser: str = "adam"
    learning_rate: float = 1e-2
    l1: float = 1e-3
    l2: float = 0.0
    batch_size: int = 128
    epochs: int = 300
    patience: int = 50
    tolerance: float = 0.99995
    seed: int = 0

    def __post_init__(self) -> None:
        _check_choice("activation", self.activation, ACTIVATIONS)
        _check_choice("initialiser", self.initialiser, INITIALISERS)
        _check_choice("optimiser", self.optimiser, OPTIMISERS)
        for name in ("width", "layers", "batch_size", "epochs", "patience"):
            check_number(name, getattr(self, name), 1)
        check_number("seed", self.seed, 0)
        for name in ("l1", "l2"):
            _check_rate(name, getattr(self, name), 0.0)
        _check_rate("learning_rate", self.learning_rate, 1e-12)
        _check_rate("tolerance", self.tolerance, 1e-12, 1.0)


@dataclass(frozen=True)
class Trial:
    """One setting on one split: the unit of search."""

    number: int
    setting: int
    split: int
    net: NetSettings


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides the result of a run besides the data.

    `trials` is the number of networks; None means as many as the budget has.
    """

    strategy: str = "rinn"
    budget: str = "default"
    trials: int | None = None
    epochs: int | None = None
    seed: int = 0
    loss: str = "auto"
    keep: int = KEPT

    def __post_init__(self) -> None:
        _check_choice("budget", self.budget, BUDGETS)
        _check_choice("loss", self.loss, LOSSES)
        check_number("seed", self.seed, 0)
        check_number("keep", self.keep, 1)
        if self.trials is not None:
            check_number("trials", self.trials, 2)
        if self.epochs is not None:
            check_number("epochs", self.epochs, 1)

    def to_json(self) -> dict[str, Any]:
        """The settings as a plain dictionary, for the manifest."""
        return dataclasses.asdict(self)


def check_number(name: str, value: object, least: int) -> None:
    """Raise InputError unless `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_device(name: str) -> None:
    """Raise InputError unless `name` is a device word."""
    _check_choice("device", name, DEVICES)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        hint = suggest(str(value), choices, listed=False)
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {value!r}{hint}")


def _check_rate(name: str, value: float, least: float, most: float = math.inf) -> None:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and least <= value <= most):
        span = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
        raise InputError(f"{name} must be a number {span}, got {value!r}")
