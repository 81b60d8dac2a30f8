"""NEM: a nested effects model, searched greedily (Markowetz, Bloch and Spang 2005).

The perturbed inputs are ordered by a transitive relation: Phi_ks = 1 where perturbing k perturbs
s too. Each output e is an effect of one input, or of none, and changes with every k above it:

    log P(D | Phi) = sum_e log (1 + sum_s exp sum_k Phi_ks R_ke) / (1 + inputs)

R_ke is the log-likelihood ratio that k has an effect on e, here from a regression on all inputs,
because samples may carry several perturbations. The search adds or removes a relation while the
likelihood rises (Froehlich et al. 2008 compare such searches). Inputs that perturb each other are
one latent.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import logsumexp

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import finish_graph, start_graph
from rinn.strategies.regression import find_significant, find_z

# The rates at which a test finds an effect that is not there, and misses one that is: those with
# the best F1 of eight pairs, and of a mixture of normals, on 20 graphs for development (numbers
# from 500 of the recovery benchmark, five families).
FALSE_POSITIVE = 0.1
FALSE_NEGATIVE = 0.02
MIN_GAIN = 1e-6


def detect_nem(data: Data, settings: RunSettings) -> Detected:
    """Order the inputs by their effects, and attach the outputs."""
    z = find_z(data.x, data.y)
    evidence = find_evidence(z)
    active = np.flatnonzero((evidence > 0).any(axis=1))
    relation = search_relation(evidence[active])
    attached = attach_outputs(relation, evidence[active])
    classes = find_classes(relation)
    graph, names = start_graph(data, len(classes))
    order: nx.DiGraph = nx.DiGraph()
    order.add_nodes_from(range(len(classes)))
    for number, members in enumerate(classes):
        below = [n for n, (s, *_) in enumerate(classes) if n != number and relation[members[0], s]]
        order.add_edges_from((number, child) for child in below)
        graph.add_edges_from((data.inputs[active[k]], names[number]) for k in members)
        graph.add_edges_from((names[number], data.outputs[o])
                             for o in np.flatnonzero(np.isin(attached, members)))  # fmt: skip
    reduced: nx.DiGraph = nx.transitive_reduction(order)
    graph.add_edges_from((names[one], names[other]) for one, other in reduced.edges)
    return finish_graph(graph, data, z, log_likelihood=find_likelihood(relation, evidence[active]))


def find_classes(relation: Bool[np.ndarray, "input input"]) -> list[list[int]]:
    """Inputs that perturb each other."""
    rows = [tuple(row) for row in relation & relation.T]
    return [[k for k, row in enumerate(rows) if row == one] for one in dict.fromkeys(rows)]


def find_evidence(z: Float[np.ndarray, "input output"]) -> Float[np.ndarray, "input output"]:
    """The log-likelihood ratio of each effect: that of its test being significant or not."""
    present = np.log((1 - FALSE_NEGATIVE) / FALSE_POSITIVE)
    absent = np.log(FALSE_NEGATIVE / (1 - FALSE_POSITIVE))
    return np.asarray(np.where(find_significant(z), present, absent))


def search_relation(
    evidence: Float[np.ndarray, "input output"],
) -> Bool[np.ndarray, "input input"]:
    """Add or remove the pair that raises the likelihood most, until none does.

    Example:
        >>> evidence = np.array([[2.0, 2, 2, 2], [-2, -2, 2, 2]])  # the second's are nested
        >>> search_relation(evidence).astype(int).tolist()
        [[1, 1], [0, 1]]
    """
    relation = np.eye(len(evidence), dtype=bool)
    best = find_likelihood(relation, evidence)
    while True:
        moves = [_add(relation, *pair) for pair in np.argwhere(~relation).tolist()]
        pairs = np.argwhere(relation & ~np.eye(len(relation), dtype=bool)).tolist()
        moves += [other for pair in pairs if (other := _remove(relation, *pair)) is not None]
        scores = [find_likelihood(other, evidence) for other in moves]
        if not scores or max(scores) <= best + MIN_GAIN:
            return relation
        best, relation = max(scores), moves[int(np.argmax(scores))]


def _add(relation: np.ndarray, source: int, target: int) -> Bool[np.ndarray, "input input"]:
    """Relate a pair, and everything above it to everything below it."""
    return np.asarray(relation | np.outer(relation[:, source], relation[target]))


def _remove(relation: np.ndarray, source: int, target: int) -> np.ndarray | None:
    """Separate a pair; None where the rest implies it."""
    between = relation[source] & relation[:, target]
    if between.sum() > 2:
        return None
    fewer = relation.copy()
    fewer[source, target] = False
    return fewer


def find_likelihood(relation: np.ndarray, evidence: np.ndarray) -> float:
    """The log-likelihood of a relation, each output's input averaged over."""
    attached = np.vstack([relation.T @ evidence, np.zeros((1, evidence.shape[1]))])
    return float((logsumexp(attached, axis=0) - np.log(len(attached))).sum())


def attach_outputs(relation: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """The most likely input of each output; -1 where none is more likely."""
    if not len(relation):
        return np.full(evidence.shape[1], -1)
    attached = relation.T @ evidence
    best = attached.argmax(axis=0)
    return np.where(attached.max(axis=0) > 0, best, -1)


NEM = Detection(
    title="nested effects model of perturbations, greedy search",
    detect=detect_nem,
    takes_mixed=True,
    summary="Inputs were ordered by a nested effects model: the effects of one that is below "
    "another are a subset of the other's.",
    caveats=(
        "Each output is an effect of one input, with all inputs above it: an output that two "
        "unrelated latents act on cannot be described.",
        "Every latent has its own inputs. An effect is present or absent, regardless of its size.",
    ),
    setup="tests at q < 0.05 as data, error rates 0.1 and 0.02",
    assumes="effects are nested; each output belongs to one latent; each latent has an input",
    suits="single perturbations whose effects are nested, such as knock-downs in one pathway",
)
