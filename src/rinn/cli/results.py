"""The commands for a graph or run: `score`, `check`, `export`, `report`, `draw` and `view`."""

from __future__ import annotations

import json
import signal
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rinn.cli.options import Force, Json, Run, RunOrGraph, print_line
from rinn.errors import InputError
from rinn.runs.terminal import Terminal


def score(
    run: RunOrGraph,
    truth: Annotated[Path, typer.Option(help="The graph that the data were made from.")],
    as_json: Json = False,
) -> None:
    """Compare a result with a known truth: the scores of the paper and of the graph."""
    from rinn.cli.show import show_scores
    from rinn.runs.score import score_path

    scores = score_path(run, truth)
    if as_json:
        sys.stdout.write(json.dumps(scores) + "\n")
    else:
        show_scores(scores, Terminal())


def check(
    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH", help="A graph as .json or .graphml, or a run folder.")
    ],
    x: Annotated[
        Path | None,
        typer.Option(help="Table of the inputs, to compare the graph with; needs --y."),
    ] = None,
    y: Annotated[
        Path | None, typer.Option(help="Table of the outputs for the same samples; needs --x.")
    ] = None,
    covariates: Annotated[
        Path | None,
        typer.Option(help="Table of tissue, batch and so on, to adjust for; needs --x."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List which latents of a graph are identifiable if it is true, and what it assumes."""
    from rinn.cli.show import show_check
    from rinn.runs.check import check_file

    with _name_in_errors(f"cannot read {graph}"):
        result = check_file(graph, x, y, covariates)
    if as_json:
        sys.stdout.write(json.dumps(result.to_json()) + "\n")
    else:
        show_check(result, Terminal())


def export(
    run: RunOrGraph,
    kind: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="One of the formats below.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default next to the graph.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a graph for another program, such as Cytoscape, Graphviz, lavaan or Tetrad."""
    from rinn.graphs.export import EXPORTS, export_path

    with _name_in_errors(f"cannot export {run}" + (f" to {out}" if out else "")):
        path = export_path(run, kind, out, force=force)
    *others, file = EXPORTS[kind].files(path)
    print_line(f"wrote {' and '.join(map(str, [file, *others]))}")


def report(
    run: Run,
    title: Annotated[
        str | None, typer.Option(help="Title; by default that of 'rinn fit', or from its files.")
    ] = None,
) -> None:
    """Write report.html of a finished run again."""
    from rinn.report.html.page import write_report

    print_line(f"wrote {write_report(run, title=title)}")


def draw(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder of a finished run, or one of 'rinn reproduce'."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the figures; created if missing.")],
    kind: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="svg, png or pdf.")
    ] = "svg",
    only: Annotated[
        str | None, typer.Option(metavar="NAME", help="One of the figures below; all by default.")
    ] = None,
    dpi: Annotated[int, typer.Option(help="Dots per inch of a PNG.")] = 300,
    width: Annotated[
        float | None,
        typer.Option(metavar="MM", help="Width in millimetres; journals ask for 85 or 180."),
    ] = None,
    font_size: Annotated[
        float | None, typer.Option(metavar="PT", help="Size of the usual text in points.")
    ] = None,
    title: Annotated[str, typer.Option(help="Title above the figure.")] = "",
    force: Force = False,
) -> None:
    """Write the figures of a run for a paper or a talk."""
    from rinn.paper.figure import draw_folder
    from rinn.report.figures.folders import Looks

    looks = Looks(dpi, width, font_size, title)
    written = 0
    for figure in draw_folder(run, out, kind=kind, only=only, force=force, looks=looks):
        if figure.path is None:
            print_line(f"left out {figure.name}: {figure.reason}")
        else:
            print_line(f"wrote {figure.path}")
            written += 1
    if not written:
        raise InputError(
            f"RUN must hold the data of at least one of these figures, but {run} does not; the "
            "lines above say what is missing"
        )


def view(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|DIR", help="Run folder, or a folder with several runs.")
    ],
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free port.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Show the report of a run, or an index of many runs, in a browser on this machine.

    Nothing is written, and nothing outside the folder is read. Every user of this machine can
    see it while it runs; Ctrl-C ends it.
    """
    from rinn.report.serve import open_server

    server = open_server(run, port)
    before = signal.getsignal(signal.SIGINT)
    if before != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print_line(f"showing {run} at {server.url} (Ctrl-C ends it)")
        if open_browser:
            webbrowser.open(server.url)
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        signal.signal(signal.SIGINT, before)


@contextmanager
def _name_in_errors(what: str) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {error.strerror}") from error
