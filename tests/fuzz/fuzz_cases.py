"""The cases: for each family a function of a random generator and an empty folder."""

from __future__ import annotations

import contextlib
import functools
import gzip
import inspect
import json
import os
import re
import shutil
import tempfile
import typing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer
from fuzz_mutations import (
    JUNK,
    NAMES,
    NUMBERS,
    change_file,
    change_format,
    change_path,
    pick,
)

from cohort_files import write_cohort
from gene_files import write_study
from linear_run import make_table, write_linear_run
from rinn.cli import run
from rinn.cli.commands import app
from rinn.graphs.export import EXPORTS
from rinn.graphs.files import EDGE_NUMBERS, MORE_NUMBERS, load_graph, write_graph

SCORE = {"precision": 1.0, "recall": 1.0, "f1": 1.0}
SCORES = {
    "paper": {"hidden": SCORE, "input": SCORE, "threshold": 0.5},
    "graph": {"latents": SCORE, "edges": SCORE, "latent_edges": SCORE}
    | dict.fromkeys(("shd", "order_errors", "twins", "twins_found"), 0),
}
INPUTS = ["TP53", "KRAS", "EGFR", "BRAF", "PTEN"]
OUTPUTS = ["MYC", "JUN", "FOS", "CCND1", "VEGFA"]
PRIOR = "statement,first,second,weight\nmust,TP53,MYC,\nmustnot,KRAS,JUN,\ntogether,TP53,KRAS,1\n"
SETS = "SET_A\tabout\tTP53\tKRAS\nSET_B\tabout\tMYC\tJUN\tFOS\n"
NETWORK = "TP53\tpp\tMYC\nKRAS\tpp\tJUN\tFOS\n"
TRIALS = (
    "trial,setting,split,width,layers,learning_rate,l1,l2,status,epochs,train_loss,"
    "validation_loss,validation_error,sum_abs_weights,distance,nearest,kept\n"
    "0,0,0,1,1,0.01,0.1,0.0,stopped,1,0.7,0.7,0.7,9.5,0.0,True,True\n"
    "1,0,1,1,1,0.01,0.1,0.0,stopped,1,0.6,0.7,0.7,9.0,,False,True\n"
)
CURVES = "trial,epoch,train_loss,validation_loss\n0,1,0.7,0.7\n1,1,0.6,0.7\n"
DM = ["--strategy", "dm"]
TINY = ["--trials", "2", "--epochs", "1", "--device", "cpu"]
FIT = ["fit", "x.csv", "y.csv", "--out"]
TAKEN = [*FIT, "taken", *TINY]  # all is read and checked, then the folder is refused
STUDY = [
    *["--maf", "cohort.maf.gz", "--sequenced", "sequenced.txt"],
    *["--copy-number", "all_thresholded.by_genes.txt", "--expression", "HiSeqV2"],
    *["--clinical", "clinical.tsv", "--tissue-column", "Site", "--covariate-columns", "age,sex"],
]


@dataclass(frozen=True)
class Case:
    """One command to run in the folder that its family has filled.

    `may_change` holds files that the command may replace where it succeeds.
    """

    words: list[str]
    may_change: frozenset[str] = frozenset()
    signal: str | None = None
    delay: float = 0.0


def fill_data(folder):
    """Tables of 60 samples, a graph, what is known; a folder that is taken."""
    rng = np.random.default_rng(0)
    x = (rng.random((60, 5)) < 0.4).astype(int)
    y = ((x | np.roll(x, 1, axis=1)) ^ (rng.random((60, 5)) < 0.1)).astype(int)
    tissue = [("brain", "lung")[row % 2] for row in range(60)]
    age = rng.integers(30, 80, 60)
    tables = {
        "x.csv": (INPUTS, x),
        "y.csv": (OUTPUTS, y),
        "z.csv": (OUTPUTS, (y + rng.normal(size=y.shape)).round(3)),
        "cov.csv": (["tissue", "age"], list(zip(tissue, age, strict=True))),
        "tissue.csv": (["tissue"], [[name] for name in tissue]),
    }
    for name, (header, rows) in tables.items():
        lines = [f"s{number}," + ",".join(map(str, row)) for number, row in enumerate(rows)]
        _write(folder / name, "\n".join([",".join(["sample", *header]), *lines]) + "\n")
    kinds = "".join(f"{name},binary\n" for name in OUTPUTS)
    _write(folder / "kinds.csv", f"output,kind\n{kinds}")
    for name, text in (("prior.csv", PRIOR), ("sets.gmt", SETS), ("net.sif", NETWORK)):
        _write(folder / name, text)
    _write(folder / "prior.json", '[{"statement": "level", "first": "TP53", "second": "1"}]')
    _write(folder / "taken" / "thesis.txt", "mine")


def fill_runs(folder):
    """The data, a run of dm, and a run written by hand with its own table."""
    fill_data(folder)
    with contextlib.chdir(folder):
        assert run([*FIT, "dm", *DM, "--quiet"]) == 0
        # No time of day may decide where a file is damaged.
        about = json.loads(Path("dm/manifest.json").read_text())
        about |= {"created": "2026-03-01T10:20:30+0000", "seconds": 1.5}
        Path("dm/manifest.json").write_text(json.dumps(about))
        assert run(["report", "dm"]) == 0
        about["settings"]["strategy"] = "rinn"
        about["test"] = {"loss": "mse", "samples": 2, "error": {"mean": 1, "sd": 0}, "auroc": None}
        del about["tables"], about["networks"]
        write_linear_run(Path("run"), **about, scores=SCORES)
        _copy_graph("dm/graph.json", "graph.json", "graph.graphml")
        _copy_graph("run/graph.json", "run/graph.json", "truth.json")
        Path("run/trials.csv").write_text(TRIALS)
        Path("run/curves.csv").write_text(CURVES)
        make_table().to_csv("samples.csv", index_label="sample")


def _copy_graph(source, *targets):
    """Write a graph anew, with every attribute that a graph can have."""
    graph = load_graph(source)
    numbers = dict.fromkeys((*EDGE_NUMBERS, *MORE_NUMBERS), 0.5)
    for about in (*graph.nodes.values(), *graph.edges.values()):
        about |= numbers | {"level": 1, "origin": "data", "drawn": True} | about
    for target in targets:
        write_graph(graph, target)


def fill_study(folder):
    """Files of a cohort, and a study folder."""
    packed = write_cohort(folder)["maf"]
    packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes()), mtime=0))
    write_study(folder / "study")


def fill_nothing(folder):
    """An empty folder, for what compiles in other processes."""


@functools.cache
def make_base(fill):
    """Fill a folder once in a process; cases take copies."""
    root = tempfile.TemporaryDirectory()
    fill(Path(root.name))
    return root


def take(fill, folder):
    shutil.copytree(make_base(fill).name, folder, dirs_exist_ok=True, symlinks=True)


def spoil(rng, words, aims=(), formats=False):
    """Damage one of the files that the command names, mostly of `aims`; the words with its path."""
    places = [place for place, word in enumerate(words) if place and Path(word).is_file()]
    aimed = [place for place in places if words[place] in aims]
    place = pick(rng, aimed if aimed and rng.random() < 0.9 else places)
    path = Path(words[place])
    way = rng.random()
    if way < 0.12:
        path = change_path(rng, path)
    else:
        if formats and way < 0.35 and path.suffix == ".csv":
            path = change_format(rng, path)
        if path.suffix not in (".parquet", ".npz"):
            change_file(rng, path)
    return [*words[:place], str(path), *words[place + 1 :]]


def from_commands(fill, *commands, **more):
    """A family: one of the commands, with one of its files damaged."""

    def make(rng, _):
        take(fill, ".")
        return Case(spoil(rng, list(pick(rng, commands)), **more))

    return make


make_tables = from_commands(
    fill_runs,
    [*FIT, "new", *DM],
    ["fit", "x.csv", "z.csv", "--out", "new", *DM],
    [*TAKEN, "--covariates", "cov.csv"],
    [*TAKEN, "--kinds", "kinds.csv"],
    ["check", "graph.json", "--x", "x.csv", "--y", "z.csv"],
    ["check", "graph.json", "--x", "x.csv", "--y", "y.csv", "--covariates", "cov.csv"],
    ["tci", "x.csv", "y.csv", "--out", "new", "--permutations", "2", "--tissue", "tissue.csv"],
    ["simulate", "tcga-or", "--x-block", "x.csv", "--y-block", "y.csv", "--out", "new"],
    ["activity", "run", "samples.csv", "--out", "new.csv"],
    ["whatif", "run", "samples.csv", "--do", "A=1", "--out", "new.csv"],
    formats=True,
)
make_graphs = from_commands(
    fill_runs,
    *(
        words
        for graph in ("graph.json", "graph.graphml")
        for words in (
            ["check", graph],
            ["check", graph, "--json"],
            ["check", graph, "--x", "x.csv", "--y", "y.csv"],
            ["score", graph, "--truth", graph],
            ["score", "dm", "--truth", graph],
            ["name", graph, "--gmt", "sets.gmt"],
            *(["export", graph, "--format", kind, "--out", "new.out"] for kind in EXPORTS),
            [*FIT, "new", *DM, "--truth", graph],
        )
    ),
    aims=("graph.json", "graph.graphml"),
)
make_prepare = from_commands(
    fill_study,
    ["prepare", "--out", "new", *STUDY],
    ["prepare", "--out", "new", *STUDY, "--y-kind", "binary"],
    ["prepare", "--out", "new", *STUDY, "--reference", "normals"],
)
make_priors = from_commands(
    fill_data,
    [*TAKEN, "--prior", "prior.csv"],
    [*TAKEN, "--prior", "prior.json"],
    [*TAKEN, "--gene-sets", "sets.gmt"],
    [*TAKEN, "--network", "net.sif", "--network-mask"],
    ["tci", "x.csv", "y.csv", "--out", "new", "--permutations", "2", "--prior", "prior.csv"],
    aims=("prior.csv", "prior.json", "sets.gmt", "net.sif"),
)
make_fits = from_commands(
    fill_data,
    [*FIT, "new", *TINY],
    ["fit", "x.csv", "z.csv", "--out", "new", *TINY],
    [*FIT, "new", *TINY, "--prior", "prior.csv"],
    [*FIT, "new", *TINY, "--gene-sets", "sets.gmt", "--network", "net.sif"],
)

# A command that is right and cheap for each name; a new command starts from its name alone.
RIGHT = {
    "simulate": ["random", "--out", "new", "--samples", "60"],
    "prepare": [*STUDY, "--out", "new"],
    "fit": ["x.csv", "y.csv", "--out", "new", *DM],
    "score": ["run", "--truth", "truth.json"],
    "check": ["graph.json"],
    "export": ["run", "--format", "dot", "--out", "new.dot"],
    "report": ["dm"],
    "draw": ["run", "--out", "new", "--only", "graph"],
    "view": ["run"],
    "name": ["graph.json", "--gmt", "sets.gmt"],
    "activity": ["run", "samples.csv", "--out", "new.csv"],
    "whatif": ["run", "samples.csv", "--do", "A=1"],
    "similar": ["run"],
    "robust": ["confounder", "run", "--out", "new"],
    "experiment": ["--design", "x.csv", "--measurements", "y.csv", "--out", "new"],
    "compare": ["x.csv", "y.csv", "--out", "new", "--methods", "dm", "--limit", "60"],
    # These train for minutes; each of their two options ends them before that.
    "demo": ["--out", "thesis.txt", "--device", "abacus"],
    "reproduce": ["--out", "thesis.txt", "--device", "abacus"],
    "tci": ["x.csv", "y.csv", "--out", "new", "--permutations", "2", "--cores", "1"],
}
TRAINS = ("demo", "reproduce")
PATHS = [
    *["thesis.txt", "taken", "taken/thesis.txt", "thesis.txt/new", "nowhere/new", ".", "..", ""],
    *["pipe", "loop", "link.csv", "gone", "/dev/null", "/dev/full", "/dev/stdout", "/proc/new"],
    *["n" * 300, "d/" * 3000, "~", "~nobody/new", "x.csv", "run", "dm", "graph.json", "*", "-"],
    *["new\x1b[31m", "new\u202e", "new\n", "new\r", os.fsdecode(b"new\xe9"), "new.csv", "new.txt"],
]


def make_options(rng, seed):
    """An option or argument of a command gets a value that it does not expect, or several do.

    One after the other has its turn, so that as many seeds as there are options reach each.
    """
    take(fill_runs, ".")
    take(fill_study, ".")
    _write(Path("thesis.txt"), "mine")
    os.mkfifo("pipe")
    for name, target in (("loop", "loop"), ("gone", "nowhere"), ("link.csv", "x.csv")):
        Path(name).symlink_to(target)
    commands = typer.main.get_command(app).commands
    turns = [(name, param) for name in sorted(commands) for param in commands[name].params]
    name, turn = turns[seed * 7 % len(turns)]  # neighbours are of different commands
    params = commands[name].params
    more = 0 if name in TRAINS else rng.choice([0, 0, 0, 1, 2])
    arguments = [param.name for param in params if param.param_type_name == "argument"]
    types = typing.get_type_hints(inspect.unwrap(commands[name].callback))
    words = list(RIGHT.get(name, []))
    for param in (turn, *rng.sample(params, min(more, len(params)))):
        value = _choose_value(rng, param, str(types.get(param.name)))
        if param.name in arguments:
            place = arguments.index(param.name)
            words[place : place + 1] = [value]
        elif getattr(param, "is_flag", False):
            words += [param.opts[0]] + ([value] if rng.random() < 0.1 else [])
        else:
            words += [param.opts[0], value] if rng.random() < 0.9 else [f"{param.opts[0]}={value}"]
    if name not in TRAINS and rng.random() < 0.05:
        del words[rng.randrange(len(words))]
    forced = frozenset(words) if "--force" in words else frozenset()
    own = {"report": ["dm/report.html"], "fit": _list_files("dm")}.get(name, [])
    return Case([name, *words], forced | frozenset(own))


def _choose_value(rng, param, kind):
    """A value of the option's own kind that is hostile, a word of its help, or anything."""
    known = re.findall(r"[A-Za-z0-9_.:-]+", getattr(param, "help", None) or "") or ["a"]
    own = PATHS if "Path" in kind else NUMBERS if "int" in kind or "float" in kind else known
    values = pick(rng, [own, own, own, NUMBERS, PATHS, NAMES, known])
    first, second = (pick(rng, values).replace("\0", "") for _ in range(2))  # no shell passes it
    joint = rng.choice(["", "", "", "", "", ",", "=", ":", "+"])
    return first + joint + second if joint else first


READS = {
    "report": "manifest.json graph.json trials.csv curves.csv refit.json activity.csv",
    "fit": "manifest.json graph.json trials.csv",
    "draw": "manifest.json graph.json curves.csv weights.safetensors",
    "whatif": "manifest.json refit.json weights.safetensors graph.json",
    "activity": "manifest.json refit.json weights.safetensors",
    "similar": "manifest.json effects.csv",
}
PLANTED = [
    *["notes.txt", "work/thesis.txt", "nets/thesis.txt", "work/0000.csv", ".mine.part", ".lock"],
    *["figures/a.svg", "manifest.json.bak", "report.html~", ".git/config", "nets/a/b.npz"],
]
USES = [
    *(["report", name] for name in ("dm", *["run"] * 7)),
    *([*FIT, "dm", *DM] for _ in range(3)),
    ["score", "dm", "--truth", "graph.json"],
    ["score", "run", "--truth", "truth.json"],
    *(["check", name] for name in ("dm", "run")),
    ["check", "dm", "--x", "x.csv", "--y", "y.csv"],
    *(["export", name, "--format", kind] for name in ("dm", "run") for kind in ("dot", "sif")),
    *(["draw", "run", "--out", "new", "--only", only] for only in ("graph", "strips", "curves")),
    ["draw", "dm", "--out", "new", "--only", "graph"],
    ["whatif", "run", "samples.csv", "--do", "A=1", "--do", "L1=high", "--without", "L1:y0"],
    ["activity", "run", "samples.csv", "--out", "new.csv"],
    ["similar", "run"],
    *(["name", name, "--gmt", "sets.gmt"] for name in ("dm", "run")),
    ["view", "run"],
]


def make_runs(rng, _):
    """A run folder with damaged files and the user's own; or the user's folder named as --out."""
    take(fill_runs, ".")
    if rng.random() < 0.2:
        _plant(rng, "mine")
        word = rng.choice(["fit", "tci", "prepare", "simulate", "draw"])
        words = {**RIGHT, "prepare": ["--mutations", "x.csv", "--expression", "z.csv"]}[word]
        words = [each for each in words if each != "new"]
        words = [each for each in words if each != "--out"]
        return Case([word, *words, "--out", "mine"])
    words = list(pick(rng, USES))
    folder = Path("dm" if "dm" in words[1:] else "run")
    own = _list_files(folder)
    for _ in range(rng.choice([0, 1, 1, 1, 1, 1, 2])):
        read = READS.get(words[0], "manifest.json graph.json").split()
        aims = [path for path in own if Path(path).name in read]
        _damage(rng, folder, Path(pick(rng, aims if rng.random() < 0.85 else own)))
    if rng.random() < 0.6:
        _plant(rng, folder)
    writes = {"fit": own, "report": [f"{folder}/report.html"]}.get(words[0], [])
    return Case(words, frozenset(map(str, writes)))


def _list_files(folder):
    return sorted(str(path) for path in Path(folder).iterdir() if path.is_file())


def _damage(rng, folder, path):
    if not path.is_file() or path.is_symlink():
        return
    way = rng.random()
    if way < 0.6:
        change_file(rng, path)
    elif way < 0.7:
        path.write_bytes(Path(pick(rng, _list_files(folder))).read_bytes())
    elif way < 0.8:
        path.write_bytes(pick(rng, JUNK))
    elif way < 0.9:
        path.unlink()
    else:
        change_path(rng, path)


def _plant(rng, folder):
    for name in rng.sample(PLANTED, rng.randint(1, 3)):
        path = Path(folder, name)
        if not path.exists():
            _write(path, "mine")


def make_signals(rng, _):
    """A signal at some moment of a fit in a process of its own, then the same command again."""
    take(fill_data, ".")
    tiny = rng.random() < 0.5
    words = [*FIT, "new", *(TINY if tiny else DM)]
    name = rng.choice(["SIGINT", "SIGTERM", "SIGKILL"])
    return Case(words, signal=name, delay=rng.random() * (8 if tiny else 3))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


FAMILIES = {
    "tables": make_tables,
    "graphs": make_graphs,
    "options": make_options,
    "runs": make_runs,
    "prepare": make_prepare,
    "priors": make_priors,
    "fits": make_fits,
    "signals": make_signals,
}
