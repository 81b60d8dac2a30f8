"""docs/files.md has a line for every file of a run folder, and for every column and key in it."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from safetensors import safe_open

from rinn import RINN, make_dataset

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
OVERVIEW, *SECTIONS = PAGE.split("\n## ")
FIRST_CELL = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
FILES = FIRST_CELL.findall(OVERVIEW)
LINES = {text.split("`")[1]: FIRST_CELL.findall(text) for text in SECTIONS}


def list_keys(value, path=""):
    """The place of each value in a JSON file; what is empty has no place."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from list_keys(one, f"{path}.{name}" if path else name)
        if not value and path:
            yield path
    elif isinstance(value, list):
        for one in value:
            yield from list_keys(one, f"{path}[]")
    else:
        yield path


def list_places(file):
    """The columns, keys or arrays of a file."""
    if file.suffix == ".csv":
        return [name for name in pd.read_csv(file) if not name.startswith("Unnamed")]
    if file.suffix == ".json":
        return sorted(set(list_keys(json.loads(file.read_text()))))
    with safe_open(file, framework="numpy") as arrays:
        return sorted({name.split(".")[1] for name in arrays.keys()})  # noqa: SIM118


def match(line, place):
    """Whether a line of the page speaks of a place: * at the end is all that follows."""
    rest = line.endswith(".*") and r".+"
    pattern = re.escape(line[:-1] if rest else line).replace(r"\*", ".+")
    return re.fullmatch(pattern + (rest or ""), place, re.DOTALL)


def find_missing(folder):
    """What a run folder holds and the page does not name."""
    files = [file for file in sorted(folder.iterdir()) if file.is_file()]
    missing = [file.name for file in files if file.name not in FILES]
    for file in files:
        lines = LINES.get(file.name)
        if lines is not None:
            places = list_places(file)
            missing += [
                f"{file.name}: {place}"
                for place in places
                if not any(match(line, place) for line in lines)
            ]
    return missing


def test_a_run_has_nothing_that_the_page_does_not_name(tiny_run):
    assert find_missing(tiny_run.folder) == []


@pytest.mark.parametrize(
    ("line", "place", "fits"),
    [
        ("fit.p", "fit.p", True),
        ("fit.p", "fit.power", False),
        ("nodes[].effects.*", "nodes[].effects.a.b c", True),
        ("models[].*.bias", "models[].L1.bias", True),
        ("models[].*.bias", "models[].L1.scale", False),
    ],
)
def test_lines_and_places(line, place, fits):
    assert bool(match(line, place)) is fits


def test_a_new_file_or_column_is_noticed(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,colour\n")
    (tmp_path / "more.csv").write_text("a\n")
    assert find_missing(tmp_path) == ["more.csv", "edges.csv: colour"]


@pytest.fixture(scope="module")
def full_run(tmp_path_factory):
    """A run with everything that adds files or columns but screening."""
    import numpy as np

    from rinn.cli import run

    folder = tmp_path_factory.mktemp("full")
    words = "random --mechanism gaussian --inputs 6 --outputs 8 --latents 3 --samples 300 --seed 1"
    assert run(["simulate", *words.split(), "--out", f"{folder}/data"]) == 0
    tissues = np.random.default_rng(0).choice(list("abc"), 300)
    (folder / "cov.csv").write_text("\n".join(["tissue", *tissues]))
    (folder / "prior.csv").write_text("statement,first,second\nmust,x0,y0\nmustnot,x3,y2\n")
    (folder / "sets.gmt").write_text("A\t\ty1\ty3\ty6\nB\t\ty0\ty4\ty5\n")
    options = "--null 1 --trials 8 --epochs 2 --effects corrected --bootstraps 4 --quiet"
    files = {"covariates": "cov.csv", "prior": "prior.csv", "truth": "data/truth.json"}
    given = [word for name, file in files.items() for word in (f"--{name}", f"{folder}/{file}")]
    tables = [f"{folder}/data/x.csv", f"{folder}/data/y.csv"]
    assert run(["fit", *tables, "--out", f"{folder}/run", *given, *options.split()]) == 0
    (folder / "known.sif").write_text("".join(f"x{n} on H\nH on y{n}\n" for n in range(6)))
    named = ["--gmt", f"{folder}/sets.gmt", "--network", f"{folder}/known.sif"]
    assert run(["name", f"{folder}/run", *named, "--permutations", "9"]) == 0
    return folder / "run"


@pytest.mark.slow
def test_a_run_with_all_options_too(full_run):
    assert find_missing(full_run) == []
    named = {file.name for file in full_run.iterdir()}
    assert set(FILES) - named == {"screening.csv", "estimator.json"}


# Columns and keys of other strategies, and of cases that this run is not.
ELSEWHERE = re.compile(
    r"trials.csv: (population|elite_ratio|mutation_rate|legal|rows)|graph.json: graph"
    r"|manifest.json: (outputs|data.kinds|test.auroc.(mean|sd)|.*notes|tables.dropped|prior)"
    r"|manifest.json: workers"
    r"|.*exchangeable|.*prior_driven.*|screening.csv: .*|prior.json: .*|estimator.json: .*"
)


def test_the_folder_of_an_estimator(tmp_path):
    data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
    model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
    assert find_missing(model.save(tmp_path / "run")) == []


@pytest.mark.slow
def test_the_page_names_nothing_that_is_not_there(full_run):
    stale = []
    for name, lines in LINES.items():
        places = list_places(full_run / name) if (full_run / name).exists() else []
        stale += [
            f"{name}: {line}" for line in lines if not any(match(line, place) for place in places)
        ]
    assert [line for line in stale if not ELSEWHERE.match(line)] == []
