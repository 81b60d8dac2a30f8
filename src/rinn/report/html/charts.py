"""Charts as inline SVG: axes, bars, histograms, the scatter of networks, curves, heatmaps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from rinn.errors import clip, count
from rinn.report.html.markup import Markup, element, scroll_box, svg
from rinn.report.info import FAINT, CurvesInfo, SelectionInfo, find_active, grid_shape

WIDTH, HEIGHT = 640.0, 380.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 624.0, 12.0, 332.0

BINS = 20
BAR = 140.0

MAX_POINTS = 120
HIGHEST = 0.98  # quantile of the losses; the first epochs would flatten all others

SHADES = 10
NODES_PER_ROW = 12
MAX_LISTED = 6


@dataclass(frozen=True)
class Axis:
    """Round ticks within a range, and the position of a value."""

    ticks: list[float]
    position: Callable[[float], float]


def make_axis(values: Float[np.ndarray, " value"], start: float, stop: float) -> Axis:
    """Make an axis of values, with a margin at both ends."""
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
        element("path", d=f"M{LEFT:g} {y.position(tick):.1f}H{RIGHT:g}", class_="grid")
        for tick in y.ticks
    ]
    turn = f"translate(15 {(TOP + BOTTOM) / 2:g}) rotate(-90)"
    texts = [
        *(_write(f"{tick:g}", x.position(tick), BOTTOM + 18, "middle") for tick in x.ticks),
        *(_write(f"{tick:g}", LEFT - 7, y.position(tick) + 4, "end") for tick in y.ticks),
        _write(names[0], (LEFT + RIGHT) / 2, HEIGHT - 8, "middle"),
        _write(names[1], 0, 0, "middle", turn),
    ]
    return svg(WIDTH, HEIGHT, label, frame, *lines, *texts, *marks, class_="chart", id_=name)


def _write(text: str, x: float, y: float, anchor: str, transform: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, transform=transform, class_="tick")


def draw_bar(fraction: float) -> Markup:
    """Draw a fraction as the filled part of a bar."""
    full = element("rect", class_="all", x=0, y=0, width=BAR, height=8, rx=4)
    part = element("rect", class_="part", x=0, y=0, width=BAR * min(1.0, fraction), height=8, rx=4)
    return svg(BAR, 8, f"{fraction:.1%}", full, part, class_="fraction-bar fraction")


def draw_histogram(fractions: Sequence[float] | np.ndarray, name: str, what: str) -> Markup:
    """Draw how many genes have which fraction."""
    values = np.asarray(fractions, dtype=float)
    most = float(values.max())
    step = 10.0 ** math.floor(math.log10(max(most, 0.001) / BINS))
    # A round width that gives at most twenty bars.
    width = next(step * factor for factor in (1, 2, 5, 10) if most / (step * factor) <= BINS)
    bins = np.arange(0.0, most + width, width)
    numbers, edges = np.histogram(values, bins if len(bins) > 1 else np.array([0.0, width]))
    x = make_axis(np.array([0.0, edges[-1]]), LEFT, RIGHT)
    top = make_axis(np.array([0.0, float(numbers.max())]), BOTTOM, TOP)
    floor = top.position(0.0)
    y = Axis([tick for tick in top.ticks if tick == int(tick)], top.position)
    bars = [
        element(
            "rect", element("title", f"{number} {what} in {low:.0%} to {high:.0%}"),
            class_="bar", x=x.position(low) + 1, y=y.position(number),
            width=max(1.0, x.position(high) - x.position(low) - 2),
            height=floor - y.position(number),
        )
        for number, low, high in zip(numbers.tolist(), edges[:-1], edges[1:], strict=True)
        if number
    ]  # fmt: skip
    label = f"Histogram of {what}: {name}"
    chart = scroll_box(draw_chart(x, y, (name, what), label, *bars), label)
    return element("figure", chart, class_="chart")


def draw_scatter(info: SelectionInfo, name: str | None = None) -> Markup:
    """Draw every network that took part in the choice, with the kept ones marked."""
    shown = np.isfinite(info.distance) | info.kept
    x, y = make_axis(info.size[shown], LEFT, RIGHT), make_axis(info.loss[shown], BOTTOM, TOP)
    dots = []
    for i in np.flatnonzero(shown)[np.argsort(info.kept[shown], kind="stable")]:  # kept ones on top
        kind, radius = ("kept", 5.0) if info.kept[i] else ("other", 3.5)
        centre = {"cx": x.position(info.size[i]), "cy": y.position(info.loss[i])}
        dots.append(element("circle", **centre, r=radius, class_=f"net {kind}",
                            data_t=int(info.trial[i])))  # fmt: skip
    label = (
        f"Scatter of {count(len(dots), 'network')}: sum of absolute weights against mean "
        f"validation loss; {int(info.kept.sum())} kept."
    )
    axes = "sum of |w|", "validation loss, mean over splits"
    return draw_chart(x, y, axes, label, *dots, name=name)


def draw_curves(info: CurvesInfo, name: str | None = None) -> Markup:
    """Draw the validation loss of each network, of long curves at most 120 points."""
    lines = {}
    for curve in info.curves:
        points = np.stack([curve.epoch, curve.validation], axis=1)
        points = points[np.isfinite(curve.validation)]
        chosen = np.unique(np.linspace(0, len(points) - 1, min(len(points), MAX_POINTS)).round())
        lines[curve.trial] = points[chosen.astype(int)]
    together = np.concatenate([*lines.values()])
    most = float(np.quantile(together[:, 1], HIGHEST))
    x = make_axis(together[:, 0], LEFT, RIGHT)
    y = make_axis(np.minimum(together[:, 1], most), BOTTOM, TOP)
    paths = []
    for trial, line in lines.items():
        corners = (f"{x.position(e):.1f} {y.position(min(loss, most)):.1f}" for e, loss in line)
        paths.append(element("path", d=f"M{'L'.join(corners)}", class_="curve", data_t=trial))
    label = f"Validation loss by epoch of {count(len(lines), 'network')}."
    return draw_chart(x, y, ("epoch", "validation loss"), label, *paths, name=name)


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
    active = np.flatnonzero(find_active(maps, most))
    nodes = []
    for number, node in enumerate(active):
        x, y = number % NODES_PER_ROW * across, number // NODES_PER_ROW * down
        title = f"node {node + 1}: {describe_effects(maps[node], outputs)}"
        cells = _draw_cells(maps[node], most, x, y, cell)
        nodes.append(element("g", element("title", title), cells, class_="hidden"))
    height = math.ceil(len(active) / NODES_PER_ROW) * down
    return svg(min(len(active), NODES_PER_ROW) * across, height, label, *nodes, class_="small")


def describe_effects(values: Float[np.ndarray, " output"], outputs: Sequence[str]) -> str:
    """Describe which outputs a node raises and lowers, the strongest first."""
    floor = FAINT * np.abs(values).max()
    parts = []
    for verb, strength in (("raises", values), ("lowers", -values)):
        order = [int(i) for i in np.argsort(-strength, kind="stable") if strength[i] > floor]
        names = ", ".join(clip(outputs[i], 20) for i in order[:MAX_LISTED])
        more = f" and {len(order) - MAX_LISTED} more" if len(order) > MAX_LISTED else ""
        if order:
            parts.append(f"{verb} {names}{more}")
    return "; ".join(parts) or "no effect"


def _draw_cells(
    values: Float[np.ndarray, " output"], most: float, x: float, y: float, cell: int
) -> Markup:
    """One path for each shade, so that thousands of cells stay small."""
    columns, rows = grid_shape(len(values))
    paths: dict[tuple[str, int], list[str]] = defaultdict(list)
    for index, value in enumerate(values):
        shade = round(SHADES * min(abs(value) / (most or 1.0), 1.0))
        kind = "plus" if value > 0 else "minus"
        if shade:
            at = f"M{x + index % columns * cell + 1:g} {y + index // columns * cell + 1:g}"
            paths[kind, shade].append(f"{at}h{cell - 1}v{cell - 1}h-{cell - 1}z")
    frame = element("rect", x=x + 0.5, y=y + 0.5, width=columns * cell, height=rows * cell,
                    class_="frame")  # fmt: skip
    shades = (
        element("path", d="".join(cells), class_=kind, fill_opacity=shade / SHADES)
        for (kind, shade), cells in paths.items()
    )
    return element("g", frame, *shades, class_="cells")
