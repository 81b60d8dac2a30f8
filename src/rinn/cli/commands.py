"""All commands of `rinn`, in the order of the help."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated

import typer

from rinn.cli.check import ListFormats, check, export, report, score
from rinn.cli.draw import ListFigures, draw
from rinn.cli.fit import ListStrategies, demo, fit, reproduce
from rinn.cli.prepare import prepare
from rinn.cli.simulate import simulate
from rinn.cli.tci import tci
from rinn.cli.use import activity, name, similar, whatif
from rinn.cli.view import view

app = typer.Typer(
    help="Learn the hidden causal graph between known causes (X) and known effects (Y).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(simulate)
app.command()(prepare)
app.command(cls=ListStrategies)(fit)
app.command()(score)
app.command()(check)
app.command(cls=ListFormats)(export)
app.command()(report)
app.command(cls=ListFigures)(draw)
app.command()(view)
app.command()(name)
app.command()(activity)
app.command()(whatif)
app.command()(similar)
app.command()(demo)
app.command()(reproduce)
app.command()(tci)


@app.callback(invoke_without_command=True)
def _describe_self(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if version:
        sys.stdout.write(f"rinn {importlib.metadata.version('rinn')}\n")
        raise typer.Exit()
