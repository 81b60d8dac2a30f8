"""The drawing of the strips."""

from __future__ import annotations

import math
from collections.abc import Sequence

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rinn.nets.maps import NetMaps
from rinn.report.figures.canvas import (
    GREY,
    INK,
    MARGIN,
    NORMAL,
    NOTE_LINE,
    PALE,
    TITLE,
    fit_text,
    make_sheet,
    measure,
    wrap_text,
    write,
    write_lines,
    write_title,
)
from rinn.report.figures.strips import ACROSS, Strip, StripNode, StripsInfo, strips_info
from rinn.report.figures.tiles import Tile, draw_scale, draw_tiles, grid_shape

LABEL, BETWEEN = 0.6, 0.3
GAP = 0.055
TINY = 5.0
UPRIGHT = 0.7  # inches for names that stand upright


def plot_strips(
    maps: NetMaps,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    truth: nx.DiGraph | None = None,
    thresholds: tuple[float, float] | None = None,
    oracle: bool = True,
    title: str = "",
) -> Figure:
    """Draw what each hidden node and each input of a network does to the outputs.

    One line for each layer, first layer first: its hidden nodes, and the inputs that it reads. A
    grid shows the outputs row by row in their order. As Figures 3 and 4 of the paper.

    Args:
        maps: see `strips_info`.
        inputs: see `strips_info`.
        outputs: see `strips_info`.
        truth: see `strips_info`.
        thresholds: see `strips_info`.
        oracle: see `strips_info`.
        title: above the figure.

    Returns:
        The figure.

    Raises:
        InputError: see `strips_info`.

    Example:
        >>> import numpy as np
        >>> maps = NetMaps(np.eye(2)[None], np.eye(2), np.eye(2)[None])
        >>> len(plot_strips(maps, ["a", "b"], ["c", "d"]).axes)
        2
    """
    info = strips_info(maps, inputs, outputs, truth=truth, thresholds=thresholds, oracle=oracle)
    columns, rows = grid_shape(len(outputs))
    cell = max(0.23 / columns, 0.03)
    return _Sheet(info, columns * cell, rows * cell, cell).draw(title)


class _Sheet:
    """Where everything stands, in inches."""

    def __init__(self, info: StripsInfo, wide: float, tall: float, cell: float) -> None:
        self.info, self.wide, self.tall, self.cell = info, wide, tall, cell
        self.step = wide + GAP
        self.marked = info.thresholds is not None
        self.line = tall + GAP + (0.1 if self.marked else 0.02)
        most = max((len(strip.hidden) for strip in info.strips), default=0)
        self.across = min(ACROSS, most)
        self.inputs = max((len(strip.inputs) for strip in info.strips), default=0)
        self.left = MARGIN + LABEL
        self.right = self.left + self.across * self.step + BETWEEN
        names = [node.name for strip in info.strips for node in strip.inputs]
        widest = max((measure(fit_text(name, UPRIGHT, TINY), TINY) for name in names), default=0.0)
        self.upright = widest > self.step - 0.02
        self.head = widest if self.upright else 0.1

    def draw(self, title: str) -> Figure:
        width = self.right + self.inputs * self.step - (0 if self.inputs else BETWEEN) + MARGIN
        width = max(width, 4.2)
        notes = [line for note in self.info.notes for line in wrap_text(note, width - 2.2)]
        top = 0.25 + TITLE * bool(title) + self.head + 0.14
        heights = [self._height(strip) for strip in self.info.strips]
        bottom = top + sum(heights)
        figure, axes = make_sheet(width, bottom + max(0.5, 0.16 + NOTE_LINE * len(notes)))
        write_title(axes, title, width)
        self._write_heads(axes, top)
        tiles, y = [], top
        for strip, height in zip(self.info.strips, heights, strict=True):
            tiles += self._place(axes, strip, y)
            y += height
        draw_tiles(axes, tiles, self.cell, self.info.most)
        words = "effect on the output"
        draw_scale(figure, MARGIN + 0.15, bottom + 0.2, self.info.most, words, self.info.saturated)
        write_lines(axes, 2.0, bottom + 0.1, notes)
        return figure

    def _height(self, strip: Strip) -> float:
        if not strip.hidden and not strip.inputs:
            return 0.22
        return max(1, math.ceil(len(strip.hidden) / ACROSS)) * self.line + 0.07

    def _write_heads(self, axes: Axes, top: float) -> None:
        y = top - self.head - 0.2
        write(axes, self.left, y, "hidden nodes", NORMAL, ha="left", color=GREY)
        first = next((strip.inputs for strip in self.info.strips if strip.inputs), ())
        at = self._find_inputs(top) - 0.035
        if first:
            write(axes, self.right, y, "inputs that the layer reads", NORMAL, ha="left", color=GREY)
        for place, node in enumerate(first):
            x = self.right + place * self.step + self.wide / 2
            self._write_name(axes, x, at, node.name)

    def _find_inputs(self, top: float) -> float:
        """The height of the first strip that has inputs."""
        for strip in self.info.strips:
            if strip.inputs:
                break
            top += self._height(strip)
        return top

    def _write_name(self, axes: Axes, x: float, y: float, name: str) -> None:
        if self.upright:
            label = fit_text(name, UPRIGHT, TINY)
            write(axes, x, y, label, TINY, ha="center", va="bottom", rotation=90)
        else:
            write(axes, x, y - 0.04, fit_text(name, self.step, TINY), TINY, ha="center")

    def _place(self, axes: Axes, strip: Strip, y: float) -> list[Tile]:
        if not strip.hidden and not strip.inputs:
            write(axes, MARGIN, y, strip.label, NORMAL, ha="left")
            write(axes, self.left, y, "nothing acts on any output", TINY + 1, ha="left", color=GREY)
            return []
        write(axes, MARGIN, y + self.tall / 2, strip.label, NORMAL, ha="left")
        tiles = []
        for place, node in enumerate(strip.hidden):
            x = self.left + place % ACROSS * self.step
            tiles.append(self._tile(axes, node, x, y + place // ACROSS * self.line))
        for place, node in enumerate(strip.inputs):
            tiles.append(self._tile(axes, node, self.right + place * self.step, y, named=False))
        return tiles

    def _tile(self, axes: Axes, node: StripNode, x: float, y: float, *, named: bool = True) -> Tile:
        if not node.match:
            return Tile(node.values, x, y, PALE, 0.5)
        if named:
            label = fit_text(node.match, self.step, TINY)
            write(axes, x + self.wide / 2, y - 0.05, label, TINY, ha="center")
        return Tile(node.values, x, y, INK, 1.1)
