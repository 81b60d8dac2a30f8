"""What-ifs of runs in which covariates act on the outputs beside the graph."""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest

from linear_run import make_table, write_linear_run
from rinn.cli import run
from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.errors import InputError
from rinn.nets.predict import predict_samples
from rinn.pipeline import fit_data
from rinn.refit.intervene import predict_do
from rinn.refit.model import run_changed, run_model
from rinn.refit.samples import find_activity
from rinn.runs.model import load_model

SAMPLES = 300


def write_tables(folder, binary):
    """Tables whose outputs also follow a tissue, with ids, the covariates in another order."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (SAMPLES, 4))
    tissue = rng.choice(["a", "b", "c"], SAMPLES)
    y = 4.0 * np.repeat(x[:, [0, 2]] | x[:, [1, 3]], 3, axis=1) - 3.0
    y += 2.0 * (tissue == "b")[:, None] - 1.0 * (tissue == "c")[:, None]
    y = y + rng.normal(size=y.shape)
    y = (y > 0).astype(int) if binary else y
    index = pd.Index([f"s{n}" for n in range(SAMPLES)], name="sample")
    pd.DataFrame(x, index, ["p", "q", "r", "s"]).to_csv(folder / "x.csv")
    pd.DataFrame(y, index, [f"y{n}" for n in range(6)]).to_csv(folder / "y.csv")
    z = pd.DataFrame({"tissue": tissue, "age": rng.normal(60, 9, SAMPLES)}, index)
    z.iloc[::-1].to_csv(folder / "z.csv")


def fit(folder):
    words = ["fit", folder / "x.csv", folder / "y.csv", "--covariates", folder / "z.csv"]
    words += [
        "--out",
        folder / "run",
        "--trials",
        8,
        "--epochs",
        150,
        "--bootstraps",
        3,
        "--effects",
        "corrected",
    ]
    words += ["--device", "cpu", "--quiet"]
    assert run([str(word) for word in words]) == 0


@pytest.fixture(scope="module", params=[False, True], ids=["mse", "bce"])
def fitted(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adjusted")
    write_tables(folder, request.param)
    fit(folder)
    return folder


@pytest.fixture(scope="module")
def in_memory(fitted):
    data = load_data(fitted / "x.csv", fitted / "y.csv", fitted / "z.csv")
    settings = RunSettings(trials=8, epochs=150, bootstraps=3, effects="corrected")
    return fit_data(data, settings, jax.devices("cpu")[:1])


def ask(folder, **question):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return predict_do(load_model(folder / "run"), folder / "x.csv", **question)


def test_before_and_after_are_what_the_model_in_memory_predicts(fitted, in_memory):
    problem, models = in_memory.problem, in_memory.refit.models
    name = in_memory.data.inputs[0]
    found = ask(fitted, inputs={name: 1.5}, covariates=fitted / "z.csv")
    value = (1.5 - problem.x_scale.mean[0]) / problem.x_scale.std[0]
    sides = []
    for own, offset in zip(models, problem.adjustment.offset, strict=True):
        values = run_model(own, problem.x)
        moved = run_changed(own, values, {name: np.full(SAMPLES, value)})
        raw = [np.stack([side[o] for o in own.outputs]) for side in (values, moved)]
        sides.append([problem.likelihood.to_units((one + offset).T) for one in raw])
    before, after = np.mean(sides, axis=0)  # [sample, output]
    np.testing.assert_allclose(found.before, before.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.after, after.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.by_sample, after - before, atol=1e-5)
    assert np.abs(found.change).max() > 0.1  # there is something to compare


def test_free_networks_stand_on_the_offset_of_their_split(fitted, in_memory):
    problem, nets = in_memory.problem, in_memory.kept
    assert {net.trial.split for net in nets} == {0, 1}
    name = in_memory.data.inputs[1]
    found = ask(fitted, inputs={name: 0.0}, covariates=fitted / "z.csv")
    x = problem.x.astype(np.float64)
    other = x.copy()
    other[1] = (0.0 - problem.x_scale.mean[1]) / problem.x_scale.std[1]
    old, new = (
        predict_samples(nets, values, problem.likelihood, problem.adjustment.offset)
        for values in (x, other)
    )
    expected = (new - old).mean(axis=(0, 1))
    np.testing.assert_allclose(found.free_change, expected, atol=1e-5)


def test_without_covariates(fitted):
    model = load_model(fitted / "run")
    question = {"inputs": {model.inputs[0]: 1.0}}
    if model.loss == "bce":
        with pytest.raises(InputError, match=r"--covariates must be given .* 'tissue', 'age'"):
            ask(fitted, **question)
        return
    bare, whole = ask(fitted, **question), ask(fitted, **question, covariates=fitted / "z.csv")
    np.testing.assert_allclose(bare.change, whole.change, atol=1e-9)
    np.testing.assert_allclose(bare.free_change, whole.free_change, atol=1e-6)
    assert np.abs(bare.before - whole.before).max() > 0.1
    said = next(words for words in bare.warnings if "before and after" in words)
    assert "'age' at its mean" in said
    assert not any("before and after" in words for words in whole.warnings)


def test_changes_of_probabilities_depend_on_the_tissue(fitted):
    model = load_model(fitted / "run")
    z = pd.read_csv(fitted / "z.csv", index_col="sample")
    question = {"latents": {model.latents[0]: 1.0}}
    changes = [
        ask(fitted, **question, covariates=z.assign(tissue=level)).size for level in ("a", "b")
    ]
    same = np.allclose(*changes, atol=1e-9)
    assert same == (model.loss == "mse")


def test_activity_needs_no_covariates(fitted, in_memory):
    found = find_activity(load_model(fitted / "run"), fitted / "x.csv")
    np.testing.assert_allclose(found.to_numpy(), in_memory.refit.latent_values, atol=1e-5)


def call(*words):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run([str(word) for word in words])
    return code, said.getvalue()


def test_command_line(fitted, tmp_path):
    model = load_model(fitted / "run")
    words = ["whatif", fitted / "run", fitted / "x.csv", "--do", f"{model.inputs[0]}=1"]
    out = tmp_path / "change.csv"
    more = ["--covariates", fitted / "z.csv", "--sample", "s3", "--sample", "s5", "--out", out]
    code, said = call(*words, *more)
    assert code == 0, said
    table = pd.read_csv(out, index_col="output")
    x = pd.read_csv(fitted / "x.csv", index_col="sample").loc[["s3", "s5"]]
    z = pd.read_csv(fitted / "z.csv", index_col="sample")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = predict_do(model, x, inputs={model.inputs[0]: 1}, covariates=z)
    np.testing.assert_allclose(table["before"], found.before, atol=1e-9)
    code, said = call(*words)
    assert code == (2 if model.loss == "bce" else 0)
    assert call("activity", fitted / "run", fitted / "x.csv", "--out", tmp_path / "a.csv")[0] == 0


CODING = {"name": "tissue", "levels": ["lung", "skin"], "mean": 0.0, "std": 1.0}


class TestByHand:
    """A linear run with a tissue that lifts y0 by 2 and 3 of its spreads in the two models."""

    def write(self, folder, **changes):
        level = [[[1.0, 0, 0, 0], [lift, 0, 0, 0]] for lift in (2.0, 3.0)]
        notes = {"codings": [CODING], "coefficients": level} | changes
        return write_linear_run(folder / "run", notes={"covariates": notes})

    @pytest.fixture
    def model(self, tmp_path):
        return load_model(self.write(tmp_path))

    def ask(self, model, tissue, **question):
        return predict_do(model, make_table(), inputs={"A": 1}, covariates=tissue).to_frame()

    def test_levels_lift_before_and_after_alike(self, model):
        bare = predict_do(load_model_without(model), make_table(), inputs={"A": 1}).to_frame()
        lung, skin = (self.ask(model, pd.Series([t] * 8, name="tissue")) for t in ("lung", "skin"))
        # One spread of y0 is 10: the intercept adds 10, skin 20 and 30.
        for side in ("before", "after"):
            assert lung.loc["y0", side] - bare.loc["y0", side] == pytest.approx(10.0)
            assert skin.loc["y0", side] - lung.loc["y0", side] == pytest.approx(25.0)
            assert skin.loc["y1", side] == pytest.approx(bare.loc["y1", side])
        assert skin["change"].tolist() == pytest.approx(bare["change"].tolist())

    def test_half_of_the_samples(self, model):
        names = make_table().index
        tissue = pd.Series(["skin"] * 4 + ["lung"] * 4, index=names[::-1], name="tissue")
        found = self.ask(model, tissue)
        lung = self.ask(model, pd.Series(["lung"] * 8, name="tissue"))
        assert found.loc["y0", "before"] - lung.loc["y0", "before"] == pytest.approx(12.5)

    @pytest.mark.parametrize(
        ("table", "said"),
        [
            (pd.Series(["skin"] * 7, name="tissue"), "have 7 and X has 8; give each row"),
            (pd.Series(["skin"] * 8, name="tisue"), "must have the column 'tissue'"),
            (pd.Series(["bone"] * 8, name="tissue"), "levels that the networks were trained with"),
            (
                pd.Series(["skin"] * 2, index=["s0", "s9"], name="tissue"),
                "none for 's1', 's2', 's3' and 4 more",
            ),
        ],
    )
    def test_wrong_tables(self, model, table, said):
        with pytest.raises(InputError, match=said):
            self.ask(model, table)

    def test_covariates_that_the_run_does_not_have(self, tmp_path):
        model = load_model(write_linear_run(tmp_path / "run"))
        with pytest.raises(InputError, match="RUN was fitted without any"):
            self.ask(model, pd.Series(["skin"] * 8, name="tissue"))

    def test_only_chosen_samples_need_covariates(self, tmp_path):
        folder = self.write(tmp_path)
        make_table().to_csv(tmp_path / "x.csv", index_label="sample")
        (tmp_path / "z.csv").write_text("sample,tissue\ns3,skin\n")
        words = ["whatif", folder, tmp_path / "x.csv", "--do", "A=1", "--sample", "s3"]
        code, said = call(*words, "--covariates", tmp_path / "z.csv")
        assert code == 0, said
        code, said = call(*words[:-1], "s4", "--covariates", tmp_path / "z.csv")
        assert code == 2
        assert "none for 's4'" in said

    @pytest.mark.parametrize(
        "changes",
        [
            {"coefficients": [[[1.0] * 4] * 2]},
            {"coefficients": [[[1.0] * 4] * 3] * 2},
            {"coefficients": [[[float("nan")] * 4] * 2] * 2},
            {"codings": [{"name": "tissue"}]},
            {"codings": [CODING | {"levels": [], "std": 0.0}]},
            {"codings": 3},
        ],
    )
    def test_damaged_notes(self, tmp_path, changes):
        with pytest.raises(InputError, match=r"weights\.safetensors in .* is missing or damaged"):
            load_model(self.write(tmp_path, **changes))


def load_model_without(model):
    return replace(model, offsets=None)
