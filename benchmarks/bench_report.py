"""How long the report takes to write, to open and to answer, and how large it is.

A run folder of 16 inputs and outputs, and one of 650 inputs, 84 outputs and 60 latents with
thousands of weaker edges, are made without training, by the same writers that `rinn fit` uses. The
page is then opened from disk in headless Chromium, one fresh browser for each repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from rinn.config import NetSettings, RunSettings, Trial
from rinn.graphs.basics import reach
from rinn.graphs.files import write_graph
from rinn.graphs.formats.tables import edges_table
from rinn.nets.groups import TrainedNet
from rinn.nets.redundant import Weights
from rinn.nets.selection import select_accurate, select_nearest
from rinn.pipeline import tabulate_trials
from rinn.report.html.page import write_report
from rinn.runs.checkpoint import WEIGHTS, save_kept
from rinn.runs.folder import FORMAT, RUN, open_output

SEARCHES = 16
LINE = 0.6
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Moves the slider over its whole length; the time of a position ends when its frame is painted.
SLIDE = """async () => {
  const slider = document.getElementById("slider"), handler = [], frame = [];
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  for (let value = 100; value >= 0; value -= 4) {
    const start = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
    handler.push(performance.now() - start);
    await painted();
    frame.push(performance.now() - start);
  }
  return { handler, frame };
}"""
PAINT = """() => new Promise((done) => {
  const seen = performance.getEntriesByName("first-contentful-paint");
  if (seen.length) return done(seen[0].startTime);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName("first-contentful-paint")) done(entry.startTime);
  }).observe({ type: "paint", buffered: true });
})"""
# The page is whole and answers: its script has run and the first frame after it is painted.
READY = """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() =>
  done(performance.getEntriesByType("navigation")[0].loadEventEnd), 0)))"""


@dataclass(frozen=True)
class Size:
    """How large a made-up run is."""

    name: str
    inputs: int
    outputs: int
    latents: int
    levels: int
    weaker: int
    width: int
    trials: int
    samples: int


SIZES = (
    Size("16 x 16, 7 latents", 16, 16, 7, 2, 60, 12, 128, 5000),
    Size("650 x 84, 60 latents", 650, 84, 60, 4, 4000, 50, 880, 5000),
)


def main(arguments: list[str] | None = None) -> None:
    """Make the folders, time the pages, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="where to leave the run folders")
    parser.add_argument("--json", type=Path, help="where to write the numbers too")
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for place, size in enumerate(SIZES):
            folder = (options.keep or Path(scratch)) / f"run{place}"
            make_run(folder, size)
            rows.append({"run": size.name} | measure(folder, options.repeats))
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; "
          f"median of {options.repeats}, largest in brackets")  # fmt: skip
    print(pd.DataFrame(rows).to_string(index=False))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def make_run(folder: Path, size: Size, seed: int = 0) -> None:
    """Write a finished run folder with a made-up graph and random networks."""
    rng = np.random.default_rng(seed)
    graph, found = make_graphs(size, rng)
    inputs, outputs = ([f"{letter}{n}" for n in range(number)]
                       for letter, number in (("x", size.inputs), ("y", size.outputs)))  # fmt: skip
    nets = make_nets(size, rng)
    loss = np.array([net.validation_loss for net in nets])
    nearest = select_nearest(loss, np.array([net.l1_norm for net in nets]))
    chosen = select_accurate(loss, 20)
    manifest = _describe(size, inputs, outputs)
    with open_output(folder, manifest, RUN) as run:
        run.write_table("trials.csv", tabulate_trials(nets, nearest, chosen))
        ones = {"x": [1.0] * size.inputs, "y": [1.0] * size.outputs}
        parts = (
            "x_scaling_mean",
            "x_scaling_std",
            "x_min",
            "x_max",
            "x_mean",
            "y_scaling_mean",
            "y_scaling_std",
        )
        notes = {"loss": "bce"} | {part: ones[part[0]] for part in parts}
        save_kept(folder / WEIGHTS, [nets[i] for i in chosen], notes)
        write_graph(graph, folder / "graph.json")
        write_graph(graph, folder / "graph.graphml")
        run.write_table("edges.csv", edges_table(found, reported=graph))
        latents = [node for node, role in graph.nodes(data="role") if role == "latent"]
        activity = pd.DataFrame(rng.normal(size=(size.samples, len(latents))), columns=latents)
        activity.insert(0, "sample", range(size.samples))
        run.write_table("activity.csv", activity.round(4))
        counts = {"trained": len(nets), "sets": len(nets) // 2,
                  "kept": [nets[i].trial.number for i in chosen],
                  "paper": [nets[i].trial.number for i in nearest.chosen]}  # fmt: skip
        test = {"error": {"mean": 0.5, "sd": 0.01}, "auroc": {"mean": 0.8, "sd": 0.01},
                "samples": size.samples // 10, "loss": "bce"}  # fmt: skip
        run.write_manifest(manifest | {
            "status": "complete", "networks": counts, "test": test, "paper_test": test,
            "seconds": 1.0,
        })  # fmt: skip
        run.discard_work()


def make_graphs(size: Size, rng: np.random.Generator) -> tuple[nx.DiGraph, nx.DiGraph]:
    """A graph in levels that every input enters, and the same with weaker edges and latents."""
    graph: nx.DiGraph = nx.DiGraph()
    inputs = [f"x{n}" for n in range(size.inputs)]
    latents = [f"L{n + 1}" for n in range(size.latents)]
    outputs = [f"y{n}" for n in range(size.outputs)]
    for role, names in (("input", inputs), ("latent", latents), ("output", outputs)):
        graph.add_nodes_from(names, role=role)
    levels = np.array_split(np.array(latents), size.levels)
    for level, names in enumerate(levels):
        for name in names:
            graph.nodes[name]["frequency"] = _draw_share(rng, LINE)
            for output in rng.choice(outputs, min(8, size.outputs // 3), replace=False):
                _add_edge(graph, str(name), str(output), rng, LINE)
            if level + 1 < size.levels:
                for child in rng.choice(levels[level + 1], 2, replace=False):
                    _add_edge(graph, str(name), str(child), rng, LINE)
    for name in inputs:
        for latent in rng.choice(latents, rng.integers(1, 4), replace=False):
            _add_edge(graph, name, str(latent), rng, LINE)
    for latent, reached in reach(graph).items():
        if latent in latents:
            effects = {output: float(rng.normal()) for output in sorted(reached)}
            graph.nodes[latent]["effects"] = effects
    found: nx.DiGraph = nx.DiGraph(graph)
    unsure = [f"U{n + 1}" for n in range(size.latents)]
    found.add_nodes_from(unsure, role="latent", frequency=0.25)
    while found.number_of_edges() < graph.number_of_edges() + size.weaker:
        source = str(rng.choice([*inputs, *unsure]))
        target = str(rng.choice([*unsure, *latents] if source in inputs else outputs))
        if not found.has_edge(source, target):
            found.add_edge(source, target, frequency=int(rng.integers(1, 10)) / SEARCHES)
    return graph, found


def _add_edge(
    graph: nx.DiGraph, source: str, target: str, rng: np.random.Generator, least: float
) -> None:
    share = _draw_share(rng, least)
    graph.add_edge(source, target, weight=float(rng.normal()), frequency=share, q=0.01)


def _draw_share(rng: np.random.Generator, least: float) -> float:
    return int(rng.integers(np.ceil(least * SEARCHES), SEARCHES + 1)) / SEARCHES


def make_nets(size: Size, rng: np.random.Generator) -> list[TrainedNet]:
    """Networks with few large weights; they share their arrays, which are only read."""
    layers, width = 8, size.width
    shapes = ((layers, width, size.inputs), (layers - 1, width, width), (size.outputs, width))
    sparse = [rng.normal(size=shape) * (rng.random(shape) < 0.2) for shape in shapes]
    weights = Weights(*(part.astype(np.float32) for part in sparse),
                      np.zeros((layers, width), np.float32),
                      np.zeros(size.outputs, np.float32))  # fmt: skip
    nets = []
    for number in range(size.trials):
        scale = np.float32(rng.uniform(0.5, 2.0)) if number < 40 else np.float32(1.0)
        own = weights._replace(output=weights.output * scale)
        trial = Trial(number, number // 2, number % 2, NetSettings(width=width, layers=layers))
        loss = float(rng.uniform(0.5, 0.7))
        nets.append(TrainedNet(trial, own, "stopped", 200, loss, loss, loss))
    return nets


def _describe(size: Size, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    return {
        "format": FORMAT, "status": "running", "settings": RunSettings().to_json(),
        "data": {"x": "made up", "y": "made up"}, "created": "made up",
        "tables": {"x": "x.csv", "y": "y.csv", "samples": size.samples, "inputs": inputs,
                   "outputs": outputs, "dropped": []},
        "versions": {"rinn": "made up"},
        "device": {"platform": "cpu", "kind": "cpu", "count": 1},
        "command": ["rinn", "fit", "x.csv", "y.csv", "--out", "run"],
        "plan": "",
    }  # fmt: skip


def measure(folder: Path, repeats: int) -> dict[str, str]:
    """Time writing, first paint and the slider; a page that logs an error is an error."""
    written = []
    for _ in range(repeats):
        start = time.perf_counter()
        page = write_report(folder)
        written.append(time.perf_counter() - start)
    found = {"edges": str(len(pd.read_csv(folder / "edges.csv"))),
             "MB": f"{page.stat().st_size / 1e6:.2f}",
             "write s": f"{statistics.median(written):.2f} ({max(written):.2f})"}  # fmt: skip
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return found | {"first paint ms": "no Chromium on the path"}
    paints, loads, handlers, frames = [], [], [], []
    for _ in range(repeats):
        paint, load, slid = _open(page, browser)
        paints.append(paint)
        loads.append(load)
        handlers += slid["handler"]
        frames += slid["frame"]
    return found | {
        "first paint ms": f"{statistics.median(paints):.0f} ({max(paints):.0f})",
        "ready ms": f"{statistics.median(loads):.0f} ({max(loads):.0f})",
        "slider handler ms": f"{statistics.median(handlers):.1f} ({max(handlers):.1f})",
        "slider frame ms": f"{statistics.median(frames):.0f} ({max(frames):.0f})",
    }


def _open(page: Path, browser: str) -> tuple[float, float, dict[str, list[float]]]:
    """Open the page in a fresh browser: first contentful paint, load, times of the slider."""
    from playwright.sync_api import sync_playwright

    errors: list[str] = []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.as_uri())
        paint = float(tab.evaluate(PAINT))
        load = float(tab.evaluate(READY))
        slid = tab.evaluate(SLIDE)
        chromium.close()
    if errors:
        raise RuntimeError(errors[0])
    return paint, load, slid


if __name__ == "__main__":
    main()
