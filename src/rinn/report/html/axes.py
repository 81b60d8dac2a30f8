"""Axes with round ticks, shared by the report's charts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from rinn.report.html.markup import Markup, element, svg

WIDTH, HEIGHT = 640.0, 380.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 624.0, 12.0, 332.0


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
    """Draw a frame with ticks and the names of both axes around marks.

    Args:
        x: from `LEFT` to `RIGHT`.
        y: from `BOTTOM` to `TOP`.
        names: of the two axes.
        label: said in place of the picture.
        marks: what lies in the frame.
        name: the id of the picture.
    """
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
