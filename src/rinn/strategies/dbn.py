"""DBN: deep belief networks on the outputs alone (Hinton, Salakhutdinov 2006), with L1.

Stacked restricted Boltzmann machines are pre-trained by contrastive divergence, unrolled to an
autoencoder of decreasing sizes, and fine-tuned like every other network. Only the decoder is
mapped.
"""

from __future__ import annotations

import jax
import numpy as np

from rinn.config import NetSettings, RunSettings, Stream, Trial
from rinn.data.problem import Problem, is_large, see_outputs
from rinn.nets.groups import plan_groups
from rinn.nets.redundant import Weights
from rinn.nets.search import Engine
from rinn.nets.trainer import Trainer
from rinn.strategies.base import Networks
from rinn.strategies.belief import Pretraining, Stack, pretrain, unroll
from rinn.strategies.planning import (
    DEFAULT_SETS,
    MORE_SETS,
    count_sets,
    draw_default,
    draw_paper,
    fit_rates,
    make_trials,
)

PAPER_SETS = 940
MACHINES = (1, 2, 3, 4)
NARROWING = (0.5, 0.9)
NARROWEST = 2
PRETRAINING = 20  # epochs of each machine
PAPER_EPOCHS = 1000  # of fine-tuning, which does not begin from nothing
PRETRAINING_RATE, PRETRAINING_BATCH = 0.1, 128


class BeliefTrainer(Trainer):
    """Trains the autoencoders of a group, which start from pre-trained machines."""

    def draw(self) -> list[Weights]:
        """The unrolled machines of every trial, each pre-trained on its own split."""
        result: dict[int, Weights] = {}
        for split in self.splits:
            indices = [i for i, trial in enumerate(self.group.trials) if trial.split == split]
            result |= zip(indices, self._pretrain(indices, split), strict=True)
        return [result[index] for index in range(len(self.nets))]

    def _pretrain(self, indices: list[int], split: int) -> list[Weights]:
        """Pre-train the machines of some trials; the decoder mirrors them."""
        sizes = [net.sizes[: (net.layers + 1) // 2] for net in (self.nets[i] for i in indices)]
        settings = Pretraining(
            sizes=np.array(sizes, np.int32),
            learning_rate=np.full(len(indices), PRETRAINING_RATE, np.float32),
            seed=np.array([self.nets[i].seed for i in indices], np.uint32),
        )
        y = self.problem.y[:, self.problem.splits[split].train]
        stacks = pretrain(
            *jax.device_put((settings, y), self.device),
            binary=self.problem.loss == "bce",
            width=self.width,
            epochs=self.nets[indices[0]].pretraining,
            batch=min(PRETRAINING_BATCH, y.shape[1]),
        )
        parts = jax.device_get(stacks)
        return [
            unroll(Stack(*(part[n] for part in parts)), widths) for n, widths in enumerate(sizes)
        ]


def plan_dbn(settings: RunSettings, problem: Problem) -> list[Trial]:
    """List the networks of a DBN search, each setting on both splits."""
    rng = np.random.default_rng([settings.seed, Stream.DBN_TRIALS])
    is_paper = settings.budget == "paper"
    sets = count_sets(settings, DEFAULT_SETS)
    if is_paper:
        sets = PAPER_SETS + (MORE_SETS if is_large(problem) else 0)
    nets = []
    for number in range(sets):
        net = draw_paper(rng) if is_paper else draw_default(rng, see_outputs(problem))
        nets.append(_as_belief(rng, net, MACHINES[number % len(MACHINES)], len(problem.y)))
    return make_trials(fit_rates(nets, problem) if is_paper else nets, settings)


def _as_belief(
    rng: np.random.Generator, net: NetSettings, machines: int, outputs: int
) -> NetSettings:
    sizes = [int(rng.integers(max(NARROWEST, outputs // 2), max(NARROWEST, outputs) + 1))]
    for _ in range(machines - 1):
        narrower = int(sizes[-1] * rng.uniform(*NARROWING))
        sizes += [narrower] if narrower >= NARROWEST else []
    mirrored = (*sizes, *sizes[-2::-1])
    changes = {
        "kind": "belief",
        "epochs": min(net.epochs, PAPER_EPOCHS),
        "width": sizes[0],
        "layers": len(mirrored),
        "sizes": mirrored,
        "activation": "sigmoid",
        "pretraining": PRETRAINING,
    }
    return NetSettings(**(net.__dict__ | changes))


DBN = Networks(
    title="deep belief networks on the outputs alone",
    plan=plan_dbn,
    engine=Engine(plan_groups, BeliefTrainer),
    is_autoencoder=True,
    takes_null=False,
    caveats=(
        "Deep belief networks look at the outputs alone: which inputs act on a latent, and whether "
        "any does, is not known.",
        "A latent is reported where two in five of the kept networks have a node that acts on the "
        "same outputs; its frequency is their fraction.",
    ),
    setup="the networks of the budget",
    assumes="latents show in the outputs alone",
    suits="outputs without known causes",
)
