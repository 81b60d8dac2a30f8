import functools
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rinn.config import RunSettings
from rinn.data.kinds import find_kinds

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_outputs as bench


@pytest.mark.parametrize("variant", bench.VARIANTS)
def test_tables_are_what_their_names_say(variant):
    data, truth = bench.make_table("gaussian", 400, 1, variant)
    share = np.isnan(data.y).mean()
    expected = {"10 %": 0.1, "30 %": 0.3, "nothing": 0.1}
    expected = next((value for word, value in expected.items() if word in variant), 0.0)
    if variant.endswith(("means", "whole rows")):
        expected = 0.0
    assert share == pytest.approx(expected, abs=0.01)
    kinds = find_kinds(data, "auto")
    is_mixed = variant in ("mixed", "mixed, 10 % missing", "nothing")
    assert set(kinds) == ({"number", "binary", "count"} if is_mixed else {"number"})
    assert set(data.outputs) <= set(truth)
    if variant.endswith("whole rows"):
        assert 50 <= len(data.x) < 120
    else:
        assert len(data.x) == 400


def test_nothing_is_left_where_rows_are_permuted():
    (data, _), (mixed, _) = (
        bench.make_table("gaussian", 400, 1, variant) for variant in ("nothing", "mixed")
    )
    known = ~np.isnan(data.y)
    assert (data.x == mixed.x).all()
    for column, all_of_them, there in zip(data.y.T, mixed.y.T, known.T, strict=True):
        assert np.isin(column[there], all_of_them).all()
        assert (column[there] != all_of_them[there]).mean() > 0.3


@pytest.mark.slow
def test_a_case_is_measured_once_and_shown(tmp_path):
    settings = RunSettings(trials=2, epochs=1)
    task = functools.partial(bench.measure, settings=settings, device="cpu")
    cases = [("matrix", 100, 0, "mixed"), ("matrix", 100, 0, "numbers, 10 % missing")]
    record, _ = bench.run_cases(cases, "0/1", tmp_path, task)
    assert bench.run_cases(cases, "0/2", tmp_path, None) == [record]
    console = Console(width=120, record=True, file=io.StringIO())
    bench.show([record], console)
    assert "mixed" in console.export_text()
