import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_correlated as bench


def test_idle_inputs_correlate_as_asked():
    rng = np.random.default_rng(0)
    for kind in ("lin", "mix"):
        x, y, true = bench.draw(rng, 0.9, 20_000, kind, 0.5)
        assert (x.shape[1], y.shape[1], true.sum()) == (12, 12, 5 + 9 + 5 + 1)
        active = true.any(axis=1)
        r = np.corrcoef(x.T)[np.ix_(~active, active)]
        np.testing.assert_allclose((r**2).sum(axis=1), 0.81, atol=0.02)
        # An input of one latent acts on five outputs, one of both on nine.
        slopes = np.linalg.lstsq(x, y, rcond=None)[0]
        np.testing.assert_array_equal(np.abs(slopes) > 0.2, true)


def test_records_and_table(tmp_path, capsys, monkeypatch):
    words = ["--kinds", "lin", "--seeds", "1", "--work", str(tmp_path)]
    monkeypatch.setattr(bench, "CORRELATIONS", (0.9,))
    monkeypatch.setattr(bench, "SIZES", ((1000, 0.3),))
    bench.main(words)
    shown = capsys.readouterr().out
    assert shown.count("of 1 |") == 3
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in shown.splitlines()}
    found = [float(rows[way][1]) for way in bench.WAYS]
    assert found[0] >= found[2] >= found[1] > 0.3
    # Tables with further inputs are other cases, in the same folder too.
    monkeypatch.setattr(bench, "SIZES_OF_MORE", bench.SIZES)
    bench.main([*words, "--more", "2"])
    assert len(list(tmp_path.iterdir())) == 2
