"""The paper's tables again: every cell in order, each kept in cells/ when it is finished."""

from __future__ import annotations

import functools
import importlib.metadata
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
from rich.console import Console

from rinn.cluster.connect import open_workers
from rinn.cluster.dask_workers import DaskWorkers
from rinn.config import (
    MAX_SAMPLES,
    MAX_TRIALS,
    RunSettings,
    check_choice,
    check_choices,
    check_integer,
)
from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.errors import TrainingError
from rinn.fit import fit_run
from rinn.graphs.files import load_graph
from rinn.graphs.protocol import Score
from rinn.nets.devices import find_devices, limit_cores
from rinn.paper.cells import (
    DATASETS,
    DONE,
    FAILED,
    SCORES,
    STRATEGIES,
    Cell,
    GraphF1,
    Job,
    MapScores,
    Setup,
    load_cell,
    load_published,
)
from rinn.paper.tables import Comparison, compare
from rinn.paper.write import write_tables
from rinn.runs.folder import FORMAT, FolderKind, OutputFolder, open_output
from rinn.runs.manifest import ScoreValues, Spread
from rinn.runs.progress import StepProgress, format_time
from rinn.runs.read import RunContents
from rinn.runs.score import score_reach
from rinn.runs.terminal import Terminal
from rinn.simulate.datasets import ALIASES, make_dataset
from rinn.simulate.writing import write_simulation
from rinn.strategies import find_strategy
from rinn.strategies.base import Detection

BUDGETS = {"quick": "default", "paper": "paper"}  # and the budget of `RunSettings`
SIMULATED = ("matrix", "gaussian", "or", "logic")
NOT_ON_TUMOURS = ("esc", "dm")
SAMPLES = 5000
MIN_TRIALS = 2
MAX_SEEDS = 1000
CELLS, RUNS = "cells", "runs"
REPRODUCTION = FolderKind(
    "reproduction",
    "reproduction.json",
    ("format", "budget", "samples", "trials", "rinn"),
    subfolders=(CELLS, RUNS),
)

RunCell = Callable[[Job, Setup, Path, str, Console, bool], Cell]


def reproduce(
    out: Path,
    datasets: Sequence[str] = SIMULATED,
    strategies: Sequence[str] | None = None,
    budget: str = "quick",
    seeds: int = 1,
    device: str = "auto",
    *,
    samples: int = SAMPLES,
    trials: int | None = None,
    runner: RunCell | None = None,
    console: Console | None = None,
    quiet: bool = False,
    cluster: str | None = None,
    cores: int | None = None,
) -> Comparison:
    """Make the paper's tables again, beside the published ones; cells that are done stay."""
    jobs = plan_jobs(datasets, strategies, seeds)
    check_choice("budget", budget, BUDGETS)
    check_integer("samples", samples, 1, MAX_SAMPLES)
    if trials is not None:
        check_integer("trials", trials, MIN_TRIALS, MAX_TRIALS)
    setup = Setup(budget, samples, trials, importlib.metadata.version("rinn"))
    console = console or Terminal(stderr=True)
    notify = StepProgress("cells", len(jobs), console, quiet).say
    with (
        limit_cores(cores),
        open_workers(cluster, device, notify) as workers,
    ):
        find_devices(device)  # refuses what it cannot find before anything is written
        run = functools.partial(run_cell, workers=workers) if workers else run_cell
        with open_output(out, {"format": FORMAT} | setup.to_json(), REPRODUCTION) as folder:
            return _run_all(folder, setup, jobs, runner or run, device, console, quiet)


def plan_jobs(
    datasets: Sequence[str], strategies: Sequence[str] | None = None, seeds: int = 1
) -> list[Job]:
    """List the cells: dataset by dataset, draw by draw, all strategies."""
    names = [ALIASES.get(str(name).strip(), str(name).strip()) for name in datasets]
    check_choices("datasets", names, DATASETS)
    if strategies is not None:
        strategies = [str(name).strip() for name in strategies]
        check_choices("strategies", strategies, STRATEGIES)
    check_integer("seeds", seeds, 1, MAX_SEEDS)
    jobs = (
        Job(dataset, strategy, seed)
        for dataset in names
        for seed in range(seeds)
        for strategy in (strategies or STRATEGIES)  # without names those that the paper ran
        if strategies or not (dataset.startswith("tcga") and strategy in NOT_ON_TUMOURS)
    )
    return list(dict.fromkeys(jobs))


def _run_all(
    folder: OutputFolder,
    setup: Setup,
    jobs: Sequence[Job],
    run: RunCell,
    device: str,
    console: Console,
    quiet: bool,
) -> Comparison:
    cells = _load_cells(folder.path, setup)
    comparison = compare(setup, jobs, cells)
    write_tables(folder.path, comparison)
    left = [job for job in jobs if job not in cells or cells[job].status != DONE]
    progress, failed = StepProgress("cells", len(jobs), console, quiet), 0
    for number, job in enumerate(left, len(jobs) - len(left)):
        progress.show(number - failed, f"now {_label_job(job)}")
        cell = _run_one(job, setup, folder.path / RUNS / job.name, run, device, console, quiet)
        folder.write_json(f"{CELLS}/{job.name}.json", cell.to_json())
        cells = cells | {job: cell}
        comparison = compare(setup, jobs, cells)
        write_tables(folder.path, comparison)
        failed += cell.status == FAILED
        progress.say(f"{_label_job(job)}: {_describe_result(cell)}")
    progress.show(len(jobs) - failed, f"{failed} failed" if failed else "finished")
    return comparison


def _load_cells(folder: Path, setup: Setup) -> dict[Job, Cell]:
    """The finished cells of this setup; damaged and foreign files are passed over."""
    cells = ((path, load_cell(path)) for path in sorted((folder / CELLS).glob("*.json")))
    return {
        cell.job: cell
        for path, cell in cells
        if cell is not None and cell.setup == setup and path.stem == cell.job.name
    }


def _run_one(
    job: Job,
    setup: Setup,
    folder: Path,
    run: RunCell,
    device: str,
    console: Console,
    quiet: bool,
) -> Cell:
    """Run a cell; where training fails, that is its result."""
    started = time.monotonic()
    try:
        return run(job, setup, folder, device, console, quiet)
    except TrainingError as error:
        return Cell(
            **_describe(job, setup, {"rinn": setup.rinn}),
            device=device,
            seconds=time.monotonic() - started,
            sets=0,
            networks=0,
            hidden=None,
            status=FAILED,
            message=str(error),
        )


def _describe(job: Job, setup: Setup, versions: dict[str, str]) -> dict[str, Any]:
    common = {"budget": setup.budget, "samples": setup.samples, "trials": setup.trials}
    return vars(job) | common | {"versions": versions}


def run_cell(
    job: Job,
    setup: Setup,
    folder: Path,
    device: str,
    console: Console,
    quiet: bool,
    workers: DaskWorkers | None = None,
) -> Cell:
    """Run one strategy on one draw of a dataset; the same call again resumes."""
    data = folder / "data"
    simulation = make_dataset(job.dataset, samples=setup.samples, seed=job.seed)
    write_simulation(simulation, data, same_is_fine=True)
    settings = RunSettings(
        strategy=job.strategy,
        budget=BUDGETS[setup.budget],
        trials=setup.trials,
        seed=job.seed,
        effects="corrected",  # the protocol scores networks, also where a regression is enough
    )
    x_path, y_path, truth = (data / name for name in ("x.csv", "y.csv", "truth.json"))
    run = fit_run(x_path, y_path, folder / "run", settings, device=device, truth_path=truth,
                  console=console, quiet=quiet, cluster=workers)  # fmt: skip
    about = _describe(job, setup, run.manifest.versions)
    strategy = find_strategy(settings)
    if isinstance(strategy, Detection):
        tables, graph = load_data(x_path, y_path), load_graph(truth)
        return _score_detection(strategy, tables, graph, settings, about)
    return _read_run(run, about)


def _read_run(run: RunContents, about: dict[str, Any]) -> Cell:
    scores, networks, test = run.scores, run.manifest.networks, run.manifest.paper_test
    if scores is None or networks is None or test is None:
        raise run.reject("manifest.json")
    paper, graph = scores["paper"], scores["graph"]
    return Cell(
        **about,
        device=str(run.manifest.device),
        seconds=run.manifest.seconds or 0.0,
        sets=networks.sets,
        networks=networks.trained,
        hidden=_read_scores(paper["hidden"]),
        input=_read_scores(paper["input"]) if paper["input"] else None,
        test_error=test.error,
        auroc=test.auroc,
        graph=GraphF1(graph["latents"]["f1"], graph["edges"]["f1"]),
    )


def _read_scores(table: ScoreValues) -> MapScores:
    means: dict[str, Any] = dict(table)
    spreads = {name: Spread(means[name], table["sd"][name]) for name in SCORES}
    return MapScores(**spreads, threshold=table["threshold"])


def _score_detection(
    strategy: Detection,
    data: Data,
    truth: nx.DiGraph,
    settings: RunSettings,
    about: dict[str, Any],
) -> Cell:
    """Score every graph of a strategy without networks; the best counts, as in the paper."""
    started = time.monotonic()
    detected = strategy.detect(data, settings)
    seconds = time.monotonic() - started
    scores = [score_reach(graph, truth, data.inputs, data.outputs) for graph in detected.graphs]
    best = max(range(len(scores)), key=lambda i: (scores[i][0].f1, scores[i][1].f1))
    chosen = detected.trials.iloc[best]
    hidden, inputs = map(_make_scores, scores[best])
    return Cell(
        **about,
        device="cpu",
        seconds=seconds,
        sets=len(scores),
        networks=0,
        hidden=hidden,
        input=inputs,
        chosen={name: float(chosen[name]) for name in ("alpha_pc", "alpha_sober")},
    )


def _make_scores(score: Score) -> MapScores:
    return MapScores(Spread(score.precision), Spread(score.recall), Spread(score.f1))


def _label_job(job: Job) -> str:
    return f"data {DATASETS[job.dataset]}, {STRATEGIES[job.strategy]}, data seed {job.seed}"


def _describe_result(cell: Cell) -> str:
    if cell.hidden is None:
        return f"failed ({cell.message})"
    published = load_published().get((cell.dataset, cell.strategy), {}).get("hidden_f1")
    paper = "" if published is None else f" (paper {published.mean:.2f})"
    return f"hidden F1 {cell.hidden.f1.mean:.2f}{paper}, {format_time(cell.seconds)}"
