"""Which graph a criterion takes: the penalised likelihood, or held-out likelihood with a test.

For each random graph a path of graphs is made from the one that the search finds: up to `STEPS`
edges more, the next by score test each time, and up to `STEPS` fewer, the next by Wald test. Five
folds give every row its held-out loss (squared residuals, whitened) under each graph of the path.
The rule takes the smallest graph whose mean loss is not above the best one's by more than so many
standard errors of the paired difference. The truth is used for nothing but scoring.

Development graphs: numbers from 500 on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from bench_recovery import draw_world
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.graphs.compare import score_graph
from rinn.structure import constants as c
from rinn.structure.effects import estimate_effects
from rinn.structure.moves import set_edges
from rinn.structure.records import Structure
from rinn.structure.regression import Sample, estimate_moments
from rinn.structure.score import Misfit
from rinn.structure.search import find_structure

SUITES = ("random60", "orphans60", "unequal20")
SIZES = (1000, 5000)
FIRST, STEPS, FOLDS = 500, 10, 5
ERRORS = (0.0, 1.0, 2.0, 3.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case that is not yet in `--out`, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=8, help="of each suite and size")
    parser.add_argument("--out", type=Path, required=True, help="finished cases, a JSON line each")
    options = parser.parse_args(arguments)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(record["suite"], record["n"], record["number"]) for record in records}
    for number in range(FIRST, FIRST + options.graphs):
        for suite in SUITES:
            for n in SIZES:
                if (suite, n, number) not in done:
                    with threadpool_limits(1, user_api="blas"):
                        records.append(measure(suite, number, n))
                    with options.out.open("a") as file:
                        file.write(json.dumps(records[-1]) + "\n")
    show(records, Console(width=110))


def measure(suite: str, number: int, n: int) -> dict[str, object]:
    """Score the graph of each rule against the truth."""
    simulation, truth, _ = draw_world(suite, number, n)
    data = as_data(simulation.x, simulation.y)
    effects = estimate_effects(make_problem(data))
    found = find_structure(effects.moments, starts=c.STARTS)
    path = make_path(found, Misfit(effects.moments, effects_only=True))
    losses = np.stack([find_held_out(graph, effects.sample) for graph in path])  # [graph, row]
    best = int(losses.mean(axis=1).argmin())
    rules = {"penalty": found}
    for errors in ERRORS:
        rules[f"held out, {errors:g} errors"] = path[take_smallest(losses, best, errors)]
    columns = len(effects.sample.owners)
    names = [*data.inputs, *(f"product {k}" for k in range(columns - len(data.inputs)))]
    return {"suite": suite, "number": number, "n": n} | {
        rule: _score(graph, names, data.outputs, truth) for rule, graph in rules.items()
    }


def make_path(graph: Structure, misfit: Misfit) -> list[Structure]:
    """Graphs with fewer and more edges, the smallest first."""
    graph = misfit.fit(graph)[0]
    path = [graph]
    for _ in range(STEPS):
        system = misfit.linearise(path[0])
        if len(system.edges[0]) < 2:
            break
        u, v = (side[int(system.find_losses().argmin())] for side in system.edges)
        path.insert(0, misfit.fit(set_edges(path[0], u, v, None))[0])
    for _ in range(STEPS):
        last = path[-1]
        allowed = ~last.edges & ~last.reach.T
        allowed[:, : last.inputs] = False
        allowed[last.first_output :] = False
        (u, v), gains, weights = misfit.linearise(last).find_gains(allowed, c.MAX_RANKED)
        place = int(gains.argmax())
        path.append(misfit.fit(set_edges(last, u[place], v[place], weights[place]))[0])
    return path


def find_held_out(graph: Structure, sample: Sample) -> np.ndarray:
    """The loss of each row under the graph fitted to the other folds."""
    rows = len(sample.x)
    fold = np.random.default_rng(0).permutation(rows) % FOLDS
    x, y = (table / np.maximum(table.std(axis=0), 1e-12) for table in (sample.x, sample.y))
    losses = np.zeros(rows)
    for k in range(FOLDS):
        moments = estimate_moments(sample, (fold != k).astype(float))
        fitted = Misfit(moments, effects_only=True).fit(graph, 30)[0]
        effects = fitted.totals[: fitted.inputs, fitted.first_output :]
        off = y[fold == k] - x[fold == k] @ effects
        losses[fold == k] = ((off @ moments.precision) * off).sum(axis=1)
    return losses


def take_smallest(losses: np.ndarray, best: int, errors: float) -> int:
    """The first graph of the path that is not worse than the best one by so many errors."""
    apart = losses - losses[best]
    limit = errors * apart.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
    return int(np.flatnonzero(apart.mean(axis=1) <= limit)[0])


def _score(
    graph: Structure, inputs: Sequence[str], outputs: Sequence[str], truth: nx.DiGraph
) -> list[float]:
    """Latents F1, edges F1, precision and recall of edges."""
    names = [*inputs, *(f"L{k}" for k in range(graph.latents)), *outputs]
    roles = ["input"] * graph.inputs + ["latent"] * graph.latents + ["output"] * graph.outputs
    found: nx.DiGraph = nx.DiGraph()
    for name, role in zip(names, roles, strict=True):
        if not name.startswith("product "):
            found.add_node(name, role=role)
    found.add_edges_from(
        (names[u], names[v])
        for u, v in zip(*np.nonzero(graph.edges), strict=True)
        if not names[u].startswith("product ")
    )
    scores = score_graph(found, truth)
    edges = scores.edges
    return [scores.latents.f1, edges.f1, edges.precision, edges.recall]


def show(records: Sequence[dict[str, object]], console: Console) -> None:
    """Print means by size and rule."""
    table = Table(title="the graph of each rule", title_justify="left")
    for name in ("n", "rule", "graphs", "latents F1", "edges F1", "precision", "recall"):
        table.add_column(name)
    rules = [name for name in records[0] if name not in ("suite", "number", "n")]
    for n in SIZES:
        for rule in rules:
            rows = [record[rule] for record in records if record["n"] == n]
            if rows:
                means = np.mean(np.array(rows, float), axis=0)
                table.add_row(str(n), rule, str(len(rows)), *(f"{mean:.3f}" for mean in means))
    console.print(table)


if __name__ == "__main__":
    main()
