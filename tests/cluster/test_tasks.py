"""Tasks that are run here, and when they are sent to workers."""

import contextlib

from rinn.cluster.tasks import Done, run_tasks


class FakeWorkers:
    """Runs tasks at once, the last one first."""

    device = "cpu"

    def __init__(self, min_seconds):
        self.min_seconds, self.sent = min_seconds, []

    @contextlib.contextmanager
    def open(self, function, *shared):
        self.sent.append(shared)
        yield _Tasks(function, shared)


class _Tasks:
    def __init__(self, function, shared):
        self._function, self._shared, self._done = function, shared, []

    def add(self, name, argument, near=None):
        self._done.append(Done(name, self._function(argument, *self._shared), "w"))

    def __iter__(self):
        return reversed(self._done)


def test_without_workers_tasks_run_in_order():
    assert list(run_tasks(None, pow, [1, 2, 3], 2)) == [(1, 1), (2, 4), (3, 9)]


def test_no_task_is_no_result():
    assert list(run_tasks(FakeWorkers(0), pow, [], 2)) == []


def test_long_work_is_sent_after_a_first_task_here():
    workers = FakeWorkers(0)
    assert list(run_tasks(workers, pow, [1, 2, 3], 2)) == [(1, 1), (3, 9), (2, 4)]
    assert workers.sent == [(2,)]


def test_short_work_is_not_sent():
    workers = FakeWorkers(60)
    assert list(run_tasks(workers, pow, [1, 2, 3], 2)) == [(1, 1), (2, 4), (3, 9)]
    assert workers.sent == []
