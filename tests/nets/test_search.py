import jax
import numpy as np
import pytest

from networks import make_trials, small_problem
from rinn.nets import search
from rinn.nets.search import run_search

CPU = jax.devices("cpu")
pytestmark = pytest.mark.exact


class Memory:
    """A saver that keeps everything in memory, and may pull the plug after some saves."""

    def __init__(self, stop_after=None):
        self.finished, self.batches, self.stop_after = {}, {}, stop_after

    def load_finished(self, group):
        return self.finished.get(group)

    def load_batch(self, group):
        return self.batches.get(group)

    def save_finished(self, group, nets):
        self.finished[group] = list(nets)
        self.batches.pop(group, None)

    def save_batch(self, group, batch, nets):
        self.batches[group] = batch, list(nets)
        if self.stop_after is not None:
            self.stop_after -= 1
            if self.stop_after == 0:
                raise KeyboardInterrupt


def assert_equal(ours, theirs):
    assert [net.trial for net in ours] == [net.trial for net in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.validation_loss == other.validation_loss
        for a, b in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_resumed_equals_uninterrupted(stop_after, monkeypatch):
    monkeypatch.setattr(search, "SECONDS_BETWEEN_SAVES", -1.0)
    problem, trials = small_problem(), make_trials(settings=3, epochs=70)
    whole = run_search(problem, trials, CPU[:1])
    saver = Memory(stop_after)
    with pytest.raises(KeyboardInterrupt):
        run_search(problem, trials, CPU[:1], saver=saver)
    saver.stop_after = None
    assert saver.finished or saver.batches
    assert_equal(run_search(problem, trials, CPU[:1], saver=saver), whole)


def test_number_of_devices_changes_nothing():
    problem, trials = small_problem(), make_trials(settings=4)
    assert_equal(run_search(problem, trials, CPU[:1]), run_search(problem, trials, [CPU[0]] * 2))


def test_order_of_trials_changes_nothing():
    problem, trials = small_problem(), make_trials(settings=4)
    forward = run_search(problem, trials, CPU[:1])
    backward = run_search(problem, trials[::-1], CPU[:1])
    assert_equal(forward, backward[::-1])


def test_seed_decides_the_order_of_samples():
    problem, trials = small_problem(), make_trials(settings=1)
    one, other = (run_search(problem, trials, CPU[:1], seed=seed) for seed in (0, 1))
    assert (one[0].weights.inputs != other[0].weights.inputs).any()


def test_reports_add_up():
    problem, trials = small_problem(), make_trials(settings=4, epochs=50)
    seen, total = [], []
    run_search(
        problem,
        trials,
        CPU[:1],
        report=lambda nets, share, is_resumed: (seen.extend(nets), total.append(share)),
    )
    assert sorted(net.trial.number for net in seen) == [trial.number for trial in trials]
    assert sum(total) == pytest.approx(1.0)


def test_networks_of_an_earlier_session_are_reported_as_such():
    problem, trials, saver = small_problem(), make_trials(settings=2), Memory()
    sessions = []
    for _ in range(2):
        sessions.append([])
        report = lambda nets, share, is_resumed: sessions[-1].append(is_resumed)  # noqa: E731
        run_search(problem, trials, CPU[:1], saver=saver, report=report)
    assert not any(sessions[0])
    assert all(sessions[1])


def test_an_error_in_a_lane_reaches_the_caller():
    class Broken(Memory):
        def save_finished(self, group, nets):
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        run_search(small_problem(), make_trials(settings=2), CPU[:1], saver=Broken())


def test_groups_that_were_divided_otherwise_are_trained_again():
    """As where the GPUs of a cluster began a run, all networks as one group, and CPUs resume it."""
    problem, trials, saver = small_problem(), make_trials(settings=4), Memory()
    whole = run_search(problem, trials, CPU[:1], saver=saver)
    assert len(saver.finished) > 1
    saver.finished = {0: [net for nets in saver.finished.values() for net in nets]}
    assert_equal(run_search(problem, trials, CPU[:1], saver=saver), whole)
