"""Which networks were kept: sum of |w| against validation loss, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from rinn.report.markup import Markup, count, element, svg

WIDTH, HEIGHT = 640.0, 380.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 624.0, 12.0, 332.0


@dataclass(frozen=True)
class ScatterInfo:
    """Networks that took part in the choice, and how many did not."""

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
    kept = trials["kept"].to_numpy(bool)[shown]
    return ScatterInfo(
        size[shown], loss[shown], kept, int((~finite).sum()), int((finite & ~shown).sum())
    )


def draw_scatter(info: ScatterInfo) -> Markup:
    """Draw every network that took part in the choice, with the kept ones marked."""
    x_ticks, x = _axis(info.size, LEFT, RIGHT)
    y_ticks, y = _axis(info.loss, BOTTOM, TOP)
    frame = element("rect", x=LEFT, y=TOP, width=RIGHT - LEFT, height=BOTTOM - TOP, class_="frame")
    words = [
        *(_text(f"{tick:g}", x(tick), BOTTOM + 18, "middle") for tick in x_ticks),
        *(_text(f"{tick:g}", LEFT - 7, y(tick) + 4, "end") for tick in y_ticks),
        _text("sum of |w|", (LEFT + RIGHT) / 2, HEIGHT - 8, "middle"),
        _text(
            "validation loss", 0, 0, "middle", f"translate(15 {(TOP + BOTTOM) / 2:g}) rotate(-90)"
        ),
    ]
    dots = []
    for i in np.argsort(info.kept, kind="stable"):  # the kept ones last, so that they lie on top
        kind, radius = ("kept", 5.0) if info.kept[i] else ("other", 3.5)
        dots.append(
            element("circle", cx=x(info.size[i]), cy=y(info.loss[i]), r=radius, class_=kind)
        )
    label = (
        f"Scatter of {count(len(info.size), 'network')}: sum of absolute weights against "
        f"validation loss; {int(info.kept.sum())} kept."
    )
    return svg(WIDTH, HEIGHT, label, frame, *words, *dots)


def _axis(
    values: Float[np.ndarray, " net"], start: float, stop: float
) -> tuple[list[float], Callable[[float], float]]:
    """Round ticks within the values' range, and the way from a value to its place."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = low - margin, high + margin
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(factor for factor in (5, 2, 1) if (high - low) / (step * factor) >= 2)
    numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
    ticks = [float(f"{number * step:.6g}") for number in numbers]
    return ticks, lambda value: start + (value - low) / (high - low) * (stop - start)


def _text(words: str, x: float, y: float, anchor: str, transform: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, text_anchor=anchor, transform=transform, class_="tick")
