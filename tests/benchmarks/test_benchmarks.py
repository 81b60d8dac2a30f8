import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_train.py"
TINY = "--nets 4 --width 3 --layers 2 --inputs 5 --outputs 4 --batch 32 --samples 200 --repeats 1"


@pytest.fixture
def bench(monkeypatch):
    spec = importlib.util.spec_from_file_location("bench_train", BENCH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # main would set it for good
    spec.loader.exec_module(module)
    return module


def test_engine_is_timed(bench, tmp_path, capsys):
    file = tmp_path / "bench.json"
    bench.main([*TINY.split(), "--device", "cpu", "--baselines", "none", "--json", str(file)])
    found = json.loads(file.read_text())
    (ours,) = found["rows"]
    for value in (
        found["step_of_all_ms"],
        found["networks_per_s"],
        found["compile_s"],
        ours["min_s"],
        ours["per_network_step_s"],
        ours["validation_mse"],
    ):
        assert value > 0
    assert ours["ratio_to_ours"] == 1
    assert found["work"]["steps_per_epoch"] == 150 // 32
    assert found["step_of_all_ms"] == pytest.approx(4e3 * ours["per_network_step_s"])
    assert "networks of 300 epochs per second" in " ".join(capsys.readouterr().out.split())


def test_missing_baseline_is_named(bench, monkeypatch, capsys):
    monkeypatch.setitem(bench.NEEDED, "torch", ("no_such_package",))
    bench.main([*TINY.split(), "--device", "cpu", "--baselines", "torch"])
    assert "torch is not measured: pip install 'rinn[bench]'" in capsys.readouterr().out


def test_unknown_baseline_is_refused(bench, capsys):
    with pytest.raises(SystemExit):
        bench.main(["--baselines", "tensorflow"])
    assert "must be of torch, keras, xla, or none, got 'tensorflow'" in capsys.readouterr().err


def test_too_few_samples_are_refused(bench, capsys):
    with pytest.raises(SystemExit):
        bench.main(["--samples", "100"])
    assert "--samples twice --batch" in capsys.readouterr().err
