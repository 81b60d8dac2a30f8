"""Covariates from the tables to the graph: what they change, and what they leave alone."""

import json
from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from networks import make_trials, small_data
from rinn import RINN
from rinn.cli import run
from rinn.config import RunSettings
from rinn.data.adjustment import RIDGE
from rinn.data.align import as_data, fingerprint, load_data
from rinn.data.covariates import CovariateTable, code_covariates
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.nets.groups import plan_groups
from rinn.nets.predict import find_test_losses, predict_net, predict_samples, score_test
from rinn.nets.search import Engine, run_search
from rinn.nets.trainer import Trainer
from rinn.pipeline import fit_data, plan_run
from rinn.refit.refit import refit_graph
from rinn.runs.checkpoint import load_kept
from rinn.structure.effects import _move as move
from rinn.structure.null import add_decoys, fit_round, permute_outputs

CPU = jax.devices("cpu")[:1]


def tissue_of(samples=240, seed=1):
    return np.random.default_rng(seed).choice(["a", "b", "c"], samples)


def confounded(binary=False, samples=240):
    """Small data whose outputs also follow a tissue."""
    data = small_data(samples=samples, binary=False)
    tissue = tissue_of(samples)
    y = data.y + 2.0 * (tissue == "b")[:, None] - 1.0 * (tissue == "c")[:, None]
    y = (y > np.median(y, axis=0)).astype(float) if binary else y
    coded, _ = code_covariates(CovariateTable({"tissue": tissue.astype(object)}))
    return replace(data, y=y, covariates=coded)


def trials_alike(settings):
    """Networks that share one program."""
    return make_trials(
        settings, width=4, batch_size=16, activation="relu", optimiser="adam", learning_rate=0.01
    )


def frames(samples=240, seed=0):
    rng = np.random.default_rng(seed)
    data = confounded(samples=samples)
    index = [f"s{n}" for n in range(samples)]
    X = pd.DataFrame(data.x, index, list(data.inputs))
    Y = pd.DataFrame(data.y, index, list(data.outputs))
    Z = pd.DataFrame({"tissue": tissue_of(samples), "age": rng.normal(60, 9, samples)}, index)
    return X, Y, Z


@pytest.fixture
def files(tmp_path):
    for name, table in zip(("x", "y", "z"), frames(), strict=True):
        table.to_csv(tmp_path / f"{name}.csv", index_label="sample")
    return tmp_path


def test_samples_are_matched_by_id(tmp_path):
    X, Y, Z = frames()
    Z.iloc[::-1].iloc[20:].to_csv(tmp_path / "z.csv", index_label="sample")  # lacks the last 20
    X.to_csv(tmp_path / "x.csv", index_label="sample")
    Y.iloc[10:].to_csv(tmp_path / "y.csv", index_label="sample")
    data = load_data(tmp_path / "x.csv", tmp_path / "y.csv", tmp_path / "z.csv")
    assert data.samples == tuple(f"s{n}" for n in range(10, 220))
    ages = Z["age"].to_numpy()[10:220]
    place = data.covariates.columns.index(("age", ""))
    np.testing.assert_allclose(
        data.covariates.numbers[:, place], (ages - ages.mean()) / ages.std(), atol=1e-9
    )
    reasons = {entry.name: entry.reason for entry in data.dropped}
    assert reasons["s230"] == "sample has no covariates"
    assert reasons["s0"] == "sample is not in Y"
    assert len(data.dropped) == 30


def test_rows_are_matched_by_place_where_there_are_no_ids():
    X, Y, Z = frames()
    data = as_data(X.to_numpy(), Y, covariates=Z["tissue"].to_numpy())
    assert data.samples == tuple(Y.index)
    assert data.covariates.names == ("z0",)
    with pytest.raises(InputError, match="have 100 and X has 240; remove the extra rows"):
        as_data(X.to_numpy(), Y.to_numpy(), covariates=Z["tissue"].to_numpy()[:100])
    with pytest.raises(InputError, match=r"no id of X \(such as 's0'\) is among theirs"):
        as_data(X, Y, covariates=Z.set_index("p" + Z.index))


def test_constant_covariates_are_told_with_the_dropped_columns():
    X, Y, Z = frames()
    data = as_data(X, Y, covariates=Z.assign(site="one"))
    assert [(e.table, e.name) for e in data.dropped] == [("covariates", "site")]


def test_fingerprint_knows_the_covariates():
    data = confounded()
    bare = fingerprint(replace(data, covariates=None))
    assert "covariates" not in bare
    known = fingerprint(data)
    assert {name: known[name] for name in bare} == bare
    other = fingerprint(replace(data, covariates=data.covariates.take(np.arange(240)[::-1])))
    assert other["covariates"] != known["covariates"]


@pytest.mark.parametrize("binary", [False, True])
def test_offset_leaves_nothing_of_the_tissue_in_training_samples(binary):
    data = confounded(binary)
    problem = make_problem(data)
    assert problem.adjustment.offset.shape == (2, 3, 240)
    for s, split in enumerate(problem.splits):
        expected = problem.adjustment.expected[s]
        left = (problem.y - expected)[:, split.train]
        pulled = RIDGE * problem.adjustment.models[s].coefficients[1:] if binary else 0.0
        found = data.covariates.numbers[split.train].T @ left.T  # [column, output]
        np.testing.assert_allclose(found, pulled + np.zeros_like(found), atol=1e-3)
    assert make_problem(replace(data, covariates=None)).adjustment is None


def test_price_is_that_of_what_is_left():
    rng = np.random.default_rng(2)
    tissue = rng.integers(2, size=400)
    x = (rng.random((400, 1)) < 0.2 + 0.6 * tissue[:, None]).astype(float)
    y = 3.0 * tissue[:, None] + rng.normal(size=(400, 1))
    names = np.array([f"t{k}" for k in tissue])
    bare, adjusted = (make_problem(as_data(x, y, covariates=z)) for z in (None, names))
    assert adjusted.max_l1 < 0.2 * bare.max_l1


@pytest.mark.parametrize("binary", [False, True])
def test_networks_train_on_what_covariates_leave(binary):
    """Squared error with an offset is that of outputs less the offset; losses tell it for both."""
    problem = make_problem(confounded(binary))
    nets = run_search(problem, trials_alike(1), CPU)
    for net in nets:
        rows = problem.splits[net.trial.split].validation
        raw = predict_net(net, problem.x[:, rows])
        raw = raw + problem.adjustment.offset[net.trial.split][:, rows]
        y = problem.y[:, rows]
        each = np.logaddexp(0, raw) - y * raw if binary else (raw - y) ** 2
        assert net.validation_loss == pytest.approx(each.mean(), rel=1e-4)
    if binary:
        return
    for net in nets:
        offset = problem.adjustment.offset[net.trial.split]
        bare = replace(problem, y=problem.y - offset, adjustment=None)
        (alone,) = run_search(bare, [net.trial], CPU)
        np.testing.assert_allclose(alone.weights.output, net.weights.output, atol=1e-3)
        assert alone.validation_loss == pytest.approx(net.validation_loss, rel=1e-2)


def test_splits_in_one_cohort_have_offsets_of_their_own():
    """On a GPU both splits share a program; it must be the same there."""
    problem = make_problem(confounded(True))
    trials = trials_alike(2)
    groups = plan_groups(trials, problem, "gpu")
    assert any(len({t.split for t in group.trials}) == 2 for group in groups)
    alone = run_search(problem, trials, CPU)
    engine = Engine(lambda trials, problem, _: plan_groups(trials, problem, "gpu"), Trainer)
    together = run_search(problem, trials, CPU, engine=engine)
    for one, other in zip(alone, together, strict=True):
        assert one.validation_loss == pytest.approx(other.validation_loss, rel=1e-4)


@pytest.mark.parametrize("binary", [False, True])
def test_test_losses_include_the_offset(binary):
    problem = make_problem(confounded(binary))
    nets = run_search(problem, trials_alike(1), CPU)
    test = problem.test
    offset = problem.adjustment.offset[:, :, test]
    predicted = predict_samples(nets, problem.x[:, test], problem.likelihood, offset)
    losses = find_test_losses(nets, problem)
    scores = score_test(nets, problem)
    for place, net in enumerate(nets):
        raw = predict_net(net, problem.x[:, test]) + offset[net.trial.split]
        y = problem.y[:, test]
        each = np.logaddexp(0, raw) - y * raw if binary else (raw - y) ** 2
        np.testing.assert_allclose(losses[place], each.mean(axis=0), rtol=1e-5)
        user = expit(raw).T if binary else problem.y_scale.undo(raw.T)
        np.testing.assert_allclose(predicted[place], user, rtol=1e-5)
        if binary:
            assert scores.error[place] == pytest.approx(losses[place].mean())
        else:
            given = problem.y_scale.undo(y.T.astype(float))
            assert scores.error[place] == pytest.approx(((user - given) ** 2).mean(), rel=1e-5)


@pytest.mark.parametrize("binary", [False, True])
def test_refit_stands_on_the_offset(binary):
    data = confounded(binary, samples=600)
    problem = make_problem(data)
    empty = nx.DiGraph()
    empty.add_nodes_from(data.inputs, role="input")
    empty.add_nodes_from(data.outputs, role="output")
    found = refit_graph(empty, problem, data.inputs, data.outputs)
    rows = problem.test
    for s in range(2):
        raw = problem.adjustment.offset[s][:, rows].astype(float)
        y = problem.y[:, rows]
        alone = np.logaddexp(0, raw) - y * raw if binary else (raw - y) ** 2
        assert found.test_losses[s].mean() == pytest.approx(alone.mean(), rel=0.05)
    bare = refit_graph(empty, replace(problem, adjustment=None), data.inputs, data.outputs)
    assert found.test_loss < 0.9 * bare.test_loss


def test_slopes_of_networks_do_not_depend_on_the_offset():
    """An output that is a number is the network's and the offset's sum."""
    problem = make_problem(confounded())
    nets = run_search(problem, trials_alike(2), CPU)
    own = [net for net in nets if net.trial.split == 0]
    here, bare = (move(own, 0, p) for p in (problem, replace(problem, adjustment=None)))
    assert here.shape == (4, 3)
    np.testing.assert_allclose(here, bare, atol=1e-6)


def test_null_keeps_what_covariates_do():
    data = confounded()
    changed = permute_outputs(data, np.random.default_rng(3))
    assert (changed.covariates.numbers == data.covariates.numbers).all()
    assert (changed.x == data.x).all()
    assert (changed.y != data.y).any()
    for level in data.covariates.numbers.T:
        for mine, theirs in zip(changed.y[level == 1].T, data.y[level == 1].T, strict=True):
            assert sorted(mine) == sorted(theirs)
    decoyed, _ = add_decoys(data, np.random.default_rng(4))
    level = data.covariates.numbers[:, 0] == 1
    assert (decoyed.x[level, 4:].mean(axis=0) == data.x[level].mean(axis=0)).all()
    found = fit_round(data, RunSettings(trials=2, epochs=2, bootstraps=3), CPU, 0, fit=fit_data)
    assert found.inputs == 4


def test_numbers_go_with_their_rows_of_y():
    data = small_data()
    age = np.arange(200.0)
    coded, _ = code_covariates(CovariateTable({"age": age}))
    changed = permute_outputs(replace(data, covariates=coded), np.random.default_rng(5))
    order = changed.covariates.numbers[:, 0].argsort()
    assert (changed.y[order] == data.y).all()
    assert (changed.covariates.numbers != coded.numbers).any()


@pytest.mark.parametrize("strategy", ["dm", "dbn", "esc", "regression"])
def test_other_strategies_refuse_covariates(strategy):
    with pytest.raises(InputError, match=f"but the strategy is '{strategy}'; leave them out"):
        plan_run(confounded(True), RunSettings(strategy=strategy))


def test_estimators_take_covariates():
    X, Y, Z = frames()
    shuffled = Z.sample(frac=1, random_state=0)
    model = RINN(trials=4, epochs=10, bootstraps=3, device="cpu").fit(X, Y, covariates=shuffled)
    bare = RINN(trials=4, epochs=10, bootstraps=3, device="cpu").fit(X, Y)
    assert [coding.name for coding in model.covariates_] == ["tissue", "age"]
    assert model.score(X, Y, covariates=Z) > bare.score(X, Y) + 0.1
    # Where the inputs are the same, predictions differ by what the tissues do.
    b, c = (model.predict(X, covariates=Z.assign(tissue=t, age=60)).mean(axis=None) for t in "bc")
    assert b - c == pytest.approx(3.0, abs=0.5)
    assert model.transform(X).shape == (240, len(model.latents_))
    few = X.iloc[:5]
    np.testing.assert_allclose(
        model.predict(few.reset_index(drop=True), covariates=Z.iloc[:5].reset_index(drop=True)),
        model.predict(few, covariates=Z),
    )
    with pytest.raises(InputError, match="must be given, because fit had 'tissue', 'age'"):
        model.predict(X)
    with pytest.raises(InputError, match="must not be given where fit had none"):
        bare.predict(X, covariates=Z)
    with pytest.raises(InputError, match="but row 1 has 'z'"):
        model.predict(X, covariates=Z.assign(tissue="z"))


def fit(folder, out, *more):
    words = ["fit", folder / "x.csv", folder / "y.csv", "--out", out, "--trials", "4"]
    return run([str(w) for w in (*words, "--epochs", "5", "--device", "cpu", *more)])


def test_command_line(files, capsys):
    out = files / "run"
    assert fit(files, out, "--covariates", files / "z.csv", "--null", "1") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Covariates alone (tissue, age) explain" in shown
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["tables"]["covariates"] == "z.csv"
    assert manifest["covariates"]["names"] == ["tissue", "age"]
    assert "among samples with the same tissue." in manifest["null"]["sentence"]
    assert 0.3 < manifest["covariates"]["fraction"] < 1
    assert "--covariates" in manifest["command"]
    table = pd.read_csv(out / "covariates.csv", keep_default_na=False)
    assert list(table) == [
        "output", "covariate", "level", "reference", "coefficient", "standard_error",
    ]  # fmt: skip
    assert len(table) == 3 * 4
    reference = table[table["covariate"] == "tissue"]["reference"].iloc[0]
    for level, shift in {"a": 0.0, "b": 2.0, "c": -1.0}.items():
        if level != reference:
            rows = table[(table["covariate"] == "tissue") & (table["level"] == level)]
            base = {"a": 0.0, "b": 2.0, "c": -1.0}[reference]
            far = (rows["coefficient"] - (shift - base)) / rows["standard_error"]
            assert far.abs().max() < 4
    _, notes = load_kept(out / "weights.safetensors")
    assert np.shape(notes["covariates"]["coefficients"]) == (2, 4, 3)
    assert [coding["name"] for coding in notes["covariates"]["codings"]] == ["tissue", "age"]


def test_covariates_belong_to_the_run(files, capsys):
    out = files / "run"
    assert fit(files, out, "--covariates", files / "z.csv") == 0
    assert fit(files, out, "--covariates", files / "z.csv") == 0
    capsys.readouterr()
    assert fit(files, out) == 2
    assert "data (covariates)" in " ".join(capsys.readouterr().err.split())
    _, _, Z = frames(seed=9)
    Z.to_csv(files / "other.csv", index_label="sample")
    assert fit(files, out, "--covariates", files / "other.csv") == 2
    assert "data (covariates)" in " ".join(capsys.readouterr().err.split())


def test_command_line_refuses_covariates_it_cannot_use(files, capsys):
    out = files / "run"
    assert fit(files, out, "--covariates", files / "none.csv") == 2
    assert fit(files, out, "--covariates", files / "z.csv", "--strategy", "esc") == 2
    assert "the strategy is 'esc'" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


@pytest.mark.parametrize("effects", ["regression", pytest.param("auto", marks=pytest.mark.slow)])
def test_tissue_alone_draws_no_edge(effects):
    """No input acts on any output; both follow the tissue, as continuous expression may."""
    rng = np.random.default_rng(11)
    tissue = rng.integers(4, size=600)
    x = (rng.random((600, 12)) < rng.beta(0.5, 0.8, (4, 12))[tissue]).astype(float)
    y = 1.5 * rng.normal(size=(4, 8))[tissue] + rng.normal(size=(600, 8))
    settings = RunSettings(trials=16, epochs=400, effects=effects)
    names = np.array([f"t{k}" for k in tissue])
    adjusted = fit_data(as_data(x, y, covariates=names), settings, CPU, refit=False)
    assert adjusted.latent.graph.number_of_edges() == 0
    bare = fit_data(as_data(x, y), settings, CPU, refit=False)
    assert bare.latent.graph.number_of_edges() > 5
