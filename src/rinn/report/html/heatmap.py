"""The net effects of inputs on outputs as a heatmap with a name on every row and column."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float

from rinn.errors import InputError, count
from rinn.graphs.layout import layer_nodes
from rinn.report.html.layout import find_label_width, fit_label
from rinn.report.html.markup import (
    Markup,
    element,
    join,
    key,
    paragraph,
    save_buttons,
    scroll_box,
    svg,
)
from rinn.report.info import graph_info, take_nodes
from rinn.runs.read import RunContents, load_effects

MAX_SHOWN = 120  # rows, and columns
CELL, LARGE_CELL, SHADES = 15, 22, 10
MAX_LARGE = 30  # rows and columns with large cells
ROOM = 110.0  # pixels for a name
MIN_SHOWN = 2.0  # standard errors; smaller effects are left blank


@dataclass(frozen=True)
class HeatmapInfo:
    """Effects in standard errors, in the order of the drawing, and which the graph has a path for.

    `total` counts the inputs and outputs of the run.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    values: Float[np.ndarray, "input output"]
    reached: Bool[np.ndarray, "input output"]
    total: tuple[int, int]


def heatmap_info(contents: RunContents) -> HeatmapInfo | None:
    """Take the estimated effects of the inputs and outputs that are drawn; None without effects."""
    try:
        values, names = load_effects(contents.folder)
    except InputError:
        return None
    graph, outputs = contents.graph, contents.outputs
    rows, columns = ({name: i for i, name in enumerate(side)} for side in (names, outputs))
    drawn = graph_info(graph).graph
    drawn = drawn if drawn.number_of_edges() else take_nodes(graph, {*graph})
    order = layer_nodes(drawn).columns
    strength = np.abs(values)
    shown_rows = _choose(order[0], {name: strength[i].max() for name, i in rows.items()})
    shown_columns = _choose(order[-1], {n: strength[:, i].max() for n, i in columns.items()})
    cells = values[np.ix_([rows[n] for n in shown_rows], [columns[n] for n in shown_columns])]
    reached = [[name in below for name in shown_columns]
               for below in (nx.descendants(graph, name) for name in shown_rows)]  # fmt: skip
    return HeatmapInfo(tuple(shown_rows), tuple(shown_columns), cells,
                       np.array(reached, bool).reshape(cells.shape),
                       (len(names), len(outputs)))  # fmt: skip


def _choose(order: Sequence[str], strength: dict[str, float]) -> list[str]:
    known = [name for name in order if name in strength]
    chosen = set(sorted(known, key=lambda name: -strength[name])[:MAX_SHOWN])
    return [name for name in known if name in chosen]


def render_heatmap(info: HeatmapInfo) -> Markup:
    """Draw the heatmap, with what the page's script needs to link it with the graph."""
    shown = (len(info.inputs), len(info.outputs))
    text = (
        "What each input does to each output by all paths, as estimated from the data, in units of "
        f"its standard error; effects below {MIN_SHOWN:g} are left blank. A dot: the graph has a "
        "path from the input to the output. A strong colour without a dot is an effect that the "
        "graph does not explain. "
    )
    if shown != info.total:
        text += (
            f"Shown: {shown[0]} of {count(info.total[0], 'input')} and {shown[1]} of "
            f"{count(info.total[1], 'output')}, those with edges; effects.csv has all. "
        )
    most = float(np.abs(info.values).max(initial=0.0))
    legend = [
        key("plus", "raises"),
        key("minus", "lowers"),
        f"strongest: {most:.3g} standard errors",
    ]
    how = element(
        "p", "Select a cell to highlight its paths in the graph; arrow keys move from cell to "
        "cell.", class_="note with-script", hidden=True,
    )  # fmt: skip
    tools = element(
        "div",
        element("p", id_="cell", class_="status", role="status"),
        element("a", "Show in the graph", href="#graph-panel", id_="to-graph", hidden=True),
        save_buttons("heat", "net-effects", "CSV"),
        class_="picture-tools with-script",
        hidden=True,
    )
    drawing = scroll_box(draw_heatmap(info, most), "Heatmap of net effects", id_="heat-box")
    caption = element(
        "figcaption",
        element("p", *(element("span", one) for one in legend), class_="legend"),
        how,
    )
    panel = element("figure", tools, drawing, caption, class_="panel")
    return join([paragraph(text.strip()), panel])


def draw_heatmap(info: HeatmapInfo, most: float) -> Markup:
    """Draw cells, one path for each shade, and names that stay in sight while the box scrolls."""
    side = LARGE_CELL if max(info.values.shape) <= MAX_LARGE else CELL
    left, top = (find_label_width(names, ROOM) for names in (info.inputs, info.outputs))
    paths: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row, column in zip(*np.nonzero(np.abs(info.values) >= MIN_SHOWN), strict=True):
        value = info.values[row, column]
        shade = max(1, round(SHADES * abs(value) / most))
        x, y = left + side * column, top + side * row
        paths["plus" if value > 0 else "minus", shade].append(
            f"M{x + 0.5:g} {y + 0.5:g}h{side - 1}v{side - 1}h-{side - 1}z"
        )
    dots = "".join(f"M{left + side * (column + 0.5):g} {top + side * (row + 0.5):g}h0"
                   for row, column in zip(*np.nonzero(info.reached), strict=True))  # fmt: skip
    wide, high = side * len(info.outputs), side * len(info.inputs)
    rows = [
        element("text", fit_label(name, ROOM), x=left - 6, y=top + side * (i + 0.5) + 4,
                text_anchor="end", data_n=i)
        for i, name in enumerate(info.inputs)
    ]  # fmt: skip
    columns = [
        element("text", fit_label(name, ROOM), text_anchor="start", data_n=i,
                transform=f"translate({left + side * (i + 0.5) + 4:g} {top - 6:g}) rotate(-90)")
        for i, name in enumerate(info.outputs)
    ]  # fmt: skip
    cells = element(
        "g",
        element("rect", class_="frame", x=left, y=top, width=wide, height=high),
        *(element("path", d="".join(parts), class_=kind, fill_opacity=shade / SHADES)
          for (kind, shade), parts in sorted(paths.items())),
        element("path", d=dots, class_="dots") if dots else None,
        element("rect", id_="cursor", class_="cursor", width=side, height=side, display="none"),
        class_="cells",
    )  # fmt: skip
    label = (
        f"Heatmap of the net effects of {count(len(info.inputs), 'input')} (rows) on "
        f"{count(len(info.outputs), 'output')} (columns)."
    )
    names = (
        element("g", element("rect", class_="back", width=left + wide, height=top), *columns,
                class_="column-names moves"),
        element("g", element("rect", class_="back", y=top, width=left, height=high), *rows,
                class_="row-names moves"),
        element("rect", class_="back corner moves", width=left, height=top),
    )  # fmt: skip
    return svg(left + wide + 8, top + high + 4, label, cells, *names, class_="heat", id_="heat",
               data_left=left, data_top=top, data_cell=side)  # fmt: skip


def heat_payload(info: HeatmapInfo, number: dict[str, int]) -> dict[str, Any]:
    """The effects for the page's script, in hundredths of a standard error."""
    cells = np.clip(np.round(100 * info.values), -32767, 32767).astype("<i2")
    return {
        "inputs": [number[name] for name in info.inputs],
        "outputs": [number[name] for name in info.outputs],
        "cells": base64.b64encode(cells.tobytes()).decode("ascii"),
    }
