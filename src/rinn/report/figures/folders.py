"""Every figure that a run folder allows, and figures into files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx
from matplotlib.figure import Figure

from rinn.config import check_choice
from rinn.errors import InputError, suggest
from rinn.files import check_target, make_folder, replace_file
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import map_trained
from rinn.report.figures.architecture import plot_architecture
from rinn.report.figures.canvas import FORMATS, encode_figure
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.graph import plot_graph
from rinn.report.figures.patterns import plot_patterns
from rinn.report.figures.selection import plot_selection
from rinn.report.figures.strips import plot_strips
from rinn.runs.read import RunContents

_T = TypeVar("_T")


class Absent(Exception):  # noqa: N818
    """A folder lacks what a figure needs; the words say what."""


@dataclass(frozen=True)
class FigureKind:
    """One figure of a folder: its name, what it shows, and how it is drawn."""

    name: str
    about: str
    draw: Callable[[Any], Figure]


@dataclass(frozen=True)
class Drawn:
    """A figure of a folder: the file that was written, or why there is none."""

    name: str
    path: Path | None
    reason: str = ""


def draw_figures(
    source: Any, figures: Sequence[FigureKind], out: Path, kind: str, *, force: bool
) -> Iterator[Drawn]:
    """Draw figures of one source, such as a run folder, into files.

    Everything is checked before the first file is written. Each figure is written whole or not at
    all.
    """
    paths = {figure.name: out / f"{figure.name}.{kind}" for figure in figures}
    _check_place(out, list(paths.values()), force)
    return _draw(source, figures, paths)


def check_words(kind: str, only: str | None, figures: Mapping[str, FigureKind]) -> None:
    """Refuse a format or a figure that there is none of."""
    check_choice("format", kind, FORMATS)
    if only is not None and only not in figures:
        raise InputError(f"--only must name a figure, got {only!r}{suggest(only, figures)}")


def _draw(source: Any, figures: Sequence[FigureKind], paths: dict[str, Path]) -> Iterator[Drawn]:
    for figure in figures:
        try:
            drawn = figure.draw(source)
        except (Absent, InputError) as error:
            yield Drawn(figure.name, None, str(error))
            continue
        path = paths[figure.name]
        make_folder(path.parent)
        replace_file(path, encode_figure(drawn, path.suffix[1:]))
        yield Drawn(figure.name, path)


def _check_place(out: Path, paths: list[Path], force: bool) -> None:
    for path in paths if os.path.isdir(out) else []:
        check_target(path)
        if os.path.lexists(path) and not force:
            raise InputError(
                f"cannot write {path}: it exists; choose another --out, or replace it with --force"
            )


def _need(value: _T | None, why: str) -> _T:
    """A part of a run that a figure needs."""
    if value is None:
        raise Absent(why)
    return value


def _find_net(run: RunContents) -> TrainedNet:
    """The network that the paper's distance puts first, else the first that was kept."""
    chosen = [*run.find_nets("nearest"), *run.find_nets("kept")]
    return _need(next(iter(chosen), None), "the run has no networks")


def _find_truth(run: RunContents) -> nx.DiGraph:
    return _need(run.truth, "no truth was given to 'rinn fit'")


def _draw_architecture(run: RunContents) -> Figure:
    net, inputs, outputs = _find_net(run), list(run.inputs), list(run.outputs)
    if net.trial.net.kind == "belief":
        inputs = outputs  # a belief network learns the outputs from the outputs
    title = f"Network {net.trial.number}"
    return plot_architecture(net.weights, inputs, outputs, title=title)


def _draw_strips(run: RunContents) -> Figure:
    net, thresholds = _find_net(run), None
    if run.scores:
        paper = run.scores["paper"]
        hidden = paper["hidden"].get("threshold")
        inputs = paper["input"].get("threshold") if paper["input"] else None
        thresholds = None if hidden is None else (hidden, hidden if inputs is None else inputs)
    title = f"Network {net.trial.number}: what each node does to the outputs"
    return plot_strips(map_trained(net), list(run.inputs), list(run.outputs), truth=run.truth,
                       thresholds=thresholds, title=title)  # fmt: skip


def _draw_selection(run: RunContents) -> Figure:
    _find_net(run)
    return plot_selection(run.trials)


FIGURES = {
    figure.name: figure
    for figure in (
        FigureKind("graph", "the latent graph in layers",
                   lambda run: plot_graph(run.graph)),
        FigureKind("comparison", "found and true graph: right, missed and extra edges",
                   lambda run: plot_comparison(run.graph, _find_truth(run))),
        FigureKind("patterns", "the outputs that each latent and input of the truth reaches",
                   lambda run: plot_patterns(_find_truth(run))),
        FigureKind("strips", "what each node of a network does to the outputs", _draw_strips),
        FigureKind("architecture", "a network with its living edges", _draw_architecture),
        FigureKind("selection", "all networks by sparsity and loss, the chosen ones marked",
                   _draw_selection),
        FigureKind("curves", "losses of the kept networks by epoch",
                   lambda run: plot_curves(_need(run.curves, "there is no curves.csv"))),
    )
}  # fmt: skip
