"""The command that runs every method on the same tables: `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rinn.cli.options import Device, Quiet, print_line, split_commas, with_settings
from rinn.config import RunSettings
from rinn.runs.terminal import Terminal

if TYPE_CHECKING:
    from rinn.compare.rows import Row

LIMIT = 600.0  # as `rinn.compare.compare`, which takes long to import


@with_settings("seed", "budget", "trials", "epochs", "loss", "bootstraps")
def compare(
    x: Annotated[Path, typer.Argument(metavar="X", help="Table of the inputs, as for 'rinn fit'.")],
    y: Annotated[Path, typer.Argument(metavar="Y", help="Table of the outputs.")],
    out: Annotated[
        Path,
        typer.Option(help="Folder for the page and the runs; the same command again resumes it."),
    ],
    settings: RunSettings,
    truth: Annotated[
        Path | None, typer.Option(help="A known graph to score all methods; none of them sees it.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Strategies, separated by commas. By default all that are installed."),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(
            help="Seconds for each method. One that takes longer is stopped, and the table says "
            "so; a higher limit runs it again."
        ),
    ] = LIMIT,
    covariates: Annotated[
        Path | None, typer.Option(help="Table of covariates, as for 'rinn fit'.")
    ] = None,
    kinds: Annotated[
        Path | None, typer.Option(help="Table of the kinds of outputs, as for 'rinn fit'.")
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Run every method on the same tables, each in a process of its own, and compare the graphs."""
    from rinn.compare.compare import compare as run_methods

    rows = run_methods(
        x,
        y,
        out,
        settings,
        methods=None if methods is None else split_commas(methods),
        limit=limit,
        device=device,
        truth_path=truth,
        covariates_path=covariates,
        kinds_path=kinds,
        quiet=quiet,
    )
    if not quiet:
        _show_rows(rows)
        print_line(f"open {out / 'comparison.html'}")


def _show_rows(rows: Sequence[Row]) -> None:
    from rich import box
    from rich.table import Table

    from rinn.compare.page import list_cells, list_headers, summarise

    shown = ("method", "latents F1", "edges F1", "pairs F1", "latents", "edges drawn", "time")
    headers = [header for header in list_headers(rows) if header in shown]
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        is_name = header == "method"
        grid.add_column(header, no_wrap=is_name, justify="left" if is_name else "right")
    for row in rows:
        grid.add_row(*list_cells(row, headers))
    Terminal().print(grid)
    for sentence in summarise(rows):
        print_line(sentence)
