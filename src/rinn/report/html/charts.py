"""Charts as inline SVG: axes, bars, histograms, the scatter of networks, curves, heatmaps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from rinn.errors import clip, count
from rinn.report.html.markup import Markup, element, scroll_box, svg

WIDTH, HEIGHT = 640.0, 380.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 624.0, 12.0, 332.0

BINS = 20
BAR = 140.0

MAX_POINTS = 120
HIGHEST = 0.98  # quantile of the losses; the first epochs would press all others flat

SHADES = 10
FAINT = 0.05
NODES_PER_ROW = 12
MAX_LISTED = 6


@dataclass(frozen=True)
class Axis:
    """Round ticks within a range, and the way from a value to its place."""

    ticks: list[float]
    place: Callable[[float], float]


def make_axis(values: Float[np.ndarray, " value"], start: float, stop: float) -> Axis:
    """Lay an axis along values, with a margin at both ends.

    Example:
        >>> axis = make_axis(np.array([0.0, 10.0]), 0.0, 110.0)
        >>> axis.ticks, axis.place(5.0)
        ([0.0, 5.0, 10.0], 55.0)
    """
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = low - margin, high + margin
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(factor for factor in (5, 2, 1) if (high - low) / (step * factor) >= 2)
    numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
    ticks = [float(f"{number * step:.6g}") for number in numbers]
    return Axis(ticks, lambda value: start + (value - low) / (high - low) * (stop - start))


def draw_chart(
    x: Axis, y: Axis, names: tuple[str, str], label: str, *marks: str, name: str | None = None
) -> Markup:
    """Draw a frame with ticks and the names of both axes around marks."""
    frame = element("rect", x=LEFT, y=TOP, width=RIGHT - LEFT, height=BOTTOM - TOP, class_="frame")
    lines = [
        element("path", d=f"M{LEFT:g} {y.place(tick):.1f}H{RIGHT:g}", class_="grid")
        for tick in y.ticks
    ]
    turn = f"translate(15 {(TOP + BOTTOM) / 2:g}) rotate(-90)"
    words = [
        *(_write(f"{tick:g}", x.place(tick), BOTTOM + 18, "middle") for tick in x.ticks),
        *(_write(f"{tick:g}", LEFT - 7, y.place(tick) + 4, "end") for tick in y.ticks),
        _write(names[0], (LEFT + RIGHT) / 2, HEIGHT - 8, "middle"),
        _write(names[1], 0, 0, "middle", turn),
    ]
    return svg(WIDTH, HEIGHT, label, frame, *lines, *words, *marks, class_="chart", id_=name)


def _write(words: str, x: float, y: float, anchor: str, transform: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, text_anchor=anchor, transform=transform, class_="tick")


def draw_bar(share: float) -> Markup:
    """Draw a share as a part of a bar.

    Example:
        >>> "50.0%" in draw_bar(0.5)
        True
    """
    whole = element("rect", class_="all", x=0, y=0, width=BAR, height=8, rx=4)
    part = element("rect", class_="part", x=0, y=0, width=BAR * min(1.0, share), height=8, rx=4)
    return svg(BAR, 8, f"{share:.1%}", whole, part, class_="share-bar share")


def draw_histogram(shares: Sequence[float] | np.ndarray, name: str, what: str) -> Markup:
    """Draw how many genes have which share."""
    values = np.asarray(shares, dtype=float)
    width = _choose_width(float(values.max()))
    bins = np.arange(0.0, values.max() + width, width)
    numbers, edges = np.histogram(values, bins if len(bins) > 1 else np.array([0.0, width]))
    x = make_axis(np.array([0.0, edges[-1]]), LEFT, RIGHT)
    top = make_axis(np.array([0.0, float(numbers.max())]), BOTTOM, TOP)
    floor = top.place(0.0)
    y = Axis([tick for tick in top.ticks if tick == int(tick)], top.place)
    bars = [
        element(
            "rect", element("title", f"{number} {what} in {low:.0%} to {high:.0%}"),
            class_="bar", x=x.place(low) + 1, y=y.place(number),
            width=max(1.0, x.place(high) - x.place(low) - 2), height=floor - y.place(number),
        )
        for number, low, high in zip(numbers.tolist(), edges[:-1], edges[1:], strict=True)
        if number
    ]  # fmt: skip
    label = f"Histogram of {what}: {name}"
    chart = scroll_box(draw_chart(x, y, (name, what), label, *bars), label)
    return element("figure", chart, class_="chart")


def _choose_width(most: float) -> float:
    """A round width, so that there are at most some twenty bars."""
    step = 10.0 ** math.floor(math.log10(max(most, 0.001) / BINS))
    return next(step * factor for factor in (1, 2, 5, 10) if most / (step * factor) <= BINS)


@dataclass(frozen=True)
class ScatterInfo:
    """Networks that took part in the choice, and how many did not."""

    trial: Int[np.ndarray, " net"]
    size: Float[np.ndarray, " net"]
    loss: Float[np.ndarray, " net"]
    kept: Bool[np.ndarray, " net"]
    diverged: int
    beyond: int


def scatter_info(trials: pd.DataFrame) -> ScatterInfo:
    """Take from trials.csv what the scatter shows.

    Example:
        >>> trials = pd.DataFrame({"sum_abs_weights": [1.0, 2.0, np.nan], "kept": [True, False,
        ...     False], "validation_loss": [0.1, 0.2, np.nan], "distance": [0.0, np.nan, np.nan]})
        >>> info = scatter_info(trials)
        >>> len(info.size), info.diverged, info.beyond
        (1, 1, 1)
    """
    size, loss = (trials[name].to_numpy(float) for name in ("sum_abs_weights", "validation_loss"))
    finite = np.isfinite(size) & np.isfinite(loss)
    shown = finite & np.isfinite(trials["distance"].to_numpy(float))
    numbers = trials.get("trial", trials.index)
    return ScatterInfo(
        np.asarray(numbers, int)[shown],
        size[shown],
        loss[shown],
        trials["kept"].to_numpy(bool)[shown],
        int((~finite).sum()),
        int((finite & ~shown).sum()),
    )


def draw_scatter(info: ScatterInfo, name: str | None = None) -> Markup:
    """Draw every network that took part in the choice, with the kept ones marked."""
    x, y = make_axis(info.size, LEFT, RIGHT), make_axis(info.loss, BOTTOM, TOP)
    dots = []
    for i in np.argsort(info.kept, kind="stable"):  # the kept ones last, so that they lie on top
        kind, radius = ("kept", 5.0) if info.kept[i] else ("other", 3.5)
        place = {"cx": x.place(info.size[i]), "cy": y.place(info.loss[i])}
        dots.append(element("circle", **place, r=radius, class_=f"net {kind}",
                            data_t=int(info.trial[i])))  # fmt: skip
    label = (
        f"Scatter of {count(len(info.size), 'network')}: sum of absolute weights against "
        f"validation loss; {int(info.kept.sum())} kept."
    )
    return draw_chart(x, y, ("sum of |w|", "validation loss"), label, *dots, name=name)


def curves_info(curves: pd.DataFrame) -> dict[int, np.ndarray]:
    """Give the validation loss of each network by epoch, of long curves at most 120 points.

    Example:
        >>> rows = {"trial": [3, 3], "epoch": [1, 2], "validation_loss": [0.5, 0.25]}
        >>> curves_info(pd.DataFrame(rows))[3].tolist()
        [[1.0, 0.5], [2.0, 0.25]]
    """
    found = {}
    for trial, rows in curves.groupby("trial", sort=True):
        points = rows[["epoch", "validation_loss"]].to_numpy(float)
        points = points[np.isfinite(points).all(axis=1)]
        chosen = np.unique(np.linspace(0, len(points) - 1, min(len(points), MAX_POINTS)).round())
        if len(points):
            found[int(str(trial))] = points[chosen.astype(int)]
    return found


def draw_curves(found: dict[int, np.ndarray], name: str | None = None) -> Markup:
    """Draw one line for each network."""
    points = np.concatenate([*found.values()])
    most = float(np.quantile(points[:, 1], HIGHEST))
    x = make_axis(points[:, 0], LEFT, RIGHT)
    y = make_axis(np.minimum(points[:, 1], most), BOTTOM, TOP)
    lines = []
    for trial, line in found.items():
        places = (f"{x.place(epoch):.1f} {y.place(min(loss, most)):.1f}" for epoch, loss in line)
        lines.append(element("path", d=f"M{'L'.join(places)}", class_="curve", data_t=trial))
    label = f"Validation loss by epoch of {count(len(found), 'network')}."
    return draw_chart(x, y, ("epoch", "validation loss"), label, *lines, name=name)


def draw_effects(values: Float[np.ndarray, " output"], most: float, label: str) -> Markup:
    """Draw one node's effects as a near-square grid, in the order of the outputs."""
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
        names = ", ".join(clip(outputs[i], 20) for i in order[:MAX_LISTED])
        more = f" and {len(order) - MAX_LISTED} more" if len(order) > MAX_LISTED else ""
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
