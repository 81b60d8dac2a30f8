"""RLCD: rank-based latent causal discovery (Dong et al. 2024), by causal-learn.

The rank of the covariance of two sets of columns is the number of variables that separate them,
measured or not. RLCD takes X and Y together, and no order of columns: edges between an input and a
latent are turned away from the input, edges between a latent and an output towards the output.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import networkx as nx
import numpy as np

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import finish_graph, start_graph
from rinn.strategies.regression import find_z

MAX_RANK = 2  # of the latents that are searched together; 3 takes hours with 40 columns


def detect_rlcd(data: Data, settings: RunSettings) -> Detected:
    """Find latents by tests of rank, and turn edges from X to Y."""
    from causallearn.search.HiddenCausal.RLCD import RLCD as FIND_LATENTS

    values = np.hstack([data.x, data.y])
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = FIND_LATENTS(values, maxk=MAX_RANK).adjacency
    count = len(found) - values.shape[1]
    graph, latents = start_graph(data, count)
    nodes = [*data.inputs, *data.outputs, *latents]
    for i, j in np.argwhere(np.triu(found != 0)).tolist():
        is_turned = found[i, j] == 1 and found[j, i] == -1
        edge = turn_edge(graph, *((nodes[j], nodes[i]) if is_turned else (nodes[i], nodes[j])))
        if edge and not nx.has_path(graph, edge[1], edge[0]):
            graph.add_edge(*edge)
    return finish_graph(graph, data, find_z(data.x, data.y), max_rank=MAX_RANK)


def turn_edge(graph: nx.DiGraph, source: str, target: str) -> tuple[str, str] | None:
    """An edge from an input or to an output; None between two inputs or two outputs."""
    roles = graph.nodes[source]["role"], graph.nodes[target]["role"]
    if roles[0] == roles[1]:
        return (source, target) if roles[0] == "latent" else None
    order = ("input", "latent", "output")
    forward = order.index(roles[0]) < order.index(roles[1])
    return (source, target) if forward else (target, source)


RLCD = Detection(
    title="rank-based latent causal discovery (causal-learn)",
    detect=detect_rlcd,
    takes_mixed=True,
    package="causallearn",
    summary="Latents were found by tests of the rank of covariances, and edges were turned from "
    "inputs to outputs.",
    caveats=(
        "Effects are linear. Tests of rank need many samples, and each latent three measured "
        "neighbours.",
        "The method knows no order of columns: latents that it places above inputs are turned.",
    ),
    setup="X and Y, ranks up to 2, tests at 0.01; takes no tiers, edges turned afterwards",
    assumes="linear effects; each latent with enough measured neighbours of its own",
    suits="columns whose order is unknown, where latents may lie anywhere",
)
