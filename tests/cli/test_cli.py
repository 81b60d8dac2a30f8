import json
import re
import shutil
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

import rinn.fit
from rinn.cli import run
from rinn.graphs.basics import by_role
from rinn.graphs.files import load_graph
from rinn.simulate.datasets import DATASETS

SMALL = ["--samples", "100", "--inputs", "5", "--outputs", "5", "--levels", "1", "--latents", "2"]
FILES = {
    "manifest.json",
    "trials.csv",
    "weights.safetensors",
    "graph.json",
    "graph.graphml",
    "edges.csv",
    "report.html",
}
OPTIONS = {
    "simulate": (
        "--out",
        "--samples",
        "--seed",
        "--noise",
        "--prevalence",
        "--mechanism",
        "--operators",
        "--direct",
        "--twins",
        "--two-latents",
        "--unequal",
        "--correlated",
        "--input-noise",
        "--factor",
        "--output-edges",
        "--x-block",
        "--y-block",
        "--parents",
        "--strength",
    ),
    "fit": (
        "--null",
        "--select",
        "--out",
        "--strategy",
        "--budget",
        "--trials",
        "--epochs",
        "--seed",
        "--device",
        "--loss",
        "--truth",
        "--covariates",
        "--kinds",
        "--alpha-pc",
        "--alpha-sober",
        "--prior",
        "--gene-sets",
        "--set-weight",
        "--network",
        "--network-steps",
        "--network-weight",
        "--network-directed",
        "--network-mask",
        "--quiet",
    ),
    "reproduce": (
        "--out",
        "--datasets",
        "--strategies",
        "--budget",
        "--seeds",
        "--device",
        "--trials",
        "--quiet",
    ),
    "score": ("--truth", "--json"),
    "draw": ("--out", "--format", "--only", "--force"),
    "view": ("--port", "--open"),
    "tci": (
        "--out",
        "--tissue",
        "--tissue-model",
        "--prior",
        "--permutations",
        "--seed",
        "--quiet",
    ),
    "name": ("--gmt", "--out", "--alpha", "--background", "--force"),
    "activity": ("--out", "--force"),
    "whatif": ("--do", "--without", "--sample", "--out", "--force"),
    "similar": ("--input", "--out", "--force"),
    "demo": ("--out", "--seed", "--device", "--trials", "--quiet"),
}
HUGE = "99999999999999999999"
NO_GPU = all(device.platform == "cpu" for device in jax.devices())


def call(*words):
    return run([str(word) for word in words])


def fit_words(data, out, *more):
    words = ("--trials", 4, "--epochs", 3, "--effects", "corrected", "--bootstraps", 3)
    places = (data / "x.csv", data / "y.csv", "--out", out)
    return ("fit", *places, *words, "--device", "cpu", *more)


def snapshot(folder):
    return {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "data"
    assert call("simulate", "random", "--out", folder, *SMALL) == 0
    return folder


@pytest.fixture(scope="module")
def fitted(data, tmp_path_factory):
    """A run with a truth; tests only look at it."""
    out = tmp_path_factory.mktemp("fitted") / "run"
    assert call(*fit_words(data, out, "--truth", data / "truth.json", "--quiet")) == 0
    return out


@pytest.fixture
def refuse(capsys):
    """Run a command that must end with one sentence and exit code 2."""

    def check(*words):
        capsys.readouterr()
        assert call(*words) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"rinn: .+[.?]\n", shown.err)
        return shown.err

    return check


@pytest.fixture
def refuse_tables(data, tmp_path, refuse):
    """Change the text of x.csv or y.csv and run fit, which must refuse and write nothing."""

    def check(x=None, y=None, more=()):
        for name, change in (("x.csv", x), ("y.csv", y)):
            text = (data / name).read_text()
            (tmp_path / name).write_text(change(text) if change else text)
        words = refuse(*fit_words(tmp_path, tmp_path / "run", *more))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "y.csv"]
        return words

    return check


def change_line(number, change):
    """A change of one line of a file; the header is line 0."""

    def apply(text):
        lines = text.splitlines()
        lines[number] = change(lines[number])
        return "\n".join(lines) + "\n"

    return apply


class TestSimulate:
    @pytest.mark.parametrize("name", [*DATASETS, "1", "4"])
    def test_every_dataset(self, name, tmp_path, capsys):
        out = tmp_path / "new" / "folder"
        assert call("simulate", name, "--samples", 20, "--out", out) == 0
        tissue = ["tissue.csv"] if name.startswith("tcga") else []
        assert sorted(path.name for path in out.iterdir()) == [
            *tissue, "truth.json", "x.csv", "y.csv",
        ]  # fmt: skip
        x, y = pd.read_csv(out / "x.csv"), pd.read_csv(out / "y.csv")
        truth = load_graph(out / "truth.json")
        assert len(x) == len(y) == 20
        inputs, outputs = by_role(truth, "input"), by_role(truth, "output")
        assert set(inputs) == set(x.columns[-len(inputs) :])
        assert set(outputs) == set(y.columns[-len(outputs) :])
        said = capsys.readouterr().out
        assert f"wrote {out / 'x.csv'}" in said
        assert f"20 samples, {x.shape[1]} inputs, {y.shape[1]} outputs" in said

    def test_harder_worlds(self, tmp_path):
        words = "--mechanism logic --operators and,or --latents 6 --inputs 20 --direct 2 --twins 1 "
        words += "--two-latents 0.2 --unequal 3 --correlated 0.2 --input-noise 0.1 --factor 0.1 "
        words += "--output-edges 2 --samples 20"
        assert call("simulate", "random", *words.split(), "--out", tmp_path / "data") == 0
        truth = load_graph(tmp_path / "data" / "truth.json")
        found = truth.graph["parameters"]
        assert (found["direct"], found["twins"], found["two_latents"]) == (2, 1, 0.2)
        assert (found["unequal"], found["correlated"], found["input_noise"]) == (3, 0.2, 0.1)
        assert (found["factor"], list(found["operators"])) == (0.1, ["and", "or"])
        assert sum(source.startswith("y") for source, _ in truth.edges) == 2

    def test_seed_decides(self, tmp_path):
        for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
            call("simulate", "or", "--samples", 30, "--seed", seed, "--out", tmp_path / folder)
        a, b, c = ((tmp_path / name / "x.csv").read_bytes() for name in "abc")
        assert a == b
        assert a != c

    def test_existing_dataset_stays(self, data, refuse):
        before = snapshot(data)
        assert "x.csv is there" in refuse("simulate", "random", "--out", data, *SMALL)
        assert snapshot(data) == before

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("gausian",), "did you mean 'gaussian'?"),
            (("zebra",), "dataset must be one of matrix, gaussian, or, logic"),
            (("or", "--noise", "much"), "noise must be a number or LOW,HIGH, got 'much'"),
            (("or", "--noise", "3"), "noise must be a number of at least 0"),
            (("gaussian", "--noise", "1,2,3"), "noise must be two numbers"),
            (("gaussian", "--noise", "2,1"), "noise must be two numbers"),
            (("or", "--samples", "0"), "samples must be a whole number"),
            (("or", "--samples", "many"), "--samples"),
            (("or", "--seed", "-1"), "seed must be a whole number"),
            (("or", "--samples", HUGE), "samples must be a whole number from 1 to"),
            (("or", "--seed", HUGE), "seed must be a whole number from 0 to"),
            (("random", "--latents", HUGE), "latents must be a whole number from 1 to"),
            (("or", "--p", "0.1"), "'p' is not a parameter of the dataset 'or'"),
            (("random", "--mechanism", "og"), "did you mean 'logic' or 'or'?"),
            (("random", "--inputs", "0"), "inputs must be"),
        ],
    )
    def test_wrong_words(self, words, said, tmp_path, refuse):
        assert said in refuse("simulate", *words, "--out", tmp_path / "data")
        assert not list(tmp_path.iterdir())

    def test_unwritable_folder(self, tmp_path, refuse):
        (tmp_path / "file").write_text("mine")
        out = tmp_path / "file" / "data"
        assert "Not a directory" in refuse("simulate", "or", "--samples", 9, "--out", out)
        assert (tmp_path / "file").read_text() == "mine"


class TestFit:
    def test_files(self, fitted):
        more = {"activity.csv", "curves.csv", "effects.csv", "refit.json"}
        more |= {"scores.json", "truth.json"}
        found = {path.name for path in fitted.iterdir() if path.name != ".rinn.lock"}
        assert found == FILES | more

    def test_manifest(self, fitted):
        manifest = json.loads((fitted / "manifest.json").read_text())
        assert manifest["status"] == "complete"
        assert manifest["command"][:2] == ["rinn", "fit"]
        settings = {"strategy": "rinn", "budget": "default", "trials": 4, "epochs": 3, "seed": 0}
        assert settings.items() <= manifest["settings"].items()
        assert set(manifest["data"]) == {"x", "y", "names", "samples"}
        assert {"rinn", "jax", "numpy", "python"} <= set(manifest["versions"])
        assert manifest["device"]["platform"] == "cpu"
        assert manifest["networks"]["trained"] == 4
        assert manifest["tables"]["samples"] == 100
        assert manifest["tables"]["inputs"] == [f"x{i}" for i in range(5)]
        assert manifest["tables"]["dropped"] == []
        assert manifest["seconds"] > 0
        assert manifest["test"]["samples"] == 10
        assert manifest["scores"] == json.loads((fitted / "scores.json").read_text())
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}$", manifest["created"])

    def test_trials(self, fitted):
        table = pd.read_csv(fitted / "trials.csv")
        assert list(table["trial"]) == [0, 1, 2, 3]
        assert list(table["setting"]) == [0, 0, 1, 1]
        assert list(table["split"]) == [0, 1, 0, 1]
        assert (table["epochs"] == 3).all()
        columns = {"status", "max_epochs", "width", "layers", "l1", "learning_rate", "seed"}
        columns |= {"train_loss", "validation_loss", "validation_error", "sum_abs_weights"}
        assert columns | {"distance", "kept"} <= set(table)
        kept = json.loads((fitted / "manifest.json").read_text())["networks"]["kept"]
        assert set(table["trial"][table["kept"]]) == set(kept)

    def test_graph_files_agree(self, fitted):
        graph = load_graph(fitted / "graph.json")
        assert set(load_graph(fitted / "graph.graphml").edges) == set(graph.edges)
        edges = pd.read_csv(fitted / "edges.csv").query("reported")
        assert set(zip(edges["source"], edges["target"], strict=True)) == set(graph.edges)
        assert "<html" in (fitted / "report.html").read_text(encoding="utf-8")

    def test_shows_what_was_found(self, data, fitted, tmp_path, capsys):
        out = tmp_path / "run"
        shutil.copytree(fitted, out)
        assert call(*fit_words(data, out, "--truth", data / "truth.json")) == 0
        said = capsys.readouterr().out
        for words in ("test set (10 samples)", "Scores against the truth", "open "):
            assert words in said

    def test_progress_goes_to_stderr(self, data, tmp_path, capsys):
        assert call(*fit_words(data, tmp_path / "run")) == 0
        shown = capsys.readouterr()
        assert "4/4 networks, 100% of the epochs, best validation loss" in shown.err
        assert "/4 networks" not in shown.out
        assert not (tmp_path / "run" / "scores.json").exists()

    def test_same_command_again_trains_nothing(self, data, fitted, capsys, monkeypatch):
        before = snapshot(fitted)
        monkeypatch.setattr(rinn.fit, "fit_data", None)
        words = fit_words(data, fitted, "--truth", data / "truth.json", "--quiet")
        assert call(*words) == 0
        after = snapshot(fitted)
        for path in map(Path, ("trials.csv", "weights.safetensors", "graph.json", "edges.csv")):
            assert after[path] == before[path]
        contents = [{path: file[0] for path, file in files.items()} for files in (before, after)]
        assert contents[0] == contents[1]
        assert capsys.readouterr() == ("", "")

    def test_constant_columns_are_left_out_and_named(self, data, tmp_path, capsys):
        x = pd.read_csv(data / "x.csv").assign(always=1)
        x.to_csv(tmp_path / "x.csv", index=False)
        shutil.copy(data / "y.csv", tmp_path)
        assert call(*fit_words(tmp_path, tmp_path / "run", "--effects", "regression")) == 0
        shown = capsys.readouterr()
        assert "left out always of X: constant (always 1)" in shown.out
        assert shown.err.startswith("No networks to train; ")
        manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
        entry = {"table": "X", "name": "always", "reason": "constant (always 1)"}
        assert manifest["tables"]["dropped"] == [entry]
        assert "always" not in manifest["tables"]["inputs"]


class TestBadTables:
    def test_missing_file(self, data, tmp_path, refuse):
        out = tmp_path / "run"
        words = ("fit", data / "none.csv", data / "y.csv", "--out", out)
        assert "must be an existing file, but does not exist" in refuse(*words)
        assert not out.exists()

    def test_ragged_rows(self, refuse_tables):
        assert "X (" in refuse_tables(x=change_line(3, lambda line: line + ",1"))

    def test_text_in_a_numeric_column(self, refuse_tables):
        said = refuse_tables(y=change_line(4, lambda line: "high" + line[line.index(",") :]))
        assert "'high'" in said
        assert "y0" in said

    @pytest.mark.parametrize("value", ["", "NaN", "inf"])
    def test_missing_value(self, refuse_tables, value):
        said = refuse_tables(x=change_line(4, lambda line: line[: line.rindex(",") + 1] + value))
        assert "must have no missing or infinite values" in said
        assert "'x4'" in said

    def test_different_row_counts(self, refuse_tables):
        said = refuse_tables(x=lambda text: text[: text.rstrip().rindex("\n")])
        assert "X has 99 and Y has 100" in said

    def test_ids_that_do_not_match(self, refuse_tables):
        def add_ids(letter):
            def apply(text):
                head, *lines = text.splitlines()
                rows = [f"{letter}{row},{line}" for row, line in enumerate(lines)]
                return "\n".join([f"sample,{head}", *rows])

            return apply

        said = refuse_tables(x=add_ids("a"), y=add_ids("b"))
        assert "no id of X (such as 'a0') is in Y (such as 'b0')" in said

    def test_duplicate_columns(self, refuse_tables):
        said = refuse_tables(x=change_line(0, lambda line: line.replace("x1", "x0")))
        assert "must have each column once, but repeats 'x0'" in said

    def test_few_samples(self, refuse_tables):
        def cut(text):
            return "\n".join(text.splitlines()[:10])

        assert "at least 10 samples in common, but have 9" in refuse_tables(x=cut, y=cut)

    def test_mixed_outputs(self, refuse_tables):
        def mix(text):
            head, *lines = text.splitlines()
            return "\n".join(
                [f"{head},level", *(f"{line},{i / 7}" for i, line in enumerate(lines))]
            )

        said = refuse_tables(y=mix, more=("--strategy", "dbn"))
        assert "Y must be all 0/1 or all numbers for the strategy 'dbn', but is mixed" in said

    def test_nothing_but_constants(self, refuse_tables):
        def flatten(text):
            return re.sub(r"(?m)^[01](,[01])*$", "1,1,1,1,1", text)

        assert "Y must have a column that varies" in refuse_tables(y=flatten)


class TestBadSettings:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--strategy", "rin"), "did you mean 'rinn'"),
            (("--alpha-pc", 0.01), "alpha_pc must be given with the strategy dm only, got 0.01"),
            (
                ("--strategy", "dm", "--alpha-sober", 2),
                "alpha_sober must be a number of at least 0 and at most 1",
            ),
            (
                ("--strategy", "zebra"),
                "strategy must be one of rinn, dnn, dbn, esc, dm, regression, nem, sparse-pca, ",
            ),
            (("--budget", "papers"), "did you mean 'paper'?"),
            (("--loss", "mae"), "loss must be one of auto, bce, mse, poisson"),
            (("--effects", "nets"), "effects must be one of auto, network, regression, corrected"),
            (("--bootstraps", "-1"), "bootstraps must be a whole number from 0 to 10000, got -1"),
            (("--trials", "1"), "trials must be a whole number from 2 to 100000, got 1"),
            (("--trials", "few"), "--trials"),
            (("--epochs", "0"), "epochs must be a whole number from 1 to 10000000, got 0"),
            (("--seed", "-1"), "seed must be a whole number of at least 0, got -1"),
            (("--trials", HUGE), "trials must be a whole number from 2 to 100000, got 9999"),
            (("--epochs", HUGE), "epochs must be a whole number from 1 to 10000000, got 9999"),
            (("--null", HUGE), "null must be a whole number from 0 to 10000, got 9999"),
            (("--seed", HUGE), "seed must be a whole number from 0 to 4294967295, got 9999"),
            (("--device", "tpu"), "device must be one of auto, cpu, gpu"),
        ],
    )
    def test_wrong_word(self, words, said, refuse_tables):
        assert said in refuse_tables(more=words)

    @pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
    def test_no_gpu(self, refuse_tables):
        said = refuse_tables(more=("--device", "gpu"))
        assert "device must be one this machine has, got 'gpu'" in said

    def test_unwritable_run(self, data, tmp_path, refuse):
        (tmp_path / "file").write_text("mine")
        said = refuse(*fit_words(data, tmp_path / "file" / "run"))
        assert "--out must be a folder that can be written" in said
        assert "is a file; choose another name" in refuse(*fit_words(data, tmp_path / "file"))
        assert (tmp_path / "file").read_text() == "mine"

    def test_foreign_folder(self, data, tmp_path, refuse):
        out = tmp_path / "home"
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
        before = snapshot(tmp_path)
        assert "holds other files (such as 'thesis.txt')" in refuse(*fit_words(data, out))
        assert snapshot(tmp_path) == before
        assert [path.name for path in out.iterdir()] == ["thesis.txt"]

    def test_run_of_other_data(self, data, fitted, tmp_path, refuse):
        other = change_line(5, lambda line: line.translate(str.maketrans("01", "10")))
        (tmp_path / "x.csv").write_text(other((data / "x.csv").read_text()))
        shutil.copy(data / "y.csv", tmp_path)
        before = snapshot(fitted)
        assert "was made with other data (x)" in refuse(*fit_words(tmp_path, fitted))
        assert snapshot(fitted) == before

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--seed", "7"), "seed (0, now 7)"),
            (("--trials", "6"), "trials (4, now 6)"),
            (("--epochs", "4"), "epochs (3, now 4)"),
            (
                ("--budget", "paper", "--loss", "mse"),
                "budget (default, now paper), loss (auto, now mse)",
            ),
        ],
    )
    def test_run_of_other_settings(self, data, fitted, refuse, words, said):
        before = snapshot(fitted)
        assert f"was made with other {said}" in refuse(*fit_words(data, fitted, *words))
        assert snapshot(fitted) == before


class TestTruth:
    def test_of_other_tables(self, data, fitted, tmp_path, refuse):
        graph = json.loads((data / "truth.json").read_text())
        for node in graph["nodes"]:
            node["id"] = "other " + node["id"]
        for edge in graph["edges"]:
            edge |= {end: "other " + edge[end] for end in ("source", "target")}
        truth = tmp_path / "truth.json"
        truth.write_text(json.dumps(graph))
        said = refuse(*fit_words(data, tmp_path / "run", "--truth", truth))
        assert "the truth must name the inputs of the tables" in said
        assert not (tmp_path / "run").exists()
        assert "the truth must name the inputs" in refuse("score", fitted, "--truth", truth)

    @pytest.mark.parametrize(
        "content", ["", "{", "[]", '{"nodes": []}', '{"nodes": 3, "edges": 4}']
    )
    def test_broken(self, data, fitted, tmp_path, refuse, content):
        truth = tmp_path / "truth.json"
        truth.write_text(content)
        assert "truth.json" in refuse(*fit_words(data, tmp_path / "run", "--truth", truth))
        assert not (tmp_path / "run").exists()
        assert "truth.json" in refuse("score", fitted, "--truth", truth)

    def test_missing(self, data, tmp_path, refuse):
        truth = tmp_path / "none.json"
        said = refuse(*fit_words(data, tmp_path / "run", "--truth", truth))
        assert "none.json must be an existing file" in said
        assert not (tmp_path / "run").exists()


class TestScore:
    def test_text(self, data, fitted, capsys):
        assert call("score", fitted, "--truth", data / "truth.json") == 0
        said = capsys.readouterr().out
        for words in ("hidden nodes", "graph, latents", "graph, edges", "order errors"):
            assert words in said

    def test_json(self, data, fitted, capsys):
        capsys.readouterr()
        assert call("score", fitted, "--truth", data / "truth.json", "--json") == 0
        shown = capsys.readouterr().out
        assert shown.count("\n") == 1
        scores = json.loads(shown)
        assert set(scores) == {"paper", "graph"}
        assert {"hidden", "input", "threshold"} <= set(scores["paper"])
        assert {"latents", "edges", "shd", "order_errors"} <= set(scores["graph"])
        parts = [scores["paper"]["hidden"], scores["paper"]["input"]]
        for part in (*parts, scores["graph"]["latents"], scores["graph"]["edges"]):
            for name in ("precision", "recall", "f1"):
                assert 0 <= part[name] <= 1
        assert isinstance(scores["graph"]["shd"], int)
        assert isinstance(scores["graph"]["order_errors"], int)
        assert scores == json.loads((fitted / "scores.json").read_text())

    @pytest.mark.parametrize("suffix", ["json", "graphml"])
    def test_graph_file(self, data, fitted, capsys, suffix):
        capsys.readouterr()
        truth = data / "truth.json"
        assert call("score", fitted / f"graph.{suffix}", "--truth", truth, "--json") == 0
        scores = json.loads(capsys.readouterr().out)
        assert scores["paper"]["threshold"] is None
        assert {"hidden", "input", "threshold"} <= set(scores["paper"])
        assert scores["graph"] == json.loads((fitted / "scores.json").read_text())["graph"]

    def test_truth_against_itself_is_perfect(self, data, capsys):
        capsys.readouterr()
        truth = data / "truth.json"
        assert call("score", truth, "--truth", truth, "--json") == 0
        scores = json.loads(capsys.readouterr().out)
        assert scores["graph"]["shd"] == scores["graph"]["order_errors"] == 0
        assert scores["graph"]["edges"]["f1"] == scores["paper"]["hidden"]["f1"] == 1
        assert call("score", truth, "--truth", truth) == 0
        assert "0 edges differ (SHD)" in capsys.readouterr().out

    def test_not_a_run(self, data, tmp_path, refuse):
        truth = data / "truth.json"
        assert "no readable manifest.json" in refuse("score", tmp_path, "--truth", truth)
        assert "must be an existing file" in refuse("score", tmp_path / "a.json", "--truth", truth)
        assert not list(tmp_path.iterdir())

    def test_unfinished_run(self, data, fitted, tmp_path, refuse):
        shutil.copytree(fitted, tmp_path / "run")
        (tmp_path / "run" / "weights.safetensors").unlink()
        said = refuse("score", tmp_path / "run", "--truth", data / "truth.json")
        assert "weights.safetensors is missing or damaged" in said


class TestDemo:
    def test_from_start_to_end_and_again(self, tmp_path, capsys):
        words = ("demo", "--out", tmp_path / "demo", "--trials", 4, "--device", "cpu")
        assert call(*words) == 0
        shown = capsys.readouterr()
        assert "Simulated 5000 samples" in shown.err
        assert "Scores against the truth" in shown.out
        run_folder = tmp_path / "demo" / "run"
        assert {path.name for path in run_folder.iterdir()} >= FILES | {"scores.json"}
        before = snapshot(run_folder)
        data = snapshot(tmp_path / "demo" / "data")
        assert call(*words, "--quiet") == 0
        assert capsys.readouterr() == ("", "")
        after = snapshot(run_folder)
        for path in map(Path, ("trials.csv", "weights.safetensors")):
            assert after[path] == before[path]
        assert snapshot(tmp_path / "demo" / "data") == data

    def test_killed_while_it_writes_the_data(self, tmp_path, monkeypatch):
        words = ("demo", "--out", tmp_path, "--trials", 4, "--device", "cpu", "--quiet")
        assert call("simulate", "or", "--out", tmp_path / "data") == 0
        (tmp_path / "data" / "truth.json").unlink()
        monkeypatch.setattr(rinn.fit, "fit_run", lambda *args, **more: None)
        assert call(*words) == 0

    def test_other_seed_is_refused(self, tmp_path, refuse):
        assert call("simulate", "or", "--out", tmp_path / "data", "--samples", 50) == 0
        said = refuse("demo", "--out", tmp_path, "--seed", 1, "--trials", 2)
        assert "--out must not hold a dataset yet" in said
        assert not (tmp_path / "run").exists()


class TestWords:
    @pytest.mark.parametrize("command", OPTIONS)
    def test_help(self, command, capsys):
        assert call(command, "--help") == 0
        said = capsys.readouterr().out
        for option in OPTIONS[command]:
            assert option in said

    def test_version(self, capsys):
        assert call("--version") == 0
        assert re.fullmatch(r"rinn \d+\.\d+\.\d+\n", capsys.readouterr().out)

    def test_no_word_at_all_shows_the_help(self, capsys):
        assert call() == 0
        assert "Learn:" in capsys.readouterr().out

    def test_help_names_the_commands(self, capsys):
        assert call("--help") == 0
        said = capsys.readouterr().out
        for command in OPTIONS:
            assert command in said

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("fitt",), "'fitt'"),
            (("fit",), "Missing argument"),
            (("fit", "x.csv"), "Missing argument"),
            (("fit", "x.csv", "y.csv"), "--out"),
            (("fit", "x.csv", "y.csv", "--bogus"), "--bogus"),
            (("fit", "x.csv", "y.csv", "--out"), "--out"),
            (("fit", "x.csv", "y.csv", "z.csv", "--out", "run"), "z.csv"),
            (("simulate", "or"), "--out"),
            (("score", "run"), "--truth"),
            (("demo", "--trials", "2.5"), "--trials"),
        ],
    )
    def test_wrong_words(self, words, said, refuse, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert said in refuse(*words)
        assert not list(tmp_path.iterdir())

    def test_unexpected_error_is_one_line(self, data, tmp_path, capsys, monkeypatch):
        def fail(*args, **more):
            raise RuntimeError("the disk\nis full")

        monkeypatch.setattr(rinn.fit, "fit_run", fail)
        monkeypatch.delenv("RINN_DEBUG", raising=False)
        assert call(*fit_words(data, tmp_path / "run")) == 1
        said = capsys.readouterr().err
        assert said == (
            "rinn: something went wrong (RuntimeError: the disk); RINN_DEBUG=1 shows where.\n"
        )
        monkeypatch.setenv("RINN_DEBUG", "1")
        with pytest.raises(RuntimeError):
            call(*fit_words(data, tmp_path / "run"))

    def test_ctrl_c(self, data, tmp_path, capsys, monkeypatch):
        def stop(*args, **more):
            raise KeyboardInterrupt

        monkeypatch.setattr(rinn.fit, "fit_run", stop)
        assert call(*fit_words(data, tmp_path / "run")) == 130
        said = capsys.readouterr().err.strip()
        assert said == "rinn: stopped; the same command resumes."


def test_tables_are_not_changed(data, tmp_path):
    before = snapshot(data)
    assert call(*fit_words(data, tmp_path / "run", "--quiet")) == 0
    assert snapshot(data) == before
    assert np.isfinite(pd.read_csv(tmp_path / "run" / "trials.csv")["train_loss"]).all()


def test_a_null_gives_edges_their_q(tmp_path):
    """The sentence is in the manifest, the rounds in a file, and a q on every drawn edge."""
    small = "--inputs 6 --outputs 9 --latents 3 --levels 2 --samples 300 --mechanism gaussian"
    assert call("simulate", "random", *small.split(), "--out", tmp_path / "data") == 0
    x, y = tmp_path / "data" / "x.csv", tmp_path / "data" / "y.csv"
    out = tmp_path / "run"
    words = ("--null", 1, "--bootstraps", 5, "--device", "cpu", "--quiet")
    assert call("fit", x, y, "--out", out, *words) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["null"]["sentence"].startswith("With the rows of Y permuted (1 round), ")
    rounds = json.loads((out / "null.json").read_text())["rounds"]
    assert sorted(entry["number"] for entry in rounds) == [-1, 0]
    edges = pd.read_csv(out / "edges.csv")
    assert edges["reported"].any(), "the test needs an edge"
    assert edges["q"][edges["reported"]].between(0, 1).all()
    assert edges["q"][~edges["reported"]].isna().all()
