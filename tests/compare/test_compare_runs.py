"""All methods on the same tables: outcomes, resuming, scores, files."""

import dataclasses
import json
import os
import shutil

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from hostile_names import INPUTS, OUTPUTS
from rinn.cli import run
from rinn.cli.compare import _show_rows
from rinn.compare.compare import compare, make_settings, run_method, sort_rows
from rinn.compare.rows import Outcome, Row, find_agreement, find_r2, list_pairs, make_row
from rinn.compare.worker import run_job
from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.files import read_table
from rinn.graphs.files import write_graph
from rinn.strategies import STRATEGIES

LIMIT = 60.0


def make_truth():
    graph = nx.DiGraph()
    graph.add_nodes_from(["x0", "x1", "x2"], role="input")
    graph.add_nodes_from(["h"], role="latent")
    graph.add_nodes_from(["y0", "y1", "y2"], role="output")
    graph.add_edges_from([("x0", "h"), ("x1", "h"), ("h", "y0"), ("h", "y1")])
    return graph


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = x @ np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 0]]) + rng.normal(size=(200, 3))
    for name, table in (("x", x), ("y", y)):
        frame = pd.DataFrame(table, columns=[f"{name}{i}" for i in range(3)])
        frame.to_csv(folder / f"{name}.csv", index=False)
    write_graph(make_truth(), folder / "truth.json")
    return folder


def run_here(method, job, folder):
    """What the child does, in this process."""
    if method in ("dnn", "esc"):
        return Outcome(method, "stopped", "not finished at the limit of 1 min 00 s", job.limit)
    if not STRATEGIES[method].is_installed:
        return run_method(method, job, folder)
    settings = make_settings(job.settings, method).to_json()
    task = {"paths": job.paths | {"out": str(folder)}, "settings": settings, "device": "cpu"}
    return Outcome(method, limit=job.limit, **run_job(task))


def compare_here(tables, out, methods=("regression", "nem", "dnn"), runner=run_here, **more):
    paths = tables / "x.csv", tables / "y.csv", out
    return compare(*paths, methods=methods, runner=runner, quiet=True, device="cpu",
                   **{"limit": LIMIT} | more)  # fmt: skip


@pytest.fixture(scope="module")
def made(tables, tmp_path_factory):
    out = tmp_path_factory.mktemp("comparison") / "out"
    return out, compare_here(tables, out, truth_path=tables / "truth.json")


def test_one_row_for_each_method_the_best_first(made):
    rows = made[1]
    assert {row.method for row in rows[:2]} == {"regression", "nem"}
    assert rows[0].scores.latents.f1 == rows[0].pairs.f1 == 1
    assert rows[2].method == "dnn"
    assert rows[2].graph is None
    assert rows[2].result == "stopped: not finished at the limit of 1 min 00 s"


def test_page_table_and_records_say_the_same(made):
    out = made[0]
    table = read_table(out / "table.csv")
    records = json.loads((out / "table.json").read_text())
    assert list(table["method"]) == [one["method"] for one in records["methods"]]
    assert table["latents_f1"][0] == records["methods"][0]["latents_f1"] == 1
    assert records["agreement"]["nem"]["regression"] == 1
    page = (out / "comparison.html").read_text()
    for words in ("closest to the truth", "not finished at the limit", "runs/nem/report.html",
                  "effects are nested", "missing values", "SHD"):  # fmt: skip
        assert words in page
    assert (out / "runs" / "nem" / "report.html").exists()


def test_the_printed_table_fits_80_columns(made, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    slow = dataclasses.replace(made[1][0].outcome, seconds=123_456.0)
    absent = Row(Outcome("rlcd", "not installed", "", LIMIT), None)
    _show_rows([dataclasses.replace(made[1][0], outcome=slow), *made[1], absent])
    table = capsys.readouterr().out.partition(" closest")[0].splitlines()[:-1]
    assert max(map(len, table)) <= 80
    assert "…" not in "".join(table)
    assert "regression" in "".join(table)


def test_the_same_command_runs_nothing_again(made, tables, tmp_path):
    out = shutil.copytree(made[0], tmp_path / "out")

    def refuse(method, job, folder):
        raise AssertionError(f"{method} ran again")

    again = compare_here(tables, out, runner=refuse)
    assert [row.method for row in again if row.graph is not None] == ["regression", "nem"]
    assert again[0].scores is None
    page = (out / "comparison.html").read_text()
    assert "2 of 3 methods gave a graph; there is no truth to score." in page
    assert "SHD" not in page
    asked = []

    def note(method, job, folder):
        asked.append(method)
        return Outcome(method, "failed", "diverged", job.limit)

    compare_here(tables, out, runner=note, limit=2 * LIMIT)
    assert asked == ["dnn"]
    compare_here(tables, out, runner=note)
    assert asked == ["dnn", "dnn"]


def test_other_settings_are_another_comparison(made, tables):
    with pytest.raises(InputError, match=r"but .* was made with other bootstraps \(50, now 3\)"):
        compare_here(tables, made[0], settings=RunSettings(bootstraps=3))


def test_a_run_that_is_gone_is_named(tables, tmp_path):
    compare_here(tables, tmp_path / "out", methods=["regression"])
    (tmp_path / "out" / "runs" / "regression" / "graph.json").unlink()
    with pytest.raises(InputError, match=r"graph.json cannot be read; remove methods/regression"):
        compare_here(tables, tmp_path / "out", methods=["regression"])


@pytest.mark.parametrize("content", ["", "[]", '{"method": "nem", "status": "odd"}'])
def test_a_damaged_outcome_is_made_again(content, tables, tmp_path):
    out = tmp_path / "out"
    compare_here(tables, out, methods=["nem"])
    (out / "methods" / "nem.json").write_text(content)
    (row,) = compare_here(tables, out, methods=["nem"])
    assert row.outcome.status == "done"


def test_what_cannot_be_compared_is_refused_before_anything_is_written(tables, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"methods must be one of rinn, .* did you mean 'nem'"):
        compare_here(tables, out, methods=["nim"])
    with pytest.raises(InputError, match="limit must be a number above 0, got 0"):
        compare_here(tables, out, limit=0)
    other = make_truth()
    nx.relabel_nodes(other, {"x0": "a", "x1": "b", "x2": "c"}, copy=False)
    write_graph(other, tmp_path / "other.json")
    with pytest.raises(InputError, match="the truth must name the inputs of the tables"):
        compare_here(tables, out, truth_path=tmp_path / "other.json")
    assert not out.exists()


def test_an_absent_peer_has_a_row(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(type(STRATEGIES["gin"]), "is_installed", property(lambda self: False))
    (row,) = compare_here(tables, tmp_path / "out", methods=["gin"], runner=run_method)
    assert row.outcome.status == "not installed"
    assert row.outcome.message == ("gin needs the package causallearn: pip install 'rinn[peers]'")


def test_a_peer_that_hangs_is_stopped(tables, tmp_path, monkeypatch):
    """A package by the name of causal-learn that never comes back."""
    home = tmp_path / "packages" / "causallearn" / "search" / "HiddenCausal" / "GIN"
    home.mkdir(parents=True)
    for folder in (home, *home.parents[:3]):
        (folder / "__init__.py").touch()
    (home / "GIN.py").write_text("while True:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    old = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'packages'}:{old}")
    (row,) = compare_here(tables, tmp_path / "out", methods=["gin"], runner=run_method, limit=3)
    assert row.result == "stopped: not finished at the limit of 3.0 s"
    assert "stopped" in (tmp_path / "out" / "comparison.html").read_text()


def test_a_child_that_breaks_is_a_row(tables, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("import os, sys\nsys.stderr.write('boom')\n"
                                               "sys.stderr.flush()\nos._exit(7)\n")  # fmt: skip
    (row,) = compare_here(tables, tmp_path / "out", methods=["nem"], runner=run_method)
    assert row.result == "failed: its process ended with the code 7 (boom)"


def test_the_command_and_what_a_method_cannot_take(tables, tmp_path, capsys):
    y = pd.read_csv(tables / "y.csv")
    y.iloc[0, 0] = np.nan
    y.to_csv(tmp_path / "y.csv", index=False)
    out = tmp_path / "out"
    words = [tables / "x.csv", tmp_path / "y.csv", "--out", out, "--methods", "regression"]
    assert run(["compare", *map(str, words)]) == 0
    said = capsys.readouterr().out
    assert "refused" in said
    assert "Y must have no missing values for the strategy 'regression'" in said
    assert f"open {out / 'comparison.html'}" in said


def test_hostile_names_are_text(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, len(INPUTS)))
    y = x @ rng.normal(size=(len(INPUTS), len(OUTPUTS))) + rng.normal(size=(80, len(OUTPUTS)))
    for table, names, name in ((x, INPUTS, "x.csv"), (y, OUTPUTS, "y.csv")):
        pd.DataFrame(table, columns=names).to_csv(tmp_path / name, index=False)
    compare_here(tmp_path, tmp_path / "out", methods=["regression", "sparse-pca"])
    assert "<script" not in (tmp_path / "out" / "comparison.html").read_text()


def test_settings_of_a_method_without_networks():
    given = RunSettings(trials=8, epochs=3, seed=4)
    assert make_settings(given, "rinn") == given
    networks = RunSettings(strategy="dnn", trials=8, epochs=3, seed=4)
    assert make_settings(given, "dnn") == networks
    assert make_settings(given, "nem") == RunSettings(strategy="nem", seed=4)


def test_r2_is_that_of_the_inputs_that_reach_an_output(tables):
    data = load_data(tables / "x.csv", tables / "y.csv")
    problem = make_problem(data)
    full = find_r2(make_truth(), data, problem)
    assert 0.3 < full < 0.6  # 2/3 of two outputs' variance, nothing of the third's
    bare = make_truth()
    bare.remove_node("h")
    assert find_r2(bare, data, problem) == pytest.approx(0, abs=0.1)


def test_agreement_and_pairs():
    graph = make_truth()
    assert list_pairs(graph) == {("x0", "y0"), ("x0", "y1"), ("x1", "y0"), ("x1", "y1")}
    half = make_truth()
    half.remove_edge("x1", "h")
    rows = [Row(Outcome(name, "done", "", 1.0), one) for name, one in
            (("nem", graph), ("dm", half))]  # fmt: skip
    table = find_agreement([*rows, Row(Outcome("gin", "stopped", "", 1.0))])
    assert table.loc["nem", "dm"] == table.loc["dm", "nem"] == 0.5
    assert table.loc["dm", "dm"] == 1
    assert list(table) == ["nem", "dm"]


def test_an_empty_graph_of_an_empty_truth_is_right(tables):
    data = load_data(tables / "x.csv", tables / "y.csv")
    empty = make_truth()
    empty.remove_node("h")
    row = make_row(Outcome("nem", "done", "", 1.0), empty, data, make_problem(data), empty)
    assert row.pairs.f1 == row.scores.latents.f1 == 1
    assert sort_rows([Row(Outcome("gin", "failed", "", 1.0)), row])[0] is row
