"""How many edges tissue alone draws, with and without covariates, and what is still found.

In TCGA-like tumours alterations and expression both depend on the tissue and, given the tissue, not
on each other: every edge drawn between them is false. `small` takes the most frequent alterations,
few enough that effects are read from networks, `wide` more of them, where they are read from a
regression; in both the outputs are those that differ most between tissues. `block` hides the OR
dataset behind all 634 alterations and 68 outputs: what is still found there, and what is drawn
beside it.

Each case runs three ways: without covariates, with the tissue as covariate, and with the rows of X
permuted (no covariates), where nothing at all can be found. Finished cases are kept in `--out`, one
JSON object a line; the same command goes on where it was stopped. Where effects are read from a
regression the networks have no say in the graph, so that few are trained there.

`--pairs` draws tumours whose expression has alterations as causes as well, beside the tissue, and
counts the pairs of input and output whose regressed effect is clear: true ones, and others.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import itertools
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.graphs.basics import by_role
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import Fit, fit_data
from rinn.simulate.datasets import make_dataset
from rinn.simulate.tumours import sample_tumours
from rinn.structure.effects import estimate_effects

Record = dict[str, Any]

BAR = 0.5  # false edges per graph with covariates, on average
WAYS = ("without", "covariates", "permuted")
STREAM = 4001  # of random numbers: no other work draws from it
CLEAR = 4.5  # in units of the error: less than one of 43,000 pairs by chance
FEW_NETWORKS = {"trials": 4, "epochs": 5}


@dataclass(frozen=True)
class Suite:
    """How large the tables are, and how they are searched."""

    samples: int
    inputs: int | None
    outputs: int | None
    search: dict[str, int]


SUITES = {
    "small": Suite(1000, 60, 30, {"trials": 32}),
    "wide": Suite(2000, 200, 40, FEW_NETWORKS),
    "block": Suite(5000, None, None, FEW_NETWORKS),
}


@dataclass(frozen=True)
class Case:
    """One fit."""

    suite: str
    seed: int
    way: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases that are not done yet, and print a table of all."""
    options = _read(arguments)
    if options.pairs:
        for seed in range(options.seeds):
            print(json.dumps({"seed": seed} | count_pairs(seed)), flush=True)
        return
    known = _load(options.out)
    for suite, seed, way in itertools.product(options.suites, range(options.seeds), options.ways):
        case = Case(suite, seed, way)
        if case not in known:
            known[case] = run_case(case, options.device)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(dataclasses.asdict(case) | known[case]) + "\n")
            print(case, {k: known[case][k] for k in ("false_edges", "seconds")}, flush=True)
    print(tabulate(known).to_string(index=False))


def run_case(case: Case, device: str = "cpu") -> Record:
    """Fit one graph and count what is false."""
    data, truth = make_case(case)
    settings = RunSettings(seed=case.seed, **SUITES[case.suite].search)
    started = time.monotonic()
    fit = fit_data(data, settings, find_devices(device))
    record = count_false(fit, truth)
    record |= {
        "seconds": time.monotonic() - started,
        "samples": len(data.x),
        "inputs": len(data.inputs),
        "outputs": len(data.outputs),
        "networks": len(fit.nets),
        "test_loss": None if fit.test is None else float(np.mean(fit.test.error)),
        "auroc": None if fit.test is None or not fit.test.auroc else float(np.mean(fit.test.auroc)),
        "cores": os.cpu_count(),
        "versions": {name: importlib.metadata.version(name) for name in ("rinn", "jax", "numpy")},
    }
    return record


def make_case(case: Case) -> tuple[Data, nx.DiGraph | None]:
    """Draw the tables of a case, and the truth where there is one."""
    suite = SUITES[case.suite]
    truth = None
    if suite.inputs is None:
        drawn = make_dataset("tcga-or", samples=suite.samples, seed=STREAM + case.seed)
        x, y, truth, labels = drawn.x, drawn.y, drawn.truth, drawn.labels
    else:
        tumours = sample_tumours(np.random.default_rng([STREAM, case.seed]), suite.samples)
        x, y, labels = tumours.x, tumours.y, tumours.labels
        often = x.mean().sort_values(ascending=False).index[: suite.inputs]
        apart = y.groupby(labels["tissue"]).mean().std().sort_values(ascending=False).index
        x, y = x[often], y[apart[: suite.outputs]]
    if case.way == "permuted":
        x = x.iloc[np.random.default_rng([STREAM, case.seed, 1]).permutation(len(x))]
        x = x.reset_index(drop=True)
        truth = None
    return as_data(x, y, covariates=labels if case.way == "covariates" else None), truth


def count_false(fit: Fit, truth: nx.DiGraph | None) -> Record:
    """Count edges that are false: all, or where there is a truth those that touch other columns."""
    graph = fit.latent.graph
    own = set() if truth is None else set(truth)
    strangers = {*by_role(graph, "input"), *by_role(graph, "output")} - own
    if truth is None:
        false = graph.number_of_edges()
    else:
        false = sum(source in strangers or target in strangers for source, target in graph.edges)
    joined = [
        name for name in by_role(graph, "input") if name in strangers and graph.out_degree(name)
    ]
    record: Record = {
        "false_edges": false,
        "false_inputs": len(joined),
        "latents": len(by_role(graph, "latent")),
        "edges": graph.number_of_edges(),
    }
    if truth is not None:
        record |= {"scores": score_graph(graph, truth).to_json()}
    return record


def count_pairs(seed: int, samples: int = 5000, clear: float = CLEAR) -> Record:
    """Count clear effects among true causes and other pairs, without and with covariates."""
    tumours = sample_tumours(np.random.default_rng([STREAM, seed]), samples, parents=3)
    assert tumours.parents is not None
    causes = set(zip(tumours.parents["sga"], tumours.parents["deg"], strict=True))
    record: Record = {"true": len(causes)}
    for way, labels in (("without", None), ("covariates", tumours.labels)):
        data = as_data(tumours.x, tumours.y, covariates=labels)
        is_clear = np.abs(estimate_effects(make_problem(data, seed=seed)).z) > clear
        is_true = np.array([[(i, o) in causes for o in data.outputs] for i in data.inputs])
        found, false = int(is_clear[is_true].sum()), int(is_clear[~is_true].sum())
        record[way] = {"found": found, "false": false}
    return record


def tabulate(known: dict[Case, Record]) -> pd.DataFrame:
    """Sum the cases up: a row for each suite and way."""
    rows = []
    for suite, way in itertools.product(SUITES, WAYS):
        found = [record for case, record in known.items() if (case.suite, case.way) == (suite, way)]
        if not found:
            continue
        false = [record["false_edges"] for record in found]
        row: Record = {"suite": suite, "way": way, "graphs": len(found)}
        row |= {"false edges": round(statistics.mean(false), 2), "most": max(false)}
        row |= {"latents": round(statistics.mean(r["latents"] for r in found), 2)}
        scored = [r["scores"]["latents"]["f1"] for r in found if "scores" in r]
        row |= {"latents F1": round(statistics.mean(scored), 3) if scored else ""}
        if way == "covariates" and suite != "block":
            row |= {"bar": "met" if statistics.mean(false) <= BAR else "missed"}
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=["small", "wide"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--seeds", type=int, default=5, help="how many draws of each suite")
    parser.add_argument("--pairs", action="store_true", help="count clear pairs instead")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="a .jsonl file for finished cases")
    return parser.parse_args(arguments)


def _load(path: Path | None) -> dict[Case, Record]:
    if path is None or not path.exists():
        return {}
    names = [field.name for field in dataclasses.fields(Case)]
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {Case(*(line[name] for name in names)): line for line in lines}


if __name__ == "__main__":
    main()
