"""The commands that use a finished run: `name`, `activity`, `whatif` and `similar`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from rinn.cli.options import say
from rinn.errors import InputError
from rinn.runs.terminal import Terminal, make_visible

if TYPE_CHECKING:
    import pandas as pd

    from rinn.data.likelihoods import Likelihood
    from rinn.refit.intervene import Prediction
    from rinn.structure.enrichment import Enrichment
    from rinn.structure.similarity import Similarity

NAMES = "names.csv"
MAX_ROWS = 20
UNITS = {"number": "units of Y", "binary": "probability of a 1", "count": "mean count"}
NEAREST = 3
MIN_SHARE = 0.1

Run = Annotated[Path, typer.Argument(help="Run folder that 'rinn fit' has finished.")]
X = Annotated[Path, typer.Argument(metavar="X", help="Table of the inputs of any samples.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]


def name(
    run: Annotated[Path, typer.Argument(help="Run folder, or a graph as .json or .graphml.")],
    gmt: Annotated[
        Path, typer.Option(help="Gene sets: name, description, genes; tabs, may be gzipped.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default names.csv in the run folder.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="A name needs a q below this.")] = 0.05,
    min_overlap: Annotated[
        int, typer.Option(help="Genes that a set must share with a latent, at least.")
    ] = 2,
    background: Annotated[
        str,
        typer.Option(
            help="What to compare with: the run's genes that are in some set (annotated), or all."
        ),
    ] = "annotated",
    force: Force = False,
) -> None:
    """Name latents by gene sets that their inputs or outputs are enriched in."""
    from rinn.data.genesets import load_gmt
    from rinn.graphs.files import load_graph
    from rinn.structure.enrichment import enrich_latents, name_genes

    if not 0 < alpha <= 1:
        raise InputError(
            f"--alpha must be above 0 and at most 1, got {alpha:g}; choose 0.05 or the like"
        )
    place = out or (run / NAMES if run.is_dir() else run.with_suffix(".names.csv"))
    _check_place(place, force)
    graph = load_graph(_find_graph(run))
    sets = load_gmt(gmt, genes=set(name_genes(graph).values()))
    found = enrich_latents(graph, sets, least=min_overlap, background=background)
    _write(found.table, place)
    for entry in sets.log.entries:
        _note(f"{gmt.name}: {entry}")
    _show_names(found, alpha)
    say(f"wrote {place}: {len(found.table)} rows, q over {found.tests} tests")
    if place == run / NAMES and (run / "report.html").exists():
        say(f"'rinn report {run}' puts the names into the report")


def activity(
    run: Run,
    x: X,
    out: Annotated[Path, typer.Option(help="File to write: a row for each sample.")],
    force: Force = False,
) -> None:
    """Write the activity of each latent in each sample of a table."""
    from rinn.refit.activity import tabulate_samples
    from rinn.refit.samples import take_samples
    from rinn.runs.model import load_model

    _check_place(out, force)
    model = load_model(run)
    samples = take_samples(model, x)
    table = tabulate_samples(model, samples).round(4) + 0.0  # no -0.0
    table.insert(0, "sample", list(samples.names), allow_duplicates=True)
    _write(table, out)
    _warn(samples.cautions)
    say(f"wrote {out}: {len(model.latents)} latents in {len(samples.names)} samples")


def whatif(
    run: Run,
    x: X,
    do: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Set an input, in its own units, or a latent, in standard deviations; or to low, "
            "mean or high. May be repeated.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE:TARGET", help="Cut an edge. May be repeated."),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Ask of this sample only. May be repeated."),
    ] = None,
    covariates: Annotated[
        Path | None,
        typer.Option(
            help="Table of tissue, batch and the like of the same samples, for a run that was "
            "fitted with them."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: a row for each output.")] = None,
    force: Force = False,
) -> None:
    """Predict how the outputs change when variables are set, or edges cut."""
    from rinn.cli.words import read_edges, read_settings
    from rinn.refit.intervene import answer
    from rinn.refit.samples import take_samples
    from rinn.runs.model import load_model

    if out is not None:
        _check_place(out, force)
    model = load_model(run)
    inputs, latents = read_settings(model, do or [])
    edges = read_edges(model, without or [])
    samples = take_samples(model, x, sample or [], covariates)
    found = answer(model, samples, inputs, latents, edges)
    if out is not None:
        _write(found.to_frame().reset_index(), out)
    _warn(found.cautions)
    _show_change(found, model.likelihood)
    if out is not None:
        say(f"wrote {out}")


def similar(
    run: Run,
    of: Annotated[
        str | None, typer.Option("--input", metavar="NAME", help="One input; else all of them.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: inputs by inputs, or the neighbours of --input."),
    ] = None,
    force: Force = False,
) -> None:
    """Compare inputs by what they do to all outputs: the cosine of their effects."""
    from rinn.runs.read import load_effects
    from rinn.structure.similarity import compare_inputs

    if out is not None:
        _check_place(out, force)
    found = compare_inputs(*load_effects(run))
    table = found.to_frame().reset_index() if of is None else found.list_nearest(of)
    if out is not None:
        _write(table.round(4), out)
    _show_similar(found, of)
    if out is not None:
        say(f"wrote {out}")


def _show_names(found: Enrichment, alpha: float) -> None:
    _warn(found.cautions)
    if not found.latents:
        say("the graph has no latent to name")
    for latent, row in found.best(alpha).items():
        if row is None:
            say(f"{_plain(latent)}: no set below q = {alpha:g}")
        else:
            say(
                f"{_plain(latent)}: {_plain(str(row['set']))} ({row['side']}: {row['overlap']} of "
                f"{row['latent_genes']} genes, set {row['set_genes']} of {row['background']}; "
                f"q = {row['q']:.2g})"
            )


def _show_change(found: Prediction, likelihood: Likelihood) -> None:
    """Print the outputs that change, the most changed first, whatever the units of each."""
    table = found.to_frame()
    scaled = table.div(likelihood.scale.std, axis=0)
    order = scaled["size"].sort_values(ascending=False, kind="stable").index
    moved = table.loc[order][_is_moved(scaled).loc[order]]
    units = ", ".join(UNITS[kind] for kind in UNITS if kind in likelihood.kinds)
    one = len(found.samples) == 1
    who = f"sample {_plain(found.samples[0])}" if one else f"mean over {len(found.samples)} samples"
    drawn = Table(title=f"Predicted change ({units}; {who})", title_justify="left")
    columns = {"before": "before", "after": "after", "change": "change", "spread": "± splits"}
    more = {"free_change": "free nets", "free_spread": "± nets"}
    columns |= more if found.free_change is not None else {"size": "in a sample"}
    drawn.add_column("output")
    for word in columns.values():
        drawn.add_column(word, justify="right")
    for output, row in moved.head(MAX_ROWS).iterrows():
        drawn.add_row(escape(_plain(str(output))), *(f"{row[key]:.3g}" for key in columns))
    if moved.empty:
        say("no output changes")
        return
    Terminal().print(drawn)
    rest = len(table) - min(len(moved), MAX_ROWS)
    if rest:
        small = len(moved) <= MAX_ROWS
        still = "do not change" if small else "change less, or not at all"
        single = "does not change" if small else "changes less, or not at all"
        say(f"{rest} other outputs {still}" if rest > 1 else f"1 other output {single}")


def _is_moved(table: pd.DataFrame) -> pd.Series:
    """Whether an output changes visibly, in standard deviations, by the graph or free networks."""
    moved = table["size"] > 0
    if "free_change" in table:
        size, noise = table["free_change"].abs(), 2 * table["free_spread"].fillna(0)
        moved |= (size > noise) & (size > MIN_SHARE * float(size.max()))
    return moved


def _show_similar(found: Similarity, of: str | None) -> None:
    for name, acts in zip(found.inputs, found.acts, strict=True):
        if of not in (None, name):
            continue
        ranked = found.list_nearest(name)
        if not acts:
            say(f"{_plain(name)}: no effect on any output, nothing to compare")
        elif ranked.empty:
            say(f"{_plain(name)}: no other input has an effect")
        else:
            say(f"{_plain(name)}: {_list_neighbours(ranked, NEAREST if of is None else MAX_ROWS)}")


def _list_neighbours(ranked: pd.DataFrame, count: int) -> str:
    """The most alike, and the one that does the opposite most."""
    words = [
        f"{_plain(row['input'])} {row['cosine']:.2f} ± {row['error']:.2f}"
        for row in ranked.to_dict("records")
    ]
    shown = ", ".join(words[:count])
    least = len(words) > count and ranked["cosine"].iloc[-1] < 0
    return f"{shown}; least alike: {words[-1]}" if least else shown


def _find_graph(run: Path) -> Path:
    from rinn.runs.folder import load_manifest

    if not run.is_dir():
        return run
    load_manifest(run)  # says what is wrong with the folder
    return run / "graph.json"


def _check_place(out: Path, force: bool) -> None:
    """Refuse a place that cannot be written or is taken, before anything is computed."""
    from rinn.files import check_target

    check_target(out)
    if os.path.lexists(out) and not force:
        raise InputError(f"{out} exists; pass --force to replace it, or name another with --out")


def _write(table: pd.DataFrame, out: Path) -> None:
    from rinn.files import encode_table, replace_file

    replace_file(out, encode_table(table))


def _warn(cautions: Iterable[str]) -> None:
    for caution in cautions:
        _note(f"caution: {caution}")


def _note(words: str) -> None:
    """What is beside the result goes to stderr, on one line."""
    sys.stderr.write(f"{_plain(words)}\n")


def _plain(text: str) -> str:
    """A name that may come from anywhere, for one line of a terminal."""
    spelt = make_visible(text)
    return spelt if len(spelt) <= 400 else f"{spelt[:380]}...{spelt[-17:]}"
