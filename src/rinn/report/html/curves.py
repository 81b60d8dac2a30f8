"""How the kept networks learned: validation loss by epoch, as inline SVG."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rinn.report.html.axes import BOTTOM, LEFT, RIGHT, TOP, draw_chart, make_axis
from rinn.report.html.markup import Markup, count, element

MOST_POINTS = 120
HIGHEST = 0.98  # quantile of the losses; the first epochs would press all others flat


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
        chosen = np.unique(np.linspace(0, len(points) - 1, min(len(points), MOST_POINTS)).round())
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
