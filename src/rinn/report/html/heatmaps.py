"""Heatmaps of what nodes do to the outputs, as inline SVG."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from rinn.errors import clip
from rinn.report.html.markup import Markup, element, svg

SHADES = 10
FAINT = 0.05
NODES_PER_ROW = 12
MOST_LISTED = 6


def draw_effects(values: Float[np.ndarray, " output"], most: float, label: str) -> Markup:
    """Draw one node's effects as a near-square grid, in the order of the outputs.

    Args:
        values: effects.
        most: the effect with the full colour.
        label: said in place of the picture.
    """
    columns, rows = grid_shape(len(values))
    cell = 10 if len(values) <= 64 else 5
    cells = _draw_cells(values, most, 0, 0, cell)
    return svg(columns * cell + 1, rows * cell + 1, label, cells, class_="small")


def draw_layer(
    maps: Float[np.ndarray, "hidden output"], most: float, outputs: Sequence[str], label: str
) -> Markup:
    """Draw the maps of one layer's hidden nodes side by side; those near zero are left out."""
    columns, rows = grid_shape(maps.shape[1])
    cell = 10 if maps.shape[1] <= 64 else 5
    across, down = columns * cell + 14, rows * cell + 14
    living = np.flatnonzero(find_living(maps, most))
    nodes = []
    for place, node in enumerate(living):
        x, y = place % NODES_PER_ROW * across, place // NODES_PER_ROW * down
        words = f"node {node + 1}: {describe_effects(maps[node], outputs)}"
        cells = _draw_cells(maps[node], most, x, y, cell)
        nodes.append(element("g", element("title", words), cells, class_="hidden"))
    height = math.ceil(len(living) / NODES_PER_ROW) * down
    return svg(min(len(living), NODES_PER_ROW) * across, height, label, *nodes, class_="small")


def find_living(maps: Float[np.ndarray, "... output"], most: float) -> Bool[np.ndarray, "..."]:
    """Tell the nodes that do something from those near zero.

    Example:
        >>> find_living(np.array([[1.0, 0.0], [0.04, -0.04]]), 1.0).tolist()
        [True, False]
    """
    return np.abs(maps).max(axis=-1) > FAINT * most


def describe_effects(values: Float[np.ndarray, " output"], outputs: Sequence[str]) -> str:
    """Say in words which outputs a node raises and lowers, the strongest first.

    Example:
        >>> describe_effects(np.array([0.2, 0.9, -0.5]), ["a", "b", "c"])
        'raises b, a; lowers c'
    """
    floor = FAINT * np.abs(values).max()
    parts = []
    for word, strength in (("raises", values), ("lowers", -values)):
        order = [int(i) for i in np.argsort(-strength, kind="stable") if strength[i] > floor]
        names = ", ".join(clip(outputs[i], 20) for i in order[:MOST_LISTED])
        more = f" and {len(order) - MOST_LISTED} more" if len(order) > MOST_LISTED else ""
        if order:
            parts.append(f"{word} {names}{more}")
    return "; ".join(parts) or "no effect"


def grid_shape(cells: int) -> tuple[int, int]:
    """Columns and rows of a near-square grid.

    Example:
        >>> grid_shape(16), grid_shape(5)
        ((4, 4), (3, 2))
    """
    columns = math.ceil(math.sqrt(cells))
    return columns, math.ceil(cells / columns)


def _draw_cells(
    values: Float[np.ndarray, " output"], most: float, x: float, y: float, cell: int
) -> Markup:
    """One path for each shade, so that thousands of cells stay small."""
    columns, rows = grid_shape(len(values))
    paths: dict[tuple[str, int], list[str]] = defaultdict(list)
    for place, value in enumerate(values):
        shade = round(SHADES * min(abs(value) / (most or 1.0), 1.0))
        kind = "plus" if value > 0 else "minus"
        if shade:
            at = f"M{x + place % columns * cell + 1:g} {y + place // columns * cell + 1:g}"
            paths[kind, shade].append(f"{at}h{cell - 1}v{cell - 1}h-{cell - 1}z")
    frame = element("rect", x=x + 0.5, y=y + 0.5, width=columns * cell, height=rows * cell,
                    class_="frame")  # fmt: skip
    shades = (
        element("path", d="".join(cells), class_=kind, fill_opacity=shade / SHADES)
        for (kind, shade), cells in paths.items()
    )
    return element("g", frame, *shades, class_="cells")
