"""The order of nodes within columns, so that few edges cross."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np

SWEEPS = 24


def order_columns(columns: Sequence[Sequence[str]], graph: nx.DiGraph) -> list[list[str]]:
    """Order columns from top to bottom by the barycentre method of Sugiyama (1981).

    Example:
        >>> graph = nx.DiGraph([("a", "d"), ("b", "c")])
        >>> order_columns([["a", "b"], ["c", "d"]], graph)
        [['a', 'b'], ['d', 'c']]
    """
    best = order = [list(column) for column in columns]
    fewest = count_crossings(best, graph)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        order = _sweep(order, graph, forward=sweep % 2 == 0)
        found = count_crossings(order, graph)
        if found < fewest:
            best, fewest = order, found
    return _swap_neighbours(best, graph)


def count_crossings(columns: Sequence[Sequence[str]], graph: nx.DiGraph) -> int:
    """Count the pairs of edges that cross between neighbouring columns.

    Example:
        >>> count_crossings([["a", "b"], ["c", "d"]], nx.DiGraph([("a", "d"), ("b", "c")]))
        1
    """
    pairs = pairwise(columns)
    return sum(_crossings(_ends(left, right, graph)) for left, right in pairs)


def _ends(left: Sequence[str], right: Sequence[str], graph: nx.DiGraph) -> np.ndarray:
    place = {node: number for number, node in enumerate(right)}
    ends = [
        (number, place[target])
        for number, node in enumerate(left)
        for target in graph.successors(node)
    ]
    return np.array(ends, dtype=int).reshape(-1, 2)


def _crossings(ends: np.ndarray) -> int:
    apart = np.sign(ends[:, None, :] - ends[None, :, :])  # [edge, edge, end]
    return int((apart[..., 0] * apart[..., 1] < 0).sum()) // 2


def _sweep(order: list[list[str]], graph: nx.DiGraph, *, forward: bool) -> list[list[str]]:
    """Sort each column by the mean place of its neighbours in the column just sorted."""
    near = graph.predecessors if forward else graph.successors
    columns = order if forward else order[::-1]
    done = [columns[0]]
    for column in columns[1:]:
        place = {node: number for number, node in enumerate(done[-1])}
        own = {node: number for number, node in enumerate(column)}
        scale = len(done[-1]) / max(len(column), 1)
        middle = {}
        for node in column:
            others = [place[other] for other in near(node)]
            middle[node] = float(np.mean(others)) if others else own[node] * scale
        done.append([node for _, _, node in sorted((middle[n], own[n], n) for n in column)])
    return done if forward else done[::-1]


def _swap_neighbours(order: list[list[str]], graph: nx.DiGraph) -> list[list[str]]:
    """Swap neighbours in a column while that takes crossings away."""
    for _ in range(SWEEPS):
        changed = False
        for number, column in enumerate(order):
            place = {n: i for c in order[max(number - 1, 0) : number + 2] for i, n in enumerate(c)}
            for upper in range(len(column) - 1):
                gain = _gain(column[upper], column[upper + 1], graph, place)
                if gain > 0:
                    column[upper], column[upper + 1] = column[upper + 1], column[upper]
                    changed = True
        if not changed:
            break
    return order


def _gain(first: str, second: str, graph: nx.DiGraph, place: dict[str, int]) -> int:
    """How many crossings go away if the second stands above the first."""
    gain = 0
    for near in (graph.predecessors, graph.successors):
        ours, theirs = ([place[other] for other in near(node)] for node in (first, second))
        apart = np.sign(np.subtract.outer(ours, theirs))
        gain += int(apart.sum()) if apart.size else 0
    return gain
