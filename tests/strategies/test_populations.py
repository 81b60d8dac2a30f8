import dataclasses

import jax
import numpy as np
import pytest

import rinn.strategies.evolution.populations
from networks import make_trials, small_problem
from rinn.config import EvolutionSettings, Trial
from rinn.nets.groups import SavedBatch
from rinn.nets.predict import predict_net
from rinn.strategies.evolution.populations import Evolver, plan_populations

SMALL = {"layers": 2, "width": 4, "population": 11, "rows": 60, "epochs": 7}


def make_populations(count=2, **changes):
    nets = [
        EvolutionSettings(
            **SMALL | {"elite_ratio": 0.2 + 0.1 * i, "legal": ("even", "uneven")[i % 2], "seed": i},
            l1=1.0 + i,
            mutation_rate=0.02 * (1 + i),
        )
        for i in range(count)
    ]
    return [Trial(i, i, 0, dataclasses.replace(net, **changes)) for i, net in enumerate(nets)]


def evolve(problem, trials, device=None):
    nets = []
    for group in plan_populations(trials, problem, "cpu"):
        evolver = Evolver(group, problem, 0, device or jax.devices("cpu")[0])
        batch = evolver.start()
        while (batch.members >= 0).any():
            batch, new = evolver.advance(batch)
            nets += new
    return nets


def same(one, other):
    pairs = zip(one.weights, other.weights, strict=True)
    return one.trial == other.trial and all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.exact
def test_a_population_evolves_alike_whoever_is_beside_it():
    problem, trials = small_problem(), make_populations()
    together = {net.trial.number: net for net in evolve(problem, trials)}
    assert sorted(together) == [0, 1]
    (alone,) = evolve(problem, trials[:1])  # the one with fewer elites and mutations
    assert same(alone, together[0])


def test_segments_change_nothing(monkeypatch):
    problem, trials = small_problem(binary=True), make_populations()
    whole = evolve(problem, trials)
    monkeypatch.setitem(rinn.strategies.evolution.populations.SEGMENT_GENERATIONS, "cpu", 2)
    assert all(map(same, evolve(problem, trials), whole))


def test_restored_populations_go_on(monkeypatch):
    problem, trials = small_problem(), make_populations()
    whole = evolve(problem, trials)
    monkeypatch.setitem(rinn.strategies.evolution.populations.SEGMENT_GENERATIONS, "cpu", 3)
    (group,) = plan_populations(trials, problem, "cpu")
    device = jax.devices("cpu")[0]
    batch, none = (evolver := Evolver(group, problem, 0, device)).advance(evolver.start())
    assert none == []
    assert batch.epoch == 3
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(batch.state)]
    other = Evolver(group, problem, 0, device)
    batch = other.restore(SavedBatch(batch.members, leaves, batch.epoch))
    nets = []
    while (batch.members >= 0).any():
        batch, new = other.advance(batch)
        nets += new
    assert all(map(same, nets, whole))


@pytest.mark.parametrize("binary", [False, True])
def test_losses_are_those_of_the_network(binary):
    problem = small_problem(binary=binary)
    for net in evolve(problem, make_populations()):
        rows = problem.splits[0].validation
        y, raw = problem.y[:, rows], predict_net(net, problem.x[:, rows])
        loss = np.logaddexp(0, raw) - y * raw if binary else (raw - y) ** 2
        assert net.validation_loss == pytest.approx(loss.mean(), rel=1e-5)
        spread = 1.0 if binary else problem.y_scale.std[:, None] ** 2
        assert net.validation_error == pytest.approx((loss * spread).mean(), rel=1e-5)
        assert net.epochs == 7


def test_the_fittest_learns_something():
    problem = small_problem()
    net = evolve(problem, make_populations(1, epochs=150, l1=0.1, population=51))[0]
    assert net.validation_loss < 0.8  # 1 is what guessing the mean gives


def test_one_program_for_all_populations_of_a_shape():
    problem = small_problem()
    groups = plan_populations(make_populations(5), problem, "cpu")
    assert [len(group.trials) for group in groups] == [2, 2, 1]
    assert len({group.spec for group in groups}) == 1
    (group,) = plan_populations(make_populations(5), problem, "gpu")
    assert group.spec.kernel == "pallas"
    groups = plan_populations([*make_populations(1), *make_populations(1, width=5)], problem, "gpu")
    assert len(groups) == 2


def test_trials_of_another_engine():
    with pytest.raises(TypeError, match="trial 0 is not for evolution"):
        plan_populations(make_trials(), small_problem(), "cpu")
