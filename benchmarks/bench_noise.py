"""Tables in which X has nothing to do with Y: how many edges and cautions are reported.

Families are those in which tests that trust in normal errors fail: inputs with few carriers, heavy
tails, few samples, few networks, duplicated and nearly collinear inputs, outputs with common
factors, and the paper's simulations and crosses with the rows of Y permuted. Beside rinn stands the
plain alternative on the same tables: a linear regression of each output on all inputs, and the
pairs with q < 0.05 (Benjamini, Hochberg 1995) by t-tests.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable
from scipy import stats

from bench_few import draw_noise
from casefiles import Record, add_options, run_cases
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.warnings import find_warnings
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset

SEEDS = tuple(range(500, 510))
INPUTS, OUTPUTS = 16, 16
STREAM = 41
Q = 0.05

Tables = tuple[np.ndarray, np.ndarray]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case, and print what was reported in each family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    add_options(parser)
    options = parser.parse_args(arguments)
    cases = [
        (family, int(seed))
        for seed in options.seeds.split(",")
        for family in options.families.split(",")
    ]
    task = functools.partial(measure, trials=options.trials, device=options.device)
    show(run_cases(cases, options.part, options.work, task), Console(width=120))


def measure(family: str, seed: int, *, trials: int, device: str) -> Record:
    """Fit one pair of tables and count the edges.

    Args:
        family: one of `FAMILIES`.
        seed: of the data.
        trials: networks, where the family does not ask for fewer.
        device: where to train.

    Returns:
        The record.
    """
    x, y = FAMILIES[family](seed, np.random.default_rng([seed, STREAM]))
    is_few = family == "few networks"
    networks = (2, 4, 8)[seed % 3] if is_few else trials
    source = "network" if is_few else "auto"
    started = time.monotonic()
    data = as_data(x, y)
    fit = fit_data(
        data, RunSettings(trials=networks, effects=source), find_devices(device), refit=False
    )
    return {
        "family": family,
        "seed": seed,
        "samples": len(x),
        "networks": networks,
        "edges": fit.latent.graph.number_of_edges(),
        "candidates": fit.latent.candidates.number_of_edges(),
        "warnings": list(find_warnings(data, fit.networks)),
        "regression": count_regression(x, y),
        "seconds": time.monotonic() - started,
    }


def count_regression(x: np.ndarray, y: np.ndarray) -> int:
    """Pairs with q < 0.05 by t-tests in a linear regression on all inputs."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    inverse = np.linalg.pinv(x.T @ x)
    slopes = inverse @ x.T @ y  # [input, output]
    free = max(len(x) - np.linalg.matrix_rank(x) - 1, 1)
    spread = np.sqrt(((y - x @ slopes) ** 2).sum(axis=0) / free)
    t = slopes / np.maximum(np.sqrt(np.diag(inverse))[:, None] * spread, 1e-12)
    q = stats.false_discovery_control(2 * stats.t.sf(np.abs(t), free).ravel())
    return int((q < Q).sum())


def draw_carriers(seed: int, rng: np.random.Generator, carriers: Sequence[int]) -> np.ndarray:
    """Inputs that are 1 in a few of 500 samples."""
    x = np.zeros((500, INPUTS))
    for column in range(INPUTS):
        x[rng.choice(500, carriers[seed % len(carriers)], replace=False), column] = 1.0
    return x


def draw_plain(seed: int, rng: np.random.Generator, n: int = 500) -> np.ndarray:
    """Ordinary inputs: 0/1 or normal by turns."""
    if seed % 2:
        return rng.normal(size=(n, INPUTS))
    return (rng.random((n, INPUTS)) < rng.uniform(0.2, 0.5, INPUTS)).astype(float)


def draw_coins(rng: np.random.Generator, n: int = 500) -> np.ndarray:
    """Outputs that are fair coins."""
    return (rng.random((n, OUTPUTS)) < 0.5).astype(float)


def make_one_carrier(seed: int, rng: np.random.Generator) -> Tables:
    """One carrier for each input, fair coins."""
    return draw_carriers(seed, rng, (1,)), draw_coins(rng)


def make_few_carriers(seed: int, rng: np.random.Generator) -> Tables:
    """Two, four or eight carriers for each input, fair coins."""
    return draw_carriers(seed, rng, (2, 4, 8)), draw_coins(rng)


def make_rare_numbers(seed: int, rng: np.random.Generator) -> Tables:
    """One, three or six carriers for each input; normal outputs."""
    return draw_carriers(seed, rng, (1, 3, 6)), rng.normal(size=(500, OUTPUTS))


def make_heavy(seed: int, rng: np.random.Generator) -> Tables:
    """Outputs with the tails of a t distribution with 1.5 degrees of freedom."""
    return draw_plain(seed, rng), rng.standard_t(1.5, size=(500, OUTPUTS))


def make_rare_heavy(seed: int, rng: np.random.Generator) -> Tables:
    """Few carriers, and heavy tails."""
    return draw_carriers(seed, rng, (2, 4, 8)), rng.standard_t(1.5, size=(500, OUTPUTS))


def make_few_samples(seed: int, rng: np.random.Generator) -> Tables:
    """60 to 120 samples."""
    n = 60 + 30 * (seed % 3)
    y = rng.normal(size=(n, OUTPUTS)) if seed % 2 else draw_coins(rng, n)
    return draw_plain(seed + seed // 2, rng, n), y


def make_plain(seed: int, rng: np.random.Generator) -> Tables:
    """500 samples of ordinary inputs; normal outputs or fair coins."""
    y = rng.normal(size=(500, OUTPUTS)) if seed % 4 < 2 else draw_coins(rng)
    return draw_plain(seed, rng), y


def make_collinear(seed: int, rng: np.random.Generator) -> Tables:
    """Half of the inputs are copies, complements or nearly copies of the others."""
    x, y = make_plain(seed, rng)
    half = INPUTS // 2
    x[:, half:] = x[:, :half]
    x[:, half : half + 2] = 1 - x[:, :2]
    x[:, -2:] += 0.01 * rng.normal(size=(500, 2))
    return x, y


def make_factors(seed: int, rng: np.random.Generator) -> Tables:
    """84 or 200 samples, 100 outputs that share ten factors."""
    return draw_noise((84, 200)[seed % 2], rng)


def make_permuted(seed: int, rng: np.random.Generator) -> Tables:
    """The paper's simulations with the rows of Y permuted."""
    name, n = ("or", "gaussian", "logic")[seed % 3], (250, 1000, 2000)[seed // 3 % 3]
    found = make_dataset(name, samples=n, seed=seed)
    return found.x.to_numpy(float), found.y.to_numpy(float)[rng.permutation(n)]


def make_linked(seed: int, rng: np.random.Generator) -> Tables:
    """A cross of 150 or 300 strains, 600 linked loci, with the rows of Y permuted."""
    n = (150, 300)[seed % 2]
    found = make_dataset("cross", samples=n, seed=seed, markers=600, outputs=60, local=20)
    return found.x.to_numpy(float), found.y.to_numpy(float)[rng.permutation(n)]


FAMILIES: dict[str, Callable[[int, np.random.Generator], Tables]] = {
    "one carrier": make_one_carrier,
    "few carriers": make_few_carriers,
    "rare numbers": make_rare_numbers,
    "heavy tails": make_heavy,
    "rare heavy tails": make_rare_heavy,
    "few samples": make_few_samples,
    "few networks": make_plain,
    "collinear": make_collinear,
    "common factors": make_factors,
    "permuted": make_permuted,
    "linked loci": make_linked,
}


def show(records: Sequence[Record], console: Console) -> None:
    """Print each family, and all of them."""
    table = RichTable(title="edges out of noise")
    heads = ("family", "tables", "with edges", "edges", "with a caution", "regression, q < 0.05")
    for head in heads:
        table.add_column(head)
    for family in [*FAMILIES, "all"]:
        own = [r for r in records if family in (r["family"], "all")]
        if not own:
            continue
        table.add_row(
            family,
            str(len(own)),
            str(sum(r["edges"] > 0 for r in own)),
            str(sum(r["edges"] for r in own)),
            str(sum(bool(r["warnings"]) for r in own)),
            f"{sum(r['regression'] > 0 for r in own)} tables, {sum(r['regression'] for r in own)} "
            f"pairs",
        )
    console.print(table)


if __name__ == "__main__":
    main()
