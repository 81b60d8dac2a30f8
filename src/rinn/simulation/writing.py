"""A simulation to its three files."""

from __future__ import annotations

from pathlib import Path

from rinn.errors import InputError
from rinn.files import replace_file
from rinn.graphfiles import load_graph, write_graph
from rinn.simulation.samples import Simulation

FILES = ("x.csv", "y.csv", "truth.json")


def write_simulation(simulation: Simulation, folder: Path, *, same_is_fine: bool = False) -> None:
    """Write x.csv, y.csv and truth.json.

    truth.json comes last: where it is, the other two are whole.

    Args:
        simulation: the rows and their graph.
        folder: made where it is missing.
        same_is_fine: leave files alone that this very simulation has written before.

    Raises:
        InputError: the folder holds such files already, or cannot be written.
    """
    if same_is_fine and _is_same(simulation, folder):
        return
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise InputError(
            f"--out must not hold a dataset yet, but {folder / there[0]} is there; choose another "
            f"folder or remove it"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "x.csv", simulation.x.to_csv(index=False).encode())
        replace_file(folder / "y.csv", simulation.y.to_csv(index=False).encode())
        write_graph(simulation.truth, folder / "truth.json")
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, but {folder} cannot ({error.strerror}); "
            f"choose another"
        ) from None


def _is_same(simulation: Simulation, folder: Path) -> bool:
    if not all((folder / name).exists() for name in FILES):
        return False
    about = load_graph(folder / "truth.json").graph
    ours = simulation.truth.graph
    return about.get("dataset") == ours["dataset"] and about.get("seed") == ours["seed"]
