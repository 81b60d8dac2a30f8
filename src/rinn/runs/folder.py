"""Output folders: what `rinn fit`, `tci`, `prepare` and `reproduce` write into, and may resume.

A folder must be new, empty, or made by the same command, as its manifest says, which is written
first. Only files with names that the command gives are ever removed.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rinn.errors import InputError
from rinn.files import (
    TEMPORARY,
    encode_table,
    holds_manifest,
    lock_folder,
    make_folder,
    remove_files,
    replace_file,
)

FORMAT = 1
_WORK_FILE = re.compile(r"[0-9]{4,}\.npz|null[0-9]{5,}\.npy")


@dataclass(frozen=True)
class FolderKind:
    """A command's folders: `identity` are fields of the manifest, `work` is removed at the end."""

    noun: str
    manifest: str
    identity: tuple[str, ...]
    subfolders: tuple[str, ...] = ()
    work: tuple[str, ...] = ()


RUN = FolderKind("run", "manifest.json", ("format", "settings", "data"), work=("work", "nets"))


@dataclass(frozen=True)
class OutputFolder:
    """A folder that is open for writing; `stored` is its manifest as it was found or made."""

    path: Path
    kind: FolderKind
    stored: dict[str, Any]

    @property
    def is_complete(self) -> bool:
        """Whether everything was written by an earlier call."""
        return self.stored.get("status") == "complete"

    def write_manifest(self, values: dict[str, Any]) -> None:
        """Write the manifest."""
        self.write_json(self.kind.manifest, values)

    def write_json(self, name: str, values: dict[str, Any]) -> None:
        """Write a JSON file."""
        text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        # A path that is not UTF-8 has lone surrogates, which JSON spells as backslashreplace does.
        replace_file(self.path / name, text.encode(errors="backslashreplace"))

    def write_table(self, name: str, table: pd.DataFrame, digits: str | None = None) -> None:
        """Write a CSV file."""
        replace_file(self.path / name, encode_table(table, digits=digits))

    def discard_work(self) -> None:
        """Remove files of work in progress, once everything else is written."""
        for name in self.kind.work:
            folder = self.path / name
            for names in (_WORK_FILE, TEMPORARY):
                remove_files(folder, names)
            with contextlib.suppress(OSError):  # the user's own files stay
                folder.rmdir()


@contextlib.contextmanager
def open_output(path: Path, manifest: dict[str, Any], kind: FolderKind) -> Iterator[OutputFolder]:
    """Open a new folder, or one that was made by the same command."""
    find_output(path, manifest, kind)
    with lock_folder(path):
        stored = find_output(path, manifest, kind)  # another process may have begun since
        folder = OutputFolder(path, kind, stored or manifest)
        if stored is None:
            folder.write_manifest(manifest)
        for name in (*kind.subfolders, *(() if folder.is_complete else kind.work)):
            make_folder(path / name)
            remove_files(path / name, TEMPORARY)
        yield folder


def find_output(path: Path, manifest: dict[str, Any], kind: FolderKind) -> dict[str, Any] | None:
    """The stored manifest of a folder made by the same command; None for a new or empty folder."""
    if not holds_manifest(path, kind.manifest, kind.noun):
        return None
    if link := next((n for n in (*kind.subfolders, *kind.work) if (path / n).is_symlink()), None):
        raise InputError(
            f"--out must be a folder of this {kind.noun}, but {link} in {path} is a link; remove "
            f"it, or choose another folder"
        )
    stored = load_stored(path, kind)
    if changes := _list_changes(stored, manifest, kind):
        raise InputError(
            f"--out must be a new folder or one of this {kind.noun}, but {path} was made with "
            f"other {', '.join(changes)}; choose another folder, or repeat that {kind.noun}'s "
            f"command"
        )
    if stored.get("status") != "complete":
        _check_resume(path, stored, manifest)
    return stored


def load_stored(path: Path, kind: FolderKind) -> dict[str, Any]:
    """Read the manifest of a folder."""
    try:
        stored: dict[str, Any] = json.loads((path / kind.manifest).read_text(encoding="utf-8"))
        if not all(isinstance(stored.get(key, {}), dict) for key in ("versions", "device")):
            raise ValueError("versions and device must be records")
        return stored | {key: stored[key] for key in kind.identity}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"--out must be new, empty or a folder of this {kind.noun}, but {path} has no readable "
            f"{kind.manifest}; choose another folder"
        ) from None


def find_versions(packages: Sequence[str]) -> dict[str, str]:
    """The versions of packages and of Python, for a manifest."""
    versions = {name: importlib.metadata.version(name) for name in packages}
    return versions | {"python": platform.python_version()}


def _check_resume(path: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A run that has begun goes on with the same trials on the same kind of device."""
    if stored.get("plan") != wanted.get("plan"):
        version = stored.get("versions", {}).get("rinn", "unknown")
        raise InputError(
            f"--out must hold a run that this release can resume, but {path} was started by rinn "
            f"{version}, which planned other networks; choose another folder"
        )
    old, new = (about.get("device", {}).get("platform") for about in (stored, wanted))
    if old != new:
        raise InputError(
            f"--device must stay the same until a run is complete, but {path} was started on the "
            f"{old} and would continue on the {new}; pass --device {old}, or choose another folder"
        )


def _list_changes(stored: dict[str, Any], wanted: dict[str, Any], kind: FolderKind) -> list[str]:
    """What identifies a folder and differs: settings with their values, files by name."""
    changes = []
    for key in kind.identity:
        old, new = stored[key], wanted[key]
        if not (isinstance(old, dict) and isinstance(new, dict)):
            changes += [f"{key} ({old}, now {new})"] if old != new else []
            continue
        changed = [
            name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)
        ]
        if key == "settings":
            changes += [f"{name} ({old.get(name)}, now {new.get(name)})" for name in changed]
        else:
            changes += [f"{key} ({name})" for name in changed]
    return changes
