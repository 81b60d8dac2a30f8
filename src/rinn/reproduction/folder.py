"""The folder of a reproduction: new, empty or its own, and written by one process at a time.

It holds reproduction.json (what all cells have in common), cells/ (one file for each finished
cell), runs/ (a run folder for each cell) and the tables. Every file is replaced whole, so that a
reproduction that is killed at any moment can go on.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from rinn.errors import InputError
from rinn.files import replace_file
from rinn.reproduction.cells import Cell, Job, Setup, load_cell, save_cell
from rinn.store import PARTS, lock_file

FORMAT = 1
SETUP = "reproduction.json"
CELLS, RUNS, LOCK = "cells", "runs", ".lock"


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
    """Open a new folder, or one of a reproduction with this very setup.

    Args:
        path: made where it is missing.
        setup: what all cells have in common.

    Yields:
        The folder, locked against other processes.

    Raises:
        InputError: the folder cannot be written, holds other files, is another reproduction's,
            or is in use.
    """
    if path.exists():
        _check_same(path, setup)
    try:
        for folder in (path, path / CELLS, path / RUNS):
            folder.mkdir(parents=True, exist_ok=True)
        lock = (path / LOCK).open("w")
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, but {path} cannot ({error.strerror}); "
            f"choose another"
        ) from None
    with lock:
        try:
            lock_file(lock)
        except BlockingIOError:
            raise InputError(
                f"--out must be a folder that no other process writes to, but {path} is in use; "
                f"wait for it, or choose another"
            ) from None
        for part in (*path.glob(PARTS), *(path / CELLS).glob(PARTS)):  # killed while it wrote
            part.unlink()
        if not (path / SETUP).exists():
            text = json.dumps({"format": FORMAT} | setup.to_json(), indent=1) + "\n"
            replace_file(path / SETUP, text.encode())
        yield ReproductionFolder(path, setup)


def _check_same(path: Path, setup: Setup) -> None:
    if not path.is_dir():
        raise InputError(f"--out must be a folder, but {path} is a file; choose another name")
    names = {entry.name for entry in path.iterdir() if not entry.match(PARTS)} - {LOCK}
    if SETUP not in names:
        # The setup is written before any cell: without it these two must still be empty.
        names -= {name for name in (CELLS, RUNS) if not any(_entries(path / name))}
        if names:
            raise InputError(
                f"--out must be new, empty or a folder of this reproduction, but {path} holds "
                f"other files (such as {min(names)!r}); choose another"
            )
        return
    theirs, ours = _load_setup(path), {"format": FORMAT} | setup.to_json()
    changed = [f"{name} ({theirs.get(name)}, now {ours[name]})" for name in ours
               if theirs.get(name) != ours[name]]  # fmt: skip
    if changed:
        raise InputError(
            f"--out must be a new folder or one of this very reproduction, but {path} was made "
            f"with other {', '.join(changed)}; choose another folder"
        )


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _load_setup(path: Path) -> dict[str, object]:
    try:
        return dict(json.loads((path / SETUP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise InputError(
            f"--out must be a folder that 'rinn reproduce' has written, but {path / SETUP} cannot "
            f"be read; choose another folder"
        ) from None
