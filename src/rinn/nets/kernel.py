"""An epoch of many small networks on a GPU: each is one program, from its samples to its steps.

A program takes its network through all batches of the epoch: forward, backward and optimiser.
It reads and writes only the samples and its own weights, moments and gradient, which stay in the
caches; XLA, which runs some fifty kernels a step over all networks, writes every layer to memory.
Products have the ten bits of mantissa of TF32, as XLA's have. Inputs and hidden values are kept in
half precision, which has as many; a network with a value above its largest, 65504, diverges.
"""

from __future__ import annotations

import functools
import itertools
from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rinn.nets.optimisers import Rates
from rinn.nets.redundant import Weights

ROWS = 16  # the minimum that a tensor core multiplies
MOST = 64  # inputs, hidden nodes or outputs
VALUES = 2048  # of a layer: samples times nodes that a program works on at a time
SMALLEST, LARGEST = 32, 128  # samples at a time
WARP_VALUES = 1024
FLAT = 1024  # weights that the optimiser moves at a time
LOSSES = ("mse", "bce")
EXACT = ("highest", "float32")  # precisions of products with which nothing is kept in 16 bits


class Sizes(NamedTuple):
    """Integers of one network: hidden nodes, activation, micro-batches a step, and steps."""

    width: Int[Any, " net"]
    activation: Int[Any, " net"]
    accumulation_steps: Int[Any, " net"]
    steps: Int[Any, " net"]


class Samples(NamedTuple):
    """Inputs and outputs of the samples of each split."""

    x: Float[Any, "split sample input"]
    y: Float[Any, "split sample output"]


class Offsets(NamedTuple):
    """Where the parts of a network begin among its weights in a row, and how many there are."""

    inputs: int
    hidden: int
    output: int
    bias: int
    output_bias: int
    all: int


def is_available() -> bool:
    """Whether JAX can compile kernels for GPUs; it has announced to remove this part."""
    return find_spec("jax.experimental.pallas.triton") is not None


def find_tile(micro_batch: int, inputs: int, width: int, outputs: int) -> int:
    """How many samples a program works on at a time; 0 where the kernel cannot train this shape."""
    widest = max(find_rows(size) for size in (inputs, width, outputs))
    tile = min(LARGEST, VALUES // widest)
    while tile > SMALLEST and micro_batch % tile:
        tile //= 2
    return tile if widest <= MOST and micro_batch % tile == 0 else 0


def flatten(weights: Weights) -> Float[Array, "net weight"]:
    """Lay the weights of each network in a row."""
    return jnp.concatenate([part.reshape(len(part), -1) for part in weights], axis=1)


def unflatten(rows: Float[Array, "net weight"], like: Weights) -> Weights:
    """Undo `flatten`."""
    parts, first = [], 0
    for part in like:
        size = part[0].size
        parts.append(rows[:, first : first + size].reshape(part.shape))
        first += size
    return Weights(*parts)


def train_epoch(
    rows: tuple[Float[Array, "net weight"], ...],
    rates: Rates,
    sizes: Sizes,
    samples: Samples,
    held_out: Samples,
    held_weight: Float[Array, "split sample"],
    *,
    layers: int,
    width: int,
    micro_batch: int,
    loss: str,
    activations: tuple[str, ...],
    padded: bool,
    accumulate: bool,
    interpret: bool = False,
) -> tuple[
    tuple[Float[Array, "net weight"], ...], Float[Array, " net"], Float[Array, "net output"]
]:
    """Train each network for its steps, and look at samples that it is not trained on.

    `rows` are weights, means of gradients and means of their squares. Networks of a split are next
    to each other. Returns the rows after it, the sum of losses over samples and outputs, and the
    losses of each output on `held_out`, summed over samples with their weights.
    """
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton as plgpu

    nets, splits = len(rows[0]), len(samples.x)
    inputs, outputs = samples.x.shape[2], samples.y.shape[2]
    reads, nodes, writes = find_rows(inputs), find_rows(width), find_rows(outputs)
    at = find_offsets(layers, width, inputs, outputs)
    tile = find_tile(micro_batch, inputs, width, outputs)
    many = accumulate or micro_batch > tile
    precision: str | None = getattr(jax.config, "jax_default_matmul_precision", None)
    exact = interpret or precision in EXACT
    half = jnp.float32 if exact else jnp.float16
    given = [
        (
            jnp.pad(part.x, ((0, 0), (0, -part.x.shape[1] % tile), (0, reads - inputs))).astype(
                half
            ),
            jnp.pad(part.y, ((0, 0), (0, -part.x.shape[1] % tile), (0, writes - outputs))),
        )
        for part in (samples, held_out)
    ]
    more = -held_weight.shape[1] % tile
    portions_held = (held_weight.shape[1] + more) // tile
    real = jnp.stack([jnp.broadcast_to(part, nets) for part in rates], axis=1)
    whole = jnp.stack(sizes, axis=1).astype(jnp.int32)

    def run(  # type: ignore[no-untyped-def]
        _w,
        _mean,
        _square,
        rate_,
        size_,
        x_,
        y_,
        held_x_,
        held_y_,
        held_weight_,
        w_,
        mean_,
        square_,
        gradient_,
        hidden_,
        loss_,
        held_loss_,
    ):
        rate = Rates(*(rate_[i] for i in range(len(Rates._fields))))
        size = Sizes(*(size_[i] for i in range(len(Sizes._fields))))
        portions = size.accumulation_steps * (micro_batch // tile)  # of a batch
        scale = 1 / (size.accumulation_steps * micro_batch * outputs).astype(jnp.float32)
        of_inputs, of_hidden = _block(width, inputs), _block(width, width)
        of_output, of_bias = _block(outputs, width), _line(width)
        of_output_bias = _line(outputs)
        node = jax.lax.broadcasted_iota(jnp.int32, (nodes,), 0)
        node_mask = jnp.where(node < size.width, 1.0, 0.0)[None, :]

        def wait() -> None:
            """Wait until every thread sees what the others have written."""
            if not interpret:
                plgpu.debug_barrier()

        def read(first: Any, block: Any) -> Array:
            return plgpu.load(w_.at[first + block[0]], mask=block[1], other=0.0)

        def write(part: Any, place: Any, value: Array, mask: Array) -> None:
            # The interpreter writes old values back where the mask is off: outside, they are lost.
            place = jnp.where(mask, place, at.all) if interpret else place
            plgpu.store(part.at[place], value, mask=mask)

        def collect(first: Any, block: Any, value: Array, portion: Any, also: Any = True) -> None:
            """Keep a part of the gradient, added to that of the portions before it."""
            there, mask = first + block[0], block[1] & also
            if many:
                before = portion > 0
                value = value + plgpu.load(gradient_.at[there], mask=mask & before, other=0.0)
            write(gradient_, there, value, mask)

        def choose(of: int, value: Array) -> Array:
            return _choose([_CURVES[name][of] for name in activations], size.activation, value)

        def read_layer(layer: Any) -> tuple[Array, ...]:
            """The weights with which a layer reads the inputs, and is read by the next one."""
            after = jnp.minimum(layer, layers - 2)
            return (
                read(at.inputs + layer * width * inputs, of_inputs),
                read(at.bias + layer * width, of_bias),
                read(at.hidden + after * width * width, of_hidden),
            )

        def predict(x: Array) -> tuple[Array, Array, Array]:
            """The raw outputs; the last hidden layer, and the weights with which it is read."""

            def forward(layer: Any, carry: Any) -> Any:
                from_below, (w_x, bias, w_h) = carry
                # The next layer's weights arrive while this layer is computed.
                following = read_layer(jnp.minimum(layer + 1, layers - 1))
                h = choose(0, from_below + _multiply(x, w_x, 1, 1) + bias[None, :])
                h = h * node_mask if padded else h
                hidden_[layer] = h.astype(half)
                return _multiply(h, w_h, 1, 1), following  # [sample, node]

            nothing = jnp.zeros((tile, nodes), jnp.float32)
            jax.lax.fori_loop(0, layers, forward, (nothing, read_layer(0)))
            wait()
            h, w = hidden_[layers - 1].astype(jnp.float32), read(at.output, of_output)
            return _multiply(h, w, 1, 1) + read(at.output_bias, of_output_bias)[None, :], h, w

        def run_portion(portion: Any, carry: tuple[Any, Array]) -> tuple[Any, Array]:
            step, total = carry
            here = pl.ds((step * portions + portion) * tile, tile)
            x = x_[here, :].astype(jnp.float32)
            raw, h, w = predict(x)
            losses, slope = _lose(loss, raw, y_[here, :])
            if outputs < writes:
                real = jax.lax.broadcasted_iota(jnp.int32, raw.shape, 1) < outputs
                losses, slope = jnp.where(real, losses, 0.0), jnp.where(real, slope, 0.0)
            d = slope * scale  # [sample, output]
            collect(at.output, of_output, _multiply(d, h, 0, 0), portion)
            collect(at.output_bias, of_output_bias, jnp.sum(d, axis=0), portion)

            def backward(number: Any, from_above: Array) -> Array:
                layer = layers - 1 - number
                below = jnp.maximum(layer - 1, 0)
                first = at.hidden + below * width * width
                w_h = read(first, of_hidden)
                h_below = hidden_[below].astype(jnp.float32)
                d = from_above * choose(1, hidden_[layer].astype(jnp.float32))
                place = at.inputs + layer * width * inputs
                collect(place, _turn(width, inputs), _multiply(x, d, 0, 0), portion)
                product = _multiply(h_below, d, 0, 0)
                collect(first, _turn(width, width), product, portion, layer > 0)
                collect(at.bias + layer * width, of_bias, jnp.sum(d, axis=0), portion)
                return _multiply(d, w_h, 1, 0)

            jax.lax.fori_loop(0, layers, backward, _multiply(d, w, 1, 0))
            wait()
            return step, total + jnp.sum(losses)

        def run_step(step: Any, carry: tuple[Array, ...]) -> tuple[Array, ...]:
            total, mean_power, square_power = carry
            mean_power = mean_power * rate.mean_decay
            square_power = square_power * rate.square_decay
            count = portions if many else 1
            _, total = jax.lax.fori_loop(0, count, run_portion, (step, total))
            pace = rate.learning_rate / (1 - mean_power)
            spread = 1 / (1 - square_power)
            floor = rate.floor + rate.offset * rate.offset

            def descend(number: Any, carry: Any) -> Any:
                place = jax.lax.broadcasted_iota(jnp.int32, (FLAT,), 0) + number * FLAT
                mask = place < at.all
                w, mean, square, gradient = (
                    plgpu.load(part.at[place], mask=mask, other=0.0)
                    for part in (w_, mean_, square_, gradient_)
                )
                sign = jnp.where(w > 0, 1.0, jnp.where(w < 0, -1.0, 0.0))
                slope = rate.l1 * sign * jnp.maximum(1 - jnp.abs(w) * rate.mcp_slope, 0)
                slope = slope + 2 * rate.l2 * w
                gradient = gradient + jnp.where(place < at.bias, slope, 0.0)
                mean = rate.mean_gain * gradient + rate.mean_decay * mean
                square = rate.square_gain * gradient * gradient + rate.square_decay * square
                w = w - pace * mean * jax.lax.rsqrt(square * spread + floor)
                for part, value in ((w_, w), (mean_, mean), (square_, square)):
                    write(part, place, value, mask)
                return carry

            jax.lax.fori_loop(0, -(-at.all // FLAT), descend, 0)
            wait()
            return total, mean_power, square_power

        start = jnp.float32(0), rate.mean_power, rate.square_power
        loss_[0] = jax.lax.fori_loop(0, size.steps, run_step, start)[0]

        held_loss_[:] = jnp.zeros(writes, jnp.float32)

        def check(number: Any, carry: Any) -> Any:
            here = pl.ds(number * tile, tile)
            raw, _, _ = predict(held_x_[here, :].astype(jnp.float32))
            losses, _ = _lose(loss, raw, held_y_[here, :])
            part = jnp.sum(losses * held_weight_[here][:, None], axis=0)
            held_loss_[:] = held_loss_[:] + part
            wait()
            return carry

        jax.lax.fori_loop(0, jnp.minimum(size.steps, 1) * portions_held, check, 0)

    def own(*shape: int) -> Any:
        return pl.BlockSpec((None, *shape), lambda net: (net,) + (0,) * len(shape))

    def of_split(*shape: int) -> Any:
        each = nets // splits
        return pl.BlockSpec((None, *shape), lambda net: (net // each,) + (0,) * len(shape))

    row = jax.ShapeDtypeStruct(rows[0].shape, jnp.float32)
    *after, _, _, total, held_loss = pl.pallas_call(
        run,
        out_shape=[
            *[row] * 4,
            jax.ShapeDtypeStruct((nets, layers, tile, nodes), half),
            jax.ShapeDtypeStruct((nets, 1), jnp.float32),
            jax.ShapeDtypeStruct((nets, writes), jnp.float32),
        ],
        grid=(nets,),
        in_specs=[
            *[own(at.all)] * 3,
            own(real.shape[1]),
            own(whole.shape[1]),
            *[of_split(*table.shape[1:]) for pair in given for table in pair],
            of_split(held_weight.shape[1] + more),
        ],
        out_specs=[*[own(at.all)] * 4, own(layers, tile, nodes), own(1), own(writes)],
        input_output_aliases={0: 0, 1: 1, 2: 2},
        compiler_params=plgpu.CompilerParams(
            num_warps=max(1, tile * max(reads, nodes, writes) // WARP_VALUES), num_stages=1
        ),
        interpret=interpret,
        name="train_epoch",
    )(*rows, real, whole, *given[0], *given[1], jnp.pad(held_weight, ((0, 0), (0, more))))
    return tuple(after), total[:, 0], held_loss[:, :outputs]


def find_offsets(layers: int, width: int, inputs: int, outputs: int) -> Offsets:
    """Where the parts of a network begin after `flatten`."""
    hidden, output = (layers - 1) * width**2, outputs * width
    sizes = layers * width * inputs, hidden, output, layers * width, outputs
    return Offsets(*itertools.accumulate(sizes, initial=0))


def find_rows(size: int) -> int:
    """The power of two, at least `ROWS`, to which a side of a matrix is padded."""
    return max(ROWS, 1 << (size - 1).bit_length())


def _block(rows: int, columns: int) -> tuple[Array, Array]:
    """Where the elements of a matrix lie from its first, and which are not padding."""
    shape = find_rows(rows), find_rows(columns)
    row, column = (jax.lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1))
    return row * columns + column, (row < rows) & (column < columns)


def _turn(rows: int, columns: int) -> tuple[Array, Array]:
    """As `_block`, of the transposed matrix."""
    shape = find_rows(columns), find_rows(rows)
    column, row = (jax.lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1))
    return row * columns + column, (row < rows) & (column < columns)


def _line(size: int) -> tuple[Array, Array]:
    place = jax.lax.broadcasted_iota(jnp.int32, (find_rows(size),), 0)
    return place, place < size


def _multiply(a: Array, b: Array, a_axis: int, b_axis: int) -> Array:
    dimensions = (((a_axis,), (b_axis,)), ((), ()))
    return jax.lax.dot_general(a, b, dimensions, preferred_element_type=jnp.float32)


def _choose(curves: list[Any], which: Any, value: Array) -> Array:
    """Apply the `which`-th of some functions."""
    if len(curves) == 1:
        return jnp.asarray(curves[0](value))
    others = functools.partial(_choose, curves[1:], which - 1)
    return jnp.asarray(jax.lax.cond(which == 0, curves[0], others, value))


def _soften(z: Array) -> Array:
    return jnp.maximum(z, 0) + jnp.log(1 + jnp.exp(-jnp.abs(z)))


def _lose(loss: str, raw: Array, y: Array) -> tuple[Array, Array]:
    """The losses, and the slope of each."""
    if loss == "mse":
        return (raw - y) ** 2, 2 * (raw - y)
    return _soften(raw) - y * raw, 1 / (1 + jnp.exp(-raw)) - y


# Activations, and their slopes from what they give.
_CURVES = {
    "relu": (lambda z: jnp.maximum(z, 0), lambda h: jnp.where(h > 0, 1.0, 0.0)),
    "sigmoid": (lambda z: 1 / (1 + jnp.exp(-z)), lambda h: h * (1 - h)),
    "tanh": (lambda z: 2 / (1 + jnp.exp(-2 * z)) - 1, lambda h: 1 - h * h),
    "softplus": (_soften, lambda h: 1 - jnp.exp(-h)),
}
