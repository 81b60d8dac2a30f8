"""The same bytes from one process, from workers, and after workers were killed."""

import os
import random
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client

import rinn.nets.search
from networks import make_trials, small_problem
from rinn.cluster.connect import start_processes
from rinn.cluster.dask_workers import DaskWorkers
from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.fit import fit_run
from rinn.nets.devices import find_devices
from rinn.nets.search import run_search
from rinn.runs.manifest import load_manifest
from rinn.runs.read import load_run
from rinn.runs.robust import Request, analyse

pytestmark = pytest.mark.exact

RESULTS = (
    "trials.csv",
    "curves.csv",
    "graph.json",
    "edges.csv",
    "null.json",
    "weights.safetensors",
)
KILLS = 10


@pytest.fixture(scope="module")
def workers():
    with start_processes([{}, {}]) as started, Client(started, set_as_default=False) as client:
        yield DaskWorkers(lambda: client, "cpu", min_seconds=0.0)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(200, 4))
    latent = x[:, :2].sum(axis=1) + rng.normal(size=200)
    y = np.stack([latent, latent, -latent, x[:, 2]], axis=1) + rng.normal(size=(200, 4))
    np.savetxt(folder / "x.csv", x, "%d", delimiter=",", header="a,b,c,d", comments="")
    np.savetxt(folder / "y.csv", y, "%.6f", delimiter=",", header="p,q,r,s", comments="")
    return folder


def fit(tables, out, cluster=None, **changes):
    settings = RunSettings(**{"trials": 16, "epochs": 20, "bootstraps": 6} | changes)
    fit_run(tables / "x.csv", tables / "y.csv", out, settings, device="cpu", quiet=True,
            cluster=cluster)  # fmt: skip
    return {name: (out / name).read_bytes() for name in RESULTS if (out / name).exists()}


# Workers plan the networks of null rounds: with eight layers, which take long to compile.
@pytest.mark.parametrize(
    "changes", [{"effects": "corrected"}, {"effects": "regression", "null": 2}]
)
def test_a_run_is_the_same_on_workers(tables, tmp_path, workers, changes):
    before = sum(worker.tasks for worker in workers.summaries.values())
    alone = fit(tables, tmp_path / "alone", **changes)
    together = fit(tables, tmp_path / "together", workers, **changes)
    assert alone.keys() == together.keys()
    assert [name for name in alone if alone[name] != together[name]] == []
    tasks = sum(worker.tasks for worker in workers.summaries.values()) - before
    if "null" in changes:
        assert tasks == 5 + 2  # resamples and rounds, without the first, which are done here
    else:
        assert tasks >= 1 + 2 + 5  # the platform, groups of networks, resamples
        listed = load_manifest(tmp_path / "together").workers
        assert sum(worker.networks for worker in listed) == 16
        assert load_manifest(tmp_path / "alone").workers is None


def test_half_samples_are_the_same_on_workers(tables, tmp_path, workers):
    fit(tables, tmp_path / "run", effects="regression")
    data = load_data(tables / "x.csv", tables / "y.csv")
    request = Request(load_run(tmp_path / "run"), data, resamples=1, device="cpu")
    found = []
    for name, where in (("alone", None), ("together", workers)):
        analyse("halves", replace(request, workers=where), tmp_path / name, lambda text: None)
        found.append([file.read_bytes() for file in sorted((tmp_path / name).glob("*.csv"))])
    assert found[0] == found[1] != []


def test_parts_of_a_training_are_the_same_as_the_whole(workers, monkeypatch):
    problem, trials = small_problem(), make_trials(4)
    here = run_search(problem, trials, find_devices("cpu"))
    monkeypatch.setattr(rinn.nets.search, "SECONDS_PER_TASK", 0.0)
    saver = _Saver()
    there = run_search(problem, trials, (), workers=workers, saver=saver)
    assert saver.saved > 1, "the training had one part"
    assert len(here) == len(there) == len(trials)
    for one, other in zip(here, there, strict=True):
        assert one.trial == other.trial
        for part, same in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(part, same)


class _Saver:
    """Keeps nothing, and counts the parts that it was given."""

    saved = 0

    def load_finished(self, group):
        return None

    def load_batch(self, group):
        return None

    def save_batch(self, group, batch, nets):
        self.saved += 1

    def save_finished(self, group, nets):
        self.saved += 1


@pytest.mark.slow
@pytest.mark.usefixtures("deep_networks")
@pytest.mark.parametrize("processes", [2, 4])
def test_bytes_are_the_same_after_kills(tables, tmp_path, processes):
    """Ten workers are killed at random moments, while networks are trained and rounds are run."""
    changes = {"effects": "corrected", "null": 6}
    alone = fit(tables, tmp_path / "alone", **changes)
    rng, stop, killed = random.Random(processes), threading.Event(), []
    with (
        start_processes([{}] * processes) as started,
        Client(started, set_as_default=False) as client,
        Client(started.scheduler_address, set_as_default=False) as other,
    ):
        workers = DaskWorkers(lambda: client, "cpu", min_seconds=0.0)

        def kill():
            # Not so often that one task is lost four times: Dask gives up then.
            while len(killed) < KILLS and not stop.wait(rng.uniform(2, 12)):
                found = sorted(other.run(os.getpid, on_error="ignore").values())
                if found:
                    os.kill(rng.choice(found), signal.SIGKILL)
                    killed.append(time.monotonic())

        thread = threading.Thread(target=kill)
        thread.start()
        number = 0
        while len(killed) < KILLS:
            together = fit(tables, tmp_path / f"killed{number}", workers, **changes)
            assert [name for name in alone if alone[name] != together[name]] == []
            number += 1
        stop.set()
        thread.join()
    assert len(killed) == KILLS
