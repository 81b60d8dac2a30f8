"""Simulated crosses: which locus acts on which transcript, within linkage, and which hotspots.

Neighbouring markers are nearly the same, so that a found locus counts as right if the true one is
within a window on the same chromosome. rinn gets all markers. Beside it stands what is usual: each
marker is tested against each transcript, pairs with a Benjamini-Hochberg q below 0.05 are kept, and
of those of a transcript on one chromosome the clearest is its locus; once more with p below 0.05
over the number of all pairs (Bonferroni). All significant pairs, without that choice, are counted
too. A hotspot is found if a latent has a locus within its window and shares at least half of its
transcripts (Jaccard).
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from casefiles import Record, add_options, run_cases, tell
from pagetables import replace_table, write_table
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.graphs.basics import by_role, reach
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset

STRAINS = (100, 1000)
SEEDS = (20, 21, 22, 23, 24)
WINDOW = 50.0  # kb, about 18 centimorgan
MAX_Q = 0.05
MIN_JACCARD = 0.5
METHODS = {
    "every significant marker": "each marker tested, q < .05",
    "peaks": "the same, one peak for each transcript and chromosome",
    "strict peaks": "the same, p < .05 / number of pairs",
    "rinn": "rinn",
}
HEADERS = ("strains", "method", "pairs", "precision", "recall", "F1", "hotspots", "wrong latents")

Pair = tuple[str, str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every case, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strains", default=",".join(map(str, STRAINS)))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--markers", type=int, default=3000)
    parser.add_argument("--outputs", type=int, default=200)
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    add_options(parser)
    options = parser.parse_args(arguments)
    cases = [
        (int(strains), options.markers, options.outputs, int(seed))
        for strains in options.strains.split(",")
        for seed in options.seeds.split(",")
    ]
    settings = RunSettings(trials=options.trials, epochs=options.epochs)
    measure = functools.partial(measure_cross, settings=settings, device=options.device)
    table = make_table(run_cases(cases, options.part, options.work, measure))
    if options.page:
        replace_table(options.page, "scores", table)
    else:
        print(table)


def measure_cross(
    strains: int, markers: int, outputs: int, seed: int, settings: RunSettings, device: str
) -> Record:
    """Scores of all methods on one cross."""
    cross = make_dataset("cross", samples=strains, seed=seed, markers=markers, outputs=outputs)
    true = list_pairs(cross.truth)
    tests = test_markers(cross.x, cross.y)
    started = time.perf_counter()
    data = as_data(cross.x, cross.y)
    graph = fit_data(data, settings, find_devices(device), refit=False).latent.graph
    seconds = time.perf_counter() - started
    cutoff = MAX_Q / (cross.x.shape[1] * cross.y.shape[1])
    found = {
        "every significant marker": list(tests),
        "peaks": find_peaks(tests),
        "strict peaks": find_peaks({pair: p for pair, p in tests.items() if p < cutoff}),
        "rinn": list_pairs(graph),
    }
    scores = {name: score_pairs(pairs, true) for name, pairs in found.items()}
    right, wrong = match_hotspots(graph, cross.truth)
    scores["rinn"] |= {"hotspots": right, "wrong": wrong}
    return {
        "strains": strains, "seed": seed, "true": len(true), "scores": scores, "seconds": seconds,
        "planted": len(by_role(cross.truth, "latent")),
    }  # fmt: skip


def list_pairs(graph: nx.DiGraph) -> list[Pair]:
    """Each input with each output that it reaches."""
    outputs = set(by_role(graph, "output"))
    reached = reach(graph)
    return [(i, o) for i in by_role(graph, "input") for o in reached.get(i, ()) if o in outputs]


def test_markers(x: pd.DataFrame, y: pd.DataFrame) -> dict[Pair, float]:
    """The p-value of each pair of marker and transcript whose q is below 0.05."""
    parts = [table.to_numpy(float) - table.to_numpy(float).mean(axis=0) for table in (x, y)]
    a, b = (part / np.maximum(np.linalg.norm(part, axis=0), 1e-12) for part in parts)
    r = np.clip(a.T @ b, -1 + 1e-12, 1 - 1e-12)  # [marker, transcript]
    t = r * np.sqrt((len(x) - 2) / (1 - r**2))
    p = 2 * stats.t.sf(np.abs(t), len(x) - 2)
    significant = stats.false_discovery_control(p.ravel()).reshape(p.shape) < MAX_Q
    names = x.columns, y.columns
    return {(names[0][i], names[1][o]): float(p[i, o]) for i, o in np.argwhere(significant)}


def find_peaks(tests: Mapping[Pair, float]) -> list[Pair]:
    """The clearest marker of each transcript on each chromosome."""
    best: dict[tuple[str, str], Pair] = {}
    for (marker, output), _ in sorted(tests.items(), key=lambda item: item[1]):
        best.setdefault((marker.split("_")[0], output), (marker, output))
    return list(best.values())


def are_linked(one: str, other: str) -> bool:
    """Whether two markers, named by chromosome and kb, are within the window."""
    (first, here), (second, there) = (name.split("_") for name in (one, other))
    return first == second and abs(float(here) - float(there)) <= WINDOW


def score_pairs(found: Sequence[Pair], true: Sequence[Pair]) -> dict[str, float]:
    """Precision and recall of pairs, within linkage."""
    loci: dict[str, list[str]] = {}
    for locus, output in true:
        loci.setdefault(output, []).append(locus)
    right, seen = 0, set[Pair]()
    for marker, output in found:
        near = [locus for locus in loci.get(output, ()) if are_linked(marker, locus)]
        right += bool(near)
        seen |= {(locus, output) for locus in near}
    precision = right / len(found) if found else 1.0
    recall = len(seen) / len(true)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"pairs": len(found), "precision": precision, "recall": recall, "f1": f1}


def match_hotspots(graph: nx.DiGraph, truth: nx.DiGraph) -> tuple[int, int]:
    """How many true hotspots have a latent, and how many latents are no hotspot."""
    true, found = _list_latents(truth), _list_latents(graph)
    fits = [
        [_is_same(latent, other) for other in found] for latent in true
    ]  # [true latent, found latent]
    return sum(map(any, fits)), sum(not any(column) for column in zip(*fits, strict=True))


def _list_latents(graph: nx.DiGraph) -> list[tuple[set[str], set[str]]]:
    """Inputs above and outputs below each latent."""
    inputs, outputs = set(by_role(graph, "input")), set(by_role(graph, "output"))
    return [
        (nx.ancestors(graph, latent) & inputs, nx.descendants(graph, latent) & outputs)
        for latent in by_role(graph, "latent")
    ]


def _is_same(one: tuple[set[str], set[str]], other: tuple[set[str], set[str]]) -> bool:
    shared = len(one[1] & other[1]) / max(len(one[1] | other[1]), 1)
    return shared >= MIN_JACCARD and any(are_linked(a, b) for a in one[0] for b in other[0])


def make_table(records: Iterable[Record]) -> str:
    """One row for each number of strains and method: means over the seeds, with their spread."""
    listed, rows = list(records), []
    for strains in sorted({record["strains"] for record in listed}):
        own = [record for record in listed if record["strains"] == strains]
        for name, title in METHODS.items():
            scores = [record["scores"][name] for record in own]
            cells = [f"{np.mean([one['pairs'] for one in scores]):.0f}"]
            cells += [tell([s[key] for s in scores]) for key in ("precision", "recall", "f1")]
            hotspots = wrong = ""
            if "hotspots" in scores[0]:
                planted = sum(record["planted"] for record in own)
                hotspots = f"{sum(one['hotspots'] for one in scores)} of {planted}"
                wrong = f"{sum(one['wrong'] for one in scores)}"
            rows.append((f"{strains}", title, *cells, hotspots, wrong))
    return write_table(HEADERS, rows)


if __name__ == "__main__":
    main()
