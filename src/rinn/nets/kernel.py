"""Kernels that train redundant-input networks on NVIDIA GPUs: the files of cuda/, made ready.

CuPy compiles and launches them; their arrays are JAX's. A network with few inputs is a block of
threads that runs on its own until the network stops or the segment ends, so that no network waits
for another one. With many inputs each step is two kernels (wide.cu).
"""

from __future__ import annotations

import functools
import math
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
CURVES = tuple(ACTIVATIONS)  # in the order of layers.cu
SIDE = 16  # of the blocks that tensor cores multiply
MAX_WIDTH = 64
MAX_OUTPUTS = 96
MAX_NARROW = 64  # inputs of a network whose weights from inputs stay in shared memory
OLDEST = 8  # compute capability: Ampere
INPUT_WARPS = 8  # of a block of `step_input_weights`; two run on a multiprocessor
MAX_SHARED = 227 << 10  # bytes of shared memory of a block on an H100; consumer GPUs have 99


class Program(NamedTuple):
    """Compiled kernels: `launch` starts blocks of one, and `wait` waits for all that started."""

    launch: Callable[[str, int, Sequence[Any]], None]
    wait: Callable[[], None]
    multiprocessors: int


class KernelState(NamedTuple):
    """Networks between two segments; weights and moments in the order of `find_places`.

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
    def is_wide(self) -> bool:
        """Whether weights from inputs stay in memory, and a step is two kernels."""
        return pad(self.inputs) > MAX_NARROW

    @property
    def padded(self) -> tuple[int, int, int]:
        """Inputs, width and outputs as layers.cu multiplies them."""
        return 0 if self.is_wide else pad(self.inputs), pad(self.width), pad(self.outputs)

    @property
    def warps(self) -> int:
        """Of a block."""
        return 16 if self.is_wide else 4

    @property
    def tiles(self) -> int:
        """Blocks of 16 samples that a warp works on at a time."""
        return 2 if self.batch % (2 * SIDE * self.warps) == 0 else 1

    def find_blocks(self) -> dict[str, tuple[int, int]]:
        """Of each kernel: threads of a block and its bytes of shared memory, as it divides them."""
        inputs, width, outputs = self.padded
        parts = 512 * max(
            rows * (2 * columns + 1) * max(self.warps // (rows * max(columns, 1)), 1)
            for rows, columns in (
                (width // SIDE, (inputs + width) // SIDE),
                (width // SIDE, inputs // SIDE),
                (outputs // SIDE, width // SIDE),
            )
        )
        floats = 4 * (self.layers * width + outputs + 16)
        weights = self.layers * width * (inputs + width + 8) + outputs * (width + 8)
        hidden_bytes = 2 * (self.batch * (inputs + outputs) + weights) + parts + floats
        input_bytes = 2 * width * (self.batch + pad(self.inputs)) + 4 * INPUT_WARPS
        threads = 32 * self.warps
        if not self.is_wide:
            return {"train_segment": (threads, hidden_bytes + 2 * self.batch * self.layers * width)}
        return {
            "gather": (threads, 0),
            "step_hidden_weights": (threads, hidden_bytes),
            "step_input_weights": (32 * INPUT_WARPS, input_bytes),
            "validate_part": (threads, hidden_bytes),
        }

    def fits(self) -> bool:
        """Whether the kernels can train such networks on some GPU."""
        return (
            is_available()
            and self.layers > 1
            and self.loss in LOSSES
            and self.batch % SIDE == 0
            and self.width <= MAX_WIDTH
            and self.outputs <= MAX_OUTPUTS
            and max(shared for _, shared in self.find_blocks().values()) <= MAX_SHARED
        )


def is_available() -> bool:
    """Whether CuPy is installed."""
    return find_spec("cupy") is not None


def pad(size: int) -> int:
    """The multiple of 16 to which a side of a matrix is padded."""
    return -(-size // SIDE) * SIDE


def make_source(shape: Shape) -> str:
    """The kernels for a shape, in CUDA C++; without what a warp does in one instruction."""
    inputs, width, outputs = shape.padded
    sizes = {
        "INPUTS": inputs,
        "WIDE": pad(shape.inputs),
        "WIDTH": width,
        "OUTPUTS": outputs,
        "REAL_OUTPUTS": shape.outputs,
        "LAYERS": shape.layers,
        "WARPS": shape.warps,
        "TILES": shape.tiles,
        "INPUT_WARPS": INPUT_WARPS,
        "LOSS": LOSSES.index(shape.loss),
    }
    lines = [f"constexpr int {name} = {size};\n" for name, size in sizes.items()]
    return "".join(
        [*lines, _read("layers.cu"), _read("wide.cu" if shape.is_wide else "segment.cu")]
    )


def compile_kernel(shape: Shape, device: jax.Device) -> Program | None:
    """The kernels for a GPU, or None where it is too small for them or CuPy cannot compile them."""
    blocks_of = shape.find_blocks()
    try:
        import cupy

        number = device.local_hardware_id
        limits = cupy.cuda.runtime.getDeviceProperties(number)
        most = limits["sharedMemPerBlockOptin"]
        if limits["major"] < OLDEST or most < max(shared for _, shared in blocks_of.values()):
            return None
        with cupy.cuda.Device(number):
            code = _read("warp.cu") + make_source(shape)
            module = cupy.RawModule(code=code, options=("--std=c++17",))
            kernels = {name: module.get_function(name) for name in blocks_of}
            for kernel in kernels.values():
                # Not less: shapes that differ in their batch alone share the compiled kernels.
                kernel.max_dynamic_shared_size_bytes = most
            stream = cupy.cuda.Stream(non_blocking=True)
    except Exception as error:  # CuPy has no common class for what a broken CUDA lacks
        warnings.warn(
            f"CuPy cannot compile the training kernel: networks train by XLA, which is slower; "
            f"reinstall rinn[gpu] or remove CuPy ({type(error).__name__}: {error})",
            stacklevel=2,
        )
        return None

    def launch(name: str, blocks: int, arguments: Sequence[Any]) -> None:
        threads, shared = blocks_of[name]
        with cupy.cuda.Device(number), stream:
            kernels[name]((blocks,), (threads,), tuple(arguments), shared_mem=shared)

    return Program(launch, stream.synchronize, limits["multiProcessorCount"])


@functools.cache
def find_places(shape: Shape) -> Int[np.ndarray, " weight"]:
    """Where each weight of the kernels lies in a network's weights one after the other, or -1.

    The kernels keep 16 nodes x 8 of what they read as 32 threads x 4 weights; biases are a block
    with eight equal columns. Weights from many inputs come last.
    """
    inputs, width, outputs = shape.padded
    lane, part = np.divmod(np.arange(128), 4)
    row, column = lane // 4 + part // 2 * 8, lane % 4 * 2 + part % 2
    w = Weights(*_cut(shape, np.arange(_count_weights(shape))))

    def divide(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
        """A matrix in blocks: [block of rows, block of columns, weight]."""
        more = (0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])
        filled = np.pad(matrix, more, constant_values=-1)
        blocks = filled.reshape(rows // 16, 16, columns // 8, 8).swapaxes(1, 2)
        return blocks[:, :, row, column]

    parts, wide = [], []
    for layer in range(shape.layers):
        below = w.hidden[layer - 1] if layer else np.empty((0, 0), int)
        read = [divide(below, width, width), divide(_repeat(w.bias[layer]), width, 8)]
        own = divide(w.inputs[layer], width, pad(shape.inputs))
        if inputs:
            read = [own, *read]
        else:
            wide.append(own.reshape(len(own), -1, 2, 128).swapaxes(0, 1))
        parts.append(np.concatenate(read, axis=1))
    last = [divide(w.output, outputs, width), divide(_repeat(w.output_bias), outputs, 8)]
    return np.concatenate([*map(np.ravel, [*parts, np.concatenate(last, axis=1), *wide])])


def lay_out(shape: Shape, weights: Weights) -> Float[np.ndarray, "net weight"]:
    """Weights [net, ...] as the kernel keeps them."""
    rows = np.concatenate([np.reshape(part, (len(part), -1)) for part in weights], axis=1)
    rows = np.pad(rows, ((0, 0), (0, 1)))  # the last one is 0: of -1, where no weight is
    return np.ascontiguousarray(rows[:, find_places(shape)], np.float32)


def read_out(shape: Shape, rows: Float[np.ndarray, "net weight"]) -> Weights:
    """Undo `lay_out`."""
    blocks = find_places(shape)
    order = np.empty(_count_weights(shape), int)
    order[blocks[blocks >= 0]] = np.flatnonzero(blocks >= 0)
    return Weights(*_cut(shape, rows[:, order]))


def _cut(shape: Shape, values: np.ndarray) -> list[np.ndarray]:
    """Weights one after the other, [..., weight], as the matrices and vectors of `Weights`."""
    sides = _find_sides(shape)
    parts = np.split(values, np.cumsum([math.prod(side) for side in sides])[:-1], axis=-1)
    whole = values.shape[:-1]
    return [part.reshape(*whole, *side) for part, side in zip(parts, sides, strict=True)]


def _find_sides(shape: Shape) -> list[tuple[int, ...]]:
    """Of the matrices and vectors of `Weights`."""
    layers, width, outputs = shape.layers, shape.width, shape.outputs
    inputs, hidden = (layers, width, shape.inputs), (layers - 1, width, width)
    return [inputs, hidden, (outputs, width), (layers, width), (outputs,)]


def _count_weights(shape: Shape) -> int:
    return sum(map(math.prod, _find_sides(shape)))


def _repeat(bias: np.ndarray) -> np.ndarray:
    return np.repeat(bias[:, None], 8, axis=1)


@functools.cache
def _read(name: str) -> str:
    return resources.files("rinn.nets").joinpath("cuda", name).read_text(encoding="utf-8")
