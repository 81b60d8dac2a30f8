"""Trials that are compiled and trained together, and the records of their training."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import numpy as np

from rinn.config import NetSettings, Trial
from rinn.data.problem import Problem
from rinn.nets.curves import NO_CURVE
from rinn.nets.kernel import Shape, pad
from rinn.nets.redundant import Weights
from rinn.nets.states import CompileSpec

NETS_PER_CORE = 16
NETS_PER_GPU = 2048
MAX_PADDED = 1000  # weights of a layer up to which networks of all widths share a program
PADDING = 8  # widths of belief networks are rounded up to a multiple of this


@dataclass(frozen=True)
class CompileGroup:
    """Trials that are compiled and trained together; each engine has programs of its own."""

    number: int
    trials: tuple[Trial, ...]
    spec: Any


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
    def l1_norm(self) -> float:
        """The sum of |w| over all weights, the paper's measure of sparsity."""
        w = self.weights
        return float(sum(np.abs(part).sum(dtype=np.float64) for part in w[:3]))


@dataclass(frozen=True)
class BatchState:
    """A group in training; `members` is [split, net], -1 where none runs; `curves` by segment."""

    members: np.ndarray
    state: Any
    hyper: Any
    epoch: int
    curves: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True)
class SavedBatch:
    """A batch as stored in a file: the leaves of its state in order."""

    members: np.ndarray
    leaves: list[np.ndarray]
    epoch: int
    curves: tuple[np.ndarray, ...] = ()


def store_batch(batch: BatchState) -> SavedBatch:
    """A batch as it is stored in a file or sent to another process."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(batch.state)]
    return SavedBatch(batch.members, leaves, batch.epoch, batch.curves)


class Learner(Protocol):
    """Takes the batch of one group from segment to segment on one device."""

    group: CompileGroup

    def start(self) -> BatchState:
        """The batch before its first epoch."""

    def advance(self, batch: BatchState) -> tuple[BatchState, list[TrainedNet]]:
        """Train for one segment; returns the batch after it and the networks that finished."""

    def restore(self, saved: SavedBatch) -> BatchState:
        """Bring a batch that was read from a file back onto the device."""


def plan_groups(trials: Sequence[Trial], problem: Problem, platform: str) -> list[CompileGroup]:
    """Divide trials into groups.

    On a CPU a group is sixteen networks of one shape without padding; only belief networks, which
    differ in shape, are padded, to widths that do not depend on the other networks. On a GPU, which
    needs thousands of small products to be busy, a group is all networks of one depth, padded to
    the widest; those that the kernel trains are a group by their batch size and by the multiple of
    16 that holds their width.
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
        CompileGroup(number, tuple(part), _make_spec(part, problem, platform))
        for number, part in enumerate(parts)
    ]


def _group_key(trial: Trial, problem: Problem, platform: str) -> tuple[object, ...]:
    net, batch = settings_of(trial), find_batch_size(trial, problem)
    if platform == "cpu":
        shape = (net.kind, net.layers, find_padded_width(net))
        return (trial.split, *shape, batch, net.activation, net.optimiser)
    # Batch sizes that are powers of two share one program; any other has its own. With many inputs
    # padding costs more than a program: there only networks of similar width share one.
    if find_kernel_shape([trial], problem) is not None:
        return (net.kind, net.layers, batch, pad(net.width), True)
    size = net.width * len(problem.x) if net.kind == "redundant" else 0
    like = net.width.bit_length() if size > MAX_PADDED else 0
    return (net.kind, net.layers, "binary" if batch & (batch - 1) == 0 else batch, like, False)


def find_kernel_shape(trials: Sequence[Trial], problem: Problem) -> Shape | None:
    """The shape that the kernel of a GPU is compiled for, or None where it cannot train these."""
    nets = [settings_of(trial) for trial in trials]
    shape = Shape(
        inputs=len(problem.x),
        width=max(net.width for net in nets),
        outputs=len(problem.y),
        layers=nets[0].layers,
        loss=problem.loss,
        batch=find_batch_size(trials[0], problem),
    )
    fits = (
        all(net.kind == "redundant" and not net.sizes for net in nets)
        and problem.adjustment is None
        and problem.observed is None
        and shape.fits()
    )
    return shape if fits else None


def settings_of(trial: Trial) -> NetSettings:
    """The settings of a network that gradient descent trains."""
    if not isinstance(trial.net, NetSettings):
        raise TypeError(f"trial {trial.number} is not for gradient descent: {trial.net}")
    return trial.net


def find_padded_width(net: NetSettings) -> int:
    """The width of the arrays that hold a network."""
    return PADDING * math.ceil(net.width / PADDING) if net.sizes else net.width


def find_batch_size(trial: Trial, problem: Problem) -> int:
    """The batch size of a trial, at most all training samples."""
    return min(settings_of(trial).batch_size, len(problem.splits[trial.split].train))


def _make_spec(trials: Sequence[Trial], problem: Problem, platform: str) -> CompileSpec:
    sizes = {find_batch_size(trial, problem) for trial in trials}
    nets = [settings_of(trial) for trial in trials]
    return CompileSpec(
        loss=problem.loss,
        activations=tuple(sorted({net.activation for net in nets})),
        optimisers=tuple(sorted({net.optimiser for net in nets})),
        micro_batch=min(sizes),
        accumulate=len(sizes) > 1,
        padded=len({net.width for net in nets}) > 1 or any(net.sizes for net in nets),
        fused_inputs=platform != "cpu",
    )
