"""`rinn robust` on one small run with a covariate and a prior; M acts in cells of type C only."""

import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rinn.cli import run as run_words
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.runs.robust import ANALYSES, Request

SAMPLES = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Inputs a and b act on u, v and w in all cells, c on x, y and z in cells of type C."""
    folder = tmp_path_factory.mktemp("robust")
    rng = np.random.default_rng(1)
    inputs = rng.integers(0, 2, (SAMPLES, 3))
    cell = np.array(["A", "B", "C"])[np.arange(SAMPLES) % 3]
    noise = rng.normal(size=(SAMPLES, 6))
    first = inputs[:, :1] + inputs[:, 1:2] + 0.3 * rng.normal(size=(SAMPLES, 1))
    second = 4 * inputs[:, 2:] * (cell == "C")[:, None] + 0.3 * rng.normal(size=(SAMPLES, 1))
    outputs = np.hstack([2 * first] * 3 + [second] * 3) + noise + (cell == "B")[:, None]
    pd.DataFrame(inputs, columns=list("abc")).to_csv(folder / "x.csv", index=False)
    pd.DataFrame(outputs, columns=list("uvwxyz")).to_csv(folder / "y.csv", index=False)
    pd.DataFrame({"cell": cell}).to_csv(folder / "cells.csv", index=False)
    (folder / "prior.csv").write_text("statement,first,second\ntogether,a,b\n")
    words = ["fit", *tables(folder), "--out", folder / "run", "--quiet", "--bootstraps", 5]
    assert call(*words, "--prior", folder / "prior.csv", "--device", "cpu") == 0
    return folder


def tables(folder):
    return folder / "x.csv", folder / "y.csv", "--covariates", folder / "cells.csv"


def call(*words):
    return run_words([str(word) for word in words])


@pytest.fixture
def ask(folder, tmp_path, capsys):
    def do(analysis, *words, prior=True):
        known = ("--prior", folder / "prior.csv") if prior else ()
        out = tmp_path / analysis
        code = call("robust", analysis, folder / "run", *words, *known, "--out", out)
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return out, shown

    return do


@pytest.fixture
def refuse(folder, tmp_path, capsys):
    def do(analysis, *words, run=None):
        run = run or folder / "run"
        assert call("robust", analysis, run, *words, "--out", tmp_path / "no") == 2
        shown = capsys.readouterr()
        assert re.fullmatch(r"rinn: .+[.?]\n", shown.err)
        assert not list((tmp_path / "no").glob("*.csv"))
        return shown.err

    return do


def find_latent(folder, output):
    graph = load_graph(folder / "run" / "graph.json")
    return next(node for node in graph.pred[output] if graph.nodes[node]["role"] == "latent")


def test_levels(folder, ask):
    out, shown = ask("levels", *tables(folder), "--covariate", "cell")
    assert "fit 3 of 3: without C, 200 samples" in shown.err
    edges = pd.read_csv(out / "edges.csv").set_index(["source", "target"])
    first = find_latent(folder, "u")
    assert edges.loc[("a", first), "found"] == 3
    below = edges[edges.index.isin([("c", target) for target in edges.index.levels[1]])]
    assert (below.loc[below["in_run"], "missing_in"] == "without C").all()
    pairs = pd.read_csv(out / "pairs.csv").set_index(["input", "output"])
    assert pairs.loc[("c", "x"), "missing_in"] == "without C"
    assert pairs.loc[("a", "u"), "found"] == 3
    about = json.loads((out / "robustness.json").read_text())
    assert about["graphs"]["graph_3.json"] == "without C"
    assert set(load_graph(out / "graph_3.json").pred["x"]) == set()
    assert re.search(r"\d+ of \d+ pairs of input and output are in all 3 fits", shown.out)
    # The same command again only shows what is there.
    _, shown = ask("levels", *tables(folder), "--covariate", "cell")
    assert "fit 1" not in shown.err
    assert "(no name)" not in shown.out
    assert "nan" not in shown.out
    assert "of input and output are in all 3 fits without one level of cell" in shown.out


def test_halves(folder, ask):
    out, shown = ask("halves", *tables(folder), "--resamples", 2)
    edges = pd.read_csv(out / "edges.csv").set_index(["source", "target"])
    row = edges.loc[("a", find_latent(folder, "u"))]
    assert (row["found"], row["of"], row["bootstrap"]) == (4, 4, 1.0)
    assert "fit 4 of 4: half 4, 150 samples" in shown.err
    assert json.loads((out / "robustness.json").read_text())["options"]["resamples"] == 2


def test_without_the_prior(folder, ask):
    out, shown = ask("prior", *tables(folder), "--json", prior=False)
    about = json.loads(shown.out)
    assert about["status"] == "complete"
    assert about["graphs"] == {"graph_1.json": "without the prior"}
    assert all(row["found"] == 1 for row in about["tables"]["pairs.csv"] if row["in_run"])
    assert pd.read_csv(out / "edges.csv").query("in_run")["found"].tolist().count(1) > 5


def test_confounder(folder, ask):
    out, shown = ask("confounder", prior=False)
    effects = pd.read_csv(out / "effects.csv").set_index(["input", "output"])
    t = pd.read_csv(folder / "run" / "effects.csv", index_col=0)
    assert effects.loc[("a", "u"), "t"] == pytest.approx(t.loc["a", "u"], rel=1e-3)
    seen = SAMPLES - json.loads((folder / "run" / "manifest.json").read_text())["test"]["samples"]
    assert (effects["df"] == seen - 2 - 1 - 3).all()
    assert effects.loc[("a", "u"), "rv"] > 0.4
    edges = pd.read_csv(out / "edges.csv").set_index(["source", "target"])
    assert edges.loc[("a", find_latent(folder, "u")), "pairs"] == 3
    assert "degrees of freedom" in shown.out


def test_e_values_of_numbers_are_none(folder, ask):
    known = *tables(folder), "--prior", folder / "prior.csv"
    out, shown = ask("confounder", *known, prior=False)
    assert "No E-values: they need a 0/1 input, a 0/1 output without gaps, 2 samples" in shown.out
    assert pd.read_csv(out / "effects.csv")["e_value"].isna().all()


def test_e_values_of_binary_outputs(tmp_path, capsys):
    rng = np.random.default_rng(2)
    x = (rng.random((500, 3)) < 0.5).astype(int)
    y = (rng.random((500, 4)) < 0.1 + 0.3 * x[:, :1] + 0.2 * x[:, 1:2]).astype(int)
    pd.DataFrame(x, columns=list("abc")).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame(y, columns=list("uvwz")).to_csv(tmp_path / "y.csv", index=False)
    both = tmp_path / "x.csv", tmp_path / "y.csv"
    words = ("--quiet", "--bootstraps", 2, "--effects", "regression", "--device", "cpu")
    assert call("fit", *both, "--out", tmp_path / "run", *words) == 0
    assert call("robust", "confounder", tmp_path / "run", *both, "--out", tmp_path / "new") == 0
    effects = pd.read_csv(tmp_path / "new" / "effects.csv").set_index(["input", "output"])
    row = effects.loc[("a", "u")]
    risk = [y[x[:, 0] == value, 0].mean() for value in (0, 1)]
    assert row["risk_ratio"] == pytest.approx(risk[1] / risk[0], rel=0.1)
    assert 1 < row["e_bound"] < row["e_value"] < 2 * risk[1] / risk[0]
    shown = capsys.readouterr().out
    assert "E-values of the confidence limits of" in shown
    assert "risk_ratio" in shown
    assert "…" not in shown


def test_other_tables_are_refused(folder, tmp_path, refuse):
    assert "needs X and Y, the tables that RUN was fitted on (x.csv and y.csv)" in refuse("halves")
    assert "X and Y must come together" in refuse("halves", folder / "x.csv")
    assert "but covariates differs; pass --covariates with cells.csv" in refuse(
        "halves", *tables(folder)[:2]
    )
    table = pd.read_csv(folder / "y.csv") + 1
    table.to_csv(tmp_path / "y.csv", index=False)
    words = folder / "x.csv", tmp_path / "y.csv", *tables(folder)[2:]
    assert "but y differs; give the same files" in refuse("levels", *words)


def test_the_prior_must_be_the_same(folder, tmp_path, refuse):
    said = refuse("halves", *tables(folder))
    assert "needs the prior knowledge that RUN was fitted with (prior.csv)" in said
    assert "but got none; give the same, or see with 'rinn robust prior'" in said
    (tmp_path / "other.csv").write_text("statement,first,second\ntogether,a,c\n")
    other = "--prior", tmp_path / "other.csv"
    assert "but got other" in refuse("halves", *tables(folder), *other)
    assert "takes no prior knowledge" in refuse("prior", *tables(folder), *other)


def test_what_an_analysis_needs(folder, tmp_path, refuse):
    plain = shutil.copytree(folder / "run", tmp_path / "plain")
    manifest = json.loads((plain / "manifest.json").read_text())
    del manifest["prior"], manifest["data"]["prior"]
    (plain / "manifest.json").write_text(json.dumps(manifest))
    said = refuse("prior", *tables(folder), run=plain)
    assert "RUN was fitted without any; there is nothing to leave out" in said
    assert "levels needs --covariate NAME" in refuse("levels", *tables(folder), run=plain)
    words = *tables(folder), "--covariate", "sex"
    assert "got 'sex'" in refuse("levels", *words, run=plain)
    assert "ANALYSIS must be one of" in refuse("everything")
    assert "--resamples must be" in refuse("halves", "--resamples", 0)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("analysis", "words"),
    [("levels", "10 are left without 'b'; join levels"), ("halves", "but the run has 80")],
)
def test_too_few_samples(analysis, words):
    rng = np.random.default_rng(0)
    levels = ["a"] * 10 + ["b"] * 70
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(80, 2))
    data = as_data(x, y, covariates=pd.DataFrame({"cell": levels}))
    run = SimpleNamespace(manifest=SimpleNamespace(settings=RunSettings(), prior=None))
    with pytest.raises(InputError, match=re.escape(words)):
        ANALYSES[analysis].plan(Request(run, data, covariate="cell"))
