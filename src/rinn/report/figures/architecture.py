"""A network's architecture with its active edges: those on a path from an input to an output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.config import check_number
from rinn.errors import InputError
from rinn.nets.redundant import Weights
from rinn.report.figures import canvas

FRACTION = 0.05  # of the largest |weight|, up to which an edge is not active
MAX_INPUTS = 24
LABEL = 0.55
PITCH, NARROWEST = 0.25, 0.085  # inches between nodes
NEAR, APART = 0.3, 0.85  # inches between rows without and with active edges
UPRIGHT = 0.75
TINY = 5.2


@dataclass(frozen=True)
class NetEdge:
    """A weight from `row` (0: inputs, l: hidden layer l) to the next; `redundant` from an input."""

    row: int
    source: int
    target: int
    weight: float
    redundant: bool


@dataclass(frozen=True)
class ArchitectureInfo:
    """The active part of a network: |weight| above `floor`, on a path from input to output.

    `inputs` and `hidden` are masks of the inputs of each row, and hidden nodes, with such an edge.
    """

    edges: tuple[NetEdge, ...]
    inputs: Bool[np.ndarray, "reader input"]
    hidden: Bool[np.ndarray, "layer hidden"]
    outputs: Bool[np.ndarray, " output"]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    floor: float
    weights: int

    @property
    def strongest(self) -> float:
        """The largest |weight| of an active edge; 1 where there is none."""
        return max((abs(edge.weight) for edge in self.edges), default=1.0)

    @property
    def note(self) -> str:
        """Say how much of the network is active."""
        return (
            f"{len(self.edges):,} of {self.weights:,} weights are active: |w| > "
            f"{self.floor:.2g}, on a path from an input to an output. {int(self.hidden.sum())} of "
            f"{self.hidden.size} hidden nodes have such edges."
        )


def architecture_info(
    weights: Weights, inputs: Sequence[str], outputs: Sequence[str], *, fraction: float = FRACTION
) -> ArchitectureInfo:
    """Find the edges of a network on paths from inputs to outputs."""
    into, between, out = (np.asarray(part, np.float64) for part in weights[:3])
    if into.shape[2] != len(inputs) or out.shape[0] != len(outputs):
        raise InputError(
            f"inputs and outputs must name the {into.shape[2]} inputs and {out.shape[0]} outputs "
            f"of the network, got {len(inputs)} and {len(outputs)} names"
        )
    check_number("fraction", fraction, maximum=1, below=True)
    floor = fraction * max(np.abs(part).max(initial=0.0) for part in (into, between, out))
    steps = [*between, out]  # step l leads from hidden layer l + 1
    strong, strong_into = [np.abs(step) > floor for step in steps], np.abs(into) > floor
    started: list[np.ndarray] = []  # the nodes of each hidden layer that an input reaches
    for layer in range(len(strong)):
        start = (strong[layer - 1] & started[-1]).any(axis=1) if layer else False
        start |= strong_into[layer].any(axis=1) if layer < len(strong_into) else False
        started.append(np.asarray(start))
    ends: list[np.ndarray] = [np.ones(len(out), bool)]  # those that reach an output
    for mask in reversed(strong):
        ends.insert(0, (mask & ends[0][:, None]).any(axis=0))
    read = [mask & end[:, None] for mask, end in zip(strong_into, ends, strict=False)]
    paths = zip(strong, started, ends[1:], strict=True)
    active = [mask & start & end[:, None] for mask, start, end in paths]
    edges = [
        NetEdge(row, int(source), int(target), float(values[row - first][target, source]), again)
        for first, values, masks, again in ((0, into, read, True), (1, steps, active, False))
        for row, mask in enumerate(masks, first)
        for target, source in np.argwhere(mask)
    ]
    return ArchitectureInfo(
        edges=tuple(edges),
        inputs=np.array([mask.any(axis=0) for mask in read]),
        hidden=np.array([mask.any(axis=0) for mask in active]),
        outputs=active[-1].any(axis=1),
        input_names=tuple(inputs),
        output_names=tuple(outputs),
        floor=floor,
        weights=into.size + between.size + out.size,
    )


def plot_architecture(info: ArchitectureInfo, *, title: str = "") -> Figure:
    """Draw a network upwards with its active edges; inputs read again are at the right."""
    return _Sheet(info).draw(title)


class _Sheet:
    """Positions in inches."""

    def __init__(self, info: ArchitectureInfo) -> None:
        self.info = info
        self.layers, width = info.hidden.shape
        self.readers = len(info.inputs)
        self.shown = [self._choose(row) for row in range(self.readers)]
        many = max(len(shown) for shown in self.shown)
        self.left = canvas.MARGIN + LABEL
        self.hidden_pitch = max(min(PITCH, 5.0 / max(width, 1)), NARROWEST)
        block = self.hidden_pitch * width
        again = max((len(shown) for shown in self.shown[1:]), default=0)
        self.right = self.left + block + 0.35
        wide = max(block, (0.35 + block) * (again > 0) + PITCH * again, PITCH * many)
        self.output_pitch = min(PITCH, max(NARROWEST, wide / len(info.output_names)))
        wide = max(wide, self.output_pitch * len(info.output_names))
        self.width = max(self.left + wide + canvas.MARGIN + 0.1, 4.5)
        # The height of each row above the lowest; rows that nothing leaves stay close.
        busy = {edge.row for edge in info.edges}
        steps = [APART if row in busy else NEAR for row in range(self.layers + 1)]
        self.heights = [0.0, *np.cumsum(steps).tolist()]
        self.flat = {
            False: canvas.find_widest(info.output_names, UPRIGHT, TINY) < self.output_pitch - 0.03,
            True: canvas.find_widest(info.input_names, UPRIGHT, TINY) < PITCH - 0.03,
        }

    def _choose(self, row: int) -> list[int]:
        """All inputs of a row, or those with the strongest active edges where they are many."""
        active = self.info.inputs[row]
        if len(active) <= MAX_INPUTS:
            return list(range(len(active)))
        strength = np.zeros(len(active))
        for edge in self.info.edges:
            if edge.redundant and edge.row == row:
                strength[edge.source] = max(strength[edge.source], abs(edge.weight))
        strongest = np.argsort(-strength, kind="stable")[: min(MAX_INPUTS, int(active.sum()))]
        return sorted(strongest.tolist())

    def draw(self, title: str) -> Figure:
        names = canvas.find_widest(self.info.output_names, UPRIGHT, TINY)
        notes = [
            line for note in self._notes() for line in canvas.wrap_text(note, self.width - 0.3)
        ]
        top = 0.2 + canvas.TITLE * bool(title) + names + 0.1
        below = 0.12 + canvas.find_widest(self.info.input_names, UPRIGHT, TINY)
        lowest = top + self.heights[-1]
        height = lowest + below + 0.5 + canvas.NOTE_LINE * len(notes) + 0.05
        figure, axes = canvas.make_sheet(self.width, height)
        self.base = lowest
        canvas.write_title(axes, title, self.width)
        self._draw_edges(axes)
        self._draw_nodes(axes)
        self._write_labels(axes)
        corner = (canvas.MARGIN / self.width, (height - lowest - below) / height)
        canvas.add_legend(figure, self._handles(), loc="upper left", ncols=4, bbox_to_anchor=corner)
        canvas.write_lines(axes, canvas.MARGIN, lowest + below + 0.46, notes)
        return figure

    def _notes(self) -> list[str]:
        hidden = max(len(active) - len(shown) for active, shown in
                     zip(self.info.inputs, self.shown, strict=True))  # fmt: skip
        if not hidden:
            return [self.info.note]
        strong = self.info.inputs.sum(axis=1).max() > MAX_INPUTS
        which = f"the {MAX_INPUTS} with the strongest" if strong else "those with"
        return [self.info.note, f"Of the inputs of each row only {which} active edges are drawn."]

    def _input(self, row: int, source: int) -> tuple[float, float]:
        start = self.left if row == 0 else self.right
        x = start + (self.shown[row].index(source) + 0.5) * PITCH
        return x, self.base - self.heights[row]

    def _node(self, layer: int, node: int) -> tuple[float, float]:
        """A hidden node (layers from 1), or an output (one layer more)."""
        pitch = self.output_pitch if layer > self.layers else self.hidden_pitch
        return self.left + (node + 0.5) * pitch, self.base - self.heights[layer]

    def _draw_edges(self, axes: Axes) -> None:
        drawn = [
            edge
            for edge in self.info.edges
            if not edge.redundant or edge.source in self.shown[edge.row]
        ]
        for sign, colour, dash in ((1, canvas.BLUE, "-"), (-1, canvas.VERMILION, (0, (2.2, 1.1)))):
            lines, widths = [], []
            for edge in (edge for edge in drawn if edge.weight * sign > 0):
                start = (self._input if edge.redundant else self._node)(edge.row, edge.source)
                lines.append([start, self._node(edge.row + 1, edge.target)])
                widths.append(0.4 + 2.0 * abs(edge.weight) / self.info.strongest)
            axes.add_collection(LineCollection(
                lines, linewidths=widths, colors=colour, linestyles=[dash], alpha=0.85, zorder=2,
            ))  # fmt: skip

    def _draw_nodes(self, axes: Axes) -> None:
        groups: dict[tuple[str, bool], list[tuple[float, float]]] = {}
        for row, shown in enumerate(self.shown):
            for source in shown:
                active = bool(self.info.inputs[row, source])
                groups.setdefault(("s", active), []).append(self._input(row, source))
        for layer, nodes in enumerate(self.info.hidden, 1):
            for node, active in enumerate(nodes):
                groups.setdefault(("o", bool(active)), []).append(self._node(layer, node))
        for node, active in enumerate(self.info.outputs):
            groups.setdefault(("D", bool(active)), []).append(self._node(self.layers + 1, node))
        for (marker, active), points in groups.items():
            size = {"s": 3.4, "o": 5.0, "D": 3.4}[marker] if active else 2.0
            x, y = zip(*points, strict=True)
            axes.plot(
                x, y, marker, markersize=size, color=canvas.INK if active else canvas.PALE, zorder=3
            )

    def _write_labels(self, axes: Axes) -> None:
        heads = ["inputs", *(f"hidden {n + 1}" for n in range(self.layers)), "outputs"]
        for head, height in zip(heads, self.heights, strict=True):
            canvas.label(axes, canvas.MARGIN, self.base - height, head, canvas.SMALL)
        for row, shown in enumerate(self.shown):
            for source in shown:
                if self.info.inputs[row, source]:
                    x, y = self._input(row, source)
                    self._write_name(axes, x, y + 0.06, self.info.input_names[source], below=True)
        for node, name in enumerate(self.info.output_names):
            x, y = self._node(self.layers + 1, node)
            self._write_name(axes, x, y - 0.06, name, below=False)

    def _write_name(self, axes: Axes, x: float, y: float, name: str, *, below: bool) -> None:
        label = canvas.fit_text(name, UPRIGHT, TINY)
        flat = self.flat[below]
        canvas.write(axes, x, y, label, TINY, ha="center", va="top" if below else "bottom",
              rotation=0 if flat else 90, zorder=4)  # fmt: skip

    def _handles(self) -> list[Line2D]:
        most = self.info.strongest
        node: dict[str, Any] = {"linestyle": "none", "color": canvas.INK}
        again = ", read by the layer above it" if self.readers > 1 else ""
        return [
            Line2D([], [], color=canvas.BLUE, linewidth=1.6, label="weight > 0"),
            Line2D([], [], color=canvas.VERMILION, linewidth=1.6, linestyle=(0, (2.2, 1.1)),
                   label="weight < 0"),
            Line2D([], [], color=canvas.INK, linewidth=0.9, label=f"|w| {most / 4:.2g}"),
            Line2D([], [], color=canvas.INK, linewidth=2.4, label=f"|w| {most:.2g}"),
            Line2D([], [], marker="s", markersize=3.4, label=f"input{again}", **node),
            Line2D([], [], marker="o", markersize=5.0, label="hidden node", **node),
            Line2D([], [], marker="D", markersize=3.4, label="output", **node),
            Line2D([], [], marker="o", markersize=2.0, linestyle="none", color=canvas.PALE,
                   label="without active edges"),
        ]  # fmt: skip
