"""The loss of many small networks on a GPU, each with all its layers in registers.

One program of the grid runs one or two networks side by side over tiles of samples, and writes only
their losses: the layers, which XLA writes to memory, stay on the chip.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int8

ROWS = 16  # the minimum that a tensor core multiplies
MOST = 64  # inputs or outputs
TILE = 128  # samples
WARPS = 4
STAGES = 1


class Packed(NamedTuple):
    """The genes of networks that share a program: `ROWS` hidden nodes, zero where none is."""

    inputs: Int8[Any, "program layer row input"]
    hidden: Int8[Any, "program layer-1 row row"]
    bias: Int8[Any, "program layer row"]
    output: Int8[Any, "program slot output row"]
    output_bias: Int8[Any, "program slot output"]
    step: Float[Any, " program"]


def is_available() -> bool:
    """Whether JAX can compile kernels for GPUs; it has announced to remove this part."""
    return find_spec("jax.experimental.pallas.triton") is not None


def fits(layers: int, width: int, inputs: int, outputs: int) -> bool:
    """Whether networks of this shape fit the kernel."""
    return layers > 1 and width <= ROWS and max(inputs, outputs) <= MOST


def pack_genes(
    first: Int8[Array, "set individual hidden input+1"],
    later: Int8[Array, "set individual layer-1 hidden hidden+input+1"],
    output: Int8[Array, "set individual output hidden"],
    output_bias: Int8[Array, "set individual output"],
    step: Float[Array, " set"],
) -> Packed:
    """Lay networks side by side: two where they are narrow enough, else one.

    Two networks read the same inputs; their hidden weights are blocks of a diagonal.
    """
    sets, width, inputs = first.shape[0], first.shape[2], first.shape[3] - 1
    slots = 2 if 2 * width <= ROWS else 1
    size, layers, outputs = ROWS // slots, later.shape[2] + 1, output.shape[2]
    reads, writes = find_rows(inputs), find_rows(outputs)

    def fill(part: Array, *shape: int) -> Array:
        """[set, individual, ...] to [program, slot, ...] with the last axes filled up."""
        more = [(0, new - old) for new, old in zip(shape, part.shape[2:], strict=True)]
        part = jnp.pad(part, [(0, 0), (0, -part.shape[1] % slots), *more])
        return part.reshape(-1, slots, *shape)

    rows = jnp.concatenate([first[:, :, None, :, :-1], later[..., width:-1]], axis=2)
    rows = fill(rows, layers, size, reads)  # [program, slot, layer, node, input]
    bias = jnp.concatenate([first[:, :, None, :, -1], later[..., -1]], axis=2)
    bias = fill(bias, layers, size)  # [program, slot, layer, node]
    hidden = fill(later[..., :width], layers - 1, size, size)
    columns = fill(output, writes, size)  # [program, slot, output, node]
    return Packed(
        inputs=rows.swapaxes(1, 2).reshape(-1, layers, ROWS, reads),
        hidden=jnp.concatenate([_shift(hidden[:, s], s) for s in range(slots)], axis=2),
        bias=bias.swapaxes(1, 2).reshape(-1, layers, ROWS),
        output=jnp.stack([_shift(columns[:, s], s) for s in range(slots)], axis=1),
        output_bias=fill(output_bias, writes),
        step=jnp.repeat(step, rows.shape[0] // sets),
    )


def _shift(part: Array, slot: int) -> Array:
    """Widen the last axis to `ROWS` columns, of which a network has those of its slot."""
    size = part.shape[-1]
    return jnp.pad(part, [(0, 0)] * (part.ndim - 1) + [(slot * size, ROWS - (slot + 1) * size)])


def measure_costs(
    packed: Packed,
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    sample_weight: Float[Array, " sample"],
    *,
    loss: str,
    activation: str,
    interpret: bool = False,
) -> Float[Array, "program slot"]:
    """Compute each network's loss: summed over outputs, weighted over samples."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton as plgpu

    programs, slots, writes = packed.output_bias.shape
    layers, reads = packed.inputs.shape[1], packed.inputs.shape[3]
    outputs, idle = y.shape[0], -x.shape[1] % TILE
    tiles = (x.shape[1] + idle) // TILE
    x = jnp.pad(x, ((0, reads - x.shape[0]), (0, idle)))
    y = jnp.pad(y, ((0, writes - outputs), (0, idle)))
    sample_weight = jnp.pad(sample_weight, (0, idle))

    def run(w_x, w_h, b, w_y, b_y, step_, x_, y_, weight_, result):  # type: ignore[no-untyped-def]
        step = step_[0]

        def read(part: Any) -> Array:
            return part.astype(jnp.float32)

        def run_tile(tile: Array, totals: tuple[Array, ...]) -> tuple[Array, ...]:
            here = pl.ds(tile * TILE, TILE)
            x, y, sample_weight = x_[:, here], y_[:, here], weight_[here]
            h = jnp.zeros(())
            for layer in range(layers):
                z = _multiply(read(w_x[layer]), x) + read(b[layer])[:, None]
                if layer:
                    z = z + _multiply(read(w_h[layer - 1]), h)
                h = _activate(activation, step * z)  # [row, sample]
            after = []
            for slot, total in enumerate(totals):
                predicted = _multiply(read(w_y[slot]), h) + read(b_y[slot])[:, None]
                losses = _lose(loss, step * predicted, y, outputs)  # [output, sample]
                after.append(total + losses * sample_weight[None, :])
            return tuple(after)

        nothing = (jnp.zeros((writes, TILE), jnp.float32),) * slots
        totals = jax.lax.fori_loop(0, tiles, run_tile, nothing)
        for slot, total in enumerate(totals):
            result[slot] = jnp.sum(total)

    def own(*shape: int) -> Any:
        return pl.BlockSpec((None, *shape), lambda program: (program,) + (0,) * len(shape))

    def common(*shape: int) -> Any:
        return pl.BlockSpec(shape, lambda program: (0,) * len(shape))

    return pl.pallas_call(
        run,
        out_shape=jax.ShapeDtypeStruct((programs, slots), jnp.float32),
        grid=(programs,),
        in_specs=[
            own(layers, ROWS, reads),
            own(layers - 1, ROWS, ROWS),
            own(layers, ROWS),
            own(slots, writes, ROWS),
            own(slots, writes),
            pl.BlockSpec((1,), lambda program: (program,)),
            common(*x.shape),
            common(*y.shape),
            common(*sample_weight.shape),
        ],
        out_specs=own(slots),
        compiler_params=plgpu.CompilerParams(num_warps=WARPS, num_stages=STAGES),
        interpret=interpret,
        name="evolution_costs",
    )(*packed, x, y, sample_weight)


def find_rows(size: int) -> int:
    """The power of two, at least `ROWS`, to which a side of a matrix is padded."""
    return max(ROWS, 1 << (size - 1).bit_length())


def _multiply(w: Array, v: Array) -> Array:
    return jax.lax.dot(w, v, preferred_element_type=jnp.float32)


def _activate(name: str, z: Array) -> Array:
    if name == "relu":
        return jnp.maximum(z, 0)
    if name == "softplus":
        return _softplus(z)
    if name == "sigmoid":
        return 1 / (1 + jnp.exp(-z))
    return 2 / (1 + jnp.exp(-2 * z)) - 1  # tanh


def _softplus(z: Array) -> Array:
    return jnp.maximum(z, 0) + jnp.log(1 + jnp.exp(-jnp.abs(z)))


def _lose(loss: str, predicted: Array, y: Array, outputs: int) -> Array:
    if loss == "mse":
        return (predicted - y) ** 2
    losses = _softplus(predicted) - y * predicted
    if outputs == y.shape[0]:
        return losses
    rows = jax.lax.broadcasted_iota(jnp.int32, losses.shape, 0)
    return jnp.where(rows < outputs, losses, 0)
