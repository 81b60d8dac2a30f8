"""Populations that evolve as one program: who is in it, its arrays, and its way to the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np

from rinn.config import EvolutionSettings, Trial
from rinn.data.problem import Problem
from rinn.nets.groups import BatchState, CompileGroup, SavedBatch, TrainedNet
from rinn.nets.redundant import ACTIVATIONS, Weights, run_net
from rinn.nets.states import EXHAUSTED, STATUS_NAMES
from rinn.strategies.evolution.breeding import (
    Populations,
    best_weights,
    evolve_segment,
    start_populations,
)
from rinn.strategies.evolution.fitness import choose_kernel, group_samples
from rinn.strategies.evolution.genes import (
    EvolutionSpec,
    count_elites,
    count_genes,
    count_mutations,
    make_hyper,
)

POPULATIONS_PER_CORE = 2
POPULATIONS_PER_GPU = 512
SEGMENT_GENERATIONS = defaultdict(lambda: 500, cpu=100)


def plan_populations(
    trials: Sequence[Trial], problem: Problem, platform: str
) -> list[CompileGroup]:
    """Divide trials into groups: few populations for each core, all of them for a GPU."""
    groups: dict[tuple[object, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        net = settings_of(trial)
        shape = (net.layers, net.width, net.population, net.activation)
        groups[trial.split, *shape, net.rows, net.epochs].append(trial)
    most = POPULATIONS_PER_CORE if platform == "cpu" else POPULATIONS_PER_GPU
    parts = [
        (members[first : first + most], _make_spec(members, problem, platform))
        for members in groups.values()
        for first in range(0, len(members), most)
    ]
    return [CompileGroup(number, tuple(part), spec) for number, (part, spec) in enumerate(parts)]


def settings_of(trial: Trial) -> EvolutionSettings:
    """The settings of a population."""
    if not isinstance(trial.net, EvolutionSettings):
        raise TypeError(f"trial {trial.number} is not for evolution: {trial.net}")
    return trial.net


def _make_spec(trials: Sequence[Trial], problem: Problem, platform: str) -> EvolutionSpec:
    """One program for all populations of a shape, so that it is compiled once."""
    nets = [settings_of(trial) for trial in trials]
    sizes, shape = (len(problem.x), len(problem.y)), (nets[0].layers, nets[0].width)
    spec = EvolutionSpec(
        loss=problem.loss,
        activation=nets[0].activation,
        layers=nets[0].layers,
        width=nets[0].width,
        population=nets[0].population,
        mutations=1,
        kernel=choose_kernel(platform, *shape, *sizes),
        elites=max(count_elites(net.elite_ratio, net.population) for net in nets),
    )
    genes = count_genes(spec, *sizes)
    most = max(count_mutations(net.mutation_rate, genes) for net in nets)
    return replace(spec, mutations=most)


class Evolver:
    """Lets a group of populations evolve; a `Learner`."""

    def __init__(
        self, group: CompileGroup, problem: Problem, seed: int, device: jax.Device
    ) -> None:
        self.group, self.problem, self.device = group, problem, device
        self.nets = [settings_of(trial) for trial in group.trials]
        self.split = group.trials[0].split
        rows = problem.splits[self.split].train[: self.nets[0].rows]
        samples = group_samples(problem.x[:, rows], problem.y[:, rows], problem.loss)
        self._samples = jax.device_put(samples, device)
        hyper = make_hyper(group.spec, len(problem.x), len(problem.y), self.nets)
        self._hyper = jax.device_put(hyper, device)

    def start(self) -> BatchState:
        """The populations before their first generation."""
        members = np.arange(len(self.nets))[None]  # [split, net]
        sizes = len(self.problem.x), len(self.problem.y)
        state = start_populations(self.group.spec, self._hyper, *sizes)
        return BatchState(members, jax.device_put(state, self.device), self._hyper, 0)

    def advance(self, batch: BatchState) -> tuple[BatchState, list[TrainedNet]]:
        """Let the populations live for one segment; all of them finish together."""
        most = self.nets[0].epochs
        lived = min(SEGMENT_GENERATIONS[self.device.platform], most - batch.epoch)
        state = evolve_segment(self.group.spec, batch.state, self._hyper, self._samples, lived)
        jax.block_until_ready(state)
        epoch = batch.epoch + lived
        if epoch < most:
            return BatchState(batch.members, state, batch.hyper, epoch), []
        members = np.full_like(batch.members, -1)
        return BatchState(members, state, batch.hyper, epoch), self._collect(state)

    def restore(self, saved: SavedBatch) -> BatchState:
        """Bring populations that were read from a file back onto the device."""
        state = jax.device_put(Populations(*saved.leaves), self.device)
        return BatchState(saved.members, state, self._hyper, saved.epoch)

    def _collect(self, state: Populations) -> list[TrainedNet]:
        """The fittest of each population, measured like every other network."""
        sizes = len(self.problem.x), len(self.problem.y)
        fittest, _ = best_weights(self.group.spec, state, self._hyper, *sizes)
        split = self.problem.splits[self.split]
        rows = {"train": split.train[: self.nets[0].rows], "validation": split.validation}
        nets = []
        for trial, weights in zip(self.group.trials, fittest, strict=True):
            train, _ = self._measure(weights, rows["train"])
            loss, error = self._measure(weights, rows["validation"])
            nets.append(
                TrainedNet(
                    trial=trial,
                    weights=weights,
                    status=STATUS_NAMES[EXHAUSTED],
                    epochs=settings_of(trial).epochs,
                    train_loss=train,
                    validation_loss=loss,
                    validation_error=error,
                )
            )
        return nets

    def _measure(self, weights: Weights, rows: np.ndarray) -> tuple[float, float]:
        """Mean loss in the networks' units and mean error in the user's."""
        x, y = self.problem.x[:, rows], self.problem.y[:, rows]
        activation = ACTIVATIONS[self.group.spec.activation]
        predicted = np.asarray(run_net(weights, activation, x), np.float64)
        if self.problem.loss == "bce":
            loss = float(np.mean(np.logaddexp(0, predicted) - y * predicted))
            return loss, loss
        squares = (predicted - y) ** 2  # [output, sample]
        spread = self.problem.y_scale.std
        return float(squares.mean()), float((squares * spread[:, None] ** 2).mean())
