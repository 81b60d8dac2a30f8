"""Maps of the kept networks to one latent graph, without sight of any truth.

A first rule: what each hidden node does is measured in units of the data, turned into a set of
outputs, and put to the vote over the networks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float

from rinn.graphs import name_latents
from rinn.maps import NetMaps

RELATIVE = 0.2
FAINT = 0.05
SHARE = 0.4
TOLERANCE = 1

Pattern = frozenset[int]


@dataclass(frozen=True)
class NetView:
    """What one network says: its maps and the spread of its hidden nodes over the samples."""

    maps: NetMaps
    spread: Float[np.ndarray, "layer hidden"]


@dataclass(frozen=True)
class Member:
    """A hidden node that stands for a latent: which network, where, and its orientation."""

    net: int
    layer: int
    hidden: int
    sign: int


@dataclass(frozen=True)
class LatentGraph:
    """The graph, and for each latent the hidden nodes that were counted as it."""

    graph: nx.DiGraph
    members: dict[str, tuple[Member, ...]]


@dataclass(frozen=True)
class _Latent:
    """A latent before it has a name: what it reaches, who says so, and its mean effect."""

    pattern: Pattern
    members: tuple[Member, ...]
    frequency: float
    effect: Float[np.ndarray, " output"]


@dataclass(frozen=True)
class _Votes:
    """What the networks say of the inputs."""

    effects: Float[np.ndarray, "net input output"]
    shown: Bool[np.ndarray, "net input output"]

    def reach(self, i: int) -> Pattern:
        """The outputs that an input reaches in most networks."""
        return frozenset(np.flatnonzero(self.shown[:, i].mean(axis=0) > 0.5).tolist())

    def frequency(self, i: int, pattern: Pattern) -> float:
        """The share of networks in which an input reaches all of a pattern but one at most."""
        hits = self.shown[:, i, sorted(pattern)].sum(axis=1)
        return float(np.mean(hits >= len(pattern) - TOLERANCE))


def build_graph(
    views: Sequence[NetView],
    x_spread: Float[np.ndarray, " input"],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LatentGraph:
    """Build one latent graph from several networks.

    Each hidden node's map is weighted by the standard deviation of its activity; outputs above a
    fifth of the node's largest effect are its pattern. Patterns that at least 40 % of the
    networks share are latents. So are sets of outputs that several inputs share, where a latent
    between them saves edges. Inputs are joined to the latents that their voted outputs call for,
    latents to the latents whose patterns lie within theirs, and to the outputs left over.

    Networks that know nothing of the inputs leave them without an edge.

    Args:
        views: the kept networks.
        x_spread: standard deviation of each input in the networks' units.
        inputs: names.
        outputs: names.

    Returns:
        The graph: nodes with `role`; latents with `frequency` and `effects`, how much each output
        that they reach moves with them; edges with `weight` (effect in standard deviations, or
        logits for binary outputs) and `frequency`.
    """
    votes = _vote_inputs(views, x_spread)
    nodes = _collect_nodes(views)
    found = {p: m for p, m in nodes.items() if len(m) >= SHARE * len(views)}
    latents = [_from_nodes(pattern, members, views) for pattern, members in found.items()]
    latents += _from_inputs(votes, nodes, list(found), views)
    wanted = [_cover(votes.reach(i), latents) for i in range(votes.effects.shape[1])]
    latents = sorted(latents, key=_causal_order)
    if wanted:
        latents = _keep_reached(latents, wanted)
    given = name_latents(len(latents), {*inputs, *outputs})
    names = {latent.pattern: name for latent, name in zip(latents, given, strict=True)}
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((name, {"role": "input"}) for name in inputs)
    for latent in latents:
        effects = {outputs[o]: float(latent.effect[o]) for o in sorted(latent.pattern)}
        about = {"role": "latent", "frequency": latent.frequency, "effects": effects}
        graph.add_node(names[latent.pattern], **about)
    graph.add_nodes_from((name, {"role": "output"}) for name in outputs)
    for i, chosen in enumerate(wanted):
        for latent in chosen:
            where = sorted(latent.pattern)
            weight = np.mean(votes.effects[:, i, where] * np.sign(latent.effect[where]))
            share = votes.frequency(i, latent.pattern)
            graph.add_edge(inputs[i], names[latent.pattern], weight=float(weight), frequency=share)
    for latent in latents:
        _join_below(graph, latent, latents, names, outputs)
    return LatentGraph(graph, {names[latent.pattern]: latent.members for latent in latents})


def _vote_inputs(views: Sequence[NetView], x_spread: Float[np.ndarray, " input"]) -> _Votes:
    effects = np.stack(
        [view.maps.inputs * x_spread[: len(view.maps.inputs), None] for view in views]
    )  # [net, input, output]
    shown = [_binarise(effect, FAINT * np.abs(effect).max(initial=0.0)) for effect in effects]
    return _Votes(effects, np.stack(shown))


def _binarise(
    effects: Float[np.ndarray, "... output"], floor: float
) -> Bool[np.ndarray, "... output"]:
    """Outputs above a fifth of the node's own largest effect; none for nodes below `floor`."""
    size = np.abs(effects)
    most = size.max(axis=-1, keepdims=True)
    return (size > RELATIVE * most) & (most > floor)


def _influence(view: NetView) -> Float[np.ndarray, "layer hidden output"]:
    return view.maps.hidden * view.spread[:, :, None]


def _collect_nodes(views: Sequence[NetView]) -> dict[Pattern, tuple[Member, ...]]:
    """Every pattern of every network, with the strongest node of each network that has it."""
    found: dict[Pattern, list[Member]] = defaultdict(list)
    for net, view in enumerate(views):
        influence = _influence(view)
        size = np.abs(influence).max(axis=2)
        bits = _binarise(influence, FAINT * size.max())
        strongest: dict[Pattern, tuple[int, int]] = {}
        for layer, hidden in np.argwhere(bits.any(axis=2)):
            pattern = frozenset(np.flatnonzero(bits[layer, hidden]).tolist())
            best = strongest.get(pattern)
            if best is None or size[layer, hidden] > size[best]:
                strongest[pattern] = (int(layer), int(hidden))
        for pattern, (layer, hidden) in strongest.items():
            sign = 1 if influence[layer, hidden].sum() >= 0 else -1
            found[pattern].append(Member(net, layer, hidden, sign))
    return {pattern: tuple(members) for pattern, members in found.items()}


def _from_nodes(pattern: Pattern, members: tuple[Member, ...], views: Sequence[NetView]) -> _Latent:
    effects = [m.sign * _influence(views[m.net])[m.layer, m.hidden] for m in members]
    return _Latent(pattern, members, len(members) / len(views), np.mean(effects, axis=0))


def _from_inputs(
    votes: _Votes,
    nodes: dict[Pattern, tuple[Member, ...]],
    known: Sequence[Pattern],
    views: Sequence[NetView],
) -> list[_Latent]:
    """Latents that no node shows often enough, but several inputs call for.

    k inputs that reach the same outputs through c latents or outputs cost k c edges without a
    latent between them, and k + c with it.
    """
    groups: dict[Pattern, list[int]] = defaultdict(list)
    for i in range(votes.effects.shape[1]):
        groups[votes.reach(i)].append(i)
    latents = []
    for pattern, members in groups.items():
        if not pattern or any(len(pattern ^ other) <= TOLERANCE for other in known):
            continue
        below = _greedy_cover(pattern, [other for other in known if other < pattern])
        children = len(below) + len(pattern - frozenset().union(*below))
        if len(members) * children <= len(members) + children:
            continue
        effect = votes.effects[:, members].mean(axis=(0, 1))
        frequency = float(np.mean([votes.frequency(i, pattern) for i in members]))
        latents.append(_Latent(pattern, nodes.get(pattern, ()), frequency, effect))
    return latents


def _cover(wanted: Pattern, latents: Sequence[_Latent]) -> list[_Latent]:
    """The latents that an input acts on: one whose pattern is its own, else a cover of it."""
    if not wanted:
        return []
    near = [latent for latent in latents if len(latent.pattern ^ wanted) <= TOLERANCE]
    if near:
        return [min(near, key=lambda n: (len(n.pattern ^ wanted), -n.frequency, sorted(n.pattern)))]
    within = {n.pattern: n for n in latents if len(n.pattern - wanted) <= TOLERANCE}
    return [within[pattern] for pattern in _greedy_cover(wanted, list(within))]


def _greedy_cover(wanted: Pattern, patterns: Sequence[Pattern]) -> list[Pattern]:
    """Patterns that each add at least two outputs, the one that adds most first."""
    chosen: list[Pattern] = []
    left = set(wanted)
    while patterns:
        best = max(patterns, key=lambda p: (len(p & left), -len(p), sorted(p)))
        if len(best & left) < 2:
            break
        chosen.append(best)
        left -= best
    return chosen


def _causal_order(latent: _Latent) -> tuple[int, list[int]]:
    """A pattern comes before those within it."""
    return -len(latent.pattern), sorted(latent.pattern)


def _children(latent: _Latent, latents: Sequence[_Latent]) -> list[_Latent]:
    within = {other.pattern: other for other in latents if other.pattern < latent.pattern}
    return [within[pattern] for pattern in _greedy_cover(latent.pattern, list(within))]


def _keep_reached(latents: list[_Latent], wanted: list[list[_Latent]]) -> list[_Latent]:
    """Latents that some input reaches, by itself or through other latents."""
    reached = {latent.pattern for chosen in wanted for latent in chosen}
    for latent in latents:  # larger patterns come first, so one pass is enough
        if latent.pattern in reached:
            reached.update(child.pattern for child in _children(latent, latents))
    return [latent for latent in latents if latent.pattern in reached]


def _join_below(
    graph: nx.DiGraph,
    latent: _Latent,
    latents: Sequence[_Latent],
    names: dict[Pattern, str],
    outputs: Sequence[str],
) -> None:
    """Edges from a latent to its child latents, and to the outputs that none of them reaches."""
    name, below = names[latent.pattern], _children(latent, latents)
    for child in below:
        where = sorted(child.pattern)
        weight = float(np.mean(latent.effect[where] * np.sign(child.effect[where])))
        share = min(latent.frequency, child.frequency)
        graph.add_edge(name, names[child.pattern], weight=weight, frequency=share)
    direct = latent.pattern - frozenset().union(*(child.pattern for child in below))
    for o in sorted(direct):
        weight = float(latent.effect[o])
        graph.add_edge(name, outputs[o], weight=weight, frequency=latent.frequency)
