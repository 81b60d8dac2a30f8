"""How close a found graph is to a true one: latents, edges, and the order of causes."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment

from rinn.graphs import by_role, check_graph, collapse, reach, sources
from rinn.scoring import Score

MAX_DIFFERENCE = 1  # outputs in which matching latents may differ
MIN_OVERLAP = 0.5  # Jaccard overlap of their outputs, so that tiny sets do not match by chance

Edge = tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class GraphScores:
    """The scores of a found graph, and which found latent is which true one.

    `edges` counts every directed edge, `latent_edges` those between latents. `shd` is the
    structural Hamming distance: missing and extra edges, a reversed one counted once.
    `order_errors` counts the pairs of matched latents whose ancestor relation is reversed.
    """

    latents: Score
    edges: Score
    latent_edges: Score
    shd: int
    order_errors: int
    pairs: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Give the scores by name."""
        return {
            "latents": self.latents.to_json(),
            "edges": self.edges.to_json(),
            "latent_edges": self.latent_edges.to_json(),
            "shd": self.shd,
            "order_errors": self.order_errors,
        }


@dataclass(frozen=True)
class _Signature:
    """What a latent is known by, whatever its name."""

    name: str
    outputs: frozenset[str]
    inputs: frozenset[str]
    neighbours: frozenset[str]


def score_graph(found: nx.DiGraph, truth: nx.DiGraph) -> GraphScores:
    """Score a found graph against a true one.

    Latents of the truth that reach the same outputs are indistinguishable and are made one first;
    those of the found graph are not, so a duplicate is a false positive. Only inputs and outputs
    that the truth knows count, and found latents that reach none of these outputs are ignored.
    Where there is nothing to find and nothing was found, the score is 1.

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
    truth = collapse(truth)
    found = keep_known(found, truth)
    pairs = match_latents(found, truth)
    found_edges = _named_edges(found, dict(pairs))
    true_edges = _named_edges(truth, {latent: latent for latent in by_role(truth, "latent")})
    missing, extra = true_edges - found_edges, found_edges - true_edges
    turned = sum((target, source) in missing for source, target in extra)
    unmatched = len(by_role(found, "latent")) - len(pairs)
    missed = len(by_role(truth, "latent")) - len(pairs)
    return GraphScores(
        latents=_score(len(pairs), unmatched, missed),
        edges=_compare(found_edges, true_edges),
        latent_edges=_compare(_between_latents(found_edges), _between_latents(true_edges)),
        shd=len(missing) + len(extra) - turned,
        order_errors=_order_errors(found, truth, pairs),
        pairs=tuple(pairs),
    )


def keep_known(found: nx.DiGraph, truth: nx.DiGraph) -> nx.DiGraph:
    """Keep what a truth can judge: inputs and outputs it knows, latents that reach such outputs.

    Args:
        found: the found graph; it is not changed.
        truth: the true graph.

    Returns:
        A new graph, its nodes in the same order.

    Example:
        >>> truth = nx.DiGraph([("x0", "h"), ("h", "y0")])
        >>> nx.set_node_attributes(truth, {"x0": "input", "h": "latent", "y0": "output"}, "role")
        >>> found = nx.relabel_nodes(truth, {"x0": "x1", "h": "L1"})
        >>> list(keep_known(found, truth))
        ['L1', 'y0']
    """
    known = {(node, role) for node, role in truth.nodes(data="role") if role != "latent"}
    part: nx.DiGraph = nx.DiGraph(found)
    part.remove_nodes_from(
        [n for n, role in found.nodes(data="role") if role != "latent" and (n, role) not in known]
    )
    reached = reach(part)
    part.remove_nodes_from([node for node in by_role(part, "latent") if not reached[node]])
    return part


def match_latents(found: nx.DiGraph, truth: nx.DiGraph) -> list[tuple[str, str]]:
    """Pair found latents with true ones by what they reach and what reaches them.

    Two latents may pair when the outputs they reach differ in at most one and overlap by at least
    half (Jaccard). Of all assignments the one with the most pairs is taken, among those the one
    with the most equal sets of outputs, then with the most similar sets of ancestor inputs, then
    with the most direct edges in common. Names of latents play no part, unless two latents of one
    graph agree in all of this.

    Args:
        found: the found graph.
        truth: the true graph.

    Returns:
        Pairs (found latent, true latent), in the order of the true latents' outputs.

    Example:
        >>> truth = nx.DiGraph([("h", "y0"), ("h", "y1"), ("h", "y2")])
        >>> roles = {"h": "latent"} | {f"y{i}": "output" for i in range(3)}
        >>> nx.set_node_attributes(truth, roles, "role")
        >>> match_latents(nx.relabel_nodes(truth, {"h": "L7"}), truth)
        [('L7', 'h')]
    """
    rows, columns = _signatures(truth), _signatures(found)
    base = min(len(rows), len(columns)) + 1  # more than any sum of a lower preference
    gain = np.array([[_gain(true, other, base) for other in columns] for true in rows])
    if gain.size == 0:
        return []
    chosen = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return [(columns[j].name, rows[i].name) for i, j in chosen if gain[i, j] > 0]


def _signatures(graph: nx.DiGraph) -> list[_Signature]:
    """Describe the latents, sorted by what they are known by."""
    reached, origins = reach(graph), sources(graph)
    visible = frozenset(by_role(graph, "input") + by_role(graph, "output"))
    signatures = [
        _Signature(
            node, reached[node], origins[node], visible.intersection(nx.all_neighbors(graph, node))
        )
        for node in by_role(graph, "latent")
    ]
    return sorted(
        signatures,
        key=lambda s: (sorted(s.outputs), sorted(s.inputs), sorted(s.neighbours), s.name),
    )


def _gain(true: _Signature, other: _Signature, base: int) -> float:
    """Say how good a pair is, in base `base`: allowed, equal outputs, inputs, direct edges."""
    apart = len(true.outputs ^ other.outputs)
    if apart > MAX_DIFFERENCE or _jaccard(true.outputs, other.outputs) < MIN_OVERLAP:
        return 0.0
    inputs = _jaccard(true.inputs, other.inputs)
    neighbours = _jaccard(true.neighbours, other.neighbours)
    return ((base + (apart == 0)) * base + inputs) * base + neighbours


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 1.0


def _named_edges(graph: nx.DiGraph, names: dict[str, str]) -> set[Edge]:
    """Write the edges with (role, id) as ends, where matched latents bear their true names."""

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


def _order_errors(found: nx.DiGraph, truth: nx.DiGraph, pairs: list[tuple[str, str]]) -> int:
    found_name = {true: other for other, true in pairs}
    above = {true: nx.ancestors(found, other) for other, true in pairs}
    return sum(
        found_name[below] in above[true]
        for true in found_name
        for below in found_name.keys() & nx.descendants(truth, true)
    )
