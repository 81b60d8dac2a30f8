"""The table of docs/worlds.md: what can be known of each world, and what was found there.

It is made of records of `bench_recovery.py`, of the strategies rinn and regression, in one file or
several; where they hold a case twice, the last counts. Graph numbers from 500 on are for
development: they are left out unless `--first 500` asks for them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench_recovery import MEASURES, WORLDS, Case, Record, load_records
from pagetables import OPEN, replace_table, write_table

DEVELOPMENT = 500
NAME = "worlds"
HEADERS = (
    "world", "can the graph be known?", "graphs", "regression: latents F1 (precision)",
    "regression: edges F1", "rinn: latents F1 (precision)", "rinn: edges F1 (precision)",
)  # fmt: skip
WORDS = {"gaussian": "linear", "or": "OR"}
# What each world is, and what theory allows.
THEORY = {
    "random60": ("one to three levels", "yes: every latent has outputs and inputs of its own (A1)"),
    "orphans60": (
        "30% of latents without inputs",
        "mostly: by proportional effects of several latents; one with two parents and two or "
        "three children saves no edge (A8)",
    ),
    "logic20": (
        "AND, OR or XOR at each node",
        "yes: every input changes each of its outputs by 0.05 at least",
    ),
    "and10": (
        "AND alone, inputs 1 in 60%",
        "yes: each parent of an AND has a slope; of rare inputs it would be too small (A7)",
    ),
    "xor10": (
        "XOR alone, inputs 1 in 25%",
        "in part: (1 - 2p)^k of a slope is left with k other parents; products of two inputs show "
        "what slopes do not, an XOR of three balanced inputs has neither (A7)",
    ),
    "curved20": (
        "curves",
        "yes: every edge has a slope; but effects of a latent's inputs are not quite proportional",
    ),
    "mixed10": (
        "lines and curves, numbers and 0/1",
        "yes, as with curves; a threshold keeps signs and order",
    ),
    "levels10": (
        "four levels",
        "yes: each level adds outputs; effects are products along a path and fade",
    ),
    "direct20": (
        "five direct edges",
        "yes: they are not in proportion to the other effects of their latent (A2 fails)",
    ),
    "twins20": (
        "two pairs of twins",
        "not by sets of outputs (A1 fails), but by the proportions of effects",
    ),
    "unequal20": (
        "effects over a factor of 10",
        "yes, with enough samples: the faint ones are near their standard error",
    ),
    "noisy10": (
        "inputs that correlate by 0.5, with errors of 10% of their variance, linear",
        "no: what the error takes from an input, those that correlate with it seem to do; two "
        "tables cannot show it",
    ),
    "flips10": ("the same, OR, one input in 100 wrong", "no, for the same reason"),
    "factor10": (
        "an unmeasured cause of all outputs, linear",
        "yes by effects: it has nothing to do with the inputs; covariance alone would show a "
        "latent, which is not reported without inputs",
    ),
    "shared10": (
        "the same, OR, outputs flipped in a tenth of the rows",
        "yes, for the same reason",
    ),
    "outputs10": (
        "five edges between outputs (`--output-edges`)",
        "in part: an output that takes over a latent's effects and shared noise; not with two "
        "outputs, nor where both have the latent as parent (A4 fails)",
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path, nargs="+", help="as bench_recovery.py --out")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    parser.add_argument("--first", type=int, default=0, help="number of the first random graph")
    options = parser.parse_args(arguments)
    for path in options.records:
        if not path.exists():
            parser.error(f"records must be files of bench_recovery.py, but there is no {path}")
    found: dict[Case, Record] = {}
    for path in options.records:
        found |= load_records(path)
    table = make_table(list(found.values()), options.first)
    if options.into is None:
        print(table)
        return
    try:
        replace_table(options.into, NAME, table)
    except (OSError, ValueError) as error:
        parser.error(f"--into must be a page with a place for the table: {error}")


def make_table(records: Sequence[Record], first: int = 0) -> str:
    """One row for each world and mechanism.

    Args:
        records: of any suites and strategies; those that failed count as found nothing.
        first: the number of the first graph that counts; below 500, those from 500 on do not.

    Returns:
        The table; cells without records say so.
    """
    last = first + DEVELOPMENT if first >= DEVELOPMENT else DEVELOPMENT
    chosen = [r for r in records if first <= r["case"]["seed"] < last]
    rows = []
    for suite, (world, theory) in THEORY.items():
        for mechanism in WORLDS[suite].mechanisms:
            own = [r for r in chosen if r["case"]["suite"] == suite and _is_of(r, mechanism)]
            plain, ours = (
                [r for r in own if r["case"]["strategy"] == name] for name in ("regression", "rinn")
            )
            both = len(WORLDS[suite].mechanisms) > 1
            name = f"{world}, {WORDS[mechanism]}" if both else world
            rows.append(
                (
                    name,
                    theory,
                    str(len(ours) or len(plain)),
                    _show(plain, "f1", "precision"),
                    _show(plain, "edges_f1"),
                    _show(ours, "f1", "precision"),
                    _show(ours, "edges_f1", "edges_precision"),
                )
            )
            theory = "the same"
    return write_table(HEADERS, rows)


def _is_of(record: Record, mechanism: str) -> bool:
    mechanisms = WORLDS[record["case"]["suite"]].mechanisms
    return mechanisms[record["case"]["seed"] % len(mechanisms)] == mechanism


def _show(records: Sequence[Record], first: str, second: str | None = None) -> str:
    if not records:
        return OPEN
    values = [f"{_average(records, name):.2f}" for name in (first, second) if name]
    return values[0] if len(values) == 1 else f"{values[0]} ({values[1]})"


def _average(records: Sequence[Record], name: str) -> float:
    """The mean of a measure; a fit that failed has 0."""
    return float(np.mean([0.0 if "error" in r else MEASURES[name](r) or 0.0 for r in records]))


if __name__ == "__main__":
    main()
