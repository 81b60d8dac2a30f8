import functools
import io
import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from rinn.config import RunSettings

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_few as bench


def test_noise_is_shared_and_of_size_one():
    x, y = bench.draw_noise(20_000, np.random.default_rng(0))
    assert set(np.unique(x)) == {0, 1}
    np.testing.assert_allclose(y.std(axis=0), 1, atol=0.4)
    assert abs(np.median(y.std(axis=0)) - 1) < 0.05
    correlation = np.corrcoef(y.T)[np.triu_indices(100, 1)]
    assert np.abs(correlation).max() > 0.4
    across = np.corrcoef(x.T, y.T)[:14, 14:]
    assert np.abs(across).max() < 0.05


def test_what_is_planted_is_there_and_nothing_else():
    x, y = bench.draw_noise(5000, np.random.default_rng(0))
    before = y.copy()
    true = bench.plant(x, y, 2.0, np.random.default_rng(1))
    assert len(true) == 80
    changed = {(i, o) for i in range(4) for o in np.flatnonzero((y != before).any(axis=0))}
    assert true < changed
    first = sorted({o for i, o in true if i == 0})
    off = (x[:, 0] == 0) & (x[:, 1] == 0)
    np.testing.assert_array_equal(y[np.ix_(off, first)], before[np.ix_(off, first)])
    gain = (y - before)[x[:, 0] == 1][:, first] / before.std(axis=0)[first]
    np.testing.assert_allclose(gain, 2)
    assert bench.plant(x, y, 0.0, np.random.default_rng(1)) == set()


def test_own_tables_keep_their_values(tmp_path):
    rng = np.random.default_rng(2)
    x, y = (rng.random((60, 5)) < 0.4).astype(float), rng.normal(size=(60, 50))
    moved, other = bench.permute(x, y, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(other, axis=0), np.sort(y, axis=0))
    assert (np.diff(moved.mean(axis=0)) <= 0).all()
    settings = RunSettings(trials=2, epochs=1, bootstraps=2)
    task = functools.partial(bench.measure, tables=(x, y), settings=settings, device="cpu")
    records = bench.run_cases([("own", 60, 2.0, 0)], "0/1", tmp_path, task)
    assert 0 <= records[0]["found"] <= 1
    console = Console(width=120, record=True, file=io.StringIO())
    bench.show(records, console)
    assert "own" in console.export_text()
