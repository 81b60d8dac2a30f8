"""Poor tables are warned of, on the terminal and in the report."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rinn.cli import run
from rinn.config import RunSettings
from rinn.data.align import _drop_copies, as_data
from rinn.data.problem import make_problem
from rinn.data.scaling import find_limits
from rinn.data.warnings import find_warnings, warn_of_size
from rinn.estimators.strategies import RINN
from rinn.fit import fit_run


@pytest.mark.parametrize(
    ("samples", "inputs", "words"),
    [
        (84, 14, "84 samples are few (fewer than 200)"),
        (84, 306, "84 samples are fewer than the 306 inputs"),
        (500, 634, "500 samples are fewer than the 634 inputs"),
        (199, 3, "199 samples are few"),
    ],
)
def test_few_samples_are_warned_of(samples, inputs, words):
    warned = warn_of_size(samples, inputs)
    assert words in warned
    assert warned.startswith("Small data: ")
    assert warned.endswith(".")


@pytest.mark.parametrize(("samples", "inputs"), [(200, 14), (634, 634), (5000, 634)])
def test_enough_samples_are_not(samples, inputs):
    assert warn_of_size(samples, inputs) is None


def test_a_fit_says_it_on_the_terminal_and_in_the_report(tmp_path, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(0, 2, (80, 2)), columns=["a", "b"]).to_csv(
        tmp_path / "x.csv", index=False
    )
    pd.DataFrame(rng.normal(size=(80, 3)), columns=list("vwx")).to_csv(
        tmp_path / "y.csv", index=False
    )
    words = ["fit", f"{tmp_path / 'x.csv'}", f"{tmp_path / 'y.csv'}", "--out", f"{tmp_path / 'r'}"]
    words += ["--bootstraps", "3", "--device", "cpu"]
    assert run([*words, "--trials", "4", "--epochs", "2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Small data: 80 samples are few" in said
    page = tmp_path / "r" / "report.html"
    assert '<p class="careful">Small data: 80 samples are few' in page.read_text()
    assert "Few networks" not in said  # effects are a regression's
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert [sentence.split(":")[0] for sentence in manifest["warnings"]] == ["Small data"]
    del manifest["warnings"]
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest))
    assert run(["report", f"{tmp_path / 'r'}"]) == 0
    assert "Small data" not in page.read_text()


@pytest.mark.parametrize("effects", ["network", "corrected"])
def test_few_networks_are_named_where_effects_are_theirs(tmp_path, effects):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(0, 2, (80, 2))).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame(rng.normal(size=(80, 3))).to_csv(tmp_path / "y.csv", index=False)
    settings = RunSettings(trials=4, epochs=2, bootstraps=3, effects=effects)
    paths = tmp_path / "x.csv", tmp_path / "y.csv", tmp_path / "r"
    fit_run(*paths, settings, device="cpu", quiet=True)
    words = "Few networks: 4 networks cannot support a graph, so no edge is reported"
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest["warnings"][1].startswith(words)
    page = (tmp_path / "r" / "report.html").read_text()
    assert f'<p class="careful">{words}' in page


def make_data(samples=300, **columns):
    """Two ordinary inputs, further ones, and three outputs without any effect."""
    rng = np.random.default_rng(0)
    x = {"a": rng.integers(0, 2, samples), "b": rng.normal(size=samples), **columns}
    return as_data(
        pd.DataFrame(x), pd.DataFrame(rng.normal(size=(samples, 3)), columns=list("uvw"))
    )


def find_heads(data, networks=None):
    return [sentence.split(":")[0] for sentence in find_warnings(data, networks)]


def test_clean_tables_have_no_cautions():
    assert find_warnings(make_data(), 128) == ()


@pytest.mark.parametrize(
    ("networks", "words"),
    [
        (1, "Few networks: 1 network cannot support a graph"),
        (7, "7 networks cannot support a graph, so no edge is reported; train at least 16"),
        (8, "with 8 networks edges may be missing or wrong"),
        (15, "with 15 networks edges may"),
    ],
)
def test_few_networks_are_warned_of(networks, words):
    assert words in find_warnings(make_data(), networks)[0]
    assert find_warnings(make_data(), 16) == ()


def test_rare_inputs_are_named():
    rare = np.arange(300) < 4
    assert find_warnings(make_data(rare=rare)) == (
        "Rare inputs: 1 of 3 has fewer than 10 samples with its rarer value, such as 'rare' (4); "
        "its effects can hardly be distinguished from chance.",
    )
    both = find_warnings(make_data(rare=rare, common=~(np.arange(300) < 3)))
    assert (
        "2 of 4 have fewer than 10 samples with their rarer value, such as 'common' (3)" in both[0]
    )
    assert find_heads(make_data(enough=np.arange(300) < 10)) == []


def test_a_sentinel_is_named_and_limited():
    data = make_data()
    data.y[17] = 1e9
    (words,) = find_warnings(data)
    assert words.startswith(
        "Extreme values: 3 values of Y, such as 1e+09 in 'u' (row 18), are more"
    )
    assert np.abs(make_problem(data).y).max() < 12


def test_extreme_inputs_are_named_by_sample():
    x = np.random.default_rng(1).normal(size=300)
    x[5] = -1e30
    data = replace(make_data(c=x), samples=tuple(f"s{row}" for row in range(300)))
    words = find_warnings(data)[0]
    assert "1 value of X, such as -1e+30 in 'c' (sample 's5'), is more than 10 robust" in words
    assert "left as they are and dominate the fit" in words


@pytest.mark.parametrize("carriers", [3, 20, 60])
def test_rare_values_are_not_extreme(carriers):
    """Of 0/1 and of doses, however rare."""
    dose = np.zeros(1000)
    dose[:carriers], dose[0] = 1, 2
    rng = np.random.default_rng(0)
    data = as_data(
        pd.DataFrame({"a": dose, "b": dose > 0, "c": rng.normal(size=1000)}),
        pd.DataFrame({"u": rng.normal(size=1000), "v": np.arange(1000) < carriers}),
    )
    assert "Extreme values" not in find_heads(data)


def test_an_output_with_few_values_leaves_the_limits_of_others_alone():
    values = np.random.default_rng(0).normal(size=(1000, 2))
    values[12:, 1] = np.nan
    low, high = find_limits(values)
    assert high[0] == pytest.approx(10, rel=0.1)
    assert low[0] == pytest.approx(-10, rel=0.1)


def test_repeated_codes_are_named():
    x = np.random.default_rng(1).normal(size=300)
    x[:30] = -999
    (words,) = find_warnings(make_data(c=x))
    assert words.startswith("Codes: 1 column of X, such as 'c', repeats a value (-999) that is far")
    assert "leave these cells empty" in words


def test_nearly_equal_inputs_are_named():
    x = np.random.default_rng(1).normal(size=300)
    near = x + 0.01 * np.random.default_rng(2).normal(size=300)
    (words,) = find_warnings(make_data(c=x, d=near))
    assert words.startswith("Similar inputs: 1 pair, such as 'c' and 'd', correlate by more than")


def test_inputs_that_add_up_to_a_constant_are_named():
    level = np.arange(300) % 3
    parts = {f"is{k}": (level == k).astype(float) for k in range(3)}
    (words,) = find_warnings(make_data(**parts))
    assert words.startswith("Dependent inputs: 'is0', 'is1', 'is2' add up to a constant")
    many = np.eye(450)[np.arange(9000) % 450]
    data = as_data(many, np.random.default_rng(0).normal(size=(9000, 1)))
    assert "Dependent inputs: 'x0', 'x1', 'x2' and 447 more add up" in find_warnings(data)[-1]


def test_copies_are_left_out_and_named():
    x = np.random.default_rng(1).integers(0, 2, 300)
    data = make_data(c=x, same=x, turned=1 - x, scaled=3.0 * x + 7)
    assert data.inputs == ("a", "b", "c")
    reasons = {entry.name: entry.reason for entry in data.dropped}
    assert reasons == {
        "same": "it is the same as 'c'; edges of 'c' are those of both",
        "turned": "it is 'c' in other units or with another sign; edges of 'c' are those of both",
        "scaled": "it is 'c' in other units or with another sign; edges of 'c' are those of both",
    }


def test_common_outliers_make_no_copies():
    values = np.random.default_rng(1).normal(size=(300, 3))
    values[7] = 1e12
    assert _drop_copies(values, tuple("abc"))[2] == []


@pytest.mark.parametrize(("scale", "shift"), [(0.7, 0.1), (-0.3, 0.3), (-1.0, 1.0), (1e-3, 5.0)])
def test_copies_in_other_units_are_found(scale, shift):
    x = np.random.default_rng(1).integers(0, 2, 300).astype(float)
    values = np.column_stack([x, scale * x + shift])
    assert [each.name for each in _drop_copies(values, ("a", "b"))[2]] == ["b"]


def test_a_copy_whose_name_an_output_has_too():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "c"]).assign(b=lambda t: -2 * t["a"])
    y = pd.DataFrame(rng.normal(size=(80, 2)), columns=["b", "d"])
    assert [entry.name for entry in as_data(x, y).dropped] == ["b"]
    model = RINN(trials=2, epochs=1, bootstraps=3, device="cpu").fit(x, y)
    assert model.predict(x).shape == (80, 2)
    heads = [sentence.split(":")[0] for sentence in model.warnings_]
    assert heads == ["Small data"]  # effects are a regression's: networks need not be many


def test_predictions_keep_the_coding_of_outputs():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (80, 2)), rng.integers(0, 2, (80, 2))
    plain, coded = (
        RINN(trials=2, epochs=1, bootstraps=3, device="cpu").fit(x, z) for z in (y, 2 * y - 1)
    )
    np.testing.assert_allclose(coded.predict(x), 2 * plain.predict(x) - 1)


def test_columns_that_nearly_agree_are_no_copies():
    x = np.random.default_rng(1).integers(0, 2, 300)
    other = x.copy()
    other[7] = 1 - other[7]
    assert make_data(c=x, other=other).inputs == ("a", "b", "c", "other")


@pytest.mark.parametrize("pair", [(1, 2), (-1, 1), (0, 100)])
def test_outputs_of_one_and_two_are_read_as_zero_and_one(pair):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, (200, 2)), rng.integers(0, 2, (200, 3))
    low, high = pair
    plain, coded = as_data(x, y), as_data(low + (high - low) * x, low + (high - low) * y)
    np.testing.assert_array_equal(coded.y, y)
    assert find_warnings(coded) == (
        f"Coding: all outputs are {low} or {high}, and are read as 0 and 1.",
    )
    one, other = make_problem(plain), make_problem(coded)
    assert one.loss == other.loss == "bce"
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.y, other.y)


def test_outputs_whose_kind_is_given_are_not_recoded():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, (200, 2)), 1 + rng.integers(0, 2, (200, 3))
    told = as_data(x, y, kinds=dict.fromkeys(["y0", "y1", "y2"], "number"))
    np.testing.assert_array_equal(told.y, y)
    assert told.notes == ()
