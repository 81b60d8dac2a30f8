"""The commands that use a finished run: `activity`, `whatif` and `similar`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from rinn.cli.options import (
    Force,
    Run,
    check_target_file,
    clip_line,
    print_line,
    print_warnings,
    write_csv,
)
from rinn.errors import InputError, quote, suggest
from rinn.runs.terminal import Terminal

if TYPE_CHECKING:
    from rinn.data.likelihoods import Likelihood
    from rinn.refit.intervene import Prediction, Value
    from rinn.refit.samples import RunModel
    from rinn.structure.similarity import Similarity

MAX_ROWS = 20
UNITS = {"number": "units of Y", "binary": "probability of a 1", "count": "mean count"}
NEAREST = 3
MIN_FRACTION = 0.1  # of the largest change

X = Annotated[Path, typer.Argument(metavar="X", help="Table of the inputs of any samples.")]


def activity(
    run: Run,
    x: X,
    out: Annotated[Path, typer.Option(help="File to write: a row for each sample.")],
    force: Force = False,
) -> None:
    """Write the activity of each latent in each sample of a table."""
    from rinn.refit.samples import tabulate_samples, take_samples
    from rinn.runs.model import load_model

    check_target_file(out, force)
    model = load_model(run)
    samples = take_samples(model, x)
    table = tabulate_samples(model, samples).round(4) + 0.0  # no -0.0
    table.insert(0, "sample", list(samples.names), allow_duplicates=True)
    write_csv(table, out)
    print_warnings(samples.warnings)
    print_line(f"wrote {out}: {len(model.latents)} latents in {len(samples.names)} samples")


def whatif(
    run: Run,
    x: X,
    do: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Set an input, in its own units, or a latent, in standard deviations, or either "
            "to low, mean or high. May be repeated.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE:TARGET", help="Cut an edge. May be repeated."),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Predict for this sample only. May be repeated."),
    ] = None,
    covariates: Annotated[
        Path | None,
        typer.Option(
            help="Table of tissue, batch and so on for the same samples, if the run was fitted "
            "with covariates."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: a row for each output.")] = None,
    force: Force = False,
) -> None:
    """Predict how the outputs change when variables are set, or edges cut."""
    from rinn.refit.intervene import answer
    from rinn.refit.samples import take_samples
    from rinn.runs.model import load_model

    check_target_file(out, force)
    model = load_model(run)
    inputs, latents = _read_settings(model, do or [])
    edges = _read_edges(model, without or [])
    samples = take_samples(model, x, sample or [], covariates)
    result = answer(model, samples, inputs, latents, edges)
    write_csv(result.to_frame().reset_index(), out)
    print_warnings(result.warnings)
    _show_change(result, model.likelihood)
    if out is not None:
        print_line(f"wrote {out}")


def similar(
    run: Run,
    of: Annotated[
        str | None, typer.Option("--input", metavar="NAME", help="One input; all by default.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: inputs by inputs, or the neighbours of --input."),
    ] = None,
    force: Force = False,
) -> None:
    """Compare inputs by the cosine of their effects on all outputs."""
    from rinn.runs.read import load_effects
    from rinn.structure.similarity import compare_inputs

    check_target_file(out, force)
    result = compare_inputs(*load_effects(run))
    table = result.to_frame().reset_index() if of is None else result.list_nearest(of)
    write_csv(table.round(4), out)
    _show_similar(result, of)
    if out is not None:
        print_line(f"wrote {out}")


def _read_settings(
    model: RunModel, assignments: Iterable[str]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """The values of inputs and of latents, from NAME=VALUE; a name may itself contain a "="."""
    from rinn.data.text import parse_cell
    from rinn.refit.intervene import LEVELS
    from rinn.refit.samples import MAX_LISTED

    inputs: dict[str, Value] = {}
    latents: dict[str, Value] = {}
    nodes = (*model.latents, *model.inputs)
    for text in assignments:
        name, sign, value = (part.strip() for part in text.rpartition("="))
        if not sign or not name:
            raise InputError(f"--do must be NAME=VALUE, got {quote(text)}; such as --do TP53=1")
        if name in model.outputs and name not in nodes:
            raise InputError(
                f"--do must set an input or a latent, but {quote(name)} is an output; outputs are "
                f"predicted"
            )
        if name not in nodes:
            raise InputError(
                f"--do must set an input or a latent of the run, got {quote(name)}"
                f"{suggest(name, nodes, listed=len(nodes) <= MAX_LISTED)}"
            )
        if name in inputs or name in latents:
            raise InputError(f"--do must set each name once, got {quote(name)} twice")
        number = value.lower() if value.lower() in LEVELS else parse_cell(value)
        if number is None or number != number:  # text, or a missing value
            raise InputError(
                f"--do must give {quote(name)} a number, or low, mean or high, got {quote(value)}"
            )
        (inputs if name in model.inputs else latents)[name] = number
    return inputs, latents


def _read_edges(model: RunModel, names: Iterable[str]) -> list[tuple[str, str]]:
    """The edges to cut, from SOURCE:TARGET; names may contain a ":" if only one edge fits."""
    from rinn.refit.samples import MAX_LISTED

    spelt: dict[str, list[tuple[str, str]]] = {}
    for source, target in model.edges:
        spelt.setdefault(f"{source}:{target}", []).append((source, target))
    edges = []
    for name in names:
        fitting = spelt.get(name.strip(), [])
        if len(fitting) > 1:
            raise InputError(
                f"--without must name one edge, but {quote(name)} fits {len(fitting)}; call "
                f"predict_do in Python, which takes the two names separately"
            )
        if not fitting:
            nearest = suggest(name, spelt, listed=len(spelt) <= MAX_LISTED)
            raise InputError(
                f"--without must be SOURCE:TARGET, an edge of the graph, got {quote(name)}{nearest}"
            )
        edges += fitting
    return list(dict.fromkeys(edges))


def _show_change(result: Prediction, likelihood: Likelihood) -> None:
    """Print the outputs that change, the most changed first, whatever the units of each."""
    from rinn.cli.show import make_table

    table = result.to_frame()
    scaled = table.div(likelihood.scale.std, axis=0)
    order = scaled["size"].sort_values(ascending=False, kind="stable").index
    is_changed = scaled["size"] > 0  # visibly, by the graph or by free networks
    if "free_change" in scaled:
        size, noise = scaled["free_change"].abs(), 2 * scaled["free_spread"].fillna(0)
        is_changed |= (size > noise) & (size > MIN_FRACTION * float(size.max()))
    changed = table.loc[order][is_changed.loc[order]]
    if changed.empty:
        print_line("no output changes")
        return
    units = ", ".join(UNITS[kind] for kind in UNITS if kind in likelihood.kinds)
    who = f"mean over {len(result.samples)} samples"
    if len(result.samples) == 1:
        who = f"sample {clip_line(result.samples[0])}"
    columns = {"before": "before", "after": "after", "change": "change", "spread": "± splits"}
    free = {"free_change": "free nets", "free_spread": "± nets"}
    columns |= free if result.free_change is not None else {"size": "in a sample"}
    grid = make_table(f"Predicted change ({units}; {who})", ("output",), tuple(columns.values()))
    for output, row in changed.head(MAX_ROWS).iterrows():
        grid.add_row(escape(clip_line(str(output))), *(f"{row[key]:.3g}" for key in columns))
    Terminal().print(grid)
    others = len(table) - min(len(changed), MAX_ROWS)
    if others:
        noun, s = ("1 other output", "s") if others == 1 else (f"{others} other outputs", "")
        not_ = "does not" if others == 1 else "do not"
        same = len(changed) <= MAX_ROWS
        print_line(f"{noun} {not_} change" if same else f"{noun} change{s} less, or not at all")


def _show_similar(result: Similarity, of: str | None) -> None:
    for name, acts in zip(result.inputs, result.acts, strict=True):
        if of not in (None, name):
            continue
        ranked = result.list_nearest(name)
        if not acts:
            line = "no effect on any output, nothing to compare"
        elif ranked.empty:
            line = "no other input has an effect"
        else:
            number = NEAREST if of is None else MAX_ROWS
            listed = [
                f"{clip_line(row['input'])} {row['cosine']:.2f} ± {row['error']:.2f}"
                for row in ranked.to_dict("records")
            ]
            line = ", ".join(listed[:number])
            if len(listed) > number and ranked["cosine"].iloc[-1] < 0:
                line += f"; least similar: {listed[-1]}"
        print_line(f"{clip_line(name)}: {line}")
