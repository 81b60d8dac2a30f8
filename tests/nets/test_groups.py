import jax
import numpy as np
import pytest

from networks import make_trials, small_data, small_problem
from rinn.config import EvolutionSettings, NetSettings, Trial
from rinn.data.problem import make_problem
from rinn.nets import kernel, trainer
from rinn.nets.groups import plan_groups
from rinn.nets.redundant import ACTIVATIONS, run_net
from rinn.nets.trainer import Trainer


def train(problem, trials, platform="cpu", seed=0):
    """Train trials group by group, on the CPU, in the layout of a platform."""
    nets = []
    for group in plan_groups(trials, problem, platform):
        trainer = Trainer(group, problem, seed, jax.devices("cpu")[0])
        batch = trainer.start()
        while (batch.members >= 0).any():
            batch, new = trainer.advance(batch)
            nets += new
    return sorted(nets, key=lambda net: net.trial.number)


def assert_same(ours, theirs, **tolerance):
    for one, other in zip(ours, theirs, strict=True):
        assert one.trial == other.trial
        assert (one.status, one.epochs) == (other.status, other.epochs)
        np.testing.assert_allclose(one.validation_loss, other.validation_loss, rtol=1e-4)
        np.testing.assert_allclose(one.train_loss, other.train_loss, rtol=1e-4)
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(a, b, **tolerance)


@pytest.mark.parametrize("binary", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_batched_equals_one_at_a_time(binary):
    """A network of any settings, alone and in the company of all others: within rounding."""
    problem, trials = small_problem(binary=binary), make_trials(settings=3, layers=3)
    together = train(problem, trials, "gpu")
    alone = [net for trial in trials for net in train(problem, [trial], "gpu")]
    assert_same(together, alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["redundant", pytest.param("plain", marks=pytest.mark.slow)])
def test_padding_and_shared_micro_batches_change_nothing(kind):
    """The GPU's one padded group and the CPU's groups of one shape train the same networks."""
    problem, trials = small_problem(), make_trials(settings=3, layers=3, kind=kind)
    assert_same(train(problem, trials, "gpu"), train(problem, trials, "cpu"), rtol=1e-4, atol=1e-5)


@pytest.mark.exact
def test_company_on_a_cpu_changes_not_a_bit():
    problem = small_problem(samples=400)
    shape = {"width": 12, "layers": 8, "batch_size": 128, "activation": "relu", "optimiser": "adam"}
    trials = make_trials(settings=3, **shape)
    alone = [net for trial in trials for net in train(problem, [trial])]
    for one, other in zip(train(problem, trials), alone, strict=True):
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(a, b)


def test_plan_keeps_every_trial_once():
    problem, trials = small_problem(), make_trials(settings=40)
    for platform in ("cpu", "gpu"):
        plan = plan_groups(trials, problem, platform)
        numbers = sorted(trial.number for group in plan for trial in group.trials)
        assert numbers == [trial.number for trial in trials]
        assert [group.number for group in plan] == list(range(len(plan)))
    assert len(plan_groups(trials, problem, "gpu")) == 1
    assert not any(group.spec.padded for group in plan_groups(trials, problem, "cpu"))


def test_odd_batch_sizes_have_their_own_cohort_on_a_gpu():
    problem = small_problem()
    trials = [
        Trial(i, i, 0, NetSettings(width=3, layers=2, batch_size=size))
        for i, size in enumerate((16, 32, 48))
    ]
    plan = plan_groups(trials, problem, "gpu")
    assert [(len(group.trials), group.spec.micro_batch) for group in plan] == [(2, 16), (1, 48)]


def test_networks_of_the_kernel_have_one_batch_size_and_like_widths(monkeypatch):
    monkeypatch.setattr(kernel, "is_available", lambda: True)
    nets = [(3, 32), (16, 32), (17, 32), (3, 48), (3, 20), (4, 40)]
    trials = [
        Trial(i, i, 0, NetSettings(width=width, layers=2, batch_size=size))
        for i, (width, size) in enumerate(nets)
    ]
    plan = plan_groups(trials, small_problem(), "gpu")
    found = [[trial.number for trial in group.trials] for group in plan]
    assert sorted(found) == [[0, 1], [2], [3], [4], [5]]


def test_with_many_inputs_networks_of_like_width_share_a_cohort_on_a_gpu():
    widths = (8, 10, 16, 20, 30, 50)
    trials = [Trial(i, i, 0, NetSettings(width=width)) for i, width in enumerate(widths)]
    fused_inputs = plan_groups(trials, small_problem(inputs=600), "gpu")
    assert [[t.net.width for t in c.trials] for c in fused_inputs] == [[8, 10], [16, 20, 30], [50]]
    rows = [[t.net.width for t in c.trials] for c in plan_groups(trials, small_problem(), "gpu")]
    assert rows == [[*widths]]


def test_a_trial_of_another_engine():
    trial = Trial(3, 3, 0, EvolutionSettings())
    with pytest.raises(TypeError, match="trial 3 is not for gradient descent"):
        plan_groups([trial], small_problem(), "cpu")


def test_batch_larger_than_the_training_set_is_all_of_it():
    problem = small_problem(samples=60)
    (group,) = plan_groups(make_trials(settings=1, batch_size=512)[:1], problem, "cpu")
    assert group.spec.micro_batch == len(problem.splits[0].train)


def test_early_stopping_follows_the_rule():
    """Stops after `patience` checks without the cost falling below `tolerance` of its best."""
    problem = small_problem()
    # With a vanishing learning rate nothing ever improves after the first check.
    trials = make_trials(settings=1, learning_rate=1e-12, epochs=100, patience=7)
    for net in train(problem, trials):
        assert (net.status, net.epochs) == ("converged", 8)


def test_networks_that_use_up_their_epochs_and_those_that_diverge():
    problem = small_problem()
    calm = make_trials(settings=1, epochs=25)
    wild = make_trials(
        settings=1, learning_rate=1e6, optimiser="sgd", activation="relu", epochs=60, patience=60
    )
    assert {net.status for net in train(problem, calm)} == {"exhausted"}
    assert {net.epochs for net in train(problem, calm)} == {25}
    assert {net.status for net in train(problem, wild)} == {"diverged"}


def test_finished_networks_leave_the_batch():
    problem = small_problem()
    trials = [
        Trial(i, i, 0, NetSettings(width=3, layers=2, batch_size=32, epochs=20 if i < 12 else 60))
        for i in range(16)
    ]
    (group,) = plan_groups(trials, problem, "cpu")
    trainer = Trainer(group, problem, 0, jax.devices("cpu")[0])
    batch, finished = trainer.advance(trainer.start())
    assert len(finished) == 12
    assert batch.members.shape[1] < 8
    assert sorted(batch.members[batch.members >= 0]) == [12, 13, 14, 15]


def test_huge_l1_leaves_no_weight():
    problem = small_problem()
    trials = make_trials(
        settings=1, l1=10.0, learning_rate=1e-3, optimiser="sgd", activation="relu", epochs=300
    )
    for net in train(problem, trials):
        assert max(np.abs(part).max() for part in net.weights[:3]) < 0.05


def test_losses_are_those_of_the_validation_samples():
    problem = small_problem()
    (net, *_) = train(problem, make_trials(settings=1, activation="tanh"))
    rows = problem.splits[0].validation
    raw = np.asarray(run_net(net.weights, ACTIVATIONS["tanh"], problem.x[:, rows]))
    losses = (raw - problem.y[:, rows]) ** 2
    assert net.validation_loss == pytest.approx(losses.mean(), rel=1e-4)
    spread = problem.y_scale.std[:, None]
    assert net.validation_error == pytest.approx((losses * spread**2).mean(), rel=1e-4)


def test_validation_in_portions_equals_validation_at_once(monkeypatch):
    problem, trials = small_problem(), make_trials(settings=1)
    whole = train(problem, trials)
    monkeypatch.setattr(trainer, "PORTION", 7)
    assert_same(whole, train(problem, trials), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("most", [1e30, 1.0])
def test_length_of_a_segment_changes_nothing(monkeypatch, most):
    problem, trials = small_problem(), make_trials(settings=1, epochs=23)
    whole = train(problem, trials)
    monkeypatch.setattr(trainer, "SEGMENT_PRODUCTS", {"cpu": most})
    assert_same(whole, train(problem, trials), rtol=1e-6, atol=1e-7)


def test_data_and_settings_are_left_alone():
    data = small_data()
    before = data.x.copy(), data.y.copy()
    problem = make_problem(data)
    kept = problem.x.copy()
    train(problem, make_trials(settings=1))
    np.testing.assert_array_equal(problem.x, kept)
    np.testing.assert_array_equal(data.x, before[0])
    np.testing.assert_array_equal(data.y, before[1])
