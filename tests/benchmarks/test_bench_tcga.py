"""The benchmark of the generated tumours runs, and says what it measured."""

import importlib.util
import json
from pathlib import Path

import pytest

from tcga_checks import TARGETS

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_tcga.py"


@pytest.fixture
def bench():
    spec = importlib.util.spec_from_file_location("bench_tcga", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tumours_are_timed_and_compared(bench, tmp_path, capsys):
    file = tmp_path / "bench.json"
    bench.main(["--samples", "50", "--repeats", "1", "--seeds", "2", "--json", str(file)])
    *table, line = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert found == json.loads(file.read_text())
    assert found["seconds"] > 0
    assert found["statistics"] == len(TARGETS) == len(table) - 1
    assert found["seeds_within_all"] == 2
    assert found["linear_auroc"] is None
    assert [row[:34].strip() for row in table[1:]] == list(TARGETS)
    assert all(row.endswith("| 2/2") for row in table[1:])
