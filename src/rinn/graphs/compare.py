"""How close a found graph is to a true one: latents, edges, the order of causes; equality."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linear_sum_assignment

from rinn.graphs.basics import (
    by_role,
    check_acyclic,
    check_graph,
    collapse,
    find_ancestors,
    find_twins,
    reach,
    sources,
)
from rinn.graphs.protocol import Score

MAX_DIFFERENCE = 1  # outputs in which matching latents may differ
MIN_OVERLAP = 0.5  # Jaccard overlap of their outputs, so that tiny sets do not match by chance

Edge = tuple[tuple[str, str], tuple[str, str]]
Signature = tuple[list[str], list[str], list[str], str]  # outputs, inputs, neighbours, name


@dataclass(frozen=True)
class GraphScores:
    """The scores of a found graph, and which found latent is which true one.

    `shd` is the structural Hamming distance, a reversed edge counted once; `order_errors` are
    matched latents whose ancestor relation is reversed; `twins` are true latents that share their
    outputs with another, `twins_found` those with a found latent of their own.
    """

    latents: Score
    edges: Score
    latent_edges: Score
    shd: int
    order_errors: int
    pairs: tuple[tuple[str, str], ...]
    twins: int = 0
    twins_found: int = 0

    def to_json(self) -> dict[str, object]:
        """Give the scores by name."""
        scores = ("latents", "edges", "latent_edges")
        counts = ("shd", "order_errors", "twins", "twins_found")
        values: dict[str, object] = {name: getattr(self, name).to_json() for name in scores}
        return values | {name: getattr(self, name) for name in counts}


def score_graph(found: nx.DiGraph, truth: nx.DiGraph) -> GraphScores:
    """Score a found graph against a true one.

    Latents of the truth that reach the same outputs are merged first; those of the found graph
    are not, so a duplicate is a false positive. Twins (see `find_twins`) of which the found graph
    has at least two, distinguished by their inputs, stay separate if that gives the better scores.
    Only inputs and outputs of the truth count, and found latents that reach none of these outputs
    are ignored. Where there is nothing to find and nothing was found, the score is 1.

    Args:
        found: the graph to score; it is not changed.
        truth: the true graph; it is not changed.

    Returns:
        The scores.

    Raises:
        InputError: the truth is not a causal graph (see `check_graph`).

    Example:
        >>> truth = nx.DiGraph([("x0", "h"), ("h", "y0"), ("h", "y1")])
        >>> roles = {"x0": "input", "h": "latent", "y0": "output", "y1": "output"}
        >>> nx.set_node_attributes(truth, roles, "role")
        >>> found = nx.relabel_nodes(truth, {"h": "L1"})
        >>> scores = score_graph(found, truth)
        >>> scores.edges.f1, scores.shd, scores.pairs
        (1.0, 0, (('L1', 'h'),))
    """
    check_graph(truth)
    found = keep_known(found, truth)
    twins = find_twins(truth)
    matched = {outputs: _count_twins(found, truth, outputs, twins[outputs]) for outputs in twins}
    scores = _score_collapsed(found, collapse(truth))
    if apart := [outputs for outputs, count in matched.items() if count > 1]:
        other = _score_collapsed(found, collapse(truth, apart))
        scores = max(scores, other, key=lambda one: (one.latents.f1, one.edges.f1))
    number = sum(len(parts) for parts in twins.values())
    return replace(scores, twins=number, twins_found=sum(matched.values()))


def _count_twins(
    found: nx.DiGraph, truth: nx.DiGraph, outputs: frozenset[str], twins: list[frozenset[str]]
) -> int:
    """Count the twins that match a found latent each, nearer to its inputs than all twins are."""
    origins, above, reached = sources(truth), sources(found), reach(found)
    inputs = [frozenset[str]().union(*(origins[latent] for latent in twin)) for twin in twins]
    same = [above[latent] for latent in above if reached[latent] == outputs]
    if not same:
        return 0
    overlap = _overlap(inputs, same)[1]  # [twin, found]
    together = _overlap([frozenset[str]().union(*inputs)], same)[1]  # [1, found]
    fits = (overlap >= MIN_OVERLAP) & (overlap > together)
    rows, columns = linear_sum_assignment(fits, maximize=True)
    return int(fits[rows, columns].sum())


def _score_collapsed(found: nx.DiGraph, truth: nx.DiGraph) -> GraphScores:
    """Score against a truth as it is."""
    pairs = match_latents(found, truth)
    found_edges = _named_edges(found, dict(pairs))
    true_edges = _named_edges(truth, {latent: latent for latent in by_role(truth, "latent")})
    missing, extra = true_edges - found_edges, found_edges - true_edges
    turned = sum((target, source) in missing for source, target in extra)
    unmatched = len(by_role(found, "latent")) - len(pairs)
    missed = len(by_role(truth, "latent")) - len(pairs)
    in_found = _find_order(found, [other for other, _ in pairs])
    in_truth = _find_order(truth, [true for _, true in pairs])
    return GraphScores(
        latents=_score(len(pairs), unmatched, missed),
        edges=_compare(found_edges, true_edges),
        latent_edges=_compare(_between_latents(found_edges), _between_latents(true_edges)),
        shd=len(missing) + len(extra) - turned,
        order_errors=int((in_found & in_truth.T).sum()),
        pairs=tuple(pairs),
    )


def keep_known(found: nx.DiGraph, truth: nx.DiGraph) -> nx.DiGraph:
    """Keep what a truth can judge: its inputs and outputs, and latents that reach such outputs."""
    judged = {(node, role) for node, role in truth.nodes(data="role") if role != "latent"}
    part: nx.DiGraph = nx.DiGraph(found)
    part.remove_nodes_from(
        [n for n, role in found.nodes(data="role") if role != "latent" and (n, role) not in judged]
    )
    reached = reach(part)
    part.remove_nodes_from([node for node in by_role(part, "latent") if not reached[node]])
    return part


def match_latents(
    found: nx.DiGraph, truth: nx.DiGraph, *, nearest: bool = False
) -> list[tuple[str, str]]:
    """Pair found latents with true ones by what they reach and what reaches them.

    Outputs may differ in one and must overlap by half (Jaccard). Most pairs count first, then equal
    outputs, then similar inputs, then common direct edges. Names play no part but in ties. With
    `nearest`, which suits two estimates, half of the outputs or half of the direct edges must be
    the same, and the overlaps of outputs, inputs and direct edges add up.
    """
    rows, columns = _signatures(truth), _signatures(found)
    if not rows or not columns:
        return []
    gain = _find_gains(rows, columns, nearest=nearest)
    chosen = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return [(columns[j][-1], rows[i][-1]) for i, j in chosen if gain[i, j] > 0]


def _signatures(graph: nx.DiGraph) -> list[Signature]:
    """What the latents are matched by, whatever their names, in order."""
    reached, origins = reach(graph), sources(graph)
    visible = frozenset(by_role(graph, "input") + by_role(graph, "output"))
    signatures = []
    for node in by_role(graph, "latent"):
        near = visible.intersection(nx.all_neighbors(graph, node))
        signatures.append((sorted(reached[node]), sorted(origins[node]), sorted(near), node))
    return sorted(signatures)


def _find_gains(
    rows: Sequence[Signature], columns: Sequence[Signature], *, nearest: bool
) -> Float[np.ndarray, "row column"]:
    """The gain of each pair: allowed, equal outputs, inputs, direct edges, as digits."""
    base = min(len(rows), len(columns)) + 1  # more than any sum of a lower preference
    outputs, inputs, neighbours = (
        _overlap([row[part] for row in rows], [column[part] for column in columns])
        for part in range(3)
    )
    apart, overlap = outputs
    if nearest:
        gain = overlap + inputs[1] + 2 * neighbours[1]
        return np.where(np.maximum(overlap, neighbours[1]) >= MIN_OVERLAP, gain, 0.0)
    gain = ((base + (apart == 0)) * base + inputs[1]) * base + neighbours[1]
    return np.where((apart <= MAX_DIFFERENCE) & (overlap >= MIN_OVERLAP), gain, 0.0)


def _overlap(
    left: Sequence[Collection[str]], right: Sequence[Collection[str]]
) -> tuple[Float[np.ndarray, "left right"], Float[np.ndarray, "left right"]]:
    """In how many names each two sets differ, and their Jaccard overlap; 1 for two empty ones."""
    index = {name: i for i, name in enumerate(sorted(frozenset().union(*left, *right)))}
    members = []
    for sets in (left, right):
        table = np.zeros((len(sets), len(index)), np.float32)  # [set, name]
        for row, names in zip(table, sets, strict=True):
            row[[index[name] for name in names]] = 1
        members.append(table)
    one, other = members
    shared = (one @ other.T).astype(float)
    either = one.sum(axis=1, dtype=float)[:, None] + other.sum(axis=1, dtype=float) - shared
    return either - shared, np.divide(shared, either, out=np.ones_like(shared), where=either > 0)


def _named_edges(graph: nx.DiGraph, names: dict[str, str]) -> set[Edge]:
    """Write the edges with (role, id) as ends, where matched latents have their true names."""

    def end(node: str) -> tuple[str, str]:
        role = graph.nodes[node]["role"]
        if role != "latent":
            return role, node
        return (role, names[node]) if node in names else ("unmatched", node)

    return {(end(source), end(target)) for source, target in graph.edges}


def _between_latents(edges: set[Edge]) -> set[Edge]:
    latent = ("latent", "unmatched")
    return {(source, target) for source, target in edges if {source[0], target[0]} <= {*latent}}


def _compare(found: set[Edge], truth: set[Edge]) -> Score:
    return _score(len(found & truth), len(found - truth), len(truth - found))


def _score(right: int, extra: int, missed: int) -> Score:
    if right + extra + missed == 0:
        return Score(precision=1.0, recall=1.0, f1=1.0, tp=0, fp=0, fn=0)
    return Score.from_counts(right, extra, missed)


def _find_order(graph: nx.DiGraph, latents: Sequence[str]) -> Bool[np.ndarray, "latent latent"]:
    """Whether the column is an ancestor of the row."""
    index = {node: i for i, node in enumerate(graph)}
    columns = [index[latent] for latent in latents]
    ancestors = find_ancestors(graph, latents)
    rows = [np.unpackbits(ancestors[latent])[columns] for latent in latents]
    order = np.array(rows, bool).reshape(len(latents), len(latents))
    np.fill_diagonal(order, False)
    return order


def equal_graphs(left: nx.DiGraph, right: nx.DiGraph) -> bool:
    """Tell whether some renaming of latents turns one graph into the other.

    Inputs and outputs must have the same names and roles. Weights, frequencies and other
    attributes play no part.

    Args:
        left: a graph; it is not changed.
        right: a graph; it is not changed.

    Returns:
        True where nodes and edges are the same but for the latents' names.

    Raises:
        InputError: a graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> graph = paper_graph()
        >>> equal_graphs(graph, nx.relabel_nodes(graph, {"h16": "h24", "h24": "h16"}))
        True
    """
    check_acyclic(left)
    check_acyclic(right)
    (measured, latents), (others, other_latents) = _label(left), _label(right)
    return measured == others and nx.is_isomorphic(latents, other_latents, dict.__eq__)


def _label(graph: nx.DiGraph) -> tuple[set[tuple[str, str]], nx.DiGraph]:
    """Inputs and outputs with roles and edges; the latents, labelled by what ties them to these."""
    reached, origins, latents = reach(graph), sources(graph), by_role(graph, "latent")
    visible = graph.copy()
    visible.remove_nodes_from(latents)
    small: nx.DiGraph = nx.DiGraph(graph.subgraph(latents).edges)
    for node in latents:
        ends = (visible.nodes & {*near} for near in (graph.pred[node], graph.succ[node]))
        small.add_node(node, label=(*ends, origins[node], reached[node]))
    return {*visible.nodes(data="role"), *visible.edges}, small
