"""The folder of a reproduction: new, empty or its own, and written by one process at a time.

It holds reproduction.json (what all cells have in common), cells/ (one file for each finished
cell), runs/ (a run folder for each cell) and the tables. reproduction.json is written first. Every
file is replaced whole, so that a reproduction that is killed at any moment can go on.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from rinn.errors import InputError
from rinn.files import holds_manifest, lock_folder, make_folder, remove_parts, replace_file
from rinn.paper.cells import Cell, Job, Setup, load_cell, save_cell

FORMAT = 1
SETUP = "reproduction.json"
CELLS, RUNS = "cells", "runs"


class ReproductionFolder:
    """The folder of one reproduction, locked while it is open."""

    def __init__(self, path: Path, setup: Setup) -> None:
        self.path, self.setup = path, setup

    def load_cells(self) -> dict[Job, Cell]:
        """The cells of this reproduction; damaged and foreign files are passed over."""
        found = ((path, load_cell(path)) for path in sorted((self.path / CELLS).glob("*.json")))
        return {
            cell.job: cell
            for path, cell in found
            if cell is not None and cell.setup == self.setup and path.stem == cell.job.name
        }

    def save_cell(self, cell: Cell) -> None:
        """Keep a finished cell."""
        save_cell(self.path / CELLS / f"{cell.job.name}.json", cell)

    def find_run(self, job: Job) -> Path:
        """The run folder of a cell."""
        return self.path / RUNS / job.name


@contextlib.contextmanager
def open_folder(path: Path, setup: Setup) -> Iterator[ReproductionFolder]:
    """Open a new folder, or one of a reproduction with this very setup."""
    _check_same(path, setup)
    with lock_folder(path):
        if not _check_same(path, setup):  # another process may have begun since
            text = json.dumps({"format": FORMAT} | setup.to_json(), indent=1) + "\n"
            replace_file(path / SETUP, text.encode())
        for name in (CELLS, RUNS):
            make_folder(path / name)
        remove_parts(path / CELLS)
        yield ReproductionFolder(path, setup)


def _check_same(path: Path, setup: Setup) -> bool:
    """Whether the folder holds this very reproduction; refuse any other's."""
    if not holds_manifest(path, SETUP, "reproduction"):
        return False
    theirs, ours = _load_setup(path), {"format": FORMAT} | setup.to_json()
    changed = [f"{name} ({theirs.get(name)}, now {ours[name]})" for name in ours
               if theirs.get(name) != ours[name]]  # fmt: skip
    if changed:
        raise InputError(
            f"--out must be a new folder or one of this very reproduction, but {path} was made "
            f"with other {', '.join(changed)}; choose another folder"
        )
    return True


def _load_setup(path: Path) -> dict[str, object]:
    try:
        return dict(json.loads((path / SETUP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise InputError(
            f"--out must be a folder that 'rinn reproduce' has written, but {path / SETUP} cannot "
            f"be read; choose another folder"
        ) from None
