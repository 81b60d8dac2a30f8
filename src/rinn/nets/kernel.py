"""The kernel that trains small redundant-input networks on NVIDIA GPUs: kernel.cu, made ready.

CuPy compiles and launches it; its arrays are JAX's. Each network is a block of threads that runs on
its own until the network stops or the segment ends, so that no network waits for another one.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from rinn.nets.redundant import ACTIVATIONS, Weights

LOSSES = ("mse", "bce")
CURVES = tuple(ACTIVATIONS)  # in the order of kernel.cu
SIDE = 16  # of the blocks that tensor cores multiply
MAX_SIDE = 64  # inputs, hidden nodes or outputs
OLDEST = 8  # compute capability: Ampere
WARPS = 4  # of a block
THREADS_PER_WARP = 32
MAX_SHARED = 227 << 10  # bytes of shared memory of a block on an H100; consumer GPUs have 99


class Program(NamedTuple):
    """The compiled kernel: `launch` starts a number of blocks, and `wait` waits for their end."""

    launch: Callable[[int, Sequence[Any]], None]
    wait: Callable[[], None]


class KernelState(NamedTuple):
    """Networks between two segments; weights and moments in the blocks of `find_blocks`.

    `losses` are the best cost, the training and validation loss and the validation error; `counts`
    steps, epochs without improvement, epochs and the status.
    """

    weights: Float[Any, "net weight"]
    mean: Float[Any, "net weight"]
    square: Float[Any, "net weight"]
    losses: Float[Any, "net 4"]
    counts: Int[Any, "net 4"]


class Shape(NamedTuple):
    """What the kernel is compiled for; sizes without padding."""

    inputs: int
    width: int
    outputs: int
    layers: int
    loss: str
    batch: int

    @property
    def padded(self) -> tuple[int, int, int]:
        """Inputs, width and outputs as the kernel multiplies them."""
        return pad(self.inputs), pad(self.width), pad(self.outputs)

    @property
    def tiles(self) -> int:
        """Blocks of 16 samples that a warp works on at a time."""
        return 2 if self.batch % (2 * SIDE * WARPS) == 0 else 1

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block, as kernel.cu divides it."""
        inputs, width, outputs = self.padded
        samples = 2 * self.batch * (self.layers * width + inputs + outputs)
        reads = (2 * (inputs + width) // SIDE + 1) * width, (2 * width // SIDE + 1) * outputs
        parts = max(reads) // SIDE * WARPS * 512
        floats = 4 * (self.layers * width + outputs + 16)
        weights = self.layers * width * (inputs + width + 8) + outputs * (width + 8)
        return samples + parts + floats + 2 * weights

    def fits(self) -> bool:
        """Whether the kernel can train such networks on some GPU."""
        return (
            is_available()
            and self.layers > 1
            and self.loss in LOSSES
            and self.batch % SIDE == 0
            and max(self.padded) <= MAX_SIDE
            and self.shared_bytes <= MAX_SHARED
        )


def is_available() -> bool:
    """Whether CuPy is installed."""
    return find_spec("cupy") is not None


def pad(size: int) -> int:
    """The multiple of 16 to which a side of a matrix is padded."""
    return -(-size // SIDE) * SIDE


def make_source(shape: Shape) -> str:
    """The kernel for a shape, in CUDA C++; without what a warp does in one instruction."""
    inputs, width, outputs = shape.padded
    sizes = {
        "INPUTS": inputs,
        "WIDTH": width,
        "OUTPUTS": outputs,
        "REAL_OUTPUTS": shape.outputs,
        "LAYERS": shape.layers,
        "WARPS": WARPS,
        "TILES": shape.tiles,
        "LOSS": LOSSES.index(shape.loss),
    }
    lines = "".join(f"constexpr int {name} = {size};\n" for name, size in sizes.items())
    return lines + _read("kernel.cu")


def compile_kernel(shape: Shape, device: jax.Device) -> Program | None:
    """The kernel for a GPU, or None where the GPU is too small for it or CuPy cannot compile it."""
    try:
        import cupy

        number = device.local_hardware_id
        limits = cupy.cuda.runtime.getDeviceProperties(number)
        shared = limits["sharedMemPerBlockOptin"]
        if limits["major"] < OLDEST or shared < shape.shared_bytes:
            return None
        with cupy.cuda.Device(number):
            code = _read("warp.cu") + make_source(shape)
            module = cupy.RawModule(code=code, options=("--std=c++17",))
            kernel = module.get_function("train_segment")
            # Not less: shapes that differ in their batch alone share the compiled kernel.
            kernel.max_dynamic_shared_size_bytes = shared
            stream = cupy.cuda.Stream(non_blocking=True)
    except Exception as error:  # CuPy has no common class for what a broken CUDA lacks
        warnings.warn(
            f"CuPy cannot compile the training kernel: networks train by XLA, about six times "
            f"slower; reinstall rinn[gpu] or remove CuPy ({type(error).__name__}: {error})",
            stacklevel=2,
        )
        return None

    def launch(blocks: int, arguments: Sequence[Any]) -> None:
        with cupy.cuda.Device(number), stream:
            threads = (THREADS_PER_WARP * WARPS,)
            kernel((blocks,), threads, tuple(arguments), shared_mem=shape.shared_bytes)

    return Program(launch, stream.synchronize)


def find_blocks(shape: Shape) -> Int[np.ndarray, " weight"]:
    """Where each weight of the kernel lies in a network's weights one after the other, or -1.

    The kernel keeps 16 nodes x 8 of what they read as 32 threads x 4 weights; biases are a block
    with eight equal columns.
    """
    inputs, width, outputs = shape.padded
    lane, part = np.divmod(np.arange(128), 4)
    row, column = lane // 4 + part // 2 * 8, lane % 4 * 2 + part % 2
    numbers = iter(np.arange(_count_weights(shape)))

    def take(*sides: int) -> np.ndarray:
        count = int(np.prod(sides))
        return np.fromiter(numbers, int, count).reshape(sides)

    real = shape.layers, shape.width
    w = Weights(
        inputs=take(*real, shape.inputs),
        hidden=take(shape.layers - 1, shape.width, shape.width),
        output=take(shape.outputs, shape.width),
        bias=take(*real),
        output_bias=take(shape.outputs),
    )

    def cut(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
        """A matrix in blocks: [block of rows, block of columns, weight]."""
        more = (0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])
        filled = np.pad(matrix, more, constant_values=-1)
        blocks = filled.reshape(rows // 16, 16, columns // 8, 8).swapaxes(1, 2)
        return blocks[:, :, row, column]

    layers = []
    for layer in range(shape.layers):
        below = w.hidden[layer - 1] if layer else np.empty((0, 0), int)
        read = [cut(w.inputs[layer], width, inputs), cut(below, width, width)]
        layers.append(np.concatenate([*read, cut(_repeat(w.bias[layer]), width, 8)], axis=1))
    last = [cut(w.output, outputs, width), cut(_repeat(w.output_bias), outputs, 8)]
    return np.concatenate([*map(np.ravel, layers), np.concatenate(last, axis=1).ravel()])


def lay_out(shape: Shape, weights: Weights) -> Float[np.ndarray, "net weight"]:
    """Weights [net, ...] as the kernel keeps them."""
    rows = np.concatenate([np.reshape(part, (len(part), -1)) for part in weights], axis=1)
    rows = np.pad(rows, ((0, 0), (0, 1)))  # the last one is 0: of -1, where no weight is
    return np.ascontiguousarray(rows[:, find_blocks(shape)], np.float32)


def read_out(shape: Shape, rows: Float[np.ndarray, "net weight"]) -> Weights:
    """Undo `lay_out`."""
    blocks = find_blocks(shape)
    order = np.empty(_count_weights(shape), int)
    order[blocks[blocks >= 0]] = np.flatnonzero(blocks >= 0)
    values = rows[:, order]
    layers, width, inputs, outputs = shape.layers, shape.width, shape.inputs, shape.outputs
    sides = (layers, width, inputs), (layers - 1, width, width), (outputs, width), (layers, width)
    parts, first = [], 0
    for side in (*sides, (outputs,)):
        size = int(np.prod(side))
        parts.append(values[:, first : first + size].reshape(-1, *side))
        first += size
    return Weights(*parts)


def _count_weights(shape: Shape) -> int:
    return (
        shape.layers * shape.width * (shape.inputs + shape.width + 1)
        - shape.width**2
        + (shape.outputs * (shape.width + 1))
    )


def _repeat(bias: np.ndarray) -> np.ndarray:
    return np.repeat(bias[:, None], 8, axis=1)


@functools.cache
def _read(name: str) -> str:
    return resources.files("rinn.nets").joinpath(name).read_text(encoding="utf-8")
