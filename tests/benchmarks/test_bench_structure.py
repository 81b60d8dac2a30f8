import io
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from rich.console import Console

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_structure as bench
from rinn.structure.records import LatentGraph


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(bench, "LARGE", 20_000)
    monkeypatch.setattr(bench, "SAMPLES", 300)
    for name in ("COVERAGE_SIZES", "FIT_SIZES", "CALIBRATION_SIZES"):
        monkeypatch.setattr(bench, name, (300,))
    bench.find_truth.cache_clear()
    bench._draw_graph.cache_clear()
    yield
    bench.find_truth.cache_clear()
    bench._draw_graph.cache_clear()


def run(out, *words):
    bench.main(["--first", "500", "--tables", "2", "--graphs", "1", "--out", str(out), *words])
    return list(bench.load_records(out).values())


def test_intervals_of_a_linear_table_hold_the_truth(tiny, tmp_path):
    (record,) = run(tmp_path / "out.jsonl", "--parts", "coverage", "--settings", "linear")
    found = record["sizes"]["300"]
    assert found["intervals"] == 2 * bench.INPUTS * bench.OUTPUTS
    assert 0.88 < found["coverage"] <= 1


def test_an_input_without_carriers_is_left_out(tiny, monkeypatch):
    setting = "inputs 2%, binary"
    options = bench.argparse.Namespace(tables=2)
    monkeypatch.setattr(bench, "COVERAGE_SIZES", (60,))
    found = bench.measure_coverage(bench.Case("coverage", setting, 500), options)["sizes"]["60"]
    assert 0 < found["intervals"] < 2 * bench.INPUTS * bench.OUTPUTS


def test_a_wrong_edge_is_rejected_and_a_second_run_measures_nothing(tiny, tmp_path, monkeypatch):
    words = ("--parts", "fit", "--settings", "gaussian")
    first = run(tmp_path / "out.jsonl", *words)
    assert len(first) == 2
    for record in first:
        level, power = record["p"]["300"]
        assert power < 0.05 < level
    monkeypatch.setitem(bench.PARTS, "fit", None)
    assert run(tmp_path / "out.jsonl", *words) == first


def test_frequencies_are_judged_and_counted(tiny, tmp_path):
    (record,) = run(tmp_path / "out.jsonl", "--parts", "calibration", "--settings", "gaussian")
    kinds = {kind: np.array(bins) for kind, bins in record["sizes"]["300"].items()}
    assert list(kinds) == [bench.LATENTS, bench.REPORTED, bench.CANDIDATES]
    assert (kinds[bench.REPORTED][:, 0] <= kinds[bench.CANDIDATES][:, 0]).all()
    assert kinds[bench.REPORTED][-1, 2] > 10


def test_a_path_makes_an_edge_right_and_a_latent_without_match_makes_it_wrong():
    truth = nx.DiGraph([("x0", "h"), ("h", "y0"), ("h", "y1"), ("h", "y2")])
    roles = {"x0": "input", "h": "latent"} | {f"y{i}": "output" for i in range(4)}
    truth.add_node("y3")
    nx.set_node_attributes(truth, roles, "role")
    graph = nx.relabel_nodes(truth, {"h": "L1"})
    nx.set_edge_attributes(graph, 0.9, "frequency")
    graph.nodes["L1"]["frequency"] = 0.9
    every = nx.DiGraph(graph)
    every.add_node("U1", role="latent", frequency=0.2)
    every.add_edges_from([("x0", "y1"), ("x0", "y3"), ("U1", "y3")], frequency=0.2)
    reached = {"L1": frozenset({0, 1, 2}), "U1": frozenset({3})}
    latent = LatentGraph(graph, every, outputs=reached)
    found = bench.judge(latent, truth)
    assert found[bench.LATENTS] == [(0.9, True), (0.2, False)]
    assert found[bench.REPORTED] == [(0.9, True)] * 4
    assert sorted(found[bench.CANDIDATES])[:3] == [(0.2, False), (0.2, False), (0.2, True)]
    assert bench.count([(1.0, True), (0.2, False)])[1] == [1, 0.2, 0]


def test_a_run_is_timed_and_stopped_at_the_limit(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SHAPES", {"16 x 16, 7 latents": {"name": "or"}})
    monkeypatch.setattr(bench, "RUNS", {"16 x 16, 7 latents": 1})
    out = tmp_path / "out.jsonl"
    (record,) = run(out, "--parts", "time", "--limit", "0.2")
    assert record["over"]
    assert len(record["profile"]) == 10
    console = Console(width=140, record=True, file=io.StringIO())
    bench.show([record], console)
    assert "stopped" in console.export_text()


def test_an_unknown_part_is_refused(capsys, tmp_path):
    with pytest.raises(SystemExit):
        bench.main(["--parts", "speed", "--out", str(tmp_path / "out.jsonl")])
    assert "must be of coverage, fit, calibration, time, got 'speed'" in capsys.readouterr().err
