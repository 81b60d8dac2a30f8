"""Seconds, memory and recovery of `rinn fit` by the size of its tables.

Inputs are 0 or 1. Each planted latent has 4 to 8 of them as causes and 6 to 15 outputs; every
fifth acts on another latent too. Effects are linear, with noise of variance 1. Tables are written
as .npz, and the whole command is run, reading and report included. The plain alternative,
correlations with a false-discovery rate of 0.05, is scored on the same tables: which input acts
on which output.

    python benchmarks/bench_scale.py 5000x1000x200x12    samples x inputs x outputs x latents
    python benchmarks/bench_scale.py 5000x1000x200x12 --permuted    nothing to find
    python benchmarks/bench_scale.py --table benchmarks/records/DATE/scale_h200.jsonl
    python benchmarks/bench_scale.py --growth benchmarks/records/DATE/growth_h200.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from rinn.config import RunSettings
from rinn.data.stages import follow
from rinn.fit import fit_run
from rinn.graphs.compare import score_graph
from rinn.graphs.files import write_graph
from rinn.runs.stages import StageProgress, find_peak
from rinn.runs.terminal import Terminal

FDR = 0.05


def main() -> None:
    """Run the sizes that were asked for, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", help="samples x inputs x outputs x latents")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--effect", type=float, nargs=2, default=(0.6, 1.4), help="range of sizes")
    parser.add_argument("--permuted", action="store_true", help="rows of Y in random order")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=Path, help="add a line of JSON for each run")
    parser.add_argument("--table", type=Path, help="print the table of a file of such lines")
    parser.add_argument("--growth", type=Path, help="the same by dimension, and draw a picture")
    parser.add_argument("--picture", type=Path, default=Path("docs/images/growth.png"))
    options = parser.parse_args()
    if path := options.table or options.growth:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        print(tabulate_growth(records, options.picture) if options.growth else tabulate(records))
        return
    for text in options.sizes:
        size = tuple(int(part) for part in text.split("x"))
        for seed in options.seeds:
            record = run(size, seed, options.effect, options.device, permuted=options.permuted)
            print(json.dumps(record), flush=True)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")


def simulate(
    size: tuple[int, ...], seed: int, effect: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, nx.DiGraph]:
    """Draw tables of a planted graph."""
    samples, inputs, outputs, latents = size
    rng = np.random.default_rng([seed, *size])
    often = rng.uniform(0.03, 0.3, inputs).astype(np.float32)
    x = np.empty((samples, inputs), np.uint8)
    for row in x:
        row[:] = rng.random(inputs, dtype=np.float32) < often

    def draw(count: int) -> np.ndarray:
        return rng.choice([-1, 1], count) * rng.uniform(*effect, count)

    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(inputs)), role="input")
    graph.add_nodes_from((f"L{k}" for k in range(latents)), role="latent")
    graph.add_nodes_from((f"y{o}" for o in range(outputs)), role="output")
    activity, y = np.zeros((samples, latents)), rng.normal(size=(samples, outputs))
    for k in range(latents):
        causes = rng.choice(inputs, rng.integers(4, 9), replace=False)
        activity[:, k] += x[:, causes] @ draw(len(causes))
        graph.add_edges_from((f"x{i}", f"L{k}") for i in causes)
    for k in range(latents):  # causes before effects
        if k % 5 == 0 and k + 1 < latents:
            activity[:, k + 1] += activity[:, k] * draw(1)
            graph.add_edge(f"L{k}", f"L{k + 1}")
        targets = rng.choice(outputs, rng.integers(6, 16), replace=False)
        y[:, targets] += activity[:, [k]] * draw(len(targets))
        graph.add_edges_from((f"L{k}", f"y{o}") for o in targets)
    return x, y.astype(np.float32), graph


def run(
    size: tuple[int, ...],
    seed: int,
    effect: tuple[float, float],
    device: str,
    *,
    permuted: bool = False,
) -> dict[str, Any]:
    """Fit one draw; returns what the tables of the documentation show."""
    x, y, truth = simulate(size, seed, effect)
    if permuted:
        y = np.random.default_rng(seed).permutation(y)
        truth.remove_edges_from(list(truth.edges))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for letter, values in (("x", x), ("y", y)):
            names = [f"{letter}{i}" for i in range(values.shape[1])]
            np.savez(folder / f"{letter}.npz", values=values, columns=names)
        write_graph(truth, folder / "truth.json")
        baseline = score_pairs(list_correlated(x, y), truth)
        del x, y, values
        before = find_peak()
        stages = StageProgress(Terminal(quiet=True), quiet=True)
        started = time.perf_counter()
        with follow(stages):
            run = fit_run(
                folder / "x.npz",
                folder / "y.npz",
                folder / "run",
                RunSettings(seed=seed),
                device=device,
                quiet=True,
            )
        seconds = time.perf_counter() - started
        stages.close()
        report = (folder / "run" / "report.html").stat().st_size
    found = run.graph
    pairs = {
        (u, v)
        for u, role in found.nodes(data="role")
        if role == "input"
        for v in nx.descendants(found, u)
        if found.nodes[v]["role"] == "output"
    }
    scores = score_graph(found, truth)
    return {
        "size": list(size),
        "seed": seed,
        "effect": list(effect),
        "permuted": permuted,
        "seconds": round(seconds, 1),
        "stages": {name: round(value, 2) for name, value in stages.seconds.items()},
        "compiling": round(stages.compiling, 2),
        "peak_gb": round(find_peak() / 1e9, 2),
        "peak_before_gb": round(before / 1e9, 2),
        "report_mb": round(report / 1e6, 2),
        "edges": found.number_of_edges(),
        "latents_f1": round(scores.latents.f1, 4),
        "edges_precision": round(scores.edges.precision, 4),
        "edges_f1": round(scores.edges.f1, 4),
        "pairs": score_pairs(pairs, truth),
        "correlation_pairs": baseline,
        "cores": os.cpu_count(),
        "device": str(run.manifest.device),
        "machine": platform.machine(),
    }


def list_correlated(x: np.ndarray, y: np.ndarray) -> set[tuple[str, str]]:
    """Pairs whose correlation passes Benjamini and Hochberg: the plain alternative."""
    samples = len(x)
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    z = []
    for first in range(0, x.shape[1], 1000):
        part = x[:, first : first + 1000].astype(np.float32)
        part = (part - part.mean(axis=0)) / np.maximum(part.std(axis=0), 1e-9)
        z.append(np.abs(part.T @ y) / np.sqrt(samples))
    table = np.concatenate(z)
    rows, columns = np.nonzero(table > 3)
    p = 2 * stats.norm.sf(table[rows, columns])
    order = np.argsort(p)
    passes = p[order] <= FDR * np.arange(1, len(p) + 1) / table.size
    count = int(np.flatnonzero(passes)[-1]) + 1 if passes.any() else 0
    chosen = order[:count]
    return {(f"x{i}", f"y{o}") for i, o in zip(rows[chosen], columns[chosen], strict=True)}


def score_pairs(found: set[tuple[str, str]], truth: nx.DiGraph) -> list[float]:
    """Precision and recall of which input acts on which output."""
    true = {
        (u, v)
        for u in truth
        if u.startswith("x")
        for v in nx.descendants(truth, u)
        if v.startswith("y")
    }
    both = len(found & true)
    return [round(both / max(len(found), 1), 4), round(both / max(len(true), 1), 4)]


def tabulate(records: list[dict[str, Any]]) -> str:
    """Records as a Markdown table."""
    table = pd.DataFrame(records)
    table["size"] = table["size"].map(lambda size: " x ".join(f"{part:,}" for part in size))
    for new, old in (("pairs P / R", "pairs"), ("correlations P / R", "correlation_pairs")):
        table[new] = [f"{p:.2f} / {r:.2f}" for p, r in table[old]]
    shown = ["size", "permuted", "device", "seconds", "peak_gb", "report_mb", "edges", "edges_f1"]
    shown += ["edges_precision", "latents_f1", "pairs P / R", "correlations P / R"]
    lines = ["| " + " | ".join(shown) + " |", "|" + " --- |" * len(shown)]
    for row in table[shown].itertuples(index=False):
        lines.append("| " + " | ".join(str(value) for value in row) + " |")
    return "\n".join(lines)


def tabulate_growth(records: list[dict[str, Any]], picture: Path) -> str:
    """Seconds where one dimension varies and the others do not, with exponents, and a picture."""
    dimensions = ("samples", "inputs", "outputs", "latents")
    base = [
        max(values, key=values.count) for values in zip(*(r["size"] for r in records), strict=True)
    ]
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True, layout="constrained")
    lines = ["| dimension | from | to | seconds | exponent |", "| --- |" + " --- |" * 4]
    for at, (name, axis) in enumerate(zip(dimensions, axes, strict=True)):
        others = [i for i in range(4) if i != at]
        chosen = [r for r in records if all(r["size"][i] == base[i] for i in others)]
        chosen.sort(key=lambda record: record["size"][at])
        sizes, seconds = [r["size"][at] for r in chosen], [r["seconds"] for r in chosen]
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        shown = ", ".join(f"{value:.0f}" for value in seconds)
        lines.append(f"| {name} | {sizes[0]:,} | {sizes[-1]:,} | {shown} | {slope:.2f} |")
        axis.loglog(sizes, seconds, "o-", color="#0b63a8")
        axis.set_xlabel(name)
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
        axis.minorticks_off()
    axes[0].set_ylabel("seconds")
    axes[0].set_yticks([10, 20, 40, 80], ["10", "20", "40", "80"])
    figure.savefig(picture, dpi=110)
    return "\n".join([f"Others: {dict(zip(dimensions, base, strict=True))}", *lines])


if __name__ == "__main__":
    main()
