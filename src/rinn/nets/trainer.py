"""Training of one compile group by gradient descent, segment by segment."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import jax
import numpy as np

from rinn.config import Stream
from rinn.data.problem import Problem, weigh_observed
from rinn.nets.curves import add_segment, read_curves
from rinn.nets.groups import (
    BatchState,
    CompileGroup,
    SavedBatch,
    TrainedNet,
    find_batch_size,
    find_padded_width,
    settings_of,
)
from rinn.nets.redundant import Weights, draw_weights
from rinn.nets.states import (
    EXHAUSTED,
    RUNNING,
    STATUS_NAMES,
    Hyperparameters,
    Losses,
    ValidationSet,
)
from rinn.nets.training import start_net, train_segment

SEGMENT_LENGTHS = (1, 2, 4, 5, 10, 20)  # epochs
SEGMENT_PRODUCTS = defaultdict(lambda: 3e12, cpu=3e10)  # multiplications of the forward pass
MIN_NETS = 4  # of a batch; fewer would be multiplied by another routine, and round otherwise
SHRINK = 0.6  # finished networks leave a batch once it can shrink to this fraction
PORTION = 1024  # validation samples at a time


class Trainer:
    """Trains a group by gradient descent; a `Learner`."""

    segment_lengths: tuple[int, ...] = SEGMENT_LENGTHS

    def __init__(
        self, group: CompileGroup, problem: Problem, seed: int, device: jax.Device
    ) -> None:
        self.group, self.problem, self.seed, self.device = group, problem, seed, device
        self.spec = group.spec
        self.splits = sorted({trial.split for trial in group.trials})
        self.nets = [settings_of(trial) for trial in group.trials]
        self.width = max(find_padded_width(net) for net in self.nets)
        self.epochs = self._segment_epochs()
        self._prepared: dict[int, jax.Array] = {}
        self._put_data()

    def _segment_epochs(self) -> int:
        """Epochs of a segment: seconds of work at most, so that a run can be stopped and saved."""
        net, problem = max(self.nets, key=lambda net: net.width), self.problem
        readers = net.layers if net.kind == "redundant" else 1
        reads = readers * len(problem.x) + net.layers * net.width + len(problem.y)
        products = len(problem.splits[0].train) * len(self.nets) * net.width * reads
        needed = max(net.epochs for net in self.nets)
        fit = max(1, min(needed, SEGMENT_PRODUCTS[self.device.platform] // products))
        return max(epochs for epochs in self.segment_lengths if epochs <= fit)

    def _put_data(self) -> None:
        """Bring the data to the device."""
        problem, device = self.problem, self.device
        shared = (problem.x, problem.y, problem.likelihood.make_units())
        self._data = jax.device_put(shared, device)
        adjustment = problem.adjustment
        offset = None if adjustment is None else adjustment.offset[self.splits]
        weight = None if problem.observed is None else _weigh(problem)
        self._adjustments = jax.device_put((offset, weight), device)
        self._validation = jax.device_put(_make_validation(problem, self.splits), device)

    def start(self) -> BatchState:
        """The batch before its first epoch."""
        return self._start(range(len(self.nets)))

    def _start(self, chosen: Collection[int]) -> BatchState:
        """The batch of some trials before their first epoch."""
        rows = [[i for i in chosen if self.group.trials[i].split == split] for split in self.splits]
        most = max(MIN_NETS, *(len(row) for row in rows))
        members = np.array([row + [-1] * (most - len(row)) for row in rows])  # [split, net]
        drawn = [pad_weights(weights, self.width) for weights in self.draw()]
        drawn = [drawn[max(int(index), 0)] for index in members.ravel()]
        weights = Weights(
            *(
                np.stack(part).reshape(*members.shape, *part[0].shape)
                for part in zip(*drawn, strict=True)
            )
        )
        hyper = self._hyper(members)
        status = np.where(members < 0, EXHAUSTED, RUNNING).astype(np.int32)
        # All of it, or the second segment would be compiled anew for arrays on another device.
        state = jax.device_put(self._start_state(weights, hyper, status), self.device)
        return BatchState(members, state, hyper, 0)

    def advance(self, batch: BatchState) -> tuple[BatchState, list[TrainedNet]]:
        """Train for one segment; returns the batch after it and the networks that finished."""
        end = batch.epoch + self.epochs
        order = self._prepared.pop(batch.epoch, None)
        order = self._order(batch.epoch) if order is None else order
        state, losses = self._train(batch, order)
        # While the device works: a GPU would wait for this at the start of the next segment.
        self._prepared = {end: self._order(end)}
        self._wait()
        status, losses = jax.device_get((self._status_of(state), losses))
        curves = add_segment(batch.curves, batch.members, losses, len(self.nets), batch.epoch)
        done = (status != RUNNING) & (batch.members >= 0)
        nets = self._collect(state, batch.members, done, curves)
        members = np.where(done, -1, batch.members)
        return self._compact(BatchState(members, state, batch.hyper, end, curves)), nets

    def restore(self, saved: SavedBatch) -> BatchState:
        """Bring a batch that was read from a file back onto the device."""
        structure = self._structure()
        if len(saved.leaves) != structure.num_leaves:
            # Of a machine where the kernel trains, or where it does not: these start again.
            return self._start(sorted(saved.members[saved.members >= 0]))
        state = jax.device_put(jax.tree.unflatten(structure, saved.leaves), self.device)
        return BatchState(
            saved.members, state, self._hyper(saved.members), saved.epoch, saved.curves
        )

    def draw(self) -> list[Weights]:
        """The starting weights of every trial."""
        shape = len(self.problem.x), len(self.problem.y)
        return [
            draw_weights(
                np.random.default_rng([net.seed, Stream.WEIGHTS]),
                net.initialiser,
                net.layers,
                net.width,
                *shape,
                redundant=net.kind == "redundant",
            )
            for net in self.nets
        ]

    def _start_state(self, weights: Weights, hyper: Any, status: np.ndarray) -> Any:
        """The state of networks [split, net] before their first epoch."""
        make = jax.vmap(jax.vmap(functools.partial(start_net, self.spec)))
        return make(weights, hyper.optimiser)._replace(status=status)

    def _structure(self) -> Any:
        """How the leaves of a state belong together."""
        weights = Weights(*[np.zeros(())] * len(Weights._fields))
        return jax.tree.structure(start_net(self.spec, weights, np.int32(0)))

    def _train(self, batch: BatchState, order: jax.Array) -> tuple[Any, Losses]:
        """Begin a segment: the state and the losses of its epochs, which the device may compute."""
        return train_segment(
            self.spec,
            batch.state,
            batch.hyper,
            *self._data,
            order,
            self._validation,
            *self._adjustments,
        )

    def _wait(self) -> None:
        """Wait until what `_train` has begun can be read; JAX does this by itself."""

    def _status_of(self, state: Any) -> Any:
        """The status of each network, [split, net]."""
        return state.status

    def _read(self, state: Any, chosen: np.ndarray) -> tuple[Weights, tuple[np.ndarray, ...]]:
        """The weights of some networks, their epochs and status, and three losses."""
        weights, others = jax.device_get((state.weights, state[5:]))
        return Weights(*(part[chosen] for part in weights)), tuple(o[chosen] for o in others)

    def _order(self, epoch: int) -> jax.Array:
        """Which samples the next epochs use: the same for every network of a split."""
        train = [self.problem.splits[split].train for split in self.splits]
        used = len(train[0]) // self.spec.micro_batch * self.spec.micro_batch
        order = np.empty((self.epochs, len(train), used), np.int32)
        for e in range(self.epochs):
            for s, split in enumerate(self.splits):
                rng = np.random.default_rng([self.seed, Stream.BATCHES, split, epoch + e])
                order[e, s] = rng.permutation(train[s])[:used]
        return jax.device_put(order, self.device)

    def _hyper(self, members: np.ndarray) -> Any:
        spec = self.spec
        indices = [max(int(index), 0) for index in members.ravel()]
        nets = [self.nets[index] for index in indices]
        batches = [find_batch_size(self.group.trials[index], self.problem) for index in indices]

        def column(values: list[float], kind: type = np.float32) -> np.ndarray:
            return np.array(values, kind).reshape(members.shape)

        widths = np.array([net.widths for net in nets]).reshape(*members.shape, -1)
        node_mask = np.arange(self.width) < widths[..., None]  # [split, net, layer, hidden]
        hyper = Hyperparameters(
            learning_rate=column([net.learning_rate for net in nets]),
            l1=column([net.l1 for net in nets]),
            l2=column([net.l2 for net in nets]),
            activation=column([spec.activations.index(net.activation) for net in nets], np.int32),
            optimiser=column([spec.optimisers.index(net.optimiser) for net in nets], np.int32),
            accumulation_steps=column([size // spec.micro_batch for size in batches], np.int32),
            epochs=column([net.epochs for net in nets], np.int32),
            patience=column([net.patience for net in nets], np.int32),
            tolerance=column([net.tolerance for net in nets]),
            anneal_start=column([net.anneal_start for net in nets], np.int32),
            mcp_threshold=column([net.mcp_threshold or np.inf for net in nets]),
            final_lr_factor=column([net.final_lr_factor for net in nets]),
            node_mask=node_mask.astype(np.float32),
        )
        return jax.device_put(hyper, self.device)

    def _collect(
        self,
        state: Any,
        members: np.ndarray,
        done: np.ndarray,
        curves: tuple[np.ndarray, ...],
    ) -> list[TrainedNet]:
        if not done.any():
            return []
        chosen = members[done]
        weights, numbers = self._read(state, done)
        nets = []
        for i, (curve, *numbers_of) in enumerate(
            zip(read_curves(curves, chosen), *numbers, strict=True)
        ):
            epochs, status, train_loss, loss, error = numbers_of
            trial = self.group.trials[chosen[i]]
            nets.append(
                TrainedNet(
                    trial=trial,
                    weights=_cut(Weights(*(part[i] for part in weights)), trial.net.width),
                    status=STATUS_NAMES[status],
                    epochs=int(epochs),
                    train_loss=float(train_loss),
                    validation_loss=float(loss),
                    validation_error=float(error),
                    curve=curve[: int(epochs)].copy(),
                )
            )
        return nets

    def _compact(self, batch: BatchState) -> BatchState:
        """Drop finished networks once they are a large part of the batch."""
        running = batch.members >= 0
        most, size = int(running.sum(axis=1).max()), batch.members.shape[1]
        while size > MIN_NETS and most <= math.ceil(SHRINK * size):
            size = math.ceil(SHRINK * size)
        if most == 0 or size == batch.members.shape[1]:
            return batch
        # Running networks first; those that have finished fill the remaining columns and stay idle.
        keep = np.argsort(~running, axis=1, kind="stable")[:, :size]  # [split, net]
        rows = np.arange(len(keep))[:, None]
        state = jax.tree.map(lambda leaf: leaf[rows, keep], batch.state)
        members = np.take_along_axis(batch.members, keep, axis=1)
        return BatchState(members, state, self._hyper(members), batch.epoch, batch.curves)


def pad_weights(weights: Weights, width: int) -> Weights:
    """Widen every hidden layer with nodes that have no weights."""
    side = (0, width - weights.bias.shape[1])
    return Weights(
        inputs=np.pad(weights.inputs, ((0, 0), side, (0, 0))),
        hidden=np.pad(weights.hidden, ((0, 0), side, side)),
        output=np.pad(weights.output, ((0, 0), side)),
        bias=np.pad(weights.bias, ((0, 0), side)),
        output_bias=weights.output_bias,
    )


def _cut(weights: Weights, width: int) -> Weights:
    return Weights(
        inputs=weights.inputs[:, :width].copy(),
        hidden=weights.hidden[:, :width, :width].copy(),
        output=weights.output[:, :width].copy(),
        bias=weights.bias[:, :width].copy(),
        output_bias=weights.output_bias.copy(),
    )


def _make_validation(problem: Problem, splits: Sequence[int]) -> ValidationSet:
    """The validation samples of each split in portions of at most PORTION samples."""
    rows = np.stack([problem.splits[split].validation for split in splits])  # [split, sample]
    count = rows.shape[1]
    portions = math.ceil(count / PORTION)
    size = math.ceil(count / portions)
    empty = portions * size - count
    sample_weight = np.pad(np.full(count, 1.0 / count, np.float32), (0, empty))
    rows = np.pad(rows, ((0, 0), (0, empty)), mode="edge").reshape(len(splits), portions, size)

    def take(values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values[:, rows].transpose(1, 2, 0, 3))

    sample_weight = np.broadcast_to(sample_weight.reshape(portions, size), rows.shape).copy()
    offset = None
    if problem.adjustment is not None:
        by_split = problem.adjustment.offset[splits]  # [split, output, sample]
        parts = [values[:, taken] for values, taken in zip(by_split, rows, strict=True)]
        offset = np.ascontiguousarray(np.stack(parts).transpose(0, 2, 1, 3))
    weight = None if problem.observed is None else take(_weigh(problem))
    return ValidationSet(take(problem.x), take(problem.y), sample_weight, offset, weight)


def _weigh(problem: Problem) -> np.ndarray:
    """The weight of each observed output of a sample outside the test set."""
    weight = np.zeros(problem.y.shape, np.float32)
    seen = np.sort(problem.seen)
    weight[:, seen] = weigh_observed(problem, seen)
    return weight
