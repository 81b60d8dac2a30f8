"""The command that makes data: `simulate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rinn.cli.options import print_line, split_commas, with_settings
from rinn.config import setting
from rinn.errors import InputError


@dataclass(frozen=True)
class Parameters:
    """Parameters of the datasets; None for the default of the dataset."""

    p: float | None = setting(
        None,
        "matrix: probability that an input acts.",
        group="Parameters of matrix, gaussian, or, logic",
    )
    prevalence: float | None = setting(
        None,
        "or, logic: probability that an input is 1.",
        group="Parameters of matrix, gaussian, or, logic",
    )
    noise: str | None = setting(
        None,
        "or, logic: probability of an error; gaussian: variances as LOW,HIGH.",
        group="Parameters of matrix, gaussian, or, logic",
    )
    mechanism: str | None = setting(
        None, "random: or, logic, gaussian, curved, mixed or matrix.", group="Parameters of random"
    )
    inputs: int | None = setting(None, "random: number of inputs.", group="Parameters of random")
    outputs: int | None = setting(
        None, "random, cross: number of outputs.", group="Parameters of random"
    )
    levels: int | None = setting(None, "random: levels of latents.", group="Parameters of random")
    latents: int | None = setting(None, "random: number of latents.", group="Parameters of random")
    orphans: float | None = setting(
        None, "random: fraction of latents without inputs.", group="Parameters of random"
    )
    operators: str | None = setting(
        None,
        "logic: and, or, xor, separated by commas.",
        group="Parameters of matrix, gaussian, or, logic",
    )
    direct: int | None = setting(
        None, "random: number of edges from inputs to outputs.", group="Parameters of random"
    )
    twins: int | None = setting(
        None,
        "random: number of latents that get a second latent with the same outputs.",
        group="Parameters of random",
    )
    two_latents: float | None = setting(
        None, "random: fraction of inputs that act on two latents.", group="Parameters of random"
    )
    unequal: float | None = setting(
        None, "random: ratio of the strongest to the weakest effect.", group="Parameters of random"
    )
    correlated: float | None = setting(
        None, "random: correlation of the inputs.", group="Parameters of random"
    )
    input_noise: float | None = setting(
        None,
        "random: probability that a binary input is flipped, or relative error variance.",
        group="Parameters of random",
    )
    factor: float | None = setting(
        None,
        "random: strength of an unmeasured common cause of all outputs.",
        group="Parameters of random",
    )
    output_edges: int | None = setting(
        None, "random: number of edges between outputs.", group="Parameters of random"
    )
    x_block: Path | None = setting(
        None,
        "tcga-: your table of inputs, instead of generated tumours; needs --y-block.",
        group="Parameters of tcga-or, tcga-logic",
    )
    y_block: Path | None = setting(
        None,
        "tcga-: your table of outputs, 0 and 1, for the samples of --x-block.",
        group="Parameters of tcga-or, tcga-logic",
    )
    parents: int | None = setting(
        None,
        "tcga-: maximum number of alterations that cause an expression change, 0 to 3.",
        group="Parameters of tcga-or, tcga-logic",
    )
    strength: str | None = setting(
        None,
        "tcga-: strength of these effects as LOW,HIGH; parents.csv lists them.",
        group="Parameters of tcga-or, tcga-logic",
    )
    markers: int | None = setting(
        None,
        "cross: number of loci, on the 16 chromosomes of yeast.",
        group="Parameters of cross",
    )
    hotspots: int | None = setting(
        None,
        "cross: number of latents, loci that act on many outputs.",
        group="Parameters of cross",
    )
    shared: int | None = setting(
        None, "cross: number of hotspots with a second locus.", group="Parameters of cross"
    )
    local: int | None = setting(
        None, "cross: number of outputs with a locus of their own.", group="Parameters of cross"
    )
    explained: float | None = setting(
        None,
        "cross: fraction of an output's variance that a single effect explains.",
        group="Parameters of cross",
    )


@with_settings()
def simulate(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="matrix, gaussian, or, logic, tcga-or, tcga-logic (or 1..6), random, cross.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for x.csv, y.csv and truth.json; tcga-: also tissue.csv.")
    ],
    samples: Annotated[
        int | None,
        typer.Option(
            help="Number of samples; by default 5000 (cross: 1000), or all those of --x-block."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    *,
    parameters: Parameters,
) -> None:
    """Draw a dataset from a known graph: tables, and the truth behind them."""
    from rinn.simulate.datasets import make_dataset
    from rinn.simulate.writing import write_simulation

    given: dict[str, Any] = {k: v for k, v in vars(parameters).items() if v is not None}
    for name in {"noise", "strength"} & given.keys():
        given[name] = _read_numbers(name, given[name])
    if "operators" in given:
        given["operators"] = split_commas(given["operators"])
    simulation = make_dataset(dataset, samples=samples, seed=seed, **given)
    write_simulation(simulation, out)
    rows, width = simulation.x.shape
    shape = f"{rows} samples, {width} inputs, {simulation.y.shape[1]} outputs"
    line = f"wrote {out / 'x.csv'}, {out / 'y.csv'} ({shape}) and {out / 'truth.json'}"
    if simulation.dropped:
        line += f"; left out {len(simulation.dropped)} samples that only one table has"
    print_line(line)


def _read_numbers(name: str, text: str) -> float | tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        what = "two numbers LOW,HIGH" if name == "strength" else "a number or LOW,HIGH"
        raise InputError(
            f"{name} must be {what}, got {text!r}; choose for example 0.3,0.7"
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers
