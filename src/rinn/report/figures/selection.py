"""Model selection: all networks by sparsity and loss, a magnification, the chosen ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from rinn.errors import InputError
from rinn.nets.selection import average_splits
from rinn.report.figures.canvas import (
    BLUE,
    GREY,
    INK,
    SMALL,
    VERMILION,
    WHITE,
    add_legend,
    dress_axes,
    fonts,
    make_figure,
    title_figure,
)

COLUMNS = ("setting", "sum_abs_weights", "validation_loss", "distance", "kept")
NEAREST = 10
WIDE = 30.0  # largest over middle value beyond which an axis is logarithmic


@dataclass(frozen=True)
class SelectionInfo:
    """Every network that did not diverge, and how the distance was measured.

    `loss` is the mean validation loss of the network's setting over both splits. `distance` is
    the paper's, not finite where a network was beyond the 95 % quantile; it is measured from
    `origin` in units of `scale`, both (size, loss). `limits` are those of the magnification.
    """

    size: Float[np.ndarray, " net"]
    loss: Float[np.ndarray, " net"]
    distance: Float[np.ndarray, " net"]
    kept: Bool[np.ndarray, " net"]
    nearest: Bool[np.ndarray, " net"]
    origin: tuple[float, float]
    scale: tuple[float, float]
    limits: tuple[float, float, float, float]
    arcs: tuple[float, ...]
    diverged: int

    @property
    def same(self) -> bool:
        """Whether the kept networks are the ones that the paper's distance chooses."""
        return bool((self.kept == self.nearest).all())


def selection_info(trials: pd.DataFrame, *, nearest: int = NEAREST) -> SelectionInfo:
    """Take from a run's trials.csv what the figure shows.

    Example:
        >>> trials = pd.DataFrame({"setting": [0, 1, 2], "sum_abs_weights": [1.0, 2.0, 3.0],
        ...     "validation_loss": [3.0, 1.0, np.nan], "distance": [1.0, 1.0, np.nan],
        ...     "kept": [False, True, False]})
        >>> info = selection_info(trials, nearest=1)
        >>> info.diverged, info.nearest.tolist(), info.scale
        (1, [True, False], (1.0, 2.0))
    """
    missing = [name for name in COLUMNS if name not in trials]
    if missing:
        raise InputError(
            f"trials must have the columns {', '.join(COLUMNS)}, but {missing[0]!r} is missing; "
            f"give the table of a finished run"
        )
    size, loss, distance = (trials[name].to_numpy(float) for name in COLUMNS[1:4])
    loss = average_splits(loss, trials["setting"].to_numpy(int))
    finite = np.isfinite(size) & np.isfinite(loss)
    if not finite.any():
        raise InputError("trials must hold a network that did not diverge, but all did")
    size, loss, distance = size[finite], loss[finite], distance[finite]
    kept = trials["kept"].to_numpy(bool)[finite]
    chosen = np.zeros(len(size), bool)
    order = np.argsort(np.where(np.isfinite(distance), distance, np.inf), kind="stable")
    chosen[[place for place in order[:nearest] if np.isfinite(distance[place])]] = True
    near = np.isfinite(distance)
    near = near if near.any() else np.ones_like(near)
    spans = [(float(axis[near].min()), float(np.ptp(axis[near])) or 1.0) for axis in (size, loss)]
    marked = kept | chosen if (kept | chosen).any() else near
    return SelectionInfo(
        size=size,
        loss=loss,
        distance=distance,
        kept=kept,
        nearest=chosen,
        origin=(spans[0][0], spans[1][0]),
        scale=(spans[0][1], spans[1][1]),
        limits=(*_limits(size, marked), *_limits(loss, marked)),
        arcs=_arcs(distance[chosen]),
        diverged=int((~finite).sum()),
    )


def plot_selection(trials: pd.DataFrame, *, nearest: int = NEAREST, title: str = "") -> Figure:
    """Draw all networks and, magnified, the chosen ones, with arcs of equal distance.

    Filled diamonds are the networks that the graph was read from, rings those that the paper's
    distance chooses. As the appendix figure of the paper.

    Example:
        >>> trials = pd.DataFrame({"setting": [0, 1], "sum_abs_weights": [1.0, 2.0],
        ...     "validation_loss": [3.0, 1.0], "distance": [1.0, 1.0], "kept": [False, True]})
        >>> len(plot_selection(trials).axes)
        2
    """
    info = selection_info(trials, nearest=nearest)
    extra = 0.3 * bool(title)
    figure = make_figure(7.0, 3.55 + extra)
    height = 3.55 + extra
    left, right = (
        figure.add_axes((x / 7.0, 0.95 / height, 2.75 / 7.0, 2.35 / height)) for x in (0.62, 4.05)
    )
    for axes in (left, right):
        dress_axes(axes, "sum of |w|", "validation loss, mean of both splits")
        _draw_networks(axes, info)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    right.set_ylabel("")
    _stretch(left, info)
    _frame_part(left, info)
    _draw_arcs(right, info)
    right.set_xlim(*info.limits[:2])
    right.set_ylim(*info.limits[2:])
    style: dict[str, Any] = {"fontfamily": fonts(), "color": INK, "ha": "left", "parse_math": False}
    _name_panel(left, f"a  all {len(info.size)} networks", style)
    _name_panel(right, "b  the dashed part, magnified", style)
    title_figure(figure, title)
    add_legend(figure, _list_handles(info), loc="lower left", ncols=3, bbox_to_anchor=(0.02, 0.02))
    return figure


def _limits(
    values: Float[np.ndarray, " net"], marked: Bool[np.ndarray, " net"]
) -> tuple[float, float]:
    """From just below the least value to well beyond the marked ones."""
    low, high = float(values.min()), float(values[marked].max())
    high = min(low + 1.6 * (high - low), float(values.max()))
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _arcs(chosen: Float[np.ndarray, " net"]) -> tuple[float, ...]:
    """The distance of the last chosen network, and thirds of it."""
    if not len(chosen) or not chosen.max():
        return ()
    last = float(chosen.max())
    return last / 3, 2 * last / 3, last, 4 * last / 3, 5 * last / 3


def _draw_networks(axes: Axes, info: SelectionInfo) -> None:
    others = ~(info.kept | info.nearest)
    axes.plot(info.size[others], info.loss[others], "o", markersize=3.2, markerfacecolor=BLUE,
              markeredgecolor=WHITE, markeredgewidth=0.3, alpha=0.55, zorder=2)  # fmt: skip
    axes.plot(info.size[info.kept], info.loss[info.kept], "D", markersize=4.4,
              markerfacecolor=VERMILION, markeredgecolor=WHITE, markeredgewidth=0.4,
              zorder=4)  # fmt: skip
    if not info.same:
        only = info.nearest & ~info.kept
        axes.plot(info.size[only], info.loss[only], "o", markersize=3.2, color=BLUE, zorder=3)
        axes.plot(info.size[info.nearest], info.loss[info.nearest], "o", markersize=7.5,
                  markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.0,
                  zorder=5)  # fmt: skip


def _draw_arcs(axes: Axes, info: SelectionInfo) -> None:
    """Points of equal distance: quarters of ellipses about the origin of the scaled axes."""
    angle = np.linspace(0, np.pi / 2, 90)
    for distance in info.arcs:
        last = distance == info.arcs[2]
        axes.plot(
            info.origin[0] + info.scale[0] * distance * np.cos(angle),
            info.origin[1] + info.scale[1] * distance * np.sin(angle),
            color=INK if last else GREY,
            linewidth=1.0 if last else 0.6,
            linestyle="-" if last else (0, (1, 1.5)),
            zorder=1,
        )


def _stretch(axes: Axes, info: SelectionInfo) -> None:
    """A logarithmic axis where a few networks would press all others together."""
    for values, scale in ((info.size, axes.set_xscale), (info.loss, axes.set_yscale)):
        if values.min() > 0 and values.max() > WIDE * np.median(values):
            scale("log")


def _frame_part(axes: Axes, info: SelectionInfo) -> None:
    """Frame the part that is magnified; a logarithmic axis has no place for what is below 0."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    x0, x1, y0, y1 = info.limits
    x0 = x0 if axes.get_xscale() == "linear" else max(x0, left)
    y0 = y0 if axes.get_yscale() == "linear" else max(y0, low)
    axes.set_xlim(min(left, x0), max(right, x1))
    axes.set_ylim(min(low, y0), max(high, y1))
    axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor=INK,
                             linewidth=0.8, linestyle=(0, (3, 2)), zorder=5))  # fmt: skip


def _name_panel(axes: Axes, words: str, style: dict[str, Any]) -> None:
    axes.set_title(words, fontsize=SMALL + 1, loc="left", pad=6, **style)


def _list_handles(info: SelectionInfo) -> list[Line2D]:
    dot: dict[str, Any] = {"linestyle": "none", "markeredgecolor": WHITE}
    kept = int(info.kept.sum())
    handles = [
        Line2D([], [], marker="o", markersize=5, markerfacecolor=BLUE, label="trained network",
               **dot),
        Line2D([], [], marker="D", markersize=4.4, markerfacecolor=VERMILION,
               label=f"kept for the graph ({kept})", **dot),
    ]  # fmt: skip
    chosen, mark = int(info.nearest.sum()), "diamond" if info.same else "ring"
    if not info.same:
        handles.append(Line2D([], [], marker="o", markersize=7, markerfacecolor="none",
                              linestyle="none", markeredgecolor=INK,
                              label=f"nearest by the paper's distance ({chosen})"))  # fmt: skip
    if info.arcs:
        words = f"distance of the farthest {mark}: {info.arcs[2]:.2g}"
        handles.append(Line2D([], [], color=INK, linewidth=1.0, label=words))
    if info.diverged:
        handles.append(
            Line2D([], [], linestyle="none", label=f"{info.diverged} diverged, not drawn")
        )
    return handles
