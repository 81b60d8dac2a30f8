"""The commands `activity`, `whatif` and `similar`, on a run written by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from linear_run import make_table, write_linear_run
from rinn.cli.use import _show_change
from rinn.data.likelihoods import Likelihood
from rinn.data.scaling import Standardizer
from rinn.refit.intervene import Prediction


class TestActivity:
    def test_it_equals_what_the_run_wrote(self, place, call):
        shown = call("activity", place / "run", place / "x.csv", "--out", place / "out.csv")
        found = pd.read_csv(place / "out.csv")
        run = pd.read_csv(place / "run" / "activity.csv")
        pd.testing.assert_frame_equal(found, run, atol=6e-5)
        assert "2 latents in 8 samples" in shown.out

    def test_new_samples(self, place, call):
        pd.DataFrame({"A": [1], "B": [30], "TP53": [1], "idle": [0]}).to_csv(
            place / "new.csv", index=False
        )
        shown = call("activity", place / "run", place / "new.csv", "--out", place / "out.csv")
        assert pd.read_csv(place / "out.csv").to_dict("list") == {
            "sample": [1],
            "L1": [8.0],
            "L2": [-5.0],
        }
        assert "warning: X has values that the run's own table did not have" in shown.err

    def test_a_table_without_an_input(self, place, refuse):
        make_table().drop(columns="A").to_csv(place / "x.csv", index_label="sample")
        words = "activity", place / "run", place / "x.csv", "--out", place / "out.csv"
        assert "lacks 'A'" in refuse(*words)
        assert not (place / "out.csv").exists()


class TestWhatif:
    def test_a_table(self, place, call):
        shown = call(
            "whatif", place / "run", place / "x.csv", "--do", "A=1", "--out", place / "out.csv"
        )
        found = pd.read_csv(place / "out.csv", index_col="output")
        assert found["change"].tolist() == pytest.approx([5.625, 2.25, -4.5, 2.25])
        assert "free_change" in found
        assert "mean over 8 samples" in shown.out
        assert re.search(r"y0 .*102 .*108 .*5\.6", shown.out)

    def test_one_sample(self, place, call):
        words = "whatif", place / "run", place / "x.csv", "--sample", "s2", "--do", "A=1"
        shown = call(*words, "--out", place / "out.csv")
        found = pd.read_csv(place / "out.csv", index_col="output")
        assert found["change"]["y1"] == pytest.approx(3.0)
        assert "sample s2" in shown.out

    def test_latents_and_edges(self, place, call):
        words = "whatif", place / "run", place / "x.csv", "--do", "L1=high"
        call(*words, "--without", "L1:y1", "--out", place / "out.csv")
        found = pd.read_csv(place / "out.csv", index_col="output")
        assert found["change"]["y1"] == 0.0
        assert found["change"]["y0"] > 0
        assert "free_change" not in found

    def test_nothing_changes(self, place, call):
        words = "whatif", place / "run", place / "x.csv", "--do", "A=1", "--without", "A:L1"
        assert call(*words).out == "no output changes\n"

    def test_without_a_file(self, place, call):
        before = sorted(place.iterdir())
        assert call("whatif", place / "run", place / "x.csv", "--do", "B=99").err.startswith(
            "warning: 'B' = 99 lies outside"
        )
        assert sorted(place.iterdir()) == before

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ((), "nothing was given"),
            (("--do", "A"), "NAME=VALUE, got 'A'"),
            (("--do", "=1"), "NAME=VALUE, got '=1'"),
            (("--do", "A=much"), "a number, or low, mean or high, got 'much'"),
            (("--do", "A=nan"), "a number, or low, mean or high, got 'nan'"),
            (("--do", "A=inf"), "must be finite"),
            (("--do", "tp53=1"), "did you mean 'TP53_x'"),
            (("--do", "y0=1"), "is an output; outputs are predicted"),
            (("--do", "A=1", "--do", "A=0"), "got 'A' twice"),
            (("--without", "L1:y9"), "did you mean 'L1:y"),
            (("--without", "L1"), "must be SOURCE:TARGET"),
            (("--do", "A=1", "--sample", "s9"), "sample must be in X, got 's9'; did you mean"),
        ],
    )
    def test_wrong_words(self, place, refuse, words, said):
        assert said in refuse("whatif", place / "run", place / "x.csv", *words)


class TestWhatifOfSeveralKinds:
    """A count of millions and a probability: each is judged by its own spread."""

    KINDS = ("number", "binary", "count", "binary")

    def show(self, capsys, size, free_change, free_spread):
        spread = np.array([2.0, 0.5, 1e6, 0.4])
        likelihood = Likelihood("mixed", self.KINDS, Standardizer(np.ones(4), spread), np.ones(4))
        zero, size = np.zeros(4), np.array(size)
        found = Prediction(
            ("age", "relapse", "reads", "event"),
            *(zero, size, size, zero, size),
            *(np.array(free_change), np.array(free_spread)),
            by_sample=size[None],
            samples=("s1",),
        )
        _show_change(found, likelihood)
        return capsys.readouterr().out

    def test_the_max_changed_comes_first_in_standard_deviations(self, capsys):
        said = self.show(capsys, [1.0, 0.4, 1e5, 0.0], [1.0, 0.4, 1e5, 0.0], [0.1, 0.1, 1e4, 0.1])
        assert "units of Y, probability of a 1, mean count; sample s1" in " ".join(said.split())
        places = [said.index(f"│ {name}") for name in ("relapse", "age", "reads")]
        assert places == sorted(places)
        assert said.endswith("1 other output does not change\n")

    def test_a_chance_that_free_networks_move_is_not_hidden_by_a_large_count(self, capsys):
        said = self.show(capsys, [1.0, 0, 0, 0], [1.0, 0.3, 9e3, 0.2], [0.1, 0.01, 1.0, 0.15])
        assert "relapse" in said  # beyond its spread
        assert "reads" not in said  # beyond its spread, but a hundredth of a standard deviation
        assert "event" not in said  # within the spread of the networks


class TestSimilar:
    def test_all(self, place, call):
        shown = call("similar", place / "run", "--out", place / "out.csv")
        found = pd.read_csv(place / "out.csv", index_col="input")
        assert found.index.tolist() == found.columns.tolist() == ["A", "B", "TP53_x", "idle"]
        assert found.loc["A", "A"] == 1.0
        assert found.loc["idle"].isna().all()
        assert "idle: no effect on any output, nothing to compare" in shown.out
        assert re.search(r"^A: TP53_x -0\.\d\d ± 0\.\d\d, B -1\.00 ± 0\.\d\d$", shown.out, re.M)

    def test_one(self, place, call):
        shown = call("similar", place / "run", "--input", "B", "--out", place / "out.csv")
        found = pd.read_csv(place / "out.csv")
        assert found.columns.tolist() == ["input", "cosine", "error"]
        assert found["input"].tolist() == ["TP53_x", "A"]
        assert len(shown.out.splitlines()) == 2

    def test_unknown(self, place, refuse):
        assert "did you mean 'TP53_x'" in refuse("similar", place / "run", "--input", "tp53")


def test_names_with_signs_in_them(place, call, refuse):
    """Names hold = and : themselves; where that leaves two edges open, it is said."""
    for name in ("manifest.json", "refit.json"):
        path = place / "run" / name
        path.write_text(path.read_text().replace('"A"', '"A=1:b"'))
    table = make_table().rename(columns={"A": "A=1:b"})
    table.to_csv(place / "x.csv", index_label="sample")
    words = "whatif", place / "run", place / "x.csv", "--do", "A=1:b=1"
    assert "y0" in call(*words).out
    assert "no output changes" in call(*words, "--without", "A=1:b:L1").out
    assert "did you mean" in refuse(*words, "--without", "A=1:b:L2")


def test_two_edges_of_one_spelling(tmp_path, refuse):
    folder = write_linear_run(tmp_path / "run")
    for name in ("manifest.json", "refit.json"):
        path = folder / name
        text = path.read_text().replace('"A"', '"a"').replace('"TP53_x"', '"a:L1"')
        path.write_text(text.replace('"L1"', '"L1:L1"').replace('"L2"', '"L1"'))
    path = folder / "activity.csv"
    path.write_text(path.read_text().replace("L1", "L1:L1").replace("L2", "L1"))
    table = make_table().rename(columns={"A": "a", "TP53": "a:L1"})
    table.to_csv(tmp_path / "x.csv", index_label="sample")
    said = refuse("whatif", folder, tmp_path / "x.csv", "--without", "a:L1:L1")
    assert "'a:L1:L1' fits 2; call predict_do" in said
