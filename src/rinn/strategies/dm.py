"""DM: Detect MIMIC, latents from tests of independence; both alphas are searched.

The publication chose the alphas with knowledge of the truth. Without one, the graph is chosen that
describes the data best for its number of edges, by the Bayesian information criterion.
"""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.graphs.basics import by_role, reach
from rinn.strategies.base import Detected, Detection
from rinn.strategies.detect_mimic import (
    ALPHAS_PC,
    ALPHAS_SOBER,
    Correlations,
    correlate,
    detect_from_correlations,
)


def detect_dm(data: Data, settings: RunSettings) -> Detected:
    """Find a graph for each pair of alphas, and choose one of them."""
    correlations = correlate(data.x, data.y, data.inputs, data.outputs)
    graphs, rows = [], []
    for number, (alpha_pc, alpha_sober) in enumerate(_list_alphas(settings)):
        graph = detect_from_correlations(correlations, alpha_pc=alpha_pc, alpha_sober=alpha_sober)
        graphs.append(graph)
        rows.append(
            {
                "trial": number,
                "alpha_pc": alpha_pc,
                "alpha_sober": alpha_sober,
                "latents": len(by_role(graph, "latent")),
                "edges": graph.number_of_edges(),
                "bic": find_bic(graph, correlations),
            }
        )
    table = pd.DataFrame(rows)
    chosen = int(table["bic"].to_numpy().argmin())
    return Detected(tuple(graphs), chosen, table.assign(kept=table.index == chosen))


def find_bic(graph: nx.DiGraph, correlations: Correlations) -> float:
    """BIC of a graph: n sum_o log(1 - R^2_o) + edges log n, the lower the better.

    R^2_o is the fraction of output o's variance that the inputs which reach it explain in a linear
    regression. Latents are not estimated: they count through their edges.
    """
    reached = reach(graph)
    shown = np.array([[o in reached[i] for o in correlations.outputs] for i in correlations.inputs])
    inputs = len(correlations.inputs)
    left = [
        1 - _explained(correlations.matrix, np.flatnonzero(shown[:, o]), inputs + o)
        for o in range(len(correlations.outputs))
    ]
    floor = np.finfo(float).eps
    fit = correlations.samples * np.log(np.maximum(left, floor)).sum()
    return float(fit + graph.number_of_edges() * np.log(correlations.samples))


def _explained(
    matrix: Float[np.ndarray, "column column"], causes: np.ndarray, effect: int
) -> float:
    """R^2 of a linear regression; inputs may be copies of one another."""
    if not len(causes):
        return 0.0
    with_effect = matrix[causes, effect]
    slopes = np.linalg.lstsq(matrix[np.ix_(causes, causes)], with_effect, rcond=None)[0]
    return float(np.clip(slopes @ with_effect, 0.0, 1.0))


def _list_alphas(settings: RunSettings) -> list[tuple[float, float]]:
    """The published grid, or what is given."""
    first = ALPHAS_PC if settings.alpha_pc is None else (settings.alpha_pc,)
    second = ALPHAS_SOBER if settings.alpha_sober is None else (settings.alpha_sober,)
    return list(itertools.product(first, second))[: settings.trials]


DM = Detection(
    title="Detect MIMIC",
    detect=detect_dm,
    takes_mixed=True,
    takes_trials=True,
    options=("alpha_pc", "alpha_sober"),
    summary="Detect MIMIC tried a grid of significance levels (pairs: {trials}), and the graph "
    "that describes the data best for its number of edges was chosen.",
    choice="Each row is a pair of significance levels with the graph it gives. The one with the "
    "lowest BIC was chosen: what the inputs that reach an output explain of it, against the "
    "number of edges.",
    caveats=(
        "Detect MIMIC takes an input for a cause of an output wherever the two are correlated, and "
        "treats every column as continuous. It says nothing of how strong an effect is.",
        "Small changes of the data or of the two alphas can change the graph. Latents that would "
        "act on one another in a cycle are shown as one.",
    ),
    setup="the published grid of levels, chosen by BIC",
    assumes="linear dependence; each latent has inputs and outputs of its own",
    suits="a comparison with the published method",
)
