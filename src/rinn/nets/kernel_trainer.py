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
    KernelState,
    Program,
    Shape,
    compile_kernel,
    lay_out,
    read_out,
)
from rinn.nets.optimisers import OPTIMISERS
from rinn.nets.redundant import Weights
from rinn.nets.states import Losses
from rinn.nets.trainer import SEGMENT_LENGTHS, Trainer

EXACT = ("highest", "float32")  # precisions of products that rule out half precision


def open_trainer(group: CompileGroup, problem: Problem, seed: int, device: jax.Device) -> Trainer:
    """What trains a group on a device: the kernel where it can, else XLA."""
    precision = getattr(jax.config, "jax_default_matmul_precision", None)
    if device.platform == "gpu" and precision not in EXACT:
        shape = find_kernel_shape(group.trials, problem)
        if shape is not None and (program := compile_kernel(shape, device)) is not None:
            return KernelTrainer(group, problem, seed, device, shape, program)
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
        inputs, _, outputs = self.shape.padded
        x = _pad_rows(self.problem.x, inputs, np.float16)
        y = _pad_rows(self.problem.y, outputs, np.float32)
        held = np.concatenate([self.problem.splits[split].validation for split in self.splits])
        self.held = len(held) // len(self.splits)
        variance = np.ones(len(self.problem.y), np.float32)
        if self.problem.loss == "mse":
            variance = np.asarray(self.problem.likelihood.make_units().std, np.float32) ** 2
        self._data = jax.device_put((x, y, x[held], y[held], variance), self.device)

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
        """Rates and Sizes of kernel.cu by network, and last the start of its mean squares."""
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
        # The kernel writes into them: JAX must not have read them before.
        state = jax.tree.map(jnp.copy, batch.state)
        nets, epochs = batch.members.size, len(order)
        side = epochs, *batch.members.shape
        empty = [np.empty(side, np.float32) for _ in Losses._fields]
        curves = Losses(*jax.device_put(empty, self.device))
        arrays = [*self._data[:2], order, *self._data[2:], *batch.hyper]
        arrays += [state.losses, state.counts, *state[:3], *curves]
        jax.block_until_ready(arrays)
        numbers = epochs, len(self.splits), order.shape[2], self.shape.batch, self.held
        arguments: list[Any] = [np.uint64(array.unsafe_buffer_pointer()) for array in arrays]
        arguments += [np.int32(number) for number in numbers]
        self._program.launch(nets, arguments)
        return state, curves

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


def _pad_rows(columns: np.ndarray, width: int, kind: type) -> np.ndarray:
    """[column, sample] as rows of samples, filled up with zeros."""
    rows: np.ndarray = np.zeros((columns.shape[1], width), kind)
    rows[:, : len(columns)] = columns.T
    return rows
