"""Settings to trained networks: groups over devices, saved as they finish."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

import jax

from rinn.config import Trial
from rinn.data.problem import Problem
from rinn.nets.groups import BatchState, CompileGroup, Learner, SavedBatch, TrainedNet, plan_groups
from rinn.nets.trainer import Trainer

# Finished networks, what fraction of all epochs is done with them, and whether an earlier sitting
# trained them.
Report = Callable[[Sequence[TrainedNet], float, bool], None]

SECONDS_BETWEEN_SAVES = 5.0
SAVE_RATIO = 20  # seconds of training for each second of saving
THREADS_PER_GPU = 4  # so that one group is compiled while another trains


class Saver(Protocol):
    """Where a search keeps what it has, so that it can be stopped and resumed."""

    def load_finished(self, group: int) -> list[TrainedNet] | None:
        """The networks of a group that is done, or None."""

    def load_batch(self, group: int) -> tuple[SavedBatch, list[TrainedNet]] | None:
        """A group's batch and its finished networks, or None."""

    def save_batch(self, group: int, batch: BatchState, nets: list[TrainedNet]) -> None:
        """Keep a group in the middle of its training."""

    def save_finished(self, group: int, nets: list[TrainedNet]) -> None:
        """Keep a group that is done."""


@dataclass(frozen=True)
class Engine:
    """How trials become networks: who is trained together, and how."""

    divide: Callable[[Sequence[Trial], Problem, str], list[CompileGroup]]
    open: Callable[[CompileGroup, Problem, int, jax.Device], Learner]


DESCENT = Engine(plan_groups, Trainer)


def run_search(
    problem: Problem,
    trials: Sequence[Trial],
    devices: Sequence[jax.Device],
    *,
    engine: Engine = DESCENT,
    seed: int = 0,
    saver: Saver | None = None,
    report: Report | None = None,
) -> list[TrainedNet]:
    """Train every trial.

    A network's weights depend on its settings, the seed and the data; not on the other networks,
    the number of devices, or whether the search was interrupted.

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

    Returns:
        Trained networks in the order of `trials`.

    Raises:
        KeyboardInterrupt: after what was trained is saved.
    """
    groups = engine.divide(trials, problem, devices[0].platform)
    queue = _WorkQueue(problem, groups, engine, seed, saver, report or (lambda *done: None))
    if devices[0].platform != "cpu":
        devices = [*devices] * THREADS_PER_GPU
    with ThreadPoolExecutor(len(devices), thread_name_prefix="rinn") as pool:
        futures = [pool.submit(queue.run, device) for device in devices]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            queue.stop.set()
    for future in futures:
        future.result()
    number = {trial.number: index for index, trial in enumerate(trials)}
    return sorted(queue.nets, key=lambda net: number[net.trial.number])


class _WorkQueue:
    """The work that the devices share: each takes the next group until none is left."""

    def __init__(
        self,
        problem: Problem,
        groups: Sequence[CompileGroup],
        engine: Engine,
        seed: int,
        saver: Saver | None,
        report: Report,
    ) -> None:
        self.problem, self.engine, self.seed, self.saver = problem, engine, seed, saver
        self._report = report
        self._waiting = deque(groups)
        self._lock = threading.Lock()
        self._total = sum(t.net.epochs for group in groups for t in group.trials)
        self.nets: list[TrainedNet] = []
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
        done = self.saver.load_finished(group.number) if self.saver else None
        if done is not None:
            self._add(done, sum(net.trial.net.epochs for net in done), is_resumed=True)
            return
        learner = self.engine.open(group, self.problem, self.seed, device)
        batch, nets = self._resume(learner)
        due = time.monotonic() + SECONDS_BETWEEN_SAVES
        while (batch.members >= 0).any():
            if self.stop.is_set():
                self._save_batch(group, batch, nets)
                return
            running, before = batch.members[batch.members >= 0], batch.epoch
            batch, new = learner.advance(batch)
            nets = nets + new
            self._add(new, _spent(group, running, new, before, batch.epoch))
            if (now := time.monotonic()) > due:
                self._save_batch(group, batch, nets)
                took = time.monotonic() - now
                due = now + took + max(SECONDS_BETWEEN_SAVES, SAVE_RATIO * took)
        if self.saver:
            self.saver.save_finished(group.number, nets)

    def _resume(self, learner: Learner) -> tuple[BatchState, list[TrainedNet]]:
        kept = self.saver.load_batch(learner.group.number) if self.saver else None
        if kept is None:
            return learner.start(), []
        batch, nets = learner.restore(kept[0]), kept[1]
        gone = sum(net.trial.net.epochs for net in nets)
        self._add(nets, gone + batch.epoch * int((batch.members >= 0).sum()), is_resumed=True)
        return batch, nets

    def _save_batch(self, group: CompileGroup, batch: BatchState, nets: list[TrainedNet]) -> None:
        if self.saver:
            self.saver.save_batch(group.number, batch, nets)

    def _add(self, nets: Sequence[TrainedNet], epochs: int, is_resumed: bool = False) -> None:
        with self._lock:
            self.nets.extend(nets)
            self._report(nets, epochs / self._total, is_resumed)


def _spent(
    group: CompileGroup, running: Iterable[int], new: Sequence[TrainedNet], before: int, after: int
) -> int:
    """How many of the remaining epochs this segment used or, by early stopping, saved."""
    stopped = {net.trial.number for net in new}
    trials = [group.trials[index] for index in running]
    return sum(
        (trial.net.epochs if trial.number in stopped else after) - before for trial in trials
    )
