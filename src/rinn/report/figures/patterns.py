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
from rinn.graphs.protocol import reach_vectors
from rinn.report.figures import canvas
from rinn.report.figures.tiles import Tile, draw_key, draw_tiles, key_size
from rinn.report.info import grid_shape

MAX_TILES = 48  # of latents, and of inputs
PAGE = 7.0


@dataclass(frozen=True)
class PatternsInfo:
    """The distinct patterns of the latents, whose `names` share one, and those of the inputs.

    Latents that reach no output have none; of more than 48 inputs those with a pattern are there.
    """

    outputs: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    latents: Bool[np.ndarray, "pattern output"]
    input_names: tuple[str, ...]
    inputs: Bool[np.ndarray, "input output"]
    inputs_without: int


def patterns_info(graph: nx.DiGraph) -> PatternsInfo:
    """Compute the vectors over the outputs that the nodes of a graph reach."""
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


def plot_patterns(info: PatternsInfo, *, title: str = "") -> Figure:
    """Draw the outputs that latents and inputs reach as grids, as Figure 2 of the paper."""
    names = ["/".join(names) for names in info.names]
    blocks = [
        ("latents", names[:MAX_TILES], info.latents),
        ("inputs", list(info.input_names[:MAX_TILES]), info.inputs),
    ]
    return _Sheet(info, [block for block in blocks if block[1]]).draw(title)


class _Sheet:
    """Positions in inches."""

    def __init__(self, info: PatternsInfo, blocks: list[tuple[str, list[str], np.ndarray]]) -> None:
        self.info, self.blocks = info, blocks
        columns, rows = grid_shape(len(info.outputs))
        self.cell = max(0.56 / columns, 0.04)
        self.wide = columns * self.cell
        self.step, self.line = self.wide + 0.22, rows * self.cell + 0.32
        most = max((len(names) for _, names, _ in blocks), default=1)
        self.across = max(1, min(most, int((PAGE - 2 * canvas.MARGIN) / self.step)))

    def draw(self, title: str) -> Figure:
        key = key_size(self.info.outputs)
        width = (
            max(self.across * self.step, key[0], canvas.measure(title, canvas.LARGE), 3.0)
            + 2 * canvas.MARGIN
        )
        width = min(width, max(PAGE, key[0] + 2 * canvas.MARGIN))
        counts = ("latent patterns", len(self.info.names)), ("inputs", len(self.info.input_names))
        more = [f"{n - MAX_TILES} more {what}" for what, n in counts if n > MAX_TILES]
        if self.info.inputs_without:
            more.append(f"{self.info.inputs_without} inputs that reach no output")
        note = f"Not drawn: {', '.join(more)}." if more else ""
        lines = canvas.wrap_text(note, width - 2 * canvas.MARGIN)
        top = 0.2 + canvas.TITLE * bool(title)
        tall = sum(0.3 + self._lines(names) * self.line for _, names, _ in self.blocks)
        bottom = top + tall + 0.14 + key[1]
        figure, axes = canvas.make_sheet(width, bottom + 0.15 + canvas.NOTE_LINE * len(lines))
        canvas.write_title(axes, title, width)
        tiles, y = [], top
        for head, names, values in self.blocks:
            canvas.label(axes, canvas.MARGIN, y, head)
            tiles += self._place(axes, names, values, y + 0.3)
            y += 0.3 + self._lines(names) * self.line
        draw_tiles(axes, tiles, self.cell, 1.0)
        canvas.label(axes, canvas.MARGIN, y, "order of the outputs")
        draw_key(axes, canvas.MARGIN, y + 0.14, self.info.outputs)
        canvas.write_lines(axes, canvas.MARGIN, bottom + 0.12, lines)
        return figure

    def _lines(self, names: list[str]) -> int:
        return math.ceil(len(names) / self.across)

    def _place(self, axes: Axes, names: list[str], values: np.ndarray, y: float) -> list[Tile]:
        tiles = []
        for number, name in enumerate(names):
            x = canvas.MARGIN + number % self.across * self.step
            top = y + number // self.across * self.line
            tiles.append(Tile(values[number].astype(float), x, top))
            label = canvas.fit_text(name, self.step - 0.04, canvas.SMALL)
            canvas.write(axes, x + self.wide / 2, top - 0.08, label, canvas.SMALL, ha="center")
        return tiles
