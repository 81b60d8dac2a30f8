"""What the parts of the graph stage are worth: whose effects it reads, and the covariance.

Each case trains its networks once. Then the graph is searched for six times: with the effects of a
regression, of the networks, and of the networks corrected, each by the effects alone and with the
covariance of the outputs. It is the first graph, without resamples; the truth is used for nothing
but scoring.

Development data, as for all choices: seeds 100 to 103 of the data, graph numbers 500 to 505.
Finished cases are kept in `--out`, one JSON object a line, so that the same command goes on where
it was stopped. `--into docs/method.md` writes the table.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from bench_recovery import (
    SAMPLES,
    WORLDS,
    Case,
    Record,
    describe_case,
    group_by,
    load_records,
    make_data,
    run_all,
)
from pagetables import OPEN, replace_table, write_table
from rinn.config import DEVICES
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import CORRECTED, NETWORK, REGRESSION, estimate_effects
from rinn.structure.records import GraphSettings
from rinn.structure.support import make_support_test

SUITE = NAME = "ablation"
SOURCES = (REGRESSION, NETWORK, CORRECTED)
SCORES = {"with covariance": False, "effects only": True}  # effects_only
SEEDS = (100, 101, 102, 103)
FIRST, GRAPHS = 500, 6
SMALL = ("or", "logic", "gaussian")
SIZES = (250, 500, 1000)
LARGE = ("or", "logic", "gaussian", "matrix")
RANDOM = ("random60", "orphans60", "curved20", "unequal20")
WORDS = {
    "random60": "random graphs",
    "orphans60": "latents without inputs",
    "curved20": "curves",
    "unequal20": "effects over a factor of 10",
}
HEADERS = ("data", "samples", "runs", "score", *SOURCES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case that is not yet in `--out`, then print or write the table."""
    options = _parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 240)
    if not options.report:
        run_all(options, console, measure, _tell)
    table = make_table(list(load_records(options.out).values()))
    if options.into is None:
        print(table)
    else:
        replace_table(options.into, NAME, table)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help=f"of {','.join((*LARGE, *RANDOM))}; all by default")
    parser.add_argument("--sizes", help="samples; all by default")
    parser.add_argument("--seeds", help="of the data")
    parser.add_argument("--graphs", type=int, default=GRAPHS, help="random graphs of each kind")
    parser.add_argument("--first", type=int, default=FIRST, help="number of the first random graph")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--jobs", type=int, default=1, help="processes, which share a GPU")
    parser.add_argument("--limit", type=float, help="seconds after which no case is started")
    parser.add_argument("--trials", type=int, help="networks, in place of the budget's")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--out", type=Path, required=True, help="finished cases, a JSON line each")
    parser.add_argument("--report", action="store_true", help="only the table of what --out holds")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    known = (*LARGE, *RANDOM)
    named = options.data.split(",") if options.data else known
    for name in named:
        if name not in known:
            parser.error(f"--data must be of {', '.join(known)}, got {name!r}")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    if options.report and not options.out.exists():
        parser.error(f"--out must be a file to report, but there is no {options.out}")
    try:
        seeds = tuple(map(int, options.seeds.split(","))) if options.seeds else SEEDS
        sizes = tuple(map(int, options.sizes.split(","))) if options.sizes else None
        numbers = range(options.first, options.first + options.graphs)
        cases = plan_cases(seeds, numbers, options.trials, options.epochs)
        chosen = [case for case in cases if case.dataset in named]
        options.cases = [case for case in chosen if sizes is None or case.n in sizes]
        _ = [case.settings for case in options.cases]
    except ValueError as error:
        parser.error(str(error))
    return options


def plan_cases(
    seeds: Sequence[int] = SEEDS,
    numbers: Sequence[int] = range(FIRST, FIRST + GRAPHS),
    trials: int | None = None,
    epochs: int | None = None,
) -> list[Case]:
    """List the cases, seed by seed: a run cut short has all datasets."""
    rows = [(name, n, seed) for seed in seeds for n in SIZES for name in SMALL]
    rows += [(name, SAMPLES, seed) for seed in seeds for name in LARGE]
    rows += [(name, SAMPLES, number) for number in numbers for name in RANDOM]
    return [Case(SUITE, name, n, seed, trials=trials, epochs=epochs) for name, n, seed in rows]


def measure(case: Case, device: str = "auto", jobs: int = 1) -> Record:
    """Train once and search six times; what it raises becomes part of the record."""
    record = describe_case(case, jobs)
    try:
        return record | _compare(case, device)
    except Exception as error:
        where = traceback.format_exc()[-2000:]
        return record | {"error": f"{type(error).__name__}: {error}", "traceback": where}


def _compare(case: Case, device: str) -> Record:
    data, truth, parameters = make_data(case)
    started = time.perf_counter()
    settings = replace(case.settings, effects=REGRESSION, bootstraps=0)
    fit = fit_data(data, settings, find_devices(device), refit=False)
    seconds = time.perf_counter() - started
    found = {}
    for source in SOURCES:
        nets = () if source == REGRESSION else fit.kept
        test = make_support_test(fit.problem, nets)
        effects = estimate_effects(fit.problem, nets, source, test)
        for score, effects_only in SCORES.items():
            how = GraphSettings(bootstraps=0, effects_only=effects_only)
            graph = learn_graph(effects, data.inputs, data.outputs, settings=how).graph
            found[f"{source}, {score}"] = score_graph(graph, truth).to_json()
    return {"graphs": found, "parameters": parameters, "seconds": round(seconds, 2)}


def _tell(record: Record) -> str:
    case = Case(**record["case"])
    name = f"{case.dataset} n={case.n} seed {case.seed}"
    if "error" in record:
        return f"{name}: failed: {record['error']}"
    graphs = record["graphs"].items()
    scores = ", ".join(f"{how} {scores['latents']['f1']:.2f}" for how, scores in graphs)
    return f"{name}: {scores}, {record['seconds']:.0f} s"


def make_table(records: Sequence[Record]) -> str:
    """One row for each dataset, number of samples and score: latents F1, edges F1 in brackets."""
    good = [record for record in records if "error" not in record]
    groups = group_by(good, lambda record: (record["case"]["dataset"], record["case"]["n"]))
    planned = dict.fromkeys((case.dataset, case.n) for case in plan_cases())
    rows = []
    for name, n in sorted({**planned, **groups}, key=_place):
        own = groups.get((name, n), [])
        for score in SCORES:
            cells = [_show([r["graphs"][f"{source}, {score}"] for r in own]) for source in SOURCES]
            rows.append((WORDS.get(name, name), str(n), str(len(own)), score, *cells))
    return write_table(HEADERS, rows)


def _place(key: tuple[str, int]) -> tuple[bool, int, int]:
    name, n = key
    return name in WORLDS, (*LARGE, *RANDOM).index(name), n


def _show(scores: Sequence[Record]) -> str:
    if not scores:
        return OPEN
    means = (np.mean([one[part]["f1"] for one in scores]) for part in ("latents", "edges"))
    return "{:.2f} ({:.2f})".format(*means)


if __name__ == "__main__":
    main()
