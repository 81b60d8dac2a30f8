import json

import jax
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rinn import DBN, RINN
from rinn.cli import run
from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.pipeline import fit_data
from rinn.runs.sentences import summarise_null
from rinn.structure.null import fit_null
from rinn.structure.prior.sources import PriorKnowledge, load_prior
from rinn.structure.prior.statements import Statement
from rinn.structure.qvalues import Null, NullRound, assign_q

SMALL = ["--samples", "60", "--inputs", "5", "--outputs", "5", "--levels", "1", "--latents", "2"]
TOP = "statement,first,second,weight\n"


def call(*words):
    return run([str(word) for word in words])


def fit_words(data, out, *more):
    words = ("--trials", 8, "--epochs", 3, "--bootstraps", 10, "--device", "cpu", "--quiet")
    return ("fit", data / "x.csv", data / "y.csv", "--out", out, *words, *more)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "data"
    assert call("simulate", "random", "--out", folder, *SMALL) == 0
    return folder


@pytest.fixture(scope="module")
def prior(data):
    path = data / "prior.csv"
    path.write_text(f"{TOP}must,x0,y0,\nmustnot,x1,y1,\nmust,x2,y2,0.5\n")
    return path


@pytest.fixture(scope="module")
def fitted(data, prior):
    out = data.parent / "run"
    assert call(*fit_words(data, out, "--prior", prior)) == 0
    return out


@pytest.fixture(scope="module")
def plain(data):
    out = data.parent / "plain"
    assert call(*fit_words(data, out)) == 0
    return out


def load_manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_the_graph_obeys_and_says_what_it_owes_to_the_prior(fitted):
    graph = load_graph(fitted / "graph.json")
    assert "y0" in nx.descendants(graph, "x0")
    assert "y1" not in nx.descendants(graph, "x1")
    table = pd.read_csv(fitted / "edges.csv")
    assert set(table["origin"]) <= {"data", "prior", "forced"}
    assert table["frequency_without"].between(0, 1).all()
    drawn = table[table["reported"]]
    for row in drawn.itertuples():
        assert graph.edges[row.source, row.target]["origin"] == row.origin
    assert len(drawn) == graph.number_of_edges() > 0


def test_manifest_report_and_files(fitted):
    about, did = load_manifest(fitted)["prior"], json.loads((fitted / "prior.json").read_text())
    assert about["files"] == {"prior": "prior.csv"}
    assert about["notes"] == ["--prior (prior.csv): 3 of 3 statements used"]
    assert about["sentence"] == did["sentence"]
    assert about["counts"] == did["counts"]
    assert len(did["forced"]) == about["counts"]["forced"]
    page = (fitted / "report.html").read_text()
    assert "Prior knowledge" in page
    assert "3 of 3 statements used" in page


def test_without_a_prior_nothing_is_said_of_one(plain, fitted):
    manifest, other = load_manifest(plain), load_manifest(fitted)
    assert "prior" not in manifest
    assert "prior" not in manifest["data"]
    assert manifest["plan"] == other["plan"]
    assert manifest["settings"] == other["settings"]
    assert not (plain / "prior.json").exists()
    assert "origin" not in pd.read_csv(plain / "edges.csv").columns
    assert "Prior knowledge" not in (plain / "report.html").read_text()
    networks = [(folder / "trials.csv").read_bytes() for folder in (plain, fitted)]
    assert networks[0] == networks[1]


def test_another_prior_is_another_run(data, prior, fitted, plain, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text(f"{TOP}must,x0,y1,\n")
    same = tmp_path / "same.json"
    rows = [("must", "x0", "y0", None), ("mustnot", "x1", "y1", None), ("must", "x2", "y2", 0.5)]
    names = ("statement", "first", "second", "weight")
    same.write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    assert call(*fit_words(data, fitted, "--prior", same)) == 0  # it says the same
    for words in ((fitted, "--prior", other), (fitted,), (plain, "--prior", prior)):
        capsys.readouterr()
        assert call(*fit_words(data, *words)) == 2
        assert "was made with other data (prior); choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("must,x0,y00,\n", (), "names 'y00', which no table has; did you mean 'y0'?"),
        ("must,x0,y0,\nmustnot,x0,y0,\n", (), "line 2 says must and line 3 mustnot"),
        ("must,x0,y0,\n", ("--strategy", "dbn"), "rinn, dnn or esc for prior knowledge"),
        ("must,x0,y0,\n", ("--network-steps", 2), "--network-steps must come with --network"),
    ],
)
def test_wrong_words_write_nothing(data, tmp_path, capsys, text, more, words):
    path, out = tmp_path / "p.csv", tmp_path / "run"
    path.write_text(TOP + text)
    assert call(*fit_words(data, out, "--prior", path, *more)) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_a_strategy_without_networks_takes_no_prior(data, prior, tmp_path, capsys):
    words = (data / "x.csv", data / "y.csv", "--out", tmp_path / "run", "--prior", prior)
    assert call("fit", *words, "--strategy", "dm") == 2
    assert "rinn, dnn or esc for prior knowledge" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_names_in_the_report_are_escaped(data, tmp_path):
    x = pd.read_csv(data / "x.csv").rename(columns={"x0": "<b>x0"})
    folder = tmp_path / "data"
    folder.mkdir()
    x.to_csv(folder / "x.csv", index=False)
    (folder / "y.csv").write_bytes((data / "y.csv").read_bytes())
    path = folder / "p.csv"
    path.write_text(f"{TOP}must,<b>x0,y0,\n")
    assert call(*fit_words(folder, tmp_path / "run", "--prior", path)) == 0
    assert "<b>x0" not in (tmp_path / "run" / "report.html").read_text()


def test_estimators(data, prior):
    x, y = (pd.read_csv(data / f"{name}.csv") for name in ("x", "y"))
    x, y = (table[[c for c in table if c[0] in "xy" and c[1:].isdigit()]] for table in (x, y))
    model = RINN(trials=8, epochs=3, bootstraps=3, device="cpu", prior=str(prior)).fit(x, y)
    assert "y0" in nx.descendants(model.graph_, "x0")
    assert model.influence_.counts["edges"] == model.graph_.number_of_edges()
    again = clone(
        RINN(trials=8, epochs=3, bootstraps=3, device="cpu", prior=load_prior(prior))
    ).fit(x, y)
    assert nx.utils.graphs_equal(model.graph_, again.graph_)
    assert RINN(trials=8, epochs=3, bootstraps=3, device="cpu").fit(x, y).influence_ is None
    with pytest.raises(InputError, match="names 'nobody', which no table has"):
        RINN(prior=PriorKnowledge((Statement("must", "nobody", "y0"),))).fit(x, y)
    with pytest.raises(InputError, match="rinn, dnn or esc"):
        DBN(prior=str(prior)).fit(x, y)


def test_chance_is_counted_by_kind():
    rounds = tuple(NullRound(n, n, 4, (0.5,), 1, 4, 0, prior_driven=(1.0, 1.0)) for n in range(5))
    null = Null(rounds, NullRound(-1, 9, 4, (), 0, 4, 0, decoys=4))
    graph = nx.DiGraph()
    graph.add_edge("x0", "L1", frequency=1.0, origin="data")
    graph.add_edge("x1", "L1", frequency=1.0, origin="prior")
    graph.add_edge("x2", "y0", frequency=0.0, origin="forced")
    q = assign_q(graph, null)
    assert q == {("x0", "L1"): pytest.approx(1 / 5), ("x1", "L1"): 1.0}
    assert "1 of the 2" not in summarise_null(null, graph)
    said = "edges of this graph has q at most 0.05, the lowest being 0.2, not counting one that the"
    assert f"neither of the 2 {said} prior states." in summarise_null(null, graph)
    alone = graph.edge_subgraph([("x2", "y0")])
    assert "this graph has no edge but one that the prior states." in summarise_null(null, alone)
    assert NullRound.from_json(rounds[0].to_json()) == rounds[0]
    assert "prior_driven" not in NullRound(0, 0, 4, (0.5,), 1, 4, 0).to_json()


@pytest.mark.slow
def test_the_null_knows_what_the_search_knows():
    """Where all outputs of an input are ordered, permuted tables have them too: owed, not found."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    y = rng.normal(size=(120, 4))
    data = Data(x, y, ("a", "b", "c"), ("v", "w", "x", "y"))
    said = [Statement("must", one, other) for one in "ab" for other in "vwx"]
    settings = RunSettings(trials=8, epochs=2, bootstraps=3)

    def fit(*arguments, **more):
        prior = PriorKnowledge(tuple(said))
        return fit_data(*arguments, refit=False, prior=prior, **more)

    null = fit_null(data, settings, jax.devices("cpu")[:1], 1, networks=8, fit=fit)
    assert max(null.permuted[0].prior_driven) == 1.0
    assert not [share for share in null.permuted[0].frequencies if share > 0.9]
