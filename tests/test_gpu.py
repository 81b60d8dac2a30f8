"""GPU and CPU train the same networks: run where there is a GPU."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest

from networks import make_trials, mixed_data, small_problem
from rinn.config import EvolutionSettings
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.nets.devices import find_devices
from rinn.nets.groups import plan_groups
from rinn.nets.kernel_trainer import KernelTrainer, open_trainer
from rinn.nets.trainer import Trainer
from rinn.strategies.evolution.fitness import group_samples, measure_fitness
from rinn.strategies.evolution.genes import EvolutionSpec, make_hyper

pytestmark = pytest.mark.exact


def _train(problem, trials, device, start=open_trainer):
    nets = []
    for group in plan_groups(trials, problem, "gpu"):
        trainer = start(group, problem, 0, device)
        batch = trainer.start()
        while (batch.members >= 0).any():
            batch, new = trainer.advance(batch)
            nets += new
    return sorted(nets, key=lambda net: net.trial.number)


@pytest.fixture
def gpu():
    try:
        return find_devices("gpu")[0]
    except InputError:
        pytest.skip("this machine has no GPU: nothing to compare with the CPU")


@pytest.mark.filterwarnings("ignore:The Pallas Triton backend:DeprecationWarning")
@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_fitness_agrees_with_the_cpu(gpu, loss):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (2, 16, 800)).astype(np.float32)
    genes = rng.integers(-2, 3, (1, 201, 1680)).astype(np.int8)
    genes[rng.random(genes.shape) < 0.8] = 0
    net = EvolutionSettings(elite_ratio=0.4, mutation_rate=0.006, l1=10.0)
    found = []
    for device, kernel in ((gpu, "pallas"), (jax.devices("cpu")[0], "cached")):
        spec = EvolutionSpec(loss, "relu", 8, 8, 201, mutations=10, kernel=kernel)
        hyper = make_hyper(spec, 16, 16, [net])
        given = jax.device_put((genes, hyper, group_samples(x, y, loss)), device)
        found.append(np.asarray(measure_fitness(spec, *given)))
    np.testing.assert_allclose(*found, rtol=5e-3)


@pytest.mark.parametrize("batches", [(128,), (64, 128, 256)])
@pytest.mark.parametrize(("inputs", "binary"), [(16, False), (16, True), (100, False)])
def test_kernel_agrees_with_xla(gpu, batches, inputs, binary):
    problem = small_problem(samples=1000, inputs=inputs, outputs=16, binary=binary)
    trials = [
        replace(trial, net=replace(trial.net, width=width, batch_size=batch))
        for trial in make_trials(settings=12, layers=8, epochs=3)
        for width in [(8, 12, 16, 20)[trial.setting % 4]]
        for batch in [batches[trial.setting % len(batches)]]
    ]
    group, *_ = plan_groups(trials, problem, "gpu")
    assert isinstance(open_trainer(group, problem, 0, gpu), KernelTrainer)
    ours, theirs = (_train(problem, trials, gpu, start) for start in (open_trainer, Trainer))
    for one, other in zip(ours, theirs, strict=True):
        assert (one.status, one.epochs) == (other.status, other.epochs)
        assert one.train_loss == pytest.approx(other.train_loss, rel=0.005)
        assert one.validation_loss == pytest.approx(other.validation_loss, rel=0.005)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=0.02)


# By itself a GPU multiplies in TensorFloat-32, with ten bits of mantissa: 1e-3 a product.
@pytest.mark.parametrize(("precision", "close"), [("default", 0.02), ("highest", 1e-3)])
@pytest.mark.parametrize("mixed", [False, True])
def test_gpu_agrees_with_cpu(gpu, mixed, precision, close):
    if mixed and precision == "default":
        close = 0.05  # rare values have steep slopes
    problem = make_problem(mixed_data()) if mixed else small_problem()
    trials = make_trials(settings=8, epochs=3)
    with jax.default_matmul_precision(precision):
        ours, theirs = (_train(problem, trials, d) for d in (gpu, jax.devices("cpu")[0]))
    for one, other in zip(ours, theirs, strict=True):
        assert one.status == other.status
        assert one.validation_loss == pytest.approx(other.validation_loss, rel=close / 4)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=close)
