"""What the pictures show, as records; the HTML report and the Matplotlib figures draw these."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from rinn.config import MAX_INTEGER, NEAREST, check_integer
from rinn.errors import InputError, clip
from rinn.graphs.basics import ROLES, by_role, check_graph, check_roles, collapse
from rinn.graphs.compare import keep_known, match_latents
from rinn.graphs.files import ORIGIN
from rinn.graphs.layout import find_folds
from rinn.nets.selection import average_splits
from rinn.structure.records import FORCED, PRIOR

MAX_OPEN = 40  # inputs or outputs with an edge; more are folded where that helps
MAX_FOLDED = 12  # letters of the name of a folded node
ALL_DRAWN = 40  # of a role with more nodes, those without an edge are not drawn
UNKNOWN_WIDTH = 0.3  # of edges of a kind that has no weights
FAINT = 0.05  # fraction of the largest effect up to which a node has none
TRIAL_COLUMNS = ("setting", "sum_abs_weights", "validation_loss", "distance", "kept")
CURVE_COLUMNS = ("trial", "epoch", "train_loss", "validation_loss")
DECADES = 20.0  # largest over smallest loss beyond which the axis is logarithmic
RIGHT, MISSED, EXTRA, UNJUDGED = "right", "missed", "extra", "unjudged"

Edge = tuple[str, str]


@dataclass(frozen=True)
class EdgeInfo:
    """An edge; `width` is |weight| over the largest between these roles, `sign` 1, -1 or 0."""

    source: str
    target: str
    weight: float | None
    frequency: float | None
    width: float
    sign: int
    from_prior: bool


@dataclass(frozen=True)
class GraphInfo:
    """The part of a graph that is drawn, and counts by role of the nodes that are left out.

    `folds` are inputs or outputs that are drawn as one, by the node that stands for them.
    """

    graph: nx.DiGraph
    edges: tuple[EdgeInfo, ...]
    without_edge: dict[str, int]
    weaker: dict[str, int]
    edges_left_out: int
    folds: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """Say what is not drawn; empty where everything is."""
        groups = ((self.without_edge, "without an edge"), (self.weaker, "with weaker edges"))
        parts = [
            f"{count:,} {role}{'s' * (count > 1)} {why}"
            for counts, why in groups
            for role, count in counts.items()
        ]
        theirs = f" and their {self.edges_left_out} edges" if self.edges_left_out else ""
        left_out = f"Not drawn: {', '.join(parts)}{theirs}." if parts else ""
        same = "Inputs, or outputs, with the same edges and signs are drawn as one."
        return f"{left_out} {same if self.folds else ''}".strip()

    @property
    def labels(self) -> dict[str, str]:
        """The names of folded nodes, with how many more they stand for."""
        return {
            first: f"{clip(first, MAX_FOLDED)} + {len(names) - 1} more"
            for first, names in self.folds.items()
        }


def graph_info(
    graph: nx.DiGraph, *, max_drawn: int = MAX_INTEGER, folded: bool = False
) -> GraphInfo:
    """Choose what of a graph is drawn: of a role with many nodes those with the strongest edges."""
    check_integer("max_drawn", max_drawn)
    check_roles(graph)
    folds = find_folds(graph) if folded else {}
    hidden = {name for first, names in folds.items() for name in names if name != first}
    graph = take_nodes(graph, set(graph) - hidden) if folds else graph
    chosen = {node for role in ROLES for node in _choose(graph, role, max_drawn)}
    part = take_nodes(graph, chosen)
    missing = [node for node in graph if node not in chosen]
    role = dict(graph.nodes(data="role"))
    return GraphInfo(
        graph=part,
        edges=edges_info(part),
        without_edge=dict(Counter(role[node] for node in missing if not graph.degree(node))),
        weaker=dict(Counter(role[node] for node in missing if graph.degree(node))),
        edges_left_out=graph.number_of_edges() - part.number_of_edges(),
        folds=folds,
    )


def should_fold(graph: nx.DiGraph) -> bool:
    """Whether a graph has so many inputs or outputs with edges that it is drawn folded at first."""
    sides = ([n for n in by_role(graph, role) if graph.degree(n)] for role in ("input", "output"))
    return max(map(len, sides)) > MAX_OPEN and bool(find_folds(graph))


def _choose(graph: nx.DiGraph, role: str, max_drawn: int) -> list[str]:
    names = by_role(graph, role)
    if len(names) <= min(ALL_DRAWN, max_drawn):
        return names
    names = [name for name in names if graph.degree(name)]
    if len(names) <= max_drawn:
        return names
    return sorted(names, key=lambda name: -_find_strongest(graph, name))[:max_drawn]


def _find_strongest(graph: nx.DiGraph, node: str) -> float:
    edges = [*graph.in_edges(node, data="weight"), *graph.out_edges(node, data="weight")]
    return max(abs(_number(weight) or 0.0) for *_, weight in edges)


def take_nodes(graph: nx.DiGraph, nodes: Container[str]) -> nx.DiGraph:
    """Take a part of a graph in its own order; that of nx.subgraph changes between processes."""
    part: nx.DiGraph = nx.DiGraph()
    part.add_nodes_from((node, about) for node, about in graph.nodes(data=True) if node in nodes)
    part.add_edges_from(e for e in graph.edges(data=True) if e[0] in part and e[1] in part)
    return part


def edges_info(graph: nx.DiGraph) -> tuple[EdgeInfo, ...]:
    """Compute the looks of all edges, in the graph's order."""
    role = dict(graph.nodes(data="role"))
    weights = {(a, b): _number(values.get("weight")) for a, b, values in graph.edges(data=True)}
    strongest: dict[tuple[str, str], float] = {}
    for (source, target), weight in weights.items():
        kind = role[source], role[target]
        strongest[kind] = max(strongest.get(kind, 0.0), abs(weight or 0.0))
    infos = []
    for source, target, values in graph.edges(data=True):
        weight, largest = weights[source, target], strongest[role[source], role[target]]
        width = abs(weight or 0.0) / largest if largest else UNKNOWN_WIDTH
        looks = _number(values.get("frequency")), width, int(np.sign(weight or 0.0))
        from_prior = values.get(ORIGIN) in (PRIOR, FORCED)
        infos.append(EdgeInfo(source, target, weight, *looks, from_prior))
    return tuple(infos)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


@dataclass(frozen=True)
class ComparisonInfo:
    """A found and a true graph as one, where matched latents have their found names.

    `kind` of edges and latents is right, missed, extra, or unjudged where the truth lacks a column.
    `labels` name a matched latent true = found; `backward` edges are extra ones that close a cycle.
    """

    graph: nx.DiGraph
    labels: dict[str, str]
    backward: frozenset[Edge]

    @property
    def judged(self) -> nx.DiGraph:
        """The graph without what is unjudged."""
        kinds = self.graph.nodes(data="kind")
        part = take_nodes(self.graph, {node for node, kind in kinds if kind != UNJUDGED})
        part.remove_edges_from([e for e in part.edges if part.edges[e]["kind"] == UNJUDGED])
        return part

    def count_edges(self, kind: str) -> int:
        """Count the edges of a kind."""
        return sum(about["kind"] == kind for *_, about in self.graph.edges(data=True))

    def count_latents(self, kind: str) -> int:
        """Count the latents of a kind."""
        return sum(self.graph.nodes[name]["kind"] == kind for name in by_role(self.graph, "latent"))


def comparison_info(found: nx.DiGraph, truth: nx.DiGraph) -> ComparisonInfo:
    """Match the latents of two graphs and compare their edges, as `score_graph` does."""
    check_graph(found)
    check_graph(truth)
    truth = collapse(truth)
    taken = {node for node, role in truth.nodes(data="role") if role != "latent"}
    clashing = [latent for latent in by_role(found, "latent") if latent in taken]
    found = nx.relabel_nodes(found, {latent: _free_name(latent, taken) for latent in clashing})
    judged = keep_known(found, truth)
    names = {true: name for name, true in match_latents(judged, truth)}
    labels = {name: f"{true} = {name}" for true, name in names.items()}
    taken |= set(found)
    for latent in by_role(truth, "latent"):
        if latent not in names:
            names[latent] = _free_name(latent, taken)
            labels[names[latent]] = latent
    truth = nx.relabel_nodes(truth, names)
    both: nx.DiGraph = nx.DiGraph()
    for graph in (truth, found):
        both.add_nodes_from((node, {"role": role}) for node, role in graph.nodes(data="role"))
    for node, about in both.nodes(data=True):
        if node not in truth and node not in judged:
            about["kind"] = UNJUDGED
        elif about["role"] == "latent":
            about["kind"] = EXTRA if node not in truth else RIGHT if node in found else MISSED
    for edge in truth.edges:
        both.add_edge(*edge, kind=RIGHT if judged.has_edge(*edge) else MISSED)
    forward: nx.DiGraph = nx.DiGraph(truth.edges)
    forward.add_nodes_from(both)
    backward = set()
    for source, target in found.edges:
        if truth.has_edge(source, target):
            continue
        both.add_edge(source, target, kind=EXTRA if judged.has_edge(source, target) else UNJUDGED)
        if nx.has_path(forward, target, source):
            backward.add((source, target))
        else:
            forward.add_edge(source, target)
    return ComparisonInfo(both, labels, frozenset(backward))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


@dataclass(frozen=True)
class SelectionInfo:
    """Every network that did not diverge; `loss` is the mean of its setting over the splits.

    `distance` is the paper's, from `origin` in units of `scale`; not finite beyond the quantile.
    """

    trial: Int[np.ndarray, " net"]
    size: Float[np.ndarray, " net"]
    loss: Float[np.ndarray, " net"]
    distance: Float[np.ndarray, " net"]
    kept: Bool[np.ndarray, " net"]
    nearest: Bool[np.ndarray, " net"]
    origin: tuple[float, float]
    scale: tuple[float, float]
    diverged: int

    @property
    def same(self) -> bool:
        """Whether the kept networks are the ones that the paper's distance chooses."""
        return bool((self.kept == self.nearest).all())


def selection_info(trials: pd.DataFrame) -> SelectionInfo:
    """Compute from trials.csv which networks were kept among all."""
    _check_columns("trials", trials, TRIAL_COLUMNS)
    size, loss, distance = (trials[name].to_numpy(float) for name in TRIAL_COLUMNS[1:4])
    loss = average_splits(loss, trials["setting"].to_numpy(int))
    finite = np.isfinite(size) & np.isfinite(loss)
    if not finite.any():
        raise InputError("trials must hold a network that did not diverge, but all did")
    size, loss, distance = size[finite], loss[finite], distance[finite]
    near = np.isfinite(distance)
    chosen = np.zeros(len(size), bool)
    chosen[np.argsort(np.where(near, distance, np.inf), kind="stable")[:NEAREST]] = True
    among = near if near.any() else np.ones_like(near)
    spans = [(float(axis[among].min()), float(np.ptp(axis[among])) or 1.0) for axis in (size, loss)]
    return SelectionInfo(
        trial=np.asarray(trials.get("trial", trials.index), int)[finite],
        size=size,
        loss=loss,
        distance=distance,
        kept=trials["kept"].to_numpy(bool)[finite],
        nearest=chosen & near,
        origin=(spans[0][0], spans[1][0]),
        scale=(spans[0][1], spans[1][1]),
        diverged=int((~finite).sum()),
    )


def _check_columns(name: str, table: pd.DataFrame, columns: Sequence[str]) -> None:
    if missing := [column for column in columns if column not in table]:
        raise InputError(
            f"{name} must have the columns {', '.join(columns)}, but {missing[0]!r} is missing; "
            f"give the table of a finished run"
        )


@dataclass(frozen=True)
class Curve:
    """The losses of one network, in the order of its epochs; NaN where none was measured."""

    trial: int
    epoch: Int[np.ndarray, " epoch"]
    train: Float[np.ndarray, " epoch"]
    validation: Float[np.ndarray, " epoch"]


@dataclass(frozen=True)
class CurvesInfo:
    """The curves, and the median over networks; one that has stopped stays at its last loss."""

    curves: tuple[Curve, ...]
    epoch: Int[np.ndarray, " epoch"]
    train: Float[np.ndarray, " epoch"]
    validation: Float[np.ndarray, " epoch"]
    logarithmic: bool


def curves_info(table: pd.DataFrame) -> CurvesInfo:
    """Compute the learning curves of networks from a table, such as a run's curves.csv."""
    _check_columns("table", table, CURVE_COLUMNS)
    table = table.replace([np.inf, -np.inf], np.nan).dropna(subset=["trial", "epoch"])
    table = table.astype({"trial": int, "epoch": int})
    curves = []
    for trial, part in table.sort_values("epoch", kind="stable").groupby("trial"):
        epoch, train, validation = (part[name].to_numpy(float) for name in CURVE_COLUMNS[1:])
        if np.isfinite(validation).any():
            curves.append(Curve(int(str(trial)), epoch.astype(int), train, validation))
    if not curves:
        raise InputError("table must hold losses that are finite, but there is none in it")
    shown = table[table["trial"].isin([curve.trial for curve in curves])]
    wide = shown.pivot_table(index="epoch", columns="trial", values=list(CURVE_COLUMNS[2:]),
                             dropna=False).sort_index().ffill()  # fmt: skip
    train, validation = (
        pd.DataFrame(wide[name]).median(axis=1).to_numpy(float) for name in CURVE_COLUMNS[2:]
    )
    losses = shown[list(CURVE_COLUMNS[2:])].to_numpy(float)
    lowest, highest = np.nanmin(losses), np.nanmax(losses)
    is_wide = bool(lowest > 0 and highest > DECADES * lowest)
    return CurvesInfo(tuple(curves), wide.index.to_numpy(int), train, validation, is_wide)


def find_active(maps: Float[np.ndarray, "... output"], most: float) -> Bool[np.ndarray, "..."]:
    """Tell the nodes with an effect on some output from those near zero."""
    return np.abs(maps).max(axis=-1) > FAINT * most


def grid_shape(cells: int) -> tuple[int, int]:
    """Columns and rows of a near-square grid."""
    columns = max(1, math.ceil(math.sqrt(cells)))
    return columns, max(1, math.ceil(cells / columns))
