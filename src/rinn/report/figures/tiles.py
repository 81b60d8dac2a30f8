"""Heatmaps of nodes: what each does to the outputs, as near-square grids of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rinn.report.figures import canvas
from rinn.report.info import grid_shape

FAINT = 0.02  # fraction of the full colour up to which a cell stays empty
MANY_CELLS = 6000  # beyond this, vector files hold the cells as dots
SHADES = LinearSegmentedColormap.from_list("rinn", [canvas.VERMILION, canvas.WHITE, canvas.BLUE])
KEY_CELL, KEY_HEIGHT = 0.36, 0.2  # inches


@dataclass(frozen=True)
class Tile:
    """One heatmap on a sheet: the values of a node, and its upper left corner in inches."""

    values: Float[np.ndarray, " output"]
    x: float
    y: float
    frame: str = canvas.PALE
    frame_width: float = 0.5


def draw_tiles(axes: Axes, tiles: Sequence[Tile], cell: float, most: float) -> None:
    """Draw heatmaps; a cell below zero also has a white dash, so that colour is not alone."""
    cells, values, dashes = [], [], []
    for tile in tiles:
        columns, _ = grid_shape(len(tile.values))
        for index in np.flatnonzero(np.abs(tile.values) > FAINT * most):
            x = tile.x + index % columns * cell
            y = tile.y + index // columns * cell
            cells.append(Rectangle((x, y), cell, cell))
            values.append(float(tile.values[index]))
            if tile.values[index] < -0.2 * most:
                dashes.append([(x + 0.25 * cell, y + cell / 2), (x + 0.75 * cell, y + cell / 2)])
    dots = len(cells) > MANY_CELLS
    axes.add_collection(PatchCollection(
        cells, array=np.array(values), cmap=SHADES, norm=Normalize(-most, most),
        edgecolors=canvas.WHITE, linewidths=min(0.4, 6 * cell), rasterized=dots, zorder=2,
    ))  # fmt: skip
    axes.add_collection(
        LineCollection(dashes, colors=canvas.WHITE, linewidths=8 * cell, rasterized=dots, zorder=3)
    )
    shapes = [(tile, *grid_shape(len(tile.values))) for tile in tiles]
    axes.add_collection(PatchCollection(
        [Rectangle((tile.x, tile.y), wide * cell, high * cell) for tile, wide, high in shapes],
        facecolors="none", edgecolors=[tile.frame for tile in tiles],
        linewidths=[tile.frame_width for tile in tiles], zorder=4,
    ))  # fmt: skip


def draw_scale(
    figure: Figure, x: float, y: float, most: float, label: str, saturated: bool
) -> None:
    """Draw the scale of colours on a sheet; saturated, its ends stand for larger effects too."""
    width, height = figure.get_size_inches()
    axes = figure.add_axes((x / width, 1 - (y + 0.09) / height, 1.3 / width, 0.09 / height))
    bar = figure.colorbar(
        ScalarMappable(Normalize(-most, most), SHADES), cax=axes, orientation="horizontal"
    )
    less, more = ("≤ ", "≥ ") if saturated else ("", "")
    ends = f"{less}\N{MINUS SIGN}{most:.2g}", f"{more}{most:.2g}"
    bar.set_ticks([-most, 0, most], labels=[ends[0], "0", ends[1]])
    bar.outline.set_edgecolor(canvas.PALE)
    axes.tick_params(labelsize=canvas.SMALL, labelfontfamily=canvas.FONT, labelcolor=canvas.INK,
                     color=canvas.GREY, length=2, pad=1.5)  # fmt: skip
    canvas.write(figure.axes[0], x, y - 0.1, label, canvas.SMALL, ha="left")
    axes.plot([-0.92 * most, -0.78 * most], [0.5, 0.5], color=canvas.WHITE, linewidth=0.9)


def draw_key(axes: Axes, x: float, y: float, outputs: Sequence[str]) -> None:
    """Draw which cell is which output, with names where they fit."""
    columns, _ = grid_shape(len(outputs))
    wide = key_size(outputs)[0] / columns
    for number, name in enumerate(outputs):
        left, top = x + number % columns * wide, y + number // columns * KEY_HEIGHT
        axes.add_patch(Rectangle((left, top), wide, KEY_HEIGHT, fill=False,
                                 edgecolor=canvas.PALE, linewidth=0.5))  # fmt: skip
        label = canvas.fit_text(name, wide - 0.04, 6.0)
        canvas.write(axes, left + wide / 2, top + KEY_HEIGHT / 2, label, 6.0, ha="center")


def key_size(outputs: Sequence[str]) -> tuple[float, float]:
    """The width and height that `draw_key` takes, in inches."""
    columns, rows = grid_shape(len(outputs))
    longest = canvas.find_widest(outputs, 2.0, 6.0)
    return columns * min(max(KEY_CELL, longest + 0.08), 0.75), rows * KEY_HEIGHT
