"""What becomes of tasks when parts of a cluster fail."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import dask
import distributed.system
import pytest
from cluster_tasks import fail, fill_memory, mark_and_square, square
from distributed import Client

from rinn.cluster import dask_workers
from rinn.cluster.connect import open_workers, start_processes
from rinn.cluster.dask_workers import DaskWorkers
from rinn.errors import ClusterError, InputError

TESTS = os.path.dirname(__file__)


@pytest.fixture(scope="module", autouse=True)
def findable():
    """Workers find the functions of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]))
        yield


@pytest.fixture(scope="module")
def client(findable):
    """Of a cluster that the tests leave as it is."""
    with start_processes([{}]) as started, Client(started, set_as_default=False) as client:
        yield client


@pytest.fixture
def cluster():
    with start_processes([{}, {}]) as started, Client(started, set_as_default=False) as client:
        yield started, client


def list_processes(client):
    return list(client.run(os.getpid).values())


def collect(workers, function, arguments, *shared):
    with workers.open(function, *shared) as tasks:
        for argument in arguments:
            tasks.add(argument, argument)
        results = [(done.name, done.result) for done in tasks]
    assert len(results) == len(dict(results)), "a result came twice"
    return dict(results)


def test_work_of_a_killed_worker_is_done_again(cluster, tmp_path):
    _, client = cluster
    workers = DaskWorkers(lambda: client)
    victim = list_processes(client)[0]

    def kill():
        while len(list(tmp_path.iterdir())) < 3:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    results = collect(workers, mark_and_square, range(8), tmp_path)
    thread.join()
    assert results == {number: number**2 for number in range(8)}
    assert sum(each.tasks for each in workers.summaries.values()) == 8
    ran = {path.name.split("-")[0] for path in tmp_path.iterdir()}
    assert ran == set("01234567")
    assert victim in {int(path.name.split("-")[1]) for path in tmp_path.iterdir()}


def test_tasks_wait_while_all_workers_are_away(cluster, monkeypatch):
    started, client = cluster
    monkeypatch.setattr(dask_workers, "SECONDS_BETWEEN_CHECKS", 0.2)
    spoken = []
    workers = DaskWorkers(lambda: client, notify=spoken.append)
    assert collect(workers, square, [1, 2], 1) == {1: 2, 2: 5}
    started.scale(0)
    while client.nthreads():
        time.sleep(0.05)

    def return_later():
        while not any("No worker" in text for text in spoken):
            time.sleep(0.05)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", started.scheduler_address]
        options = ["--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        worker.append(subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL))

    worker = []
    thread = threading.Thread(target=return_later)
    thread.start()
    try:
        assert collect(workers, square, [3, 4], 1) == {3: 10, 4: 17}
    finally:
        thread.join()
        worker[0].terminate()
        worker[0].wait()
    assert [text for text in spoken if text.startswith("1 worker")] == ["1 worker connected."]


def test_a_task_that_is_too_large_is_not_repeated_for_ever(monkeypatch):
    monkeypatch.setattr(distributed.system, "MEMORY_LIMIT", 500_000_000)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        start_processes([{}]) as started,
        Client(started, set_as_default=False) as client,
    ):
        workers = DaskWorkers(lambda: client)
        with pytest.raises(ClusterError, match=r"2 workers ended .* memory of 0\.5 GB was not eno"):
            collect(workers, fill_memory, [20_000_000])


def test_a_task_out_of_memory_says_so(client):
    workers = DaskWorkers(lambda: client)
    with pytest.raises(ClusterError, match="too little memory for its task; give each worker"):
        collect(workers, fail, [MemoryError()])


def test_other_versions_are_refused_with_both(client, monkeypatch):
    mine = dask_workers.find_versions() | {"rinn": "9.9.9"}
    monkeypatch.setattr(dask_workers, "find_versions", lambda: mine)
    workers = DaskWorkers(lambda: client)
    with pytest.raises(InputError, match=r"this process, rinn 9\.9\.9, but a worker has rinn 0\."):
        collect(workers, square, [1])


def test_a_worker_without_the_package_is_named(client):
    workers = DaskWorkers(lambda: client)
    error = ModuleNotFoundError("No module named 'rinn'", name="rinn")
    with pytest.raises(InputError, match="a worker lacks the package 'rinn'; install it there"):
        collect(workers, fail, [error])


def test_an_error_of_a_task_comes_back_as_it_is(client):
    workers = DaskWorkers(lambda: client)
    with pytest.raises(InputError, match=r"^Y must vary$"):
        collect(workers, fail, [InputError("Y must vary")])


def test_the_end_of_the_scheduler_ends_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_workers, "SECONDS_BETWEEN_CHECKS", 0.2)
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    options = ["--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    processes = [scheduler]
    try:
        address = next(
            filter(None, (re.search(r"tcp://127[^\s]+", line) for line in scheduler.stderr))
        )[0]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        options = ["--nthreads", "1", "--no-dashboard", "--death-timeout", "1"]
        processes.append(subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL))
        with open_workers(address) as workers, workers.open(mark_and_square, tmp_path) as tasks:
            for number in range(50):
                tasks.add(number, number)
            results = iter(tasks)
            assert next(results).result in {number**2 for number in range(50)}
            scheduler.kill()
            with pytest.raises(ClusterError, match=r"the scheduler .* no longer answers"):
                list(results)
    finally:
        for process in processes:
            process.kill()
            process.wait()
        scheduler.stderr.close()
