"""Where a regression is enough no network is trained, and everything after it still works."""

import json
from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import rinn.strategies.dnn
from networks import mixed_data, small_data
from rinn import DNN, RINN
from rinn.cli import run as run_words
from rinn.cli.show import NO_NETWORKS
from rinn.config import MIN_NETWORKS, RunSettings
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.pipeline import conclude, fit_data, plan_run
from rinn.refit.compare import Comparison, compare_regression
from rinn.refit.intervene import predict_do
from rinn.refit.refit import refit_graph
from rinn.report.html.page import render_page
from rinn.runs.model import load_model
from rinn.runs.read import load_run
from rinn.structure.null import fit_null

CPU = jax.devices("cpu")
FORK = "--inputs 6 --outputs 9 --latents 3 --levels 2 --samples 300 --mechanism gaussian"


def call(*words):
    return run_words([str(word) for word in words])


def faint_data(samples=400):
    """One effect of about five standard errors."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(samples, 3))
    y = rng.normal(size=(samples, 4))
    y[:, 0] += 0.27 * x[:, 0]
    return Data(x, y, tuple("abc"), tuple("vwxy"))


def plan(data, **settings):
    return len(plan_run(data, RunSettings(**settings)).trials)


@pytest.mark.parametrize("strategy", ["rinn", "dnn", "esc"])
def test_a_regression_that_was_asked_for_trains_nothing(strategy):
    assert plan(faint_data(), strategy=strategy, effects="regression") == 0


@pytest.mark.parametrize("effects", ["network", "corrected"])
def test_networks_that_were_asked_for_are_trained(effects):
    assert plan(small_data(), effects=effects) == 128
    assert plan(small_data(), effects=effects, trials=4) == 4


def test_by_default_the_data_decide_before_training():
    assert plan(small_data()) == 0  # clear
    assert plan(faint_data()) == 128
    assert plan(faint_data(), trials=MIN_NETWORKS) == MIN_NETWORKS
    assert plan(faint_data(), trials=MIN_NETWORKS - 1) == 0
    assert plan(small_data(samples=60, inputs=30)) == 0  # fewer than three samples for each
    assert plan(small_data(samples=400, inputs=101)) == 0


@pytest.mark.parametrize(("strategy", "networks"), [("dnn", 4), ("dbn", 4), ("esc", 4)])
def test_strategies_that_are_there_to_be_compared_are_trained(strategy, networks):
    assert plan(small_data(), strategy=strategy, trials=4) == networks
    assert plan(small_data(), strategy="dbn", effects="regression", trials=4) == 4


def test_more_networks_than_the_budget_has_are_refused_all_the_same():
    with pytest.raises(ValueError, match="trials must be at most 880"):
        plan(small_data(), budget="paper", trials=5000)


def test_the_graph_is_the_one_that_networks_in_vain_would_give(monkeypatch):
    data = small_data()
    none = fit_data(data, RunSettings(bootstraps=5), CPU)
    monkeypatch.setattr(rinn.pipeline, "find_skip_reason", lambda problem, settings: None)
    some = fit_data(data, RunSettings(trials=8, epochs=2, bootstraps=5), CPU)
    assert none.nets == ()
    assert len(some.nets) == 8
    assert none.effects.source == some.effects.source == "regression"
    assert set(none.latent.graph.edges) == set(some.latent.graph.edges)
    assert none.latent.graph.number_of_edges() > 0
    assert none.refit.test_loss == some.refit.test_loss
    assert none.networks is None


def test_what_another_kind_of_network_finds_is_in_it_alone(monkeypatch):
    monkeypatch.setattr(rinn.strategies.dnn, "DEPTHS", (1,))
    settings = RunSettings(strategy="dnn", trials=8, epochs=2, bootstraps=0)
    assert fit_data(small_data(), settings, CPU, refit=False).effects.source == "network"


def test_no_networks_at_all_are_a_regression():
    data = faint_data()
    fit = conclude(plan_run(data, RunSettings(bootstraps=2)), [], refit=False)
    assert fit.effects.source == "regression"
    assert fit.test is None
    assert fit.trials.empty


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run with a truth and a null; tests only look at it."""
    folder = tmp_path_factory.mktemp("without")
    assert call("simulate", "random", *FORK.split(), "--out", folder / "data") == 0
    places = [folder / "data" / name for name in ("x.csv", "y.csv", "truth.json")]
    words = ("--null", 1, "--bootstraps", 10, "--device", "cpu", "--quiet")
    out = folder / "run"
    assert call("fit", *places[:2], "--truth", places[2], "--out", out, *words) == 0
    return out


def read(run, name="manifest.json"):
    return json.loads((run / name).read_text())


def test_the_manifest_says_that_none_was_trained_and_why(run):
    manifest = read(run)
    assert manifest["networks"] == {"trained": 0, "sets": 0, "kept": [], "paper": []}
    said = manifest["effects"]["sentence"]
    assert "No network was trained, because its effects are clear (" in said
    assert "'rinn fit --effects corrected' trains networks" in said
    assert "than a regression on all inputs (loss " in manifest["comparison"]["sentence"]
    assert "Few networks" not in " ".join(manifest["warnings"])
    assert manifest["test"]["samples"] == 30
    assert "paper_test" not in manifest
    assert pd.read_csv(run / "trials.csv").empty
    assert not (run / "curves.csv").exists()
    assert pd.read_csv(run / "edges.csv")["weight"].notna().any()


def test_the_same_command_again_returns_at_once(run):
    before = (run / "manifest.json").read_bytes()
    data = run.parent / "data"
    words = ("--null", 1, "--bootstraps", 10, "--device", "cpu", "--quiet")
    assert call("fit", data / "x.csv", data / "y.csv", "--out", run, *words) == 0
    assert (run / "manifest.json").read_bytes() == before


def test_rounds_of_the_null_train_none_either(run):
    rounds = read(run, "null.json")["rounds"]
    assert [one["networks"] for one in rounds] == [0, 0]
    assert read(run)["null"]["sentence"].startswith("With the rows of Y permuted (1 round), ")


def test_nothing_is_trained_on_permuted_outputs_where_effects_are_clear():
    """Nothing is clear there: by itself each round would train networks."""
    asked = []

    def fit(data, settings, devices, **how):
        asked.append(settings.effects)
        return fit_data(data, settings, devices, refit=False)

    data = small_data()
    null = fit_null(data, RunSettings(bootstraps=2), CPU, 1, fit=fit)
    assert asked == ["regression", "regression"]
    done = [*null.permuted, null.decoyed]
    again = fit_null(data, RunSettings(bootstraps=2), CPU, 1, fit=fit, done=done)
    assert again == null


def test_the_report_says_so_and_has_no_section_of_networks(run):
    page = render_page(load_run(run))
    for words in ("Which networks were kept", "Which graph was chosen", "the kept networks"):
        assert words not in page
    assert "No network was trained, because its effects are clear" in page
    assert "the graph&#39;s own network has a mean squared error" in page
    assert "(mean ± standard deviation over its fits)" in page
    assert "bootstrap resamples" in page
    assert "effects on the outputs" in page
    assert NO_NETWORKS.split("'")[0] in page


def test_check_says_so(run, capsys):
    assert call("check", run) == 0
    assert "No network was trained" in " ".join(capsys.readouterr().out.split())
    assert call("check", run, "--json") == 0
    assert json.loads(capsys.readouterr().out)["effects"]["source"] == "regression"


def test_scores_are_the_graph_s(run, capsys):
    assert call("score", run, "--truth", run.parent / "data" / "truth.json") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert NO_NETWORKS in said
    assert "paper's protocol" not in said


def test_figures_of_networks_are_left_out(run, tmp_path, capsys):
    assert call("draw", run, "--out", tmp_path / "figures") == 0
    said = capsys.readouterr().out
    for name in ("strips", "architecture", "selection"):
        assert f"left out {name}: the run has no networks" in said
    assert (tmp_path / "figures" / "graph.svg").exists()


def test_what_ifs_are_asked_of_the_graph_alone(run):
    x = run.parent / "data" / "x.csv"
    found = predict_do(load_model(run), x, inputs={"x0": "high"})
    assert found.free_change is None
    assert np.abs(found.change).max() > 0


@pytest.mark.parametrize("binary", [False, True])
def test_the_graph_s_own_network_predicts(binary):
    data = small_data(binary=binary)
    model = RINN(bootstraps=2, device="cpu").fit(data.x, data.y)
    assert model.networks_ == []
    assert model.trials_.empty
    assert model.score(data.x, data.y) > (0.3 if binary else 0.9)
    assert model.test_scores_.error.sd > 0  # of the models of two splits
    assert (model.test_scores_.auroc is not None) == binary
    assert model.transform(data.x).shape == (200, len(model.latents_))


def test_a_regression_asked_of_plain_networks_is_the_same():
    data = small_data(samples=100, outputs=2)
    both = (kind(effects="regression", bootstraps=2, device="cpu") for kind in (RINN, DNN))
    found = [model.fit(data.x, data.y).predict(data.x) for model in both]
    np.testing.assert_array_equal(*found)


def test_covariates_take_part_in_predictions():
    data = small_data(samples=200)
    tissue = np.where(np.arange(200) % 3 == 0, "a", "b")
    y = data.y + 5 * (tissue == "a")[:, None]
    model = RINN(bootstraps=2, device="cpu").fit(data.x, y, covariates=tissue)
    assert model.networks_ == []
    assert model.score(data.x, y, covariates=tissue) > 0.9
    assert model.comparison_.other == "a regression on all inputs"


def test_outputs_of_several_kinds_and_gaps_stand_beside_their_own_regressions():
    data = mixed_data(samples=300)
    fit = fit_data(data, RunSettings(effects="regression", bootstraps=2), CPU)
    assert fit.comparison.mean_loss == pytest.approx(1.0, abs=0.4)  # deviance of the mean
    assert fit.comparison.free_loss < fit.comparison.mean_loss
    assert np.isfinite(fit.test.error).all()


def test_a_regression_is_what_the_graph_is_set_beside():
    data = small_data(samples=400)
    problem = make_problem(data)
    empty = nx.DiGraph()
    empty.add_nodes_from(data.outputs, role="output")
    beside = compare_regression(refit_graph(empty, problem, data.inputs, data.outputs), problem)
    rows, held = problem.splits[0].train, problem.test
    design = np.column_stack([np.ones(len(problem.x.T)), problem.x.T.astype(float)])
    line = np.linalg.lstsq(design[rows], problem.y[:, rows].T, rcond=None)[0]
    loss = np.mean((problem.y[:, held].T - design[held] @ line) ** 2)
    assert beside.free_loss == pytest.approx(loss, rel=0.1)  # the other split is close
    assert beside.graph_loss == pytest.approx(beside.mean_loss, rel=0.02)
    assert not beside.is_adequate
    wide = make_problem(small_data(samples=105, inputs=40))
    names = [f"x{i}" for i in range(40)], ["y0", "y1", "y2"]
    beside = compare_regression(refit_graph(empty, wide, *names), wide)
    assert beside.other == "each output's mean"
    assert abs(beside.difference) < 0.05


def test_the_sentence_names_what_stands_beside_the_graph():
    found = Comparison(1.2, 1.0, 0.2, 0.01, "a regression on all inputs", 2.0, 2.0)
    assert replace(found, error=0.11).is_adequate
    assert not replace(found, error=0.11, max_errors=1.0).is_adequate
    assert found.sentence == (
        "The graph's network predicts held-out samples worse than a regression on all inputs "
        "(loss 1.2000 against 1.0000, difference 0.2000 ± 0.0100; with no input 2.0000): the graph "
        "misses something in the data."
    )
