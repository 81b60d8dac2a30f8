"""Settings of one network and of a whole run, with their checks: the only place of defaults."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, unique
from numbers import Integral, Real
from typing import Any

from rinn.errors import InputError, suggest

ACTIVATIONS = ("relu", "sigmoid", "tanh", "softplus")
OPTIMISERS = ("adam", "rmsprop", "sgd")
INITIALISERS = ("xavier", "he", "normal")
LOSSES = ("auto", "bce", "mse", "poisson")
BUDGETS = ("default", "paper")
DEVICES = ("auto", "cpu", "gpu")
KINDS = ("redundant", "plain", "belief")
LEGAL = ("even", "uneven")

TEST_SHARE = 0.10
VALIDATION_SHARE = 0.15
SPLITS = 2
KEPT = 20  # networks that the graph is read from
MIN_NETWORKS = 8  # with fewer no edge is reported
FEW_NETWORKS = 16  # with fewer edges are lost or wrong on the paper's data 1-4
NEAREST = 10  # networks of the paper's protocol
EFFECTS = ("auto", "network", "regression", "corrected")
SELECTIONS = ("accurate", "paper")
MOST = 2**32 - 1  # of every whole number; a seed of NumPy or scikit-learn is no larger
MAX_TRIALS, MAX_EPOCHS, MAX_ROUNDS = 100_000, 10_000_000, 10_000

MAX_SAMPLES = 1_000_000


@unique
class Stream(IntEnum):
    """The streams of random numbers: each generator is made from a seed and one of these.

    NumPy takes `[seed, 29]` and `[seed, 29, 0]` for the same: a further number in the list does not
    tell two uses apart, so each use has its own stream.
    """

    RINN_TRIALS = 3
    DNN_TRIALS = 5
    SPLITS = 7
    DBN_TRIALS = 9
    WEIGHTS = 11  # of a network before training
    BATCHES = 13
    REFIT_STARTS = 17
    REFIT_BATCHES = 19
    SLOPE_ROWS = 23  # samples over which the slopes of the networks are averaged
    BOOTSTRAPS = 29
    UNSEEDED = 31  # [31, inputs, outputs]: starts of the graph search; [samples, 31]: the set test
    OUTPUT_EDGES = 47
    NULL_ROUNDS = 53
    ESC_TRIALS = 59
    DBN_WEIGHTS = 61
    DBN_BATCHES = 67


@dataclass(frozen=True)
class NetSettings:
    """What one network is and how it is trained by gradient descent.

    `kind` says what its layers read: every hidden layer the inputs again (redundant), the layer
    before alone (plain), or, for the autoencoder of a deep belief network, the outputs (belief),
    whose layers have the `sizes` given; without them every layer has `width` nodes. `patience`
    counts checks (one per epoch) without the validation cost falling below `tolerance` of its
    best, as the paper's authors stopped their networks.

    Where `knee` or `cooling` is given, the second half of the epochs settles the network: the L1
    penalty no longer grows beyond weights of the size `knee` (a minimax concave penalty, Zhang
    2010), so that it stops shrinking those that are needed, and the learning rate falls to
    `cooling` of what it was. Patience counts from there.
    """

    kind: str = "redundant"
    width: int = 12
    layers: int = 8
    sizes: tuple[int, ...] = ()
    pretraining: int = 0
    activation: str = "relu"
    initialiser: str = "he"
    optimiser: str = "adam"
    learning_rate: float = 1e-2
    l1: float = 1e-3
    l2: float = 0.0
    knee: float = 0.0
    cooling: float = 1.0
    batch_size: int = 128
    epochs: int = 300
    patience: int = 50
    tolerance: float = 0.99995
    seed: int = 0

    def __post_init__(self) -> None:
        _check_choice("kind", self.kind, KINDS)
        _check_choice("activation", self.activation, ACTIVATIONS)
        _check_choice("initialiser", self.initialiser, INITIALISERS)
        _check_choice("optimiser", self.optimiser, OPTIMISERS)
        for name in ("width", "layers", "batch_size", "epochs", "patience"):
            check_number(name, getattr(self, name), 1)
        for name in ("seed", "pretraining"):
            check_number(name, getattr(self, name), 0)
        if self.sizes and (len(self.sizes), max(self.sizes)) != (self.layers, self.width):
            raise InputError(
                f"sizes must name the nodes of {self.layers} layers, {self.width} in the widest, "
                f"got {list(self.sizes)!r}"
            )
        for name in ("l1", "l2", "knee"):
            _check_rate(name, getattr(self, name), 0.0)
        _check_rate("cooling", self.cooling, 1e-12, 1.0)
        _check_rate("learning_rate", self.learning_rate, 1e-12)
        _check_rate("tolerance", self.tolerance, 1e-12, 1.0)

    @property
    def settles_at(self) -> int:
        """The epoch from which the network settles; 0 where it does not."""
        return self.epochs // 2 if self.knee or self.cooling < 1 else 0

    @property
    def widths(self) -> tuple[int, ...]:
        """Nodes of each hidden layer."""
        return self.sizes or (self.width,) * self.layers


@dataclass(frozen=True)
class EvolutionSettings:
    """What one population of redundant-input networks is and how it evolves.

    `legal` names the list of values that weights may take (`evolution/genes.py`); `epochs` counts
    generations; fitness is measured on the first `rows` training samples.
    """

    width: int = 8
    layers: int = 8
    activation: str = "relu"
    population: int = 201
    elite_ratio: float = 0.2
    mutation_rate: float = 0.002
    l1: float = 10.0
    legal: str = "even"
    rows: int = 800
    epochs: int = 7001
    seed: int = 0

    def __post_init__(self) -> None:
        _check_choice("activation", self.activation, ACTIVATIONS)
        _check_choice("legal", self.legal, LEGAL)
        for name in ("width", "layers", "rows", "epochs"):
            check_number(name, getattr(self, name), 1)
        check_number("population", self.population, 2)
        check_number("seed", self.seed, 0)
        for name in ("elite_ratio", "mutation_rate"):
            _check_rate(name, getattr(self, name), 0.0, 1.0)
        _check_rate("l1", self.l1, 0.0)

    @property
    def kind(self) -> str:
        """What the layers read; see `NetSettings`."""
        return "redundant"


@dataclass(frozen=True)
class Trial:
    """One setting on one split: the unit of search."""

    number: int
    setting: int
    split: int
    net: NetSettings | EvolutionSettings


def read_net(values: dict[str, Any]) -> NetSettings | EvolutionSettings:
    """Make the settings of a trial from their values as they lie in a file."""
    if "population" in values:
        return EvolutionSettings(**values)
    return NetSettings(**values | {"sizes": tuple(values.get("sizes", ()))})


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides the result of a run besides the data.

    `trials` is the number of networks; None means as many as the budget has. `select` says which
    of them the graph is read from: the `keep` that predict best (accurate), or the ten nearest to
    the origin of loss and size, as in the paper. `null` counts the searches on permuted outputs
    that say how much is chance. `effects` says what the graph is read from (`estimate_effects`),
    `direct` whether inputs may act on outputs themselves, `effects_only` that the covariance of the
    outputs plays no part, `output_edges` that outputs may act on outputs, `bootstraps` how many
    resamples of the rows say how sure each edge is.
    The two alphas are those of the strategy dm; None searches the published grid.
    """

    strategy: str = "rinn"
    budget: str = "default"
    trials: int | None = None
    epochs: int | None = None
    seed: int = 0
    loss: str = "auto"
    keep: int = KEPT
    select: str = "accurate"
    null: int = 0
    effects: str = "auto"
    direct: bool = True
    effects_only: bool = False
    output_edges: bool = False
    bootstraps: int = 50
    alpha_pc: float | None = None
    alpha_sober: float | None = None

    def __post_init__(self) -> None:
        _check_choice("budget", self.budget, BUDGETS)
        _check_choice("loss", self.loss, LOSSES)
        _check_choice("select", self.select, SELECTIONS)
        _check_choice("effects", self.effects, EFFECTS)
        for name in ("direct", "effects_only", "output_edges"):
            _check_flag(name, getattr(self, name))
        check_number("bootstraps", self.bootstraps, 0, MAX_ROUNDS)
        check_number("seed", self.seed, 0)
        check_number("keep", self.keep, 1)
        check_number("null", self.null, 0, MAX_ROUNDS)
        if self.trials is not None:
            check_number("trials", self.trials, 2, MAX_TRIALS)
        if self.epochs is not None:
            check_number("epochs", self.epochs, 1, MAX_EPOCHS)
        for name in ("alpha_pc", "alpha_sober"):
            if getattr(self, name) is not None:
                _check_rate(name, getattr(self, name), 0.0, 1.0)

    def to_json(self) -> dict[str, Any]:
        """The settings as a plain dictionary, for the manifest."""
        return dataclasses.asdict(self)


def check_number(name: str, value: object, least: int, most: int = MOST) -> None:
    """Raise InputError unless `value` is a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r:.80}")
    if value > most:
        raise InputError(f"{name} must be a whole number of at most {most}, got {value!r:.80}")


def check_device(name: str) -> None:
    """Raise InputError unless `name` is a device word."""
    _check_choice("device", name, DEVICES)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        hint = suggest(str(value), choices, listed=False)
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {value!r}{hint}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r:.80}")


def _check_rate(name: str, value: float, least: float, most: float = math.inf) -> None:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and least <= value <= most):
        span = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
        raise InputError(f"{name} must be a number {span}, got {value!r}")


def fill_parameters(
    dataset: str, given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Complete the given parameters with the defaults of a dataset.

    Example:
        >>> fill_parameters("or", {"noise": 0.2}, {"prevalence": 0.08, "noise": 0.1})
        {'prevalence': 0.08, 'noise': 0.2}
    """
    for name in given:
        if name not in defaults:
            raise InputError(
                f"{name!r} is not a parameter of the dataset {dataset!r}{suggest(name, defaults)}"
            )
    return {**defaults, **given}


def check_count(name: str, value: Any, least: int = 1, most: int = MOST) -> int:
    """Return a whole number that is not below the least allowed, nor above the most."""
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_count or not least <= value <= most:
        raise InputError(
            f"{name} must be a whole number of at least {least} and at most {most}, but "
            f"{value!r:.80} was given; choose {least} to {most}"
        )
    return int(value)


def check_share(name: str, value: Any, below: float = 1.0, closed: bool = True) -> float:
    """Return a number between 0 and an upper end, which is allowed itself where `closed`."""
    end = "at most" if closed else "below"
    fits = _is_number(value) and 0 <= value <= below and (closed or value < below)
    if not fits:
        raise InputError(
            f"{name} must be a number of at least 0 and {end} {below:g}, but {value!r} was given; "
            "choose for example 0.1"
        )
    return float(value)


def check_range(
    name: str, value: Any, open_end: bool = False, most: float | None = None
) -> tuple[float, float]:
    """Return a range (low, high) of numbers from 0, or above it where `open_end`, up to `most`."""
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    fits = len(pair) == 2 and all(_is_number(end) for end in pair) and 0 <= pair[0] <= pair[1]
    if not fits or (open_end and pair[0] == 0) or (most is not None and pair[1] > most):
        sign = "0 < low" if open_end else "0 <= low"
        end, example = ("", "(0.5, 1.5)") if most is None else (f" <= {most:g}", "(0.3, 0.7)")
        raise InputError(
            f"{name} must be two numbers (low, high) with {sign} <= high{end}, but {value!r} was "
            f"given; choose for example {example}"
        )
    return float(pair[0]), float(pair[1])


def check_choices(name: str, value: Any, known: Iterable[str]) -> tuple[str, ...]:
    """Return one or more of the known words as a tuple."""
    words = (value,) if isinstance(value, str) else tuple(value)
    choices = list(known)
    if not words:
        raise InputError(
            f"{name} must name at least one of {', '.join(choices)}, but {value!r} was given; "
            "add one"
        )
    for word in words:
        if word not in choices:
            raise InputError(
                f"{name} must be chosen from the known words, but {word!r} was given"
                f"{suggest(word, choices)}"
            )
    return words


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
