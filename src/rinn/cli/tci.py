"""The command for alterations and expression changes of tumours: `tci`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rinn.cli.options import Quiet, Seed, say
from rinn.runs.terminal import Terminal


def tci(
    context: typer.Context,
    x: Annotated[
        Path, typer.Argument(metavar="X", help="Alterations (SGA), samples x genes, 0 and 1.")
    ],
    y: Annotated[
        Path,
        typer.Argument(metavar="Y", help="Expression changes (DEG), the same samples, 0 and 1."),
    ],
    out: Annotated[Path, typer.Option(help="Folder; the same command again resumes it.")],
    tissue: Annotated[
        Path | None,
        typer.Option(help="Table of text with the tissue of each sample, to allow for it."),
    ] = None,
    tissue_model: Annotated[
        str, typer.Option(help="strata or mixture: how the likelihood allows for tissues.")
    ] = "strata",
    prior: Annotated[
        str, typer.Option(help="frequency, uniform, or a table of gene and prior.")
    ] = "frequency",
    other: Annotated[
        float | None,
        typer.Option(help="Prior of all causes that are not measured; 0.05, or as the table has."),
    ] = None,
    any_direction: Annotated[
        bool,
        typer.Option(
            "--any-direction", help="Allow causes that make an expression change less frequent."
        ),
    ] = False,
    top: Annotated[int, typer.Option(help="Causes to write for each DEG of a tumour.")] = 1,
    permutations: Annotated[
        int, typer.Option(help="Runs on permuted Y that set the cut-offs; 0: no cut-offs.")
    ] = 100,
    permute: Annotated[
        str, typer.Option(help="What is permuted: rows of Y, or columns one by one.")
    ] = "rows",
    significance: Annotated[
        float, typer.Option(help="Share of top posteriors of permuted Y above a cut-off.")
    ] = 0.001,
    min_cutoff: Annotated[float, typer.Option(help="No cut-off is below this.")] = 0.0,
    max_cutoff: Annotated[float, typer.Option(help="No cut-off is above this.")] = 1.0,
    min_degs: Annotated[
        int, typer.Option(help="DEGs that a driver explains in a tumour, at least.")
    ] = 5,
    min_tumours: Annotated[
        int, typer.Option(help="Tumours in which a driver overall is called, at least.")
    ] = 30,
    min_rate: Annotated[
        float, typer.Option(help="Share of its carriers in which it is, at least.")
    ] = 0.5,
    min_share: Annotated[
        float, typer.Option(help="Share of a driver's tumours with a target linked, at least.")
    ] = 0.2,
    min_drivers: Annotated[
        int, typer.Option(help="Keep DEGs that are targets of so many drivers, at least.")
    ] = 1,
    min_prevalence: Annotated[
        float, typer.Option(help="Keep DEGs that are at least so frequent.")
    ] = 0.0,
    max_prevalence: Annotated[
        float, typer.Option(help="Keep DEGs that are at most so frequent.")
    ] = 1.0,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Cores to use; by default all. No result changes.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find which alteration caused which expression change in each tumour; call the drivers."""
    from rinn.cli.show import show_tci
    from rinn.genomics.tci.run import run_tci
    from rinn.genomics.tci.settings import TciSettings

    settings = TciSettings(
        direction=not any_direction,
        tissue_model=tissue_model,
        top=top,
        permutations=permutations,
        permute=permute,
        significance=significance,
        min_cutoff=min_cutoff,
        max_cutoff=max_cutoff,
        min_degs=min_degs,
        min_tumours=min_tumours,
        min_rate=min_rate,
        min_share=min_share,
        min_drivers=min_drivers,
        min_prevalence=min_prevalence,
        max_prevalence=max_prevalence,
        seed=seed,
    )
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
        say(f"wrote {out}")
