"""The kernel for GPUs: the CPU interprets it, and lowers it for CUDA."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from networks import make_trials, small_problem
from rinn.nets.groups import plan_groups
from rinn.nets.kernel import find_tile
from rinn.nets.trainer import Trainer
from rinn.nets.training import train_segment

pytestmark = pytest.mark.filterwarnings("ignore:The Pallas Triton backend:DeprecationWarning")


def make_trainer(loss, *, kernel=True):
    """One group of all activations and optimisers, of two widths and two batch sizes.

    With 19 outputs the kernel works on 64 samples at a time: a batch is one portion or two.
    """
    problem = small_problem(samples=500, inputs=5, outputs=19, binary=loss == "bce")
    trials = [
        replace(trial, net=replace(trial.net, width=width, batch_size=batch))
        for trial in make_trials(12, layers=3, epochs=2, mcp_threshold=0.3, final_lr_factor=0.1)[
            ::2
        ]
        for width in [(3, 16)[trial.setting // 2 % 2]]
        for batch in [(64, 128)[trial.setting // 3 % 2]]
    ]
    (group,) = plan_groups(trials, problem, "gpu")
    spec = group.spec
    assert spec.kernel
    assert spec.accumulate
    assert spec.padded
    assert (len(spec.activations), len(spec.optimisers)) == (4, 3)
    group = group if kernel else replace(group, spec=replace(spec, kernel=""))
    return Trainer(group, problem, 0, jax.devices("cpu")[0])


def train(trainer):
    nets, batch = [], trainer.start()
    while (batch.members >= 0).any():
        batch, new = trainer.advance(batch)
        nets += new
    return sorted(nets, key=lambda net: net.trial.number)


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_the_kernel_trains_as_xla_does(loss):
    ours, theirs = train(make_trainer(loss)), train(make_trainer(loss, kernel=False))
    for one, other in zip(ours, theirs, strict=True):
        assert (one.status, one.epochs) == (other.status, other.epochs)
        for name in ("train_loss", "validation_loss", "validation_error"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-5)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-3)  # Adam enlarges rounding errors


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_the_compiler_for_cuda_accepts_the_kernel(loss):
    trainer = make_trainer(loss)
    batch, spec = trainer.start(), replace(trainer.spec, kernel="pallas")
    samples = *trainer._data, trainer._order(0), trainer._validation
    traced = train_segment.trace(spec, batch.state, batch.hyper, *samples)
    assert "triton" in traced.lower(lowering_platforms=("cuda",)).as_text()


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((128, 16, 12, 16), 128),
        ((96, 16, 12, 16), 32),
        ((128, 16, 17, 16), 64),
        ((256, 64, 12, 16), 32),
        ((48, 16, 12, 16), 0),
        ((128, 65, 12, 16), 0),
        ((128, 5000, 12, 16), 0),
    ],
)
def test_samples_at_a_time(shape, tile):
    assert find_tile(*shape) == tile
