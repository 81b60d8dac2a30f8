"""A simulation to its files."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from rinn.delimited import encode_table
from rinn.errors import InputError
from rinn.files import replace_file
from rinn.graphfiles import load_graph, write_graph
from rinn.simulation.samples import Simulation

TRUTH = "truth.json"


def write_simulation(simulation: Simulation, folder: Path, *, same_is_fine: bool = False) -> None:
    """Write x.csv, y.csv and truth.json, and tissue.csv and parents.csv where they are known.

    Sample ids become the first column of x.csv and y.csv. tissue.csv has the label of each sample,
    parents.csv the causes outside the simulated block: `sga`, `deg`, `strength`. truth.json, the
    graph of the simulated block alone, comes last: where it is, the others are whole.

    Args:
        simulation: the rows and their graph.
        folder: made where it is missing.
        same_is_fine: leave files alone that this very simulation has written before, and finish
            what it has begun to write.

    Raises:
        InputError: the folder holds such files already, or cannot be written.
    """
    tables = _list_tables(simulation)
    there = [name for name in (*tables, TRUTH) if (folder / name).exists()]
    if same_is_fine and TRUTH in there and _is_same(simulation, folder):
        return
    if there and not (same_is_fine and TRUTH not in there):
        raise InputError(
            f"--out must not hold a dataset yet, but {folder / there[0]} is there; choose another "
            f"folder or remove it"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            has_ids = not isinstance(table.index, pd.RangeIndex)
            table = (
                table.rename_axis("sample").reset_index(allow_duplicates=True) if has_ids else table
            )
            replace_file(folder / name, encode_table(table))
        write_graph(simulation.truth, folder / TRUTH)
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, but {folder} cannot ({error.strerror}); "
            f"choose another"
        ) from None


def _list_tables(simulation: Simulation) -> dict[str, pd.DataFrame]:
    """The tables to write, by file name."""
    tables = {
        "x.csv": simulation.x,
        "y.csv": simulation.y,
        "tissue.csv": simulation.labels,
        "parents.csv": simulation.parents,
    }
    return {name: table for name, table in tables.items() if table is not None}


def _is_same(simulation: Simulation, folder: Path) -> bool:
    found = load_graph(folder / TRUTH).graph
    return json.dumps(found, sort_keys=True) == json.dumps(simulation.truth.graph, sort_keys=True)
