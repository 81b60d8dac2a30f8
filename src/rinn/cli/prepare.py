"""The command that makes X, Y and covariates from the files of a study: `prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rinn.cli.options import Quiet, Seed, say


def prepare(
    out: Annotated[Path, typer.Option(help="Folder for x.csv, y.csv and the rest.")],
    study: Annotated[
        Path | None, typer.Option(help="cBioPortal study folder: all that is not named below.")
    ] = None,
    maf: Annotated[Path | None, typer.Option(help="Mutations: MAF, plain or gzip.")] = None,
    mutations: Annotated[
        Path | None, typer.Option(help="Mutations: a table of samples by genes, 0 and 1.")
    ] = None,
    mutations_format: Annotated[
        str,
        typer.Option(help="auto (by its name), table (samples in rows) or xena (genes in rows)."),
    ] = "auto",
    sequenced: Annotated[
        Path | None,
        typer.Option(help="Samples that were sequenced: those without mutation get zeros."),
    ] = None,
    copy_number: Annotated[
        Path | None, typer.Option(help="Copy number: levels from -2 to 2 by gene.")
    ] = None,
    copy_number_format: Annotated[str, typer.Option(help="auto, gistic, xena or table.")] = "auto",
    expression: Annotated[
        Path | None, typer.Option(help="Expression of the tumours, and normals if you like.")
    ] = None,
    expression_format: Annotated[
        str, typer.Option(help="auto, xena, gct, h5ad or table.")
    ] = "auto",
    expression_profile: Annotated[
        str | None, typer.Option(help="--study: which expression, by its stable_id.")
    ] = None,
    normals: Annotated[
        Path | None,
        typer.Option(help="Expression of normal samples, in the format of --expression."),
    ] = None,
    clinical: Annotated[
        Path | None, typer.Option(help="Table of text, by sample or patient; tabs or commas.")
    ] = None,
    tissue_column: Annotated[
        str | None, typer.Option(help="Its column with the tissue: compare within tissues.")
    ] = None,
    covariates: Annotated[
        str, typer.Option(help="More of its columns for covariates.csv, with commas between.")
    ] = "",
    exclude: Annotated[
        str, typer.Option(help="Genes to leave out of X and Y, with commas between.")
    ] = "",
    classes: Annotated[
        str, typer.Option(help="Mutations that count: maftools, xena, cbioportal, vep or all.")
    ] = "maftools",
    unsequenced: Annotated[
        str,
        typer.Option(help="Tumours that were not sequenced: drop, or use copy-number alone."),
    ] = "drop",
    all_samples: Annotated[
        bool, typer.Option("--all-samples", help="Keep several tumours of one patient.")
    ] = False,
    min_frequency: Annotated[
        float, typer.Option(help="Share of tumours that an input must be altered in.")
    ] = 0.02,
    min_carriers: Annotated[
        int, typer.Option(help="Tumours that an input must be altered in, at least.")
    ] = 5,
    max_missing: Annotated[
        float, typer.Option(help="Share of tumours in which a gene may be unknown.")
    ] = 0.1,
    reference: Annotated[
        str,
        typer.Option(
            help="What expression is compared with: tissue (its tumours), normals, diploid "
            "tumours, or none (z-scores already)."
        ),
    ] = "tissue",
    robust: Annotated[
        bool, typer.Option("--robust", help="normals, diploid: median and MAD, not mean and sd.")
    ] = False,
    min_reference: Annotated[int, typer.Option(help="Samples that a reference must have.")] = 10,
    log: Annotated[str, typer.Option(help="log2(x + 1) of expression: auto, yes or no.")] = "auto",
    y_kind: Annotated[
        str, typer.Option(help="continuous (z) or binary (|z| at least the cut-off).")
    ] = "continuous",
    cutoff: Annotated[
        float | None, typer.Option(help="|z| of a change; 2.81 against normals, else 2.")
    ] = None,
    min_prevalence: Annotated[
        float, typer.Option(help="binary: share of tumours in which an output is 1, at least.")
    ] = 0.05,
    max_prevalence: Annotated[
        float, typer.Option(help="binary: share of tumours in which an output is 1, at most.")
    ] = 0.95,
    keep_cis: Annotated[
        bool,
        typer.Option("--keep-cis", help="Keep changes of genes whose own copy number is altered."),
    ] = False,
    select: Annotated[
        str,
        typer.Option(
            help="auto (an input for each 4 tumours, 100 outputs), none, variance:N, tci, or "
            "steps such as variance:2000+tci."
        ),
    ] = "auto",
    max_inputs: Annotated[int | None, typer.Option(help="Keep the most frequent inputs.")] = None,
    max_outputs: Annotated[int | None, typer.Option(help="Keep the most variable outputs.")] = None,
    permutations: Annotated[int, typer.Option(help="tci: runs on permuted Y.")] = 100,
    min_degs: Annotated[
        int, typer.Option(help="tci: DEGs that a driver explains in a tumour, at least.")
    ] = 5,
    min_tumours: Annotated[
        int, typer.Option(help="tci: tumours in which a driver is called, at least.")
    ] = 30,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make X, Y and covariates that `rinn fit` takes from mutations, copy number, expression."""
    from rinn.cli.show import list_words
    from rinn.genomics.prepare.run import prepare as run
    from rinn.genomics.prepare.settings import PrepareSettings, Sources

    sources = Sources(
        maf=maf,
        mutations=mutations,
        mutations_format=mutations_format,
        copy_number=copy_number,
        copy_number_format=copy_number_format,
        expression=expression,
        expression_format=expression_format,
        normals=normals,
        study=study,
        expression_profile=expression_profile,
        clinical=clinical,
        sequenced=sequenced,
    )
    settings = PrepareSettings(
        tissue_column=tissue_column,
        covariates=_read_words(covariates),
        exclude=_read_words(exclude),
        classes=classes,
        unsequenced=unsequenced,
        all_samples=all_samples,
        min_frequency=min_frequency,
        min_carriers=min_carriers,
        max_missing=max_missing,
        reference=reference,
        robust=robust,
        min_reference=min_reference,
        log=log,
        y_kind=y_kind,
        cutoff=cutoff,
        min_prevalence=min_prevalence,
        max_prevalence=max_prevalence,
        keep_cis=keep_cis,
        select=select,
        max_inputs=max_inputs,
        max_outputs=max_outputs,
        permutations=permutations,
        min_degs=min_degs,
        min_tumours=min_tumours,
        seed=seed,
    )
    found = run(sources, out, settings)
    if not quiet:
        for words in list_words(found):
            say(words)


def _read_words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
