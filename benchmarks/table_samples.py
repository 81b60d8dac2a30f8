"""The table of docs/settings.md: how much of a graph is found with how many samples.

It is made of records of `bench_recovery.py --suite samples`, whose draws nobody tuned on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench_recovery import MEASURES, Record, load_records
from pagetables import replace_table, write_table

NAME = "samples"
HEADERS = ("samples", "fits", "latents found", "of the reported, right", "edges found",
           "of the reported, right")  # fmt: skip
SHOWN = ("recall", "precision", "edges_recall", "edges_precision")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path, help="as bench_recovery.py --out")
    parser.add_argument("--into", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    table = make_table(list(load_records(options.records).values()))
    if options.into is None:
        print(table)
    else:
        replace_table(options.into, NAME, table)


def make_table(records: Sequence[Record]) -> str:
    """One row for each number of samples: means over datasets and draws."""
    own = [r for r in records if r["case"]["suite"] == "samples"]
    rows = []
    for n in sorted({r["case"]["n"] for r in own}):
        fits = [r for r in own if r["case"]["n"] == n]
        means = [np.mean([MEASURES[name](r) or 0.0 for r in fits]) for name in SHOWN]
        rows.append((f"{n:,}", str(len(fits)), *(f"{mean:.0%}" for mean in means)))
    return write_table(HEADERS, rows)


if __name__ == "__main__":
    main()
