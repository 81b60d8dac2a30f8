import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_readers.py"


@pytest.fixture
def bench(monkeypatch):
    spec = importlib.util.spec_from_file_location("bench_readers", BENCH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "measure", module.read)  # not in a process of its own
    return module


def test_tiny_files_are_made_and_read_whole(bench, tmp_path, capsys):
    file = tmp_path / "bench.json"
    sizes = "--rows 500 --samples 40 --genes 30 --matrix-genes 21"
    bench.main([*sizes.split(), "--json", str(file)])
    figures = json.loads(file.read_text())
    assert figures["maf"]["shape"] == [40, 30]
    assert figures["xena"]["shape"] == [40, 21]
    assert figures["xena"]["missing"] == 3 * 6
    assert json.loads(capsys.readouterr().out) == figures


def test_figures_of_a_loss_are_refused(bench, monkeypatch):
    monkeypatch.setattr(bench, "make_maf", lambda options: iter(["Hugo_Symbol\n"]))
    monkeypatch.setattr(bench, "measure", lambda *_: {"rows": 1, "shape": [1, 1], "missing": 0})
    with pytest.raises(SystemExit, match="the readers must find"):
        bench.main(["--rows", "5", "--samples", "3", "--matrix-genes", "2"])
