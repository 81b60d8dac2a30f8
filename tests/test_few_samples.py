"""Experiments of 10 to 99 samples: no network, no test set, and no edge in noise."""

import json

import numpy as np
import pandas as pd
import pytest

from rinn import RINN, Regression, RunSettings
from rinn.cli import run
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.pipeline import fit_data, plan_run
from rinn.refit.compare import compare_regression
from rinn.refit.refit import refit_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.null import fit_round
from rinn.structure.qvalues import DECOY_ROUND

ARRAYS = 3  # of each knock-down, and of controls
QUICK = RunSettings(bootstraps=5)
ARMS = {"one": ("a", "b"), "two": ("c", "d")}


@pytest.fixture(scope="module")
def tables():
    """Two arms with two knock-downs and twelve genes each, and six genes that nothing changes."""
    rng = np.random.default_rng(5)
    names = [name for arm in ARMS.values() for name in arm]
    x = pd.DataFrame(0, index=[f"s{i}" for i in range(ARRAYS * 5)], columns=names)
    for number in range(len(names)):
        x.iloc[ARRAYS * (number + 1) : ARRAYS * (number + 2), number] = 1
    hidden = np.stack([x[list(arm)].sum(axis=1) for arm in ARMS.values()], axis=1) * 4.0
    hidden = hidden + 0.3 * rng.normal(size=hidden.shape)
    loadings = np.zeros((2, 30))
    loadings[0, :12], loadings[1, 12:24] = rng.uniform(1, 2, 12), rng.uniform(1, 2, 12)
    values = hidden @ loadings + rng.normal(size=(len(x), 30))
    return x, pd.DataFrame(values, index=x.index, columns=[f"g{i}" for i in range(30)])


def test_both_arms_are_found_and_noise_has_no_edge(tables):
    x, y = tables
    graph = fit_data(as_data(x, y), QUICK, ()).latent.graph
    causes = {tuple(sorted(set(graph.predecessors(v)))) for v in by_role(graph, "latent")}
    assert causes == {("a", "b"), ("c", "d")}
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        permuted = pd.DataFrame(y.to_numpy()[order], y.index, y.columns)
        noise = fit_data(as_data(x, permuted), QUICK, (), refit=False).latent.graph
        assert not noise.number_of_edges()


def test_more_inputs_than_a_regression_takes_give_no_wrong_edge(tables):
    x, y = tables
    idle = np.random.default_rng(1).normal(size=(len(x), 20))
    wide = x.join(pd.DataFrame(idle, x.index, [f"idle{i}" for i in range(20)]))
    graph = fit_data(as_data(wide, y), QUICK, (), refit=False).latent.graph
    assert not any(graph.out_degree(f"idle{i}") for i in range(20))


def test_no_sample_is_held_out_below_a_hundred():
    rng = np.random.default_rng(0)
    for samples, expected in ((49, 0), (50, 0), (99, 0), (100, 10)):
        x, y = rng.normal(size=(samples, 2)), rng.normal(size=(samples, 3))
        problem = make_problem(as_data(x, y))
        assert len(problem.test) == expected
        assert problem.is_small == (samples < 50)
        assert estimate_effects(problem).moments.has_few_samples == problem.is_small
        assert len(problem.seen) == samples - expected
        assert not make_problem(as_data(x, (y > 0).astype(int), min_samples=10)).is_small


def test_sixty_samples_are_enough_for_twenty_five_inputs():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 25))
    hidden = np.stack([x[:, :3].sum(axis=1), x[:, 3:6].sum(axis=1)], axis=1)
    y = np.repeat(hidden, 8, axis=1) + 0.7 * rng.normal(size=(60, 16))
    fit = fit_data(as_data(x, y), QUICK, (), refit=False)
    graph = fit.latent.graph
    causes = {tuple(sorted(graph.predecessors(v))) for v in by_role(graph, "latent")}
    assert causes == {("x0", "x1", "x2"), ("x3", "x4", "x5")}
    assert not any(graph.out_degree(f"x{i}") for i in range(6, 25))
    assert fit.skip_reason == "because there are fewer than 100 samples"


def test_a_graph_is_compared_on_held_out_samples_alone():
    rng = np.random.default_rng(0)
    data = as_data(rng.normal(size=(60, 2)), rng.normal(size=(60, 3)))
    problem = make_problem(data)
    refit = refit_graph(fit_data(data, QUICK, ()).latent.graph, problem, data.inputs, data.outputs)
    with pytest.raises(InputError, match="none was held out, as with fewer than 100 samples"):
        compare_regression(refit, problem)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "dnn"}, "strategy must be .*rinn.* with fewer than 50 samples, but is 'dnn'"),
        ({"effects": "corrected"}, "effects must be auto or regression with fewer than 50 samples"),
    ],
)
def test_networks_are_refused(tables, settings, message):
    with pytest.raises(InputError, match=message):
        plan_run(as_data(*tables), RunSettings(**settings))


def test_other_outputs_need_fifty_samples(tables):
    x, y = tables
    gaps = y.copy()
    gaps.iloc[0, 0] = np.nan
    for other in ((y > 1).astype(int), gaps):
        with pytest.raises(
            InputError, match=r"at least 50 samples in common where outputs are 0/1"
        ):
            as_data(x, other)
    with pytest.raises(InputError, match="at least 10 samples in common, but have 9; add samples"):
        as_data(x.iloc[:9], y.iloc[:9])


def test_a_run_says_what_is_assumed(tables, tmp_path, capsys):
    x, y = tables
    x.to_csv(tmp_path / "x.csv")
    y.to_csv(tmp_path / "y.csv")
    out = tmp_path / "run"
    words = [tmp_path / "x.csv", tmp_path / "y.csv", "--out", out, "--bootstraps", "2"]
    assert run(["fit", *map(str, words), "--null", "1", "--device", "cpu"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Normal errors are assumed: with fewer than 50 samples" in said
    assert "test set: none, as samples are few" in said
    assert "because there are fewer than 100 samples." in said
    assert "can hardly be distinguished" not in said
    manifest = json.loads((out / "manifest.json").read_text())
    assert "test" not in manifest
    assert "comparison" not in manifest
    assert json.loads((out / "refit.json").read_text())["test_loss"] is None
    report = (out / "report.html").read_text()
    assert "No sample was held out, so nothing says how well the graph predicts." in report
    assert "goes from one standard deviation below its mean to one above" in report
    assert (
        run(["whatif", str(out), str(words[0]), "--do", "a=1", "--out", str(tmp_path / "w")]) == 0
    )


def test_decoys_leave_two_samples_for_each_input(tables):
    found = fit_round(as_data(*tables), QUICK, (), DECOY_ROUND, fit=fit_data)
    assert (found.decoys, found.connected_decoys, found.connected_inputs) == (3, 0, 4)


def test_many_outputs_of_few_samples_have_no_test_of_fit(tables):
    x, y = tables
    for outputs, is_tested in ((4, True), (5, False)):
        fit = fit_data(as_data(x, y.iloc[:, :outputs]), QUICK, (), refit=False).latent.fit
        assert (fit is not None) == is_tested


def test_without_controls_the_graph_is_found(tables):
    x, y = tables
    treated = x.any(axis=1)
    graph = fit_data(as_data(x[treated], y[treated]), QUICK, (), refit=False).latent.graph
    assert sum(graph.out_degree(name) > 0 for name in x) >= 3  # one is what the others are not


def test_estimators_take_few_samples(tables):
    x, y = tables
    model = RINN(bootstraps=2).fit(x, y)
    assert len(model.latents_) == 2
    assert model.predict(x).shape == y.shape
    assert model.test_scores_ is None
    assert len(Regression().fit(x, y).latents_) >= 2
    with pytest.raises(ValueError, match="minimum of 20 is required by RINN"):
        RINN(min_samples=20).fit(x.to_numpy(), y.to_numpy())
