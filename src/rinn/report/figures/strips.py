"""What every node of a network does to the outputs, layer by layer, as strips of heatmaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float

from rinn.errors import InputError
from rinn.graphs.basics import latents_in_order
from rinn.graphs.patterns import TOLERANCE, Patterns, reach_vectors, truth_patterns
from rinn.graphs.protocol import score_protocol
from rinn.nets.maps import NetMaps

ACROSS = 16  # hidden nodes in a line
FAINT = 0.02  # share of the strongest effect below which there is none
MOST_INPUTS = 24
MANY_OUTPUTS = 25  # beyond which fewer inputs fit beside the hidden nodes
FEWER_INPUTS = 16


@dataclass(frozen=True)
class StripNode:
    """A node's name and effects; `match` names the true latent whose pattern it shows.

    Of an input `match` is its own name, where its effects are its true pattern.
    """

    name: str
    values: Float[np.ndarray, " output"]
    match: str = ""


@dataclass(frozen=True)
class Strip:
    """One layer: its hidden nodes, and the inputs that it reads.

    Neighbouring layers in which nothing acts on any output are one strip without nodes.
    """

    label: str
    hidden: tuple[StripNode, ...]
    inputs: tuple[StripNode, ...]


@dataclass(frozen=True)
class StripsInfo:
    """The layers, first layer first; at the end the inputs' sums where several layers read them.

    `most` is the effect with the full colour. `thresholds` (hidden, input) are those above which
    a node acts on an output when it is compared with the truth; `found` and `patterns` count the
    true patterns that some hidden node shows, and all.
    """

    outputs: tuple[str, ...]
    strips: tuple[Strip, ...]
    most: float
    thresholds: tuple[float, float] | None
    oracle: bool
    found: int
    patterns: int
    inputs_right: int
    inputs_left_out: int
    saturated: bool
    only_active: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the marks mean, and what is not drawn."""
        lines = []
        if self.thresholds is not None:
            how = ", chosen with sight of the truth" if self.oracle else ""
            lines.append(
                f"Black frame: shows the pattern of the true latent named above it (|effect| > "
                f"{self.thresholds[0]:.2g}{how}); of an input, its own pattern. {self.found} of "
                f"{self.patterns} patterns found."
            )
        if self.only_active:
            lines.append("Hidden nodes without effect are not drawn.")
        if self.inputs_left_out:
            lines.append(f"{self.inputs_left_out} more inputs are not drawn.")
        return tuple(lines)


def strips_info(
    maps: NetMaps,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    truth: nx.DiGraph | None = None,
    thresholds: tuple[float, float] | None = None,
    oracle: bool = True,
) -> StripsInfo:
    """Collect the heatmaps of one network, and compare them with a truth where there is one.

    Args:
        maps: of the network (`map_net`).
        inputs: names, in the order of the maps' rows.
        outputs: names, in the order of the maps' columns.
        truth: the true graph; nodes that show one of its patterns, one output more or less, are
            marked.
        thresholds: above which |effect| a hidden node and an input act on an output; by default
            chosen with sight of the truth for this network, as in the paper's protocol.
        oracle: whether the thresholds were chosen with sight of the truth, as a run's own scores
            are; the figure then says so.

    Returns:
        The strips.

    Raises:
        InputError: the names do not fit the maps, or see `truth_patterns`.

    Example:
        >>> maps = NetMaps(np.eye(2)[None], np.eye(2), np.eye(2)[None])
        >>> [strip.label for strip in strips_info(maps, ["a", "b"], ["c", "d"]).strips]
        ['h₁']
    """
    _check_names(maps, inputs, outputs)
    marks = _Marks(maps, inputs, outputs, truth, thresholds)
    rows = _choose_inputs(maps, marks.known, len(outputs))
    strips = _make_strips(maps, inputs, rows, marks)
    shown = np.abs([node.values for strip in strips for node in (*strip.hidden, *strip.inputs)])
    most = _full_colour(shown)
    return StripsInfo(
        outputs=tuple(outputs),
        strips=tuple(_join_silent(strips)),
        most=most,
        thresholds=marks.thresholds,
        oracle=oracle or thresholds is None,
        found=marks.found,
        patterns=marks.patterns,
        inputs_right=sum(map(bool, marks.inputs)),
        inputs_left_out=len(maps.inputs) - len(rows),
        saturated=bool(shown.size and shown.max() > most),
        only_active=maps.hidden.shape[1] > ACROSS,
    )


def _make_strips(
    maps: NetMaps, inputs: Sequence[str], rows: Sequence[int], marks: _Marks
) -> list[Strip]:
    """One strip for each layer, and one for the inputs' sums where several layers read them."""
    floor = FAINT * max(np.abs(maps.hidden).max(initial=0), np.abs(maps.inputs).max(initial=0))
    again = len(maps.by_layer) > 1
    strips = []
    for layer, nodes in enumerate(maps.hidden):
        hidden = tuple(
            StripNode(f"{j + 1}", nodes[j], marks.hidden[layer][j])
            for j in _choose_hidden(nodes, floor)
        )
        read = rows if layer < len(maps.by_layer) else ()
        own = tuple(
            StripNode(inputs[i], maps.by_layer[layer, i], "" if again else marks.inputs[i])
            for i in read
        )
        active = np.abs([node.values for node in (*hidden, *own)]).max(initial=0) > floor
        label = f"h{_subscript(layer + 1)}"
        strips.append(Strip(label, hidden, own) if active else Strip(label, (), ()))
    if rows and again:
        sums = (StripNode(inputs[i], maps.inputs[i], marks.inputs[i]) for i in rows)
        strips.append(Strip("sum", (), tuple(sums)))
    return strips


def _join_silent(strips: Sequence[Strip]) -> list[Strip]:
    """Make neighbouring layers without effect one strip."""
    joined: list[Strip] = []
    for silent, group in groupby(strips, key=lambda strip: not (strip.hidden or strip.inputs)):
        members = list(group)
        if silent and len(members) > 1:
            joined.append(Strip(f"{members[0].label} to {members[-1].label}", (), ()))
        else:
            joined += members
    return joined


class _Marks:
    """Which nodes show a pattern of the truth."""

    def __init__(
        self,
        maps: NetMaps,
        inputs: Sequence[str],
        outputs: Sequence[str],
        truth: nx.DiGraph | None,
        thresholds: tuple[float, float] | None,
    ) -> None:
        self.hidden = [[""] * maps.hidden.shape[1] for _ in maps.hidden]
        self.inputs = [""] * len(maps.inputs)
        self.known: list[int] = []
        self.found = self.patterns = 0
        self.thresholds = None
        if truth is None:
            return
        patterns = truth_patterns(truth, outputs, inputs if len(maps.inputs) else [])
        self.thresholds = thresholds or _find_thresholds(maps, patterns)
        names = _name_patterns(truth, patterns)
        bits = np.abs(maps.hidden[:, :, patterns.columns]) > self.thresholds[0]
        near = [[_nearest(node, patterns.hidden) for node in layer] for layer in bits]
        self.hidden = [["" if i is None else names[i] for i in layer] for layer in near]
        self.found = len({i for layer in near for i in layer if i is not None})
        self.patterns = len(patterns.hidden)
        if len(maps.inputs):
            own = np.abs(maps.inputs[:, patterns.columns])[patterns.rows] > self.thresholds[1]
            right = ((own != patterns.input).sum(axis=1) <= TOLERANCE) & own.any(axis=1)
            real = patterns.input.any(axis=1)
            right &= real
            self.known = patterns.rows[real].tolist()
            for row, name, good in zip(patterns.rows, patterns.inputs, right, strict=True):
                self.inputs[row] = name if good else ""


def _check_names(maps: NetMaps, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    rows, columns = len(maps.inputs), maps.hidden.shape[2]
    if rows not in (0, len(inputs)) or columns != len(outputs):
        raise InputError(
            f"inputs and outputs must name the rows and columns of the maps, {rows} and {columns}, "
            f"got {len(inputs)} and {len(outputs)} names; give those of the tables"
        )


def _find_thresholds(maps: NetMaps, patterns: Patterns) -> tuple[float, float]:
    """The thresholds of the paper's protocol for this one network."""
    scores = score_protocol([maps.nodes], [maps.inputs] if len(maps.inputs) else None, patterns)
    hidden = scores.hidden.threshold
    return hidden, hidden if scores.input is None else scores.input.threshold


def _name_patterns(truth: nx.DiGraph, patterns: Patterns) -> list[str]:
    """The last latent in causal order that has each pattern."""
    latents = latents_in_order(truth)
    vectors = reach_vectors(truth, latents, patterns.outputs)
    name = {tuple(v): latent for latent, v in zip(latents, vectors.tolist(), strict=True)}
    return [name[tuple(vector)] for vector in patterns.hidden.tolist()]


def _nearest(
    node: Bool[np.ndarray, " output"], patterns: Bool[np.ndarray, "pattern output"]
) -> int | None:
    if not node.any() or not len(patterns):
        return None
    apart = (patterns != node).sum(axis=1)
    return int(apart.argmin()) if apart.min() <= TOLERANCE else None


def _choose_inputs(maps: NetMaps, known: Sequence[int], outputs: int) -> list[int]:
    """All inputs; where they do not fit those of the truth, then those with strong effects."""
    most = MOST_INPUTS if outputs <= MANY_OUTPUTS else FEWER_INPUTS
    if len(maps.inputs) <= most:
        return list(range(len(maps.inputs)))
    strength = np.abs(maps.inputs).max(axis=1)
    strength[list(known)] += strength.max() + 1
    return sorted(np.argsort(-strength, kind="stable")[:most].tolist())


def _choose_hidden(nodes: Float[np.ndarray, "hidden output"], floor: float) -> list[int]:
    """All nodes of a layer; where they do not fit in a line, those that do something."""
    if len(nodes) <= ACROSS:
        return list(range(len(nodes)))
    return np.flatnonzero(np.abs(nodes).max(axis=1) > floor).tolist()


def _full_colour(values: Float[np.ndarray, "node output"]) -> float:
    """The 90 % quantile of what is not near zero, so that a few effects do not pale the others."""
    if not values.size or not values.max():
        return 1.0
    strong = values[values > FAINT * values.max()]
    return float(np.quantile(strong, 0.9))


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
