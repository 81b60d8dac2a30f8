"""How far what the graph stage says of itself can be trusted, and how long it takes.

No networks are trained: effects are a regression's. Four parts, each beside its bar:

coverage: how many nominal 95 % intervals of single effects hold the true effect, which is the slope
that a regression has on 400,000 rows of the same mechanism. Effects are in units of the standard
deviations of the sample at hand, and so is the true one: a slope is asked for, not its unit.

fit: how often the test of fit rejects the true graph at 5 %, and how often one with a wrong edge
(one edge from a latent to an output leads to another output). Tables of fewer samples are the
first rows of those of more.

calibration: how often an edge with a given `frequency` is right. The frequency is the share of
resamples in which its source leads to its target, so an edge is right where the true graph has such
a path. Reported latents are matched with true ones first, then those that are only candidates with
the true ones left; a latent without a match has no right edges.

time: seconds of `learn_graph` with 50 resamples, one thread, and the functions that take most.

Finished cases are kept in `--out`, one JSON object a line, so that the same command goes on where
it was stopped. Development uses other tables and graphs than those reported: `--first 500`, with an
`--out` of its own.
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import functools
import json
import platform
import pstats
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

from bench_recovery import append_record, draw_world, find_versions
from rinn.data.align import as_data
from rinn.data.least_squares import regress
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.graphs.basics import by_role, collapse, reach
from rinn.graphs.compare import match_latents
from rinn.simulate.datasets import make_dataset
from rinn.simulate.samples import Simulation
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import Effects, estimate_effects
from rinn.structure.first_graph import set_start
from rinn.structure.records import LatentGraph
from rinn.structure.reported import from_graph, test_fit
from rinn.structure.support import make_support_test

Record = dict[str, Any]
Tables = tuple[np.ndarray, np.ndarray]

LARGE = 400_000  # rows that tell the true effects
INPUTS, OUTPUTS = 10, 8
STREAM = 43
LEVEL = 0.05
Z = 1.96
BINS = 5
SAMPLES = 5000
COVERAGE_SIZES = (200, 1000, 5000)
FIT_SIZES = (500, 1000, 5000)
CALIBRATION_SIZES = (250, 500, 1000, 5000)
FIT_SETTINGS = ("random60 or", "random60 gaussian", "or", "gaussian", "matrix")
CALIBRATION_SETTINGS = (
    "random60", "orphans60", "direct20", "unequal20", "or", "gaussian", "logic", "matrix",
)  # fmt: skip
LATENTS, REPORTED, CANDIDATES = "latents", "edges reported", "all edges"
SHAPES: dict[str, Record] = {
    "16 x 16, 7 latents": {"name": "or"},
    "26 x 30, 12 latents": {
        "name": "random", "inputs": 26, "outputs": 30, "latents": 12, "levels": 3,
        "mechanism": "or",
    },
    "200 x 200, 30 latents": {
        "name": "random", "inputs": 200, "outputs": 200, "latents": 30, "levels": 2,
        "mechanism": "gaussian",
    },
}  # fmt: skip
MAX_SECONDS = {
    "16 x 16, 7 latents": 3,
    "26 x 30, 12 latents": 15,
    "200 x 200, 30 latents": 120,
}
RUNS = {"200 x 200, 30 latents": 1}  # of the clock; 3 of the others


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of `--out`; `number` is the first table's, or the graph's."""

    part: str
    setting: str
    number: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case that is not yet in `--out`, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--settings", help="only these, with commas: see the tables")
    parser.add_argument("--tables", type=int, default=100, help="of coverage and fit, each")
    parser.add_argument("--graphs", type=int, default=20, help="of calibration, each setting")
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run of time")
    parser.add_argument("--out", type=Path, required=True, help="finished cases, a JSON line each")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    options = parser.parse_args(arguments)
    for part in options.parts.split(","):
        if part not in PARTS:
            parser.error(f"--parts must be of {', '.join(PARTS)}, got {part!r}")
    console = Console(width=None if sys.stdout.isatty() else 140)
    done = load_records(options.out)
    left = [case for case in plan_cases(options) if case not in done]
    for case in () if options.report else left:
        started = time.perf_counter()
        found = PARTS[case.part](case, options)
        seconds = round(time.perf_counter() - started, 2)
        record = {"case": dataclasses.asdict(case), "seconds": seconds} | found
        append_record(options.out, record | {"source": find_versions()["source"]})
        console.print(f"{case.part}: {case.setting}, {case.number}: {seconds} s", highlight=False)
        done[case] = record
    show(list(done.values()), console)


def plan_cases(options: argparse.Namespace) -> list[Case]:
    """List the cases: graph by graph, so that a run cut short has every setting."""
    numbers = range(options.first, options.first + options.tables)
    graphs = range(options.first, options.first + options.graphs)
    every = {
        "coverage": [(setting, options.first) for setting in MECHANISMS],
        "fit": [(setting, k) for k in numbers for setting in FIT_SETTINGS],
        "calibration": [(setting, k) for k in graphs for setting in CALIBRATION_SETTINGS],
        "time": [(setting, options.first) for setting in SHAPES],
    }
    chosen = options.settings.split(",") if options.settings else None
    return [
        Case(part, setting, number)
        for part in options.parts.split(",")
        for setting, number in every[part]
        if chosen is None or setting.replace(",", "") in chosen or setting in chosen
    ]


def load_records(path: Path) -> dict[Case, Record]:
    """Read the last record of each case."""
    lines = path.read_text().splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    return {Case(**record["case"]): record for record in records}


def estimate(x: Any, y: Any) -> tuple[Effects, Data, np.ndarray]:
    """Effects with their test, the data, and the unit of each effect."""
    data = as_data(x, y)
    problem = make_problem(data)
    effects = estimate_effects(problem)
    test = make_support_test(problem, (), effects.sample)
    effects = dataclasses.replace(effects, test=test)
    unit = problem.y_scale.std / problem.x_scale.std[:, None]  # [input, output]
    return effects, data, unit


# Coverage


def measure_coverage(case: Case, options: argparse.Namespace) -> Record:
    """Count the intervals that hold the true effect, by the number of samples."""
    draw = MECHANISMS[case.setting]
    truth = find_truth(case.setting)
    found: Record = {}
    for n in COVERAGE_SIZES:
        inside, above, size = [], [], []
        for number in range(case.number, case.number + options.tables):
            effects, data, unit = estimate(*draw(np.random.default_rng([STREAM, number, n]), n))
            kept = [int(name[1:]) for name in data.inputs]  # no input that never changes
            moments, inputs = effects.moments, len(kept)
            # The slope of the sample says how its effects were standardised.
            slopes = regress(effects.sample.x, effects.sample.y)[0][:inputs]
            moving = np.abs(slopes) > 1e-12
            scale = moments.effects[:inputs] / np.where(moving, slopes, 1.0)
            z = moments.effects[:inputs] - truth[kept] / unit * scale
            z = z / moments.errors[:inputs]
            inside.append(np.abs(z[moving]) < Z)
            above.append(z[moving] >= Z)
            size.append(z[moving] ** 2)
        found[str(n)] = {
            "intervals": int(np.concatenate(inside).size),
            "coverage": round(float(np.concatenate(inside).mean()), 4),
            "too_high": round(float(np.concatenate(above).mean()), 4),
            "variance": round(float(np.concatenate(size).mean()), 3),
        }
    return {"tables": options.tables, "sizes": found}


@functools.cache
def find_truth(setting: str) -> np.ndarray:
    """Slopes in the units of the tables, [input, output]."""
    x, y = MECHANISMS[setting](np.random.default_rng([STREAM, LARGE]), LARGE)
    problem = make_problem(as_data(x, y))  # it limits outliers, as it does in samples
    x, y = (table.T.astype(float) for table in (problem.x, problem.y))
    slopes = np.linalg.lstsq(x - x.mean(axis=0), y - y.mean(axis=0), rcond=None)[0]
    return np.asarray(slopes * problem.y_scale.std / problem.x_scale.std[:, None])


def draw_mechanism(
    rng: np.random.Generator,
    n: int,
    *,
    prevalence: float | None = None,
    binary: bool = False,
    tails: float | None = None,
) -> Tables:
    """Ten inputs, three latents, eight outputs of which the last has no cause.

    Args:
        rng: of the rows.
        n: how many rows.
        prevalence: of inputs that are 0/1, through latents that are an OR; None: normal.
        binary: whether outputs are a noisy OR of the latents.
        tails: degrees of freedom of the noise of outputs, Student's t; None: normal.
    """
    fixed = np.random.default_rng(STREAM)
    owner = np.arange(INPUTS) % 4  # inputs of the fourth group do nothing
    into = (owner[:, None] == np.arange(3)) * fixed.uniform(0.4, 1.2, (INPUTS, 3))
    out = (fixed.random((3, OUTPUTS)) < 0.6) * fixed.uniform(0.4, 1.0, (3, OUTPUTS))
    out[:, -1] = 0.0
    if prevalence is None:
        x = rng.normal(size=(n, INPUTS))
        hidden = x @ into + 0.5 * rng.normal(size=(n, 3))
    else:
        x = (rng.random((n, INPUTS)) < prevalence).astype(float)
        hidden = ((x @ (into > 0)) > 0) | (rng.random((n, 3)) < 0.05)
    if binary:
        off = 0.9 * np.prod(1 - 0.8 * hidden[:, :, None] * (out > 0), axis=1)
        return x, (rng.random((n, OUTPUTS)) > off).astype(float)
    noise = rng.normal(size=(n, OUTPUTS)) if tails is None else rng.standard_t(tails, (n, OUTPUTS))
    return x, hidden @ out + noise


def _name_mechanisms() -> Iterator[tuple[str, Callable[[np.random.Generator, int], Tables]]]:
    yield "linear", draw_mechanism
    yield "linear, heavy tails", functools.partial(draw_mechanism, tails=2.0)
    for share in (0.02, 0.08):
        rare = functools.partial(draw_mechanism, prevalence=share)
        yield f"inputs {share:.0%}, numbers", rare
        yield f"inputs {share:.0%}, heavy tails", functools.partial(rare, tails=2.0)
        yield f"inputs {share:.0%}, binary", functools.partial(rare, binary=True)


MECHANISMS = dict(_name_mechanisms())


# Test of fit


def measure_fit(case: Case, options: argparse.Namespace) -> Record:
    """The p-values of the true graph, and of one with a wrong edge, by the number of samples."""
    found: Record = {}
    for n in FIT_SIZES:
        x, y, truth = draw_graph(case.setting, case.number, n)
        effects, data, _ = estimate(x, y)
        wrong = move_edge(truth, np.random.default_rng([STREAM, case.number]))
        found[str(n)] = [
            round(test_graph(graph, effects, data)["p"], 4) for graph in (truth, wrong)
        ]
    return {"p": found}


def test_graph(graph: nx.DiGraph, effects: Effects, data: Data) -> dict[str, float]:
    """Fit a graph from the start that its effects suggest, and test it."""
    structure = from_graph(graph, data.inputs, data.outputs)
    inputs = len(data.inputs)
    moments = dataclasses.replace(
        effects.moments,
        inputs=effects.moments.inputs[:inputs, :inputs],
        effects=effects.moments.effects[:inputs],
    )
    return test_fit(set_start(structure, moments), effects)


test_graph.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def draw_graph(setting: str, number: int, n: int) -> tuple[Any, Any, nx.DiGraph]:
    """The first rows of a table, and its graph; latents that no table tells apart are one."""
    simulation = _draw_graph(setting, number)
    return simulation.x[:n], simulation.y[:n], collapse(simulation.truth)


@functools.lru_cache(2)
def _draw_graph(setting: str, number: int) -> Simulation:
    if setting in ("or", "gaussian", "logic", "matrix"):
        return make_dataset(setting, samples=SAMPLES, seed=number)
    suite, _, mechanism = setting.partition(" ")
    if mechanism:  # graphs take two mechanisms by turns
        number = 2 * number + ("or", "gaussian").index(mechanism)
    return draw_world(suite, number, SAMPLES)[0]


def move_edge(truth: nx.DiGraph, rng: np.random.Generator) -> nx.DiGraph:
    """The graph with one edge from a latent to an output led to an output it does not reach."""
    reached, outputs = reach(truth), by_role(truth, "output")
    latents = [node for node in by_role(truth, "latent") if len(reached[node]) < len(outputs)]
    edges = [(u, v) for u in latents for v in truth[u] if v in outputs]
    source, target = edges[rng.integers(len(edges))]
    others = [node for node in outputs if node not in reached[source]]
    moved: nx.DiGraph = nx.DiGraph(truth)
    moved.remove_edge(source, target)
    moved.add_edge(source, others[rng.integers(len(others))])
    return moved


# Calibration of frequencies


def measure_calibration(case: Case, options: argparse.Namespace) -> Record:
    """Count, by fifths of frequency: how many, the sum of frequencies, how many are right."""
    found: Record = {}
    for n in CALIBRATION_SIZES:
        x, y, truth = draw_graph(case.setting, case.number, n)
        effects, data, _ = estimate(x, y)
        reading = learn_graph(effects, data.inputs, data.outputs)
        found[str(n)] = {kind: count(pairs) for kind, pairs in judge(reading, truth).items()}
    return {"sizes": found}


def judge(reading: LatentGraph, truth: nx.DiGraph) -> dict[str, list[tuple[float, bool]]]:
    """The frequency of each latent and edge, and whether it is right."""
    graph, every = reading.graph, reading.candidates
    names = dict(match_latents(graph, truth))
    left = truth.copy()
    left.remove_nodes_from(names.values())
    # What latents of the truth reach through those taken out counts.
    reached = reach(truth)
    left.add_edges_from((u, o) for u in by_role(left, "latent") for o in reached[u])
    names |= dict(match_latents(_list_candidates(reading), left))
    own = {node: names.get(node) for node in by_role(every, "latent")}
    own |= {node: node for node in every if every.nodes[node]["role"] != "latent"}
    closed = nx.transitive_closure_dag(truth)

    def is_right(u: str, v: str) -> bool:
        return own[u] is not None and own[v] is not None and closed.has_edge(own[u], own[v])

    return {
        LATENTS: [
            (every.nodes[node]["frequency"], own[node] is not None)
            for node in by_role(every, "latent")
        ],
        REPORTED: [(f, is_right(u, v)) for u, v, f in graph.edges(data="frequency")],
        CANDIDATES: [(f, is_right(u, v)) for u, v, f in every.edges(data="frequency")],
    }


def _list_candidates(reading: LatentGraph) -> nx.DiGraph:
    """Latents that are not reported, with the outputs that they reach, and inputs."""
    every, found = reading.candidates, nx.DiGraph()
    outputs = by_role(every, "output")
    for node in by_role(every, "latent"):
        if node not in reading.graph:
            found.add_node(node, role="latent")
            half = every.nodes[node]["frequency"] / 2
            inputs = [
                u
                for u, _, f in every.in_edges(node, data="frequency")
                if every.nodes[u]["role"] == "input" and f >= half
            ]
            found.add_nodes_from(inputs, role="input")
            found.add_nodes_from((outputs[o] for o in reading.outputs[node]), role="output")
            found.add_edges_from((u, node) for u in inputs)
            found.add_edges_from((node, outputs[o]) for o in reading.outputs[node])
    return found


def count(pairs: Sequence[tuple[float, bool]]) -> list[list[float]]:
    """For each fifth of frequency: how many, the sum of frequencies, how many are right."""
    found = np.zeros((BINS, 3))
    for often, right in pairs:
        found[min(int(often * BINS + 1e-9), BINS - 1)] += 1, often, right
    return found.round(4).tolist()


# Time


def measure_time(case: Case, options: argparse.Namespace) -> Record:
    """Seconds of `learn_graph`, wall clock and processor, and the functions that take most."""
    parameters = dict(SHAPES[case.setting])
    simulation = make_dataset(
        parameters.pop("name"), samples=SAMPLES, seed=case.number, **parameters
    )
    started = time.perf_counter()
    effects, data, _ = estimate(simulation.x, simulation.y)
    found: Record = {
        "effects_s": round(time.perf_counter() - started, 2),
        "wall_s": [],
        "cpu_s": [],
    }
    for _ in range(RUNS.get(case.setting, 3)):
        wall, own = time.perf_counter(), time.process_time()
        with at_most(options.limit) as state:
            learn_graph(effects, data.inputs, data.outputs)
        found["wall_s"].append(round(time.perf_counter() - wall, 2))
        found["cpu_s"].append(round(time.process_time() - own, 2))
        found["over"] = state["over"]
    profile = cProfile.Profile()
    with at_most(options.limit):
        profile.runcall(learn_graph, effects, data.inputs, data.outputs)
    found["profile"] = list_slowest(profile)
    return found | {"limit": options.limit, "machine": platform.processor() or platform.machine()}


class TimeOverError(Exception):
    """A run took longer than its limit."""


@contextmanager
def at_most(seconds: float) -> Iterator[dict[str, bool]]:
    """Stop what is run in here after so many seconds; `over` says that it was."""
    state = {"over": False}

    def stop(*_: object) -> None:
        raise TimeOverError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield state
    except TimeOverError:
        state["over"] = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def list_slowest(profile: cProfile.Profile) -> list[list[Any]]:
    """The ten functions of rinn with most time, calls from them included: name, calls, seconds."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    own = [
        [f"{Path(file).stem}.{name}", calls, round(cumulative, 2)]
        for (file, _, name), (_, calls, _, cumulative, _) in stats.items()
        if "rinn" in Path(file).parts and not name.startswith("<")
    ]
    return sorted(own, key=lambda row: -row[2])[:10]


PARTS: dict[str, Callable[[Case, argparse.Namespace], Record]] = {
    "coverage": measure_coverage,
    "fit": measure_fit,
    "calibration": measure_calibration,
    "time": measure_time,
}


# Report


def show(records: Sequence[Record], console: Console) -> None:
    """Print the tables of all parts that have records."""
    for part, print_part in SHOW.items():
        own = [record for record in records if record["case"]["part"] == part]
        if own:
            print_part(own, console)


def make_table(title: str, *heads: str) -> Table:
    """A table whose title stands to the left."""
    table = Table(title=title, title_justify="left")
    for head in heads:
        table.add_column(head)
    return table


def show_coverage(records: Sequence[Record], console: Console) -> None:
    """Print the share of intervals that hold the truth."""
    table = make_table(
        "coverage of 95 % intervals: bar 0.93 to 0.97",
        "setting", "n", "intervals", "coverage", "too high", "variance of z",
    )  # fmt: skip
    for record in records:
        for n, found in record["sizes"].items():
            numbers = (found[key] for key in ("intervals", "coverage", "too_high", "variance"))
            table.add_row(record["case"]["setting"], n, *map(str, numbers))
    console.print(table)


def show_fit(records: Sequence[Record], console: Console) -> None:
    """Print how often graphs are rejected."""
    table = make_table(
        "test of fit, share of p < 0.05: bar 0.02 to 0.09 for true graphs",
        "setting", "n", "tables", "true graph", "one wrong edge",
    )  # fmt: skip
    for setting in FIT_SETTINGS:
        own = [record["p"] for record in records if record["case"]["setting"] == setting]
        for n in map(str, FIT_SIZES):
            if own:
                level, power = (np.array([p[n] for p in own]) < LEVEL).mean(axis=0)
                table.add_row(setting, n, str(len(own)), f"{level:.3f}", f"{power:.3f}")
    console.print(table)


def show_calibration(records: Sequence[Record], console: Console) -> None:
    """Print the share that is right by fifths of frequency: `right/mean frequency (how many)`."""
    for kind in (LATENTS, REPORTED, CANDIDATES):
        heads = [f"{low / BINS:.1f} to {(low + 1) / BINS:.1f}" for low in range(BINS)]
        table = make_table(
            f"{kind}: share that is right / mean frequency (number): bar 0.05 apart", "n", *heads
        )
        for n in map(str, CALIBRATION_SIZES):
            total = sum(np.array(record["sizes"][n][kind]) for record in records)
            table.add_row(n, *(_tell(*row) for row in np.asarray(total)))
        console.print(table)


def _tell(number: float, often: float, right: float) -> str:
    if not number:
        return ""
    star = "" if abs(right - often) <= 0.05 * number else " *"
    return f"{right / number:.2f} / {often / number:.2f} ({number:.0f}){star}"


def show_time(records: Sequence[Record], console: Console) -> None:
    """Print the seconds, and what took them."""
    table = make_table("learn_graph, 50 resamples", "shape", "wall s", "cpu s", "bar s", "slowest")
    for record in records:
        setting = record["case"]["setting"]
        wall, own = (", ".join(map(str, record[key])) for key in ("wall_s", "cpu_s"))
        slowest = ", ".join(f"{name} {seconds}" for name, _, seconds in record["profile"][2:8])
        wall += " (stopped)" if record["over"] else ""
        table.add_row(setting, wall, own, str(MAX_SECONDS[setting]), slowest)
    console.print(table)


SHOW: dict[str, Callable[[Sequence[Record], Console], None]] = {
    "coverage": show_coverage,
    "fit": show_fit,
    "calibration": show_calibration,
    "time": show_time,
}


if __name__ == "__main__":
    main()
