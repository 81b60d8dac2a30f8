"""The redundant-input neural network (Young, Andrews, Cooper, Lu 2020), one at a time.

In a feed-forward network ("plain") only the first hidden layer reads the inputs. Samples are the
last axis, so that the small products of hundreds of networks fill the vector lanes: measured on two
cores this halves the time of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Activation = Callable[[Array], Array]
ACTIVATIONS: dict[str, Activation] = {
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
}


class Weights(NamedTuple):
    """The weights and biases of one network: W_i of the paper, split by where they come from.

    `inputs[0]` is the paper's W_1. Layer i + 1 reads the layer before by `hidden[i - 1]` and the
    inputs by `inputs[i]`; in a feed-forward network only the first layer has `inputs`.
    """

    inputs: Float[Any, "reader hidden input"]
    hidden: Float[Any, "layer-1 hidden hidden"]
    output: Float[Any, "output hidden"]
    bias: Float[Any, "layer hidden"]
    output_bias: Float[Any, " output"]


def activate(
    names: tuple[str, ...], which: Int[Array, ""], z: Float[Array, "hidden sample"]
) -> Float[Array, "hidden sample"]:
    """Apply the `which`-th of `names`, which are fixed at compile time, to z."""
    h = ACTIVATIONS[names[0]](z)
    for number, name in enumerate(names[1:], start=1):
        h = jnp.where(which == number, ACTIVATIONS[name](z), h)
    return h


def draw_weights(
    rng: np.random.Generator,
    initialiser: str,
    layers: int,
    width: int,
    inputs: int,
    outputs: int,
    *,
    redundant: bool = True,
) -> Weights:
    """Draw the starting weights of one network by the fan-in of each layer; biases are 0."""
    again, fan_in = (layers - 1, inputs + width) if redundant else (0, width)
    first = _draw(rng, initialiser, (1, width, inputs), inputs, width)
    others = _draw(rng, initialiser, (again, width, inputs), fan_in, width)
    hidden = _draw(rng, initialiser, (layers - 1, width, width), fan_in, width)
    output = _draw(rng, initialiser, (outputs, width), width, outputs)
    return Weights(
        inputs=np.concatenate([first, others]),  # [reader, hidden, input]
        hidden=hidden,
        output=output,
        bias=np.zeros((layers, width), np.float32),
        output_bias=np.zeros(outputs, np.float32),
    )


def _draw(
    rng: np.random.Generator,
    initialiser: str,
    shape: tuple[int, ...],
    fan_in: int,
    fan_out: int,
) -> np.ndarray:
    fan = (fan_in + fan_out) if initialiser == "xavier" else fan_in
    scale = math.sqrt(2.0 / fan)
    draws = rng.standard_normal(shape)
    if initialiser != "normal":
        # A normal cut at two standard deviations has sd 0.8796: divide it out.
        while (far := np.abs(draws) > 2).any():
            draws[far] = rng.standard_normal(int(far.sum()))
        scale /= 0.87962566
    return (scale * draws).astype(np.float32)


def run_net(
    weights: Weights,
    activation: Activation,
    x: Float[Any, "input sample"],
    *,
    fused_inputs: bool = False,
    node_mask: Float[Any, "layer hidden"] | None = None,
) -> Float[Array, "output sample"]:
    """Compute the outputs: h_i = phi(W_i [h_(i-1), x] + b_i), then one linear layer.

    With `fused_inputs` the inputs of all layers are one product, which suits a GPU.
    """
    from_inputs: Any = (
        jnp.einsum("lhi,ib->lhb", weights.inputs, x)  # [reader, hidden, sample]
        if fused_inputs
        else [part @ x for part in weights.inputs]
    )
    h = run_hidden(weights, activation, from_inputs, node_mask)[-1]
    return _product(weights.output, h) + weights.output_bias[:, None]


def run_hidden(
    weights: Weights,
    activation: Activation,
    from_inputs: Float[Any, "reader hidden sample"],
    node_mask: Float[Any, "layer hidden"] | None = None,
) -> list[Float[Array, "hidden sample"]]:
    """Compute the hidden layers from what the inputs add to each of them."""
    values: list[Array] = []
    for layer in range(weights.bias.shape[0]):
        z = _product(weights.hidden[layer - 1], values[-1]) if layer else from_inputs[0]
        z = z + from_inputs[layer] if 0 < layer < len(from_inputs) else z
        h = activation(z + weights.bias[layer][:, None])  # [hidden, sample]
        values.append(h if node_mask is None else h * node_mask[layer][:, None])
    return values


@jax.custom_vjp
def _product(w: Array, h: Array) -> Array:
    """W @ h, whose gradient transposes W in memory first: a third less time on a CPU."""
    return w @ h


def _product_forward(w: Array, h: Array) -> tuple[Array, tuple[Array, Array]]:
    return w @ h, (w, h)


def _product_backward(kept: tuple[Array, Array], d: Array) -> tuple[Array, Array]:
    w, h = kept
    transposed = jax.lax.optimization_barrier(w.T)
    return d @ h.T, transposed @ d


_product.defvjp(_product_forward, _product_backward)


def penalty(
    weights: Weights,
    l1: Float[Array, ""],
    l2: Float[Array, ""],
    mcp_threshold: Float[Array, ""] | float = jnp.inf,
) -> Float[Array, ""]:
    """L1 and L2 on the weights, not on biases; L1 is constant beyond the threshold (MCP)."""
    kept = (weights.inputs, weights.hidden, weights.output)
    clipped = [jnp.minimum(jnp.abs(w), mcp_threshold) for w in kept]
    l1_norm = sum(jnp.sum(b - b * b / (2 * mcp_threshold)) for b in clipped)
    return l1 * l1_norm + l2 * sum(jnp.sum(w * w) for w in kept)


def penalty_slope(
    weights: Weights,
    l1: Float[Array, ""],
    l2: Float[Array, ""],
    mcp_threshold: Float[Array, ""] | float = jnp.inf,
) -> Weights:
    """The gradient of `penalty`, 0 at 0; JAX's own of |w| is 1 there and would change padding."""
    slopes = [
        l1 * jnp.sign(w) * jnp.maximum(1 - jnp.abs(w) / mcp_threshold, 0) + 2 * l2 * w
        for w in weights[:3]
    ]
    return Weights(*slopes, *(jnp.zeros_like(b) for b in weights[3:]))
