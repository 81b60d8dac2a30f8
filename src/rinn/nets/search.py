"""Settings to trained networks: groups over devices or workers, saved as they finish."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

import jax

from rinn.cluster.tasks import Workers
from rinn.config import Trial
from rinn.data.problem import Problem
from rinn.nets.devices import borrow_device, find_platform
from rinn.nets.groups import (
    BatchState,
    CompileGroup,
    Learner,
    SavedBatch,
    TrainedNet,
    plan_groups,
    store_batch,
)
from rinn.nets.kernel_trainer import open_trainer

# Finished networks, what fraction of all epochs is done with them, and whether an earlier session
# trained them.
Report = Callable[[Sequence[TrainedNet], float, bool], None]

SECONDS_BETWEEN_SAVES = 5.0
SAVE_RATIO = 20  # seconds of training for each second of saving
SECONDS_PER_TASK = 10.0  # of training, which is lost with a worker
THREADS_PER_GPU = 8  # so that groups are compiled, and fill the GPU, side by side


class Saver(Protocol):
    """Where a search keeps what it has, so that it can be stopped and resumed."""

    def load_finished(self, group: int) -> list[TrainedNet] | None:
        """The networks of a group that is done, or None."""

    def load_batch(self, group: int) -> tuple[SavedBatch, list[TrainedNet]] | None:
        """A group's batch and its finished networks, or None."""

    def save_batch(self, group: int, batch: SavedBatch, nets: list[TrainedNet]) -> None:
        """Keep a group in the middle of its training."""

    def save_finished(self, group: int, nets: list[TrainedNet]) -> None:
        """Keep a group that is done."""


@dataclass(frozen=True)
class Engine:
    """How trials become networks: who is trained together, and how."""

    divide: Callable[[Sequence[Trial], Problem, str], list[CompileGroup]]
    open: Callable[[CompileGroup, Problem, int, jax.Device], Learner]


DESCENT = Engine(plan_groups, open_trainer)


def run_search(
    problem: Problem,
    trials: Sequence[Trial],
    devices: Sequence[jax.Device],
    *,
    engine: Engine = DESCENT,
    seed: int = 0,
    saver: Saver | None = None,
    report: Report | None = None,
    workers: Workers | None = None,
) -> list[TrainedNet]:
    """Train every trial.

    A network's weights depend on its settings, the seed and the data; not on the other networks,
    the number of devices or workers, or whether the search was interrupted.

    Args:
        problem: the data.
        trials: what to train.
        devices: where; groups run on all of them at the same time.
        engine: what trains them; gradient descent.
        seed: decides the order of samples.
        saver: keeps finished groups and batches in progress; None keeps them in memory only.
        report: called with newly finished networks, the epochs just trained (summed over
            networks, as a fraction of all epochs there could be), and whether these were read from
            the saver instead.
        workers: of a cluster, which train instead of the devices.

    Returns:
        Trained networks in the order of `trials`.

    Raises:
        KeyboardInterrupt: after what was trained is saved.
        ClusterError: the cluster failed; what was trained is saved.
    """
    platform = devices[0].platform if workers is None else _find_platform(workers)
    groups = engine.divide(trials, problem, platform)
    results = _Results(groups, saver, report or (lambda *done: None))
    if workers is None:
        if platform != "cpu":
            devices = [*devices] * THREADS_PER_GPU
        _train_here(_WorkQueue(problem, groups, engine, seed, results), devices)
    else:
        _train_remotely(problem, groups, engine, seed, results, workers)
    number = {trial.number: index for index, trial in enumerate(trials)}
    return sorted(results.nets, key=lambda net: number[net.trial.number])


class _Results:
    """The networks of a search: reported, and kept by the saver."""

    def __init__(
        self,
        groups: Sequence[CompileGroup],
        saver: Saver | None,
        report: Report,
    ) -> None:
        self.saver, self._report = saver, report
        self._total = sum(t.net.epochs for group in groups for t in group.trials)
        self._lock = threading.Lock()
        self.nets: list[TrainedNet] = []

    def add(self, nets: Sequence[TrainedNet], epochs: int, is_resumed: bool = False) -> None:
        """Add newly finished networks, and the epochs just trained."""
        with self._lock:
            self.nets.extend(nets)
            self._report(nets, epochs / self._total, is_resumed)

    def load_finished(self, group: CompileGroup) -> bool:
        """Add the networks of a group that an earlier search has finished."""
        done = self.saver.load_finished(group.number) if self.saver else None
        if done is not None and not _is_of(group, done, len(done)):
            return False
        if done is not None:
            self.add(done, sum(net.trial.net.epochs for net in done), is_resumed=True)
        return done is not None

    def load_batch(self, group: CompileGroup) -> tuple[SavedBatch | None, list[TrainedNet]]:
        """Add what an earlier search has trained of a group: its batch and finished networks."""
        kept = self.saver.load_batch(group.number) if self.saver else None
        if kept is None or not _is_of(
            group, kept[1], len(kept[1]) + int((kept[0].members >= 0).sum())
        ):
            return None, []
        batch, nets = kept
        gone = sum(net.trial.net.epochs for net in nets)
        self.add(nets, gone + batch.epoch * int((batch.members >= 0).sum()), is_resumed=True)
        return batch, nets

    def save_batch(self, group: CompileGroup, batch: SavedBatch, nets: list[TrainedNet]) -> None:
        """Keep a group in the middle of its training."""
        if self.saver:
            self.saver.save_batch(group.number, batch, nets)

    def save_finished(self, group: CompileGroup, nets: list[TrainedNet]) -> None:
        """Keep a group that is done."""
        if self.saver:
            self.saver.save_finished(group.number, nets)


def _is_of(group: CompileGroup, nets: Sequence[TrainedNet], count: int) -> bool:
    """Whether saved networks are of this group: workers with other devices divide otherwise."""
    numbers = {trial.number for trial in group.trials}
    return count == len(numbers) and all(net.trial.number in numbers for net in nets)


def _train_here(queue: _WorkQueue, devices: Sequence[jax.Device]) -> None:
    with ThreadPoolExecutor(len(devices), thread_name_prefix="rinn") as pool:
        futures = [pool.submit(queue.run, device) for device in devices]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            queue.stop.set()
    for future in futures:
        future.result()


class _WorkQueue:
    """The work that the devices share: each takes the next group until none is left."""

    def __init__(
        self,
        problem: Problem,
        groups: Sequence[CompileGroup],
        engine: Engine,
        seed: int,
        results: _Results,
    ) -> None:
        self.problem, self.engine, self.seed, self.results = problem, engine, seed, results
        self._waiting = deque(groups)
        self._lock = threading.Lock()
        self.stop = threading.Event()

    def run(self, device: jax.Device) -> None:
        try:
            while (group := self._take()) is not None:
                self._train(group, device)
        except BaseException:
            self.stop.set()
            raise

    def _take(self) -> CompileGroup | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting and not self.stop.is_set() else None

    def _train(self, group: CompileGroup, device: jax.Device) -> None:
        if self.results.load_finished(group):
            return
        learner = self.engine.open(group, self.problem, self.seed, device)
        saved, nets = self.results.load_batch(group)
        batch = learner.start() if saved is None else learner.restore(saved)
        due = time.monotonic() + SECONDS_BETWEEN_SAVES
        while (batch.members >= 0).any():
            if self.stop.is_set():
                self.results.save_batch(group, store_batch(batch), nets)
                return
            batch, new, epochs = _advance(learner, batch)
            nets = nets + new
            self.results.add(new, epochs)
            if (now := time.monotonic()) > due:
                self.results.save_batch(group, store_batch(batch), nets)
                took = time.monotonic() - now
                due = now + took + max(SECONDS_BETWEEN_SAVES, SAVE_RATIO * took)
        self.results.save_finished(group, nets)


def _advance(learner: Learner, batch: BatchState) -> tuple[BatchState, list[TrainedNet], int]:
    """Train for one segment; and how many of the remaining epochs it used or, stopped, saved."""
    running, before = batch.members[batch.members >= 0], batch.epoch
    batch, new = learner.advance(batch)
    stopped = {net.trial.number for net in new}
    trials = [learner.group.trials[index] for index in running]
    epochs = sum((t.net.epochs if t.number in stopped else batch.epoch) - before for t in trials)
    return batch, new, epochs


def _find_platform(workers: Workers) -> str:
    """What JAX calls the devices of the first worker that answers."""
    with workers.open(find_platform) as tasks:
        tasks.add("platform", workers.device)
        return str(next(iter(tasks)).result)


def _train_remotely(
    problem: Problem,
    groups: Sequence[CompileGroup],
    engine: Engine,
    seed: int,
    results: _Results,
    workers: Workers,
) -> None:
    """Send each group to a worker for some seconds, until its networks are finished."""
    left = {group.number: group for group in groups if not results.load_finished(group)}
    nets: dict[int, list[TrainedNet]] = {}
    shared = problem, engine, seed, workers.device, SECONDS_PER_TASK
    with workers.open(train_part, *shared) as tasks:
        for number, group in left.items():
            saved, nets[number] = results.load_batch(group)
            tasks.add(number, group, saved)
        for done in tasks:
            saved, new, epochs = done.result
            nets[done.name] += new
            workers.count_networks(done.worker, len(new))
            results.add(new, epochs)
            group = left[done.name]
            if saved is None:
                results.save_finished(group, nets[done.name])
            else:
                results.save_batch(group, saved, nets[done.name])
                tasks.add(done.name, group, saved, near=done.worker)


def train_part(
    group: CompileGroup,
    saved: SavedBatch | None,
    problem: Problem,
    engine: Engine,
    seed: int,
    device: str,
    seconds: float,
) -> tuple[SavedBatch | None, list[TrainedNet], int]:
    """Train a group for some seconds on a worker; its batch is None where all have finished."""
    nets: list[TrainedNet] = []
    epochs = 0
    with borrow_device(device) as borrowed:
        end = time.monotonic() + seconds
        learner = engine.open(group, problem, seed, borrowed)
        batch = learner.start() if saved is None else learner.restore(saved)
        while True:
            batch, new, trained = _advance(learner, batch)
            nets += new
            epochs += trained
            if not (batch.members >= 0).any():
                return None, nets, epochs
            if time.monotonic() >= end:
                return store_batch(batch), nets, epochs
