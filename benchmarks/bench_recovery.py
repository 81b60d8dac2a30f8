"""How well the graph that a user gets recovers the true one, on fresh data, beside the bars.

The truth is used for nothing but scoring. Finished cases are kept in `--out`, one JSON object a
line, so that the same command goes on where it was stopped; a case that failed is run again, and
the last line of a case counts.

Random graphs are taken as they are drawn. In some, latents with many causes are nearly always on,
and what lies below them does not show: tables tell these graphs apart, the bars count them all. The
suites of 20 and 10 harder worlds leave such graphs out: they ask whether a world is understood, not
how faint an effect may be. Those of 10 have no bars: docs/worlds.md says what to expect of them.

Development uses other graphs than those reported: `--first 500`, with an `--out` of its own. Bars
are those of the strategy rinn; `--strategy regression,nem` adds the rows of others to the tables.
With `--case-limit` each case runs in a process of its own, which is killed when it has used that
many seconds of processor time: on a shared machine, the clock on the wall would judge its load.

A graph without latents has no precision: its score says 0, the tables count 1, because it draws
nothing wrong; what it misses lowers its recall and F1. Seconds are those of the fit, compilation
included, beside `jobs - 1` other fits.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import itertools
import json
import multiprocessing
import os
import platform
import resource
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

import rinn
from rinn.cluster.connect import open_workers
from rinn.compare.compare import make_settings
from rinn.compare.limits import end_with_parent, run_limited
from rinn.config import BUDGETS, DEVICES, RunSettings, check_choice
from rinn.data.align import as_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, collapse, reach
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset
from rinn.simulate.samples import Simulation
from rinn.strategies import STRATEGIES
from rinn.strategies.base import Networks

Record = dict[str, Any]

WORLDS_OF_20 = ("logic20", "curved20", "direct20", "unequal20", "twins20")
WORLDS_OF_10 = (
    "and10", "xor10", "mixed10", "levels10", "noisy10", "flips10", "factor10", "shared10",
    "outputs10",
)  # fmt: skip
NEW_SUITES = ("random60", "orphans60", *WORLDS_OF_20, *WORLDS_OF_10)
SUITES = ("paper", "samples", "tcga", "random", "null", "seeds", *NEW_SUITES)
# With 880 networks a case, only the suites that are compared with the paper, unless more are named.
SUITES_OF = {"default": SUITES, "paper": ("paper", "tcga")}
REFITTED = ("paper", "tcga")  # suites whose graphs are fitted as networks of their own
SAMPLES = 5000
DATA_SEEDS = (10, 11, 12, 13, 14)
PAPER = ("matrix", "gaussian", "or", "logic")
FEWER = ("or", "gaussian", "logic")
SIZES = (250, 500, 1000, 2000, 5000)
TCGA = ("tcga-or", "tcga-logic")
GRAPHS = 30
ATTEMPTS = 50
PATIENCE = 20  # seconds of wall time for each second of processor time, at most
LARGE = 100_000  # rows that show how faint the effects of a random graph are
FAINT = 3.0  # standard errors
NULL_SIZES = (5000, 1000)
SEARCHED = ("matrix", "or")
SEARCH_SEEDS = 5
FRESH = 1000  # added to seeds of graphs, sizes and permutations: no other work draws from these
PACKAGES = ("rinn", "jax", "jaxlib", "optax", "numpy", "networkx", "scikit-learn")
OPTIONAL = ("causal-learn",)
COMPARED = ("graph_loss", "free_loss", "test_loss", "difference", "error", "is_adequate")


@dataclass(frozen=True)
class Case:
    """One fit: `seed` is the data's (or the number of a random graph), `search_seed` the run's."""

    suite: str
    dataset: str
    n: int
    seed: int
    budget: str = "default"
    search_seed: int = 0
    trials: int | None = None
    epochs: int | None = None
    strategy: str = "rinn"

    @property
    def settings(self) -> RunSettings:
        """What the fit is called with."""
        world = WORLDS.get(self.suite)
        shared = RunSettings(
            **dict(world.settings if world and self.strategy == "rinn" else ()),
            budget=self.budget,
            trials=self.trials,
            epochs=self.epochs,
            seed=self.search_seed,
        )
        return make_settings(shared, self.strategy)

    @property
    def label(self) -> str:
        """The budget in words, with what was changed of it."""
        words = [f"budget {self.budget}"]
        words += [f"{self.trials} networks"] if self.trials else []
        words += [f"{self.epochs} epochs"] if self.epochs else []
        return ", ".join(words)

    def is_like(self, other: Case) -> bool:
        """Whether the other case of another suite is the same fit of the same data."""
        permuted = "null" in (self.suite, other.suite)
        return not permuted and dataclasses.replace(other, suite=self.suite) == self


@dataclass(frozen=True)
class Bar:
    """What must hold of a suite: the mean of `measure` over runs is `bound` or better.

    With `by` it must hold of every group of runs alike in these fields. `dataset` and `n` choose
    the runs; None takes all.
    """

    suite: str
    meaning: str
    measure: str
    bound: float
    dataset: str | None = None
    n: int | None = None
    by: tuple[str, ...] = ()
    at_most: bool = False

    def chooses(self, case: Case) -> bool:
        """Whether the run of a case counts; the bars are those of one strategy."""
        if case.strategy != "rinn":
            return False
        asked = ((self.suite, case.suite), (self.dataset, case.dataset), (self.n, case.n))
        return all(wanted in (None, given) for wanted, given in asked)


@dataclass(frozen=True)
class World:
    """How the graphs of a suite are drawn: mechanisms by turns, ranges of sizes, what is fixed.

    `seed` is added to the numbers of graphs and begins the seeds of their sizes. Where `visible`,
    graphs with effects below `FAINT` are drawn again. `settings` are those that rinn has for such
    a world.
    """

    graphs: int
    seed: int
    mechanisms: tuple[str, ...] = ("or", "gaussian")
    levels: tuple[int, int] = (1, 3)
    latents: tuple[int, int] = (4, 12)
    inputs: tuple[int, int] = (10, 30)
    outputs: tuple[int, int] = (16, 30)
    fixed: tuple[tuple[str, Any], ...] = ()
    visible: bool = True
    settings: tuple[tuple[str, Any], ...] = ()

    def draw_sizes(self, rng: np.random.Generator) -> dict[str, int]:
        """Draw each size from its range, both ends included."""
        names = ("levels", "latents", "inputs", "outputs")
        return {name: int(rng.integers(*getattr(self, name), endpoint=True)) for name in names}


# The seeds of two suites are further apart than the numbers of their graphs will ever be.
WORLDS = {
    "random60": World(60, 200_000, visible=False),
    "orphans60": World(60, 300_000, levels=(2, 3), fixed=(("orphans", 0.3),), visible=False),
    # An AND of rare inputs, or an XOR of many, hides its causes: few inputs to each latent.
    "logic20": World(
        20, 400_000, ("logic",), levels=(1, 2), latents=(3, 5), inputs=(8, 14), outputs=(12, 20)
    ),
    "curved20": World(20, 500_000, ("curved",)),
    "direct20": World(20, 600_000, fixed=(("direct", 5),)),
    # Effects are products along a path: with three levels hardly a graph has none that is faint.
    "unequal20": World(20, 700_000, levels=(1, 2), latents=(4, 8), fixed=(("unequal", 10.0),)),
    "twins20": World(20, 800_000, latents=(5, 12), inputs=(16, 30), fixed=(("twins", 2),)),
    # An AND shows where its inputs are often 1, an XOR where they are seldom. With one operator
    # there is none to draw again for effects that hide.
    "and10": World(
        10,
        900_000,
        ("logic",),
        levels=(1, 2),
        latents=(3, 5),
        inputs=(8, 14),
        outputs=(12, 20),
        fixed=(("operators", ("and",)), ("prevalence", 0.6), ("min_effect", 0.0)),
    ),
    "xor10": World(
        10,
        1_000_000,
        ("logic",),
        levels=(1, 2),
        latents=(3, 5),
        inputs=(8, 14),
        outputs=(12, 20),
        fixed=(("operators", ("xor",)), ("prevalence", 0.25), ("min_effect", 0.0)),
    ),
    "mixed10": World(10, 1_100_000, ("mixed",)),
    "levels10": World(10, 1_200_000, levels=(4, 4), latents=(6, 12), inputs=(14, 30)),
    "noisy10": World(
        10, 1_300_000, ("gaussian",), fixed=(("correlated", 0.5), ("input_noise", 0.1))
    ),
    # One input in a hundred is wrong: of inputs that are 1 in 8 %, about one 1 in nine.
    "flips10": World(10, 1_400_000, ("or",), fixed=(("correlated", 0.5), ("input_noise", 0.01))),
    # Numbers load on the factor as strongly as on their latents; 0/1 outputs are flipped together
    # in a tenth of the rows, which takes about 15 % of their effects.
    "factor10": World(10, 1_500_000, ("gaussian",), fixed=(("factor", 1.0),)),
    "shared10": World(10, 1_600_000, ("or",), fixed=(("factor", 0.1),)),
    "outputs10": World(
        10, 1_700_000, fixed=(("output_edges", 5),), settings=(("output_edges", True),)
    ),
}
# What changes the rows alone: how faint a graph's effects are is told without it.
ROWS_ALONE = ("correlated", "input_noise", "factor", "output_edges")


# Mean F1 of the latents over the data seeds, by budget.
PAPER_F1 = {
    "default": {"matrix": 0.98, "gaussian": 0.95, "or": 0.98, "logic": 0.95},
    "paper": {"matrix": 0.99, "gaussian": 0.97, "or": 0.99, "logic": 0.98},
}
EACH = ("dataset",)
BOTH = ("dataset", "n")
BARS = (
    Bar("paper", "latents' precision, each dataset", "precision", 0.98, by=EACH),
    Bar("paper", "edges' F1, each dataset", "edges_f1", 0.90, by=EACH),
    Bar("paper", "share of runs without order errors", "ordered", 0.95),
    Bar("paper", "share of runs whose refit is within its standard error", "carries", 0.90),
    Bar("paper", "share of runs with the true graph, SHD 0", "exact", 0.95),
    Bar("samples", "latents' F1 at n = 1000, each dataset", "f1", 0.90, n=1000, by=EACH),
    Bar("samples", "latents' F1 at n = 1000", "f1", 0.98, n=1000),
    Bar("samples", "latents' F1 at n = 500", "f1", 0.93, n=500),
    Bar("samples", "latents' F1 at n = 250", "f1", 0.78, n=250),
    Bar("samples", "latents' precision, each dataset and n", "precision", 0.95, by=BOTH),
    Bar("tcga", "latents' F1, each dataset", "f1", 0.98, by=EACH),
    Bar("random", "latents' F1", "f1", 0.95),
    Bar("random", "latents' precision", "precision", 0.97),
    Bar("null", "edges drawn where there is nothing", "edges", 0.0, at_most=True),
    Bar("seeds", "search seeds of 5 with the same latents, each dataset", "identical", 4, by=EACH),
    Bar("random60", "latents' F1", "f1", 0.98),
    Bar("random60", "edges' F1", "edges_f1", 0.96),
    Bar("random60", "latents' precision", "precision", 0.98),
    Bar("orphans60", "latents' F1", "f1", 0.95),
    Bar("orphans60", "edges' F1", "edges_f1", 0.93),
    Bar("orphans60", "latents' precision", "precision", 0.97),
    *(Bar(suite, "latents' F1", "f1", 0.95) for suite in WORLDS_OF_20),
    *(Bar(suite, "latents' precision", "precision", 0.97) for suite in WORLDS_OF_20),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case that is not yet in `--out`, then print tables and bars."""
    options = _parse(arguments)
    if options.case:
        end_with_parent()
        if options.case_limit:
            resource.setrlimit(resource.RLIMIT_CPU, (options.case_limit, options.case_limit + 5))
        case = Case(**json.loads(options.case))
        append_record(options.out, describe_case(case, 1) | _fit_case(case, options.device))
        return
    console = Console(width=None if sys.stdout.isatty() else 240)
    if not options.report:
        run_all(options, console, measure, _tell)
    report(list(load_records(options.out).values()), console)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", help=f"of {','.join(SUITES)}; by default what the budget can do")
    parser.add_argument("--seeds", help="data seeds of paper, samples, tcga and null")
    parser.add_argument("--first", type=int, default=0, help="number of the first random graph")
    parser.add_argument("--graphs", type=int, help="random graphs of each suite, if not all")
    parser.add_argument("--strategy", default="rinn", help=f"of {','.join(STRATEGIES)}")
    parser.add_argument("--case-limit", type=int, help="CPU seconds after which a case is killed")
    parser.add_argument("--case", help=argparse.SUPPRESS)  # a single one, as JSON: a child's
    parser.add_argument("--budget", default="default", choices=BUDGETS)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--jobs", type=int, default=1, help="processes, which share a GPU")
    parser.add_argument("--cluster", help="workers for the cases: local:N, tcp://host:8786, a file")
    parser.add_argument("--limit", type=float, help="seconds after which no case is started")
    parser.add_argument("--trials", type=int, help="networks, in place of the budget's")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--out", type=Path, required=True, help="finished cases, a JSON line each")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    options = parser.parse_args(arguments)
    named = options.suite.split(",") if options.suite else SUITES_OF[options.budget]
    for name in named:
        if name not in SUITES:
            parser.error(f"--suite must be of {', '.join(SUITES)}, got {name!r}")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    if options.first < 0:
        parser.error(f"--first must be at least 0, got {options.first}")
    if options.report and not options.out.exists():
        parser.error(f"--out must be a file to report, but there is no {options.out}")
    try:
        options.seeds = tuple(map(int, options.seeds.split(","))) if options.seeds else None
        options.cases = plan_cases(
            named,
            options.seeds,
            options.budget,
            options.trials,
            options.epochs,
            first=options.first,
            graphs=options.graphs,
            strategies=options.strategy.split(","),
        )
        _ = [case.settings for case in options.cases]
    except ValueError as error:
        parser.error(str(error))
    return options


def plan_cases(
    suites: Sequence[str],
    seeds: Sequence[int] | None = None,
    budget: str = "default",
    trials: int | None = None,
    epochs: int | None = None,
    *,
    first: int = 0,
    graphs: int | None = None,
    strategies: Sequence[str] = ("rinn",),
) -> list[Case]:
    """List the cases, suite by suite, seed by seed: a run cut short has all datasets.

    Args:
        suites: names in `SUITES`.
        seeds: of the data; None takes `DATA_SEEDS`.
        budget: of every fit.
        trials: in place of the budget's.
        epochs: in place of the budget's.
        first: the number of the first random graph.
        graphs: how many random graphs of a suite, if not all.
        strategies: each of them fits everything.

    Returns:
        Each case once.
    """
    for name in strategies:
        check_choice("strategy", name, STRATEGIES)
    drawn = seeds or DATA_SEEDS
    rows = {
        "paper": [(name, SAMPLES, seed, 0) for seed in drawn for name in PAPER],
        "samples": [(name, n, seed, 0) for seed in drawn for n in SIZES for name in FEWER],
        "tcga": [(name, SAMPLES, seed, 0) for seed in drawn for name in TCGA],
        "random": [("random", SAMPLES, first + number, 0) for number in range(GRAPHS)],
        "null": [(name, n, seed, 0) for seed in drawn for n in NULL_SIZES for name in FEWER],
        "seeds": [
            (name, SAMPLES, DATA_SEEDS[0], seed)
            for seed in range(SEARCH_SEEDS)
            for name in SEARCHED
        ],
    } | {
        suite: [(suite, SAMPLES, first + number, 0) for number in range(graphs or world.graphs)]
        for suite, world in WORLDS.items()
    }
    cases = [
        Case(suite, name, n, seed, budget, search_seed, *_find_sizes(strategy, trials, epochs),
             strategy)
        for suite in suites
        for name, n, seed, search_seed in rows[suite]
        for strategy in strategies
    ]  # fmt: skip
    return list(dict.fromkeys(cases))


def _find_sizes(strategy: str, trials: int | None, epochs: int | None) -> tuple[int | None, ...]:
    """Trials and epochs, where the strategy trains networks."""
    return (trials, epochs) if isinstance(STRATEGIES[strategy], Networks) else (None, None)


def run_all(
    options: argparse.Namespace,
    console: Console,
    measure: Callable[..., Record],
    tell: Callable[[Record], str],
) -> None:
    """Run what is due, in this process or in several, and keep each record at once.

    Args:
        options: `cases`, `out`, `limit`, `device` and `jobs`.
        console: where each record is told.
        measure: makes the record of a case, with `device` and `jobs`.
        tell: says a record in a line.
    """
    done = {
        case: found
        for case, found in load_records(options.out).items()
        if "error" not in found or "stopped" in found
    }
    left = [case for case in options.cases if case not in done]
    console.print(f"{len(left)} of {len(options.cases)} cases to run")
    end = time.monotonic() + (options.limit or float("inf"))
    total, finished = len(left), 0

    def keep(record: Record) -> None:
        nonlocal finished
        finished += 1
        append_record(options.out, record)
        if "error" not in record:
            done[Case(**record["case"])] = record
        console.print(f"{finished}/{total} {tell(record)}", soft_wrap=True, highlight=False)

    def due() -> Iterator[Case]:
        for case in left:
            twin = find_twin(case, done)
            if twin:
                keep(twin)
            elif time.monotonic() > end:
                return
            else:
                yield case

    task = functools.partial(measure, device=options.device, jobs=options.jobs)
    if limit := getattr(options, "case_limit", None):
        task = functools.partial(measure_limited, device=options.device, limit=limit)
    if cluster := getattr(options, "cluster", None):
        records: Iterable[Record] = run_on_workers(task, due(), cluster, options.device, console)
    elif options.jobs > 1:
        # Workers inherit it; JAX would give the whole GPU to the first of them.
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        records = run_spawned(task, due(), options.jobs)
    else:
        find_devices(options.device)
        records = map(task, due())
    for record in records:
        keep(record)
    if finished < total:
        console.print(f"{total - finished} cases are left: --limit is over; run this again")


def find_twin(case: Case, done: dict[Case, Record]) -> Record | None:
    """Find the same fit in another suite, made by the same source, as a record of this case."""
    for other, record in done.items():
        if case.is_like(other) and record["versions"]["source"] == find_versions()["source"]:
            return record | {"case": dataclasses.asdict(case), "copied_from": other.suite}
    return None


def run_on_workers(
    task: Callable[[Case], Record],
    cases: Iterable[Case],
    cluster: str,
    device: str,
    console: Console,
) -> Iterator[Record]:
    """Run each case as a task on the workers of a cluster, which need rinn and not this file."""
    with (
        open_workers(cluster, device, lambda text: console.print(text, highlight=False)) as workers,
        workers.open(task) as tasks,
    ):
        for number, case in enumerate(cases):
            tasks.add(number, case)
        for done in tasks:
            yield done.result


def run_spawned(
    task: Callable[[Case], Record], cases: Iterator[Case], jobs: int
) -> Iterator[Record]:
    """Run cases in `jobs` fresh processes, each with its own JAX and its share of the cores.

    Args:
        task: what to do with a case.
        cases: taken one by one, when a process is free.
        jobs: how many processes.

    Yields:
        The records as they come; a process that dies leaves one with an error and is replaced.
    """
    pools = [_start_worker(slot, jobs) for slot in range(jobs)]
    running: dict[Future[Record], tuple[int, Case]] = {}
    free = collections.deque(range(jobs))
    try:
        while True:
            for case in itertools.islice(cases, len(free)):
                slot = free.popleft()
                running[pools[slot].submit(task, case)] = slot, case
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                slot, case = running.pop(future)
                free.append(slot)
                try:
                    record = future.result()
                except BrokenProcessPool as error:
                    pools[slot].shutdown()
                    pools[slot] = _start_worker(slot, jobs)
                    record = describe_case(case, jobs) | {"error": f"its process died: {error}"}
                yield record
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def _start_worker(slot: int, jobs: int) -> ProcessPoolExecutor:
    # One pool for each worker: a worker that dies breaks its pool, and the other cases go on.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=_prepare_worker, initargs=(slot, jobs))


def _prepare_worker(slot: int, jobs: int) -> None:
    """Take a share of the cores, which JAX will count, and end when the main process is killed."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[slot::jobs] or cores)

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def measure(case: Case, device: str = "auto", jobs: int = 1) -> Record:
    """Fit one case and score its graph; what it raises becomes part of the record.

    Args:
        case: what to fit.
        device: auto, cpu or gpu.
        jobs: how many fits run beside each other, for the record.

    Returns:
        The record, ready for JSON.
    """
    record = describe_case(case, jobs)
    try:
        return record | _fit_case(case, device)
    except Exception as error:
        where = traceback.format_exc()[-2000:]
        return record | {"error": f"{type(error).__name__}: {error}", "traceback": where}


def measure_limited(case: Case, device: str, limit: int) -> Record:
    """Measure a case in a process of its own; where it is stopped, the record says so."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "record.jsonl"
        what = json.dumps(dataclasses.asdict(case))
        command = [sys.executable, __file__, "--case", what, "--case-limit", str(limit)]
        ended = run_limited([*command, "--device", device, "--out", str(out)], PATIENCE * limit)
        if out.exists():
            return json.loads(out.read_text())
    record = describe_case(case, 1)
    if ended.is_stopped:
        return record | {"error": f"stopped at its limit of {limit} s", "stopped": limit}
    return record | {"error": f"its process ended with the code {ended.code}: {ended.error}"}


def describe_case(case: Case, jobs: int) -> Record:
    """What is known of a case before it is fitted."""
    return {
        "case": dataclasses.asdict(case),
        "settings": case.settings.to_json(),
        "versions": find_versions(),
        "jobs": jobs,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


@functools.cache
def find_versions() -> dict[str, str]:
    """Versions of the packages, and a digest of the source that was run."""
    source = hashlib.sha256()
    for path in sorted(Path(rinn.__file__).parent.rglob("*.py")):
        source.update(path.read_bytes())
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    for name in OPTIONAL:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions | {"python": platform.python_version(), "source": source.hexdigest()[:12]}


def _fit_case(case: Case, device: str) -> Record:
    devices = find_devices(device)
    data, truth, parameters = make_data(case)
    started, used = time.perf_counter(), time.process_time()
    fit = fit_data(data, case.settings, devices, refit=case.suite in REFITTED)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - used
    graph = fit.latent.graph
    reached = reach(graph)
    latents = by_role(graph, "latent")
    scores, true = score_graph(graph, truth), collapse(truth)
    parts = {"latents": scores.latents, "edges": scores.edges, "latent_edges": scores.latent_edges}
    return {
        "scores": scores.to_json(),
        "counts": {
            name: {"tp": part.tp, "fp": part.fp, "fn": part.fn} for name, part in parts.items()
        }
        | {"output_edges": _compare_outputs(graph, truth)},
        "found": _count_parts(graph),
        "truth": _count_parts(true),
        "refit": _describe(getattr(fit, "refit", None)),
        "comparison": _describe(getattr(fit, "comparison", None)),
        "parameters": parameters,
        "dropped": len(data.dropped),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "device": f"{len(devices)} x {devices[0].device_kind}",
        "latents": {name: sorted(reached[name]) for name in latents},
        "edges": sorted([source, target] for source, target in graph.edges),
    }


def _compare_outputs(graph: nx.DiGraph, truth: nx.DiGraph) -> Record:
    """How many edges between outputs are right, extra and missed."""
    found, true = (
        {edge for edge in one.edges if one.nodes[edge[0]]["role"] == "output"}
        for one in (graph, truth)
    )
    return {"tp": len(found & true), "fp": len(found - true), "fn": len(true - found)}


def _count_parts(graph: nx.DiGraph) -> Record:
    """How many latents, edges, and edges from an input straight to an output."""
    direct = sum(
        (graph.nodes[source]["role"], graph.nodes[target]["role"]) == ("input", "output")
        for source, target in graph.edges
    )
    latents = len(by_role(graph, "latent"))
    return {"latents": latents, "edges": graph.number_of_edges(), "direct": direct}


def make_data(case: Case) -> tuple[Data, nx.DiGraph, Record]:
    """Simulate the tables of a case, the graph to score against, and how both were made.

    Permuted outputs have nothing to do with the inputs: their graph has no latents and no edges.
    """
    if case.dataset in (*WORLDS, "random"):
        simulation, _, parameters = draw_world(case.dataset, case.seed, case.n)
    else:
        simulation = make_dataset(case.dataset, samples=case.n, seed=case.seed)
        parameters = simulation.parameters
    y, truth = simulation.y, simulation.truth
    if case.suite == "null":
        order = np.random.default_rng([FRESH, case.seed]).permutation(len(y))
        y = y.iloc[order].set_axis(y.index)
        truth = nx.DiGraph(truth)
        truth.remove_nodes_from(by_role(truth, "latent"))
        parameters = parameters | {"permuted": True}
    return as_data(simulation.x, y), truth, parameters


def draw_world(suite: str, number: int, samples: int) -> tuple[Simulation, nx.DiGraph, Record]:
    """Simulate graph `number` of a suite of random graphs.

    Sizes for which the generator finds no graph, or a graph with faint effects where the suite has
    none at 5000 samples, are drawn again.

    Args:
        suite: random, or a name in `WORLDS`.
        number: of the graph; numbers from 500 on are for development.
        samples: how many rows.

    Returns:
        The rows, the true graph, and how both were made.

    Raises:
        InputError: no sizes were found in `ATTEMPTS`.
    """
    if suite == "random":
        simulation, notes = draw_random(number, samples)
        return simulation, simulation.truth, simulation.parameters | notes
    world = WORLDS[suite]
    fixed = {"mechanism": world.mechanisms[number % len(world.mechanisms)], **dict(world.fixed)}
    plain = {name: value for name, value in fixed.items() if name not in ROWS_ALONE}
    seed = world.seed + number
    for attempt in range(ATTEMPTS):
        sizes = world.draw_sizes(np.random.default_rng([world.seed, number, attempt]))
        with contextlib.suppress(InputError):
            large = make_dataset("random", samples=LARGE, seed=seed, **plain, **sizes)
            if world.visible and find_faintest(large, SAMPLES) < FAINT:
                continue  # by as many samples for each number, which so has one graph
            faintest = find_faintest(large, samples)
            simulation = make_dataset("random", samples=samples, seed=seed, **fixed, **sizes)
            notes = {"data_seed": seed, "attempt": attempt, "faintest": faintest}
            return simulation, simulation.truth, simulation.parameters | notes
    raise InputError(f"number must be one with a graph, but {number} has none in {ATTEMPTS} sizes")


def draw_random(number: int, samples: int) -> tuple[Simulation, Record]:
    """Simulate random graph `number`: or and gaussian by turns, half of them with orphans.

    Sizes for which the generator finds no graph are drawn again.

    Raises:
        InputError: no sizes were found in `ATTEMPTS`.
    """
    fixed = {
        "mechanism": ("or", "gaussian")[number % 2],
        "orphans": 0.3 if number % 4 in (1, 2) else 0.0,
    }
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([FRESH, number, attempt])
        sizes = {
            "levels": int(rng.integers(2, 4)),
            "latents": int(rng.integers(4, 13)),
            "inputs": int(rng.integers(10, 31)),
            "outputs": int(rng.integers(16, 31)),
        }
        seed = FRESH + number
        with contextlib.suppress(InputError):
            large = make_dataset("random", samples=LARGE, seed=seed, **fixed, **sizes)
            simulation = make_dataset("random", samples=samples, seed=seed, **fixed, **sizes)
            faintest = find_faintest(large, samples)
            return simulation, {"data_seed": seed, "attempt": attempt, "faintest": faintest}
    raise InputError(f"number must be one with a graph, but {number} has none in {ATTEMPTS} sizes")


def find_faintest(large: Simulation, samples: int) -> float:
    """Find the least that a latent's inputs together do to an output below it, in standard errors.

    What an edge from an input to an output does counts as well.

    Below about 3 the data say nothing of that effect, and no method could draw the latent as it is.

    Args:
        large: many rows, which show what an effect is; its inputs are independent.
        samples: how many rows the standard errors are for.

    Returns:
        The least over all latents and the outputs they reach, and over these edges.
    """
    truth = collapse(large.truth)
    x, y = (table - table.mean() for table in (large.x, large.y))
    scale = np.outer(np.sqrt((x**2).sum()), np.sqrt((y**2).sum()))
    sizes = (x.T @ y) / np.maximum(scale, 1e-9) * np.sqrt(samples)  # [input, output]
    found = float("inf")
    for latent in by_role(truth, "latent"):
        above, below = nx.ancestors(truth, latent), nx.descendants(truth, latent)
        part = sizes.loc[sizes.index.isin(above), sizes.columns.isin(below)]
        found = min(found, float(np.sqrt((part**2).sum()).min()))
    for source, target in truth.edges:
        if source in sizes.index and target in sizes.columns:
            found = min(found, abs(float(sizes.loc[source, target])))
    return round(found, 2)


def _describe(part: Any) -> Record | None:
    """What a refit or a comparison says of losses, without its parameters."""
    if part is None:
        return None
    whole = part.to_json() if hasattr(part, "to_json") else {}
    kept = {name: value for name, value in whole.items() if name not in ("models", "formula")}
    return kept | {name: getattr(part, name) for name in COMPARED if hasattr(part, name)}


def append_record(path: Path, record: Record) -> None:
    """Add a line that is on the disk when this returns; a torn line before it is closed."""
    line = json.dumps(record, default=lambda number: number.item()) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else "\n" + line
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def load_records(path: Path) -> dict[Case, Record]:
    """Read the last record of each case; a line that a killed run left torn is no record."""
    records = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            records[Case(**record["case"])] = record
    return records


def _tell(record: Record) -> str:
    case = Case(**record["case"])
    name = f"{case.suite} {case.dataset} n={case.n} seed {case.seed} search {case.search_seed}"
    name += "" if case.strategy == "rinn" else f" {case.strategy}"
    if "error" in record:
        return f"{name}: failed: {record['error']}"
    copied = f", copied from {record['copied_from']}" if "copied_from" in record else ""
    return (
        f"{name}: latents F1 {MEASURES['f1'](record):.3f}, edges F1 "
        f"{MEASURES['edges_f1'](record):.3f}, {record['found']['edges']} edges, "
        f"{record['seconds']:.0f} s{copied}"
    )


def report(records: Sequence[Record], console: Console) -> None:
    """Print a table for each suite, and each bar as met, missed or open, budget by budget."""
    if not records:
        console.print("no case is finished yet")
    for label, own in group_by(records, lambda record: Case(**record["case"]).label).items():
        suites = group_by(own, lambda record: record["case"]["suite"])
        for suite in (name for name in SUITES if name in suites):
            console.print(_tabulate(f"{suite}: {label}", suites[suite]))
        lines = Table(title=f"bars: {label}", title_justify="left")
        for heading in ("suite", "bar", "", "found", "runs", "verdict"):
            lines.add_column(heading)
        for bar in list_bars(own[0]["case"]["budget"]):
            lines.add_row(*check_bar(bar, suites.get(bar.suite, [])))
        console.print(lines)
        _print_notes(own, console)


def _print_notes(records: Sequence[Record], console: Console) -> None:
    for record in records:
        if "error" in record:
            console.print(_tell(record), soft_wrap=True, highlight=False)
    sources = {record["versions"]["source"] for record in records}
    if len(sources) > 1:
        console.print(
            f"these runs come from {len(sources)} states of the source: {sorted(sources)}"
        )


def _tabulate(title: str, records: Sequence[Record]) -> Table:
    """Mean ± sd over the runs of each dataset and n."""
    table = Table(title=title, title_justify="left")
    for heading in ("data", "n", "runs", *COLUMNS):
        table.add_column(heading, justify="left" if heading == "data" else "right")

    def key(record: Record) -> tuple[str, int]:
        return _name_data(record), record["case"]["n"]

    for (name, n), own in sorted(group_by(records, key).items()):
        good = [record for record in own if "error" not in record]
        failed = f" + {len(own) - len(good)} failed" if len(good) < len(own) else ""
        cells = [_show(good, measure, digits) for measure, digits in COLUMNS.values()]
        table.add_row(name, str(n), f"{len(good)}{failed}", *cells)
    return table


def _name_data(record: Record) -> str:
    parameters = record.get("parameters", {})
    case = Case(**record["case"])
    name = case.dataset
    if name in (*WORLDS, "random") and "mechanism" in parameters:
        faint = ", too faint" if parameters.get("faintest", FAINT) < FAINT else ""
        name = f"{name} {parameters['mechanism']}{faint}"
    return name if case.strategy == "rinn" else f"{name}, {case.strategy}"


def _show(records: Sequence[Record], name: str, digits: int) -> str:
    if name == "identical":
        same = count_identical(records)
        return f"{same} of {len(records)}" if same else ""
    values = find_values(records, name)
    if not values:
        return ""
    if name in SHARES:
        return f"{np.mean(values):.0%}"
    sd = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {sd:.{digits}f}"


def list_bars(budget: str) -> list[Bar]:
    """The bars of a budget."""
    bars = [
        Bar("paper", f"latents' F1, {name}", "f1", bound, dataset=name)
        for name, bound in PAPER_F1[budget].items()
    ]
    return bars + list(BARS)


def check_bar(bar: Bar, records: Sequence[Record]) -> tuple[str, ...]:
    """Say of a bar: suite, meaning, bound, what was found in the worst group, runs, verdict.

    A bar is open without runs, met or missed so far with fewer than are planned by default, and
    cannot be met with a failed one.
    """
    own = [record for record in records if bar.chooses(Case(**record["case"]))]
    failed = sum("error" in record for record in own)
    good = [record for record in own if "error" not in record and _has(record, bar.measure)]
    groups = group_by(good, lambda record: tuple(record["case"][name] for name in bar.by))
    found = {key: _summarise(runs, bar.measure) for key, runs in groups.items()}
    values = {key: value for key, value in found.items() if value is not None}
    head = bar.suite, bar.meaning, f"{'<=' if bar.at_most else '>='} {bar.bound:g}"
    runs = f"{len(good)} + {failed} failed" if failed else f"{len(good)}"
    if not values:
        return *head, "", runs, "missed" if failed else "open"
    worst = (max if bar.at_most else min)(values, key=lambda key: values[key])
    value = values[worst]
    is_met = not failed and (value <= bar.bound if bar.at_most else value >= bar.bound)
    where = f" ({', '.join(map(str, worst))})" if worst else ""
    is_whole = len(own) >= sum(bar.chooses(case) for case in plan_cases([bar.suite]))
    verdict = ("met" if is_met else "missed") + ("" if is_whole else " so far")
    return *head, f"{value:.3g}{where}", runs, verdict


def _has(record: Record, name: str) -> bool:
    return name == "identical" or MEASURES[name](record) is not None


def _summarise(records: Sequence[Record], name: str) -> float | None:
    if name == "identical":
        return count_identical(records) if len(records) == SEARCH_SEEDS else None
    values = find_values(records, name)
    return float(np.mean(values)) if values else None


def find_values(records: Sequence[Record], name: str) -> list[float]:
    """The measure of each run that has it."""
    values = (MEASURES[name](record) for record in records)
    return [value for value in values if value is not None]


def count_identical(records: Sequence[Record]) -> int:
    """How many runs of one dataset have the latents, as sets of outputs, that most have.

    Runs of several draws of the data cannot be told so: 0.
    """
    if len({(record["case"]["dataset"], record["case"]["seed"]) for record in records}) != 1:
        return 0
    if len({record["case"].get("strategy", "rinn") for record in records}) != 1:
        return 0
    if len({record["case"]["search_seed"] for record in records}) == 1:
        return 0
    found = collections.Counter(
        tuple(sorted(tuple(outputs) for outputs in record["latents"].values()))
        for record in records
    )
    return max(found.values())


def group_by(records: Iterable[Record], key: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Collect the records that have the same key, in the order in which they came."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _find_precision(record: Record) -> float:
    counts = record["counts"]["latents"]
    return record["scores"]["latents"]["precision"] if counts["tp"] + counts["fp"] else 1.0


def _find_carries(record: Record) -> float | None:
    """Whether the refitted graph predicts as well as the free networks, where it was compared."""
    for part in (record.get("comparison"), record.get("refit")):
        for name in ("is_adequate", "carries"):  # as records of earlier days have it
            if part and name in part:
                return float(part[name])
        if part and {"difference", "error"} <= part.keys():
            return float(part["difference"] <= part["error"])
    return None


def _find_twins(record: Record) -> float | None:
    """The share of the truth's twins that were told apart, where it has some."""
    scores = record["scores"]
    return scores["twins_found"] / scores["twins"] if scores.get("twins") else None


MEASURES: dict[str, Callable[[Record], float | None]] = {
    "f1": lambda record: record["scores"]["latents"]["f1"],
    "precision": _find_precision,
    "recall": lambda record: record["scores"]["latents"]["recall"],
    "edges_f1": lambda record: record["scores"]["edges"]["f1"],
    "edges_precision": lambda record: record["scores"]["edges"]["precision"],
    "edges_recall": lambda record: record["scores"]["edges"]["recall"],
    "exact": lambda record: (
        float(record["scores"]["shd"] == 0) if "shd" in record["scores"] else None
    ),
    "twins": _find_twins,
    "ordered": lambda record: float(record["scores"]["order_errors"] == 0),
    "edges": lambda record: record["found"]["edges"],
    "latents": lambda record: record["found"]["latents"],
    "carries": _find_carries,
    "seconds": lambda record: record["seconds"],
}
SHARES = ("ordered", "carries", "exact", "twins")
COLUMNS = {
    "latents F1": ("f1", 3),
    "precision": ("precision", 3),
    "recall": ("recall", 3),
    "edges F1": ("edges_f1", 3),
    "edges prec.": ("edges_precision", 3),
    "edges recall": ("edges_recall", 3),
    "SHD 0": ("exact", 0),
    "twins": ("twins", 0),
    "in order": ("ordered", 0),
    "latents": ("latents", 1),
    "edges drawn": ("edges", 1),
    "carries": ("carries", 0),
    "same": ("identical", 0),
    "seconds": ("seconds", 0),
}


if __name__ == "__main__":
    main()
