"""Model selection: all networks by sparsity and loss, a magnification, the chosen ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from rinn.report.figures import canvas
from rinn.report.info import SelectionInfo

WIDE = 30.0  # largest over middle value beyond which an axis is logarithmic


def plot_selection(info: SelectionInfo, *, title: str = "") -> Figure:
    """Draw all networks and, magnified, the chosen ones, as the appendix of the paper."""
    arcs = find_arcs(info)
    limits = find_limits(info)
    height = 3.55 + 0.3 * bool(title)
    figure = canvas.make_figure(7.0, height)
    left, right = (
        figure.add_axes((x / 7.0, 0.95 / height, 2.75 / 7.0, 2.35 / height)) for x in (0.62, 4.05)
    )
    for axes in (left, right):
        canvas.dress_axes(axes, "sum of |w|", "validation loss, mean over splits")
        _draw_networks(axes, info)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    right.set_ylabel("")
    # A logarithmic axis where a few networks would press all others together.
    for values, scale in ((info.size, left.set_xscale), (info.loss, left.set_yscale)):
        if values.min() > 0 and values.max() > WIDE * np.median(values):
            scale("log")
    _frame_part(left, limits)
    _draw_arcs(right, info, arcs)
    right.set_xlim(*limits[:2])
    right.set_ylim(*limits[2:])
    heads = f"a  all {len(info.size)} networks", "b  the dashed part, magnified"
    for axes, head in zip((left, right), heads, strict=True):
        axes.set_title(head, fontsize=canvas.SMALL + 1, loc="left", pad=6, ha="left",
                       fontfamily=canvas.fonts(), color=canvas.INK, parse_math=False)  # fmt: skip
    canvas.title_figure(figure, title)
    canvas.add_legend(
        figure, _list_handles(info, arcs), loc="lower left", ncols=3, bbox_to_anchor=(0.02, 0.02)
    )
    return figure


def find_limits(info: SelectionInfo) -> tuple[float, float, float, float]:
    """The part to magnify: from just below the lowest values to well beyond the marked networks."""
    marked = info.kept | info.nearest
    marked = marked if marked.any() else np.ones_like(marked)
    limits: list[float] = []
    for values in (info.size, info.loss):
        low, high = float(values.min()), float(values[marked].max())
        high = min(low + 1.6 * (high - low), float(values.max()))
        margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
        limits += [low - margin, high + margin]
    return limits[0], limits[1], limits[2], limits[3]


def find_arcs(info: SelectionInfo) -> tuple[float, ...]:
    """The distance of the farthest network that the paper chooses, the third, and thirds of it."""
    farthest = float(info.distance[info.nearest].max(initial=0.0))
    return tuple(number * farthest / 3 for number in range(1, 6)) if farthest else ()


def _draw_networks(axes: Axes, info: SelectionInfo) -> None:
    others = ~(info.kept | info.nearest)
    small: dict[str, Any] = {"markersize": 3.2, "markeredgecolor": canvas.WHITE}
    axes.plot(info.size[others], info.loss[others], "o", markerfacecolor=canvas.BLUE,
              markeredgewidth=0.3, alpha=0.55, zorder=2, **small)  # fmt: skip
    axes.plot(info.size[info.kept], info.loss[info.kept], "D", markerfacecolor=canvas.VERMILION,
              markeredgewidth=0.4, zorder=4, **small | {"markersize": 4.4})  # fmt: skip
    if not info.same:
        only = info.nearest & ~info.kept
        axes.plot(
            info.size[only], info.loss[only], "o", markersize=3.2, color=canvas.BLUE, zorder=3
        )
        axes.plot(info.size[info.nearest], info.loss[info.nearest], "o", markersize=7.5,
                  markerfacecolor="none", markeredgecolor=canvas.INK, markeredgewidth=1.0,
                  zorder=5)  # fmt: skip


def _draw_arcs(axes: Axes, info: SelectionInfo, arcs: tuple[float, ...]) -> None:
    """Points of equal distance: quarters of ellipses about the origin of the scaled axes."""
    angle = np.linspace(0, np.pi / 2, 90)
    for distance in arcs:
        last = distance == arcs[2]
        axes.plot(
            info.origin[0] + info.scale[0] * distance * np.cos(angle),
            info.origin[1] + info.scale[1] * distance * np.sin(angle),
            color=canvas.INK if last else canvas.GREY,
            linewidth=1.0 if last else 0.6,
            linestyle="-" if last else (0, (1, 1.5)),
            zorder=1,
        )


def _frame_part(axes: Axes, limits: tuple[float, float, float, float]) -> None:
    """Frame the part that is magnified; a logarithmic axis has nothing below 0."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    x0, x1, y0, y1 = limits
    x0 = x0 if axes.get_xscale() == "linear" else max(x0, left)
    y0 = y0 if axes.get_yscale() == "linear" else max(y0, low)
    axes.set_xlim(min(left, x0), max(right, x1))
    axes.set_ylim(min(low, y0), max(high, y1))
    axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor=canvas.INK,
                             linewidth=0.8, linestyle=(0, (3, 2)), zorder=5))  # fmt: skip


def _list_handles(info: SelectionInfo, arcs: tuple[float, ...]) -> list[Line2D]:
    mark = "diamond" if info.same else "ring"
    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgecolor": canvas.WHITE}
    kept, chosen = int(info.kept.sum()), int(info.nearest.sum())
    looks: list[dict[str, Any]] = [
        {"label": "trained network", "markersize": 5, "markerfacecolor": canvas.BLUE},
        {"label": f"kept for the graph ({kept})", "marker": "D", "markersize": 4.4,
         "markerfacecolor": canvas.VERMILION},
    ]  # fmt: skip
    if not info.same:
        looks.append({"label": f"nearest by the paper's distance ({chosen})", "markersize": 7,
                      "markerfacecolor": "none", "markeredgecolor": canvas.INK})  # fmt: skip
    if arcs:
        looks.append({"label": f"distance of the farthest {mark}: {arcs[2]:.2g}", "marker": "",
                      "linestyle": "-", "color": canvas.INK, "linewidth": 1.0})  # fmt: skip
    if info.diverged:
        looks.append({"label": f"{info.diverged} diverged, not drawn", "marker": ""})
    return [Line2D([], [], **dot | look) for look in looks]
