"""The optimisers of the search, all from optax, and a choice among them per network."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

OPTIMISERS: dict[str, optax.GradientTransformation] = {
    "adam": optax.scale_by_adam(),
    "rmsprop": optax.scale_by_rms(decay=0.9, eps=1e-8, initial_scale=1.0),
    "sgd": optax.identity(),
}


def start(names: tuple[str, ...], weights: Any) -> tuple[Any, ...]:
    """The empty memory of every optimiser in `names` for one network."""
    return tuple(OPTIMISERS[name].init(weights) for name in names)


def descend(
    names: tuple[str, ...],
    which: Int[Array, ""],
    due: Bool[Array, ""],
    learning_rate: Float[Array, ""],
    gradient: Any,
    memory: tuple[Any, ...],
    weights: Any,
) -> tuple[Any, tuple[Any, ...]]:
    """Take one step with the `which`-th optimiser of `names`, or none where it is not due."""
    direction, remembered = gradient, []
    for number, name in enumerate(names):
        update, new = OPTIMISERS[name].update(gradient, memory[number], weights)
        direction = _choose(which == number, update, direction) if number else update
        remembered.append(_choose(due, new, memory[number]))
    moved = jax.tree.map(lambda w, d: w - learning_rate * d, weights, direction)
    return _choose(due, moved, weights), tuple(remembered)


def _choose(condition: Bool[Array, ""], chosen: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), chosen, other)
