"""Shares of tumours as bars and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rinn.report.html.axes import BOTTOM, LEFT, RIGHT, TOP, Axis, draw_chart, make_axis
from rinn.report.html.markup import Markup, element, scroll_box, svg

BINS = 20
BAR = 140.0


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
    """Draw how many genes have which share.

    Args:
        shares: of tumours, one for each gene; at least one.
        name: of the horizontal axis.
        what: the genes are.

    Returns:
        The chart.
    """
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
