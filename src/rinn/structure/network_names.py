"""Names for latents: the node of a known network that lies between their inputs and outputs.

A node n is close to input i by DECAY^d(i, n), to output o by DECAY^d(n, o), with d the length of
the shortest path. With a and b the 0/1 vectors of a latent's inputs and outputs among all that are
in the network, and u and v a node's closeness to these, its score is cos(a, u) cos(b, v): 1 where
the node is close to exactly the latent's inputs and outputs, lower where it is far from some of
them or close to others too. p is the probability that the best of all nodes scores as high in a
network whose edges are permuted so that every node keeps its in- and outdegree (Maslov and Sneppen
2002; maximum over nodes: Westfall and Young 1993), q that of Benjamini and Hochberg (1995) over
latents.

The plain alternative beside it: Fisher's test of whether the pairs of input and output with a path
through the node are those that the latent joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.stats import false_discovery_control, hypergeom

from rinn.config import Stream, check_integer
from rinn.errors import InputError, quote_some
from rinn.graphs.basics import by_role, latents_in_order
from rinn.structure.network_map import NodeMatch, match_names
from rinn.structure.prior.network import Network

# Set on the simulated networks of benchmarks/bench_names.py, where .5 and .9 do little worse.
DECAY = 0.7
MAX_STEPS = 10  # further nodes are not close at all
SWAPS = 20  # proposed for each edge; more change nothing
PERMUTATIONS = 1000
ALPHA = 0.05
SAME = 1e-9  # scores that differ less are equal
MAX_NODES = 50  # of each latent, in the table
LATENT, DIRECT = "latent", "direct edges"
COLUMNS = (
    "latent", "kind", "node", "rank", "score", "p", "q", "inputs", "outputs", "fisher_p",
    "fisher_q",
)  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """What is to be named: a latent, or the direct edges of one input to several outputs."""

    name: str
    kind: str
    inputs: frozenset[str]
    outputs: frozenset[str]


@dataclass(frozen=True)
class KnownNodes:
    """The nodes of a network that lie between the inputs and outputs of latents.

    Attributes:
        table: one row for each arm and node with a score above 0, the 50 highest: latent (or the
            input, where `kind` is "direct edges"), node, rank (nodes with equal scores share one),
            score, p, q (of rank 1), inputs and outputs with the steps to them, and p and q of
            the plain test.
        arms: all latents and inputs with direct edges that could be named.
        skipped: latents without an input or output in the network.
        matches: which node each input and output is.
    """

    table: pd.DataFrame
    arms: tuple[Arm, ...]
    skipped: tuple[str, ...]
    matches: tuple[NodeMatch, ...]

    def best(self, alpha: float = ALPHA) -> list[pd.DataFrame]:
        """The rows of rank 1 of each arm; none where q is not below alpha."""
        return [
            rows[(rows["rank"] == 1) & (rows["q"] < alpha)]
            for rows in map(self.list_nodes, self.arms)
        ]

    def list_nodes(self, arm: Arm) -> pd.DataFrame:
        """The rows of one arm, the highest score first."""
        return self.table[(self.table["latent"] == arm.name) & (self.table["kind"] == arm.kind)]


def find_known_nodes(
    graph: nx.DiGraph,
    network: Network,
    matches: Sequence[NodeMatch] | None = None,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> KnownNodes:
    """Find the node of a network that lies between each latent's inputs and outputs.

    Latents have their own inputs and outputs, or all above or below where they have none. The
    direct edges of an input to at least two outputs are named too. Signs are not used: what a
    phosphorylation does to a protein is seldom in a network. Nodes that are an input or output are
    no candidates, except those that an input acts on: their activity is not measured.

    Args:
        graph: with roles.
        network: from `load_network`; its edges are directed.
        matches: which node each input and output is; by their spelling by default.
        permutations: networks with permuted edges that p is based on.
        seed: of the permutations.

    Returns:
        Scores, p and q.

    Raises:
        InputError: no input or no output is in the network.

    Example:
        >>> edges = np.array([[0, 1, 1], [1, 2, 3]])
        >>> names = ("ins", "pi3k", "akt", "gsk3")
        >>> network = Network(names, *edges, {name: i for i, name in enumerate(names)})
        >>> graph = nx.DiGraph([("INS", "L1"), ("L1", "p_AKT"), ("L1", "p_GSK3")])
        >>> roles = {"INS": "input", "L1": "latent", "p_AKT": "output", "p_GSK3": "output"}
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> found = find_known_nodes(graph, network, permutations=9)
        >>> found.table[["latent", "node", "score", "inputs"]].values.tolist()
        [['L1', 'pi3k', 1.0, 'INS 1']]
    """
    check_integer("permutations", permutations)
    matches = tuple(match_names(graph, network.names) if matches is None else matches)
    matched = [one for one in matches if one.nodes]
    inputs = [one for one in matched if one.role == "input"]
    outputs = [one for one in matched if one.role == "output"]
    if not inputs or not outputs:
        side = "outputs" if inputs else "inputs"
        missing = [one.name for one in matches if f"{one.role}s" == side]
        raise InputError(
            f"the network must have nodes for inputs and outputs, but it has none of the {side} "
            f"(such as {quote_some(missing)}; its nodes are {quote_some(network.names)}); say "
            f"which node each is with --map"
        )
    arms, skipped = _list_arms(graph, {one.name for one in matched})
    edges = np.unique(np.stack([network.sources, network.targets]), axis=1)  # [end, edge]
    edges = edges[:, edges[0] != edges[1]]
    ends = [
        [[network.index[node] for node in one.nodes] for one in side] for side in (inputs, outputs)
    ]
    members = [
        _mark(inputs, [arm.inputs for arm in arms]),
        _mark(outputs, [arm.outputs for arm in arms]),
    ]
    is_candidate = _find_candidates(inputs, outputs, network)
    near = _find_closeness(edges, len(network.names), ends)
    scores = _score(near, members, is_candidate)  # [arm, node]
    rng = np.random.default_rng([seed, Stream.REWIRED])
    higher = np.ones(scores.shape)  # the network itself is one of the permutations
    for _ in range(permutations if arms else 0):
        other = _find_closeness(permute_edges(rng, edges), len(network.names), ends)
        maximum = _score(other, members, is_candidate).max(axis=1, initial=0.0)
        higher += maximum[:, None] >= scores - SAME
    fisher = _test_reach(near, members, is_candidate)
    p = higher / (permutations + 1)
    table = _make_table(arms, network, near, (inputs, outputs), scores, p, fisher)
    return KnownNodes(table, tuple(arms), tuple(skipped), matches)


def permute_edges(
    rng: np.random.Generator, edges: Int[np.ndarray, "2 edge"]
) -> Int[np.ndarray, "2 edge"]:
    """Swap the targets of random pairs of edges; every node keeps its in- and outdegree.

    No edge is made twice, and none joins a node to itself.
    """
    sources, targets = edges[0], edges[1].copy()
    number, half = edges.max(initial=0) + 1, edges.shape[1] // 2
    for _ in range(SWAPS):
        order = rng.permutation(edges.shape[1])
        first, second = order[:half], order[half : 2 * half]
        made = np.stack([sources[[first, second]], targets[[second, first]]])  # [end, side, pair]
        codes = np.concatenate([sources * number + targets, (made[0] * number + made[1]).ravel()])
        _, place, count = np.unique(codes, return_inverse=True, return_counts=True)
        is_new = (count[place][edges.shape[1] :] == 1).reshape(2, half)
        swap = (is_new & (made[0] != made[1])).all(axis=0)
        first, second = first[swap], second[swap]
        targets[first], targets[second] = targets[second], targets[first]
    return np.stack([sources, targets])


def _list_arms(graph: nx.DiGraph, matched: set[str]) -> tuple[list[Arm], list[str]]:
    """The latents and direct edges with an input and an output in the network; other latents."""
    inputs, outputs = (matched.intersection(by_role(graph, role)) for role in ("input", "output"))
    arms, skipped = [], []
    for latent in latents_in_order(graph):
        above = inputs.intersection(graph.pred[latent]) or inputs & nx.ancestors(graph, latent)
        below = outputs.intersection(graph.succ[latent]) or outputs & nx.descendants(graph, latent)
        if above and below:
            arms.append(Arm(latent, LATENT, frozenset(above), frozenset(below)))
        else:
            skipped.append(latent)
    for name in by_role(graph, "input"):
        direct = [node for node in graph.succ[name] if graph.nodes[node]["role"] == "output"]
        if name in inputs and len(direct) > 1 and outputs.intersection(direct):
            known = frozenset(outputs.intersection(direct))
            arms.append(Arm(name, DIRECT, frozenset({name}), known))
    return arms, skipped


def _mark(
    ends: Sequence[NodeMatch], sets: Sequence[frozenset[str]]
) -> Float[np.ndarray, "arm end"]:
    """Which of the inputs, or outputs, each arm has."""
    marks = [[float(one.name in names) for one in ends] for names in sets]
    return np.array(marks).reshape(len(sets), len(ends))


def _find_candidates(
    inputs: Sequence[NodeMatch], outputs: Sequence[NodeMatch], network: Network
) -> Bool[np.ndarray, " node"]:
    result = np.ones(len(network.names), bool)
    for one in (*outputs, *inputs):
        for node in one.nodes:
            result[network.index[node]] = False
    for one in inputs:
        for node in one.nodes if one.action else ():
            result[network.index[node]] = True
    return result


def _find_closeness(
    edges: Int[np.ndarray, "2 edge"], number: int, ends: Sequence[Sequence[Sequence[int]]]
) -> list[Float[np.ndarray, "node end"]]:
    """How close each node is to each input, along the edges, and to each output, against them."""
    result = []
    for (source, target), groups in zip((edges, edges[::-1]), ends, strict=True):
        ones = np.ones(len(source), np.float32)
        matrix = sparse.csr_array((ones, (target, source)), shape=(number, number))
        reached = np.zeros((number, len(groups)), bool)
        for column, nodes in enumerate(groups):
            reached[nodes, column] = True
        near, last = reached.astype(float), reached
        for step in range(1, MAX_STEPS + 1):
            last = (matrix @ last.astype(np.float32) > 0) & ~reached
            if not last.any():
                break
            near[last] = DECAY**step
            reached = reached | last
        result.append(near)
    return result


def _score(
    near: Sequence[Float[np.ndarray, "node end"]],
    members: Sequence[Float[np.ndarray, "arm end"]],
    is_candidate: Bool[np.ndarray, " node"],
) -> Float[np.ndarray, "arm node"]:
    result = is_candidate.astype(float)
    for side, sets in zip(near, members, strict=True):
        lengths = np.linalg.norm(sets, axis=1)[:, None] * np.linalg.norm(side, axis=1)
        result = result * np.divide(sets @ side.T, lengths, where=lengths > 0, out=0 * lengths)
    return result


def _test_reach(
    near: Sequence[Float[np.ndarray, "node end"]],
    members: Sequence[Float[np.ndarray, "arm end"]],
    is_candidate: Bool[np.ndarray, " node"],
) -> Float[np.ndarray, "2 arm node"]:
    """Test with Fisher's test whether a latent joins the pairs with a path through a node: p, q."""
    reached = [(side > 0).astype(float) for side in near]
    total = near[0].shape[1] * near[1].shape[1]
    through = np.prod([side.sum(axis=1) for side in reached], axis=0)  # [node]
    joined = np.prod([sets.sum(axis=1) for sets in members], axis=0)  # [arm]
    both = np.prod([s @ r.T for s, r in zip(members, reached, strict=True)], axis=0)  # [arm, node]
    p = np.minimum(hypergeom.sf(both - 1, total, through, joined[:, None]), 1.0)
    q = np.ones(p.shape)
    tested = p[:, is_candidate]
    if tested.size:
        q[:, is_candidate] = false_discovery_control(tested.ravel()).reshape(tested.shape)
    return np.stack([p, q])


def _make_table(
    arms: Sequence[Arm],
    network: Network,
    near: Sequence[Float[np.ndarray, "node end"]],
    ends: tuple[Sequence[NodeMatch], Sequence[NodeMatch]],
    scores: Float[np.ndarray, "arm node"],
    p: Float[np.ndarray, "arm node"],
    fisher: Float[np.ndarray, "2 arm node"],
) -> pd.DataFrame:
    q = false_discovery_control(p.min(axis=1)) if arms else ()
    rows = []
    for number, (arm, values) in enumerate(zip(arms, scores, strict=True)):
        for node in np.argsort(-values, kind="stable")[: min(MAX_NODES, (values > 0).sum())]:
            rank = 1 + int((values > values[node] + SAME).sum())
            own_q = q[number] if rank == 1 else np.nan
            above = _list_steps(near[0][node], ends[0], arm.inputs)
            below = _list_steps(near[1][node], ends[1], arm.outputs)
            found = values[node], p[number, node], own_q, above, below, *fisher[:, number, node]
            rows.append((arm.name, arm.kind, network.names[node], rank, *found))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _list_steps(
    near: Float[np.ndarray, " end"], ends: Sequence[NodeMatch], names: frozenset[str]
) -> str:
    """The steps between a node and each input, or output, of a latent."""
    steps = {
        one.name: str(round(np.log(value) / np.log(DECAY))) if value > 0 else "-"
        for one, value in zip(ends, near, strict=True)
        if one.name in names
    }
    return ";".join(f"{name} {steps[name]}" for name in sorted(names))
