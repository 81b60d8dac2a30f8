"""Trials that run as one program: who is in it, its arrays, and its way to the end."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import numpy as np

from rinn.config import NetSettings, Stream, Trial
from rinn.data.problem import Problem, weigh_observed
from rinn.nets.curves import NO_CURVE, add_segment, read_curves
from rinn.nets.redundant import Weights, draw_weights
from rinn.nets.training import (
    EXHAUSTED,
    RUNNING,
    STATUS_NAMES,
    Held,
    NetState,
    Program,
    Traits,
    start_net,
    train_segment,
)

SEGMENT_LENGTHS = (1, 2, 4, 5, 10, 20)  # epochs
SEGMENT_PRODUCTS = defaultdict(lambda: 3e12, cpu=3e10)  # multiplications of the forward pass
NETS_PER_CORE = 16
NETS_PER_GPU = 2048
SMALLEST = 4
SHRINK = 0.6
PORTION = 1024
MAX_PADDED = 1000  # weights of a layer up to which networks of all widths share a program
PADDING = 8  # widths of belief networks are rounded up to a multiple of this


@dataclass(frozen=True)
class Cohort:
    """Trials that are compiled and trained together; each engine has programs of its own."""

    number: int
    trials: tuple[Trial, ...]
    program: Any


@dataclass(frozen=True)
class TrainedNet:
    """A network at the end of its training, in the networks' units.

    `curve` is [epoch, loss], the train loss first and then the validation loss; it is empty where
    none was recorded.
    """

    trial: Trial
    weights: Weights
    status: str
    epochs: int
    train_loss: float
    validation_loss: float
    validation_error: float
    curve: np.ndarray = field(default_factory=lambda: NO_CURVE)

    @property
    def size(self) -> float:
        """The sum of |w| over all weights, the paper's measure of sparsity."""
        w = self.weights
        return float(sum(np.abs(part).sum(dtype=np.float64) for part in w[:3]))


@dataclass(frozen=True)
class Batch:
    """A cohort in the middle of its training: `slots` is [split, net], -1 where none runs.

    `curves` are the losses so far, a part for each segment: [epoch, trial, loss].
    """

    slots: np.ndarray
    state: Any
    traits: Any
    epoch: int
    curves: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True)
class SavedBatch:
    """A batch as it lies in a file: the leaves of its state in order, on no device."""

    slots: np.ndarray
    leaves: list[np.ndarray]
    epoch: int
    curves: tuple[np.ndarray, ...] = ()


class Learner(Protocol):
    """Takes the batch of one cohort from segment to segment on one device."""

    cohort: Cohort

    def start(self) -> Batch:
        """The batch before its first epoch."""

    def advance(self, batch: Batch) -> tuple[Batch, list[TrainedNet]]:
        """Train for one segment; returns the batch after it and the networks that finished."""

    def restore(self, saved: SavedBatch) -> Batch:
        """Bring a batch that was read from a file back onto the device."""


def plan_cohorts(trials: Sequence[Trial], problem: Problem, platform: str) -> list[Cohort]:
    """Divide trials into cohorts.

    On a CPU a cohort is sixteen networks of one shape: nothing is padded, nothing computed for
    another's sake; only belief networks, no two of which are alike, are padded there too, to
    widths that do not depend on the other networks. On a GPU, which needs thousands of small
    products to be busy, all networks of one depth are one cohort, padded to the widest.
    """
    groups: dict[tuple[object, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[_group_key(trial, problem, platform)].append(trial)
    most = NETS_PER_CORE if platform == "cpu" else NETS_PER_GPU
    parts = [
        members[first : first + most]
        for members in groups.values()
        for first in range(0, len(members), most)
    ]
    return [
        Cohort(number, tuple(part), _make_program(part, problem, platform))
        for number, part in enumerate(parts)
    ]


def _group_key(trial: Trial, problem: Problem, platform: str) -> tuple[object, ...]:
    net, batch = settings_of(trial), _batch_size(trial, problem)
    if platform == "cpu":
        shape = (net.kind, net.layers, _padded_width(net))
        return (trial.split, *shape, batch, net.activation, net.optimiser)
    # Batch sizes that are powers of two share one program; any other has its own. With many inputs
    # padding costs more than a program: there only networks of like width share one.
    size = net.width * len(problem.x) if net.kind == "redundant" else 0
    like = net.width.bit_length() if size > MAX_PADDED else 0
    return (net.kind, net.layers, "binary" if batch & (batch - 1) == 0 else batch, like)


def settings_of(trial: Trial) -> NetSettings:
    """The settings of a network that gradient descent trains."""
    if not isinstance(trial.net, NetSettings):
        raise TypeError(f"trial {trial.number} is none for gradient descent: {trial.net}")
    return trial.net


def _padded_width(net: NetSettings) -> int:
    return PADDING * math.ceil(net.width / PADDING) if net.sizes else net.width


def _batch_size(trial: Trial, problem: Problem) -> int:
    return min(settings_of(trial).batch_size, len(problem.splits[trial.split].train))


def _make_program(trials: Sequence[Trial], problem: Problem, platform: str) -> Program:
    sizes = {_batch_size(trial, problem) for trial in trials}
    nets = [settings_of(trial) for trial in trials]
    return Program(
        loss=problem.loss,
        activations=tuple(sorted({net.activation for net in nets})),
        optimisers=tuple(sorted({net.optimiser for net in nets})),
        tick=min(sizes),
        accumulate=len(sizes) > 1,
        padded=len({net.width for net in nets}) > 1 or any(net.sizes for net in nets),
        wide=platform != "cpu",
    )


class Trainer:
    """Trains a cohort by gradient descent; a `Learner`."""

    def __init__(self, cohort: Cohort, problem: Problem, seed: int, device: jax.Device) -> None:
        self.cohort, self.problem, self.seed, self.device = cohort, problem, seed, device
        self.splits = sorted({trial.split for trial in cohort.trials})
        self.nets = [settings_of(trial) for trial in cohort.trials]
        self.width = max(_padded_width(net) for net in self.nets)
        shared = (problem.x, problem.y, problem.likelihood.make_units())
        self.epochs = _segment_epochs(cohort, problem, device.platform)
        self._data = jax.device_put(shared, device)
        adjustment = problem.adjustment
        offset = None if adjustment is None else adjustment.offset[self.splits]
        weight = None if problem.observed is None else _weigh(problem)
        self._beside = jax.device_put((offset, weight), device)
        self._held = jax.device_put(_hold(problem, self.splits), device)
        self._prepared: dict[int, jax.Array] = {}

    def start(self) -> Batch:
        """The batch before its first epoch."""
        rows = [
            [i for i, trial in enumerate(self.cohort.trials) if trial.split == split]
            for split in self.splits
        ]
        # One or two networks alone would be multiplied by another routine, and round otherwise.
        most = max(SMALLEST, *(len(row) for row in rows))
        slots = np.array([row + [-1] * (most - len(row)) for row in rows])  # [split, net]
        drawn = [pad_weights(weights, self.width) for weights in self.draw()]
        drawn = [drawn[max(int(index), 0)] for index in slots.ravel()]
        weights = Weights(
            *(
                np.stack(part).reshape(*slots.shape, *part[0].shape)
                for part in zip(*drawn, strict=True)
            )
        )
        program = self.cohort.program
        make = jax.vmap(jax.vmap(lambda w: start_net(program, w)))
        status = np.where(slots < 0, EXHAUSTED, RUNNING).astype(np.int32)
        # All of it, or the second segment would be compiled anew for arrays of another place.
        state = jax.device_put(make(weights)._replace(status=status), self.device)
        return Batch(slots, state, self._traits(slots), 0)

    def advance(self, batch: Batch) -> tuple[Batch, list[TrainedNet]]:
        """Train for one segment; returns the batch after it and the networks that finished."""
        end = batch.epoch + self.epochs
        order = self._prepared.pop(batch.epoch, None)
        order = self._order(batch.epoch) if order is None else order
        state, losses = train_segment(
            self.cohort.program,
            batch.state,
            batch.traits,
            *self._data,
            order,
            self._held,
            *self._beside,
        )
        # While the device works: a GPU would wait for this at the start of the next segment.
        self._prepared = {end: self._order(end)}
        status, losses = jax.device_get((state.status, losses))
        curves = add_segment(batch.curves, batch.slots, losses, len(self.nets), batch.epoch)
        done = (status != RUNNING) & (batch.slots >= 0)
        nets = self._collect(state, batch.slots, done, curves)
        slots = np.where(done, -1, batch.slots)
        return self._compact(Batch(slots, state, batch.traits, end, curves)), nets

    def restore(self, saved: SavedBatch) -> Batch:
        """Bring a batch that was read from a file back onto the device."""
        example = start_net(self.cohort.program, Weights(*[np.zeros(())] * len(Weights._fields)))
        structure = jax.tree.structure(example)
        state = jax.device_put(jax.tree.unflatten(structure, saved.leaves), self.device)
        return Batch(saved.slots, state, self._traits(saved.slots), saved.epoch, saved.curves)

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

    def _order(self, epoch: int) -> jax.Array:
        """Which samples the next epochs use: the same for every network of a split."""
        train = [self.problem.splits[split].train for split in self.splits]
        used = len(train[0]) // self.cohort.program.tick * self.cohort.program.tick
        order = np.empty((self.epochs, len(train), used), np.int32)
        for e in range(self.epochs):
            for s, split in enumerate(self.splits):
                rng = np.random.default_rng([self.seed, Stream.BATCHES, split, epoch + e])
                order[e, s] = rng.permutation(train[s])[:used]
        return jax.device_put(order, self.device)

    def _traits(self, slots: np.ndarray) -> Traits:
        program = self.cohort.program
        places = [max(int(index), 0) for index in slots.ravel()]
        nets = [self.nets[place] for place in places]
        batches = [_batch_size(self.cohort.trials[place], self.problem) for place in places]

        def column(values: list[float], kind: type = np.float32) -> np.ndarray:
            return np.array(values, kind).reshape(slots.shape)

        widths = np.array([net.widths for net in nets]).reshape(*slots.shape, -1)
        alive = np.arange(self.width) < widths[..., None]  # [split, net, layer, hidden]
        traits = Traits(
            learning_rate=column([net.learning_rate for net in nets]),
            l1=column([net.l1 for net in nets]),
            l2=column([net.l2 for net in nets]),
            activation=column(
                [program.activations.index(net.activation) for net in nets], np.int32
            ),
            optimiser=column([program.optimisers.index(net.optimiser) for net in nets], np.int32),
            ticks=column([size // program.tick for size in batches], np.int32),
            epochs=column([net.epochs for net in nets], np.int32),
            patience=column([net.patience for net in nets], np.int32),
            tolerance=column([net.tolerance for net in nets]),
            settles_at=column([net.settles_at for net in nets], np.int32),
            knee=column([net.knee or np.inf for net in nets]),
            cooling=column([net.cooling for net in nets]),
            alive=alive.astype(np.float32),
        )
        return jax.device_put(traits, self.device)

    def _collect(
        self,
        state: NetState,
        slots: np.ndarray,
        done: np.ndarray,
        curves: tuple[np.ndarray, ...],
    ) -> list[TrainedNet]:
        if not done.any():
            return []
        found = dict(zip(slots[done], read_curves(curves, slots[done]), strict=True))
        weights, rest = jax.device_get((state.weights, state[4:]))
        _, epochs, status, train_loss, loss, error = rest
        nets = []
        for s, n in zip(*np.nonzero(done), strict=True):
            trial = self.cohort.trials[slots[s, n]]
            nets.append(
                TrainedNet(
                    trial=trial,
                    weights=_cut(Weights(*(part[s, n] for part in weights)), trial.net.width),
                    status=STATUS_NAMES[status[s, n]],
                    epochs=int(epochs[s, n]),
                    train_loss=float(train_loss[s, n]),
                    validation_loss=float(loss[s, n]),
                    validation_error=float(error[s, n]),
                    curve=found[slots[s, n]][: int(epochs[s, n])].copy(),
                )
            )
        return nets

    def _compact(self, batch: Batch) -> Batch:
        """Let finished networks leave, once they are a good part of the batch."""
        running = batch.slots >= 0
        most, size = int(running.sum(axis=1).max()), batch.slots.shape[1]
        while size > SMALLEST and most <= math.ceil(SHRINK * size):
            size = math.ceil(SHRINK * size)
        if most == 0 or size == batch.slots.shape[1]:
            return batch
        # Running networks first; those that have finished fill up the rest and stay idle.
        keep = np.argsort(~running, axis=1, kind="stable")[:, :size]  # [split, net]
        rows = np.arange(len(keep))[:, None]
        state = jax.tree.map(lambda leaf: leaf[rows, keep], batch.state)
        slots = np.take_along_axis(batch.slots, keep, axis=1)
        return Batch(slots, state, self._traits(slots), batch.epoch, batch.curves)


def _segment_epochs(cohort: Cohort, problem: Problem, platform: str) -> int:
    """Epochs of a segment: seconds of work at the most, so that a run can be stopped and saved."""
    net = max((settings_of(trial) for trial in cohort.trials), key=lambda net: net.width)
    readers = net.layers if net.kind == "redundant" else 1
    reads = readers * len(problem.x) + net.layers * net.width + len(problem.y)
    products = len(problem.splits[0].train) * len(cohort.trials) * net.width * reads
    fit = max(1, SEGMENT_PRODUCTS[platform] // products)
    return max(epochs for epochs in SEGMENT_LENGTHS if epochs <= fit)


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


def _hold(problem: Problem, splits: Sequence[int]) -> Held:
    """The validation samples of each split in portions of at most PORTION samples."""
    rows = np.stack([problem.splits[split].validation for split in splits])  # [split, sample]
    count = rows.shape[1]
    portions = math.ceil(count / PORTION)
    size = math.ceil(count / portions)
    empty = portions * size - count
    share = np.pad(np.full(count, 1.0 / count, np.float32), (0, empty))
    rows = np.pad(rows, ((0, 0), (0, empty)), mode="edge").reshape(len(splits), portions, size)

    def take(values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values[:, rows].transpose(1, 2, 0, 3))

    share = np.broadcast_to(share.reshape(portions, size), rows.shape).copy()
    offset = None
    if problem.adjustment is not None:
        own = problem.adjustment.offset[splits]  # [split, output, sample]
        parts = [values[:, places] for values, places in zip(own, rows, strict=True)]
        offset = np.ascontiguousarray(np.stack(parts).transpose(0, 2, 1, 3))
    weight = None if problem.observed is None else take(_weigh(problem))
    return Held(take(problem.x), take(problem.y), share, offset, weight)


def _weigh(problem: Problem) -> np.ndarray:
    """What each known output of a sample counts beside the others outside the test set."""
    weight = np.zeros(problem.y.shape, np.float32)
    seen = np.sort(problem.seen)
    weight[:, seen] = weigh_observed(problem, seen)
    return weight
