"""Every figure that a run folder allows, and figures into files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
from matplotlib.figure import Figure

from rinn.config import check_choice
from rinn.errors import InputError, suggest
from rinn.files import check_target, make_folder, replace_file
from rinn.graphs.files import load_graph
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
from rinn.runs.folder import WEIGHTS, choose_nets, load_kept, load_manifest, read_columns
from rinn.runs.read import read_curves, read_trials


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


class RunFolder:
    """What a finished run folder holds; read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: dict[str, Any] = load_manifest(path)
        if self.manifest.get("status") != "complete":
            raise InputError(
                f"RUN must be a finished run, but {path} is not; repeat its 'rinn fit' command to "
                f"let it go on"
            )

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph that was found."""
        self.need("graph.json", "no graph")
        return load_graph(self.path / "graph.json")

    @cached_property
    def truth(self) -> nx.DiGraph:
        """The graph that made the data."""
        self.need("truth.json", "no truth was given to 'rinn fit'")
        return load_graph(self.path / "truth.json")

    @cached_property
    def net(self) -> TrainedNet:
        """The network that the paper's distance puts first, else the first that was kept."""
        self.need(WEIGHTS, "no networks")
        nets = load_kept(self.path / WEIGHTS)[0]
        read_columns(self.manifest, self.path)
        chosen = [
            net for kind in ("nearest", "kept") for net in choose_nets(nets, self.manifest, kind)
        ]
        if not chosen:
            raise Absent("the run has no networks")
        return chosen[0]

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The inputs and outputs."""
        inputs, outputs = read_columns(self.manifest, self.path)
        return list(inputs), list(outputs)

    @property
    def trials(self) -> pd.DataFrame:
        """All networks that were trained."""
        self.need("trials.csv", "there is no trials.csv")
        if not self.manifest.get("networks", {}).get("kept"):
            raise Absent("the run has no networks")
        return read_trials(self.path, has_networks=True)

    @property
    def curves(self) -> pd.DataFrame:
        """Losses by epoch."""
        self.need("curves.csv", "there is no curves.csv")
        return read_curves(self.path)

    def need(self, name: str, why: str) -> None:
        """Give up on a figure where a file is missing."""
        if not (self.path / name).is_file():
            raise Absent(why)


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


def _draw_architecture(folder: RunFolder) -> Figure:
    net, (inputs, outputs) = folder.net, folder.names
    if net.trial.net.kind == "belief":
        inputs = outputs  # a belief network learns the outputs from the outputs
    title = f"Network {net.trial.number}"
    return plot_architecture(net.weights, inputs, outputs, title=title)


def _draw_strips(folder: RunFolder) -> Figure:
    paper = folder.manifest.get("scores", {}).get("paper", {})
    found = [(paper.get(part) or {}).get("threshold") for part in ("hidden", "input")]
    hidden = found[0]
    thresholds = None if hidden is None else (hidden, hidden if found[1] is None else found[1])
    truth = folder.truth if (folder.path / "truth.json").is_file() else None
    title = f"Network {folder.net.trial.number}: what each node does to the outputs"
    return plot_strips(map_trained(folder.net), *folder.names, truth=truth, thresholds=thresholds,
                       title=title)  # fmt: skip


FIGURES = {
    figure.name: figure
    for figure in (
        FigureKind("graph", "the latent graph in layers",
                   lambda folder: plot_graph(folder.graph)),
        FigureKind("comparison", "found and true graph: right, missed and extra edges",
                   lambda folder: plot_comparison(folder.graph, folder.truth)),
        FigureKind("patterns", "the outputs that each latent and input of the truth reaches",
                   lambda folder: plot_patterns(folder.truth)),
        FigureKind("strips", "what each node of a network does to the outputs", _draw_strips),
        FigureKind("architecture", "a network with its living edges", _draw_architecture),
        FigureKind("selection", "all networks by sparsity and loss, the chosen ones marked",
                   lambda folder: plot_selection(folder.trials)),
        FigureKind("curves", "losses of the kept networks by epoch",
                   lambda folder: plot_curves(folder.curves)),
    )
}  # fmt: skip
