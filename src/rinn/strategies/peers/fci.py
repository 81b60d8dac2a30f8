"""FCI: fast causal inference (Spirtes, Meek and Richardson 1995; Zhang 2008), by causal-learn.

X and Y are two tiers, and no input acts on an input. FCI's graph has no latents: it joins two
outputs that no set of columns separates. Since outputs do not act on outputs here, these share a
latent: every maximal clique of outputs is one, and its inputs are those joined to most of them.
"""

from __future__ import annotations

import contextlib
import io

import networkx as nx
import numpy as np
from jaxtyping import Bool

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import finish_graph, start_graph
from rinn.strategies.regression import find_z

ALPHA = 0.001  # of the tests: with 0.05 and 40 columns, graphs are so dense that FCI takes minutes


def detect_fci(data: Data, settings: RunSettings) -> Detected:
    """Find which columns stay dependent, and make latents of cliques of outputs."""
    inputs = len(data.inputs)
    joined = find_joined(np.hstack([data.x, data.y]), inputs)
    outputs: nx.Graph = nx.Graph(joined[inputs:, inputs:])
    cliques = nx.find_cliques(outputs)
    shared = sorted(sorted(clique) for clique in cliques if len(clique) > 1)
    graph, names = start_graph(data, len(shared))
    left = joined[:inputs, inputs:].copy()  # [input, output]
    for name, clique in zip(names, shared, strict=True):
        acting = joined[:inputs, inputs:][:, clique].mean(axis=1) > 0.5
        left[np.ix_(acting, clique)] = False
        graph.add_edges_from((data.inputs[i], name) for i in np.flatnonzero(acting))
        graph.add_edges_from((name, data.outputs[o]) for o in clique)
    graph.add_edges_from((data.inputs[i], data.outputs[o]) for i, o in np.argwhere(left))
    return finish_graph(graph, data, find_z(data.x, data.y), alpha=ALPHA)


def find_joined(values: np.ndarray, inputs: int) -> Bool[np.ndarray, "column column"]:
    """Which two columns are adjacent in FCI's graph; the first columns are inputs."""
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

    names = [f"X{number + 1}" for number in range(values.shape[1])]
    tiers = BackgroundKnowledge()
    for number, name in enumerate(names):
        tiers.add_node_to_tier(GraphNode(name), int(number >= inputs))
    tiers.forbid_within_tier(0)
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = fci(
            values,
            "fisherz",
            alpha=ALPHA,
            background_knowledge=tiers,
            show_progress=False,
            node_names=names,
        )
    return np.asarray(found.graph != 0)


FCI = Detection(
    title="fast causal inference, latents from cliques (causal-learn)",
    detect=detect_fci,
    takes_mixed=True,
    package="causallearn",
    summary="FCI tested which columns stay dependent given others. Each clique of outputs that "
    "nothing measured separates became a latent.",
    caveats=(
        "FCI says that two outputs share a latent, not how many latents there are, nor which "
        "latent acts on which. Latents do not act on latents here.",
        "The tests are of linear dependence, and binary columns are treated as numbers.",
    ),
    setup="Fisher's z at 0.001; tiers X, Y; no input acts on an input",
    assumes="faithfulness; linear dependence; latents add their own noise to their outputs",
    suits="columns whose order is unknown: it needs no division into causes and effects",
)
