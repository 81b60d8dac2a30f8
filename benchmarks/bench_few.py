"""Few samples, and latents with many outputs: what is drawn, and what of it is wrong.

Two latents act on twenty of a hundred outputs each; two inputs act on each latent, which is on
where one of them is. Of each output's noise half is shared with others, by ten factors, as genes
share regulators that nobody measured. `shift` is what a latent adds, in standard deviations of the
noise; 0 adds nothing. With `--x` and `--y`, tables of your own are taken: the rows of Y are
permuted, so that nothing real is left, and the same is planted for the four most frequent inputs.

Counted are pairs of an input and an output that it reaches: the share of the true ones that are
drawn, the drawn ones that are wrong, and graphs with any that is wrong.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

from casefiles import Record, add_options, run_cases, tell
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.tables import load_table
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data

SIZES = (84, 150, 300)
SHIFTS = (0.0, 1.0, 2.0)
SEEDS = tuple(range(10, 20))
INPUTS, OUTPUTS, FACTORS = 14, 100, 10
FREQUENT = (0.35, 0.3, 0.17, 0.16)  # the inputs that act
SET = 20
STREAM = 37

Tables = tuple[np.ndarray, np.ndarray]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case, and print means with their spread over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--shifts", default=",".join(map(str, SHIFTS)))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--x", type=Path, help="a table of 0/1 inputs, to permute Y against")
    parser.add_argument("--y", type=Path, help="a table of outputs")
    add_options(parser)
    options = parser.parse_args(arguments)
    tables, sizes = None, options.sizes.split(",")
    if options.x and options.y:
        tables = load_table(options.x, "X").values, load_table(options.y, "Y").values
        sizes = [str(len(tables[0]))]
    cases = [
        ("own" if tables else "made", int(n), float(shift), int(seed))
        for seed in options.seeds.split(",")
        for n in sizes
        for shift in options.shifts.split(",")
    ]
    settings = RunSettings(trials=options.trials, epochs=options.epochs)
    task = functools.partial(measure, tables=tables, settings=settings, device=options.device)
    show(run_cases(cases, options.part, options.work, task), Console(width=110))


def measure(
    name: str,
    n: int,
    shift: float,
    seed: int,
    *,
    tables: Tables | None,
    settings: RunSettings,
    device: str,
) -> Record:
    """Fit one pair of tables and count what is drawn.

    Args:
        name: "own" for the user's tables, else "made".
        n: samples.
        shift: what a latent adds, in standard deviations.
        seed: of the data.
        tables: X and Y, or None to make some.
        settings: of the search.
        device: where to train.

    Returns:
        The record.
    """
    started = time.monotonic()
    rng = np.random.default_rng([seed, n, STREAM])
    x, y = permute(*tables, rng) if tables else draw_noise(n, rng)
    true = plant(x, y, shift, rng)
    data = as_data(x, y)
    graph = fit_data(data, settings, find_devices(device), refit=False).latent.graph
    drawn = {
        (int(i[1:]), int(o[1:]))
        for i in data.inputs
        for o in nx.descendants(graph, i)
        if o in set(data.outputs)
    }
    return {
        "tables": name,
        "n": n,
        "shift": shift,
        "seed": seed,
        "networks": settings.trials,
        "found": len(drawn & true) / max(len(true), 1),
        "wrong": len(drawn - true),
        "any_wrong": bool(drawn - true),
        "edges": graph.number_of_edges(),
        "seconds": time.monotonic() - started,
    }


def draw_noise(n: int, rng: np.random.Generator) -> Tables:
    """Inputs that do nothing, and outputs whose noise is half their own and half of factors."""
    chance = rng.uniform(0.07, 0.35, INPUTS)
    chance[: len(FREQUENT)] = FREQUENT
    x = (rng.random((n, INPUTS)) < chance).astype(float)
    x[0], x[1] = 0.0, 1.0  # no column is constant
    loadings = rng.normal(size=(FACTORS, OUTPUTS)) * (rng.random((FACTORS, OUTPUTS)) < 0.3)
    shared = rng.normal(size=(n, FACTORS)) @ loadings
    shared /= np.maximum(np.sqrt((loadings**2).sum(axis=0)), 1e-9)
    return x, np.sqrt(0.5) * (shared + rng.normal(size=(n, OUTPUTS)))


def permute(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Tables:
    """The same tables with the rows of Y in another order, the most frequent inputs first."""
    order = np.argsort(-x.mean(axis=0), kind="stable")
    return x[:, order].copy(), y[rng.permutation(len(y))].copy()


def plant(
    x: np.ndarray, y: np.ndarray, shift: float, rng: np.random.Generator
) -> set[tuple[int, int]]:
    """Let the first four inputs raise two sets of outputs, in place; returns the pairs."""
    places, spread = rng.permutation(y.shape[1]), y.std(axis=0)
    true: set[tuple[int, int]] = set()
    for latent in range(2):
        own = places[latent * SET : (latent + 1) * SET]
        causes = (2 * latent, 2 * latent + 1)
        y[:, own] += shift * spread[own] * x[:, causes].max(axis=1)[:, None]
        true |= {(cause, int(place)) for cause in causes for place in own}
    return true if shift else set()


def show(records: Sequence[Record], console: Console) -> None:
    """Print means over the seeds."""
    table = RichTable(title="pairs of input and output: mean ± standard deviation")
    heads = ("tables", "samples", "shift", "fits", "found of true", "wrong", "any wrong", "empty")
    for head in heads:
        table.add_column(head)
    for key in sorted({(r["tables"], r["n"], r["shift"]) for r in records}):
        own = [r for r in records if (r["tables"], r["n"], r["shift"]) == key]
        found = tell([r["found"] for r in own]) if key[2] else "-"
        wrong = f"{np.mean([r['wrong'] for r in own]):.1f}"
        counts = [sum(r["any_wrong"] for r in own), sum(not r["edges"] for r in own)]
        table.add_row(*map(str, (*key, len(own))), found, wrong, *map(str, counts))
    console.print(table)


if __name__ == "__main__":
    main()
