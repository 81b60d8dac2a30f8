"""Inputs that act alike."""

from __future__ import annotations

import numpy as np
import pytest

from linear_run import write_linear_run
from rinn.errors import InputError
from rinn.runs.read import load_effects
from rinn.structure.similarity import compare_inputs


@pytest.fixture
def run(tmp_path):
    return write_linear_run(tmp_path / "run")


def test_cosines_by_hand():
    effects = np.array([[30.0, 0.0, 0.0], [0.0, 40.0, 0.0], [-50.0, -50.0, 0.0]])
    found = compare_inputs(effects, ["a", "b", "c"])
    half = -np.sqrt(0.5)
    assert found.cosine == pytest.approx(np.array([[1, 0, half], [0, 1, half], [half, half, 1]]))
    assert found.acts.all()


def test_strength_does_not_count():
    rng = np.random.default_rng(0)
    effects = 20 * rng.normal(size=(5, 12))
    one, other = (compare_inputs(e, "abcde").cosine for e in (effects, effects * 3))
    assert one == pytest.approx(other)


def test_an_input_without_effect_has_no_cosine():
    rng = np.random.default_rng(1)
    effects = np.vstack([15 + rng.normal(size=(3, 20)), rng.normal(size=(5, 20))])
    found = compare_inputs(effects, [f"x{number}" for number in range(8)])
    assert found.acts.tolist() == [True] * 3 + [False] * 5
    assert np.isnan(found.cosine[3:]).all()
    assert np.isnan(found.cosine[:, 3:]).all()
    assert found.list_nearest("x0")["input"].tolist() in (["x1", "x2"], ["x2", "x1"])
    assert found.list_nearest("x5").empty


def test_noise_alone_seldom_acts():
    rng = np.random.default_rng(2)
    counts = [compare_inputs(rng.normal(size=(16, 16)), range(16)).acts.sum() for _ in range(50)]
    assert np.mean(counts) < 1


def test_the_error_is_that_of_repeated_measurements():
    rng = np.random.default_rng(3)
    truth = np.array([[12.0, 9.0, 0, 0, 6, 0], [12.0, 0, 9.0, 6, 0, 0]])
    drawn = [compare_inputs(truth + rng.normal(size=truth.shape), "ab") for _ in range(300)]
    measured = np.std([found.cosine[0, 1] for found in drawn])
    said = np.mean([found.error[0, 1] for found in drawn])
    assert said == pytest.approx(measured, rel=0.25)


def test_a_run(run):
    effects, inputs = load_effects(run)
    found = compare_inputs(effects, inputs)
    assert inputs == ("A", "B", "TP53_x", "idle")
    assert found.acts.tolist() == [True, True, True, False]
    assert found.to_frame().loc["A", "B"] < -0.9
    assert found.to_frame().loc["idle"].isna().all()


def test_an_unknown_input(run):
    found = compare_inputs(*load_effects(run))
    with pytest.raises(InputError, match=r"got 'tp53'; did you mean 'TP53_x'\?"):
        found.list_nearest("tp53")


@pytest.mark.parametrize("effects", [np.zeros(3), np.zeros((2, 2)), np.full((3, 2), np.nan)])
def test_wrong_tables(effects):
    with pytest.raises(InputError, match="a row for each of the 3 inputs"):
        compare_inputs(effects, "abc")


def test_no_effects(run):
    (run / "effects.csv").unlink()
    with pytest.raises(InputError, match=r"has no effects\.csv"):
        load_effects(run)


def test_effects_of_another_run(run):
    path = run / "effects.csv"
    path.write_text(path.read_text().replace("idle", "ideal"))
    with pytest.raises(InputError, match=r"effects.csv .* is missing or damaged"):
        load_effects(run)
