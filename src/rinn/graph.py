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


def build_graph(
    views: Sequence[NetView],
    x_spread: Float[np.ndarray, " input"],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LatentGraph:
    """Build one latent graph from several networks.

    Each hidden node's map is weighted by the standard deviation of its activity; outputs above a
    fifth of the node's largest effect are its pattern. Patterns that at least 40 % of the
    networks share are latents. Inputs are joined to the latents that their voted pattern calls
    for, latents to the latents whose patterns lie within theirs, and to the outputs left over.

    Args:
        views: the kept networks.
        x_spread: standard deviation of each input in the networks' units.
        inputs: names.
        outputs: names.

    Returns:
        The graph: nodes with `role`, latents with `frequency`, edges with `weight` (effect in
        standard deviations of the output) and `frequency`.
    """
    found = _find_latents(views)
    reach, effects = _vote_inputs(views, x_spread)
    wanted = [_cover(row, list(found), found) for row in reach]
    latents = _keep_reached(_order(found), wanted)
    children = {pattern: _children(pattern, latents) for pattern in latents}
    names = {pattern: f"L{number}" for number, pattern in enumerate(latents, start=1)}
    graph = nx.DiGraph()
    graph.add_nodes_from((name, {"role": "input"}) for name in inputs)
    for pattern, name in names.items():
        graph.add_node(name, role="latent", frequency=_share(found[pattern], views))
    graph.add_nodes_from((name, {"role": "output"}) for name in outputs)
    for i, patterns in enumerate(wanted):
        for pattern in patterns:
            weight, frequency = _input_edge(i, pattern, found[pattern], effects, views)
            graph.add_edge(inputs[i], names[pattern], weight=weight, frequency=frequency)
    for pattern, below in children.items():
        _add_children(graph, pattern, below, found, names, outputs, views)
    return LatentGraph(graph, {names[pattern]: tuple(found[pattern]) for pattern in latents})


def _influence(view: NetView) -> Float[np.ndarray, "layer hidden output"]:
    return view.maps.hidden * view.spread[:, :, None]


def _binarise(
    effects: Float[np.ndarray, "node output"], floor: float
) -> Bool[np.ndarray, "node output"]:
    """Outputs above a fifth of the node's own largest effect; none for nodes below `floor`."""
    size = np.abs(effects)
    most = size.max(axis=-1, keepdims=True)
    return (size > RELATIVE * most) & (most > floor)


def _find_latents(views: Sequence[NetView]) -> dict[Pattern, list[Member]]:
    """Patterns that enough networks share, with the strongest node of each network for it."""
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
    return {p: m for p, m in found.items() if len(m) >= SHARE * len(views)}


def _vote_inputs(
    views: Sequence[NetView], x_spread: Float[np.ndarray, " input"]
) -> tuple[Bool[np.ndarray, "input output"], Float[np.ndarray, "net input output"]]:
    """Which outputs each input reaches in most networks, and its effect in each network."""
    effects = np.stack([view.maps.inputs * x_spread[:, None] for view in views])
    floors = [FAINT * np.abs(effect).max() for effect in effects]
    votes = [_binarise(effect, floor) for effect, floor in zip(effects, floors, strict=True)]
    return np.mean(votes, axis=0) > 0.5, effects


def _cover(
    row: Bool[np.ndarray, " output"],
    patterns: Sequence[Pattern],
    found: dict[Pattern, list[Member]],
) -> list[Pattern]:
    """The latents that an input acts on: one whose pattern is its own, else a cover of it."""
    wanted = frozenset(np.flatnonzero(row).tolist())
    if not wanted:
        return []
    near = [p for p in patterns if len(p ^ wanted) <= TOLERANCE]
    if near:
        return [min(near, key=lambda p: (len(p ^ wanted), -len(found[p]), sorted(p)))]
    return _greedy_cover(wanted, [p for p in patterns if len(p - wanted) <= TOLERANCE])


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


def _order(found: dict[Pattern, list[Member]]) -> list[Pattern]:
    """Causal order: a pattern comes before those within it."""
    return sorted(found, key=lambda p: (-len(p), sorted(p)))


def _children(pattern: Pattern, latents: Sequence[Pattern]) -> list[Pattern]:
    return _greedy_cover(pattern, [other for other in latents if other < pattern])


def _keep_reached(latents: list[Pattern], wanted: list[list[Pattern]]) -> list[Pattern]:
    """Latents that some input reaches, by itself or through other latents."""
    reached = {pattern for patterns in wanted for pattern in patterns}
    for pattern in latents:  # larger patterns come first, so one pass is enough
        if pattern in reached:
            reached.update(_children(pattern, latents))
    return [pattern for pattern in latents if pattern in reached]


def _share(members: Sequence[Member], views: Sequence[NetView]) -> float:
    return len(members) / len(views)


def _input_edge(
    i: int,
    pattern: Pattern,
    members: Sequence[Member],
    effects: Float[np.ndarray, "net input output"],
    views: Sequence[NetView],
) -> tuple[float, float]:
    """Mean effect of an input along a latent's pattern, and how many networks show it."""
    where = sorted(pattern)
    shown, weights = 0, []
    for member in members:
        direction = member.sign * np.sign(_influence(views[member.net])[member.layer, member.hidden])
        weights.append(float(np.mean(effects[member.net, i, where] * direction[where])))
        most = np.abs(effects[member.net, i]).max()
        shown += bool((np.abs(effects[member.net, i, where]) > RELATIVE * most).all())
    return float(np.mean(weights)), shown / len(views)


def _add_children(
    graph: nx.DiGraph,
    pattern: Pattern,
    below: Sequence[Pattern],
    found: dict[Pattern, list[Member]],
    names: dict[Pattern, str],
    outputs: Sequence[str],
    views: Sequence[NetView],
) -> None:
    """Edges from a latent to its child latents, and to the outputs that none of them reaches."""
    members = found[pattern]
    mean = np.mean(
        [m.sign * _influence(views[m.net])[m.layer, m.hidden] for m in members], axis=0
    )  # [output]
    for child in below:
        both = {m.net for m in members} & {m.net for m in found[child]}
        weight = float(np.mean(np.abs(mean[sorted(child)])))
        share = len(both) / len(views)
        graph.add_edge(names[pattern], names[child], weight=weight, frequency=share)
    direct = pattern - frozenset().union(*below)
    for o in sorted(direct):
        share = _share(members, views)
        graph.add_edge(names[pattern], outputs[o], weight=float(mean[o]), frequency=share)
