import io
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_noise as bench


@pytest.mark.parametrize("family", bench.FAMILIES)
def test_tables_are_what_their_family_says_and_the_same_for_a_seed(family):
    tables = [bench.FAMILIES[family](7, np.random.default_rng([7, 41])) for _ in range(2)]
    for one, other in zip(*tables, strict=True):
        np.testing.assert_array_equal(one, other)
    x, y = tables[0]
    assert len(x) == len(y) >= 60
    assert np.ptp(x, axis=0).min() > 0
    if family == "one carrier":
        assert (x.sum(axis=0) == 1).all()
    if family == "collinear":
        assert np.linalg.matrix_rank(x - x.mean(axis=0)) < x.shape[1]


def test_the_regression_finds_what_is_there_and_little_else():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 4)), rng.normal(size=(300, 5))
    assert bench.count_regression(x, y) <= 1
    y[:, :2] += x[:, :1]
    assert 2 <= bench.count_regression(x, y) <= 3


@pytest.mark.slow
def test_a_search_with_few_networks_reports_no_edge(tmp_path):
    bench.main(
        ["--families", "few networks", "--seeds", "501", "--work", f"{tmp_path}", "--device", "cpu"]
    )
    (path,) = tmp_path.iterdir()
    record = bench.run_cases([("few networks", 501)], "0/1", tmp_path, None)[0]
    assert path.name == "few_networks-501.json"
    assert (record["networks"], record["edges"]) == (2, 0)
    assert record["warnings"][0].startswith("Few networks: 2 networks cannot support a graph")
    console = Console(width=120, record=True, file=io.StringIO())
    bench.show([record], console)
    assert "few networks" in console.export_text()
