"""Settings of networks and runs with their defaults, the checks of values, and random streams."""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, unique
from numbers import Integral, Real
from typing import Any

from rinn.errors import InputError, suggest

ACTIVATIONS = ("relu", "sigmoid", "tanh", "softplus")
BUDGETS = ("default", "paper")
LOSSES = ("auto", "bce", "mse", "poisson")
DEVICES = ("auto", "cpu", "gpu")

TEST_FRACTION = 0.10
VALIDATION_FRACTION = 0.15
SPLITS = 2
KEPT = 20  # networks that the graph is read from
MIN_NETWORKS = 8  # with fewer no edge is reported
FEW_NETWORKS = 16  # with fewer edges are lost or wrong on the paper's data 1-4
NEAREST = 10  # networks of the paper's protocol
MAX_INTEGER = 2**32 - 1  # a seed of NumPy or scikit-learn is no larger
MAX_TRIALS, MAX_EPOCHS, MAX_ROUNDS = 100_000, 10_000_000, 10_000
MAX_SAMPLES = 1_000_000
PRIOR_WEIGHT = 1.0  # of gene sets and networks, in log odds
NETWORK_STEPS = 3
TINY = 1e-12  # the smallest rate that is not zero
NETWORKS, GRAPH, CHANCE = "Networks", "Graph", "Chance and stability"  # headings in the help


@unique
class Stream(IntEnum):
    """The streams of random numbers: each generator is made from a seed and one of these.

    NumPy takes `[seed, 29]` and `[seed, 29, 0]` for the same, so each use has its own stream.
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
    REWIRED = 71  # networks of known interactions with permuted edges
    HALVES = 73  # random halves of the samples


def check_integer(name: str, value: Any, minimum: int = 1, maximum: int = MAX_INTEGER) -> int:
    """Return a whole number within the limits."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or not minimum <= value <= maximum:
        if maximum == MAX_INTEGER and not (is_integer and value > maximum):
            limits, choice = f"of at least {minimum}", f"{minimum} or more"
        else:
            limits, choice = f"from {minimum} to {maximum}", f"{minimum} to {maximum}"
        raise InputError(
            f"{name} must be a whole number {limits}, got {value!r:.80}; choose {choice}"
        )
    return int(value)


def check_number(
    name: str,
    value: Any,
    minimum: float = 0.0,
    maximum: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
    example: float = 0.1,
) -> float:
    """Return a finite number within the limits; `above` and `below` exclude the limits."""
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    is_inside = is_number and (minimum < value if above else minimum <= value)
    if not is_inside or not (value < maximum if below else value <= maximum):
        limits = f"above {minimum:g}" if above else f"of at least {minimum:g}"
        if maximum < math.inf:
            limits += f" and below {maximum:g}" if below else f" and at most {maximum:g}"
        raise InputError(
            f"{name} must be a number {limits}, got {value!r:.80}; choose for example {example:g}"
        )
    return float(value)


def check_range(
    name: str, value: Any, *, above: bool = False, maximum: float = math.inf
) -> tuple[float, float]:
    """Return (low, high) with 0 <= low, or 0 < low where `above`, and low <= high <= maximum."""
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    fits = len(pair) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in pair)
    if not fits or not 0 <= pair[0] <= pair[1] <= maximum or (above and pair[0] == 0):
        sign, end = "<" if above else "<=", f" <= {maximum:g}" if maximum < math.inf else ""
        raise InputError(
            f"{name} must be two numbers (low, high) with 0 {sign} low <= high{end}, got "
            f"{value!r:.80}; choose for example {(0.3, 0.7) if end else (0.5, 1.5)}"
        )
    return float(pair[0]), float(pair[1])


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return one of the choices."""
    listed = list(choices)
    if value not in listed:
        hint = suggest(str(value), listed, listed=False) or "; choose one of them"
        raise InputError(f"{name} must be one of {', '.join(listed)}, got {value!r:.80}{hint}")
    return str(value)


def check_choices(name: str, value: Any, choices: Iterable[str]) -> tuple[str, ...]:
    """Return one or more of the choices as a tuple."""
    chosen, listed = (value,) if isinstance(value, str) else tuple(value), list(choices)
    if not chosen:
        raise InputError(
            f"{name} must name at least one of {', '.join(listed)}, got {value!r}; add one"
        )
    return tuple(check_choice(name, one, listed) for one in chosen)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r:.80}; choose one of them")
    return value


def count_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_device(name: str) -> None:
    """Raise InputError unless `name` names a device."""
    check_choice("device", name, DEVICES)


def setting(default: Any, about: str = "", *, group: str | None = None, **limits: Any) -> Any:
    """A field of settings: default, help (none: no option), heading in the help, and limits."""
    metadata = {"limits": limits, "group": group} | ({"help": about} if about else {})
    return dataclasses.field(default=default, metadata=metadata)


class Settings:
    """Records of `setting` fields, checked when made; None is allowed where it is the default."""

    def __init_subclass__(cls) -> None:
        fields = ((name, getattr(value, "metadata", {})) for name, value in vars(cls).items())
        listed = [f"    {name}: {about['help']}" for name, about in fields if "help" in about]
        if listed:
            doc = inspect.cleandoc(cls.__doc__ or "")
            cls.__doc__ = "\n".join([doc, "", "Attributes:", *listed])

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None or field.default is not None:
                object.__setattr__(self, field.name, _check_field(field, value))

    def to_json(self) -> dict[str, Any]:
        """Every setting by name."""
        return dataclasses.asdict(self)  # type: ignore[call-overload]


def _check_field(field: dataclasses.Field[Any], value: Any) -> Any:
    limits, kind = field.metadata.get("limits", {}), str(field.type).removesuffix(" | None")
    if "choices" in limits:
        return check_choice(field.name, value, limits["choices"])
    if kind == "bool":
        return check_flag(field.name, value)
    if kind == "int":
        return check_integer(field.name, value, **limits)
    if kind == "float":
        number = check_number(field.name, value, **limits)
        return value if isinstance(value, int) else number
    return value


@dataclass(frozen=True)
class NetSettings(Settings):
    """What one network is and how it is trained by gradient descent.

    `kind` says what its layers read: every hidden layer the inputs again (redundant), the layer
    before alone (plain), or, for the autoencoder of a deep belief network, the outputs (belief),
    whose layers have the `sizes` given; without them every layer has `width` nodes. `patience`
    counts checks (one per epoch) without the validation cost falling below `tolerance` of its
    best, as the paper's authors stopped their networks.

    Where `mcp_threshold` or `final_lr_factor` is given, the second half of the epochs anneals: the
    L1 penalty is constant beyond weights of the size `mcp_threshold` (a minimax concave penalty,
    Zhang 2010), so that it does not shrink those that are needed, and the learning rate falls to
    `final_lr_factor` of what it was. Patience counts from there.
    """

    kind: str = setting("redundant", choices=("redundant", "plain", "belief"))
    width: int = setting(12, minimum=1)
    layers: int = setting(8, minimum=1)
    sizes: tuple[int, ...] = ()
    pretraining: int = setting(0, minimum=0)
    activation: str = setting("relu", choices=ACTIVATIONS)
    initialiser: str = setting("he", choices=("xavier", "he", "normal"))
    optimiser: str = setting("adam", choices=("adam", "rmsprop", "sgd"))
    learning_rate: float = setting(1e-2, minimum=TINY)
    l1: float = setting(1e-3, minimum=0)
    l2: float = setting(0.0, minimum=0)
    mcp_threshold: float = setting(0.0, minimum=0)
    final_lr_factor: float = setting(1.0, minimum=TINY, maximum=1)
    batch_size: int = setting(128, minimum=1)
    epochs: int = setting(300, minimum=1)
    patience: int = setting(50, minimum=1)
    tolerance: float = setting(0.99995, minimum=TINY, maximum=1, example=0.9999)
    seed: int = setting(0, minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sizes and (len(self.sizes), max(self.sizes)) != (self.layers, self.width):
            raise InputError(
                f"sizes must name the nodes of {self.layers} layers, {self.width} in the widest, "
                f"got {list(self.sizes)!r}"
            )

    @property
    def anneal_start(self) -> int:
        """The epoch from which training anneals; 0 where it does not."""
        return self.epochs // 2 if self.mcp_threshold or self.final_lr_factor < 1 else 0

    @property
    def widths(self) -> tuple[int, ...]:
        """Nodes of each hidden layer."""
        return self.sizes or (self.width,) * self.layers


@dataclass(frozen=True)
class EvolutionSettings(Settings):
    """What one population of redundant-input networks is and how it evolves.

    `legal` names the list of values that weights may take (`evolution/genes.py`); `epochs` counts
    generations; fitness is measured on the first `rows` training samples.
    """

    width: int = setting(8, minimum=1)
    layers: int = setting(8, minimum=1)
    activation: str = setting("relu", choices=ACTIVATIONS)
    population: int = setting(201, minimum=2)
    elite_ratio: float = setting(0.2, maximum=1)
    mutation_rate: float = setting(0.002, maximum=1)
    l1: float = setting(10.0, minimum=0)
    legal: str = setting("even", choices=("even", "uneven"))
    rows: int = setting(800, minimum=1)
    epochs: int = setting(7001, minimum=1)
    seed: int = setting(0, minimum=0)

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
    """Make the settings of a trial from their values in a file."""
    if "population" in values:
        return EvolutionSettings(**values)
    return NetSettings(**values | {"sizes": tuple(values.get("sizes", ()))})


@dataclass(frozen=True)
class RunSettings(Settings):
    """Everything that decides the result of a run besides the data.

    None takes the value of the budget (`trials`, `epochs`) or searches the published grid (the two
    alphas). `keep` is the number of networks that the selection `accurate` keeps.

    Example:
        >>> RunSettings(null=5, seed=1).bootstraps
        50
    """

    strategy: str = setting("rinn", "How to look for the graph; the strategies are below.")
    budget: str = setting(
        "default",
        "default (two cores, minutes) or paper (the paper's size, a GPU).",
        choices=BUDGETS,
        group=NETWORKS,
    )
    trials: int | None = setting(
        None,
        "Networks to train, if any are needed. The default is the number of the budget.",
        minimum=2,
        maximum=MAX_TRIALS,
        group=NETWORKS,
    )
    epochs: int | None = setting(
        None,
        "Maximum number of epochs for each network; for esc, of generations.",
        minimum=1,
        maximum=MAX_EPOCHS,
        group=NETWORKS,
    )
    seed: int = setting(0, "Seed of all random choices.", minimum=0)
    loss: str = setting(
        "auto",
        "auto (by the kind of each output), bce (all outputs are 0/1), mse (numbers) or poisson "
        "(counts).",
        choices=LOSSES,
        group=NETWORKS,
    )
    keep: int = setting(KEPT, minimum=1)
    select: str = setting(
        "accurate",
        "Networks that the graph is read from: accurate (those that predict best) or paper (the "
        "ten that the paper's distance selects).",
        choices=("accurate", "paper"),
        group=NETWORKS,
    )
    null: int = setting(
        0,
        "Repeat the search this many times with the rows of Y permuted, and once with decoys. "
        "This estimates how much is chance, and gives the edges q-values.",
        minimum=0,
        maximum=MAX_ROUNDS,
        group=CHANCE,
    )
    effects: str = setting(
        "auto",
        "What the graph is read from: regression (of the outputs on the inputs), network, "
        "corrected (networks and a regression of their residuals), or auto (corrected if effects "
        "are faint and networks predict held-out samples better, else regression; with dnn and esc "
        "network). Networks are trained only if they may be used; corrected always trains them.",
        choices=("auto", "network", "regression", "corrected"),
        group=GRAPH,
    )
    direct: bool = setting(
        True,
        "Whether inputs may act on outputs directly. The paper's assumption A2 excludes it.",
        group=GRAPH,
    )
    effects_only: bool = setting(
        False,
        "Score graphs by the effects of the inputs only, without the covariance that outputs share "
        "beyond them.",
        group=GRAPH,
    )
    output_edges: bool = setting(
        False,
        "Allow edges between outputs, where an output can replace a latent. The paper's assumption "
        "A4 excludes them.",
        group=GRAPH,
    )
    bootstraps: int = setting(
        50,
        "Bootstrap resamples of the rows, which measure how often each latent and edge is found; "
        "0 for none.",
        minimum=0,
        maximum=MAX_ROUNDS,
        group=CHANCE,
    )
    alpha_pc: float | None = setting(
        None,
        "dm: level of the tests of inputs against outputs.",
        maximum=1,
        example=0.05,
        group=GRAPH,
    )
    alpha_sober: float | None = setting(
        None,
        "dm: level of the tests of edges between latents.",
        maximum=1,
        example=0.05,
        group=GRAPH,
    )
