"""The ground-truth patterns: which outputs each latent and each input of a graph reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rinn.errors import InputError
from rinn.graphs.basics import by_role, check_graph, latents_in_order
from rinn.graphs.patterns import reach_vectors
from rinn.report.figures.canvas import (
    GREY,
    LARGE,
    MARGIN,
    NORMAL,
    NOTE_LINE,
    SMALL,
    TITLE,
    fit_text,
    make_sheet,
    measure,
    wrap_text,
    write,
    write_lines,
    write_title,
)
from rinn.report.figures.tiles import Tile, draw_key, draw_tiles, grid_shape, key_size

MAX_TILES = 48  # of latents, and of inputs
PAGE = 7.0


@dataclass(frozen=True)
class PatternsInfo:
    """The distinct patterns of the latents in causal order, and the patterns of the inputs.

    `names` are the latents of each pattern. Latents that reach no output have no pattern. Of more
    than 48 inputs only those with a pattern are there.
    """

    outputs: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    latents: Bool[np.ndarray, "pattern output"]
    input_names: tuple[str, ...]
    inputs: Bool[np.ndarray, "input output"]
    inputs_without: int


def patterns_info(graph: nx.DiGraph) -> PatternsInfo:
    """Compute the vectors over the outputs that the nodes of a graph reach.

    Example:
        >>> graph = nx.DiGraph([("x", "a"), ("a", "b"), ("b", "y0"), ("b", "y1")])
        >>> roles = dict(x="input", a="latent", b="latent", y0="output", y1="output")
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> patterns_info(graph).names
        (('a', 'b'),)
    """
    check_graph(graph)
    outputs = by_role(graph, "output")
    if not outputs:
        raise InputError("graph must have outputs to show patterns of, but has none; add some")
    latents = latents_in_order(graph)
    groups: dict[tuple[bool, ...], list[str]] = {}
    for name, vector in zip(latents, reach_vectors(graph, latents, outputs).tolist(), strict=True):
        if any(vector):
            groups.setdefault(tuple(vector), []).append(name)
    inputs = by_role(graph, "input")
    reached = reach_vectors(graph, inputs, outputs)
    shown = [i for i in range(len(inputs)) if len(inputs) <= MAX_TILES or reached[i].any()]
    return PatternsInfo(
        outputs=tuple(outputs),
        names=tuple(tuple(names) for names in groups.values()),
        latents=np.array(list(groups), dtype=bool).reshape(-1, len(outputs)),
        input_names=tuple(inputs[i] for i in shown),
        inputs=reached[shown],
        inputs_without=len(inputs) - len(shown),
    )


def plot_patterns(graph: nx.DiGraph, *, title: str = "") -> Figure:
    """Draw which outputs each latent and each input reaches, as grids in the order of outputs.

    Latents that reach the same outputs share a grid. With the paper's graph this is its Figure 2.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> len(plot_patterns(paper_graph()).axes)
        1
    """
    info = patterns_info(graph)
    names = ["/".join(names) for names in info.names]
    blocks = [
        ("latents", names[:MAX_TILES], info.latents),
        ("inputs", list(info.input_names[:MAX_TILES]), info.inputs),
    ]
    return _Sheet(info, [block for block in blocks if block[1]]).draw(title)


class _Sheet:
    """Where everything stands, in inches."""

    def __init__(self, info: PatternsInfo, blocks: list[tuple[str, list[str], np.ndarray]]) -> None:
        self.info, self.blocks = info, blocks
        columns, rows = grid_shape(len(info.outputs))
        self.cell = max(0.56 / columns, 0.04)
        self.wide = columns * self.cell
        self.step, self.line = self.wide + 0.22, rows * self.cell + 0.32
        most = max((len(names) for _, names, _ in blocks), default=1)
        self.across = max(1, min(most, int((PAGE - 2 * MARGIN) / self.step)))

    def draw(self, title: str) -> Figure:
        key = key_size(self.info.outputs)
        width = max(self.across * self.step, key[0], measure(title, LARGE), 3.0) + 2 * MARGIN
        width = min(width, max(PAGE, key[0] + 2 * MARGIN))
        lines = wrap_text(_say_note(self.info), width - 2 * MARGIN)
        top = 0.2 + TITLE * bool(title)
        tall = sum(0.3 + self._lines(names) * self.line for _, names, _ in self.blocks)
        bottom = top + tall + 0.14 + key[1]
        figure, axes = make_sheet(width, bottom + 0.15 + NOTE_LINE * len(lines))
        write_title(axes, title, width)
        tiles, y = [], top
        for head, names, values in self.blocks:
            write(axes, MARGIN, y, head, NORMAL, ha="left", color=GREY)
            tiles += self._place(axes, names, values, y + 0.3)
            y += 0.3 + self._lines(names) * self.line
        draw_tiles(axes, tiles, self.cell, 1.0)
        write(axes, MARGIN, y, "order of the outputs", NORMAL, ha="left", color=GREY)
        draw_key(axes, MARGIN, y + 0.14, self.info.outputs)
        write_lines(axes, MARGIN, bottom + 0.12, lines)
        return figure

    def _lines(self, names: list[str]) -> int:
        return math.ceil(len(names) / self.across)

    def _place(self, axes: Axes, names: list[str], values: np.ndarray, y: float) -> list[Tile]:
        tiles = []
        for place, name in enumerate(names):
            x, own = MARGIN + place % self.across * self.step, y + place // self.across * self.line
            tiles.append(Tile(values[place].astype(float), x, own))
            label = fit_text(name, self.step - 0.04, SMALL)
            write(axes, x + self.wide / 2, own - 0.08, label, SMALL, ha="center")
        return tiles


def _say_note(info: PatternsInfo) -> str:
    parts = []
    for what, count in (("latent patterns", len(info.names)), ("inputs", len(info.input_names))):
        if count > MAX_TILES:
            parts.append(f"{count - MAX_TILES} more {what}")
    if info.inputs_without:
        parts.append(f"{info.inputs_without} inputs that reach no output")
    return f"Not drawn: {', '.join(parts)}." if parts else ""
