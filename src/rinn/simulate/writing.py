"""A simulation to its files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd

from rinn.errors import InputError
from rinn.files import encode_table, make_folder, replace_file
from rinn.graphs.files import encode_json, load_graph
from rinn.simulate.samples import Simulation

TRUTH = "truth.json"


def write_simulation(
    simulation: Simulation, folder: str | os.PathLike[str], *, same_is_fine: bool = False
) -> None:
    """Write x.csv, y.csv and truth.json, and tissue.csv and parents.csv where they are known.

    Sample ids become the first column of x.csv and y.csv. tissue.csv has the label of each sample,
    parents.csv the causes outside the simulated block: `sga`, `deg`, `strength`. truth.json, the
    graph of the simulated block alone, comes last: where it is, the others are whole. Where it is
    not, files that this very simulation has written before are kept, and the rest is added.

    Args:
        simulation: the rows and their graph.
        folder: made where it is missing.
        same_is_fine: leave a dataset alone that this very simulation has written before.

    Raises:
        InputError: the folder holds such files already, or cannot be written.
    """
    folder, contents = Path(folder), _encode(simulation)
    there = [name for name in contents if os.path.lexists(folder / name)]
    if same_is_fine and TRUTH in there and _is_same(simulation, folder):
        return
    foreign = [name for name in there if not _has_content(folder / name, contents[name])]
    if taken := there if TRUTH in there else foreign:
        raise InputError(
            f"--out must not hold a dataset yet, but {folder / taken[0]} is there; choose another "
            f"folder or remove it"
        )
    make_folder(folder)
    for name, content in contents.items():
        if name not in there:
            replace_file(folder / name, content)


def _encode(simulation: Simulation) -> dict[str, bytes]:
    """The content of each file, by its name; the truth last."""
    tables = {
        "x.csv": simulation.x,
        "y.csv": simulation.y,
        "tissue.csv": simulation.labels,
        "parents.csv": simulation.parents,
    }
    contents = {name: _encode_table(table) for name, table in tables.items() if table is not None}
    return contents | {TRUTH: encode_json(simulation.truth)}


def _encode_table(table: pd.DataFrame) -> bytes:
    if not isinstance(table.index, pd.RangeIndex):
        table = table.rename_axis("sample").reset_index(allow_duplicates=True)
    return encode_table(table)


def _has_content(path: Path, content: bytes) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes() == content
    except OSError:
        return False


def _is_same(simulation: Simulation, folder: Path) -> bool:
    found = load_graph(folder / TRUTH).graph
    return json.dumps(found, sort_keys=True) == json.dumps(simulation.truth.graph, sort_keys=True)
