"""What becomes of the graph where outputs are of several kinds, or partly missing.

Outputs of the paper's matrix and gaussian data, standardised (z), are turned into what people
measure: a third stay numbers, with noise of their own size of a half; a third become 0 or 1 with
log odds of 2 z; a third become counts of mean exp(1 + 0.6 z), scattered by a gamma variable of
shape 4. Some are then removed at random. Each table is fitted as it is, and in the ways people
take where a program knows numbers alone: as numbers, with the mean in every gap, or without the
samples that have one.

Every fit is the default search with `--trials` networks. The truth scores the graph, and nothing
else; under `nothing` the rows of Y are permuted, and `edges` counts what is drawn.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from casefiles import Record, add_options, run_cases, tell
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.records import Data
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset

DATASETS = ("matrix", "gaussian")
SIZES = (500, 2000)
SEEDS = (300, 301, 302, 303, 304)
KINDS = ("number", "binary", "count")
VARIANTS = (
    "numbers",
    "numbers, 10 % missing",
    "numbers, 10 % missing, whole rows",
    "numbers, 30 % missing",
    "numbers, 30 % missing, means",
    "mixed",
    "mixed, as numbers",
    "mixed, 10 % missing",
    "nothing",
)
MEASURES = ("latents", "precision", "edges_f1")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case, and print means with their spread over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    add_options(parser)
    options = parser.parse_args(arguments)
    cases = [
        (name, int(n), int(seed), variant)
        for seed in options.seeds.split(",")
        for n in options.sizes.split(",")
        for name in options.datasets.split(",")
        for variant in VARIANTS
    ]
    settings = RunSettings(trials=options.trials, epochs=options.epochs)
    task = functools.partial(measure, settings=settings, device=options.device)
    show(run_cases(cases, options.part, options.work, task), Console(width=110))


def measure(
    name: str, n: int, seed: int, variant: str, settings: RunSettings, device: str
) -> Record:
    """Fit one table and score its graph.

    Args:
        name: of the dataset.
        n: samples.
        seed: of the data.
        variant: of `VARIANTS`.
        settings: of the search.
        device: where to train.

    Returns:
        The record.
    """
    started = time.monotonic()
    data, truth = make_table(name, n, seed, variant)
    graph = fit_data(data, settings, find_devices(device), refit=False).latent.graph
    scores = score_graph(graph, truth)
    return {
        "dataset": name,
        "n": n,
        "seed": seed,
        "variant": variant,
        "samples": len(data.x),
        "latents": scores.latents.f1,
        "precision": scores.latents.precision,
        "edges_f1": scores.edges.f1,
        "edges": graph.number_of_edges(),
        "seconds": time.monotonic() - started,
    }


def make_table(name: str, n: int, seed: int, variant: str) -> tuple[Data, Any]:
    """Make the tables of a variant, and the graph behind them.

    Args:
        name: of the dataset.
        n: samples.
        seed: of the data, and of what is made of them.
        variant: of `VARIANTS`.

    Returns:
        Data with the kinds that the variant names, and the truth.
    """
    simulation = make_dataset(name, samples=n, seed=seed)
    rng = np.random.default_rng([seed, 31])
    z = simulation.y.to_numpy()
    z = (z - z.mean(axis=0)) / z.std(axis=0)  # [sample, output]
    numbers = z + 0.5 * rng.normal(size=z.shape)
    binary = rng.random(z.shape) < 1 / (1 + np.exp(-2 * z))
    counts = rng.poisson(np.exp(1 + 0.6 * z) * rng.gamma(4, 0.25, z.shape))
    gaps, order = rng.random(z.shape), rng.permutation(n)
    which = np.arange(z.shape[1]) % len(KINDS)
    is_mixed = variant.startswith("mixed") or variant == "nothing"
    y = np.choose(which, [numbers, binary, counts]) if is_mixed else numbers
    told: dict[str, str] = {}
    if is_mixed and not variant.endswith("as numbers"):
        told = {str(c): KINDS[k] for c, k in zip(simulation.y.columns, which, strict=True)}
    if "10 %" in variant or variant == "nothing":
        y = np.where(gaps < 0.1, np.nan, y)
    elif "30 %" in variant:
        y = np.where(gaps < 0.3, np.nan, y)
    if variant == "nothing":
        y = y[order]
    x = simulation.x
    table = simulation.y.iloc[:0].reindex(range(n))
    table[:] = y
    if variant.endswith("means"):
        table = table.fillna(table.mean())
    if variant.endswith("whole rows"):
        whole = table.notna().all(axis=1)
        x, table = x[whole.to_numpy()].reset_index(drop=True), table[whole].reset_index(drop=True)
    data = as_data(x, table, kinds=told)
    if variant == "mixed, as numbers":
        data = replace(data, kinds=tuple((name, "number") for name in data.outputs))
    return data, simulation.truth


def show(records: Sequence[Record], console: Console) -> None:
    """Print the mean and standard deviation of each variant over datasets and seeds."""
    for n in sorted({record["n"] for record in records}):
        some = [record for record in records if record["n"] == n]
        table = Table(title=f"{n} samples: mean ± standard deviation")
        for column in ("outputs", "cases", "samples", *MEASURES, "edges drawn"):
            table.add_column(column)
        for variant in VARIANTS:
            own = [record for record in some if record["variant"] == variant]
            if not own:
                continue
            cells = [tell([record[name] for record in own]) for name in MEASURES]
            if variant == "nothing":
                cells = ["-"] * len(MEASURES)
            samples = f"{np.mean([record['samples'] for record in own]):.0f}"
            edges = f"{np.mean([record['edges'] for record in own]):.1f}"
            table.add_row(variant, str(len(own)), samples, *cells, edges)
        console.print(table)


if __name__ == "__main__":
    main()
