"""Experiments of 18 to 48 arrays: what is found beside a regression, and what in noise.

Each of five or seven knock-downs has the same number of replicates, and so have the controls. Two
or three knock-downs act on each of three latents, one on none; the first latent acts on the second;
a third of the outputs is below each latent, less a few that nothing changes. Effects of one latent
on its outputs are of either sign, 0.7 to 1.3 in units that `--sizes` multiplies, and the outputs'
own noise has variance 1, normal or of Student's t with three degrees of freedom. With size 0 the
rows of Y are permuted: every edge is wrong.

The table counts pairs of a knock-down and an output that the graph joins, as readers of such
experiments do. `--into` writes it into a page.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from pagetables import replace_table, write_table
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.graphs.basics import by_role, reach
from rinn.graphs.compare import score_graph
from rinn.pipeline import fit_data

DESIGNS = ((5, 3, 40), (7, 4, 60), (7, 6, 60))  # knock-downs, replicates, outputs
SIZES = (3.0, 2.0, 2.0)  # of the effects in each design
LATENTS = 3
NOISES = ("normal", "t3")
METHODS = {"rinn": RunSettings(), "regression": RunSettings(strategy="regression")}
HEADERS = (
    "arrays", "outputs", "noise", "method", "latents F1", "edges F1", "pairs: precision",
    "pairs: recall", "Y permuted: tables with an edge",
)  # fmt: skip


def main(words: Sequence[str] | None = None) -> None:
    """Fit all designs, print the table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10, help="of each design and noise")
    parser.add_argument("--permuted", type=int, default=20, help="tables of noise of each")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    options = parser.parse_args(words)
    rows = []
    for (design, size), noise in itertools.product(zip(DESIGNS, SIZES, strict=True), NOISES):
        for method, settings in METHODS.items():
            seeds = range(options.first, options.first + max(options.graphs, options.permuted))
            scores = [
                score(*simulate(seed, design, size, noise), settings)
                for seed in seeds[: options.graphs]
            ]
            wrong = sum(
                bool(fit(*permute(seed, design, size, noise), settings).number_of_edges())
                for seed in seeds[: options.permuted]
            )
            means = (f"{value:.2f}" for value in np.mean(np.reshape(scores, (-1, 4)), axis=0))
            arrays = (design[0] + 1) * design[1]
            empty = f"{wrong} of {options.permuted}"
            rows.append((str(arrays), str(design[2]), noise, method, *means, empty))
            print(*rows[-1], sep="\t", flush=True)
    if options.into:
        replace_table(options.into, "arrays", write_table(HEADERS, rows))


def simulate(
    seed: int, design: tuple[int, int, int], size: float, noise: str
) -> tuple[pd.DataFrame, pd.DataFrame, nx.DiGraph]:
    """X, Y and the graph."""
    count, replicates, outputs = design
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(count + 1), replicates)
    x = pd.DataFrame({f"k{i}": (groups == i + 1).astype(float) for i in range(count)})
    above = rng.permutation(np.arange(count) % (LATENTS + 1))  # the latent of each, or none
    below = rng.permutation(np.arange(outputs) % (LATENTS + 1))
    graph = nx.DiGraph([("h0", "h1")])
    graph.add_edges_from((f"k{i}", f"h{v}") for i, v in enumerate(above) if v < LATENTS)
    graph.add_edges_from((f"h{v}", f"g{o}") for o, v in enumerate(below) if v < LATENTS)
    for role, letter, total in (
        ("input", "k", count), ("latent", "h", LATENTS), ("output", "g", outputs)
    ):  # fmt: skip
        graph.add_nodes_from((f"{letter}{i}" for i in range(total)), role=role)
    onto = draw_effects(rng, count) * size * (above[:, None] == np.arange(LATENTS)).T
    from_latents = draw_effects(rng, outputs) * (below[:, None] == np.arange(LATENTS)).T
    hidden = x.to_numpy() @ onto.T + 0.3 * rng.normal(size=(len(x), LATENTS))
    hidden[:, 1] += hidden[:, 0]
    shape = len(x), outputs
    own = rng.normal(size=shape) if noise == "normal" else rng.standard_t(3, shape) / np.sqrt(3)
    y = pd.DataFrame(hidden @ from_latents + own, columns=[f"g{i}" for i in range(outputs)])
    return x, y, graph


def draw_effects(rng: np.random.Generator, count: int) -> np.ndarray:
    """Effects of either sign."""
    return rng.choice([-1.0, 1.0], count) * rng.uniform(0.7, 1.3, count)


def permute(
    seed: int, design: tuple[int, int, int], size: float, noise: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """X, and Y with its rows permuted."""
    x, y, _ = simulate(seed, design, size, noise)
    return x, y.sample(frac=1.0, random_state=seed, ignore_index=True)


def fit(x: pd.DataFrame, y: pd.DataFrame, settings: RunSettings) -> nx.DiGraph:
    """The graph that a user gets."""
    return fit_data(as_data(x, y), settings, (), refit=False).latent.graph


def score(
    x: pd.DataFrame, y: pd.DataFrame, truth: nx.DiGraph, settings: RunSettings
) -> tuple[float, float, float, float]:
    """F1 of latents and edges, precision and recall of pairs."""
    graph = fit(x, y, settings)
    scores = score_graph(graph, truth)
    found, right = list_pairs(graph), list_pairs(truth)
    both = len(found & right)
    precision = both / len(found) if found else 1.0
    return scores.latents.f1, scores.edges.f1, precision, both / len(right)


def list_pairs(graph: nx.DiGraph) -> set[tuple[str, str]]:
    """Inputs and outputs that a path joins."""
    reached, outputs = reach(graph), set(by_role(graph, "output"))
    return {(i, o) for i in by_role(graph, "input") for o in reached[i] if o in outputs}


if __name__ == "__main__":
    main()
