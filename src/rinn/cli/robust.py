"""The command `robust`: does the graph of a run hold."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from rinn.cli.fit import PriorFiles
from rinn.cli.options import (
    Cluster,
    Cores,
    Device,
    Json,
    Quiet,
    Run,
    clip_line,
    print_line,
    with_settings,
)
from rinn.config import check_choice, check_integer
from rinn.errors import InputError, clip
from rinn.runs.terminal import Terminal, make_visible

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 20


@with_settings()
def robust(
    analysis: Annotated[str, typer.Argument(metavar="ANALYSIS", help="One of the analyses below.")],
    run: Run,
    files: PriorFiles,
    out: Annotated[
        Path, typer.Option(help="Folder for the tables; the same command again shows them.")
    ],
    x: Annotated[
        Path | None,
        typer.Argument(metavar="X", help="Table of the inputs that the run was fitted on."),
    ] = None,
    y: Annotated[
        Path | None,
        typer.Argument(metavar="Y", help="Table of the outputs that the run was fitted on."),
    ] = None,
    covariates: Annotated[
        Path | None, typer.Option(help="Table of covariates, where the run has some.")
    ] = None,
    kinds: Annotated[
        Path | None, typer.Option(help="Table of the kinds of outputs, where the run has one.")
    ] = None,
    covariate: Annotated[
        str | None, typer.Option(metavar="NAME", help="levels: the covariate with these levels.")
    ] = None,
    resamples: Annotated[
        int, typer.Option(help="halves: pairs of half-samples, each fitted by itself.")
    ] = 25,
    device: Device = "auto",
    cluster: Cluster = None,
    cores: Cores = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask whether the graph of a run holds, for example in half-samples or without a tissue."""
    from rinn.cli.fit import load_prior_files
    from rinn.cluster.connect import open_workers
    from rinn.data.align import load_data
    from rinn.nets.devices import find_devices, limit_cores
    from rinn.runs.read import load_run
    from rinn.runs.robust import ANALYSES, Request, analyse

    check_choice("ANALYSIS", analysis, tuple(ANALYSES))
    check_integer("--resamples", resamples)
    if (x is None) != (y is None):
        raise InputError("X and Y must come together, but Y is missing; name both tables or none")
    data = None if x is None or y is None else load_data(x, y, covariates, kinds)
    request = Request(
        load_run(run),
        data,
        prior=load_prior_files(files),
        covariate=covariate,
        resamples=resamples,
        device=device,
    )

    def say(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"{clip_line(text)}\n")

    with limit_cores(cores), open_workers(cluster, device, say) as workers:
        find_devices(device)  # refuses what it cannot find before anything is written
        found = analyse(analysis, replace(request, workers=workers), out, say)
    if as_json:
        sys.stdout.write((out / "robustness.json").read_text(encoding="utf-8"))
    elif not quiet:
        for file, table in found.tables.items():
            _show(file, table, _choose_cells(table))
        for sentence in found.sentences:
            print_line(clip_line(sentence))
        print_line(f"wrote {out}: {', '.join(found.tables)} and robustness.json")


def _choose_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Of other fits, what is not in all of them, or in most but not in the run.

    Of effects with E-values, the columns that fit a terminal of 80 columns.
    """
    if "e_value" in table:
        return table.drop(columns=["df", "partial_r2", "rv_significant"])
    if "found" not in table:
        return table
    is_lost, is_often = table["found"] < table["of"], 2 * table["found"] > table["of"]
    if "in_run" not in table:
        return table[is_lost]
    return table[is_lost.where(table["in_run"], is_often)]


def _show(file: str, table: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Print the first of these rows; the file has all."""
    from rinn.cli.show import make_table

    if rows.empty:
        return
    names = [str(name) for name in rows]
    text = [name for name in names if rows[name].dtype.kind not in "fiu"]
    numbers = [name for name in names if name not in text]
    title = f"{file}, {min(MAX_ROWS, len(rows))} of {len(table)} rows"
    grid = make_table(title, text, numbers)
    for row in rows.head(MAX_ROWS).to_dict("records"):
        words = [make_visible(str(row[name])) for name in text]
        cells = [escape(clip(word)) if word else "" for word in words]
        grid.add_row(*cells, *(f"{row[name]:.3g}" for name in numbers))
    Terminal().print(grid)
