"""A simulation to its files."""

from __future__ import annotations

import json
from pathlib import Path

from rinn.errors import InputError
from rinn.files import replace_file
from rinn.graphfiles import load_graph, write_graph
from rinn.simulation.samples import Simulation

FILES = ("x.csv", "y.csv", "truth.json")
LABELS = "tissue.csv"


def write_simulation(simulation: Simulation, folder: Path, *, same_is_fine: bool = False) -> None:
    """Write x.csv, y.csv and truth.json, and tissue.csv where the samples have labels.

    truth.json comes last: where it is, the others are whole.

    Args:
        simulation: the rows and their graph.
        folder: made where it is missing.
        same_is_fine: leave files alone that this very simulation has written before, and finish
            what it has begun to write.

    Raises:
        InputError: the folder holds such files already, or cannot be written.
    """
    files = FILES if simulation.labels is None else (*FILES, LABELS)
    there = [name for name in files if (folder / name).exists()]
    if same_is_fine and "truth.json" in there and _is_same(simulation, folder):
        return
    if there and not (same_is_fine and "truth.json" not in there):
        raise InputError(
            f"--out must not hold a dataset yet, but {folder / there[0]} is there; choose another "
            f"folder or remove it"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "x.csv", simulation.x.to_csv(index=False).encode())
        replace_file(folder / "y.csv", simulation.y.to_csv(index=False).encode())
        if simulation.labels is not None:
            replace_file(folder / LABELS, simulation.labels.to_csv(index=False).encode())
        write_graph(simulation.truth, folder / "truth.json")
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, but {folder} cannot ({error.strerror}); "
            f"choose another"
        ) from None


def _is_same(simulation: Simulation, folder: Path) -> bool:
    found = load_graph(folder / "truth.json").graph
    return json.dumps(found, sort_keys=True) == json.dumps(simulation.truth.graph, sort_keys=True)
