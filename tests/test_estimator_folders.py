"""A fitted estimator and a run folder are the same thing in two places."""

import json
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn import set_config
from sklearn.exceptions import NotFittedError

from hostile_names import HOSTILE
from rinn import DBN, DM, DNN, RINN, InputError, Regression
from rinn.cli import run
from rinn.config import RunSettings
from rinn.fit import fit_run
from rinn.graphs.export import EXPORTS
from rinn.graphs.files import load_graph
from rinn.refit.intervene import predict_do
from rinn.report.html.notebook import draw_in_notebook
from rinn.runs.read import FILES, load_run
from test_estimators import make_tables

QUICK = {"effects": "regression", "bootstraps": 3, "device": "cpu"}
TRAINED = {"trials": 8, "epochs": 30, "keep": 3, "bootstraps": 2, "device": "cpu"}


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def model(tables):
    """Two latents, by a regression, with a column that was left out of each table."""
    x, y = (table.copy() for table in tables)
    x.insert(2, "still", 1.0)
    y.insert(1, "flat", 7.0)
    truth = nx.DiGraph([("a", "T"), ("b", "T"), ("T", "p"), ("T", "q")])
    roles = {"a": "input", "b": "input", "T": "latent", "p": "output", "q": "output"}
    nx.set_node_attributes(truth, roles, "role")
    return RINN(**QUICK, null=1).fit(x, y, truth=truth)


@pytest.fixture(scope="module")
def wide(tables):
    return tables[0].assign(still=1.0)[["a", "b", "still", "c", "d", "e"]]


def assert_same(ours, theirs, x):
    """Equal to the last bit: what is predicted, the activities, the graph and the numbers."""
    assert type(ours) is type(theirs)
    assert ours.get_params() == theirs.get_params()
    assert nx.utils.graphs_equal(ours.graph_, theirs.graph_)
    pd.testing.assert_frame_equal(ours.trials_, theirs.trials_)
    names = ("latents_", "inputs_", "outputs_", "dropped_", "warnings_", "scores_", "null_")
    for name in (*names, "n_features_in_", "test_scores_", "comparison_", "fit_test_", "_columns"):
        assert getattr(ours, name, None) == getattr(theirs, name, None), name
    assert list(ours.feature_names_in_) == list(theirs.feature_names_in_)
    if hasattr(ours, "model_"):
        pd.testing.assert_frame_equal(ours.predict(x), theirs.predict(x))
        np.testing.assert_array_equal(ours.transform(x), theirs.transform(x))


def test_saved_and_loaded_is_the_same(model, wide, tmp_path):
    folder = model.save(tmp_path / "run")
    assert_same(RINN.load(folder), model, wide)
    again = RINN.load(folder).save(tmp_path / "again")
    assert_same(RINN.load(again), model, wide)
    first, second = ({p.name: p.read_bytes() for p in f.iterdir()} for f in (folder, again))
    assert first == second
    assert first.keys() - {".rinn.lock", "report.html", "estimator.json"} <= set(FILES)


def test_networks_are_kept_to_the_last_bit(tables, tmp_path):
    model = RINN(**TRAINED, effects="corrected").fit(*tables)
    loaded = RINN.load(model.save(tmp_path / "run"))
    assert len(loaded.networks_) == 3
    assert_same(loaded, model, tables[0])


@pytest.mark.parametrize("kind", [DBN, DM, Regression])
def test_strategies_without_predictions_are_saved_too(kind, tables, tmp_path):
    few = {"trials": 2, "epochs": 2, "bootstraps": 2, "device": "cpu"} if kind is DBN else {}
    model = kind(**few).fit(*tables)
    assert_same(kind.load(model.save(tmp_path / "run")), model, tables[0])


def test_a_run_of_the_command_line_is_a_fitted_estimator(tables, tmp_path):
    x, y = tables
    x.to_csv(tmp_path / "x.csv")
    y.rename(columns={"p": "a"}).to_csv(tmp_path / "y.csv")  # a is in both tables
    out, settings = tmp_path / "run", RunSettings(effects="regression", bootstraps=3)
    fit_run(tmp_path / "x.csv", tmp_path / "y.csv", out, settings, device="cpu", quiet=True)
    loaded = RINN.load(out)
    fitted = RINN(**QUICK).fit(x, y.rename(columns={"p": "a"}))
    assert nx.utils.graphs_equal(loaded.graph_, fitted.graph_)
    pd.testing.assert_frame_equal(loaded.predict(x.assign(more="text")), fitted.predict(x))
    assert list(loaded.predict(x)) == ["a", "q", "r", "s"]
    np.testing.assert_array_equal(loaded.transform(x), fitted.transform(x))
    assert loaded.get_params()["effects"] == "regression"
    fitted.save(tmp_path / "saved")
    for name in ("graph.json", "edges.csv", "activity.csv", "refit.json", "effects.csv"):
        assert (tmp_path / "saved" / name).read_bytes() == (out / name).read_bytes()
    assert load_run(tmp_path / "saved").manifest.data == load_run(out).manifest.data
    with pytest.raises(InputError, match="each of the run's 5 inputs, but lacks 'b'"):
        loaded.predict(x.drop(columns="b"))
    assert not (loaded.save(tmp_path / "copy") / "estimator.json").exists()


def test_the_commands_read_what_was_saved(model, wide, tmp_path, capsys):
    folder = str(model.save(tmp_path / "run"))
    wide.to_csv(tmp_path / "x.csv")
    assert run(["report", folder]) == 0
    assert run(["export", folder, "--format", "dot"]) == 0
    assert run(["activity", folder, str(tmp_path / "x.csv"), "--out", f"{folder}.csv"]) == 0
    np.testing.assert_allclose(
        pd.read_csv(f"{folder}.csv", index_col=0), model.transform(wide), atol=1e-4
    )


def test_what_if_is_asked_of_the_model(model, wide):
    found = predict_do(model.model_, wide.drop(columns="still"), inputs={"a": 1.0})
    assert np.abs(found.change).max() > 0


def test_names_of_outputs_are_kept(model, wide, tables):
    found = model.predict(wide)
    assert list(found) == ["p", "flat", "q", "r", "s"]
    assert list(found.index) == list(wide.index)
    plain = RINN(**QUICK).fit(tables[0], tables[1].to_numpy())
    assert isinstance(plain.predict(tables[0]), np.ndarray)
    one = RINN(**QUICK).fit(*[tables[0], tables[1]["p"]]).predict(tables[0])
    assert (one.name, list(one.index)) == ("p", list(wide.index))


def test_two_values_keep_their_coding(tables, tmp_path):
    x, y = make_tables("binary")
    model = RINN(**QUICK).fit(x, y + 1)
    assert model.predict(x).min(axis=None) >= 1
    loaded = RINN.load(model.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(loaded.predict(x), model.predict(x))


def test_scores_and_chance(model):
    assert model.scores_["graph"]["latents"]["recall"] == 1.0
    assert len(model.null_.permuted) == 1
    assert all("q" in values for *_, values in model.graph_.edges(data=True))


def test_truth_may_be_a_file(tables, tmp_path, model):
    (tmp_path / "truth.json").write_bytes(model._files["truth.json"])
    again = RINN(**QUICK).fit(*tables, truth=tmp_path / "truth.json")
    assert again.scores_["graph"] == model.scores_["graph"]
    with pytest.raises(InputError, match="the truth must name the inputs of the tables"):
        RINN(**QUICK).fit(tables[0].add_prefix("_"), tables[1], truth=tmp_path / "truth.json")


def test_report_is_that_of_the_run(model, tmp_path):
    path = model.report(tmp_path / "report.html")
    assert "How to read this page" in path.read_text()
    folder = model.save(tmp_path / "run")
    assert path.read_bytes() == (folder / "report.html").read_bytes()
    with pytest.raises(InputError, match=r"report\.html: it exists; .* force=True"):
        model.report(path)
    assert "<title>Ours" in model.report(path, title="Ours", force=True).read_text()


def test_plots(model):
    assert isinstance(model.plot(), Figure)
    assert isinstance(model.plot("comparison"), Figure)
    figure = model.plot(title="Ours", width=85)
    assert figure.get_figwidth() == pytest.approx(85 / 25.4)
    assert "Ours" in [text.get_text() for text in figure.findobj(Text)]
    with pytest.raises(InputError, match=r"kind must be one of graph, .*got 'grph'"):
        model.plot("grph")
    with pytest.raises(
        InputError, match="that the run has data for, got 'curves', but the run has"
    ):
        model.plot("curves")


@pytest.mark.parametrize("kind", EXPORTS)
def test_exports(kind, model, tmp_path):
    path = tmp_path / f"graph{EXPORTS[kind].suffix}"
    assert model.export(kind, path) == path
    assert path.read_bytes() == model.export(kind).encode()
    with pytest.raises(InputError, match="it exists; name another file, or replace it"):
        model.export(kind, path)
    model.export(kind, path, force=True)


def test_export_of_an_unknown_format(model):
    with pytest.raises(InputError, match=r"format must be one of graphml, .*got 'excel'"):
        model.export("excel")


def test_a_notebook_shows_the_graph(model):
    html = model._repr_html_()
    assert html.startswith('<div class="rinn-graph">')
    assert "RINN: 2 latents and 8 edges between 5 inputs and 4 outputs." in html
    assert "sk-estimator" in html  # scikit-learn's own
    assert 'class="rinn-graph"' in model._repr_mimebundle_()["text/html"]
    assert "rinn-graph" not in RINN()._repr_html_()
    assert "RINN(" in repr(model)
    set_config(display="text")
    try:
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]
    finally:
        set_config(display="diagram")


def test_names_are_escaped_in_a_notebook(model):
    names = dict(zip("abcdpq", HOSTILE.values(), strict=True))
    picture = draw_in_notebook(nx.relabel_nodes(model.graph_, names), "RINN", 40)
    assert not any(tag in picture for tag in ("<script", "<img", "<b>", "onload=alert(3)>"))
    assert "&lt;script&gt;" in picture
    few = draw_in_notebook(model.graph_, "RINN", 2)
    assert few.count("<circle") == 4
    assert "Not drawn: 1 input without an edge" in few


def test_a_pickle_can_do_the_same(model, wide, tmp_path):
    copy = pickle.loads(pickle.dumps(model))
    assert_same(copy, model, wide)
    assert copy.save(tmp_path / "run").is_dir()


def test_what_is_not_fitted_has_no_folder(tmp_path):
    for ask in (RINN().save, RINN().report):
        with pytest.raises(NotFittedError):
            ask(tmp_path / "run")
    with pytest.raises(NotFittedError):
        RINN().plot()
    with pytest.raises(NotFittedError):
        RINN().export("dot")


def test_another_folder_is_refused(model, tables, tmp_path):
    folder = model.save(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert model.save(folder) == folder  # the same run
    with pytest.raises(InputError, match=r"made with other null .1, now 0., seed"):
        RINN(**QUICK, random_state=1).fit(*tables).save(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        model.save(tmp_path / "mine")


def test_what_cannot_be_loaded(model, tmp_path):
    folder = model.save(tmp_path / "run")
    with pytest.raises(InputError, match=r"with the strategy 'dnn', but .* made with 'rinn'"):
        DNN.load(folder)
    with pytest.raises(InputError, match="is not a folder"):
        RINN.load(tmp_path / "gone")
    content = json.loads((folder / "estimator.json").read_text())
    content["columns"]["inputs"][0] = 99
    for text in (json.dumps(content), "{}", "no json"):
        (folder / "estimator.json").write_text(text)
        with pytest.raises(InputError, match=r"estimator\.json in .* is missing or damaged"):
            RINN.load(folder)


def test_text_columns_are_named(tables):
    x, y = tables
    tissue = np.where(np.arange(len(x)) % 2 == 0, "lung", "liver")
    with pytest.raises(InputError, match=r"X must .*'tissue'.*'lung'"):
        RINN(**QUICK).fit(x.assign(tissue=tissue), y)
    with pytest.raises(InputError, match=r"Y must .*'type'.*'lung'"):
        RINN(**QUICK).fit(x, y.assign(type=pd.Categorical(tissue)))


def test_the_truth_of_a_loaded_run_is_the_one_given(model, tmp_path):
    folder = model.save(tmp_path / "run")
    assert sorted(load_graph(folder / "truth.json")) == ["T", "a", "b", "p", "q"]
