"""A preparation from start to end: files in, a folder out that `rinn fit` takes."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rinn.errors import InputError
from rinn.files import BLOCK, check_file
from rinn.genomics.prepare.prepare import Prepared, prepare_tables
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.prepare.sources import read_sources
from rinn.genomics.prepare.write import PREPARATION, write_prepared
from rinn.genomics.readers.cbioportal_study import list_profiles
from rinn.runs.folder import FORMAT, find_output, find_versions

PACKAGES = ("rinn", "numpy", "pandas", "scipy", "pyarrow")
# What a study folder says of its tables beside the tables themselves.
STUDY_FILES = ("meta_*.txt", "case_lists/*.txt", "data_clinical*", "*gene_panel*")


@dataclass(frozen=True)
class Preparation:
    """A finished folder, and what its manifest says; `prepared` is None where it was there."""

    folder: Path
    manifest: dict[str, Any]
    prepared: Prepared | None = None


def prepare(sources: Sources, out: Path, settings: PrepareSettings | None = None) -> Preparation:
    """Make X, Y and covariates from files, and write them with their logs into a folder.

    The same call again returns at once. A folder of other files or settings is refused.

    Args:
        sources: the files.
        out: the folder.
        settings: by default those of `PrepareSettings`.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
    """
    settings = settings or PrepareSettings()
    manifest = _describe(sources, settings)
    stored = find_output(out, manifest, PREPARATION)
    if stored and stored.get("status") == "complete":
        return Preparation(out, stored)
    prepared = prepare_tables(read_sources(sources, settings), settings)
    return Preparation(out, write_prepared(out, prepared, settings, manifest), prepared)


def _describe(sources: Sources, settings: PrepareSettings) -> dict[str, Any]:
    """The manifest: what is prepared of what. It has no times: the same in, the same out."""
    given = {
        field.name: getattr(sources, field.name)
        for field in dataclasses.fields(sources)
        if getattr(sources, field.name) is not None
    }
    paths = {name: value for name, value in given.items() if isinstance(value, Path)}
    files = {name: _fingerprint(name, path, sources) for name, path in paths.items()}
    words = {name: value for name, value in given.items() if name not in paths}
    return {
        "format": FORMAT,
        "status": "running",
        "settings": words | settings.to_json(),
        "sources": files,
        "versions": find_versions(PACKAGES),
    }


def _fingerprint(name: str, path: Path, sources: Sources) -> dict[str, str]:
    """The name of a file and the SHA-256 of what is in it; of a study, of the files that count."""
    if path.is_dir() and name == "study":
        wanted = {each for pattern in STUDY_FILES for each in path.glob(pattern)}
        wanted |= {profile.path for profile in list_profiles(path)}
        digest = hashlib.sha256()
        for file in sorted(each for each in wanted if each.is_file()):
            digest.update(f"{file.relative_to(path)}\0{_sum_up(file, name)}\n".encode())
        return {"name": path.name, "sha256": digest.hexdigest()}
    return {"name": path.name, "sha256": _sum_up(path, name)}


def _sum_up(path: Path, name: str) -> str:
    digest = hashlib.sha256()
    try:
        if path.exists():
            check_file(path, f"--{name.replace('_', '-')} ({path})")
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(
            f"--{name.replace('_', '-')} ({path}) must be an existing "
            f"{'folder' if name == 'study' else 'file'} that you may read, but opening it failed "
            f"({error.strerror}); check the spelling and the folder"
        ) from None
    return digest.hexdigest()
