"""The nonlinear functions of the hidden nodes, and a choice among them per network."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
}


def activate(
    names: tuple[str, ...], which: Int[Array, ""], z: Float[Array, "hidden sample"]
) -> Float[Array, "hidden sample"]:
    """Apply the `which`-th of `names`, which are fixed at compile time, to z."""
    h = ACTIVATIONS[names[0]](z)
    for number, name in enumerate(names[1:], start=1):
        h = jnp.where(which == number, ACTIVATIONS[name](z), h)
    return h
