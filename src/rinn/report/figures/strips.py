"""What every node of a network does to the outputs, layer by layer, as strips of heatmaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rinn.errors import InputError
from rinn.graphs.basics import latents_in_order
from rinn.graphs.protocol import TOLERANCE, reach_vectors, score_protocol, truth_patterns
from rinn.nets.maps import NetMaps
from rinn.report.figures import canvas
from rinn.report.figures.tiles import Tile, draw_key, draw_scale, draw_tiles, key_size
from rinn.report.info import FAINT, grid_shape

ACROSS, MAX_INPUTS = 16, 24  # hidden nodes in a line, and inputs
MANY_OUTPUTS = 25  # beyond which tiles are larger, fewer fit in a line, and a key names the cells
FEWER_ACROSS, FEWER_INPUTS = 8, 6

LABEL, BETWEEN = 0.6, 0.3
GAP = 0.055
TINY = 5.0
MIN_CELL = 0.05  # inches: a cell of one output can be told from its neighbours
UPRIGHT = 0.7  # inches for names that are written upwards
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class StripNode:
    """A node's name and effects; `match` names the true node whose pattern it shows."""

    name: str
    values: Float[np.ndarray, " output"]
    match: str = ""


@dataclass(frozen=True)
class Strip:
    """One layer: its hidden nodes and the inputs it reads; none where nothing acts on an output."""

    label: str
    hidden: tuple[StripNode, ...]
    inputs: tuple[StripNode, ...]


@dataclass(frozen=True)
class StripsInfo:
    """The layers, first layer first; at the end the inputs' sums where several layers read them.

    `most` is the effect at full colour, `thresholds` (hidden, input) those above which a node acts,
    `found` of `patterns` the true patterns that some hidden node shows.
    """

    outputs: tuple[str, ...]
    strips: tuple[Strip, ...]
    most: float
    thresholds: tuple[float, float] | None
    found: int
    patterns: int
    inputs_left_out: int
    saturated: bool
    only_active: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the marks mean, and what is not drawn."""
        lines = []
        if self.thresholds is not None:
            lines.append(
                f"Black frame: shows the pattern of the true latent named above it (|effect| > "
                f"{self.thresholds[0]:.2g}, chosen with knowledge of the truth); of an input, its "
                f"pattern. {self.found} of {self.patterns} patterns found."
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
) -> StripsInfo:
    """Collect the heatmaps of one network, and compare them with a truth where there is one."""
    sizes = len(maps.inputs), maps.hidden.shape[2]
    if sizes[0] not in (0, len(inputs)) or sizes[1] != len(outputs):
        raise InputError(
            f"inputs and outputs must name the rows and columns of the maps, {sizes[0]} and "
            f"{sizes[1]}, got {len(inputs)} and {len(outputs)} names; give those of the tables"
        )
    marks = _mark_nodes(maps, inputs, outputs, truth, thresholds)
    rows = _choose_inputs(maps, marks.real, len(outputs))
    strips = _make_strips(maps, inputs, rows, marks)
    shown = np.abs([node.values for strip in strips for node in (*strip.hidden, *strip.inputs)])
    most = _full_colour(shown)
    return StripsInfo(
        outputs=tuple(outputs),
        strips=tuple(_join_silent(strips)),
        most=most,
        thresholds=marks.thresholds,
        found=marks.found,
        patterns=marks.patterns,
        inputs_left_out=len(maps.inputs) - len(rows),
        saturated=bool(shown.size and shown.max() > most),
        only_active=maps.hidden.shape[1] > find_across(len(outputs)),
    )


def find_across(outputs: int) -> int:
    """How many hidden nodes are in a line."""
    return ACROSS if outputs <= MANY_OUTPUTS else FEWER_ACROSS


def _make_strips(
    maps: NetMaps, inputs: Sequence[str], rows: Sequence[int], marks: _Marks
) -> list[Strip]:
    """One strip for each layer, and one for the inputs' sums where several layers read them."""
    floor = FAINT * max(np.abs(maps.hidden).max(initial=0), np.abs(maps.inputs).max(initial=0))
    again = len(maps.by_layer) > 1
    strips = []
    for layer, nodes in enumerate(maps.hidden):
        # All nodes of a layer; where they do not fit in a line, those that do something.
        few = len(nodes) <= find_across(nodes.shape[1])
        chosen = range(len(nodes)) if few else np.flatnonzero(np.abs(nodes).max(axis=1) > floor)
        hidden = tuple(
            StripNode(f"{j + 1}", nodes[j], marks.hidden[layer][j]) for j in map(int, chosen)
        )
        read = rows if layer < len(maps.by_layer) else ()
        reads = tuple(
            StripNode(inputs[i], maps.by_layer[layer, i], "" if again else marks.inputs[i])
            for i in read
        )
        active = np.abs([node.values for node in (*hidden, *reads)]).max(initial=0) > floor
        label = "h" + str(layer + 1).translate(SUBSCRIPTS)
        strips.append(Strip(label, hidden, reads) if active else Strip(label, (), ()))
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


@dataclass(frozen=True)
class _Marks:
    """Which nodes show a pattern of the truth, by the pattern's name; "" where none."""

    hidden: list[list[str]]
    inputs: list[str]
    real: list[int]
    found: int
    patterns: int
    thresholds: tuple[float, float] | None


def _mark_nodes(
    maps: NetMaps,
    inputs: Sequence[str],
    outputs: Sequence[str],
    truth: nx.DiGraph | None,
    thresholds: tuple[float, float] | None,
) -> _Marks:
    marks = [""] * len(maps.inputs)
    if truth is None:
        return _Marks([[""] * maps.hidden.shape[1] for _ in maps.hidden], marks, [], 0, 0, None)
    patterns = truth_patterns(truth, outputs, inputs if len(maps.inputs) else [])
    if thresholds is None:  # those of the paper's protocol for this one network
        scores = score_protocol([maps.nodes], [maps.inputs] if len(maps.inputs) else None, patterns)
        hidden = scores.hidden.threshold
        thresholds = hidden, hidden if scores.input is None else scores.input.threshold
    latents = latents_in_order(truth)
    vectors = reach_vectors(truth, latents, patterns.outputs)
    # The last latent in causal order that has each pattern.
    last = {tuple(v): latent for latent, v in zip(latents, vectors.tolist(), strict=True)}
    names = [last[tuple(vector)] for vector in patterns.hidden.tolist()]
    bits = np.abs(maps.hidden[:, :, patterns.columns]) > thresholds[0]
    near = [[_find_nearest(node, patterns.hidden) for node in layer] for layer in bits]
    real: list[int] = []
    if len(maps.inputs):
        acts = np.abs(maps.inputs[:, patterns.columns])[patterns.rows] > thresholds[1]
        has_effect = patterns.input.any(axis=1)
        real = patterns.rows[has_effect].tolist()
        right = (acts != patterns.input).sum(axis=1) <= TOLERANCE
        right &= acts.any(axis=1) & has_effect
        for row, name, good in zip(patterns.rows, patterns.inputs, right, strict=True):
            marks[row] = name if good else ""
    return _Marks(
        hidden=[["" if i is None else names[i] for i in layer] for layer in near],
        inputs=marks,
        real=real,
        found=len({i for layer in near for i in layer if i is not None}),
        patterns=len(patterns.hidden),
        thresholds=thresholds,
    )


def _find_nearest(
    node: Bool[np.ndarray, " output"], patterns: Bool[np.ndarray, "pattern output"]
) -> int | None:
    if not node.any() or not len(patterns):
        return None
    apart = (patterns != node).sum(axis=1)
    return int(apart.argmin()) if apart.min() <= TOLERANCE else None


def _choose_inputs(maps: NetMaps, real: Sequence[int], outputs: int) -> list[int]:
    """All inputs; where they do not fit those of the truth, then those with strong effects."""
    most = MAX_INPUTS if outputs <= MANY_OUTPUTS else FEWER_INPUTS
    if len(maps.inputs) <= most:
        return list(range(len(maps.inputs)))
    strength = np.abs(maps.inputs).max(axis=1)
    strength[list(real)] += strength.max() + 1
    return sorted(np.argsort(-strength, kind="stable")[:most].tolist())


def _full_colour(values: Float[np.ndarray, "node output"]) -> float:
    """The 90 % quantile of what is not near zero, so that a few effects do not pale the others."""
    if not values.size or not values.max():
        return 1.0
    strong = values[values > FAINT * values.max()]
    return float(np.quantile(strong, 0.9))


def plot_strips(info: StripsInfo, *, title: str = "") -> Figure:
    """Draw what hidden nodes and inputs do to the outputs, a line per layer, as Figures 3 and 4."""
    columns, rows = grid_shape(len(info.outputs))
    cell = max(0.23 / columns, MIN_CELL)
    return _Sheet(info, columns * cell, rows * cell, cell).draw(title)


class _Sheet:
    """Positions in inches."""

    def __init__(self, info: StripsInfo, wide: float, tall: float, cell: float) -> None:
        self.info, self.wide, self.tall, self.cell = info, wide, tall, cell
        self.step = wide + GAP
        self.marked = info.thresholds is not None
        self.line = tall + GAP + (0.1 if self.marked else 0.02)
        most = max((len(strip.hidden) for strip in info.strips), default=0)
        self.line_of = find_across(len(info.outputs))
        self.across = min(self.line_of, most)
        self.inputs = max((len(strip.inputs) for strip in info.strips), default=0)
        self.left = canvas.MARGIN + LABEL
        self.right = self.left + self.across * self.step + BETWEEN
        names = [node.name for strip in info.strips for node in strip.inputs]
        widest = canvas.find_widest(names, UPRIGHT, TINY)
        self.upright = widest > self.step - 0.02
        self.head = widest if self.upright else 0.1

    def draw(self, title: str) -> Figure:
        inputs = self.inputs * self.step if self.inputs else -BETWEEN
        is_keyed = len(self.info.outputs) > MANY_OUTPUTS
        key = key_size(self.info.outputs) if is_keyed else (0.0, -0.3)
        width = max(self.right + inputs + canvas.MARGIN, 4.2, key[0] + 2 * canvas.MARGIN)
        notes = [line for note in self.info.notes for line in canvas.wrap_text(note, width - 2.2)]
        top = 0.25 + canvas.TITLE * bool(title) + self.head + 0.14
        heights = [self._height(strip) for strip in self.info.strips]
        bottom = top + sum(heights)
        below = bottom + max(0.5, 0.16 + canvas.NOTE_LINE * len(notes))
        figure, axes = canvas.make_sheet(width, below + 0.3 + key[1])
        if is_keyed:
            canvas.label(axes, canvas.MARGIN, below + 0.05, "which cell is which output")
            draw_key(axes, canvas.MARGIN, below + 0.18, self.info.outputs)
        canvas.write_title(axes, title, width)
        self._write_heads(axes, top)
        tiles, y = [], top
        for strip, height in zip(self.info.strips, heights, strict=True):
            tiles += self._draw_strip(axes, strip, y)
            y += height
        draw_tiles(axes, tiles, self.cell, self.info.most)
        scale = self.info.most, "effect on the output", self.info.saturated
        draw_scale(figure, canvas.MARGIN + 0.15, bottom + 0.2, *scale)
        canvas.write_lines(axes, 2.0, bottom + 0.1, notes)
        return figure

    def _height(self, strip: Strip) -> float:
        if not strip.hidden and not strip.inputs:
            return 0.22
        return max(1, math.ceil(len(strip.hidden) / self.line_of)) * self.line + 0.07

    def _write_heads(self, axes: Axes, top: float) -> None:
        y = top - self.head - 0.2
        canvas.label(axes, self.left, y, "hidden nodes")
        for strip in self.info.strips:
            if strip.inputs:
                canvas.label(axes, self.right, y, "inputs that the layer reads")
                for number, node in enumerate(strip.inputs):
                    x = self.right + number * self.step + self.wide / 2
                    self._write_name(axes, x, top - 0.035, node.name)
                return
            top += self._height(strip)

    def _write_name(self, axes: Axes, x: float, y: float, name: str) -> None:
        if self.upright:
            label = canvas.fit_text(name, UPRIGHT, TINY)
            canvas.write(axes, x, y, label, TINY, ha="center", va="bottom", rotation=90)
        else:
            label = canvas.fit_text(name, self.step, TINY)
            canvas.write(axes, x, y - 0.04, label, TINY, ha="center")

    def _draw_strip(self, axes: Axes, strip: Strip, y: float) -> list[Tile]:
        if not strip.hidden and not strip.inputs:
            canvas.write(axes, canvas.MARGIN, y, strip.label, canvas.NORMAL, ha="left")
            canvas.label(axes, self.left, y, "nothing acts on any output", TINY + 1)
            return []
        canvas.write(axes, canvas.MARGIN, y + self.tall / 2, strip.label, canvas.NORMAL, ha="left")
        tiles = []
        for number, node in enumerate(strip.hidden):
            x = self.left + number % self.line_of * self.step
            tiles.append(self._tile(axes, node, x, y + number // self.line_of * self.line))
        for number, node in enumerate(strip.inputs):
            tiles.append(self._tile(axes, node, self.right + number * self.step, y, named=False))
        return tiles

    def _tile(self, axes: Axes, node: StripNode, x: float, y: float, *, named: bool = True) -> Tile:
        if not node.match:
            return Tile(node.values, x, y, canvas.PALE, 0.5)
        if named:
            label = canvas.fit_text(node.match, self.step, TINY)
            canvas.write(axes, x + self.wide / 2, y - 0.05, label, TINY, ha="center")
        return Tile(node.values, x, y, canvas.INK, 1.1)
