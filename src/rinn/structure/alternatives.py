r"""Edges that could be exchanged for others: graphs of one size that the data cannot tell apart.

An edge is replaced by another with the same source or target, which must pay its penalty. The two
graphs imply effects B and B', and their chi-squares differ by d with the standard error

    2 sqrt( n tr[ (B - B')' C (B - B') S^-1 ] ),

that of a likelihood ratio of non-nested models (Vuong 1989), in the notation of `score.py`. Both
have as many parameters, so that d is not biased by the fit.
"""

from __future__ import annotations

import numpy as np

from rinn.structure import constants as c
from rinn.structure.moves import set_edges
from rinn.structure.records import Moments, Structure
from rinn.structure.score import Misfit, find_penalty

Edge = tuple[int, int]


def find_alternatives(
    graph: Structure, moments: Moments, *, direct: bool = True
) -> dict[Edge, Edge]:
    """For each exchangeable edge the best other one; none with more than 100 inputs."""
    if graph.inputs > c.MANY_INPUTS:
        return {}
    misfit = Misfit(moments, effects_only=True)
    graph, least = misfit.fit(graph)
    result = {}
    for u, v in zip(*(side.tolist() for side in np.nonzero(graph.edges)), strict=True):
        without, worst = misfit.fit(set_edges(graph, u, v, None))
        allowed = _list_allowed(without, u, v, direct=direct)
        others, gains, weights = misfit.linearise(without).find_gains(allowed, c.MAX_ALTERNATIVES)
        near = []
        for index in np.argsort(-gains, kind="stable").tolist():
            one = int(others[0][index]), int(others[1][index])
            other, after = misfit.fit(set_edges(without, *one, weights[index]))
            pays = worst - after >= find_penalty(moments) and _is_complete(other)
            if pays and _is_near(graph, other, after - least, moments):
                near.append((after, one))
        if near:
            result[u, v] = min(near)[1]
    return result


def _list_allowed(graph: Structure, u: int, v: int, *, direct: bool) -> np.ndarray:
    """Edges with the same source or target that make no cycle and cost no more."""
    allowed = np.zeros_like(graph.edges)
    allowed[u], allowed[:, v] = True, True
    allowed &= ~graph.edges & ~graph.reach.T
    allowed[:, : graph.inputs] = False
    allowed[graph.first_output :] = False
    if not direct or not (u < graph.inputs and v >= graph.first_output):
        allowed[: graph.inputs, graph.first_output :] = False
    allowed[u, v] = False
    return allowed


def _is_complete(graph: Structure) -> bool:
    """Whether every latent has a parent and at least two children."""
    nodes = list(graph.latent_nodes)
    return bool((graph.edges[:, nodes].any(axis=0) & (graph.edges[nodes].sum(axis=1) > 1)).all())


def _is_near(graph: Structure, other: Structure, rise: float, moments: Moments) -> bool:
    """Whether another graph is worse by less than two standard errors."""
    effects = (one.totals[: one.inputs, one.first_output :] for one in (graph, other))
    apart = np.subtract(*effects)
    distance = moments.samples * ((moments.inputs @ apart) * (apart @ moments.precision)).sum()
    return bool(rise <= c.EQUIVALENT * 2 * np.sqrt(max(distance, 0.0)))
