import importlib.util
import json
import sys
from pathlib import Path

import networkx as nx
import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_confounding.py"


@pytest.fixture
def bench(monkeypatch):
    spec = importlib.util.spec_from_file_location("bench_confounding", BENCH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    tiny = module.Suite(200, 6, 4, {"trials": 2, "epochs": 2})
    monkeypatch.setitem(module.SUITES, "small", tiny)
    return module


def test_the_ways_differ_in_covariates_and_rows(bench):
    ways = {way: bench.make_case(bench.Case("small", 0, way))[0] for way in bench.WAYS}
    assert ways["covariates"].covariates.names == ("tissue",)
    assert ways["without"].covariates is None
    assert (ways["without"].x == ways["covariates"].x).all()
    assert (ways["without"].x != ways["permuted"].x).any()
    assert (ways["without"].y == ways["permuted"].y).all()


def test_finished_cases_are_not_run_again(bench, tmp_path, capsys, monkeypatch):
    out = tmp_path / "found.jsonl"
    words = ["--suites", "small", "--seeds", "1", "--ways", "covariates", "--out", str(out)]
    bench.main(words)
    (line,) = [json.loads(text) for text in out.read_text().splitlines()]
    assert (line["suite"], line["seed"], line["way"]) == ("small", 0, "covariates")
    assert line["false_edges"] == line["edges"]
    monkeypatch.setattr(bench, "run_case", None)
    bench.main(words)
    assert "covariates" in capsys.readouterr().out


def test_pairs_are_counted_with_and_without_the_tissue(bench):
    found = bench.count_pairs(0, samples=2500)
    assert found["covariates"]["false"] < 0.1 * found["without"]["false"]
    assert 0.5 * found["true"] < found["covariates"]["found"] <= found["true"]


def test_edges_of_the_hidden_block_are_not_false(bench):
    truth = nx.DiGraph([("x0", "h"), ("h", "y0")])
    graph = nx.DiGraph([("x0", "L1"), ("sga1", "L1"), ("L1", "y0"), ("L1", "deg3")])
    for graph_ in (truth, graph):
        roles = {"x": "input", "s": "input", "y": "output", "d": "output", "h": "latent"}
        nx.set_node_attributes(graph_, {n: roles.get(n[0], "latent") for n in graph_}, "role")

    class Found:
        latent = type("Latent", (), {"graph": graph})

    assert bench.count_false(Found, truth)["false_edges"] == 2
    assert bench.count_false(Found, truth)["false_inputs"] == 1
    assert bench.count_false(Found, None)["false_edges"] == 4
