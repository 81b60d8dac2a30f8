"""Reading a run folder: nothing but checked numbers comes out of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linear_run import FIRST, INPUTS, LATENTS, OUTPUTS, make_model, write_linear_run
from rinn.errors import InputError
from rinn.runs.model import load_model, load_models, read_model


@pytest.fixture
def run(tmp_path):
    return write_linear_run(tmp_path / "run")


def change_refit(run, change):
    path = run / "refit.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_what_is_read(run):
    model = load_model(run)
    assert (model.inputs, model.outputs, model.latents) == (INPUTS, OUTPUTS, LATENTS)
    assert model.loss == "mse"
    assert [net.trial.number for net in model.nets] == [0, 1]  # 7 was not kept
    assert ("A", "L1") in model.edges
    assert len(model.edges) == 8


def test_saved_equals_loaded(run):
    x = np.random.default_rng(0).normal(size=(4, 50))
    assert np.array_equal(load_model(run).models[0].predict(x), make_model(FIRST).predict(x))


def test_ranges(run):
    ranges = load_model(run).ranges
    assert ranges["A"].binary
    assert (ranges["A"].low, ranges["A"].mean, ranges["A"].high) == (0.0, 0.25, 1.0)
    assert not ranges["B"].binary
    assert (ranges["B"].min, ranges["B"].low, ranges["B"].high) == (3.0, 8.0, 12.0)
    assert ranges["L1"].min < ranges["L1"].low < ranges["L1"].high <= ranges["L1"].max
    assert ranges["B"].contains(17.0)
    assert not ranges["B"].contains(17.1)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("models"),
        lambda c: c.update(models=[]),
        lambda c: c.update(models=3),
        lambda c: c["models"][0].pop("y2"),
        lambda c: c["models"][0].update(A=c["models"][0]["L1"]),
        lambda c: c["models"][0]["L1"].update(parents=["A", "L2"]),
        lambda c: c["models"][0]["y0"].update(parents=["y0"]),
        lambda c: c["models"][0]["L1"].update(parents="none"),
        lambda c: c["models"][0]["L1"].update(weights=[1.0]),
        lambda c: c["models"][0]["L1"].update(weights=[1.0, "two"]),
        lambda c: c["models"][0]["L1"].update(weights=[[1.0], 2.0]),
        lambda c: c["models"][0]["L1"].update(weights=[1.0, 10**400]),
        lambda c: c["models"][0]["L1"].update(weights=[]),
        lambda c: c["models"][0]["L1"].update(bias=float("nan")),
        lambda c: c["models"][0]["L1"].update(bias=None),
        lambda c: c["models"][0]["L1"].update(bias=[]),
        lambda c: c["models"][0]["L1"].update(hidden=[[1.0, 2.0]]),
        lambda c: c["models"][0].update(L9=c["models"][0]["L1"]),
    ],
)
def test_a_hostile_refit(run, change):
    change_refit(run, change)
    with pytest.raises(InputError, match=r"refit\.json in .* is missing or damaged"):
        load_model(run)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\xff", "[1]", '"models"', "null"])
def test_a_refit_that_is_no_refit(run, content):
    (run / "refit.json").write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"refit\.json"):
        load_model(run)


def test_no_refit(run):
    (run / "refit.json").unlink()
    with pytest.raises(InputError, match="rinn, dnn and esc write it"):
        load_model(run)


def test_an_unfinished_run(tmp_path):
    folder = write_linear_run(tmp_path / "run", status="running")
    with pytest.raises(InputError, match="must be a finished run"):
        load_model(folder)


@pytest.mark.parametrize(
    "notes",
    [
        {"x_scaling_mean": [0.0]},
        {"y_scaling_std": [0.0] * 4},
        {"x_scaling_std": ["a"] * 4},
        {"x_min": None},
        {"x_mean": [float("inf")] * 4},
    ],
)
def test_damaged_scales(tmp_path, notes):
    folder = write_linear_run(tmp_path / "run", notes=notes)
    with pytest.raises(InputError, match=r"weights\.safetensors in .* is missing or damaged"):
        load_model(folder)


def test_a_loss_of_its_own(tmp_path):
    folder = write_linear_run(tmp_path / "run", notes={"loss": "poisson"})
    with pytest.raises(InputError, match=r"weights\.safetensors in .* is missing or damaged"):
        load_model(folder)


def test_outputs_of_several_kinds(tmp_path):
    kinds = ["number", "binary", "count", "number"]
    notes = {"loss": "mixed", "kinds": kinds, "y_top": [0.0, 0.0, 2.0, 0.0]}
    notes |= {"y_scaling_mean": [100.0, 0.2, 5.0, 0.0], "y_scaling_std": [10.0, 0.4, 2.0, 1.0]}
    model = load_model(write_linear_run(tmp_path / "run", notes=notes))
    # Close to the mean, one unit moves each output by one standard deviation.
    means, above = model.likelihood.to_units(np.array([[0.0] * 4, [0.01] * 4]))
    assert means.tolist() == pytest.approx([100.0, 0.2, 5.0, 0.0])
    assert (above - means).tolist() == pytest.approx([0.1, 0.004, 0.02, 0.01], rel=0.02)


@pytest.mark.parametrize(
    "wrong", [{"kinds": ["number"]}, {"kinds": ["number"] * 3 + ["text"]}, {"y_top": [0.0]}]
)
def test_damaged_kinds(tmp_path, wrong):
    notes = {"loss": "mixed", "kinds": ["number"] * 4, "y_top": [0.0] * 4} | wrong
    with pytest.raises(InputError, match=r"weights\.safetensors in .* is missing or damaged"):
        load_model(write_linear_run(tmp_path / "run", notes=notes))


@pytest.mark.parametrize("tables", [{}, {"inputs": [], "outputs": ["y"]}])
def test_a_manifest_without_names(tmp_path, tables):
    folder = write_linear_run(tmp_path / "run", tables=tables)
    with pytest.raises(InputError, match=r"has no readable manifest\.json"):
        load_model(folder)


def test_activity_of_other_latents(run):
    (run / "activity.csv").write_text("sample,L8\na,1\n")
    with pytest.raises(InputError, match=r"activity\.csv in .* is missing or damaged"):
        load_model(run)


def test_hidden_nodes_survive(tmp_path):
    """Shapes of a curved function with no, one and two parents."""
    own = {"bias": 1.0, "output_weights": [0.5, 1.0], "hidden_bias": [0.1, -0.2]}
    for count in (0, 1, 2):
        parents = ["A", "B"][:count]
        plain = own | {"parents": parents, "weights": [1.0] * count}
        plain |= {"hidden": [[2.0] * count, [1.0] * count]}
        path = tmp_path / "refit.json"
        path.write_text(json.dumps({"models": [{"y": plain}]}))
        (model,) = load_models(path, ["A", "B"], ["y"])
        expected = 1 + count + 0.5 * np.tanh(2 * count + 0.1) + np.tanh(count - 0.2)
        assert model.predict(np.ones((2, 1)))[0, 0] == pytest.approx(expected)


def test_reading_leaves_its_argument(run):
    plain = make_model(FIRST).to_json()
    before = json.dumps(plain)
    read_model(plain, INPUTS, OUTPUTS)
    assert json.dumps(plain) == before
