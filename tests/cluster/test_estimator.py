"""Estimators on a cluster."""

import numpy as np
import pytest
from distributed import Client
from sklearn.base import clone

from rinn import RINN
from rinn.cluster import dask_workers
from rinn.cluster.connect import find_client, start_processes


@pytest.fixture(scope="module")
def cluster():
    with start_processes([{}]) as started:
        yield started


@pytest.fixture
def sent(monkeypatch):
    """The tasks that workers have done; all are sent, also short ones."""
    tasks = []
    count = dask_workers.DaskWorkers.count_task

    def note(self, *about):
        tasks.append(about)
        count(self, *about)

    monkeypatch.setattr(dask_workers.DaskWorkers, "count_task", note)
    monkeypatch.setattr(dask_workers.DaskWorkers.__init__, "__kwdefaults__",
                        {"notify": print, "min_seconds": 0.0})  # fmt: skip
    return tasks


def make_tables():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(120, 3)).astype(float)
    latent = x[:, :2].sum(axis=1) + 0.3 * rng.normal(size=120)
    return x, latent[:, None] + rng.normal(size=(120, 4))


def fit(**parameters):
    model = RINN(effects="regression", bootstraps=4, device="cpu", **parameters)
    return model.fit(*make_tables())


def test_a_client_is_used_or_found(cluster, sent):
    alone = fit()
    assert sent == []
    with Client(cluster, set_as_default=False) as client:
        named = fit(client=client)
        assert len(sent) == 3  # resamples, without the first
        assert find_client() is None
    with Client(cluster) as client:
        assert find_client() is client
        found = fit()
        assert len(sent) == 6
        assert client.submit(find_client).result() is None  # within a task
    assert alone.graph_.edges(data=True) != []
    for model in (named, found):
        assert list(model.graph_.edges(data=True)) == list(alone.graph_.edges(data=True))
    assert find_client() is None


def test_a_copy_shares_the_client(cluster):
    with Client(cluster, set_as_default=False) as client:
        copy = clone(RINN(client=client, trials=5))
        assert copy.client is client
        assert copy.trials == 5
