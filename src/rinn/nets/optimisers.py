"""One step of gradient descent of one network: Adam, RMSProp or SGD, chosen by number."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int


class Optimiser(NamedTuple):
    """Adam; RMSProp, which is Adam without mean gradients; SGD, without mean squares too.

    Moments decay by `mean_decay` and `square_decay`; `corrected`: for their start at zero. `floor`
    is added to the mean square under the root, `offset` to the root.
    """

    mean_decay: float
    square_decay: float
    start: float  # of the mean square
    floor: float
    offset: float
    corrected: bool

    @property
    def mean_gain(self) -> float:
        """The weight of a new gradient."""
        return 1 - self.mean_decay

    @property
    def square_gain(self) -> float:
        """The weight of a new squared gradient."""
        return 1 - self.square_decay


OPTIMISERS = {
    "adam": Optimiser(0.9, 0.999, start=0.0, floor=0.0, offset=1e-8, corrected=True),
    "rmsprop": Optimiser(0.0, 0.9, start=1.0, floor=1e-8, offset=0.0, corrected=False),
    "sgd": Optimiser(0.0, 1.0, start=1.0, floor=0.0, offset=0.0, corrected=False),
}


class Moments(NamedTuple):
    """What the optimiser of one network keeps: running means of gradients and their squares."""

    steps: Int[Any, ""]
    mean: Any
    square: Any


class Rates(NamedTuple):
    """What a step needs of one network's settings.

    As in `Optimiser`; powers are decays to the power of the steps taken, 0 where moments are not
    corrected for their start.
    """

    learning_rate: Float[Any, " net"]
    mean_decay: Float[Any, " net"]
    mean_gain: Float[Any, " net"]
    mean_power: Float[Any, " net"]
    square_decay: Float[Any, " net"]
    square_gain: Float[Any, " net"]
    square_power: Float[Any, " net"]
    floor: Float[Any, " net"]
    offset: Float[Any, " net"]


def start_moments(names: tuple[str, ...], which: Int[Any, ""], weights: Any) -> Moments:
    """What the `which`-th optimiser of `names` keeps before the first step."""
    start = _take(names, which, "start")
    mean = jax.tree.map(jnp.zeros_like, weights)
    return Moments(jnp.int32(0), mean, jax.tree.map(lambda w: jnp.full_like(w, start), weights))


def descend(
    rates: Rates, due: Bool[Array, ""], gradient: Any, moments: Moments, weights: Any
) -> tuple[Any, Moments]:
    """Take one step, or none where it is not due."""
    mean = jax.tree.map(
        lambda g, m: rates.mean_gain * g + rates.mean_decay * m, gradient, moments.mean
    )
    square = jax.tree.map(
        lambda g, v: rates.square_gain * g * g + rates.square_decay * v, gradient, moments.square
    )
    pace = rates.learning_rate / (1 - rates.mean_power * rates.mean_decay)
    spread = 1 / (1 - rates.square_power * rates.square_decay)
    moved = jax.tree.map(
        lambda w, m, v: w - pace * m / (jnp.sqrt(v * spread + rates.floor) + rates.offset),
        weights,
        mean,
        square,
    )
    return _choose(due, (moved, Moments(moments.steps + 1, mean, square)), (weights, moments))


def find_rates(
    names: tuple[str, ...],
    which: Int[Array, ""],
    steps: Int[Array, ""],
    *,
    learning_rate: Any,
) -> Rates:
    """The rates of the `which`-th optimiser of `names` after some steps."""
    take = functools.partial(_take, names, which)
    return Rates(
        learning_rate=learning_rate,
        mean_decay=take("mean_decay"),
        mean_gain=take("mean_gain"),
        mean_power=take("corrected") * take("mean_decay") ** steps,
        square_decay=take("square_decay"),
        square_gain=take("square_gain"),
        square_power=take("corrected") * take("square_decay") ** steps,
        floor=take("floor"),
        offset=take("offset"),
    )


def _take(names: tuple[str, ...], which: Int[Any, ""], field: str) -> Any:
    """A constant of the `which`-th optimiser."""
    values = [np.float32(getattr(OPTIMISERS[name], field)) for name in names]
    return values[0] if len(values) == 1 else jnp.asarray(values)[which]


def _choose(condition: Bool[Array, ""], chosen: Any, other: Any) -> Any:
    """Take all leaves of one of two trees."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), chosen, other)
