"""The command that draws: `draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from rinn.cli.options import say


class ListFigures(TyperCommand):
    """A command whose help ends with the figures, read when the help is asked for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the figures below the options."""
        from rinn.paper.figure import ALL_FIGURES

        with formatter.section("Figures"):
            formatter.write_dl([(figure.name, figure.about) for figure in ALL_FIGURES.values()])


def draw(
    run: Annotated[
        Path, typer.Argument(help="Run folder that is finished, or a folder of 'rinn reproduce'.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the figures, made where it is missing.")],
    kind: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="svg, png or pdf.")
    ] = "svg",
    only: Annotated[
        str | None, typer.Option(metavar="NAME", help="One of the figures below; else all.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write every figure that a run allows, for a paper or a talk; the figures are below."""
    from rinn.errors import InputError
    from rinn.paper.figure import draw_folder

    written = 0
    for drawn in draw_folder(run, out, kind=kind, only=only, force=force):
        if drawn.path is None:
            say(f"left out {drawn.name}: {drawn.reason}")
        else:
            say(f"wrote {drawn.path}")
            written += 1
    if not written:
        raise InputError(f"RUN must hold what a figure needs, but {run} allowed none")
