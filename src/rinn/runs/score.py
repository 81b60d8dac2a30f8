"""Scores of run folders and graph files against a truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx

from rinn.errors import InputError, quote_some
from rinn.graphs.basics import by_role
from rinn.graphs.compare import GraphScores, score_graph
from rinn.graphs.files import load_graph
from rinn.graphs.protocol import (
    PaperScores,
    Score,
    reach_vectors,
    score_hidden,
    score_inputs,
    score_protocol,
    truth_patterns,
)
from rinn.nets.maps import NetMaps
from rinn.nets.predict import map_trained
from rinn.runs.manifest import Scores, read_record
from rinn.runs.read import RunContents, load_run


def score_path(path: Path | str, truth_path: Path | str) -> Scores:
    """Score a run folder or a graph file against a truth.

    Args:
        path: a run folder, or a graph as .json or .graphml.
        truth_path: the truth as a graph file.

    Returns:
        `paper` (for a run with the paper's oracle threshold; for a graph its latents' reach, with
        no threshold) and `graph`.

    Raises:
        InputError: a file is missing or wrong.
    """
    path, truth = Path(path), load_graph(Path(truth_path))
    if path.is_dir():
        return score_run(load_run(path), truth)
    return _score_graph(load_graph(path), truth)


def _score_graph(graph: nx.DiGraph, truth: nx.DiGraph) -> Scores:
    """Score a graph that no network stands behind."""
    names = by_role(graph, "input"), by_role(graph, "output")
    check_truth(truth, *names)
    hidden, inputs = score_reach(graph, truth, *names)
    paper = {"hidden": hidden.to_json(), "input": inputs.to_json(), "threshold": None}
    scores = {"paper": paper, "graph": score_graph(graph, truth).to_json()}
    return read_record(Scores, scores)


def score_reach(
    graph: nx.DiGraph, truth: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[Score, Score]:
    """Score what the latents and inputs of a graph reach by the paper's rules."""
    patterns = truth_patterns(truth, outputs, inputs)
    hidden = score_hidden(reach_vectors(graph, by_role(graph, "latent"), outputs), patterns)
    return hidden, score_inputs(reach_vectors(graph, inputs, outputs), patterns)


def score_run(run: RunContents, truth: nx.DiGraph) -> Scores:
    """Score the networks and the graph of a run; see `score_path`."""
    maps = [map_trained(net) for net in run.find_nets("paper")]
    if not maps:
        return _score_graph(run.full_graph, truth)
    paper, graph = score_nets(maps, run.graph, truth, run.inputs, run.outputs)
    scores = {"paper": paper.to_json(), "graph": graph.to_json()}
    return read_record(Scores, scores)


def score_nets(
    maps: Sequence[NetMaps],
    graph: nx.DiGraph,
    truth: nx.DiGraph,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> tuple[PaperScores, GraphScores]:
    """Compare the kept networks and the graph with a known truth."""
    check_truth(truth, inputs, outputs)
    patterns = truth_patterns(truth, outputs, inputs)
    has_inputs = all(len(m.inputs) for m in maps)
    inputs_of = [m.inputs for m in maps] if has_inputs else None
    return score_protocol([m.nodes for m in maps], inputs_of, patterns), score_graph(graph, truth)


def check_truth(truth: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Raise InputError unless the truth speaks of these tables' columns."""
    for role, names in (("input", inputs), ("output", outputs)):
        given = by_role(truth, role)
        if not set(given) & set(names):
            raise InputError(
                f"the truth must name the {role}s of the tables, but none of its {role}s "
                f"({quote_some(given)}) is a column ({quote_some(names)}); give the truth that "
                f"belongs to these tables"
            )
