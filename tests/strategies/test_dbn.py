import jax
import numpy as np

from networks import make_trials, small_problem
from rinn.config import RunSettings
from rinn.data.problem import see_outputs
from rinn.nets.groups import plan_groups
from rinn.strategies import plan_trials
from rinn.strategies.dbn import BeliefTrainer

SHAPE = {"kind": "belief", "width": 5, "layers": 3, "sizes": (5, 2, 5), "activation": "sigmoid"}


def train(problem, trials):
    nets = []
    for group in plan_groups(trials, problem, "cpu"):
        trainer = BeliefTrainer(group, problem, 0, jax.devices("cpu")[0])
        batch = trainer.start()
        while (batch.members >= 0).any():
            batch, new = trainer.advance(batch)
            nets += new
    return sorted(nets, key=lambda net: net.trial.number)


def test_sizes_decrease_and_are_mirrored():
    trials = plan_trials(RunSettings(strategy="dbn", budget="paper"), small_problem(outputs=16))
    for net in (trial.net for trial in trials):
        assert net.sizes == net.sizes[::-1]
        half = net.sizes[: (net.layers + 1) // 2]
        assert sorted(set(half), reverse=True) == list(half)
        assert 8 <= half[0] <= 16
        assert (net.kind, net.activation) == ("belief", "sigmoid")
    assert {trial.net.layers for trial in trials} == {1, 3, 5, 7}


def test_nodes_that_fill_a_layer_up_have_no_weight():
    problem = see_outputs(small_problem(outputs=6))
    for net in train(problem, make_trials(settings=2, pretraining=2, **SHAPE)):
        assert net.weights.inputs.shape == (1, 5, 6)
        assert not net.weights.hidden[0, 2:].any()
        assert not net.weights.hidden[1, :, 2:].any()
        assert not net.weights.bias[1, 2:].any()
        assert net.weights.hidden[0, :2].all()


def test_machines_see_no_validation_sample():
    problem = see_outputs(small_problem(outputs=6))
    trials = make_trials(settings=2, pretraining=2, **SHAPE)[::2]  # the first split
    (group,) = plan_groups(trials[:1], problem, "cpu")
    device = jax.devices("cpu")[0]
    before = BeliefTrainer(group, problem, 0, device).draw()
    y = problem.y.copy()
    y[:, problem.splits[0].validation] = 9.0
    changed = see_outputs(problem.__class__(**problem.__dict__ | {"y": y}))
    after = BeliefTrainer(group, changed, 0, device).draw()
    for one, other in zip(before, after, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_pre_training_gives_fine_tuning_a_start():
    problem = see_outputs(small_problem(samples=600, outputs=6))
    shape = SHAPE | {"layers": 1, "sizes": (5,)}
    frozen = {"learning_rate": 1e-12, "l1": 0.0, "epochs": 1}
    short, long = (
        train(problem, make_trials(settings=1, pretraining=epochs, **frozen, **shape))
        for epochs in (1, 300)
    )
    for one, other in zip(short, long, strict=True):
        assert other.validation_loss < 0.8 * one.validation_loss
