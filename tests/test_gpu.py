"""GPU and CPU train the same networks: run where there is a GPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from networks import make_trials, small_problem
from rinn.cohorts import Trainer, plan_cohorts
from rinn.devices import find_devices
from rinn.errors import InputError


def _train(problem, trials, device):
    (cohort,) = plan_cohorts(trials, problem, "gpu")
    trainer = Trainer(cohort, problem, 0, device)
    batch, nets = trainer.start(), []
    while (batch.slots >= 0).any():
        batch, new = trainer.advance(batch)
        nets += new
    return sorted(nets, key=lambda net: net.trial.number)


def test_gpu_agrees_with_cpu():
    try:
        gpu = find_devices("gpu")[0]
    except InputError:
        pytest.skip("this machine has no GPU: nothing to compare with the CPU")
    # A GPU multiplies in TensorFloat-32, with ten bits of mantissa: 1e-3 a product.
    problem = small_problem()
    trials = make_trials(settings=8, epochs=3)
    ours, theirs = (_train(problem, trials, d) for d in (gpu, jax.devices("cpu")[0]))
    for one, other in zip(ours, theirs, strict=True):
        assert one.status == other.status
        assert one.validation_loss == pytest.approx(other.validation_loss, rel=5e-3)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=0.02)
