"""The command that makes data: `simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rinn.cli.options import Seed, say
from rinn.errors import InputError


def simulate(
    dataset: Annotated[
        str,
        typer.Argument(help="matrix, gaussian, or, logic, tcga-or, tcga-logic (or 1..6), random."),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for x.csv, y.csv, truth.json; tcga-: tissue.csv too.")
    ],
    samples: Annotated[
        int | None,
        typer.Option(help="Rows to draw; by default 5000, or all that --x-block has."),
    ] = None,
    seed: Seed = 0,
    p: Annotated[float | None, typer.Option(help="matrix: chance that an input acts.")] = None,
    prevalence: Annotated[
        float | None, typer.Option(help="or, logic: chance that an input is 1.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="or, logic: chance of contradiction; gaussian: variances as LOW,HIGH."),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="random: or, logic, gaussian, curved, mixed or matrix.")
    ] = None,
    inputs: Annotated[int | None, typer.Option(help="random: number of inputs.")] = None,
    outputs: Annotated[int | None, typer.Option(help="random: number of outputs.")] = None,
    levels: Annotated[int | None, typer.Option(help="random: levels of latents.")] = None,
    latents: Annotated[int | None, typer.Option(help="random: number of latents.")] = None,
    orphans: Annotated[
        float | None, typer.Option(help="random: share of latents without an input of their own.")
    ] = None,
    operators: Annotated[
        str | None, typer.Option(help="logic: of and,or,xor, separated by commas.")
    ] = None,
    direct: Annotated[
        int | None, typer.Option(help="random: edges from inputs straight to outputs.")
    ] = None,
    twins: Annotated[
        int | None, typer.Option(help="random: latents with a twin that has the same outputs.")
    ] = None,
    two_latents: Annotated[
        float | None, typer.Option(help="random: share of inputs that act on two latents.")
    ] = None,
    unequal: Annotated[
        float | None, typer.Option(help="random: factor between weak and strong effects.")
    ] = None,
    correlated: Annotated[
        float | None, typer.Option(help="random: correlation of the inputs.")
    ] = None,
    input_noise: Annotated[
        float | None,
        typer.Option(help="random: chance that an input is flipped, or relative error variance."),
    ] = None,
    factor: Annotated[
        float | None, typer.Option(help="random: strength of an unmeasured cause of all outputs.")
    ] = None,
    output_edges: Annotated[
        int | None, typer.Option(help="random: effects between outputs.")
    ] = None,
    x_block: Annotated[
        Path | None,
        typer.Option(help="tcga-: your own inputs in place of generated tumours; with --y-block."),
    ] = None,
    y_block: Annotated[
        Path | None,
        typer.Option(help="tcga-: your own outputs, 0 and 1, for the samples of --x-block."),
    ] = None,
    parents: Annotated[
        int | None,
        typer.Option(help="tcga-: most alterations that cause an expression change, 0 to 3."),
    ] = None,
    strength: Annotated[
        str | None,
        typer.Option(help="tcga-: how strongly they do, as LOW,HIGH; parents.csv lists them."),
    ] = None,
) -> None:
    """Draw a dataset from a known graph: tables, and the truth behind them."""
    from rinn.simulate.datasets import make_dataset
    from rinn.simulate.writing import write_simulation

    try:
        strengths = _read_noise(strength)
    except InputError:
        raise InputError(
            f"strength must be two numbers LOW,HIGH, but {strength!r} was given; choose for "
            f"example 0.3,0.7"
        ) from None
    given = {
        "p": p,
        "prevalence": prevalence,
        "noise": _read_noise(noise),
        "mechanism": mechanism,
        "inputs": inputs,
        "outputs": outputs,
        "levels": levels,
        "latents": latents,
        "orphans": orphans,
        "operators": None if operators is None else tuple(operators.split(",")),
        "direct": direct,
        "twins": twins,
        "two_latents": two_latents,
        "unequal": unequal,
        "correlated": correlated,
        "input_noise": input_noise,
        "factor": factor,
        "output_edges": output_edges,
        "x_block": x_block,
        "y_block": y_block,
        "parents": parents,
        "strength": strengths,
    }
    parameters: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    simulation = make_dataset(dataset, samples=samples, seed=seed, **parameters)
    write_simulation(simulation, out)
    rows, width = simulation.x.shape
    shape = f"{rows} samples, {width} inputs, {simulation.y.shape[1]} outputs"
    words = f"wrote {out / 'x.csv'}, {out / 'y.csv'} ({shape}) and {out / 'truth.json'}"
    if simulation.dropped:
        words += f"; left out {len(simulation.dropped)} samples that only one table has"
    say(words)


def _read_noise(text: str | None) -> float | tuple[float, ...] | None:
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"noise must be a number or LOW,HIGH, got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers
