"""Outputs of several kinds and with gaps, all the way from tables to a graph."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest

from networks import make_trials, mixed_data, small_data
from rinn import RINN
from rinn.cli import run
from rinn.config import RunSettings
from rinn.data.align import as_data, fingerprint
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.nets.predict import find_test_losses, score_test
from rinn.nets.search import run_search
from rinn.pipeline import fit_data, plan_run
from rinn.refit.refit import refit_graph
from rinn.structure.effects import estimate_effects

CPU = jax.devices("cpu")


def same_nets(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.validation_loss == b.validation_loss
        for left, right in zip(a.weights, b.weights, strict=True):
            np.testing.assert_array_equal(left, right)


def test_what_stands_in_a_gap_does_not_matter():
    problem = make_problem(mixed_data())
    noisy = replace(problem, y=np.where(problem.observed, problem.y, np.float32(9)))
    nets = run_search(problem, make_trials(settings=1), CPU)
    others = run_search(noisy, make_trials(settings=1), CPU)
    same_nets(nets, others)
    assert score_test(nets, problem).error == score_test(others, noisy).error
    np.testing.assert_array_equal(find_test_losses(nets, problem), find_test_losses(others, noisy))


def test_losses_are_means_over_known_values():
    problem = make_problem(mixed_data(missing=0.3))
    (net, *_), test = run_search(problem, make_trials(settings=1), CPU), problem.test
    raw = np.asarray(score_raw(net, problem))
    each = problem.likelihood.measure(raw, problem.y[:, test].astype(float))
    expected = each[problem.observed[:, test]].mean()
    assert score_test([net], problem).error[0] == pytest.approx(expected)
    assert find_test_losses([net], problem).mean() == pytest.approx(expected)
    held = problem.splits[net.trial.split].validation
    raw = np.asarray(score_raw(net, problem, held))
    each = problem.likelihood.measure(raw, problem.y[:, held].astype(float))
    share = problem.observed[:, problem.seen].mean()
    expected = (each * problem.observed[:, held]).mean() / share
    assert net.validation_loss == pytest.approx(expected, rel=1e-4)
    assert net.validation_error == pytest.approx(net.validation_loss)


def score_raw(net, problem, rows=None):
    from rinn.nets.predict import predict_net

    return predict_net(net, problem.x[:, problem.test if rows is None else rows]).astype(float)


def test_complete_numbers_are_learned_as_before():
    """Naming every kind that the values tell anyway changes nothing."""
    data = small_data(binary=True)
    told = replace(data, kinds=tuple((name, "binary") for name in data.outputs))
    nets = [run_search(make_problem(d), make_trials(settings=1), CPU) for d in (data, told)]
    same_nets(*nets)


def test_effects_of_nothing_scatter_by_their_errors():
    """Without any cause, regression effects are of size 1, whatever the kinds and gaps."""
    found, rng = [], np.random.default_rng(0)
    for seed in range(6):
        x = rng.normal(size=(600, 120))
        y = mixed_data(600, missing=0.0, seed=seed).y[rng.permutation(600)]
        y[rng.random(y.shape) < [0.0, 0.05, 0.1, 0.2]] = np.nan
        names = tuple(f"x{n}" for n in range(120))
        kinds = (("y2", "count"), ("y3", "count"))
        problem = make_problem(replace(mixed_data(), x=x, y=y, inputs=names, kinds=kinds))
        found.append(estimate_effects(problem).z)
    found = np.stack(found)  # [seed, input, output]
    np.testing.assert_allclose(found.std(axis=(0, 1)), 1, atol=0.1)
    assert (np.abs(found) > 3.5).mean() < 0.003


def test_an_output_with_hardly_more_values_than_inputs_says_nothing():
    data = mixed_data(600, missing=0.0)
    x = np.random.default_rng(0).normal(size=(600, 120))
    data.y[130:, 0] = np.nan
    names = tuple(f"x{n}" for n in range(120))
    effects = estimate_effects(make_problem(replace(data, x=x, inputs=names)))
    assert (effects.z[:, 0] == 0).all()
    assert (effects.z[:, 1] != 0).all()


def test_effects_follow_the_number_of_known_values():
    """With half of its values an output has effects of half as many squared standard errors."""
    data = mixed_data(4000, missing=0.0)
    whole = estimate_effects(make_problem(data)).z
    data.y[::2, 0] = np.nan
    half = estimate_effects(make_problem(data)).z
    ratio = np.linalg.norm(half, axis=0) / np.linalg.norm(whole, axis=0)
    np.testing.assert_allclose(ratio, [np.sqrt(0.5), 1, 1, 1], rtol=0.05)


@pytest.mark.parametrize("strategy", ["dbn", "esc", "dm", "regression"])
def test_strategies_that_need_whole_tables(strategy):
    settings = RunSettings(strategy=strategy)
    with pytest.raises(InputError, match=f"no missing values for the strategy '{strategy}'"):
        plan_run(mixed_data(), settings)
    whole = mixed_data(missing=0)
    if strategy in ("dm", "regression"):
        assert fit_data(whole, settings, CPU).latent.graph.number_of_nodes()
    else:
        with pytest.raises(InputError, match=f"all numbers for the strategy '{strategy}'"):
            plan_run(whole, settings)


def make_graph():
    import networkx as nx

    graph = nx.DiGraph()
    roles = {"x": "input", "y": "output", "h": "latent"}
    for name in (*(f"x{n}" for n in range(4)), "h", *(f"y{n}" for n in range(4))):
        graph.add_node(name, role=roles[name[0]])
    graph.add_edges_from((f"x{n}", "h") for n in range(4))
    graph.add_edges_from(("h", f"y{n}") for n in range(4))
    return graph


def test_refit_finds_one_cause_of_four_kinds():
    """A latent that moves a number, a chance and two counts, by what it was made with."""
    rng = np.random.default_rng(0)
    x = (rng.random((3000, 4)) < 0.4).astype(float)
    h = x @ [1.0, -1.0, 0.5, 0.8]
    h = (h - h.mean()) / h.std()
    y = np.column_stack(
        [
            10 + 2 * h + rng.normal(size=3000),
            rng.random(3000) < 1 / (1 + np.exp(-1.5 * h)),
            rng.poisson(np.exp(2 + 0.4 * h)),
            rng.poisson(np.exp(-0.5 + 0.4 * h)),
        ]
    )
    y[rng.random(y.shape) < 0.1] = np.nan
    data = as_data(x, y, kinds={"y2": "count", "y3": "count"})
    problem = make_problem(data)
    found = refit_graph(make_graph(), problem, data.inputs, data.outputs)
    values = found.latent_values[:, 0]
    assert abs(np.corrcoef(values, h)[0, 1]) > 0.99
    link = problem.likelihood.link.std
    slopes = {edge.target: edge.effect for edge in found.edges if edge.source == "h"}
    made = [2, 1.5, 0.4, 0.4]  # for one standard deviation of the latent; edges say two of them
    for number in range(4):
        assert slopes[f"y{number}"] * link[number] / 2 == pytest.approx(made[number], rel=0.2)


def test_estimator_predicts_in_the_users_units():
    data = mixed_data(600)
    y = pd.DataFrame(data.y, columns=data.outputs)
    model = RINN(trials=4, epochs=150, bootstraps=3, device="cpu")
    model.fit(data.x, y, kinds={"y2": "count", "y3": "count"})
    found = model.predict(data.x)
    assert ((found[:, 1] > 0) & (found[:, 1] < 1)).all()
    assert (found[:, 2:] > 0).all()
    means = np.nanmean(data.y, axis=0)
    np.testing.assert_allclose(found.mean(axis=0), means, rtol=0.15)
    assert 0.2 < model.score(data.x, y) < 1
    known = ~np.isnan(data.y[:, 0])
    alone = np.corrcoef(found[known, 0], data.y[known, 0])[0, 1]
    assert alone > 0.9
    assert model.test_scores_.auroc is not None
    with pytest.raises(InputError, match="kinds must name outputs, got 'z'"):
        model.fit(data.x, y, kinds={"z": "count"})


def test_missing_values_of_pandas_and_outputs_with_few_values():
    data = mixed_data(200)
    y = pd.DataFrame(data.y, columns=data.outputs)
    y["few"] = [1.0, 2.0, 6.0] + [np.nan] * 197
    y["none"] = np.nan
    theirs = y.astype({"y1": "boolean", "y2": "Int64", "y3": "Int64"})
    model = RINN(trials=2, epochs=5, bootstraps=3, device="cpu").fit(
        data.x, theirs, kinds={"y2": "count"}
    )
    assert [(one.name, one.reason) for one in model.dropped_] == [
        ("few", "only 3 values"),
        ("none", "only 0 values"),
    ]
    found = model.predict(data.x)
    assert set(found[:, 4]) == {3.0}
    assert np.isnan(found[:, 5]).all()
    assert model.score(data.x, theirs) == model.score(data.x, y)
    assert np.isfinite(model.score(data.x, y.fillna(1)))  # of an output that fit never saw, nothing
    with pytest.raises(InputError, match=r"the outputs of fit, \(200, 6\), got \(200, 2\)"):
        model.score(data.x, y[["y0", "y1"]])


@pytest.mark.parametrize("source", ["network", "corrected", "auto"])
def test_networks_have_effects_on_outputs_of_every_kind(source):
    data = mixed_data(400)
    problem = make_problem(data)
    nets = run_search(problem, make_trials(settings=1), CPU)
    effects = estimate_effects(problem, nets, source)
    assert np.isfinite(effects.z).all()
    assert effects.z.shape == (4, 4)


def test_rows_without_outputs_and_outputs_without_values_are_dropped():
    data = mixed_data(100, missing=0)
    y = data.y.copy()
    y[3] = np.nan
    y[:95, 0] = np.nan
    found = as_data(data.x, y)
    assert found.outputs == ("y1", "y2", "y3")
    assert len(found.x) == 99
    np.testing.assert_array_equal(found.x, np.delete(data.x, 3, axis=0))
    said = {(one.table, one.name): one.reason for one in found.dropped}
    assert said == {("Y", "row 4"): "sample has no outputs", ("Y", "y0"): "only 5 values"}
    tissue = np.array(["a", "b"] * 50)
    tissue[3] = "c"
    with_tissue = as_data(data.x, y, covariates=pd.DataFrame({"tissue": tissue}))
    assert len(with_tissue.covariates.numbers) == 99
    assert with_tissue.covariates.numbers.shape[1] == 1  # the c of row 4 is gone
    np.testing.assert_array_equal(with_tissue.covariates.numbers[:, 0], np.delete(tissue, 3) == "b")
    with pytest.raises(InputError, match="all of its 100 rows are empty"):
        as_data(data.x, np.full_like(y, np.nan))


def test_gaps_and_kinds_are_part_of_the_data():
    data = mixed_data()
    known = fingerprint(data)
    assert fingerprint(replace(data, y=np.where(np.isnan(data.y), -np.nan, data.y))) == known
    assert fingerprint(replace(data, y=np.nan_to_num(data.y)))["y"] != known["y"]
    assert fingerprint(replace(data, kinds=()))["y"] == known["y"]
    assert "kinds" not in fingerprint(replace(data, kinds=()))


def test_a_run_with_kinds(tmp_path, capsys):
    data = mixed_data(120)
    pd.DataFrame(data.x, columns=data.inputs).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame(data.y, columns=data.outputs).to_csv(tmp_path / "y.csv", index=False)
    (tmp_path / "kinds.csv").write_text("output,kind\ny2,count\ny3,count\n")
    tissue = pd.DataFrame({"tissue": ["a", "b"] * 60})
    tissue.to_csv(tmp_path / "tissue.csv", index=False)
    words = ["fit", "x.csv", "y.csv", "--kinds", "kinds.csv", "--covariates", "tissue.csv"]
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    words += ["--trials", "4", "--epochs", "3", "--bootstraps", "3", "--null", "1"]
    words += ["--device", "cpu"]
    out = tmp_path / "run"
    assert run([*words, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Outputs: 1 continuous, 1 of 0 and 1, 2 counted; " in said
    assert "mean deviance" in said
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["outputs"]["kinds"] == {"number": 1, "binary": 1, "count": 2}
    page = (out / "report.html").read_text()
    assert "missing by chance" in page
    assert "guessing the mean of a number or count would give about 1" in page
    covariates = pd.read_csv(out / "covariates.csv")
    rows = covariates[(covariates["output"] == "y2") & (covariates["covariate"] != "(intercept)")]
    first, second = (np.nanmean(data.y[start::2, 2]) for start in (0, 1))
    gap = rows["coefficient"].abs() - 3 * rows["standard_error"]
    assert (gap < abs(np.log(second / first)) + 0.5).all()
    (tmp_path / "kinds.csv").write_text("output,kind\ny2,count\n")
    assert run([*words, "--out", str(out)]) == 2
    assert "other data" in capsys.readouterr().err
