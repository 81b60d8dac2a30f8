"""Learning curves: the losses of networks as they were trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rinn.errors import InputError
from rinn.report.figures.canvas import (
    BLUE,
    INK,
    VERMILION,
    add_legend,
    dress_axes,
    make_figure,
    title_figure,
)

COLUMNS = ("trial", "epoch", "train_loss", "validation_loss")
DECADES = 20.0  # largest over least loss beyond which the axis is logarithmic


@dataclass(frozen=True)
class Curve:
    """The losses of one network, in the order of its epochs; NaN where none was measured."""

    trial: int
    epoch: Int[np.ndarray, " epoch"]
    train: Float[np.ndarray, " epoch"]
    validation: Float[np.ndarray, " epoch"]

    @property
    def best_epoch(self) -> int:
        """The epoch with the lowest validation loss."""
        return int(self.epoch[np.nanargmin(self.validation)])


@dataclass(frozen=True)
class CurvesInfo:
    """The curves, and the median over networks; one that has stopped stays at its last loss."""

    curves: tuple[Curve, ...]
    epoch: Int[np.ndarray, " epoch"]
    train: Float[np.ndarray, " epoch"]
    validation: Float[np.ndarray, " epoch"]
    logarithmic: bool


def curves_info(table: pd.DataFrame) -> CurvesInfo:
    """Take the curves of networks from a table, such as a run's curves.csv.

    Example:
        >>> table = pd.DataFrame({"trial": [7, 7], "epoch": [1, 2], "train_loss": [3.0, 2.0],
        ...                       "validation_loss": [4.0, 5.0]})
        >>> curves_info(table).curves[0].best_epoch
        1
    """
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise InputError(
            f"table must have the columns {', '.join(COLUMNS)}, but {missing[0]!r} is missing"
        )
    table = table.replace([np.inf, -np.inf], np.nan).dropna(subset=["trial", "epoch"])
    table = table.astype({"trial": int, "epoch": int})
    curves = []
    for trial, part in table.sort_values("epoch", kind="stable").groupby("trial"):
        epoch, train, validation = (part[name].to_numpy(float) for name in COLUMNS[1:])
        if np.isfinite(validation).any():
            curves.append(Curve(int(str(trial)), epoch.astype(int), train, validation))
    if not curves:
        raise InputError("table must hold losses that are finite, but there is none in it")
    seen = table[table["trial"].isin([curve.trial for curve in curves])]
    median = pd.DataFrame({name: _median(seen, name) for name in COLUMNS[2:]})
    losses = np.concatenate([part for c in curves for part in (c.train, c.validation)])
    losses = losses[np.isfinite(losses)]
    return CurvesInfo(
        tuple(curves),
        median.index.to_numpy(int),
        median["train_loss"].to_numpy(float),
        median["validation_loss"].to_numpy(float),
        bool(losses.min() > 0 and losses.max() > DECADES * losses.min()),
    )


def _median(table: pd.DataFrame, name: str) -> pd.Series:
    by_trial = table.pivot_table(index="epoch", columns="trial", values=name, dropna=False)
    return by_trial.sort_index().ffill().median(axis=1)


def plot_curves(table: pd.DataFrame, *, title: str = "") -> Figure:
    """Draw the training and validation loss of each network, and their medians.

    Example:
        >>> table = pd.DataFrame({"trial": [7, 7], "epoch": [1, 2], "train_loss": [3.0, 2.0],
        ...                       "validation_loss": [4.0, 5.0]})
        >>> len(plot_curves(table).axes)
        1
    """
    info = curves_info(table)
    height = 3.2 + 0.3 * bool(title)
    figure = make_figure(5.2, height)
    axes = figure.add_axes((0.62 / 5.2, 0.72 / height, 4.4 / 5.2, 2.3 / height))
    dress_axes(axes, "epoch", "loss")
    if info.logarithmic:
        axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    thin, thick = {"linewidth": 0.6, "alpha": 0.35}, {"linewidth": 2.0}
    looks = {"train": {"color": VERMILION, "linestyle": (0, (3, 1.2))},
             "validation": {"color": BLUE, "linestyle": "-"}}  # fmt: skip
    for curve in info.curves:
        marker = "o" if len(curve.epoch) == 1 else ""
        for part, look in looks.items():
            axes.plot(curve.epoch, getattr(curve, part), marker=marker, **look, **thin)  # type: ignore[arg-type]
    for part, look in looks.items():
        axes.plot(info.epoch, getattr(info, part), **look, **thick)  # type: ignore[arg-type]
    axes.margins(x=0.02)
    handles = [
        *(Line2D([], [], label=f"{name}, median", **looks[part], **thick)  # type: ignore[arg-type]
          for part, name in (("train", "training"), ("validation", "validation"))),
        Line2D([], [], color=INK, label=f"each of {len(info.curves)} networks", **thin),  # type: ignore[arg-type]
    ]  # fmt: skip
    add_legend(figure, handles, loc="lower left", ncols=3, bbox_to_anchor=(0.03, 0.03))
    title_figure(figure, title)
    return figure
