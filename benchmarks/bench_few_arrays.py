"""Experiments of 18 to 90 samples: what is found beside a regression, and what in noise.

Each of five or seven knock-downs has the same number of replicates, and so have the controls. Two
or three knock-downs act on each of three latents, one on none; the first latent acts on the second;
a third of the outputs is below each latent, less a few that nothing changes. Effects of one latent
on its outputs are of either sign, 0.7 to 1.3 in units that `--sizes` multiplies, and the outputs'
own noise has variance 1, normal or of Student's t with three degrees of freedom. With size 0 the
rows of Y are permuted: every edge is wrong.

With `--random`, random graphs with 60 to 90 samples instead: 4 to 12 latents on up to three levels,
10 to 30 inputs, 16 to 30 outputs, either 0/1 (each latent on where a cause of it is) or numbers.

The table counts pairs of an input and an output that the graph joins, as readers of such
experiments do. `--into` writes it into a page.
"""

from __future__ import annotations

import argparse
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from bench_recovery import draw_world
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
RANDOM_SIZES = (60, 75, 90)
KINDS = ("0/1", "numbers")  # of even and odd numbers of the suite
SHOWN = (
    "method", "latents F1", "edges F1", "pairs: precision", "pairs: recall",
    "Y permuted: tables with an edge",
)  # fmt: skip
HEADERS = ("arrays", "outputs", "noise", *SHOWN)
RANDOM_HEADERS = ("samples", "outputs", *SHOWN)

Draw = Callable[[int], tuple[pd.DataFrame, pd.DataFrame, nx.DiGraph]]


def main(words: Sequence[str] | None = None) -> None:
    """Fit all designs, print the table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", action="store_true", help="random graphs, 60 to 90 samples")
    parser.add_argument("--graphs", type=int, default=10, help="of each design and noise")
    parser.add_argument("--permuted", type=int, default=20, help="tables of noise of each")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    options = parser.parse_args(words)
    seeds = range(options.first, options.first + max(options.graphs, options.permuted))
    rows = []
    for label, draw in list_random() if options.random else list_designs():
        for method, settings in METHODS.items():
            scores = [score(*draw(seed), settings) for seed in seeds[: options.graphs]]
            wrong = sum(
                bool(fit(*permute(*draw(seed)[:2], seed), settings).number_of_edges())
                for seed in seeds[: options.permuted]
            )
            means = (f"{value:.2f}" for value in np.mean(np.reshape(scores, (-1, 4)), axis=0))
            rows.append((*label, method, *means, f"{wrong} of {options.permuted}"))
            print(*rows[-1], sep="\t", flush=True)
    name, headers = ("random", RANDOM_HEADERS) if options.random else ("arrays", HEADERS)
    if options.into:
        replace_table(options.into, name, write_table(headers, rows))


def list_designs() -> Iterator[tuple[tuple[str, ...], Draw]]:
    """Each design with each noise: its labels in the table, and tables and graph by seed."""
    for (design, size), noise in itertools.product(zip(DESIGNS, SIZES, strict=True), NOISES):
        arrays = (design[0] + 1) * design[1]
        draw = functools.partial(simulate, design=design, size=size, noise=noise)
        yield (str(arrays), str(design[2]), noise), draw


def list_random() -> Iterator[tuple[tuple[str, ...], Draw]]:
    """Random graphs, as `list_designs`."""
    for samples, kind in itertools.product(RANDOM_SIZES, KINDS):
        yield (str(samples), kind), functools.partial(draw_graph, samples=samples, kind=kind)


def draw_graph(seed: int, samples: int, kind: str) -> tuple[pd.DataFrame, pd.DataFrame, nx.DiGraph]:
    """X, Y and a graph of the suite random60, whose mechanisms alternate."""
    simulation, graph, _ = draw_world("random60", 2 * seed + KINDS.index(kind), samples)
    return simulation.x, simulation.y, graph


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


def permute(x: pd.DataFrame, y: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """X, and Y with its rows permuted."""
    return x, y.sample(frac=1.0, random_state=seed).set_axis(y.index)


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
