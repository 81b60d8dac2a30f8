"""The folder of prepared tables: written whole, never over something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from rinn.errors import InputError
from rinn.files import encode_table, holds_manifest, lock_folder, replace_file
from rinn.genomics.prepare.prepare import Prepared
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.genomics.prepare.summary import write_summary

FORMAT = 1
MANIFEST = "prepare.json"
LOG = "log.json"
SUMMARY = "summary.html"
IDENTITY = ("format", "settings", "sources")
DIGITS = "%.6g"


def open_folder(folder: Path, manifest: dict[str, Any]) -> bool:
    """Say whether a folder holds this very preparation already."""
    if not holds_manifest(folder, MANIFEST, "preparation"):
        return False
    found = load_manifest(folder)
    differing = _differences(found, manifest)
    if differing:
        raise InputError(
            f"--out must be a new folder or one of this very preparation, but {folder} was made "
            f"with other {', '.join(differing)}; choose another folder"
        )
    return bool(found.get("status") == "complete")


def write_prepared(
    folder: Path, prepared: Prepared, settings: PrepareSettings, manifest: dict[str, Any]
) -> dict[str, Any]:
    """Write tables, logs, the page and, last, the manifest that says they are whole."""
    whole = manifest | {"status": "complete", "summary": _summarise(prepared)}
    tables = {"x.csv": prepared.x, "y.csv": prepared.y, "covariates.csv": prepared.covariates}
    with lock_folder(folder):
        open_folder(folder, manifest)  # another process may have begun since
        _write_json(folder / MANIFEST, manifest)
        for name, table in tables.items():
            if table is not None:
                table = table.rename_axis("sample").reset_index(allow_duplicates=True)
                _write_table(folder / name, table)
        _write_table(folder / "inputs.csv", prepared.inputs)
        _write_table(folder / "outputs.csv", prepared.outputs)
        logs = {"logs": [log.as_dict() for log in prepared.logs]}
        _write_json(folder / LOG, logs)
        page = write_summary(prepared, settings, whole)
        replace_file(folder / SUMMARY, page.encode("utf-8", "replace"))
        _write_json(folder / MANIFEST, whole)
    return whole


def load_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a prepared folder."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {key: found[key] for key in IDENTITY} | found
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"--out must be new, empty or a folder of this preparation, but {MANIFEST} in {folder} "
            f"cannot be read; choose another"
        ) from None


def _summarise(prepared: Prepared) -> dict[str, Any]:
    covariates = prepared.covariates
    return {
        "tumours": len(prepared.x),
        "inputs": prepared.x.shape[1],
        "outputs": prepared.y.shape[1],
        "covariates": [] if covariates is None else [str(name) for name in covariates.columns],
        "tissues": {str(k): int(v) for k, v in prepared.tissues.value_counts().items()},
        "warnings": list(prepared.warnings),
    }


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    words = []
    for key, one in (("settings", "settings"), ("sources", "files")):
        ours, theirs = found[key], wanted[key]
        names = sorted(ours.keys() | theirs.keys())
        changed = [name for name in names if ours.get(name) != theirs.get(name)]
        words += [f"{one} ({', '.join(changed)})"] if changed else []
    return words + (["format"] if found["format"] != wanted["format"] else [])


def _write_table(path: Path, table: pd.DataFrame) -> None:
    replace_file(path, encode_table(table, digits=DIGITS))


def _write_json(path: Path, value: dict[str, Any]) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, text.encode("utf-8", "backslashreplace"))
