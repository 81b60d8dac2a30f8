"""Every cell in order, each kept when it is finished, with the tables up to date."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console

from rinn.config import MAX_SAMPLES, MAX_TRIALS, check_integer
from rinn.errors import InputError, TrainingError, suggest
from rinn.nets.devices import find_devices
from rinn.paper.cells import DATASETS, DONE, FAILED, STRATEGIES, Cell, Job, Setup
from rinn.paper.folder import ReproductionFolder, open_folder
from rinn.paper.progress import GridProgress
from rinn.paper.tables import Comparison, compare
from rinn.paper.writing import write_tables
from rinn.runs.terminal import Terminal
from rinn.simulate.datasets import ALIASES

BUDGETS = ("quick", "paper")
SIMULATED = ("matrix", "gaussian", "or", "logic")
NOT_ON_TUMOURS = ("esc", "dm")
SAMPLES = 5000
MIN_TRIALS = 2
MAX_SEEDS = 1000


class RunCell(Protocol):
    """Runs one strategy on one draw of a dataset; the same call again resumes."""

    def __call__(
        self,
        dataset: str,
        strategy: str,
        budget: str,
        seed: int,
        folder: Path,
        device: str,
        console: Console,
        quiet: bool,
        *,
        samples: int,
        trials: int | None,
    ) -> Cell:
        """Run it in `folder` and give what was found."""
        ...


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
    run_cell: RunCell | None = None,
    console: Console | None = None,
    quiet: bool = False,
) -> Comparison:
    """Make the paper's tables anew, beside the published ones.

    The same call again goes on where it was stopped: cells that are done are not run again, cells
    that failed are. Other datasets, strategies and seeds can be added to the same folder.
    """
    jobs = plan_jobs(datasets, strategies, seeds)
    _check_budget(budget)
    check_integer("samples", samples, 1, MAX_SAMPLES)
    if trials is not None:
        check_integer("trials", trials, MIN_TRIALS, MAX_TRIALS)
    find_devices(device)
    run_cell = run_cell or _find_run_cell()
    setup = Setup(budget, samples, trials, importlib.metadata.version("rinn"))
    console = console or Terminal(stderr=True)
    with open_folder(out, setup) as folder:
        return _run_all(folder, jobs, run_cell, device, console, quiet)


def plan_jobs(
    datasets: Sequence[str], strategies: Sequence[str] | None = None, seeds: int = 1
) -> list[Job]:
    """List the cells: dataset by dataset, draw by draw, all strategies.

    Example:
        >>> [job.name for job in plan_jobs(["5"])]
        ['tcga-or-rinn-0', 'tcga-or-dnn-0', 'tcga-or-dbn-0']
    """
    names = [ALIASES.get(str(name).strip(), str(name).strip()) for name in datasets]
    _check_names("datasets", names, list(DATASETS))
    if strategies is not None:
        strategies = [str(name).strip() for name in strategies]
        _check_names("strategies", strategies, list(STRATEGIES))
    check_integer("seeds", seeds, 1, MAX_SEEDS)
    jobs = (
        Job(dataset, strategy, seed)
        for dataset in names
        for seed in range(seeds)
        for strategy in (_by_default(dataset) if strategies is None else strategies)
    )
    return list(dict.fromkeys(jobs))


def _find_run_cell() -> RunCell:
    """The real one, which needs everything else of the package."""
    from rinn.paper.run import run_cell

    return run_cell


def _check_names(argument: str, names: Sequence[str], known: list[str]) -> None:
    if not names:
        raise InputError(f"{argument} must name at least one of {', '.join(known)}, got none")
    for name in names:
        if name not in known:
            raise InputError(
                f"{argument} must be known names with commas between, got {name!r}"
                f"{suggest(name, known)}"
            )


def _check_budget(budget: str) -> None:
    if budget not in BUDGETS:
        raise InputError(
            f"budget must be {' or '.join(BUDGETS)}, got {budget!r}"
            f"{suggest(budget, BUDGETS, listed=False)}"
        )


def _by_default(dataset: str) -> list[str]:
    """The strategies that the paper ran on a dataset."""
    left_out = NOT_ON_TUMOURS if dataset.startswith("tcga") else ()
    return [name for name in STRATEGIES if name not in left_out]


def _run_all(
    folder: ReproductionFolder,
    jobs: Sequence[Job],
    run_cell: RunCell,
    device: str,
    console: Console,
    quiet: bool,
) -> Comparison:
    cells = folder.load_cells()
    comparison = _write(folder, jobs, cells)
    done = [job for job in jobs if job in cells and cells[job].status == DONE]
    progress = GridProgress(len(jobs), len(done), console, quiet)
    for job in jobs:
        if job in done:
            continue
        progress.begin(job)
        cell = _run_one(folder, job, run_cell, device, console, quiet)
        folder.save_cell(cell)
        cells = cells | {job: cell}
        comparison = _write(folder, jobs, cells)
        progress.end(cell)
    progress.close()
    return comparison


def _run_one(
    folder: ReproductionFolder,
    job: Job,
    run_cell: RunCell,
    device: str,
    console: Console,
    quiet: bool,
) -> Cell:
    """Run a cell; where training comes to nothing, that is its result."""
    setup, started = folder.setup, time.monotonic()
    try:
        return run_cell(
            job.dataset,
            job.strategy,
            setup.budget,
            job.seed,
            folder.find_run(job),
            device,
            console,
            quiet,
            samples=setup.samples,
            trials=setup.trials,
        )
    except TrainingError as error:
        return Cell(
            dataset=job.dataset,
            strategy=job.strategy,
            seed=job.seed,
            budget=setup.budget,
            samples=setup.samples,
            trials=setup.trials,
            versions={"rinn": setup.rinn},
            device=device,
            seconds=time.monotonic() - started,
            sets=0,
            networks=0,
            hidden=None,
            status=FAILED,
            words=str(error),
        )


def _write(folder: ReproductionFolder, jobs: Sequence[Job], cells: dict[Job, Cell]) -> Comparison:
    comparison = compare(folder.setup, jobs, cells)
    write_tables(folder.path, comparison)
    return comparison
