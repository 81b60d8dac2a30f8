"""Recovery on graphs by others: Bayesian networks of the bnlearn repository, as pgmpy ships them.

Needs pgmpy (`pip install pgmpy`), whose files are read from its own folder; nothing is downloaded.
Roots are inputs, leaves are outputs, everything between is hidden; a root that is a leaf is left
out. Rows are drawn from the network. A state is coded by its number in the network's own order:
0 and 1 where there are two. That order need not be one of size, so that an effect of several
states may show in part.

What could be found is computed before anything is fitted. Latents that reach the same outputs, or
are reached by the same inputs, are one; a latent is left out, and its parents joined to its
children, if that takes no more edges (see `rinn.graphs.theory.explain_latents`). Of the latents
that remain, those count as visible whose inputs have an effect of 3 standard errors or more on
every output below them, measured on 100,000 rows. Scores are against the graph that remains.

rinn reads its graph from a regression here (`effects="regression"`): no network is trained.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from casefiles import Record, run_cases, tell
from pagetables import replace_table, write_table
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.graphs.basics import by_role, collapse, reach, sources
from rinn.graphs.compare import keep_known, score_graph
from rinn.graphs.theory import explain_latents
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.strategies import STRATEGIES

NETWORKS = ("alarm", "hepar2", "win95pts", "andes")
METHODS = ("rinn", "regression", "nem")
SEEDS = (0, 1, 2)
LARGE = 100_000
FAINT = 3.0  # standard errors
PAGE = Path(__file__).resolve().parents[1] / "docs/comparison.md"
HEADERS = (
    "network", "n", "inputs", "outputs", "hidden", "identifiable", "after merging", "visible",
    "method", "latents found", "latents F1", "precision", "recall of the visible", "edges F1",
    "pairs F1",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case that has no record yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts of all cases")
    parser.add_argument("--work", type=Path, required=True, help="folder for records")
    parser.add_argument("--page", action="store_true", help="write the table into the page too")
    options = parser.parse_args(arguments)
    for name in options.methods.split(","):
        if name not in STRATEGIES:
            parser.error(f"--methods must be of {', '.join(STRATEGIES)}, got {name!r}")
    cases = [
        (network, options.n, int(seed), method)
        for network in options.networks.split(",")
        for seed in options.seeds.split(",")
        for method in options.methods.split(",")
    ]
    rows = tabulate(run_cases(cases, options.part, options.work, measure))
    grid = Table(*HEADERS)
    for row in rows:
        grid.add_row(*row)
    Console(width=200).print(grid)
    if options.page:
        replace_table(PAGE, "bnlearn", write_table(HEADERS, rows))


def measure(network: str, n: int, seed: int, method: str) -> Record:
    """Fit one draw of a network by one method, and score its graph."""
    graph, rows, large = load_network(network, n, seed)
    target = find_target(graph)
    x, y = (rows[by_role(target, role)] for role in ("input", "output"))
    data = as_data(x, y)
    settings = RunSettings(strategy=method, seed=seed, effects="regression")
    used = time.process_time()
    found = fit_data(data, settings, find_devices("cpu"), refit=False).latent.graph
    seconds = time.process_time() - used
    scores, visible = score_graph(found, target), find_visible(target, large, n)
    matched = {true for _, true in scores.pairs}
    pairs, true_pairs = (_list_pairs(one) for one in (keep_known(found, target), target))
    both = len(pairs & true_pairs)
    findings = explain_latents(graph)
    return {
        "network": network,
        "n": n,
        "seed": seed,
        "method": method,
        "inputs": len(data.inputs),
        "outputs": len(data.outputs),
        "hidden": len(findings),
        "identifiable": sum(one.identifiable and not one.spare for one in findings),
        "merged": len(by_role(target, "latent")),
        "visible": len(visible),
        "found": len(by_role(found, "latent")),
        "f1": scores.latents.f1,
        "precision": scores.latents.precision,
        "visible_recall": len(visible & matched) / len(visible) if visible else None,
        "edges_f1": scores.edges.f1,
        "pairs_f1": 2 * both / max(len(pairs) + len(true_pairs), 1),
        "cpu_seconds": round(seconds, 2),
    }


def load_network(name: str, n: int, seed: int) -> tuple[nx.DiGraph, pd.DataFrame, pd.DataFrame]:
    """The graph of a network with roles, `n` rows, and many rows that show the size of effects."""
    try:
        import pgmpy
    except ImportError:
        raise SystemExit("bench_bnlearn.py needs pgmpy: pip install pgmpy") from None
    from pgmpy.readwrite import BIFReader

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    path = Path(pgmpy.__file__).parent / "utils" / "example_models" / f"{name}.bif.gz"
    if not path.exists():
        raise SystemExit(f"--networks must be of those that pgmpy ships, but has no {path.name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()
    graph: nx.DiGraph = nx.DiGraph(list(model.edges))
    roles = {}
    for node in graph:
        roles[node] = "latent" if graph.in_degree(node) else "input"
        roles[node] = roles[node] if graph.out_degree(node) else "output"
    nx.set_node_attributes(graph, roles, "role")
    tables = {cpd.variable: cpd for cpd in model.get_cpds()}
    rows, large = (
        draw_rows(graph, tables, size, np.random.default_rng([seed, stream]))
        for size, stream in ((n, 1), (LARGE, 2))
    )
    return graph, rows, large


def draw_rows(
    graph: nx.DiGraph, tables: dict[str, Any], size: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw rows from causes to effects; a state is its number."""
    rows: dict[str, np.ndarray] = {}
    for node in nx.topological_sort(graph):
        own, *parents = tables[node].variables
        chances = tables[node].values[  # noqa: PD011, no pandas
            (slice(None), *(rows[one] for one in parents))
        ]
        limits = np.cumsum(chances.reshape(len(chances), -1), axis=0)  # [state, row or 1]
        rows[own] = (rng.random(size) > limits[:-1]).sum(axis=0)
    return pd.DataFrame(rows)


def find_target(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph that data could show: merged, and without latents that save no edges."""
    target = collapse(graph)
    while True:
        same: dict[frozenset[str], list[str]] = {}
        for latent, inputs in sources(target).items():
            same.setdefault(inputs, []).append(latent)
        shared = [group for group in same.values() if len(group) > 1]
        spare = [one.name for one in explain_latents(target) if one.spare]
        idle = [latent for latent, inputs in sources(target).items() if not inputs]
        if not (shared or spare or idle):
            return target
        # Of latents with the same inputs one stays, which reaches what all of them do.
        target = _leave_out(target, idle[0] if idle else shared[0][-1] if shared else spare[0])
        target = collapse(target)


def _leave_out(graph: nx.DiGraph, latent: str) -> nx.DiGraph:
    """Join the parents of a latent to its children."""
    small: nx.DiGraph = graph.copy()
    parents, children = list(small.pred[latent]), list(small.succ[latent])
    small.remove_node(latent)
    small.add_edges_from((parent, child) for parent in parents for child in children)
    return small


def find_visible(target: nx.DiGraph, large: pd.DataFrame, n: int) -> set[str]:
    """Latents whose inputs together have an effect of 3 standard errors on each output below."""
    squares = large.corr().fillna(0.0) ** 2 - 1 / len(large)  # without what noise adds
    reached, above = reach(target), sources(target)
    sizes = {
        latent: squares.loc[sorted(above[latent]), sorted(reached[latent])].sum()  # [output]
        for latent in by_role(target, "latent")
    }
    return {latent for latent, size in sizes.items() if (size * n >= FAINT**2).all()}


def _list_pairs(graph: nx.DiGraph) -> set[tuple[str, str]]:
    reached = reach(graph)
    return {(one, output) for one in by_role(graph, "input") for output in reached[one]}


def tabulate(records: Sequence[Record]) -> list[list[str]]:
    """One row for each network, n and method: what there is, and means over the draws."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record[k] for k in ("network", "n", "method")), []).append(record)
    rows = []
    for (network, n, method), own in groups.items():
        counts = [f"{np.mean([one[k] for one in own]):.3g}" for k in
                  ("inputs", "outputs", "hidden", "identifiable", "merged", "visible")]  # fmt: skip
        recalls = [one["visible_recall"] for one in own if one["visible_recall"] is not None]
        scores = [tell([one[k] for one in own]) for k in ("f1", "precision")]
        scores += [tell(recalls) if recalls else "none visible"]
        scores += [tell([one[k] for one in own]) for k in ("edges_f1", "pairs_f1")]
        found = f"{np.mean([one['found'] for one in own]):.3g}"
        rows.append([network, str(n), *counts, method, found, *scores])
    return rows


if __name__ == "__main__":
    main()
