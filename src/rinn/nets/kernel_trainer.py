"""Training of one compile group by the kernel of a GPU."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rinn.data.problem import Problem
from rinn.nets.groups import BatchState, CompileGroup, find_kernel_shape
from rinn.nets.kernel import (
    CURVES,
    SIDE,
    KernelState,
    Program,
    Shape,
    compile_kernel,
    lay_out,
    pad,
    read_out,
)
from rinn.nets.optimisers import OPTIMISERS
from rinn.nets.redundant import Weights
from rinn.nets.states import Losses
from rinn.nets.trainer import SEGMENT_LENGTHS, Trainer

HELD_BATCHES = 4  # batches of held out samples at a time
EXACT = ("highest", "float32")  # precisions of products that rule out half precision


def open_trainer(group: CompileGroup, problem: Problem, seed: int, device: jax.Device) -> Trainer:
    """What trains a group on a device: the kernel where it can, else XLA."""
    precision = getattr(jax.config, "jax_default_matmul_precision", None)
    if device.platform == "gpu" and precision not in EXACT:
        shape = find_kernel_shape(group.trials, problem)
        if shape is not None and (program := compile_kernel(shape, device)) is not None:
            kind = WideTrainer if shape.is_wide else KernelTrainer
            return kind(group, problem, seed, device, shape, program)
    return Trainer(group, problem, seed, device)


class KernelTrainer(Trainer):
    """Trains a group by the kernel: each network runs on its own through all of a segment."""

    segment_lengths = (*SEGMENT_LENGTHS, 50, 100, 200)

    def __init__(
        self,
        group: CompileGroup,
        problem: Problem,
        seed: int,
        device: jax.Device,
        shape: Shape,
        program: Program,
    ) -> None:
        self.shape, self._program = shape, program
        super().__init__(group, problem, seed, device)

    def _put_data(self) -> None:
        _, _, outputs = self.shape.padded
        x = _pad_rows(self.problem.x, pad(self.shape.inputs), np.float16)
        y = _pad_rows(self.problem.y, outputs, np.float32)
        held = np.array([self.problem.splits[split].validation for split in self.splits])
        self.held = held.shape[1]
        variance = np.ones(len(self.problem.y), np.float32)
        if self.problem.loss == "mse":
            variance = np.asarray(self.problem.likelihood.make_units().std, np.float32) ** 2
        self._variance, self._y, held_y = jax.device_put((variance, y, y[held]), self.device)
        self._held_y = held_y
        self._put_inputs(x, held)

    def _put_inputs(self, x: np.ndarray, held: np.ndarray) -> None:
        """Bring rows of inputs to the device, and those of the samples held out by each split."""
        self._x, self._held_x = jax.device_put((x, x[held]), self.device)

    def _start_state(self, weights: Weights, hyper: Any, status: np.ndarray) -> KernelState:
        nets, empty = status.size, np.zeros(status.size, np.int32)
        flat = Weights(*(part.reshape(nets, *part.shape[2:]) for part in weights))
        rows = lay_out(self.shape, flat)
        starts = np.asarray(hyper[0])[:, -1:]
        best = np.full(nets, np.inf, np.float32)
        return KernelState(
            weights=rows,
            mean=np.zeros_like(rows),
            square=np.broadcast_to(starts, rows.shape).copy(),
            losses=np.stack([best, *np.zeros((3, nets), np.float32)], axis=1),
            counts=np.stack([empty, empty, empty, status.ravel()], axis=1).astype(np.int32),
        )

    def _structure(self) -> Any:
        return jax.tree.structure(KernelState(*range(5)))

    def _hyper(self, members: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Rates and Sizes of layers.cu by network, and last the start of its mean squares."""
        rates, sizes = [], []
        for row, column in np.ndindex(members.shape):
            net = self.nets[max(int(members[row, column]), 0)]
            o = OPTIMISERS[net.optimiser]
            threshold = net.mcp_threshold or np.inf
            penalties = net.l1, net.l2, net.tolerance, threshold, net.final_lr_factor
            decays = o.mean_decay, o.mean_gain, o.square_decay, o.square_gain
            floor = o.floor + o.offset**2, float(o.corrected)
            rates.append([net.learning_rate, *penalties, *decays, *floor, o.start])
            limits = net.epochs, net.patience, net.anneal_start
            sizes.append([net.width, CURVES.index(net.activation), *limits, row])
        hyper = np.array(rates, np.float32), np.array(sizes, np.int32)
        first, second = jax.device_put(hyper, self.device)
        return first, second

    def _train(self, batch: BatchState, order: jax.Array) -> tuple[KernelState, Losses]:
        # The kernels write into them: JAX must not have read them before.
        state = jax.tree.map(jnp.copy, batch.state)
        side = len(order), *batch.members.shape
        curves = Losses(*(jnp.zeros(side, device=self.device) for _ in Losses._fields))
        self._launch_all(state, batch.hyper, order, curves)
        return state, curves

    def _launch_all(
        self, state: KernelState, hyper: tuple[jax.Array, ...], order: jax.Array, curves: Losses
    ) -> None:
        """Start what trains all networks through the epochs of `order` [epoch, split, sample]."""
        nets, (epochs, splits, used) = len(state.weights), order.shape
        w, mean, square, losses, counts = state
        arrays = self._x, self._y, order, self._held_x, self._held_y, self._variance, *hyper
        pointers = _point(*arrays, losses, counts, w, mean, square, *curves)
        numbers = epochs, splits, used, self.shape.batch, self.held
        self._launch("train_segment", nets, *pointers, *numbers)

    def _launch(self, name: str, blocks: int, *arguments: np.uint64 | int) -> None:
        """Start a kernel with pointers and 32-bit numbers."""
        given = [a if isinstance(a, np.uint64) else np.int32(a) for a in arguments]
        self._program.launch(name, blocks, given)

    def _wait(self) -> None:
        self._program.wait()

    def _status_of(self, state: KernelState) -> Any:
        return state.counts[:, 3].reshape(len(self.splits), -1)

    def _read(
        self, state: KernelState, chosen: np.ndarray
    ) -> tuple[Weights, tuple[np.ndarray, ...]]:
        at = np.flatnonzero(chosen)
        rows, losses, counts = jax.device_get((state.weights, state.losses, state.counts))
        weights = read_out(self.shape, rows[at])
        return weights, (counts[at, 2], counts[at, 3], *losses[at, 1:].T)

    def _compact(self, batch: BatchState) -> BatchState:
        return batch  # the kernel leaves a network that has stopped at once


class WideTrainer(KernelTrainer):
    """Trains networks of many inputs by the kernels of wide.cu."""

    def _put_inputs(self, x: np.ndarray, held: np.ndarray) -> None:
        batch = self.shape.batch
        self._part = batch * min(HELD_BATCHES, -(-self.held // batch))  # held out samples at a time
        whole = -(-self.held // self._part) * self._part  # filled up with the last sample
        order = np.pad(held, ((0, 0), (0, whole - self.held)), mode="edge").astype(np.int32)
        side = *order.shape, x.shape[1]
        self._held_x = jnp.zeros(side, np.float16, device=self.device)
        self._x, rows = jax.device_put((x, order), self.device)
        self._launch("gather", order.size // SIDE, *_point(self._x, rows, self._held_x))
        self._wait()

    def _launch_all(
        self, state: KernelState, hyper: tuple[jax.Array, ...], order: jax.Array, curves: Losses
    ) -> None:
        (epochs, splits, used), size, columns = order.shape, self.shape.batch, self._x.shape[1]
        nets, layers, width = len(state.weights), self.shape.layers, self.shape.padded[1]
        # Kept for as long as the kernels run: products of layers with the inputs or their deltas,
        # penalties, and the inputs of an epoch in its order.
        self._spare = tuple(
            jnp.zeros(side, kind, device=self.device)
            for side, kind in (
                ((nets, layers, self._part, width), np.float16),
                ((nets, layers), np.float32),
                ((splits, used, columns), np.float16),
            )
        )
        products, penalties, x = _point(*self._spare)
        rows, y, held_x, held_y = _point(self._x, self._y, self._held_x, self._held_y)
        orders, train, validation, variance = _point(order, *curves, self._variance)
        w, mean, square, losses, counts = _point(*state)
        settings = _point(*hyper)
        blocks = min(nets * layers, 2 * self._program.multiprocessors)

        def step_inputs(
            number: int, last: np.uint64, after: np.uint64, stride: int, samples: int
        ) -> None:
            """Update the weights after a batch, and multiply the inputs of samples by them."""
            arrays = last, after, *settings, counts, w, mean, square, products, penalties
            numbers = used // SIDE, stride // SIDE, size, samples, number, nets * layers
            self._launch("step_input_weights", blocks, *arrays, *numbers)

        for epoch in range(epochs):
            mine = orders + epoch * splits * used * 4
            places = train + epoch * nets * 4, validation + epoch * nets * 4
            self._launch("gather", splits * used // SIDE, rows, mine, x)
            step_inputs(-1, x, x, used, size)
            for number, first in enumerate(range(0, used, size)):
                arrays = y, mine, *settings, losses, counts, w, mean, square, products
                self._launch("step_hidden_weights", nets, *arrays, used, size, number)
                end = first + size
                last, after = x + first * 2 * columns, x + end % used * 2 * columns
                step_inputs(number, last, after, used, size if end < used else 0)
            for first in range(0, self.held, self._part):
                step_inputs(-1, x, held_x + first * 2 * columns, self._held_x.shape[1], self._part)
                arrays = (
                    held_y,
                    variance,
                    *settings,
                    losses,
                    counts,
                    w,
                    products,
                    penalties,
                    *places,
                )
                numbers = used, size, self._part, self.held, first
                self._launch("validate_part", nets, *arrays, *numbers)


def _point(*arrays: jax.Array) -> list[np.uint64]:
    """Where arrays lie, once they are there."""
    jax.block_until_ready(arrays)
    return [np.uint64(array.unsafe_buffer_pointer()) for array in arrays]


def _pad_rows(columns: np.ndarray, width: int, kind: type) -> np.ndarray:
    """[column, sample] as rows of samples, filled up with zeros."""
    rows: np.ndarray = np.zeros((columns.shape[1], width), kind)
    rows[:, : len(columns)] = columns.T
    return rows
