"""A preparation from start to end: files in, a folder for `rinn fit` out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rinn.config import Settings
from rinn.errors import InputError
from rinn.files import check_file, replace_file
from rinn.genomics.prepare.prepare import Prepared, Tables, prepare_tables
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.prepare.sources import read_sources
from rinn.genomics.prepare.summary import write_summary
from rinn.genomics.readers.cbioportal_study import list_profiles
from rinn.runs.folder import FORMAT, FolderKind, find_output, find_versions, open_output

PREPARATION = FolderKind("preparation", "prepare.json", ("format", "settings", "sources"))
DIGITS = "%.6g"
PACKAGES = ("rinn", "numpy", "pandas", "scipy")
# Files of a study folder besides its tables.
STUDY_FILES = ("meta_*.txt", "case_lists/*.txt", "data_clinical*", "*gene_panel*")


@dataclass(frozen=True)
class Preparation:
    """A finished folder and its manifest; `prepared` is None if the folder was complete before."""

    folder: Path
    manifest: dict[str, Any]
    prepared: Tables | None = None


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
    manifest = describe(sources, settings)
    stored = find_output(out, manifest, PREPARATION)
    if stored and stored.get("status") == "complete":
        return Preparation(out, stored)
    prepared = prepare_tables(read_sources(sources, settings), settings)
    complete = manifest | {"status": "complete", "summary": _summarise(prepared)}
    write_tables(out, prepared, write_summary(prepared, settings, complete), manifest, complete)
    return Preparation(out, complete, prepared)


def describe(sources: Settings, settings: Settings) -> dict[str, Any]:
    """The manifest. It has no times, so that the same files give the same manifest."""
    given = {name: value for name, value in vars(sources).items() if value is not None}
    paths = {name: value for name, value in given.items() if isinstance(value, Path)}
    options = {name: value for name, value in given.items() if name not in paths}
    return {
        "format": FORMAT,
        "status": "running",
        "settings": options | settings.to_json(),
        "sources": {name: _fingerprint(name, path) for name, path in paths.items()},
        "versions": find_versions(PACKAGES),
    }


def _fingerprint(name: str, path: Path) -> dict[str, str]:
    """The name and the SHA-256 of a file, or of the files of a study."""
    if path.is_dir() and name == "study":
        wanted = {each for pattern in STUDY_FILES for each in path.glob(pattern)}
        wanted |= {profile.path for profile in list_profiles(path)}
        digest = hashlib.sha256()
        for file in sorted(each for each in wanted if each.is_file()):
            digest.update(f"{file.relative_to(path)}\0{_hash(file, name)}\n".encode())
        return {"name": path.name, "sha256": digest.hexdigest()}
    return {"name": path.name, "sha256": _hash(path, name)}


def _hash(path: Path, name: str) -> str:
    source = f"--{name.replace('_', '-')} ({path})"
    try:
        if path.exists():
            check_file(path, source)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        kind = "folder" if name == "study" else "file"
        raise InputError(
            f"{source} must be an existing {kind} that you may read, but opening it failed "
            f"({error.strerror}); check the spelling and the folder"
        ) from None


def _summarise(prepared: Prepared) -> dict[str, Any]:
    return {
        "tumours": len(prepared.x),
        **count_columns(prepared),
        "tissues": {str(k): int(v) for k, v in prepared.tissues.value_counts().items()},
        "warnings": list(prepared.warnings),
    }


def count_columns(tables: Tables) -> dict[str, Any]:
    """The numbers of inputs and outputs, and the covariates."""
    covariates = () if tables.covariates is None else tables.covariates.columns
    return {
        "inputs": tables.x.shape[1],
        "outputs": tables.y.shape[1],
        "covariates": [str(name) for name in covariates],
    }


def write_tables(
    folder: Path,
    prepared: Tables,
    page: str,
    manifest: dict[str, Any],
    complete: dict[str, Any],
) -> None:
    """Write tables, logs, the page and, last, the manifest that says they are complete."""
    tables = {"x.csv": prepared.x, "y.csv": prepared.y, "covariates.csv": prepared.covariates}
    with open_output(folder, manifest, PREPARATION) as output:
        for name, table in tables.items():
            if table is not None:
                table = table.rename_axis("sample").reset_index(allow_duplicates=True)
                output.write_table(name, table, DIGITS)
        output.write_table("inputs.csv", prepared.inputs, DIGITS)
        output.write_table("outputs.csv", prepared.outputs, DIGITS)
        output.write_json("log.json", {"logs": [log.as_dict() for log in prepared.logs]})
        replace_file(folder / "summary.html", page.encode("utf-8", "replace"))
        output.write_manifest(complete)
