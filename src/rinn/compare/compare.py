"""All methods on two tables: each finished one is kept, so that the same command goes on."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import networkx as nx
from rich.console import Console

from rinn.compare.limits import run_limited
from rinn.compare.page import write_comparison
from rinn.compare.rows import (
    ABSENT,
    DONE,
    FAILED,
    STOPPED,
    Outcome,
    Row,
    load_outcome,
    make_row,
)
from rinn.config import RunSettings, check_choices, check_number
from rinn.data.align import fingerprint, load_data
from rinn.data.problem import make_problem
from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.nets.devices import find_devices
from rinn.runs.folder import FORMAT, FolderKind, OutputFolder, open_output
from rinn.runs.progress import StepProgress, format_time
from rinn.runs.score import check_truth
from rinn.runs.terminal import Terminal
from rinn.strategies import STRATEGIES, explain_absence
from rinn.strategies.base import Networks

LIMIT = 600.0  # seconds
METHODS, RUNS = "methods", "runs"
COMPARISON = FolderKind(
    "comparison", "comparison.json", ("format", "settings", "data"), subfolders=(METHODS, RUNS)
)


@dataclass(frozen=True)
class Job:
    """What all methods of a comparison share."""

    paths: dict[str, str | None]  # of `fit_run`
    settings: RunSettings
    device: str
    limit: float


Runner = Callable[[str, Job, Path], Outcome]


def compare(
    x_path: Path,
    y_path: Path,
    out: Path,
    settings: RunSettings | None = None,
    *,
    methods: Sequence[str] | None = None,
    limit: float = LIMIT,
    device: str = "auto",
    truth_path: Path | None = None,
    covariates_path: Path | None = None,
    kinds_path: Path | None = None,
    runner: Runner | None = None,
    console: Console | None = None,
    quiet: bool = False,
) -> list[Row]:
    """Run every method on the same tables, and write one page and one table about all of them.

    Each method runs in a process of its own, which is killed at its limit. What is finished is
    kept; a method that was stopped runs again if the limit is higher.

    Args:
        x_path: table of the inputs.
        y_path: table of the outputs.
        out: the folder of the comparison.
        settings: of every method; what a method does not have is left out for it.
        methods: names of strategies; by default all.
        limit: seconds for each method.
        device: auto, cpu or gpu.
        truth_path: a graph to score against; no method sees it.
        covariates_path: see `fit_run`.
        kinds_path: see `fit_run`.
        runner: what runs a method; by default a child process.
        console: where progress is shown.
        quiet: show nothing.

    Returns:
        One row for each method.

    Raises:
        InputError: before anything is written.
    """
    settings = settings or RunSettings()
    chosen = list(dict.fromkeys(check_choices("methods", methods or list(STRATEGIES), STRATEGIES)))
    limit = check_number("limit", limit, above=True, example=LIMIT)
    find_devices(device)
    data = load_data(x_path, y_path, covariates_path, kinds_path)
    truth = None if truth_path is None else load_graph(truth_path)
    if truth is not None:
        check_truth(truth, data.inputs, data.outputs)
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    named = {"x_path": x_path, "y_path": y_path, "covariates_path": covariates_path,
             "kinds_path": kinds_path}  # fmt: skip
    paths = {name: str(path.resolve()) if path else None for name, path in named.items()}
    job = Job(paths, settings, device, limit)
    shared = {name: value for name, value in settings.to_json().items() if name != "strategy"}
    manifest = {"format": FORMAT, "settings": shared, "data": fingerprint(data)}
    progress = StepProgress("methods", len(chosen), console or Terminal(stderr=True), quiet)
    with open_output(out, manifest, COMPARISON) as folder:
        outcomes: list[Outcome] = []
        for number, method in enumerate(chosen):
            outcome = load_outcome(out / METHODS / f"{method}.json")
            if outcome is None or not outcome.is_final(limit):
                progress.show(number, f"now {method}")
                outcome = (runner or run_method)(method, job, out / RUNS / method)
                folder.write_json(f"{METHODS}/{method}.json", dataclasses.asdict(outcome))
                progress.say(_describe(outcome))
            outcomes.append(outcome)
        rows = [make_row(one, _load_graph(folder, one), data, problem, truth) for one in outcomes]
        rows = sort_rows(rows)
        write_comparison(folder, rows, f"{x_path.name} and {y_path.name}", data, limit)
    return rows


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    """The best first, where there is a truth; methods without a graph last."""

    def rank(row: Row) -> tuple[bool, float, float]:
        scores = row.scores
        f1 = (-scores.latents.f1, -scores.edges.f1) if scores else (0.0, 0.0)
        return row.graph is None, *f1

    return sorted(rows, key=rank)


def run_method(method: str, job: Job, folder: Path) -> Outcome:
    """Fit the tables by one method in a child process."""
    strategy = STRATEGIES[method]
    if not strategy.is_installed:
        return Outcome(method, ABSENT, explain_absence(method), job.limit)
    with tempfile.TemporaryDirectory() as work:
        result = Path(work) / "result.json"
        task = {
            "paths": job.paths | {"out": str(folder.resolve())},
            "settings": make_settings(job.settings, method).to_json(),
            "device": job.device,
            "result": str(result),
        }
        command = [sys.executable, "-m", "rinn.compare.worker", json.dumps(task)]
        ended = run_limited(command, job.limit)
        if ended.code == 0:
            return Outcome(method, limit=job.limit, **json.loads(result.read_text()))
    if ended.code is None:
        message = f"not finished at the limit of {format_time(job.limit)}"
        return Outcome(method, STOPPED, message, job.limit)
    message = f"its process ended with the code {ended.code} ({ended.error or 'no message'})"
    return Outcome(method, FAILED, message, job.limit)


def make_settings(settings: RunSettings, method: str) -> RunSettings:
    """The settings of one method: without networks there are no trials and epochs."""
    if isinstance(STRATEGIES[method], Networks):
        return replace(settings, strategy=method)
    return replace(settings, strategy=method, trials=None, epochs=None)


def _load_graph(folder: OutputFolder, outcome: Outcome) -> nx.DiGraph | None:
    if outcome.status != DONE:
        return None
    path = folder.path / RUNS / outcome.method / "graph.json"
    try:
        return load_graph(path)
    except InputError:
        raise InputError(
            f"--out must hold the runs of its methods, but {path} cannot be read; remove "
            f"{METHODS}/{outcome.method}.json in {folder.path} to run this method again"
        ) from None


def _describe(outcome: Outcome) -> str:
    time = f" in {format_time(outcome.seconds)}" if outcome.seconds is not None else ""
    message = f" ({outcome.message})" if outcome.message else ""
    return f"{outcome.method}: {outcome.status}{time}{message}"
