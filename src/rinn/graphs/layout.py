"""The layered layout of a graph: inputs left, latents by causal level, outputs right.

Columns are ordered by the barycentre method (Sugiyama 1981). An edge that skips columns passes each
at a bend, clear of its nodes; in large graphs edges with a common end pass side by side.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

from rinn.graphs.basics import by_role, latents_in_order

COLUMN, ROW = 220.0, 50.0  # pixels between columns and rows in exported files
LATENT, BEND = 1.3, 0.5  # rows that a latent and a bend take
MAX_OWN_BENDS = 60  # of a graph; with more of them, those with a common end stay together
BESIDE, MAX_BUNDLE = 0.12, 2.5  # rows for each further edge of such a bundle, and for all of them
MAX_WIDE_BENDS = 12  # of a column; with more of them, bends take less
NARROW = 0.44
ORDER_SWEEPS, HEIGHT_SWEEPS = 24, 12
MAX_EDGES = 5000  # beyond which crossings are not counted

Point = tuple[float, float]
Edge = tuple[str, str]
Item = Any  # a node, or a bend (source or None, target or None, column)
Column = list[Item]


@dataclass(frozen=True)
class Layers:
    """Positions as (column, row) from the top left; `routes` are the points that edges pass."""

    columns: tuple[tuple[str, ...], ...]
    positions: dict[str, Point]
    routes: dict[Edge, tuple[Point, ...]]
    rows: float


def layer_nodes(
    graph: nx.DiGraph,
    *,
    backward: Container[Edge] = (),
) -> Layers:
    """Position nodes in columns with few crossings; `backward` edges have no say in the levels."""
    column, last = _find_columns(graph, backward)
    routed, chains = _add_bends(graph, column)
    columns: list[Column] = [[] for _ in range(last + 1)]
    for item in routed:
        columns[column[item] if item in column else item[2]].append(item)
    columns = order_columns(columns, routed)
    bundles: dict[Item, list[Edge]] = defaultdict(list)
    for edge, chain in chains.items():
        for bend in chain[1:-1]:
            bundles[bend].append(edge)
    size = dict.fromkeys(column, LATENT)
    size |= {bend: min(BEND + BESIDE * (len(edges) - 1), MAX_BUNDLE)
             for bend, edges in bundles.items()}  # fmt: skip
    size |= {node: 1.0 for number in (0, -1) for node in columns[number]}
    sizes = [[size[item] for item in items] for items in columns]
    for items, each in zip(columns[1:-1], sizes[1:-1], strict=True):
        if sum(item in bundles for item in items) > MAX_WIDE_BENDS:
            each[:] = [NARROW * h if item in bundles else h
                          for item, h in zip(items, each, strict=True)]  # fmt: skip
    rows = max(1.0, *map(sum, sizes))
    heights = _set_heights(columns, sizes, routed, rows)
    room = {item: height for pair in zip(columns, sizes, strict=True)
            for item, height in zip(*pair, strict=True)}  # fmt: skip
    beside = _spread_bundles(bundles, heights, room)
    points = {item: (float(number), heights[item]) for number, items in enumerate(columns)
              for item in items}  # fmt: skip
    return Layers(
        columns=tuple(tuple(item for item in items if item in column) for items in columns),
        positions={node: points[node] for node in graph},
        routes={
            edge: tuple((points[item][0], points[item][1] + beside.get((edge, item), 0.0))
                        for item in chain)
            for edge, chain in chains.items()
        },
        rows=rows,
    )  # fmt: skip


def _spread_bundles(
    bundles: dict[Item, list[Edge]], heights: dict[Item, float], room: dict[Item, float]
) -> dict[tuple[Edge, Item], float]:
    """How far from the middle of a bundle each of its edges passes, in the order of their ends.

    At one point they would look as if they met at a latent.
    """
    beside = {}
    for bend, edges in bundles.items():
        free = 0 if bend[0] is None else 1
        ordered = sorted((heights[edge[free]], number) for number, edge in enumerate(edges))
        for number, edge in enumerate(edges[i] for _, i in ordered):
            beside[edge, bend] = 0.8 * room[bend] * ((number + 0.5) / len(edges) - 0.5)
    return beside


def find_folds(graph: nx.DiGraph) -> dict[str, tuple[str, ...]]:
    """Inputs, or outputs, with the same edges and signs: all of them by the first of each."""
    alike: dict[Any, list[str]] = defaultdict(list)
    for node, role in graph.nodes(data="role"):
        if role != "latent" and graph.degree(node):
            above = frozenset((n, _find_sign(about)) for n, about in graph.pred[node].items())
            below = frozenset((n, _find_sign(about)) for n, about in graph.succ[node].items())
            alike[role, above, below].append(node)
    return {names[0]: tuple(names) for names in alike.values() if len(names) > 1}


def _find_sign(about: dict[str, Any]) -> bool:
    weight = about.get("weight")
    return isinstance(weight, int | float) and weight < 0


def position_nodes(graph: nx.DiGraph) -> dict[str, Point]:
    """Position all nodes in pixels: x to the right, y down from the middle."""
    layers = layer_nodes(graph)
    return {
        node: (COLUMN * column, round(ROW * (row - layers.rows / 2), 3))
        for node, (column, row) in layers.positions.items()
    }


def _find_columns(graph: nx.DiGraph, backward: Container[Edge]) -> tuple[dict[str, int], int]:
    """Inputs in column 0, latents by the longest path of latents above them, outputs last."""
    latents = set(by_role(graph, "latent"))
    forward: nx.DiGraph = nx.DiGraph()
    forward.add_nodes_from((node for node in graph if node in latents), role="latent")
    forward.add_edges_from(e for e in graph.edges if {*e} <= latents and e not in backward)
    level: dict[str, int] = {}
    for latent in latents_in_order(forward):
        above = [level[parent] for parent in forward.predecessors(latent) if parent in level]
        level[latent] = 1 + max(above, default=0)
    last = 1 + max(level.values(), default=0)
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    return level | dict.fromkeys(inputs, 0) | dict.fromkeys(outputs, last), last


def _add_bends(
    graph: nx.DiGraph, column: dict[str, int]
) -> tuple[nx.DiGraph, dict[Edge, tuple[Item, ...]]]:
    """Break edges that skip columns into steps, with a bend in each column between."""
    role = dict(graph.nodes(data="role"))
    routed: nx.DiGraph = nx.DiGraph()
    routed.add_nodes_from(graph)
    chains: dict[Edge, tuple[Item, ...]] = {}
    own = sum(max(column[v] - column[u] - 1, 0) for u, v in graph.edges) <= MAX_OWN_BENDS
    for source, target in graph.edges:
        ends: tuple[str | None, str | None] = source, target
        if not own and role[source] == "input":
            ends = None, target
        elif not own and role[target] == "output":
            ends = source, None
        bends = [(*ends, number) for number in range(column[source] + 1, column[target])]
        chains[source, target] = (source, *bends, target)
        if column[source] < column[target]:
            nx.add_path(routed, chains[source, target])
    return routed, chains


def order_columns(columns: Sequence[Sequence[Item]], graph: nx.DiGraph) -> list[Column]:
    """Order columns from top to bottom by barycentres, then by swaps; isolated nodes go last."""
    best = order = [[item for item in column if graph.degree(item)] for column in columns]
    counts = graph.number_of_edges() <= MAX_EDGES
    fewest = count_crossings(best, graph) if counts else 0
    for sweep in range(ORDER_SWEEPS):
        if counts and not fewest:
            break
        order = _sweep(order, graph, forward=sweep % 2 == 0)
        crossings = count_crossings(order, graph) if counts else -1
        if crossings < fewest:
            best, fewest = order, crossings
    ordered = _swap_neighbours(best, graph) if counts else order
    isolated = ([item for item in column if not graph.degree(item)] for column in columns)
    return [[*first, *last] for first, last in zip(ordered, isolated, strict=True)]


def count_crossings(columns: Sequence[Sequence[Item]], graph: nx.DiGraph) -> int:
    """Count the pairs of edges that cross between neighbouring columns."""
    crossings = 0
    for left, right in pairwise(columns):
        index = {item: number for number, item in enumerate(right)}
        seen: list[int] = []
        for item in left:
            ends = [index[target] for target in graph.successors(item)]
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings


def _sweep(order: list[Column], graph: nx.DiGraph, *, forward: bool) -> list[Column]:
    """Sort each column by the mean index of its neighbours in the column just sorted."""
    near = graph.predecessors if forward else graph.successors
    columns = order if forward else order[::-1]
    done = [columns[0]]
    for column in columns[1:]:
        index = {item: number for number, item in enumerate(done[-1])}
        scale = len(done[-1]) / max(len(column), 1)
        middle = {}
        for number, item in enumerate(column):
            others = [index[other] for other in near(item)]
            middle[item] = sum(others) / len(others) if others else number * scale
        done.append(sorted(column, key=middle.__getitem__))
    return done if forward else done[::-1]


def _swap_neighbours(order: list[Column], graph: nx.DiGraph) -> list[Column]:
    """Swap neighbours in a column while that removes crossings."""
    for _ in range(ORDER_SWEEPS):
        changed = False
        for number, column in enumerate(order):
            near = order[max(number - 1, 0) : number + 2]
            index = {item: i for items in near for i, item in enumerate(items)}
            for upper in range(len(column) - 1):
                first, second = column[upper : upper + 2]
                if _find_gain(first, second, graph, index) > 0:
                    column[upper : upper + 2] = second, first
                    changed = True
        if not changed:
            break
    return order


def _find_gain(first: Item, second: Item, graph: nx.DiGraph, index: dict[Item, int]) -> int:
    """The crossings that are removed if the second is above the first."""
    gain = 0
    for near in (graph.pred, graph.succ):
        if near[first] and near[second]:
            ends = ([index[other] for other in near[item]] for item in (first, second))
            gain += int(np.sign(np.subtract.outer(*ends)).sum())
    return gain


def _set_heights(
    columns: list[Column], sizes: list[list[float]], graph: nx.DiGraph, rows: float
) -> dict[Item, float]:
    """Spread each column over the rows, then move latents and bends halfway to their neighbours."""
    even: dict[Item, float] = {}
    for items, size in zip(columns, sizes, strict=True):
        ends = np.cumsum(size) - np.array(size) / 2
        even |= zip(items, (ends * rows / max(sum(size), 1e-9)).tolist(), strict=True)
    heights = dict(even)
    for _ in range(HEIGHT_SWEEPS):
        for items, size in zip(columns[1:-1], sizes[1:-1], strict=True):
            wanted = [(_find_middle(item, graph, heights) + even[item]) / 2 for item in items]
            heights |= zip(items, _keep_apart(wanted, size, rows), strict=True)
    return heights


def _find_middle(item: Item, graph: nx.DiGraph, heights: dict[Item, float]) -> float:
    """The mean of the neighbours' heights, causes and effects with equal weight."""
    sides = [
        sum(heights[other] for other in near[item]) / len(near[item])
        for near in (graph.pred, graph.succ)
        if near[item]
    ]
    return sum(sides) / len(sides) if sides else heights[item]


def _keep_apart(wanted: list[float], size: list[float], rows: float) -> list[float]:
    """The heights nearest to those wanted that keep the order and leave room for every item."""
    offset = np.cumsum(size) - np.array(size) / 2  # the highest position of each
    room = max(rows - sum(size), 0.0)
    moved = isotonic_regression(np.array(wanted) - offset).x
    heights: list[float] = (np.clip(moved, 0.0, room) + offset).tolist()
    return heights
