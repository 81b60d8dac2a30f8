"""All commands of `rinn`, in the order of the help."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from rinn.cli.compare import compare
from rinn.cli.fit import demo, fit, reproduce
from rinn.cli.genomics import experiment, prepare, tci
from rinn.cli.names import name
from rinn.cli.options import Listing, Overview, make_command
from rinn.cli.results import check, draw, export, report, score, view
from rinn.cli.robust import robust
from rinn.cli.simulate import simulate
from rinn.cli.use import activity, similar, whatif

app = typer.Typer(
    help="Learn the hidden causal graph between known causes (X) and known effects (Y).",
    cls=Overview,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

READERS = Listing("Formats", "rinn.genomics.readers", "READERS")
STRATEGIES = Listing("Strategies", "rinn.strategies", "STRATEGIES", "title")
EXPORTS = Listing("Formats", "rinn.graphs.export", "EXPORTS")
FIGURES = Listing("Figures", "rinn.paper.figure", "ALL_FIGURES")


def _add(heading: str, command: Callable[..., None], *examples: str, **more: Listing) -> None:
    app.command(cls=make_command(*examples, **more), rich_help_panel=heading)(command)


_add(
    "Learn",
    fit,
    "rinn fit x.csv y.csv --out runs/first",
    "rinn fit x.csv y.csv --covariates samples.csv --null 5 --out runs/second",
    "rinn fit x.csv y.csv --prior prior.csv --gene-sets pathways.gmt --out runs/third",
    listing=STRATEGIES,
)
_add(
    "Learn",
    compare,
    "rinn compare x.csv y.csv --truth truth.json --out comparison",
    listing=Listing("Methods", "rinn.strategies", "STRATEGIES", "title"),
)
_add("Learn", demo, "rinn demo --out rinn-demo")
_add(
    "Data",
    prepare,
    "rinn prepare --study brca_tcga --out data",
    "rinn prepare --maf a.maf.gz --copy-number cn.txt --expression rna.tsv --out data",
    listing=READERS,
)
_add(
    "Data",
    experiment,
    "rinn experiment --design design.csv --measurements signals.csv --out data",
)
_add(
    "Data",
    simulate,
    "rinn simulate or --out data/or",
    "rinn simulate random --inputs 20 --outputs 30 --latents 6 --seed 1 --out data/random",
)
_add("Data", tci, "rinn tci x.csv y.csv --tissue tissue.csv --out drivers")
_add("Results", report, "rinn report runs/first")
_add("Results", view, "rinn view runs --open")
_add(
    "Results",
    draw,
    "rinn draw runs/first --out figures",
    "rinn draw runs/first --only graph --format pdf --out figures",
    listing=FIGURES,
)
_add(
    "Results",
    export,
    "rinn export runs/first --format cx2",
    "rinn export runs/first --format lavaan --out model.txt",
    listing=EXPORTS,
)
_add("Results", score, "rinn score runs/first --truth data/truth.json")
_add("Results", check, "rinn check truth.json --x x.csv --y y.csv")
_add(
    "Results",
    robust,
    "rinn robust halves runs/first x.csv y.csv --out robust",
    listing=Listing("Analyses", "rinn.runs.robust", "ANALYSES"),
)
_add("Use a graph", name, "rinn name runs/first --gmt pathways.gmt")
_add("Use a graph", activity, "rinn activity runs/first x.csv --out activity.csv")
_add(
    "Use a graph",
    whatif,
    "rinn whatif runs/first x.csv --do TP53=1",
    "rinn whatif runs/first x.csv --without L1:CDKN1A",
)
_add("Use a graph", similar, "rinn similar runs/first --input TP53")
_add("The paper", reproduce, "rinn reproduce --datasets 1,2 --out tables")


@app.callback(invoke_without_command=True)
def _show_version(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if version:
        sys.stdout.write(f"rinn {importlib.metadata.version('rinn')}\n")
        raise typer.Exit()
