"""The commands for the files of a study: `prepare`, `experiment` and `tci`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rinn.cli.options import Quiet, print_line, with_settings
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.tci.settings import TciSettings
from rinn.runs.terminal import Terminal


@with_settings()
def prepare(
    out: Annotated[Path, typer.Option(help="Folder for x.csv, y.csv and the other files.")],
    sources: Sources,
    settings: PrepareSettings,
    quiet: Quiet = False,
) -> None:
    """Make X, Y and covariates for `rinn fit` from mutations, copy number and expression."""
    from rinn.cli.show import list_preparation
    from rinn.genomics.prepare.run import prepare as run

    result = run(sources, out, settings)
    if not quiet:
        for line in list_preparation(result):
            print_line(line)


@with_settings()
def experiment(
    out: Annotated[Path, typer.Option(help="Folder for x.csv, y.csv and the other files.")],
    sources: ExperimentSources,
    settings: ExperimentSettings,
    quiet: Quiet = False,
) -> None:
    """Make X, Y and covariates for `rinn fit` from a perturbation experiment."""
    from rinn.cli.show import list_preparation
    from rinn.genomics.experiments.run import prepare_experiment

    result = prepare_experiment(sources, out, settings)
    if not quiet:
        for line in list_preparation(result):
            print_line(line)


@with_settings()
def tci(
    context: typer.Context,
    x: Annotated[
        Path, typer.Argument(metavar="X", help="Alterations (SGA), samples by genes, 0 and 1.")
    ],
    y: Annotated[
        Path,
        typer.Argument(metavar="Y", help="Expression changes (DEG), the same samples, 0 and 1."),
    ],
    out: Annotated[Path, typer.Option(help="Folder; the same command again resumes it.")],
    tissue: Annotated[
        Path | None, typer.Option(help="Table with the tissue of each sample, to adjust for.")
    ] = None,
    prior: Annotated[
        str, typer.Option(help="frequency, uniform, or a table of gene and prior.")
    ] = "frequency",
    other: Annotated[
        float | None,
        typer.Option(
            help="Prior of all causes that are not measured. The default is that of the table, "
            "else 0.05."
        ),
    ] = None,
    *,
    settings: TciSettings,
    cores: Annotated[
        int | None,
        typer.Option(min=1, help="Cores to use; all by default. Results do not depend on it."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Find which alteration caused which expression change in each tumour; call the drivers."""
    from rinn.cli.show import show_tci
    from rinn.genomics.tci.run import run_tci

    result = run_tci(
        x,
        y,
        out,
        settings,
        tissue_path=tissue,
        prior=prior,
        other=other,
        cores=cores,
        quiet=quiet,
        command=context.obj,
    )
    if not quiet:
        show_tci(result, Terminal())
        print_line(f"wrote {out}")
