"""Every figure that a run folder allows, and figures into files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx
import pandas as pd
from matplotlib.figure import Figure

from rinn.config import check_choice, check_integer, check_number
from rinn.errors import InputError, suggest
from rinn.files import check_target, make_folder
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import map_trained
from rinn.report.figures.architecture import architecture_info, plot_architecture
from rinn.report.figures.canvas import DPI, FORMATS, NORMAL, save_figure, scale_figure
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.graph import PAGE, plot_graph
from rinn.report.figures.patterns import patterns_info, plot_patterns
from rinn.report.figures.schematic import SchematicInfo, plot_schematic
from rinn.report.figures.selection import plot_selection
from rinn.report.figures.strips import plot_strips, strips_info
from rinn.report.info import (
    comparison_info,
    curves_info,
    graph_info,
    selection_info,
    should_fold,
)
from rinn.runs.read import RunContents

_T = TypeVar("_T")

MAX_DRAWN = 120  # nodes of a role
INCH = 25.4  # millimetres


class Absent(Exception):  # noqa: N818
    """A folder lacks what a figure needs; the message says what."""


@dataclass(frozen=True)
class Looks:
    """How figures look: dots per inch of a PNG, width in millimetres, points of text, title."""

    dpi: int = DPI
    width: float | None = None
    font_size: float | None = None
    title: str = ""

    def __post_init__(self) -> None:
        check_integer("dpi", self.dpi, minimum=30, maximum=2400)
        for name, low, high in (("width", 20, 2000), ("font_size", 3, 72)):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), minimum=low, maximum=high)

    @property
    def page(self) -> float:
        """The width in inches to draw for, so that text has its size when it is scaled."""
        return (self.width or PAGE * INCH) / INCH * NORMAL / (self.font_size or NORMAL)


PLAIN = Looks()


@dataclass(frozen=True)
class FigureKind:
    """One figure of a folder: its name, what it shows, and how it is drawn."""

    name: str
    about: str
    plot: Callable[[Any, Looks], Figure]

    def draw(self, source: Any, looks: Looks = PLAIN) -> Figure:
        """Draw the figure of a folder, at the size that was asked for."""
        figure = self.plot(source, looks)
        if looks.width or looks.font_size:
            scale_figure(figure, looks.width and looks.width / INCH, looks.font_size)
        return figure


@dataclass(frozen=True)
class Drawn:
    """A figure of a folder: the file that was written, or why there is none."""

    name: str
    path: Path | None
    reason: str = ""


def draw_figures(
    source: Any,
    figures: Sequence[FigureKind],
    out: Path,
    kind: str,
    looks: Looks = PLAIN,
    *,
    force: bool,
) -> Iterator[Drawn]:
    """Draw figures of one source into files; all paths are checked before the first is written."""
    paths = [out / f"{figure.name}.{kind}" for figure in figures]
    for path in paths if out.is_dir() else []:
        check_target(path)
        if os.path.lexists(path) and not force:
            raise InputError(
                f"cannot write {path}: it exists; choose another --out, or replace it with --force"
            )
    return (_draw(source, figure, path, looks) for figure, path in zip(figures, paths, strict=True))


def check_request(kind: str, only: str | None, figures: Mapping[str, FigureKind]) -> None:
    """Refuse an unknown format or figure."""
    check_choice("format", kind, FORMATS)
    if only is not None and only not in figures:
        raise InputError(f"--only must name a figure, got {only!r}{suggest(only, figures)}")


def _draw(source: Any, figure: FigureKind, path: Path, looks: Looks) -> Drawn:
    try:
        drawn = figure.draw(source, looks)
    except (Absent, InputError) as error:
        return Drawn(figure.name, None, str(error))
    make_folder(path.parent)
    save_figure(drawn, path, dpi=looks.dpi)
    return Drawn(figure.name, path)


def _need(value: _T | None, why: str) -> _T:
    """A part of a run that a figure needs."""
    if value is None:
        raise Absent(why)
    return value


def _find_net(run: RunContents) -> TrainedNet:
    """The network that the paper's distance puts first, else the first that was kept."""
    chosen = [*run.find_nets("paper"), *run.find_nets("kept")]
    return _need(next(iter(chosen), None), "the run has no networks")


def _find_trials(run: RunContents) -> pd.DataFrame:
    _find_net(run)
    return run.trials


def _find_truth(run: RunContents) -> nx.DiGraph:
    return _need(run.truth, "no truth was given to 'rinn fit'")


def _draw_graph(run: RunContents, looks: Looks) -> Figure:
    info = graph_info(run.graph, max_drawn=MAX_DRAWN, folded=should_fold(run.graph))
    return plot_graph(info, title=looks.title, page=looks.page)


def _draw_comparison(run: RunContents, looks: Looks) -> Figure:
    info = comparison_info(run.graph, _find_truth(run))
    return plot_comparison(info, title=looks.title, page=looks.page)


def _draw_schematic(run: RunContents, looks: Looks) -> Figure:
    net = _find_net(run).trial.net
    _need(net if net.kind == "redundant" else None, "the run has no redundant-input networks")
    info = SchematicInfo(len(run.inputs), net.layers, net.width, len(run.outputs))
    return plot_schematic(info, title=looks.title)


def _draw_architecture(run: RunContents, looks: Looks) -> Figure:
    net, inputs, outputs = _find_net(run), list(run.inputs), list(run.outputs)
    if net.trial.net.kind == "belief":
        inputs = outputs  # a belief network learns the outputs from the outputs
    info = architecture_info(net.weights, inputs, outputs)
    return plot_architecture(info, title=looks.title or f"Network {net.trial.number}")


def _draw_strips(run: RunContents, looks: Looks) -> Figure:
    net, thresholds = _find_net(run), None
    if run.scores:
        paper = run.scores["paper"]
        hidden = paper["hidden"].get("threshold")
        inputs = paper["input"].get("threshold") if paper["input"] else None
        thresholds = None if hidden is None else (hidden, hidden if inputs is None else inputs)
    info = strips_info(map_trained(net), run.inputs, run.outputs, truth=run.truth,
                       thresholds=thresholds)  # fmt: skip
    title = f"Network {net.trial.number}: what each node does to the outputs"
    return plot_strips(info, title=looks.title or title)


def _draw_patterns(run: RunContents, looks: Looks) -> Figure:
    return plot_patterns(patterns_info(_find_truth(run)), title=looks.title)


def _draw_selection(run: RunContents, looks: Looks) -> Figure:
    return plot_selection(selection_info(_find_trials(run)), title=looks.title)


def _draw_curves(run: RunContents, looks: Looks) -> Figure:
    table = _need(run.curves, "the run has no learning curves")
    return plot_curves(curves_info(table), title=looks.title)


FIGURES = {
    figure.name: figure
    for figure in (
        FigureKind("graph", "the latent graph in layers", _draw_graph),
        FigureKind("comparison", "found and true graph: right, missed and extra edges",
                   _draw_comparison),
        FigureKind("patterns", "the outputs that each latent and input of the truth reaches",
                   _draw_patterns),
        FigureKind("schematic", "what a redundant-input network is, as the paper's Figure 1",
                   _draw_schematic),
        FigureKind("strips", "what each node of a network does to the outputs", _draw_strips),
        FigureKind("architecture", "a network with its active edges", _draw_architecture),
        FigureKind("selection", "all networks by sparsity and loss, the chosen ones marked",
                   _draw_selection),
        FigureKind("curves", "losses of the kept networks by epoch", _draw_curves),
    )
}  # fmt: skip
