"""Scores of run folders and graph files against a truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx

from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.compare import score_graph
from rinn.graphs.files import load_graph
from rinn.graphs.protocol import reach_vectors, score_hidden, score_inputs, truth_patterns
from rinn.nets.predict import map_trained
from rinn.pipeline import check_truth, score_found
from rinn.runs.folder import WEIGHTS, choose_nets, load_kept, load_manifest, read_columns


def score_path(path: Path | str, truth_path: Path | str) -> dict[str, Any]:
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
        return score_folder(path, truth)
    return _score_alone(load_graph(path), truth)


def _score_alone(graph: nx.DiGraph, truth: nx.DiGraph) -> dict[str, Any]:
    """Score a graph that no network stands behind."""
    names = {role: by_role(graph, role) for role in ROLES}
    check_truth(truth, names["input"], names["output"])
    patterns = truth_patterns(truth, names["output"], names["input"])
    hidden = score_hidden(reach_vectors(graph, names["latent"], names["output"]), patterns)
    inputs = score_inputs(reach_vectors(graph, names["input"], names["output"]), patterns)
    paper = {"hidden": hidden.to_json(), "input": inputs.to_json(), "threshold": None}
    return {"paper": paper, "graph": score_graph(graph, truth).to_json()}


def score_folder(folder: Path, truth: nx.DiGraph) -> dict[str, Any]:
    """Score the networks and the graph of a run folder; see `score_path`."""
    manifest = load_manifest(folder)
    inputs, outputs = read_columns(manifest, folder)
    nets = choose_nets(load_kept(folder / WEIGHTS)[0], manifest, "nearest")
    maps = [map_trained(net) for net in nets]
    graph = load_graph(folder / "graph.json")
    if not maps:
        return _score_alone(graph, truth)
    paper, graph_scores = score_found(maps, graph, truth, inputs, outputs)
    return {"paper": paper.to_json(), "graph": graph_scores.to_json()}
