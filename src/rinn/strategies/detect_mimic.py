"""Detect MIMIC (DM): latents between inputs and outputs from tests of independence.

Reference: Murray-Watters, Glymour 2015: What is going on inside the arrows? Discovering the hidden
springs in causal models. This is the variant with two levels of significance, the one compared
with the RINN in 2020. It follows the reference implementation also where its result depends on the
order of ties, where inputs get lost, and where latents end up on a cycle: any other choice gives
other graphs than those that were published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from rinn.graphs.basics import name_latents

# The published grid of settings.
ALPHAS_PC = (0.05, 0.01, 0.001, 0.0001)
ALPHAS_SOBER = (0.1, 0.05, 0.01)

# A column of which the columns before it leave less than this share of variance makes a
# correlation matrix singular.
_SINGULAR = 1e-10


@dataclass(frozen=True)
class Correlations:
    """What DM knows of the data: inputs first, then outputs, in column order."""

    matrix: Float[np.ndarray, "column column"]
    samples: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Latents:
    """Inputs and outputs (ascending) of the latents in order of creation; edges (cause, effect)."""

    inputs: tuple[frozenset[int], ...]
    outputs: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]


def correlate(
    x: Float[np.ndarray, "sample input"],
    y: Float[np.ndarray, "sample output"],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Correlations:
    """Compute Pearson's correlations of all columns, which are all that DM looks at."""
    columns = np.concatenate([x, y], axis=1)
    exponents = np.frexp(np.abs(columns).max(axis=0))[1]
    columns = np.ldexp(columns, -exponents)  # below 1, so that sums of squares do not overflow
    columns -= columns.mean(axis=0)
    columns /= np.linalg.norm(columns, axis=0)
    matrix = np.clip(columns.T @ columns, -1.0, 1.0)  # [column, column]
    np.fill_diagonal(matrix, 1.0)
    return Correlations(matrix, len(x), tuple(inputs), tuple(outputs))


def detect_from_correlations(
    correlations: Correlations, *, alpha_pc: float, alpha_sober: float
) -> nx.DiGraph:
    """Detect a latent graph by DM from correlations.

    An input and an output that are dependent at `alpha_pc` are joined. Outputs with the same
    joined inputs share a latent (`link_latents`); then edges between latents are tested at
    `alpha_sober` (`prune_edges`). The test is Fisher's z: x and y are independent given Z where
    sqrt(n - 3 - |Z|) |atanh r| < quantile(1 - alpha / 2). Where no test is possible (a singular
    matrix, no degrees of freedom) they count as dependent.
    """
    count = len(correlations.inputs)
    across = np.abs(correlations.matrix[:count, count:])  # [input, output]
    latents = link_latents(across >= _critical(alpha_pc, correlations.samples - 3))
    return _draw(prune_edges(latents, correlations, alpha_sober), correlations)


def link_latents(parents: Bool[np.ndarray, "input output"]) -> Latents:
    """Make latents of the outputs' parent sets, and join those whose sets lie within another's.

    Latents are visited by size, ties by the sum of the members' hashes (see `_order_visits`), as
    causes and for each cause as effects. A cause whose set lies strictly within an effect's gets an
    edge to it; its inputs are taken out of the effect's set and of every larger set that has them
    all, also where that latent gets no edge. Sets are compared as they are by then.
    """
    groups: dict[int, list[int]] = {}  # parent set, one bit for each input: its outputs
    for output, column in enumerate(np.asarray(parents, dtype=bool).T):
        mask = int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
        if mask:
            groups.setdefault(mask, []).append(output)
    sets = list(groups)
    order = _order_visits([_members(mask) for mask in sets])
    edges = []
    for cause in order:
        parents_of = sets[cause]  # stays as it is in this round: only sets that hold more shrink
        for effect in order:
            if not _is_strictly_within(parents_of, sets[effect]):
                continue
            edges.append((cause, effect))
            size = sets[effect].bit_count()
            for number, mask in enumerate(sets):
                is_hit = number == effect or mask.bit_count() > size
                if is_hit and _is_strictly_within(parents_of, mask):
                    sets[number] = mask & ~parents_of
    outputs = tuple(tuple(group) for group in groups.values())
    return Latents(tuple(frozenset(_members(m)) for m in sets), outputs, tuple(sorted(edges)))


def prune_edges(latents: Latents, correlations: Correlations, alpha_sober: float) -> Latents:
    """Remove edges between latents whose outputs are independent given the cause's inputs.

    Sober's criterion: the first output of the cause is tested against the first of each effect. An
    effect that loses its edge gets the cause's inputs, which count at once when its turn comes.
    """
    first = [len(correlations.inputs) + outputs[0] for outputs in latents.outputs]
    inputs = list(latents.inputs)
    edges = []
    for cause, pairs in groupby(latents.edges, key=itemgetter(0)):
        effects = [effect for _, effect in pairs]
        columns, given = [first[effect] for effect in effects], sorted(inputs[cause])
        apart = _are_independent(correlations, first[cause], columns, given, alpha_sober)
        for effect, is_apart in zip(effects, apart, strict=True):
            if is_apart:
                inputs[effect] |= inputs[cause]
            else:
                edges.append((cause, effect))
    return replace(latents, inputs=tuple(inputs), edges=tuple(edges))


def _critical(alpha: float, freedom: int) -> float:
    """The |r| from which on Fisher's z calls two columns dependent: any, where none is possible."""
    if freedom <= 0:
        return 0.0
    return math.tanh(-float(ndtri(alpha / 2)) / math.sqrt(freedom))


def _order_visits(sets: Sequence[Sequence[int]]) -> list[int]:
    """Order latents by size and sum of hashes; of those equal in both only the last is visited.

    Inputs are hashed as X0, X1 ...; the reference's 32-bit sum could wrap from 901 inputs on.
    """
    hashes = {i: _hash_name(f"X{i}") for i in set().union(*sets)}
    slots: dict[tuple[int, int], int] = {}
    for latent, members in enumerate(sets):
        slots[len(members), sum(hashes[i] for i in members)] = latent
    return [slots[key] for key in sorted(slots)]


def _hash_name(name: str) -> int:
    """Java's hash of a string of ASCII characters: a signed number of 32 bits."""
    value = 0
    for character in name:
        value = 31 * value + ord(character)
    return (value + 2**31) % 2**32 - 2**31


def _members(mask: int) -> list[int]:
    return [i for i, bit in enumerate(reversed(f"{mask:b}")) if bit == "1"]


def _is_strictly_within(small: int, large: int) -> bool:
    return small != large and small & large == small


def _are_independent(
    correlations: Correlations, x: int, ys: Sequence[int], given: Sequence[int], alpha: float
) -> Bool[np.ndarray, " y"]:
    """Test x against each y given the same columns; all tests share one factorisation."""
    none = np.zeros(len(ys), dtype=bool)
    matrix, tested = correlations.matrix, [x, *ys]
    try:
        factor = np.linalg.cholesky(matrix[np.ix_(given, given)])
    except np.linalg.LinAlgError:
        return none
    if np.diag(factor).min() ** 2 < _SINGULAR:
        return none
    explained = solve_triangular(factor, matrix[np.ix_(given, tested)], lower=True)  # [given, 1+y]
    variance = 1.0 - (explained**2).sum(axis=0)
    if variance[0] < _SINGULAR:
        return none
    covariance = matrix[x, ys] - explained[:, 0] @ explained[:, 1:]  # [y]
    left = variance[1:] - covariance**2 / variance[0]  # of y given x and the others
    r = np.abs(covariance) / np.sqrt(variance[0] * np.maximum(variance[1:], _SINGULAR))
    return (left >= _SINGULAR) & (r < _critical(alpha, correlations.samples - 3 - len(given)))


def _draw(latents: Latents, correlations: Correlations) -> nx.DiGraph:
    inputs, outputs = correlations.inputs, correlations.outputs
    names = name_latents(len(latents.inputs), {*inputs, *outputs})
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(inputs, role="input")
    graph.add_nodes_from(names, role="latent", frequency=1.0)
    graph.add_nodes_from(outputs, role="output")
    above = [(inputs[i], names[k]) for k, group in enumerate(latents.inputs) for i in sorted(group)]
    between = [(names[cause], names[effect]) for cause, effect in latents.edges]
    below = [(names[k], outputs[o]) for k, group in enumerate(latents.outputs) for o in group]
    graph.add_edges_from(above + between + below, weight=1.0, frequency=1.0)
    return graph
