"""Every figure that a folder allows: that of a run, or that of a reproduction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
from matplotlib.figure import Figure

from rinn.errors import InputError, suggest
from rinn.files import check_target, make_folder, replace_file
from rinn.graphs.files import load_graph
from rinn.nets.cohorts import TrainedNet
from rinn.nets.predict import map_trained
from rinn.paper.cells import load_cell
from rinn.paper.figure import plot_reproduction
from rinn.paper.folder import CELLS, SETUP
from rinn.paper.tables import Comparison, compare
from rinn.report.figures.architecturesheet import plot_architecture
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.graph import plot_graph
from rinn.report.figures.patterns import plot_patterns
from rinn.report.figures.saving import FORMATS, encode_figure
from rinn.report.figures.selection import plot_selection
from rinn.report.figures.stripsheet import plot_strips
from rinn.runs.folder import WEIGHTS, choose_nets, load_kept, load_manifest, read_columns
from rinn.runs.read import read_curves, read_trials

REPRODUCTION = "reproduction"


class _Absent(Exception):  # noqa: N818
    """A folder lacks what a figure needs; the words say what."""


@dataclass(frozen=True)
class FigureKind:
    """One figure of a folder: its name, what it shows, and how it is drawn."""

    name: str
    about: str
    draw: Callable[[_Folder], Figure]


@dataclass(frozen=True)
class Drawn:
    """A figure of a folder: the file that was written, or why there is none."""

    name: str
    path: Path | None
    reason: str = ""


class _Folder:
    """What a finished run folder, or the folder of a reproduction, holds; read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reproduced = (path / SETUP).is_file()
        self.manifest: dict[str, Any] = {}
        if self.reproduced:
            return
        self.manifest = load_manifest(path)
        if self.manifest.get("status") != "complete":
            raise InputError(
                f"RUN must be a finished run, but {path} is not; repeat its 'rinn fit' command to "
                f"let it go on"
            )

    @cached_property
    def graph(self) -> nx.DiGraph:
        self.need("graph.json", "no graph")
        return load_graph(self.path / "graph.json")

    @cached_property
    def truth(self) -> nx.DiGraph:
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
            raise _Absent("the run has no networks")
        return chosen[0]

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The inputs and outputs."""
        inputs, outputs = read_columns(self.manifest, self.path)
        return list(inputs), list(outputs)

    @property
    def trials(self) -> pd.DataFrame:
        self.need("trials.csv", "there is no trials.csv")
        if not self.manifest.get("networks", {}).get("kept"):
            raise _Absent("the run has no networks")
        return read_trials(self.path, has_networks=True)

    @property
    def curves(self) -> pd.DataFrame:
        self.need("curves.csv", "there is no curves.csv")
        return read_curves(self.path)

    def need(self, name: str, why: str) -> None:
        if not (self.path / name).is_file():
            raise _Absent(why)


def draw_folder(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    kind: str = "svg",
    only: str | None = None,
    force: bool = False,
) -> Iterator[Drawn]:
    """Draw every figure that a run folder, or the folder of a reproduction, allows.

    Everything is checked before the first file is written. Each figure is written whole or not at
    all.

    Args:
        folder: of a finished run ('rinn fit') or of a reproduction ('rinn reproduce').
        out: folder for the figures, made where it is missing.
        kind: svg, png or pdf.
        only: the name of one figure; by default all.
        force: replace files that exist.

    Yields:
        For each figure the file that was written, or why it was left out.

    Raises:
        InputError: a name is unknown, the folder holds neither, or a file is in the way.
    """
    folder, out = Path(folder), Path(out)
    if kind not in FORMATS:
        raise InputError(
            f"format must be one of {', '.join(FORMATS)}, got {kind!r}"
            f"{suggest(kind, FORMATS, listed=False)}"
        )
    if only is not None and only not in FIGURES:
        raise InputError(f"--only must name a figure, got {only!r}{suggest(only, FIGURES)}")
    held = _Folder(folder)
    if only is None:
        wanted = [f for f in FIGURES.values() if (f.name == REPRODUCTION) == held.reproduced]
    else:
        wanted = [FIGURES[only]]
    paths = {figure.name: out / f"{figure.name}.{kind}" for figure in wanted}
    _check_place(out, list(paths.values()), force)
    return _draw(held, wanted, paths)


def _draw(folder: _Folder, wanted: list[FigureKind], paths: dict[str, Path]) -> Iterator[Drawn]:
    for figure in wanted:
        try:
            if folder.reproduced != (figure.name == REPRODUCTION):
                raise _Absent(
                    "the folder is a reproduction's, not a run's"
                    if folder.reproduced
                    else "the folder is a run's, not a reproduction's"
                )
            drawn = figure.draw(folder)
        except (_Absent, InputError) as error:
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


def load_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Read the cells of a reproduction's folder, beside the paper's figures.

    Args:
        folder: what 'rinn reproduce' wrote.

    Returns:
        The comparison.

    Raises:
        InputError: the folder holds no cells of a reproduction.
    """
    folder = Path(folder)
    cells = [cell for cell in map(load_cell, sorted((folder / CELLS).glob("*.json"))) if cell]
    if not cells:
        raise InputError(f"folder must hold a reproduction's cells, but {folder} has none")
    first = cells[0].setup
    return compare(first, [], {cell.job: cell for cell in cells if cell.setup == first})


def _draw_architecture(folder: _Folder) -> Figure:
    net, (inputs, outputs) = folder.net, folder.names
    if net.trial.net.kind == "belief":
        inputs = outputs  # a belief network learns the outputs from the outputs
    title = f"Network {net.trial.number}"
    return plot_architecture(net.weights, inputs, outputs, title=title)


def _draw_strips(folder: _Folder) -> Figure:
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
        FigureKind(REPRODUCTION, "the tables of a reproduction beside the paper's",
                   lambda folder: plot_reproduction(load_comparison(folder.path))),
    )
}  # fmt: skip

__all__ = ["FIGURES", "Drawn", "FigureKind", "draw_folder", "load_comparison"]
