"""What several commands share: options, and one line of plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rinn.runs.terminal import Terminal

Quiet = Annotated[bool, typer.Option("--quiet", help="Show nothing but errors.")]
Seed = Annotated[int, typer.Option(help="Decides every random choice.")]
Trials = Annotated[
    int | None,
    typer.Option(help="Networks to train, where any are needed; by default what the budget has."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Covariates = Annotated[
    Path | None,
    typer.Option(
        help="Table of tissue, batch, sex and the like, same samples: they act on the outputs "
        "directly, and latents need not stand for them."
    ),
]
Kinds = Annotated[
    Path | None,
    typer.Option(
        help="Table with the columns output and kind (number, binary or count), for outputs whose "
        "values do not tell; csv or tsv."
    ),
]
Prior = Annotated[
    Path | None,
    typer.Option(help="What is known: must, mustnot, together, apart, level; csv, tsv or json."),
]
GeneSets = Annotated[
    Path | None, typer.Option(help="GMT sets: members share latents more cheaply.")
]
SetWeight = Annotated[float, typer.Option(help="How much more cheaply, in log odds.")]
SifNetwork = Annotated[
    Path | None, typer.Option(help="SIF network: pairs without a way in it are less likely.")
]
Steps = Annotated[int, typer.Option(help="The most steps of such a way.")]
SifWeight = Annotated[float, typer.Option(help="How much less likely, in log odds.")]
Directed = Annotated[
    bool, typer.Option("--network-directed", help="Ways follow the edges' direction.")
]
Mask = Annotated[
    bool, typer.Option("--network-mask", help="Rule pairs without a way out altogether.")
]
Device = Annotated[str, typer.Option(help="auto (a GPU where there is one), cpu or gpu.")]


def say(words: str) -> None:
    """Print a sentence as it is, however long its paths are."""
    Terminal().print(words, soft_wrap=True, highlight=False, markup=False)
