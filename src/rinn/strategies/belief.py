"""Stacked restricted Boltzmann machines as the start of an autoencoder.

Hinton, Salakhutdinov 2006, Reducing the dimensionality of data with neural networks, Science 313.
Each machine learns by contrastive divergence what the machine below it makes of the data; then
the stack is unrolled. One stack is written without a batch axis; `pretrain` adds it with `vmap`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from rinn.config import Stream
from rinn.nets.redundant import Weights

MOMENTUM = (0.5, 0.9)  # at first, and after SWITCH epochs
SWITCH = 5
DECAY = 2e-4
SPREAD = 0.01  # of the starting weights
# Nothing bounds what a Gaussian node is rebuilt to: without this factor, rates of 0.3 to 1, which
# binary machines bear, diverge.
GAUSSIAN_RATE = 0.1
SMALLEST = 8  # stacks in a batch


class Pretraining(NamedTuple):
    """Settings of one stack: hidden nodes of each machine, first to last, rate and seed."""

    sizes: Int[Any, " layer"]
    learning_rate: Float[Any, ""]
    seed: Int[Any, ""]


class Stack(NamedTuple):
    """The machines of one stack, nodes padded to one width with zeros.

    `first` and `output_bias` face the data; `rest[i]` and `visible_bias[i]` face hidden layer i.
    """

    first: Float[Any, "width output"]
    rest: Float[Any, "layer-1 width width"]
    hidden_bias: Float[Any, "layer width"]
    visible_bias: Float[Any, "layer-1 width"]
    output_bias: Float[Any, " output"]


class Start(NamedTuple):
    """What is drawn for one stack before it is trained; padding is zero."""

    first: Float[Any, "width output"]
    rest: Float[Any, "layer-1 width width"]
    words: UInt32[Any, "layer width"]


class Machine(NamedTuple):
    """One restricted Boltzmann machine, or a change to one."""

    weights: Float[Any, "hidden visible"]
    hidden_bias: Float[Any, " hidden"]
    visible_bias: Float[Any, " visible"]


class Plan(NamedTuple):
    """What every step of a machine's training does, the same for all stacks and machines."""

    number: UInt32[Any, " step"]
    uses: Int[Any, "step sample"]
    momentum: Float[Any, " step"]


def pretrain(
    settings: Pretraining,
    y: Float[Any, "output sample"],
    *,
    binary: bool,
    width: int,
    epochs: int,
    batch: int,
    momentum: tuple[float, float] = MOMENTUM,
    decay: float = DECAY,
) -> Stack:
    """Train many stacks on the same samples, one machine after the other, by CD-1.

    What a stack starts from and draws depends on its own settings alone; products of another width
    may round otherwise, which sampling amplifies.
    """
    count = len(settings.sizes)
    # A few stacks alone would be multiplied by another routine, and round otherwise.
    slots = np.minimum(np.arange(max(count, SMALLEST)), count - 1)
    sizes, rates, seeds = (np.asarray(part)[slots] for part in settings)
    drawn = [
        _draw_start(int(seed), net, width, len(y)) for seed, net in zip(seeds, sizes, strict=True)
    ]
    start = Start(*(np.stack(part) for part in zip(*drawn, strict=True)))
    node_mask = np.arange(width) < sizes[..., None]  # [net, layer, width]
    plan = _plan_steps(y.shape[1], epochs, batch, momentum)
    stacks = _train_stacks(
        start, node_mask, rates.astype(np.float32), y, plan, decay, binary=binary
    )
    return Stack(*(part[:count] for part in stacks))


def _draw_start(seed: int, sizes: Sequence[int], width: int, outputs: int) -> Start:
    """Draw small weights, and the word from which each hidden node makes its draws."""
    rng = np.random.default_rng([seed, Stream.DBN_WEIGHTS])
    layers = len(sizes)
    first = np.zeros((width, outputs), np.float32)
    rest = np.zeros((layers - 1, width, width), np.float32)
    words = np.zeros((layers, width), np.uint32)
    first[: sizes[0]] = SPREAD * rng.standard_normal((sizes[0], outputs))
    for layer, (below, size) in enumerate(pairwise(sizes)):
        rest[layer, :size, :below] = SPREAD * rng.standard_normal((size, below))
    for layer, size in enumerate(sizes):
        words[layer, :size] = rng.integers(2**32, size=size)
    return Start(first, rest, words)


def _plan_steps(samples: int, epochs: int, batch: int, momentum: tuple[float, float]) -> Plan:
    batch = min(batch, samples)
    used = samples // batch * batch
    order = np.empty((epochs, used), np.int32)
    for epoch in range(epochs):
        rng = np.random.default_rng([epoch, Stream.DBN_BATCHES])
        order[epoch] = rng.permutation(samples)[:used]
    rates = np.where(np.arange(epochs) < SWITCH, *momentum).astype(np.float32)
    uses = order.reshape(-1, batch)  # [step, sample]
    return Plan(np.arange(len(uses), dtype=np.uint32), uses, np.repeat(rates, used // batch))


@functools.partial(jax.jit, static_argnames="binary")
def _train_stacks(
    start: Start,
    node_mask: Bool[Array, "net layer width"],
    rates: Float[Array, " net"],
    y: Float[Array, "output sample"],
    plan: Plan,
    decay: Float[Array, ""],
    *,
    binary: bool,
) -> Stack:
    train = functools.partial(_train_stack, binary)
    # A GPU's short products, with ten bits of mantissa, would turn one draw in a thousand.
    with jax.default_matmul_precision("highest"):
        return jax.vmap(train, (0, 0, 0, None, None, None))(start, node_mask, rates, y, plan, decay)


def _train_stack(
    binary: bool,
    start: Start,
    node_mask: Bool[Array, "layer width"],
    rate: Float[Array, ""],
    y: Float[Array, "output sample"],
    plan: Plan,
    decay: Float[Array, ""],
) -> Stack:
    """Train the first machine on the data, each other on what the one below makes of it."""
    seen = jnp.ones(len(y), bool)
    first = _start_machine(start.first, y, seen, binary)
    first_rate = rate if binary else GAUSSIAN_RATE * rate
    first = _train_machine(
        first, y, start.words[0], seen, node_mask[0], first_rate, plan, decay, binary=binary
    )

    def train_next(data: Array, layer: tuple[Array, ...]) -> tuple[Array, Machine]:
        weights, words, seen, node_mask = layer
        machine = _start_machine(weights, data, seen, True)
        machine = _train_machine(
            machine, data, words, seen, node_mask, rate, plan, decay, binary=True
        )
        return _find_hidden(machine, data, node_mask), machine

    hidden = _find_hidden(first, y, node_mask[0])  # [width, sample]
    layers = (start.rest, start.words[1:], node_mask[:-1], node_mask[1:])
    _, rest = jax.lax.scan(train_next, hidden, layers)
    return Stack(
        first=first.weights,
        rest=rest.weights,
        hidden_bias=jnp.concatenate([first.hidden_bias[None], rest.hidden_bias]),
        visible_bias=rest.visible_bias,
        output_bias=first.visible_bias,
    )


def _start_machine(
    weights: Float[Array, "hidden visible"],
    data: Float[Array, "visible sample"],
    seen: Bool[Array, " visible"],
    binary: bool,
) -> Machine:
    """A machine whose visible biases alone give the data's means."""
    means = _mean(data)
    if binary:
        least = 0.5 / data.shape[1]  # a constant column has no finite log odds
        means = jnp.clip(means, least, 1 - least)
        means = jnp.log(means) - jnp.log1p(-means)
    return Machine(weights, jnp.zeros(len(weights)), jnp.where(seen, means, 0.0))


def _train_machine(
    machine: Machine,
    data: Float[Array, "visible sample"],
    words: UInt32[Array, " hidden"],
    seen: Bool[Array, " visible"],
    node_mask: Bool[Array, " hidden"],
    rate: Float[Array, ""],
    plan: Plan,
    decay: Float[Array, ""],
    *,
    binary: bool,
) -> Machine:
    def step(state: tuple[Machine, Machine], due: Plan) -> tuple[tuple[Machine, Machine], None]:
        machine, speed = state
        uniforms = _draw_uniforms(words, due.number, len(due.uses))
        slope = contrast(machine, data[:, due.uses], uniforms, seen, node_mask, binary=binary)
        slope = slope._replace(weights=slope.weights - decay * machine.weights)
        speed = jax.tree.map(lambda v, s: due.momentum * v + rate * s, speed, slope)
        return (jax.tree.map(jnp.add, machine, speed), speed), None

    still = jax.tree.map(jnp.zeros_like, machine)
    return jax.lax.scan(step, (machine, still), plan)[0][0]


def _draw_uniforms(
    words: UInt32[Array, " hidden"], number: UInt32[Array, ""], samples: int
) -> Float[Array, "hidden sample"]:
    """Draw node by node, so that a node's draws are the same in an array of any width.

    The key is the node's word and the number of the step: `fold_in` would compile another cipher.
    """

    def draw(word: Array) -> Array:
        pair = jnp.stack([word, number])
        key = jax.random.wrap_key_data(pair, impl="threefry2x32")
        return jax.random.uniform(key, (samples,))

    return jax.vmap(draw)(words)


def contrast(
    machine: Machine,
    v: Float[Array, "visible sample"],
    uniforms: Float[Array, "hidden sample"],
    seen: Bool[Array, " visible"],
    node_mask: Bool[Array, " hidden"],
    *,
    binary: bool,
) -> Machine:
    """Compute the direction of CD-1: <h v> of the data less <h v> of its reconstruction.

    Sampled hidden states drive the reconstruction; probabilities enter the averages.
    """
    hidden = _find_hidden(machine, v, node_mask)  # [hidden, sample]
    states = jnp.where(uniforms < hidden, 1.0, 0.0)
    back = machine.weights.T @ states + machine.visible_bias[:, None]  # [visible, sample]
    back = jnp.where(seen[:, None], jax.nn.sigmoid(back) if binary else back, 0.0)
    again = _find_hidden(machine, back, node_mask)
    return Machine(
        weights=(hidden @ v.T - again @ back.T) / v.shape[1],
        hidden_bias=_mean(hidden - again),
        visible_bias=_mean(v - back),
    )


def _mean(values: Float[Array, "node sample"]) -> Float[Array, " node"]:
    # As a product, because sums round differently when there are few stacks.
    return (values @ jnp.ones((values.shape[1], 1)))[:, 0] / values.shape[1]


def _find_hidden(
    machine: Machine, v: Float[Array, "visible sample"], node_mask: Bool[Array, " hidden"]
) -> Float[Array, "hidden sample"]:
    """The probability that each hidden node is on; zero for padding."""
    z = machine.weights @ v + machine.hidden_bias[:, None]
    return jnp.where(node_mask[:, None], jax.nn.sigmoid(z), 0.0)


def unroll(stack: Stack, sizes: Sequence[int]) -> Weights:
    """Unroll one stack to the autoencoder y -> s_1 -> ... -> s_k -> ... -> s_1 -> y.

    The decoder has the transposed weights and the visible biases. Hidden nodes are sigmoid; the
    output is linear: log odds, or standardised values.
    """
    widest = max(sizes)
    real = np.arange(widest) < np.asarray(sizes)[:, None]  # [layer, hidden]
    first = np.where(real[0][:, None], np.asarray(stack.first)[:widest], 0)
    rest = np.asarray(stack.rest)[:, :widest, :widest]
    rest = np.where(real[1:, :, None] & real[:-1, None, :], rest, 0)
    up = np.where(real, np.asarray(stack.hidden_bias)[:, :widest], 0)
    down = np.where(real[:-1], np.asarray(stack.visible_bias)[:, :widest], 0)
    parts = Weights(
        inputs=first[None],  # [1, hidden, input]
        hidden=np.concatenate([rest, rest[::-1].transpose(0, 2, 1)]),  # [2k-2, hidden, hidden]
        output=first.T,
        bias=np.concatenate([up, down[::-1]]),  # [2k-1, hidden]
        output_bias=np.asarray(stack.output_bias),
    )
    return Weights(*(np.ascontiguousarray(part, np.float32) for part in parts))
