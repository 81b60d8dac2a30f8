"""One cell: draw the data, run the strategy, score it by the paper's protocol."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import networkx as nx
from rich.console import Console

from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.fit import RunResult, fit_run
from rinn.graphs.files import load_graph
from rinn.graphs.protocol import Score, reach_vectors, score_hidden, score_inputs, truth_patterns
from rinn.paper.cells import Cell, GraphF1, MapScores, Spread
from rinn.simulate.datasets import make_dataset
from rinn.simulate.writing import write_simulation
from rinn.strategies import find_strategy
from rinn.strategies.base import Detection

BUDGETS = {"quick": "default", "paper": "paper"}


def run_cell(
    dataset: str,
    strategy: str,
    budget: str,
    seed: int,
    folder: Path,
    device: str,
    console: Console,
    quiet: bool,
    *,
    samples: int,
    trials: int | None,
) -> Cell:
    """Run one strategy on one draw of a dataset; the same call again resumes."""
    data = folder / "data"
    write_simulation(make_dataset(dataset, samples=samples, seed=seed), data, same_is_fine=True)
    settings = RunSettings(
        strategy=strategy,
        budget=BUDGETS[budget],
        trials=trials,
        seed=seed,
        effects="corrected",  # the protocol scores networks, also where a regression is enough
    )
    x_path, y_path, truth = (data / name for name in ("x.csv", "y.csv", "truth.json"))
    run = fit_run(
        x_path,
        y_path,
        folder / "run",
        settings,
        device=device,
        truth_path=truth,
        console=console,
        quiet=quiet,
    )
    about: dict[str, Any] = {
        "dataset": dataset,
        "strategy": strategy,
        "seed": seed,
        "budget": budget,
        "samples": samples,
        "trials": trials,
        "versions": run.manifest["versions"],
    }
    found = find_strategy(settings)
    if isinstance(found, Detection):
        data_read, graph = load_data(x_path, y_path), load_graph(truth)
        return _score_detection(found, data_read, graph, settings, about)
    return _read_run(run, about | {"device": _say_device(run.manifest["device"])})


def _read_run(run: RunResult, about: dict[str, Any]) -> Cell:
    paper, graph, test = run.scores["paper"], run.scores["graph"], run.manifest["test_of_ten"]
    networks = run.manifest["networks"]
    return Cell(
        **about,
        seconds=run.manifest["seconds"],
        sets=networks["sets"],
        networks=networks["trained"],
        hidden=_read_scores(paper["hidden"]),
        input=paper["input"] and _read_scores(paper["input"]),
        test_error=Spread(**test["error"]),
        auroc=test["auroc"] and Spread(**test["auroc"]),
        graph=GraphF1(graph["latents"]["f1"], graph["edges"]["f1"]),
    )


def _read_scores(table: dict[str, Any]) -> MapScores:
    spreads = {name: Spread(table[name], sd) for name, sd in table["sd"].items()}
    return MapScores(**spreads, threshold=table["threshold"])


def _score_detection(
    strategy: Detection,
    data: Data,
    truth: nx.DiGraph,
    settings: RunSettings,
    about: dict[str, Any],
) -> Cell:
    """Score every graph of a strategy without networks; the best counts, as in the paper."""
    started = time.monotonic()
    detected = strategy.detect(data, settings)
    seconds = time.monotonic() - started
    patterns = truth_patterns(truth, data.outputs, data.inputs)
    scores = []
    for graph in detected.graphs:
        latents = [node for node, role in graph.nodes(data="role") if role == "latent"]
        scores.append(
            (
                score_hidden(reach_vectors(graph, latents, data.outputs), patterns),
                score_inputs(reach_vectors(graph, data.inputs, data.outputs), patterns),
            )
        )
    best = max(range(len(scores)), key=lambda i: (scores[i][0].f1, scores[i][1].f1))
    hidden, inputs = scores[best]
    chosen = detected.trials.iloc[best]
    return Cell(
        **about,
        device="cpu",
        seconds=seconds,
        sets=len(scores),
        networks=0,
        hidden=_alone(hidden),
        input=_alone(inputs),
        chosen={name: float(chosen[name]) for name in strategy.options},
    )


def _alone(score: Score) -> MapScores:
    return MapScores(Spread(score.precision), Spread(score.recall), Spread(score.f1))


def _say_device(device: dict[str, Any]) -> str:
    return f"{device['count']} x {device['kind']}"
