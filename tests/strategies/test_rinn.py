import collections

import numpy as np
import pytest

from networks import small_problem
from rinn.config import RunSettings
from rinn.errors import InputError
from rinn.strategies import plan_trials
from rinn.strategies.planning import DEFAULT_L1


def test_paper_budget_is_the_authors_space():
    trials = plan_trials(RunSettings(budget="paper"), small_problem())
    nets = [trial.net for trial in trials[::2]]
    assert len(trials) == 880
    assert nets == [trial.net for trial in trials[1::2]]
    drawn, grid = nets[:200], nets[200:]
    assert {net.layers for net in nets} == {8}
    assert {net.epochs for net in nets} == {3000}
    assert {net.width for net in drawn} == {8, 10, 20}
    assert {net.batch_size for net in drawn} == {64, 128, 256}
    assert {net.activation for net in drawn} == {"relu", "sigmoid", "softplus"}
    assert {net.initialiser for net in drawn} == {"xavier", "he", "normal"}
    assert {net.optimiser for net in drawn} == {"adam", "rmsprop", "sgd"}
    assert all(10**-5.3 <= net.l1 <= 10**-2 for net in drawn)
    assert all(10**-4.5 <= net.learning_rate <= 10**-1 for net in drawn)
    assert collections.Counter(net.l1 for net in grid) == dict.fromkeys(
        (0.05, 0.01, 0.005, 0.001, 0.0005), 48
    )
    assert (
        len(
            {
                (n.initialiser, n.width, n.learning_rate, n.l1, n.activation, n.optimiser)
                for n in grid
            }
        )
        == 240
    )


@pytest.mark.parametrize("binary", [False, True])
def test_default_l1_follows_the_data(binary):
    problem = small_problem(binary=binary)
    nets = [trial.net for trial in plan_trials(RunSettings(), problem)]
    steps = np.log10(problem.max_l1 / np.array([net.l1 for net in nets]))
    low, high = DEFAULT_L1[problem.loss]
    assert low <= steps.min()
    assert steps.max() <= high


def test_number_of_trials_and_epochs():
    trials = plan_trials(RunSettings(trials=7, epochs=11), small_problem())
    assert [trial.number for trial in trials] == list(range(7))
    assert {trial.net.epochs for trial in trials} == {11}
    more = plan_trials(RunSettings(trials=9, epochs=11), small_problem())
    assert more[:7] == trials


def test_unknown_strategy():
    with pytest.raises(InputError, match="got 'rin'; did you mean 'rinn'"):
        plan_trials(RunSettings(strategy="rin"), small_problem())
