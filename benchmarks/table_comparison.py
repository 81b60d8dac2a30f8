"""The table of docs/comparison.md: every method on five families of random graphs.

It is made of records of `bench_recovery.py --strategy A,B --case-limit S`, in one file or several;
where they hold a case twice, the last counts. A cell has the mean F1 of the latents, that of the
edges in brackets, and how many draws were finished if not all; a draw that was stopped counts in
neither mean. The best mean of the latents among methods that finished all draws is bold.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench_recovery import MEASURES, Case, Record, load_records
from pagetables import OPEN, replace_table, write_table

NAME = "comparison"
DRAWS = 5
FAMILIES = {
    "random60": "random",
    "orphans60": "latents without inputs",
    "logic20": "logic",
    "curved20": "curved",
    "direct20": "direct edges",
}
METHODS = (
    "rinn", "regression", "dnn", "esc", "dm", "nem", "sparse-pca", "multitask-lasso", "fci", "gin",
    "rlcd",
)  # fmt: skip
HEADERS = ("method", *FAMILIES.values(), "seconds")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=Path, nargs="+", required=True)
    parser.add_argument("--page", type=Path, required=True)
    options = parser.parse_args(arguments)
    records: dict[Case, Record] = {}
    for path in options.records:
        records |= load_records(path)
    replace_table(options.page, NAME, write_table(HEADERS, list_rows(list(records.values()))))


def list_rows(records: Sequence[Record]) -> list[list[str]]:
    """A row for each method: a cell for each family, and the median seconds of a fit."""
    cells = {
        (method, family): [
            record
            for record in records
            if (record["case"]["strategy"], record["case"]["suite"]) == (method, family)
        ]
        for method in METHODS
        for family in FAMILIES
    }
    best = {family: find_best([cells[method, family] for method in METHODS]) for family in FAMILIES}
    rows = []
    for method in METHODS:
        own = [cells[method, family] for family in FAMILIES]
        shown = [write_cell(part, best[family]) for part, family in zip(own, FAMILIES, strict=True)]
        times = [record["seconds"] for part in own for record in part if "error" not in record]
        rows.append([method, *shown, f"{np.median(times):.1f}" if times else OPEN])
    return rows


def find_best(cells: Sequence[Sequence[Record]]) -> float:
    """The best rounded mean among the methods that finished all draws."""
    finished = [_list_finished(cell) for cell in cells]
    return max((_find_mean(own, "f1") for own in finished if len(own) == DRAWS), default=0.0)


def write_cell(records: Sequence[Record], best: float) -> str:
    """Means over the draws that were finished."""
    if not records:
        return OPEN
    own = _list_finished(records)
    if not own:
        return f"0 of {len(records)} finished"
    mean, edges = _find_mean(own, "f1"), _find_mean(own, "edges_f1")
    text = f"**{mean:.2f}**" if mean >= best and len(own) == DRAWS else f"{mean:.2f}"
    partly = f", {len(own)} of {len(records)}" if len(own) < len(records) else ""
    few = f", of {len(records)}" if not partly and len(records) < DRAWS else ""
    return f"{text} ({edges:.2f}){partly}{few}"


def _list_finished(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if "error" not in record]


def _find_mean(records: Sequence[Record], measure: str) -> float:
    return round(float(np.mean([MEASURES[measure](record) for record in records])), 2)


if __name__ == "__main__":
    main()
