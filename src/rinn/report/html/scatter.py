"""Which networks were kept: sum of |w| against validation loss, as inline SVG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from rinn.report.html.axes import BOTTOM, LEFT, RIGHT, TOP, draw_chart, make_axis
from rinn.report.html.markup import Markup, count, element


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
