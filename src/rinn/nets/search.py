"""Settings to trained networks: cohorts over devices, saved as they finish."""

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
from rinn.nets.cohorts import Batch, Cohort, Learner, SavedBatch, TrainedNet, Trainer, plan_cohorts

SECONDS_BETWEEN_SAVES = 5.0
SAVES_SHARE = 20  # a save that takes a second is worth twenty of training
LANES_PER_GPU = 4  # so that one cohort is compiled while another trains


class Saver(Protocol):
    """Where a search keeps what it has, so that it can be stopped and resumed."""

    def load_finished(self, cohort: int) -> list[TrainedNet] | None:
        """The networks of a cohort that is done, or None."""

    def load_batch(self, cohort: int) -> tuple[SavedBatch, list[TrainedNet]] | None:
        """A cohort's batch and its finished networks, or None."""

    def save_batch(self, cohort: int, batch: Batch, nets: list[TrainedNet]) -> None:
        """Keep a cohort in the middle of its training."""

    def save_finished(self, cohort: int, nets: list[TrainedNet]) -> None:
        """Keep a cohort that is done."""


@dataclass(frozen=True)
class Engine:
    """How trials become networks: who is trained together, and how."""

    divide: Callable[[Sequence[Trial], Problem, str], list[Cohort]]
    open: Callable[[Cohort, Problem, int, jax.Device], Learner]


DESCENT = Engine(plan_cohorts, Trainer)


def run_search(
    problem: Problem,
    trials: Sequence[Trial],
    devices: Sequence[jax.Device],
    *,
    engine: Engine = DESCENT,
    seed: int = 0,
    saver: Saver | None = None,
    report: Callable[[Sequence[TrainedNet], float], None] | None = None,
) -> list[TrainedNet]:
    """Train every trial.

    A network's weights depend on its settings, the seed and the data; not on the other networks,
    the number of devices, or whether the search was interrupted.

    Args:
        problem: the data.
        trials: what to train.
        devices: where; cohorts run on all of them at the same time.
        engine: what trains them; gradient descent.
        seed: decides the order of samples.
        saver: keeps finished cohorts and batches in progress; None keeps them in memory only.
        report: called with newly finished networks and the epochs just trained (summed over
            networks, as a share of all epochs there could be).

    Returns:
        Trained networks in the order of `trials`.

    Raises:
        KeyboardInterrupt: after what was trained is saved.
    """
    cohorts = engine.divide(trials, problem, devices[0].platform)
    lanes = _Lanes(problem, cohorts, engine, seed, saver, report or (lambda nets, share: None))
    if devices[0].platform != "cpu":
        devices = [*devices] * LANES_PER_GPU
    with ThreadPoolExecutor(len(devices), thread_name_prefix="rinn") as pool:
        futures = [pool.submit(lanes.run, device) for device in devices]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            lanes.stop.set()
    for future in futures:
        future.result()
    number = {trial.number: place for place, trial in enumerate(trials)}
    return sorted(lanes.nets, key=lambda net: number[net.trial.number])


class _Lanes:
    """The work that the devices share: each takes the next cohort until none is left."""

    def __init__(
        self,
        problem: Problem,
        cohorts: Sequence[Cohort],
        engine: Engine,
        seed: int,
        saver: Saver | None,
        report: Callable[[Sequence[TrainedNet], float], None],
    ) -> None:
        self.problem, self.engine, self.seed, self.saver = problem, engine, seed, saver
        self._report = report
        self._waiting = deque(cohorts)
        self._lock = threading.Lock()
        self._total = sum(t.net.epochs for cohort in cohorts for t in cohort.trials)
        self.nets: list[TrainedNet] = []
        self.stop = threading.Event()

    def run(self, device: jax.Device) -> None:
        try:
            while (cohort := self._take()) is not None:
                self._train(cohort, device)
        except BaseException:
            self.stop.set()
            raise

    def _take(self) -> Cohort | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting and not self.stop.is_set() else None

    def _train(self, cohort: Cohort, device: jax.Device) -> None:
        done = self.saver.load_finished(cohort.number) if self.saver else None
        if done is not None:
            self._add(done, sum(net.trial.net.epochs for net in done))
            return
        learner = self.engine.open(cohort, self.problem, self.seed, device)
        batch, nets = self._resume(learner)
        due = time.monotonic() + SECONDS_BETWEEN_SAVES
        while (batch.slots >= 0).any():
            if self.stop.is_set():
                self._save_batch(cohort, batch, nets)
                return
            running, before = batch.slots[batch.slots >= 0], batch.epoch
            batch, new = learner.advance(batch)
            nets = nets + new
            self._add(new, _spent(cohort, running, new, before, batch.epoch))
            if (now := time.monotonic()) > due:
                self._save_batch(cohort, batch, nets)
                took = time.monotonic() - now
                due = now + took + max(SECONDS_BETWEEN_SAVES, SAVES_SHARE * took)
        if self.saver:
            self.saver.save_finished(cohort.number, nets)

    def _resume(self, learner: Learner) -> tuple[Batch, list[TrainedNet]]:
        kept = self.saver.load_batch(learner.cohort.number) if self.saver else None
        if kept is None:
            return learner.start(), []
        batch, nets = learner.restore(kept[0]), kept[1]
        gone = sum(net.trial.net.epochs for net in nets)
        self._add(nets, gone + batch.epoch * int((batch.slots >= 0).sum()))
        return batch, nets

    def _save_batch(self, cohort: Cohort, batch: Batch, nets: list[TrainedNet]) -> None:
        if self.saver:
            self.saver.save_batch(cohort.number, batch, nets)

    def _add(self, nets: Sequence[TrainedNet], epochs: int) -> None:
        with self._lock:
            self.nets.extend(nets)
            self._report(nets, epochs / self._total)


def _spent(
    cohort: Cohort, running: Iterable[int], new: Sequence[TrainedNet], before: int, after: int
) -> int:
    """How many of the epochs that were left this segment used up or made needless."""
    stopped = {net.trial.number for net in new}
    trials = [cohort.trials[index] for index in running]
    return sum(
        (trial.net.epochs if trial.number in stopped else after) - before for trial in trials
    )
