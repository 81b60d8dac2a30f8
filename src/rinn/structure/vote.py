"""A latent graph by vote, for networks that do not see the inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float

from rinn.graphs.basics import name_latents
from rinn.nets.predict import NetView
from rinn.strategies.regression import choose_children
from rinn.structure.records import LatentGraph

RELATIVE = 0.2  # of a node's largest effect: outputs above are its pattern
FAINT = 0.05  # of a network's largest effect: nodes below have no pattern
MIN_VOTES = 0.4  # of the networks

Pattern = frozenset[int]


@dataclass(frozen=True)
class _Latent:
    """A latent before it has a name: what it reaches, how often, and its mean effect."""

    pattern: Pattern
    frequency: float
    effect: Float[np.ndarray, " output"]


def vote_graph(
    views: Sequence[NetView], inputs: Sequence[str], outputs: Sequence[str]
) -> LatentGraph:
    """Build a graph of latents and outputs from the decoders of several networks.

    Each hidden node's map is weighted by the standard deviation of its activity; outputs above a
    fifth of its largest effect are its pattern. Patterns of 40 % of the networks are latents.
    """
    votes: dict[Pattern, list[np.ndarray]] = defaultdict(list)
    for view in views:
        for pattern, effect in _find_patterns(view).items():
            votes[pattern].append(effect)
    latents = [
        _Latent(pattern, len(effects) / len(views), _average(effects, pattern))
        for pattern, effects in votes.items()
        if len(effects) >= MIN_VOTES * len(views)
    ]
    latents.sort(key=lambda latent: (-len(latent.pattern), sorted(latent.pattern)))
    given = name_latents(len(latents), {*inputs, *outputs})
    names = {latent.pattern: name for latent, name in zip(latents, given, strict=True)}
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((name, {"role": "input"}) for name in inputs)
    for latent in latents:
        effects = {outputs[o]: float(latent.effect[o]) for o in sorted(latent.pattern)}
        about = {"role": "latent", "frequency": latent.frequency, "effects": effects}
        graph.add_node(names[latent.pattern], **about)
    graph.add_nodes_from((name, {"role": "output"}) for name in outputs)
    for latent in latents:
        _join_below(graph, latent, latents, names, outputs)
    return LatentGraph(graph, graph)


def _find_patterns(view: NetView) -> dict[Pattern, Float[np.ndarray, " output"]]:
    """The patterns of one network, each with the effect of its strongest node."""
    influence = view.maps.hidden * view.spread[:, :, None]
    size = np.abs(influence).max(axis=2)
    bits = _binarise(influence, FAINT * size.max())
    strongest: dict[Pattern, tuple[int, int]] = {}
    for layer, hidden in np.argwhere(bits.any(axis=2)):
        pattern = frozenset(np.flatnonzero(bits[layer, hidden]).tolist())
        best = strongest.get(pattern)
        if best is None or size[layer, hidden] > size[best]:
            strongest[pattern] = (int(layer), int(hidden))
    return {pattern: influence[index] for pattern, index in strongest.items()}


def _average(effects: Sequence[np.ndarray], pattern: Pattern) -> Float[np.ndarray, " output"]:
    """The mean over networks, each turned as the first, so that it raises its outputs in sum."""
    each = np.stack(effects)  # [net, output]
    mean = np.mean(np.where(each @ each[0] < 0, -1, 1)[:, None] * each, axis=0)
    return mean if mean[sorted(pattern)].sum() >= 0 else -mean


def _binarise(
    effects: Float[np.ndarray, "... output"], floor: float
) -> Bool[np.ndarray, "... output"]:
    """Outputs above a fifth of the node's own largest effect; none for nodes below `floor`."""
    size = np.abs(effects)
    most = size.max(axis=-1, keepdims=True)
    return (size > RELATIVE * most) & (most > floor)


def _find_children(latent: _Latent, latents: Sequence[_Latent]) -> list[_Latent]:
    """Latents within a latent that cover most of its outputs, the smallest of equals first."""
    order = sorted(latents, key=lambda n: (-len(n.pattern), sorted(n.pattern)), reverse=True)
    return [order[i] for i in choose_children(latent.pattern, [n.pattern for n in order])]


def _join_below(
    graph: nx.DiGraph,
    latent: _Latent,
    latents: Sequence[_Latent],
    names: dict[Pattern, str],
    outputs: Sequence[str],
) -> None:
    """Edges from a latent to its child latents, and to the outputs that none of them reaches."""
    name, below = names[latent.pattern], _find_children(latent, latents)
    for child in below:
        where = sorted(child.pattern)
        weight = float(np.mean(latent.effect[where] * np.sign(child.effect[where])))
        frequency = min(latent.frequency, child.frequency)
        graph.add_edge(name, names[child.pattern], weight=weight, frequency=frequency)
    direct = latent.pattern - frozenset().union(*(child.pattern for child in below))
    for o in sorted(direct):
        weight = float(latent.effect[o])
        graph.add_edge(name, outputs[o], weight=weight, frequency=latent.frequency)
