"""Heatmaps of nodes: what each does to the outputs, as near-square grids of cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rinn.report.figures.canvas import (
    BLUE,
    FONT,
    GREY,
    INK,
    PALE,
    SMALL,
    VERMILION,
    WHITE,
    fit_text,
    measure,
    write,
)

FAINT = 0.02  # share of the full colour below which a cell stays empty
MANY_CELLS = 6000  # beyond this, vector files hold the cells as dots
SHADES = LinearSegmentedColormap.from_list("rinn", [VERMILION, WHITE, BLUE])
KEY_CELL = 0.36


@dataclass(frozen=True)
class Tile:
    """One heatmap on a sheet: the values of a node, and its upper left corner in inches."""

    values: Float[np.ndarray, " output"]
    x: float
    y: float
    frame: str = PALE
    frame_width: float = 0.5


def grid_shape(cells: int) -> tuple[int, int]:
    """Columns and rows of a near-square grid.

    Example:
        >>> grid_shape(16), grid_shape(84), grid_shape(5)
        ((4, 4), (10, 9), (3, 2))
    """
    columns = max(1, math.ceil(math.sqrt(cells)))
    return columns, max(1, math.ceil(cells / columns))


def draw_tiles(axes: Axes, tiles: Sequence[Tile], cell: float, most: float) -> None:
    """Draw heatmaps; a cell below zero also has a white dash, so that colour is not alone."""
    cells, values, dashes = [], [], []
    for tile in tiles:
        columns, _ = grid_shape(len(tile.values))
        for place in np.flatnonzero(np.abs(tile.values) > FAINT * most):
            x = tile.x + place % columns * cell
            y = tile.y + place // columns * cell
            cells.append(Rectangle((x, y), cell, cell))
            values.append(float(tile.values[place]))
            if tile.values[place] < -0.2 * most:
                dashes.append([(x + 0.25 * cell, y + cell / 2), (x + 0.75 * cell, y + cell / 2)])
    dots = len(cells) > MANY_CELLS
    axes.add_collection(
        PatchCollection(
            cells,
            array=np.array(values),
            cmap=SHADES,
            norm=Normalize(-most, most),
            edgecolors=WHITE,
            linewidths=min(0.4, 6 * cell),
            rasterized=dots,
            zorder=2,
        )
    )
    axes.add_collection(
        LineCollection(dashes, colors=WHITE, linewidths=8 * cell, rasterized=dots, zorder=3)
    )
    axes.add_collection(PatchCollection(
        [_outline(tile, cell) for tile in tiles],
        facecolors="none",
        edgecolors=[tile.frame for tile in tiles],
        linewidths=[tile.frame_width for tile in tiles],
        zorder=4,
    ))  # fmt: skip


def _outline(tile: Tile, cell: float) -> Rectangle:
    columns, rows = grid_shape(len(tile.values))
    return Rectangle((tile.x, tile.y), columns * cell, rows * cell)


def draw_scale(
    figure: Figure, x: float, y: float, most: float, words: str, saturated: bool
) -> None:
    """Draw the colours' scale at a place of a sheet, in inches; saturated, its ends mean more."""
    width, height = figure.get_size_inches()
    axes = figure.add_axes((x / width, 1 - (y + 0.09) / height, 1.3 / width, 0.09 / height))
    bar = figure.colorbar(
        ScalarMappable(Normalize(-most, most), SHADES), cax=axes, orientation="horizontal"
    )
    less, more = ("≤ ", "≥ ") if saturated else ("", "")
    ends = f"{less}\N{MINUS SIGN}{most:.2g}", f"{more}{most:.2g}"
    bar.set_ticks([-most, 0, most], labels=[ends[0], "0", ends[1]])
    bar.outline.set_edgecolor(PALE)
    axes.tick_params(
        labelsize=SMALL, labelfontfamily=FONT, labelcolor=INK, color=GREY, length=2, pad=1.5
    )
    sheet = figure.axes[0]
    write(sheet, x, y - 0.1, words, SMALL, ha="left")
    dash: dict[str, Any] = {"color": WHITE, "linewidth": 0.9}
    axes.plot([-0.92 * most, -0.78 * most], [0.5, 0.5], **dash)


def draw_key(axes: Axes, x: float, y: float, outputs: Sequence[str]) -> tuple[float, float]:
    """Draw which cell is which output, with names where they fit; give its width and height."""
    columns, rows = grid_shape(len(outputs))
    longest = max((measure(fit_text(name, 2.0, 6.0), 6.0) for name in outputs), default=0.0)
    cell = min(max(KEY_CELL, longest + 0.08), 0.75)
    tall = 0.2
    for place, name in enumerate(outputs):
        left, top = x + place % columns * cell, y + place // columns * tall
        axes.add_patch(Rectangle((left, top), cell, tall, fill=False, edgecolor=PALE,
                                 linewidth=0.5))  # fmt: skip
        label = fit_text(name, cell - 0.04, 6.0)
        write(axes, left + cell / 2, top + tall / 2, label, 6.0, ha="center")
    return columns * cell, rows * tall


def key_size(outputs: Sequence[str]) -> tuple[float, float]:
    """The width and height that `draw_key` takes, in inches."""
    columns, rows = grid_shape(len(outputs))
    longest = max((measure(fit_text(name, 2.0, 6.0), 6.0) for name in outputs), default=0.0)
    return columns * min(max(KEY_CELL, longest + 0.08), 0.75), rows * 0.2
