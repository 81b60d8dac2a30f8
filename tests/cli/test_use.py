"""The commands `name`, `activity`, `whatif` and `similar`, on a run written by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from linear_run import make_table, write_linear_run
from rinn.cli import run as run_words
from rinn.cli.use import _show_change
from rinn.data.likelihoods import Likelihood
from rinn.data.scaling import Standardizer
from rinn.refit.intervene import Prediction

SETS = "PATH A\td\tA\tB\nPATH B\td\ty0\ty1\ty2\nP53\td\tTP53\tidle\n"


@pytest.fixture
def place(tmp_path):
    """A folder with a run, a table and gene sets."""
    write_linear_run(tmp_path / "run")
    make_table().to_csv(tmp_path / "x.csv", index_label="sample")
    (tmp_path / "sets.gmt").write_text(SETS)
    return tmp_path


@pytest.fixture
def call(capsys):
    def do(*words):
        capsys.readouterr()
        code = run_words([str(word) for word in words])
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown

    return do


@pytest.fixture
def refuse(capsys):
    """Run a command that must end with one sentence and exit code 2."""

    def do(*words):
        capsys.readouterr()
        assert run_words([str(word) for word in words]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"rinn: .+[.?]\n", shown.err)
        return shown.err

    return do


class TestName:
    def test_the_table(self, place, call):
        shown = call("name", place / "run", "--gmt", place / "sets.gmt")
        table = pd.read_csv(place / "run" / "names.csv")
        assert table.columns.tolist() == [
            "latent", "side", "set", "overlap", "latent_genes", "set_genes", "background", "genes",
            "p", "q",
        ]  # fmt: skip
        row = table[(table["latent"] == "L1") & (table["side"] == "inputs")].iloc[0]
        assert (row["set"], row["genes"], row["background"]) == ("PATH A", "A;B", 4)
        assert row["p"] == pytest.approx(1 / 6)
        assert "L1: no set below q = 0.05\nL2: no set below q = 0.05\n" in shown.out
        assert f"wrote {place / 'run' / 'names.csv'}" in shown.out

    def test_a_name(self, place, call):
        (place / "sets.gmt").write_text("PATH A\td\tA\tB\nP53\td\tTP53\tidle\n")
        shown = call(
            "name", place / "run", "--gmt", place / "sets.gmt", "--alpha", "1", "--out",
            place / "n.csv",
        )  # fmt: skip
        # One way in six, and four tests: q = 4/6.
        assert "L1: PATH A (inputs: 2 of 2 genes, set 2 of 4; q = 0.67)\n" in shown.out
        assert "L2: no set below q = 1\n" in shown.out
        assert (place / "n.csv").exists()
        assert not (place / "run" / "names.csv").exists()

    def test_nothing_is_overwritten(self, place, call, refuse):
        words = "name", place / "run", "--gmt", place / "sets.gmt"
        (place / "run" / "names.csv").write_text("mine")
        assert "--force" in refuse(*words)
        assert (place / "run" / "names.csv").read_text() == "mine"
        call(*words, "--force")
        assert (place / "run" / "names.csv").read_text() != "mine"

    def test_a_bad_file_leaves_the_old_names(self, place, refuse):
        (place / "run" / "names.csv").write_text("mine")
        (place / "sets.gmt").write_text("no tabs here\n")
        words = "name", place / "run", "--gmt", place / "sets.gmt", "--force"
        assert "line 1" in refuse(*words)
        assert (place / "run" / "names.csv").read_text() == "mine"

    def test_a_graph_file(self, place, call):
        call("name", place / "run" / "graph.json", "--gmt", place / "sets.gmt")
        assert (place / "run" / "graph.names.csv").exists()

    def test_names_cannot_move_the_cursor(self, place, call):
        (place / "sets.gmt").write_text("\x1b[2Jgone\td\tA\tB\nQ\td\tTP53\tidle\ty0\ty1\n")
        shown = call("name", place / "run", "--gmt", place / "sets.gmt", "--alpha", "1")
        assert "\x1b" not in shown.out + shown.err
        assert "\\u001b[2Jgone" in shown.out

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--alpha", "0"), "--alpha must be a number above 0"),
            (("--alpha", "nan"), "--alpha must be a number above 0"),
            (("--min-overlap", "0"), "at least 1"),
            (("--background", "every"), "background must be one of"),
            (("--out", "nowhere/names.csv"), "does not exist"),
            (("--out", "."), "it is a folder"),
        ],
    )
    def test_wrong_words(self, place, refuse, words, said):
        before = sorted((place / "run").iterdir())
        assert said in refuse("name", place / "run", "--gmt", place / "sets.gmt", *words)
        assert sorted((place / "run").iterdir()) == before

    def test_no_run(self, place, refuse):
        assert "manifest.json" in refuse("name", place, "--gmt", place / "sets.gmt")


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
            (("--do", "y0=1"), "is an output; outputs are what changes"),
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
