"""Run folders beneath a folder, and which of their files may be read: no links, none outside."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import IO
from urllib.parse import quote, unquote

REPORT = "report.html"
MANIFEST = "manifest.json"
MARKS = (MANIFEST, "trials.csv", "weights.safetensors")  # any of them makes a folder a run's
DEPTH = 5
MAX_FOLDERS = 20_000
SERVED = {
    *(REPORT, MANIFEST, "graph.json", "scores.json", "truth.json", "refit.json", "null.json"),
    *("trials.csv", "edges.csv", "curves.csv", "activity.csv", "covariates.csv", "effects.csv"),
    *("names.csv", "graph.edges.csv", "graph.graphml", "graph.cx2", "graph.cyjs", "graph.dot"),
    *("graph.sif", "graph.nodes.tsv", "graph.dagitty.txt", "network_names.csv", "network_map.csv"),
    *("graph.gml", "graph.lavaan.txt", "graph.variables.tsv", "graph.tetrad.txt"),
    *("graph.tetrad.tsv", "graph.equivalents.json"),
}
TYPES = {
    ".html": "text/html",
    ".json": "application/json",
    ".cx2": "application/json",
    ".cyjs": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".graphml": "application/xml",
    ".gml": "text/plain",
}
_FORBIDDEN = {"/", "\0", os.sep} | ({":"} if os.name == "nt" else set())

Parts = tuple[str, ...]


def find_type(name: str) -> str:
    """The content type of a file."""
    return f"{TYPES.get(PurePath(name).suffix, 'text/plain')}; charset=utf-8"


def find_runs(root: Path) -> Iterator[Parts]:
    """Find the run folders in a folder: the folder itself, or those beneath it."""
    waiting: list[Parts] = [()]
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return
        parts = waiting.pop()
        if is_run(root, parts):
            yield parts
        elif len(parts) < DEPTH:
            waiting += [(*parts, name) for name in _list_folders(root.joinpath(*parts))]


def is_run(root: Path, parts: Sequence[str]) -> bool:
    """Whether a folder beneath `root` holds a file that only runs have."""
    folder = root.joinpath(*parts)
    return any(os.path.lexists(folder / name) for name in MARKS)


def _list_folders(folder: Path) -> list[str]:
    """The folders in a folder, the last first; none where it may not be read."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted((name for name in names if is_visible(name)), reverse=True)


def is_visible(name: str) -> bool:
    """Whether a name is that of one file that is not hidden, and no path."""
    return bool(name) and not name.startswith(".") and not set(name) & _FORBIDDEN


def write_address(parts: Sequence[str]) -> str:
    """The address of a file of a run."""
    return "/run/" + "/".join(quote(part, safe="", errors="surrogateescape") for part in parts)


def read_address(path: str) -> Parts | None:
    """The names in the address of a file; None where it is no address of a run's file."""
    first, *rest = path.removeprefix("/").split("/")
    names = tuple(unquote(part, errors="surrogateescape") for part in rest)
    valid = first == "run" and bool(names) and all(map(is_visible, names))
    return names if valid and names[-1] in SERVED and len(names) <= DEPTH + 1 else None


def open_file(root: Path, parts: Sequence[str]) -> IO[bytes] | None:
    """Open a plain file beneath a folder."""
    path = root.joinpath(*parts)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.resolve(strict=True) != path:
            return None
        # A pipe would wait for a writer for ever.
        number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError, RuntimeError):
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")
