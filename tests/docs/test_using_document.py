"""docs/using-a-graph.md is run as it stands: every block, in its order, in an empty folder."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess

import numpy as np
import pages
import pandas as pd
import pytest

from rinn.cli import run as run_words
from rinn.graphs.compare import score_graph
from rinn.graphs.files import load_graph
from rinn.refit.intervene import predict_do
from rinn.runs.model import load_model

DOCUMENT = pages.ROOT / "docs" / "using-a-graph.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def read_blocks():
    return [(block.kind, block.text) for block in pages.read_blocks(DOCUMENT)]


def run_shell(text):
    """Run each line: `rinn` in this process, which saves its start, anything else in a shell."""
    printed = io.StringIO()
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("rinn "):
            with contextlib.redirect_stdout(printed):
                assert run_words(shlex.split(line)[1:]) == 0
        else:
            subprocess.run(["sh", "-ec", line], check=True)
    return printed.getvalue()


def run_python(text):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, DOCUMENT.name, "exec"), {})
    return printed.getvalue()


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder, and what each block printed."""
    folder, printed = tmp_path_factory.mktemp("using"), []
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("COLUMNS", "100")
    runners = {"sh": run_shell, "python": run_python}
    with contextlib.chdir(folder):
        for kind, text in read_blocks():
            printed.append(runners[kind](text) if kind in runners else None)
    monkeypatch.undo()
    return folder, printed


def split_words(text):
    """The words of each printed line but numbers, in a fixed order."""
    lines = (re.sub(r"[^\w.:+-]+", " ", line).split() for line in text.splitlines())
    rows = [sorted(w for w in line if not NUMBER.fullmatch(w)) for line in lines]
    return [row for row in rows if row]


def test_what_is_quoted_is_what_was_printed(done):
    blocks = read_blocks()
    quoted = [place for place, (kind, _) in enumerate(blocks) if kind.startswith("text")]
    assert len(quoted) == 3
    for place in quoted:
        kind, said = blocks[place]
        found = done[1][place - 1]
        if kind == "text":
            assert found == said
        else:
            assert all(row in split_words(found) for row in split_words(said))


def test_the_graph_is_the_true_one(done):
    scores = score_graph(
        load_graph(done[0] / "run/graph.json"), load_graph(done[0] / "data/truth.json")
    )
    assert scores.to_json()["edges"]["f1"] == 1.0


def test_the_names(done):
    names = next(text for text in done[1] if text and "names.csv" in text)
    assert re.search(r"L1: CELL CYCLE \(outputs: 4 of 4 genes", names)
    table = pd.read_csv(done[0] / "run" / "names.csv")
    assert {"latent", "side", "set", "overlap", "genes", "p", "q"} <= set(table.columns)


def test_the_known_nodes(done):
    said = next(text for text in done[1] if text and "network_names.csv" in text)
    assert "x0 inhibits KINASE (map)" in said
    table = pd.read_csv(done[0] / "run" / "network_names.csv")
    first = table[table["rank"] == 1].groupby("latent")["node"].agg(list)
    assert first.to_dict() == {"L1": ["KINASE"], "L2": ["RECEPTOR"], "L3": ["GROWTH"]}


def test_the_activity_is_that_of_the_run(done):
    found, own = (pd.read_csv(done[0] / name) for name in ("activity.csv", "run/activity.csv"))
    assert found.columns.tolist() == own.columns.tolist()
    assert found["sample"].tolist() == own["sample"].tolist()
    assert (found - own).abs().to_numpy().max() < 2e-4


def test_the_change_is_the_true_one(done):
    """Inputs are drawn apart: what one does is its slope in a regression on all of them."""
    x, y = (pd.read_csv(done[0] / "data" / name) for name in ("x.csv", "y.csv"))
    design = np.column_stack([np.ones(len(x)), x])
    slopes = pd.DataFrame(np.linalg.lstsq(design, y, rcond=None)[0][1:], x.columns, y.columns)
    model = load_model(done[0] / "run")
    for name in x.columns:
        move = model.ranges[name].high - x[name].mean()
        change = predict_do(model, x, inputs={name: "high"}).to_frame()["change"]
        assert (change - slopes.loc[name] * move).abs().max() < 0.25 * y.std().max()
        reached = slopes.loc[name].abs() * move > 0.2 * y.std()
        assert (np.sign(change) == np.sign(slopes.loc[name]))[reached].all()


def test_the_files(done):
    assert pd.read_csv(done[0] / "change.csv")["output"].tolist() == [f"y{n}" for n in range(12)]
    matrix = pd.read_csv(done[0] / "similar.csv", index_col="input")
    assert matrix.shape == (8, 8)
    assert matrix.loc["x3", "x7"] < -0.95  # both act on L2 alone, against each other
