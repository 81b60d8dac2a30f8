"""All commands of `rinn`, in the order of the help."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated

import typer

from rinn.cli.compare import compare
from rinn.cli.fit import demo, fit, reproduce
from rinn.cli.genomics import experiment, prepare, tci
from rinn.cli.names import name
from rinn.cli.options import with_list
from rinn.cli.results import check, draw, export, report, score, view
from rinn.cli.robust import robust
from rinn.cli.simulate import simulate
from rinn.cli.use import activity, similar, whatif

app = typer.Typer(
    help="Learn the hidden causal graph between known causes (X) and known effects (Y).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(simulate)
app.command(cls=with_list("Formats", "rinn.genomics.readers", "READERS"))(prepare)
app.command()(experiment)
app.command(cls=with_list("Strategies", "rinn.strategies", "STRATEGIES", "title"))(fit)
app.command(cls=with_list("Methods", "rinn.strategies", "STRATEGIES", "title"))(compare)
app.command()(score)
app.command()(check)
app.command(cls=with_list("Formats", "rinn.graphs.export", "EXPORTS"))(export)
app.command()(report)
app.command(cls=with_list("Figures", "rinn.paper.figure", "ALL_FIGURES"))(draw)
app.command(cls=with_list("Analyses", "rinn.runs.robust", "ANALYSES"))(robust)
for command in (view, name, activity, whatif, similar, demo, reproduce, tci):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _show_version(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if version:
        sys.stdout.write(f"rinn {importlib.metadata.version('rinn')}\n")
        raise typer.Exit()
