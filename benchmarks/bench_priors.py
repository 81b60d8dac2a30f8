"""What prior knowledge of some pairs does to the graph: right, and wrong.

For each dataset, size and seed networks are trained once; their effects are kept in `--work`. Then
the graph is read from the same effects without a prior and with several: of 30 % of all pairs of
input and output it is said, softly (log odds of 2) or firmly, whether the input reaches the output;
or of 30 % of the pairs of inputs that act on the same outputs that they share a latent. Wrong
knowledge is the same with its answers shuffled among the pairs that it speaks of; for pairs of
inputs, as many other pairs.

Beside the latents' and the edges' F1, `untold` is the share of wrong ones among the pairs that soft
and firm knowledge does not speak of. The truth makes the prior and scores the graph, and nothing
else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

from casefiles import find_spread, tell
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.graphs.basics import by_role, reach
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset
from rinn.simulate.samples import Simulation
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import Effects
from rinn.structure.prior.log_odds import Prior, make_prior
from rinn.structure.regression import Sample, estimate_moments

DATASETS = ("or", "gaussian", "logic")
SIZES = (250, 500)
SEEDS = (200, 201, 202, 203)
SHARE = 0.3
ODDS = 2.0
VARIANTS = (
    "none",
    "soft",
    "firm",
    "together",
    "soft, shuffled",
    "firm, shuffled",
    "together, shuffled",
)
MEASURES = ("latents", "edges", "untold")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case, and print means with their spread over cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3000)
    parser.add_argument("--keep", type=int, default=4)
    parser.add_argument("--work", type=Path, required=True, help="folder for effects and records")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    settings = RunSettings(trials=options.trials, epochs=options.epochs, keep=options.keep)
    records = [
        measure(name, int(n), int(seed), settings, options.work)
        for seed in options.seeds.split(",")
        for name in options.datasets.split(",")
        for n in options.sizes.split(",")
    ]
    show(records, Console(width=110))


def measure(name: str, n: int, seed: int, settings: RunSettings, work: Path) -> dict[str, Any]:
    """Score the graph of one case with every prior; what is known already is read.

    Args:
        name: of the dataset.
        n: samples.
        seed: of the data, and of what is known of them.
        settings: of the search.
        work: where effects and records are kept.

    Returns:
        The record: scores by variant.
    """
    path = work / f"{name}-{n}-{seed}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    simulation = make_dataset(name, samples=n, seed=seed)
    effects, inputs, outputs = find_effects(simulation, settings, path.with_suffix(".npz"))
    reached = reach(simulation.truth)
    true = np.array([[output in reached[i] for output in outputs] for i in inputs])
    record: dict[str, Any] = {"dataset": name, "n": n, "seed": seed, "scores": {}}
    told = make_variant("soft", true, np.random.default_rng([seed, n]))[1]
    for variant in VARIANTS:
        started = time.monotonic()
        prior, _ = make_variant(variant, true, np.random.default_rng([seed, n]))
        graph = learn_graph(effects, inputs, outputs, prior=prior).graph
        scores = score_graph(graph, simulation.truth)
        drawn = np.array([[o in nx.descendants(graph, i) for o in outputs] for i in inputs])
        record["scores"][variant] = {
            "latents": scores.latents.f1,
            "edges": scores.edges.f1,
            "untold": float((drawn != true)[~told].mean()),
            "count": len(by_role(graph, "latent")),
            "seconds": time.monotonic() - started,
        }
    path.write_text(json.dumps(record, indent=1) + "\n")
    return record


def find_effects(
    simulation: Simulation, settings: RunSettings, path: Path
) -> tuple[Effects, list[str], list[str]]:
    """Train networks and measure their effects, or read what was measured before."""
    data = as_data(simulation.x, simulation.y)
    if not path.exists():
        effects = fit_data(data, settings, find_devices("auto"), refit=False).effects
        if effects is None:
            raise RuntimeError(f"no effects were measured for {path.stem}")
        save_effects(effects, path)
    return load_effects(path), list(data.inputs), list(data.outputs)


def save_effects(effects: Effects, path: Path) -> None:
    """Keep effects and the rows that they were estimated from."""
    sample = effects.sample
    owners = np.array([(own[0], own[-1]) for own in sample.owners])
    np.savez(path, z=effects.z, x=sample.x, y=sample.y, owners=owners)


def load_effects(path: Path) -> Effects:
    """Read effects that were kept; the tables of the benchmark have no gaps or covariates."""
    with np.load(path, allow_pickle=False) as kept:
        owners = tuple(tuple(sorted(set(own))) for own in kept["owners"].tolist())
        sample = Sample(kept["x"], kept["y"], None, 0, owners)
        return Effects(kept["z"], sample, estimate_moments(sample))


def make_variant(
    variant: str, true: np.ndarray, rng: np.random.Generator
) -> tuple[Prior | None, np.ndarray]:
    """Make the prior of a variant, and say of which pairs of input and output it speaks.

    Args:
        variant: of `VARIANTS`.
        true: which inputs reach which outputs, [input, output].
        rng: decides what is known; the same for the same variant, shuffled or not.

    Returns:
        The prior, None for no knowledge, and the pairs.
    """
    told = np.zeros(true.shape, bool)
    prior, shuffled = make_prior(*true.shape), variant.endswith("shuffled")
    if variant == "none":
        return None, told
    if variant.startswith("together"):
        same = (true[:, None] == true[None]).all(axis=2)
        pairs = np.argwhere(np.triu(same, 1))
        others = np.argwhere(np.triu(~same, 1))
        count = max(1, round(SHARE * len(pairs)))
        chosen = rng.choice(others if shuffled else pairs, count, replace=False)
        prior.input_pairs[chosen[:, 0], chosen[:, 1]] = ODDS
        prior.input_pairs[chosen[:, 1], chosen[:, 0]] = ODDS
        return prior, told
    places = rng.choice(true.size, round(SHARE * true.size), replace=False)
    told.ravel()[places] = True
    answers = np.where(true.ravel()[places], 1, -1)
    answers = rng.permutation(answers) if shuffled else answers
    if variant.startswith("firm"):
        prior.order.ravel()[places] = answers
    else:
        prior.odds.ravel()[places] = ODDS * answers
    return prior, told


def show(records: Sequence[dict[str, Any]], console: Console) -> None:
    """Print the mean of each variant and its gain over none, with their standard deviations."""
    sizes = sorted({record["n"] for record in records})
    for n in sizes:
        some = [record["scores"] for record in records if record["n"] == n]
        table = Table(title=f"{n} samples, {len(some)} cases: mean ± standard deviation")
        for column in ("prior", *MEASURES, "latents, gain over none", "worse in"):
            table.add_column(column)
        for variant in VARIANTS:
            gain = np.array([s[variant]["latents"] - s["none"]["latents"] for s in some])
            cells = [tell([s[variant][measure] for s in some]) for measure in MEASURES]
            worse = f"{int((gain < -1e-9).sum())} of {len(some)}"
            table.add_row(variant, *cells, f"{gain.mean():+.2f} ± {find_spread(gain):.2f}", worse)
        console.print(table)


if __name__ == "__main__":
    main()
