"""Commands that read a run folder in which one file is damaged: they refuse it or do without."""

import copy
import errno
import json
import os
import random
import shutil

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from safetensors import safe_open

from linear_run import INPUTS, OUTPUTS, make_drawing, make_table, write_linear_run
from rinn.cli import run
from rinn.graphs.files import write_graph
from rinn.graphs.formats.tables import edges_table
from rinn.report.index import read_card
from rinn.structure.qvalues import NullRound
from run_folders import make_comparison

MISSING = object()
VALUES = (MISSING, None, "word", -1, 0.5, float("nan"), [], {}, [[]], [None], True)
CELLS = ("word", "", "nan", "1e999", "-5", '"')
JSON = ("manifest.json", "graph.json", "truth.json", "refit.json", "null.json", "scores.json")
TABLES = ("edges.csv", "trials.csv", "effects.csv", "activity.csv", "curves.csv", "names.csv")
FILES = (*JSON, *TABLES, "weights.safetensors", "prior.json", "covariates.csv")
COMMANDS = ("report", "score", "whatif", "activity", "similar", "name", "export", "check")
PLACES_OF_ONE_FILE = 6  # values of a JSON file or cells of a table that a seed damages


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run of every file there is, a table X, and gene sets."""
    folder = tmp_path_factory.mktemp("damaged")
    make_table().to_csv(folder / "x.csv")
    (folder / "sets.gmt").write_text("S\tfrom a book\ty0\ty1\n")
    more = {
        "settings": {"strategy": "rinn", "seed": 0, "select": "accurate"},
        "device": {"platform": "cpu", "kind": "cpu", "count": 1},
        "versions": {"rinn": "1.0"},
        "comparison": make_comparison(True),
        "null": {"sentence": "Little is chance.", "rounds": 2, "reported": 0.5},
        "covariates": {"names": ["tissue"], "columns": [], "fraction": 0.1, "sentence": "A little.",
                       "notes": []},
        "prior": {
            "files": {"prior": "prior.csv"},
            "options": {"set_weight": 1.0},
            "sentence": "It did little.",
            "notes": ["1 statement"],
            "dropped_inputs": ["A"],
            "counts": {"contradictions": 30},
            "contradictions": [
                {"input": "A", "output": "y0", "says": "no", "evidence": 3.0, "without": 0.5,
                 "reported": True}
            ],
        },
        "test": {"loss": "mse", "samples": 5, "error": {"mean": 0.5, "sd": 0.1}, "auroc": None},
    }  # fmt: skip
    whole = write_linear_run(folder / "whole", **more)
    manifest = json.loads((whole / "manifest.json").read_text())
    numbers = sorted({*manifest["networks"]["kept"], *manifest["networks"]["paper"]})
    write_graph(make_drawing(), whole / "graph.json")
    write_graph(make_drawing(), whole / "truth.json")
    edges = edges_table(make_drawing(), reported=make_drawing()).assign(frequency=0.5, weight=1.0)
    edges.to_csv(whole / "edges.csv", index=False)
    trials = pd.DataFrame({"trial": numbers, "setting": numbers, "split": 0})
    trials = trials.assign(status="stopped", train_loss=0.5, validation_loss=0.5)
    trials["sum_abs_weights"] = np.arange(1.0, 1 + len(numbers))
    trials.assign(distance=0.5, nearest=True, kept=True).to_csv(whole / "trials.csv", index=False)
    curves = pd.DataFrame({"trial": numbers[0], "epoch": [1, 2], "train_loss": [3.0, 2.0]})
    curves.assign(validation_loss=[3.0, 2.5]).to_csv(whole / "curves.csv", index=False)
    effects = pd.DataFrame(np.diag([9.0, 8.0, 7.0, 0.1]), INPUTS, OUTPUTS)
    effects.to_csv(whole / "effects.csv")
    rounds = [NullRound(n, 1, 4, (0.25, 0.5), 1, 4, 1, 4, 1).to_json() for n in (0, 1, -1)]
    (whole / "null.json").write_text(json.dumps({"rounds": rounds}))
    (whole / "scores.json").write_text(json.dumps(manifest["scores"]))
    (whole / "prior.json").write_text(json.dumps(manifest["prior"]))
    (whole / "covariates.csv").write_text("covariate,output,r2\ntissue,y0,0.5\n")
    return folder


def list_words(command, folder):
    damaged = folder / "run"
    out = folder / "out"
    words = {
        "report": (damaged,),
        "score": (damaged, "--truth", folder / "whole" / "truth.json"),
        "whatif": (damaged, folder / "x.csv", "--do", "A=high"),
        "activity": (damaged, folder / "x.csv", "--out", out / "activity.csv"),
        "similar": (damaged,),
        "name": (damaged, "--gmt", folder / "sets.gmt", "--out", out / "names.csv"),
        "export": (damaged, "--format", "cx2", "--out", out / "graph.cx2"),
        "check": (damaged,),
        "draw": (damaged, "--out", out / "figures"),
    }
    return [command, *map(str, words[command])]


def copy_run(place, name, content):
    """The run with another content of one file; None leaves the file out."""
    for old in ("run", "out"):
        shutil.rmtree(place / old, ignore_errors=True)
    (place / "out").mkdir()
    shutil.copytree(place / "whole", place / "run")
    (place / "run" / name).unlink(missing_ok=True)
    if content is not None:
        (place / "run" / name).write_bytes(content)


def call(command, place, capsys):
    """Run a command on the damaged run; it must be done, or refused with one sentence."""
    capsys.readouterr()
    code = run(list_words(command, place))
    said = capsys.readouterr().err
    assert code in (0, 2), said
    if code == 2:
        assert said.startswith("rinn: ")
        assert said.count("\n") == 1
        assert "Traceback" not in said
    return code, said


def list_paths(value, path=()):
    """The places in a value of a JSON file, of a list the first alone."""
    yield path
    inside = value.items() if isinstance(value, dict) else []
    inside = enumerate(value[:1]) if isinstance(value, list) else inside
    for name, one in inside:
        yield from list_paths(one, (*path, name))


def put(value, path, new):
    """A copy of the value with another one at a path."""
    if not path:
        return None if new is MISSING else new
    changed = copy.deepcopy(value)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    if new is MISSING:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return changed


def damage_json(text, rng):
    value = json.loads(text)
    for path in rng.sample(list(list_paths(value)), k=PLACES_OF_ONE_FILE):
        yield json.dumps(put(value, path, rng.choice(VALUES))).encode()


def damage_table(text, rng):
    rows = [line.split(",") for line in text.decode().splitlines()]
    yield ",".join(rows[0]).encode()
    for _ in range(PLACES_OF_ONE_FILE):
        column, cell = rng.randrange(len(rows[0])), rng.choice(CELLS)
        changed = copy.deepcopy(rows)
        for row in changed[1:] if rng.random() < 0.5 else changed[1:2]:
            row[column] = cell
        yield "\n".join(map(",".join, changed)).encode()
    column = rng.randrange(len(rows[0]))
    yield "\n".join(",".join(row[:column] + row[column + 1 :]) for row in rows).encode()


def damage_weights(path, rng):
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["rinn"])
        arrays = {name: file.get_tensor(name) for name in sorted(file.keys())}
    for at in rng.sample(list(list_paths(about)), k=PLACES_OF_ONE_FILE):
        text = json.dumps(put(about, at, rng.choice(VALUES)))
        yield safetensors.numpy.save(arrays, metadata={"rinn": text})
    for _ in range(PLACES_OF_ONE_FILE):
        name = rng.choice(list(arrays))
        array = arrays[name]
        others = (np.full_like(array, np.nan), array.ravel()[:0], np.float32(1), array.astype(int))
        changed = arrays | {name: np.ascontiguousarray(rng.choice(others))}
        yield safetensors.numpy.save(changed, metadata={"rinn": json.dumps(about)})


def list_damages(path, seed):
    """Contents that a damaged file could have, the same for the same seed."""
    rng, content = random.Random(seed), path.read_bytes() if path.exists() else b"{}"
    yield from (None, b"", b"3", b"{}", bytes(range(256)), content[: len(content) // 2])
    yield from (b"[" * 100_000, bytes(len(content)))
    if path.suffix == ".json":
        yield from damage_json(content, rng)
    elif path.suffix == ".csv" and path.exists():
        yield from damage_table(content, rng)
    elif path.suffix == ".safetensors":
        yield from damage_weights(path, rng)


@pytest.mark.parametrize("command", [*COMMANDS, "draw"])
def test_the_whole_run_can_be_read(place, command, capsys):
    copy_run(place, "names.csv", None)
    assert call(command, place, capsys)[0] == 0


# Which commands read which file; the others never open it.
READERS = {
    "manifest.json": ("report", "score", "whatif", "similar"),
    "graph.json": ("report", "score", "name", "export", "check"),
    "weights.safetensors": ("report", "score", "whatif", "activity"),
    "refit.json": ("whatif", "activity"),
    "activity.csv": ("report", "whatif", "activity"),
    "effects.csv": ("similar",),
}


@pytest.mark.parametrize("name", FILES)
def test_damage_is_refused_or_does_not_matter(place, name, capsys):
    refused = 0
    for content in list_damages(place / "whole" / name, seed=7):
        copy_run(place, name, content)
        for command in READERS.get(name, ("report",)):
            refused += call(command, place, capsys)[0] == 2
        assert read_card(place, ("run",)).name == "run"
    not_read = {"scores.json", "prior.json", "covariates.csv"}
    assert (refused > 0) == (name not in not_read)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["manifest.json", "trials.csv", "curves.csv", "weights.safetensors"]
)
def test_figures_of_a_damaged_run(place, name, capsys):
    for content in list(list_damages(place / "whole" / name, seed=8))[:14]:
        copy_run(place, name, content)
        call("draw", place, capsys)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("manifest.json", "report"),
        ("weights.safetensors", "score"),
        ("refit.json", "whatif"),
        ("graph.json", "export"),
        ("trials.csv", "report"),
        ("edges.csv", "report"),
        ("curves.csv", "report"),
        ("null.json", "report"),
        ("names.csv", "report"),
        ("effects.csv", "similar"),
    ],
)
def test_the_damaged_file_is_named(place, name, command, capsys):
    copy_run(place, name, b"\xff\x00 no such file")
    code, said = call(command, place, capsys)
    assert code == 2
    assert name in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"networks": {"trained": 4, "sets": 4, "kept": [0, 99], "paper": []}},
            "weights.safetensors in",
        ),
        ({"networks": {"trained": 4, "kept": [0]}}, "has no readable manifest.json"),
        ({"device": {"platform": "cpu"}}, "has no readable manifest.json"),
        ({"tables": {"x": "x", "y": "y", "samples": 8}}, "has no readable manifest.json"),
    ],
)
def test_a_manifest_that_does_not_fit_the_run(place, changes, said, capsys):
    manifest = json.loads((place / "whole" / "manifest.json").read_text())
    copy_run(place, "manifest.json", json.dumps(manifest | changes).encode())
    code, found = call("report", place, capsys)
    assert code == 2
    assert said in found


def test_rounds_without_decoys(place, capsys):
    copy_run(place, "null.json", b'{"rounds": []}')
    assert "null.json in" in call("report", place, capsys)[1]


@pytest.mark.parametrize("command", ["report", "activity", "name", "export", "draw"])
def test_a_full_disk(place, command, capsys, monkeypatch):
    def fill(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    copy_run(place, "names.csv", None)
    monkeypatch.setattr(os, "replace", fill)
    code, said = call(command, place, capsys)
    assert code == 2
    assert "No space left on device; solve this or write elsewhere" in said


def test_a_linked_report_stays(place, capsys):
    copy_run(place, "report.html", None)
    (place / "out" / "mine.html").write_text("mine")
    (place / "run" / "report.html").symlink_to(place / "out" / "mine.html")
    code, said = call("report", place, capsys)
    assert (code, (place / "out" / "mine.html").read_text()) == (2, "mine")
    assert "report.html: it is a link or a device" in said
