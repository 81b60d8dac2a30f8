"""Regression: the baseline, from significant pairs of input and output to a graph.

y_o = a_o + sum_i b_io x_i + e_o by least squares; z_io = b_io / se(b_io). Pairs with a
Benjamini-Hochberg (1995) q below 0.05 are effects. Inputs with similar effects form a group, whose
outputs are those of its pooled z (Stouffer 1949): a group with two outputs or more is a latent.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from scipy.stats import false_discovery_control, norm

from rinn.config import RunSettings
from rinn.data.least_squares import regress
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, name_latents
from rinn.strategies.base import Detected, Detection

MAX_Q = 0.05
# Jaccard overlap of the outputs of inputs in one group: of 0.5, 0.6 and so on to 0.9 the best on 12
# random graphs (numbers 500 to 511 of the recovery benchmark). Below it, a latent and its child
# become one; above it, a missed effect splits a latent.
MIN_OVERLAP = 0.7
MIN_COVERED = 2  # outputs that a latent reaches through a child and through no other


@dataclass(frozen=True)
class Group:
    """Inputs with the same effects: their signs, and the effects that they have together."""

    inputs: tuple[int, ...]
    signs: tuple[float, ...]
    z: Float[np.ndarray, " output"]
    outputs: frozenset[int]


def detect_regression(data: Data, settings: RunSettings) -> Detected:
    """Find a graph by regression, tests and grouping."""
    z = find_z(data.x, data.y)
    groups = group_inputs(z)
    graph = make_graph(groups, z, len(data.x), data.inputs, data.outputs)
    latents, edges = len(by_role(graph, "latent")), graph.number_of_edges()
    row = {"trial": 0, "latents": latents, "edges": edges, "kept": True}
    return Detected((graph,), 0, pd.DataFrame([row]))


def find_z(
    x: Float[np.ndarray, "sample input"], y: Float[np.ndarray, "sample output"]
) -> Float[np.ndarray, "input output"]:
    """Regress each output on all inputs; give each slope's test as a standard normal."""
    samples, inputs = x.shape
    free = samples - inputs - 1
    if free < 1:
        raise InputError(
            f"X must have at least {inputs + 2} samples for a regression on {inputs} inputs, but "
            f"has {samples}; choose another strategy, or fewer inputs"
        )
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    x = x / np.maximum(x.std(axis=0), 1e-12)
    slopes, inverse = regress(x, y)
    spread = np.sqrt(((y - x @ slopes) ** 2).sum(axis=0) / free)  # [output]
    errors = np.sqrt(np.maximum(np.diag(inverse), 1e-12))[:, None] * np.maximum(spread, 1e-12)
    ratio = slopes / errors
    # Wallace 1959: the normal with the p of Student's t, also where p is too small to be written.
    size = np.sqrt(free * np.log1p(ratio**2 / free)) * (8 * free + 1) / (8 * free + 3)
    return np.sign(ratio) * size


def group_inputs(z: Float[np.ndarray, "input output"]) -> list[Group]:
    """Group the inputs that have effects by the Jaccard overlap of their outputs, average linkage.

    Example:
        >>> z = np.array([[9.0, 8, 0, 0], [-9, -9, 0, 1], [0, 0, 0, 9]])
        >>> [(group.inputs, sorted(group.outputs)) for group in group_inputs(z)]
        [((0, 1), [0, 1]), ((2,), [3])]
    """
    result = find_significant(z)
    active = np.flatnonzero(result.any(axis=1))
    labels: np.ndarray = np.arange(len(active))
    if len(active) > 1:
        tree = linkage(pdist(result[active], "jaccard"), "average")
        labels = fcluster(tree, 1 - MIN_OVERLAP, "distance")
    members = [active[labels == label] for label in np.unique(labels)]
    pooled = np.array([_pool(z[group])[1] for group in members]).reshape(-1, z.shape[1])
    groups: dict[frozenset[int], Group] = {}
    for group, reached in zip(members, find_significant(pooled), strict=True):
        common = (np.abs(z[group]) > 1).mean(axis=0) > 0.5  # no effect of a single input
        outputs = frozenset(np.flatnonzero(reached & common).tolist())
        same = groups[outputs].inputs if outputs in groups else ()
        inputs = tuple(sorted([*same, *group.tolist()]))
        signs, sums = _pool(z[list(inputs)])
        groups[outputs] = Group(inputs, tuple(signs.tolist()), sums, outputs)
    reaching = [group for group in groups.values() if group.outputs]
    return sorted(reaching, key=lambda group: (-len(group.outputs), group.inputs))


def find_significant(z: Float[np.ndarray, "row output"]) -> Bool[np.ndarray, "row output"]:
    """Which of all pairs pass the test at the false discovery rate."""
    if not z.size:
        return np.zeros(z.shape, bool)
    chances = 2 * norm.sf(np.abs(z))
    return false_discovery_control(chances.ravel()).reshape(z.shape) < MAX_Q


def _pool(
    z: Float[np.ndarray, "input output"],
) -> tuple[Float[np.ndarray, " input"], Float[np.ndarray, " output"]]:
    """Choose the signs of inputs by which their effects agree best, and pool them (Stouffer)."""
    leading = np.linalg.svd(z, full_matrices=False)[0][:, 0]
    signs = np.where(leading * leading[np.abs(leading).argmax()] < 0, -1.0, 1.0)
    return signs, signs @ z / np.sqrt(len(z))


def make_graph(
    groups: list[Group],
    z: Float[np.ndarray, "input output"],
    samples: int,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> nx.DiGraph:
    """Make a latent of each group with two outputs or more, and direct edges of other pairs."""
    effects = z / np.sqrt(samples)
    shared = [group for group in groups if len(group.outputs) > 1]
    names = name_latents(len(shared), {*inputs, *outputs})
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(inputs, role="input")
    graph.add_nodes_from(names, role="latent", frequency=1.0)
    graph.add_nodes_from(outputs, role="output")

    def connect(source: str, target: str, weight: float) -> None:
        graph.add_edge(source, target, weight=float(weight), frequency=1.0)

    for number, group in enumerate(shared):
        reached_by = sorted(group.outputs)
        together = np.array(group.signs) @ effects[list(group.inputs)] / len(group.inputs)
        for i, sign in zip(group.inputs, group.signs, strict=True):
            connect(inputs[i], names[number], sign * np.abs(effects[i, reached_by]).mean())
        chosen = choose_children(group.outputs, [other.outputs for other in shared])
        covered = frozenset[int]().union(*(shared[child].outputs for child in chosen))
        for child in chosen:
            below = sorted(shared[child].outputs)
            turned = np.sign(shared[child].z[below])
            connect(names[number], names[child], (together[below] * turned).mean())
        for o in sorted(group.outputs - covered):
            connect(names[number], outputs[o], together[o])
    reached = np.zeros(effects.shape, bool)
    for group in shared:
        reached[np.ix_(group.inputs, sorted(group.outputs))] = True
    for i, o in np.argwhere(find_significant(z) & ~reached).tolist():
        connect(inputs[i], outputs[o], effects[i, o])
    return graph


def choose_children(outputs: frozenset[int], others: list[frozenset[int]]) -> list[int]:
    """Cover outputs greedily by sets within them; outputs may stay uncovered."""
    within = [number for number, other in enumerate(others) if other < outputs]
    chosen, left = [], outputs
    while within:
        best = max(within, key=lambda number: len(others[number] & left))
        if len(others[best] & left) < MIN_COVERED:
            break
        chosen.append(best)
        left -= others[best]
    return chosen


REGRESSION = Detection(
    title="linear regression of each output, and groups of inputs",
    detect=detect_regression,
    takes_mixed=True,
    takes_few=True,
    summary="Each output was regressed on all inputs, and inputs with significant effects on "
    "similar outputs became the causes of one latent.",
    caveats=(
        "The regression is linear: an effect that is as often positive as negative, or that shows "
        "only with another input, is not seen. Binary outputs are treated as numbers.",
        "Inputs are grouped by the outputs with significant effects. Where effects are weak, a "
        "latent may be split into several, and direct edges bypass it.",
        "Two latents that act on the same outputs cannot be distinguished and appear as one.",
    ),
    setup="q < 0.05, groups by an overlap of 0.7",
    assumes="linear effects; inputs of one latent have the same outputs",
    suits="effects that are clear and linear, at once",
)
