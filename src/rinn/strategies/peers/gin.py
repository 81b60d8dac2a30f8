"""GIN: clusters of outputs by generalized independent noise (Xie et al. 2020), by causal-learn.

Outputs of the same latents form a cluster if a combination of them is independent of all other
outputs; clusters are ordered by the same condition. GIN is for linear latents with noise that is
not Gaussian, and for outputs alone: inputs join a latent if they have effects on most of it.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import attach_inputs, finish_graph, start_graph
from rinn.strategies.regression import find_z

ALPHA = 0.05
MAX_SAMPLES = 500  # the test of independence takes time and memory with the square of the samples


def detect_gin(data: Data, settings: RunSettings) -> Detected:
    """Cluster the outputs, order the clusters, and add the inputs."""
    from causallearn.search.HiddenCausal.GIN.GIN import GIN as FIND_CLUSTERS

    rows = np.linspace(0, len(data.y) - 1, min(MAX_SAMPLES, len(data.y))).astype(int)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = FIND_CLUSTERS(data.y[rows], indep_test_method="hsic", alpha=ALPHA)
    nodes = [node.get_name() for node in found.get_nodes()]
    latents = [node for node in nodes if node.startswith("L")]
    graph, names = start_graph(data, len(latents))
    known = dict(zip(latents, names, strict=True))
    known |= {f"X{number + 1}": name for number, name in enumerate(data.outputs)}
    for i, j in np.argwhere(found.graph == 1).tolist():  # an arrow at i
        if found.graph[j, i] == -1:
            graph.add_edge(known[nodes[j]], known[nodes[i]])
    z = find_z(data.x, data.y)
    attach_inputs(graph, data, z, names)
    return finish_graph(graph, data, z, alpha=ALPHA, samples=len(rows))


GIN = Detection(
    title="generalized independent noise (causal-learn)",
    detect=detect_gin,
    takes_mixed=True,
    package="causallearn",
    summary="Outputs were clustered and ordered by the condition of generalized independent "
    "noise, and inputs with effects on most of a cluster became its causes.",
    caveats=(
        "GIN needs linear effects and noise that is not Gaussian. Each output belongs to one "
        "cluster.",
        f"At most {MAX_SAMPLES} samples are used, evenly spaced over the rows, because the test "
        "of independence takes time with their square. Inputs are added by a regression.",
    ),
    setup="HSIC at 0.05 on Y, at most 500 rows; takes no tiers, inputs joined by a regression",
    assumes="linear effects; noise that is not Gaussian; each output in one cluster",
    suits="outputs without known causes, where noise is not Gaussian",
)
