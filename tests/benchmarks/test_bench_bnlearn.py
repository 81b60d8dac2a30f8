"""What is identifiable in a foreign graph, its rows, and the table; pgmpy is not needed."""

import sys
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_bnlearn as bench
from rinn.graphs.basics import by_role, reach

ROLES = {"a": "input", "b": "input", "c": "input", "y": "output", "z": "output", "w": "output"}


def make_graph(*edges):
    graph = nx.DiGraph(edges)
    nx.set_node_attributes(graph, {node: ROLES.get(node, "latent") for node in graph}, "role")
    return graph


BROAD = [("a", "h"), ("b", "h"), ("h", "y"), ("h", "z"), ("h", "w")]


def test_a_latent_that_saves_edges_stays():
    target = bench.find_target(make_graph(*BROAD))
    assert by_role(target, "latent") == ["h"]


def test_latents_with_the_same_outputs_are_one():
    target = bench.find_target(make_graph(*BROAD, ("c", "g"), ("g", "h")))
    (latent,) = by_role(target, "latent")
    assert set(target.pred[latent]) == {"a", "b", "c"}


def test_a_latent_between_one_cause_and_one_effect_is_left_out():
    target = bench.find_target(make_graph(("a", "h"), ("h", "y"), ("b", "z")))
    assert set(target.edges) == {("a", "y"), ("b", "z")}


def test_latents_with_the_same_inputs_are_one_with_the_same_reach():
    edges = [("a", "g"), ("b", "g"), ("a", "h"), ("b", "h")]
    graph = make_graph(*edges, ("g", "y"), ("g", "z"), ("h", "z"), ("h", "w"))
    target = bench.find_target(graph)
    assert {node: reach(target)[node] for node in "ab"} == {
        node: reach(graph)[node] for node in "ab"
    }
    assert len(by_role(target, "latent")) <= 1


def test_an_input_or_output_alone_is_left_as_it_is():
    graph = make_graph(*BROAD)
    before = set(graph.edges)
    bench.find_target(graph)
    assert set(graph.edges) == before


def test_rows_follow_the_tables():
    graph = make_graph(("a", "y"))
    tables = {
        "a": SimpleNamespace(variables=["a"], values=np.array([0.75, 0.25])),
        # [state of y, state of a]: three states, of which a = 1 allows the last alone
        "y": SimpleNamespace(variables=["y", "a"], values=np.array([[0.5, 0], [0.5, 0], [0, 1]])),
    }
    rows = bench.draw_rows(graph, tables, 20_000, np.random.default_rng(0))
    assert rows["a"].mean() == pytest.approx(0.25, abs=0.02)
    assert set(rows["y"][rows["a"] == 1]) == {2}
    assert rows["y"][rows["a"] == 0].mean() == pytest.approx(0.5, abs=0.02)


def test_a_latent_is_visible_by_the_effects_on_all_its_outputs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5000))
    noise = rng.normal(size=(3, 5000))
    rows = pd.DataFrame({"a": a, "b": b, "y": a + b + noise[0], "z": a + noise[1], "w": noise[2]})
    target = make_graph(*BROAD)
    assert bench.find_visible(target, rows, 1000) == set()
    target.remove_node("w")
    assert bench.find_visible(target, rows, 1000) == {"h"}
    assert bench.find_visible(target, rows, 4) == set()


def test_means_over_the_draws():
    record = {
        "network": "alarm", "n": 500, "seed": 0, "method": "nem", "inputs": 12, "outputs": 11,
        "hidden": 14, "identifiable": 0, "merged": 2, "visible": 1, "found": 3, "f1": 0.5,
        "precision": 0.4, "visible_recall": None, "edges_f1": 0.2, "pairs_f1": 0.9,
    }  # fmt: skip
    (row,) = bench.tabulate([record, record | {"seed": 1, "f1": 0.7, "visible_recall": 1.0}])
    assert len(row) == len(bench.HEADERS)
    assert row[:2] == ["alarm", "500"]
    assert row[10] == "0.60 ± 0.14"
    assert row[12] == "1.00 ± 0.00"
    assert bench.tabulate([record])[0][12] == "none visible"


def test_what_is_missing_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    with pytest.raises(SystemExit, match=r"bench_bnlearn.py needs pgmpy: pip install pgmpy"):
        bench.load_network("alarm", 10, 0)
    with pytest.raises(SystemExit):
        bench.main(["--methods", "nim", "--work", str(tmp_path)])
    assert "--methods must be of rinn" in capsys.readouterr().err
