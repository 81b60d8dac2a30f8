"""Learning curves: the losses of networks as they were trained."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rinn.report.figures import canvas
from rinn.report.info import CurvesInfo


def plot_curves(info: CurvesInfo, *, title: str = "") -> Figure:
    """Draw the training and validation loss of each network, and their medians."""
    height = 3.2 + 0.3 * bool(title)
    figure = canvas.make_figure(5.2, height)
    axes = figure.add_axes((0.62 / 5.2, 0.72 / height, 4.4 / 5.2, 2.3 / height))
    canvas.dress_axes(axes, "epoch", "loss")
    if info.logarithmic:
        axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    thin, thick = {"linewidth": 0.6, "alpha": 0.35}, {"linewidth": 2.0}
    looks = {"train": {"color": canvas.VERMILION, "linestyle": (0, (3, 1.2))},
             "validation": {"color": canvas.BLUE, "linestyle": "-"}}  # fmt: skip
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
        Line2D([], [], color=canvas.INK, label=f"each of {len(info.curves)} networks", **thin),  # type: ignore[arg-type]
    ]  # fmt: skip
    canvas.add_legend(figure, handles, loc="lower left", ncols=3, bbox_to_anchor=(0.03, 0.03))
    canvas.title_figure(figure, title)
    return figure
