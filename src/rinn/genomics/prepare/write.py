"""The folder of prepared tables: written whole, never over something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rinn.files import replace_file
from rinn.genomics.prepare.prepare import Prepared
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.genomics.prepare.summary import write_summary
from rinn.runs.folder import FolderKind, open_output

PREPARATION = FolderKind("preparation", "prepare.json", ("format", "settings", "sources"))
LOG = "log.json"
SUMMARY = "summary.html"
DIGITS = "%.6g"


def write_prepared(
    folder: Path, prepared: Prepared, settings: PrepareSettings, manifest: dict[str, Any]
) -> dict[str, Any]:
    """Write tables, logs, the page and, last, the manifest that says they are whole."""
    whole = manifest | {"status": "complete", "summary": _summarise(prepared)}
    tables = {"x.csv": prepared.x, "y.csv": prepared.y, "covariates.csv": prepared.covariates}
    with open_output(folder, manifest, PREPARATION) as output:
        for name, table in tables.items():
            if table is not None:
                table = table.rename_axis("sample").reset_index(allow_duplicates=True)
                output.write_table(name, table, DIGITS)
        output.write_table("inputs.csv", prepared.inputs, DIGITS)
        output.write_table("outputs.csv", prepared.outputs, DIGITS)
        output.write_json(LOG, {"logs": [log.as_dict() for log in prepared.logs]})
        page = write_summary(prepared, settings, whole)
        replace_file(folder / SUMMARY, page.encode("utf-8", "replace"))
        output.write_manifest(whole)
    return whole


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
