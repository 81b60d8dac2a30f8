"""The reproduction's tables as a dot plot, ours and the paper's; `draw_folder` of any folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.errors import InputError
from rinn.paper.cells import DATASETS, STRATEGIES, load_cell
from rinn.paper.reproduce import CELLS
from rinn.paper.reproduce import REPRODUCTION as KIND
from rinn.paper.tables import HIDDEN, INPUT, Comparison, compare, list_figures
from rinn.report.figures import canvas
from rinn.report.figures.folders import (
    FIGURES,
    PLAIN,
    Drawn,
    FigureKind,
    Looks,
    check_request,
    draw_figures,
)
from rinn.runs.read import RunContents, load_run

MEASURES = ("hidden_f1", "hidden_precision", "hidden_recall", "input_f1", "input_precision",
            "input_recall", "auroc")  # fmt: skip
LABELS = {m.key: m.label for m in (*HIDDEN, *INPUT)}
NUMBERS = ("ours_mean", "ours_sd_models", "paper_mean", "paper_sd")
HEADS = {"hidden": "hidden nodes", "input": "inputs"}
ROW, SPACE = 0.16, 0.1  # inches for a row, and between datasets
PANEL = 0.98

REPRODUCTION = FigureKind(
    "reproduction",
    "the tables of a reproduction compared with the paper's",
    lambda folder, looks: plot_reproduction(load_comparison(folder), title=looks.title),
)
ALL_FIGURES = {**FIGURES, REPRODUCTION.name: REPRODUCTION}


def list_dots(comparison: Comparison) -> pd.DataFrame:
    """The figures of a reproduction and of the paper, one row for each dataset and strategy."""
    table = pd.DataFrame(list_figures(comparison))
    table = table[table["measure"].isin(MEASURES)]
    if table["ours_mean"].isna().all():
        raise InputError("comparison must hold a cell that is done, but none is; run it first")
    return table.astype(dict.fromkeys(NUMBERS, float))


def plot_reproduction(comparison: Comparison, *, title: str = "") -> Figure:
    """Draw ours (circles) and the paper's figures (diamonds) with their standard deviations."""
    table = list_dots(comparison)
    heights = _stack(list(dict.fromkeys(zip(table["dataset"], table["strategy"], strict=True))))
    dots = table.dropna(subset=["ours_mean", "paper_mean"], how="all")
    shown = [name for name in MEASURES if name in set(dots["measure"])]
    tall = max(heights.values()) + ROW
    top, names = 0.62 + 0.3 * bool(title), 1.45
    width = max(names + PANEL * len(shown) + 0.25, 4.4)
    height = top + tall + 0.72
    figure = canvas.make_figure(width, height)
    for number, measure in enumerate(shown):
        left, wide = (names + PANEL * number) / width, (PANEL - 0.14) / width
        axes = figure.add_axes((left, 0.72 / height, wide, tall / height))
        _draw_panel(axes, dots[dots["measure"] == measure], heights)
        _write_head(axes, measure, shown, number)
        if number == 0:
            _write_rows(axes, heights)
    canvas.title_figure(figure, title)
    canvas.add_legend(figure, _list_handles(), loc="lower left", ncols=3,
               bbox_to_anchor=(0.15 / width, 0.1 / height))  # fmt: skip
    return figure


def _stack(rows: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """The height of each row below the top, with a space between datasets."""
    heights, y, before = {}, ROW, rows[0][0]
    for row in rows:
        y += SPACE if row[0] != before else 0.0
        heights[row], before = y, row[0]
        y += ROW
    return heights


def _draw_panel(axes: Axes, dots: pd.DataFrame, heights: dict[tuple[str, str], float]) -> None:
    tall = max(heights.values()) + ROW
    canvas.dress_axes(axes)
    axes.set_ylim(tall, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(-0.06, 1.06)
    axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    axes.vlines([0, 0.5, 1], 0, tall, colors=canvas.PALE, linewidth=0.5, zorder=0)
    for y in heights.values():
        axes.axhline(y, color=canvas.PALE, linewidth=0.4, zorder=0)
    filled = dots.fillna(dict.fromkeys(("paper_sd", "ours_sd_models"), 0.0))
    for dot in filled.to_dict("records"):
        y = heights[dot["dataset"], dot["strategy"]]
        _draw_dot(axes, dot["paper_mean"], dot["paper_sd"], y + 0.025, paper=True)
        _draw_dot(axes, dot["ours_mean"], dot["ours_sd_models"], y - 0.025, paper=False)


def _draw_dot(axes: Axes, mean: float, sd: float, y: float, *, paper: bool) -> None:
    if np.isnan(mean):
        return
    low, high = max(mean - sd, 0.0), min(mean + sd, 1.0)
    colour = canvas.VERMILION if paper else canvas.BLUE
    axes.plot([low, high], [y, y], color=colour, linewidth=0.9, alpha=0.6, zorder=2,
              solid_capstyle="butt")  # fmt: skip
    axes.plot([mean], [y], zorder=3 if paper else 4, **_marker(paper))


def _marker(paper: bool) -> dict[str, Any]:
    edge, face = (canvas.VERMILION, canvas.WHITE) if paper else (canvas.BLUE, canvas.BLUE)
    return {"marker": "D" if paper else "o", "markersize": 3.8, "markerfacecolor": face,
            "markeredgecolor": edge, "markeredgewidth": 1.0}  # fmt: skip


def _write_head(axes: Axes, measure: str, measures: Sequence[str], number: int) -> None:
    group = measure.split("_")[0]
    canvas.write(axes, 0.5, 1.0, LABELS[measure], canvas.NORMAL, ha="center", va="bottom",
          transform=axes.transAxes)  # fmt: skip
    first = number == 0 or measures[number - 1].split("_")[0] != group
    if first:
        axes.annotate(HEADS.get(group, "test set"), (0, 1), (0, 16), xycoords="axes fraction",
                      textcoords="offset points", fontsize=canvas.NORMAL, color=canvas.GREY,
                      fontfamily=canvas.fonts(), va="bottom", annotation_clip=False)  # fmt: skip


def _write_rows(axes: Axes, heights: dict[tuple[str, str], float]) -> None:
    move = axes.get_yaxis_transform()
    seen = set()
    for (dataset, strategy), y in heights.items():
        canvas.write(axes, -0.08, y, STRATEGIES[strategy], canvas.SMALL, ha="right", transform=move)
        if dataset not in seen:
            canvas.write(axes, -1.55, y, DATASETS[dataset], canvas.SMALL, ha="left", transform=move)
            seen.add(dataset)


def _list_handles() -> list[Line2D]:
    none: dict[str, Any] = {"linestyle": "none"}
    return [
        Line2D([], [], label="ours", **none, **_marker(False)),
        Line2D([], [], label="the paper's", **none, **_marker(True)),
        Line2D([], [], color=canvas.GREY, linewidth=0.9, label="± sd over networks"),
    ]


def draw_folder(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    kind: str = "svg",
    only: str | None = None,
    force: bool = False,
    looks: Looks = PLAIN,
) -> Iterator[Drawn]:
    """Draw every figure that a run folder, or the folder of a reproduction, allows."""
    folder, out = Path(folder), Path(out)
    check_request(kind, only, ALL_FIGURES)
    source: Path | RunContents = folder
    figures, reason = [REPRODUCTION], "the folder is a reproduction's, not a run's"
    if not (folder / KIND.manifest).is_file():
        source, figures = load_run(folder), [*FIGURES.values()]
        reason = "the folder is a run's, not a reproduction's"
    if only is None:
        return draw_figures(source, figures, out, kind, looks, force=force)
    if ALL_FIGURES[only] not in figures:
        return iter([Drawn(only, None, reason)])
    return draw_figures(source, [ALL_FIGURES[only]], out, kind, looks, force=force)


def load_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Read the cells of a reproduction's folder, and compare them with the paper's figures."""
    folder = Path(folder)
    cells = [cell for cell in map(load_cell, sorted((folder / CELLS).glob("*.json"))) if cell]
    if not cells:
        raise InputError(f"folder must hold a reproduction's cells, but {folder} has none")
    first = cells[0].setup
    return compare(first, [], {cell.job: cell for cell in cells if cell.setup == first})
