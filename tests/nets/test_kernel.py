"""The kernel for GPUs, compiled for the CPU: it trains as XLA does."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from nets.host_kernel import compile_on_host
from networks import make_trials, small_problem
from rinn.nets import kernel
from rinn.nets.groups import find_kernel_shape, plan_groups, store_batch
from rinn.nets.kernel import Shape, compile_kernel, find_places, lay_out, read_out
from rinn.nets.kernel_trainer import KernelTrainer, WideTrainer, open_trainer
from rinn.nets.redundant import Weights
from rinn.nets.trainer import Trainer

CPU = jax.devices("cpu")[0]
SHAPE = Shape(inputs=5, width=12, outputs=19, layers=3, loss="mse", batch=64)


@pytest.fixture(autouse=True)
def _cupy(monkeypatch):
    monkeypatch.setattr(kernel, "is_available", lambda: True)


def open_kernel(group, problem):
    shape = find_kernel_shape(group.trials, problem)
    kind = WideTrainer if shape.is_wide else KernelTrainer
    return kind(group, problem, 0, CPU, shape, compile_on_host(shape))


def open_xla(group, problem):
    return Trainer(group, problem, 0, CPU)


def make_groups(problem, settings=12, **changes):
    """Networks of all activations and optimisers, of two widths and two batch sizes."""
    changes = {"layers": 3, "epochs": 2, "mcp_threshold": 0.3, "final_lr_factor": 0.1} | changes
    trials = [
        replace(trial, net=replace(trial.net, width=width, batch_size=batch))
        for trial in make_trials(settings, **changes)
        for width in [(12, 20)[trial.setting // 2 % 2]]
        for batch in [(64, 128)[trial.setting // 3 % 2]]
    ]
    return plan_groups(trials, problem, "gpu")


def finish(trainer, batch):
    nets = []
    while (batch.members >= 0).any():
        batch, new = trainer.advance(batch)
        nets += new
    return nets


def train(start, groups, problem):
    nets = []
    for group in groups:
        trainer = start(group, problem)
        nets += finish(trainer, trainer.start())
    return sorted(nets, key=lambda net: net.trial.number)


def assert_same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert (one.trial, one.status, one.epochs) == (other.trial, other.status, other.epochs)
        np.testing.assert_array_equal(one.curve, other.curve)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("loss", "inputs"), [("mse", 5), ("bce", 5), ("mse", 70)])
def test_the_kernel_trains_as_xla_does(loss, inputs):
    problem = small_problem(samples=260, inputs=inputs, outputs=19, binary=loss == "bce")
    groups = make_groups(problem, settings=12 if inputs == 5 else 4)
    assert len(groups) >= 3
    ours, theirs = train(open_kernel, groups, problem), train(open_xla, groups, problem)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.trial, one.status, one.epochs) == (other.trial, other.status, other.epochs)
        assert one.validation_error == pytest.approx(other.validation_error, rel=1e-3)
        np.testing.assert_allclose(one.curve, other.curve, rtol=1e-3)
        for a, b in zip(one.weights, other.weights, strict=True):
            # Half precision; Adam and RMSProp enlarge errors of small gradients.
            assert np.mean(np.abs(a - b)) < 2e-3
            assert np.max(np.abs(a - b)) < 0.1


def test_networks_stop_as_with_xla():
    """Some get worse after few epochs, one has no finite loss, the others use up their epochs."""
    problem = small_problem(samples=300, inputs=5, outputs=3)
    trials = [
        replace(trial, net=replace(trial.net, width=12, batch_size=64, learning_rate=rate))
        for trial in make_trials(4, layers=2, epochs=6, patience=2, tolerance=0.9, optimiser="sgd")
        for rate in [(1e-3, 1e-2, 0.1, 1e20)[trial.setting]]
    ]
    groups = plan_groups(trials, problem, "gpu")
    ours, theirs = train(open_kernel, groups, problem), train(open_xla, groups, problem)
    found = [(net.status, net.epochs) for net in ours]
    assert found == [(net.status, net.epochs) for net in theirs]
    assert {status for status, _ in found} == {"exhausted", "converged", "diverged"}


@pytest.mark.parametrize(("inputs", "settings"), [(4, 4), (70, 1)])
def test_segments_change_nothing(monkeypatch, inputs, settings):
    problem = small_problem(samples=200, inputs=inputs)
    groups = make_groups(problem, settings=settings, epochs=4)
    whole = train(open_kernel, groups, problem)
    monkeypatch.setattr(KernelTrainer, "segment_lengths", (1,))
    assert_same(train(open_kernel, groups, problem), whole)


def test_resumed_as_uninterrupted(monkeypatch):
    monkeypatch.setattr(KernelTrainer, "segment_lengths", (2,))
    problem = small_problem(samples=300)
    group, *_ = make_groups(problem, settings=4, epochs=5)
    trainer = open_kernel(group, problem)
    whole = finish(trainer, trainer.start())
    batch, _ = trainer.advance(trainer.start())
    again = open_kernel(group, problem)
    assert_same(finish(again, again.restore(store_batch(batch))), whole)


@pytest.mark.parametrize("start", [open_kernel, open_xla])
def test_networks_of_the_other_program_start_again(start):
    problem = small_problem(samples=300)
    group, *_ = make_groups(problem, settings=2, epochs=3)
    saved = (open_xla if start is open_kernel else open_kernel)(group, problem)
    saved = saved.restore(store_batch(saved.start()))
    saved.members[0, 0] = -1  # it had finished
    trainer = start(group, problem)
    nets = finish(trainer, trainer.restore(store_batch(saved)))
    assert len(nets) == len(group.trials) - 1
    whole = {net.trial: net for net in train(start, [group], problem)}
    for net in nets:
        np.testing.assert_allclose(net.curve, whole[net.trial].curve, rtol=1e-5)


@pytest.mark.parametrize("width", [12, 16, 20])
def test_layout_and_back(width):
    shape, rng = SHAPE._replace(width=width), np.random.default_rng(0)
    sides = (3, width, 5), (2, width, width), (19, width), (3, width), (19,)
    weights = Weights(*(rng.normal(size=(2, *side)).astype(np.float32) for side in sides))
    rows = lay_out(shape, weights)
    assert rows.shape == (2, len(find_places(shape)))
    for part, back in zip(weights, read_out(shape, rows), strict=True):
        np.testing.assert_array_equal(part, back)
    np.testing.assert_array_equal(lay_out(shape, read_out(shape, rows)), rows)


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"loss": "bce", "batch": 48}, True),
        ({"inputs": 64, "width": 32, "outputs": 64}, True),
        ({"inputs": 650, "width": 50, "outputs": 84, "layers": 8, "batch": 128}, True),
        ({"inputs": 5000, "width": 50}, False),
        ({"outputs": 97}, False),
        ({"width": 65}, False),
        ({"layers": 1}, False),
        ({"batch": 40}, False),
        ({"batch": 4096}, False),
        ({"loss": "mixed"}, False),
    ],
)
def test_shapes_that_fit(changes, fits):
    assert SHAPE._replace(**changes).fits() == fits


def test_nothing_fits_without_cupy(monkeypatch):
    monkeypatch.setattr(kernel, "is_available", lambda: False)
    assert not SHAPE.fits()


def test_networks_that_the_kernel_does_not_take():
    problem = small_problem(samples=300)
    taken = make_trials(1, batch_size=32)
    assert find_kernel_shape(taken, problem) is not None
    for changes in ({"kind": "plain"}, {"batch_size": 20}, {"layers": 1}):
        assert find_kernel_shape(make_trials(1, **({"batch_size": 32} | changes)), problem) is None


def make_cupy(major=9, shared=227 << 10, error=None):
    """A CuPy that compiles nothing."""

    def compile_code(**_):
        if error is not None:
            raise error
        return SimpleNamespace(get_function=lambda name: SimpleNamespace())

    limits = {"major": major, "sharedMemPerBlockOptin": shared, "multiProcessorCount": 4}
    stream = SimpleNamespace(synchronize=lambda: None)
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceProperties=lambda number: limits),
        Device=lambda number: jax.default_device(CPU),
        Stream=lambda **_: stream,
    )
    return SimpleNamespace(cuda=cuda, RawModule=compile_code)


GPU = SimpleNamespace(platform="gpu", local_hardware_id=0)


def test_gpus_that_run_the_kernel(monkeypatch):
    for cupy, runs in [
        (make_cupy(), True),
        (make_cupy(major=7), False),
        (make_cupy(shared=1 << 10), False),
    ]:
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        assert (compile_kernel(SHAPE, GPU) is not None) == runs


def test_a_broken_cupy_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", make_cupy(error=RuntimeError("no NVRTC")))
    with pytest.warns(UserWarning, match=r"reinstall rinn\[gpu\].*RuntimeError: no NVRTC"):
        assert compile_kernel(SHAPE, GPU) is None


def test_exact_products_are_left_to_xla(monkeypatch):
    problem = small_problem(samples=300)
    group, *_ = make_groups(problem, settings=1)
    monkeypatch.setitem(sys.modules, "cupy", make_cupy())
    monkeypatch.setattr(KernelTrainer, "__init__", lambda self, *_: None)
    monkeypatch.setattr(Trainer, "__init__", lambda self, *_: None)
    assert isinstance(open_trainer(group, problem, 0, GPU), KernelTrainer)
    assert not isinstance(open_trainer(group, problem, 0, CPU), KernelTrainer)
    with jax.default_matmul_precision("highest"):
        assert not isinstance(open_trainer(group, problem, 0, GPU), KernelTrainer)
