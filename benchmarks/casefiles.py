"""What benchmarks of many small fits share: each case is measured once, and kept in a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what every such benchmark is asked: the size of a search, where it runs, which cases."""
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts of all cases")
    parser.add_argument("--work", type=Path, required=True, help="folder for records")


def run_cases(
    cases: Sequence[tuple[Any, ...]], part: str, work: Path, measure: Callable[..., Record]
) -> list[Record]:
    """Measure every case of a part, or read what was measured before.

    Args:
        cases: what `measure` is called with; together they name the case.
        part: "K/N" for the K-th of N parts.
        work: where records are kept, a JSON file each.
        measure: gives the record of a case.

    Returns:
        The records in the order of the cases.
    """
    work.mkdir(parents=True, exist_ok=True)
    number, parts = map(int, part.split("/"))
    records = []
    for case in cases[number::parts]:
        name = "-".join(str(word).replace(",", "").replace(" ", "_") for word in case)
        path = work / f"{name.replace('%', 'percent')}.json"
        if not path.exists():
            path.write_text(json.dumps(measure(*case)) + "\n")
        records.append(json.loads(path.read_text()))
    return records


def tell(values: Sequence[float] | np.ndarray) -> str:
    """Mean and standard deviation in words."""
    return f"{np.mean(values):.2f} ± {find_spread(values):.2f}"


def find_spread(values: Sequence[float] | np.ndarray) -> float:
    """The standard deviation; 0 of a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
