"""The files of a preparation, read in any of their formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog
from rinn.data.text import Lines
from rinn.errors import InputError
from rinn.files import within_memory
from rinn.genomics.align import split_normals
from rinn.genomics.barcodes import load_samples, parse_barcode
from rinn.genomics.prepare.clinical import load_annotation
from rinn.genomics.prepare.settings import LOGS, PrepareSettings, Sources
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.cbioportal_study import list_profiles, load_clinical
from rinn.genomics.readers.gct import GCT_VERSIONS, load_gct
from rinn.genomics.readers.gistic import is_gistic, load_gistic
from rinn.genomics.readers.h5ad import load_h5ad
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.matrices import GeneTable, split_header
from rinn.genomics.readers.table import has_samples_in_columns, load_table
from rinn.genomics.readers.xena import load_xena

EXPRESSION: dict[str, Callable[..., GeneTable]] = {
    "xena": load_xena,
    "gct": load_gct,
    "h5ad": load_h5ad,
    "table": load_table,
}
SUFFIXES = {".gct": "gct", ".h5ad": "h5ad", ".csv": "table", ".parquet": "table", ".npz": "table"}


@dataclass(frozen=True)
class Readings:
    """Tables of samples by genes, and text by sample; `expression` has tumours only."""

    expression: GeneTable
    mutations: GeneTable | None = None
    copy_number: GeneTable | None = None
    normals: pd.DataFrame | None = None
    annotation: pd.DataFrame | None = None
    logs: tuple[ReadLog, ...] = ()


def read_sources(sources: Sources, settings: PrepareSettings) -> Readings:
    """Read every file that is named."""
    with within_memory("the tables to prepare"):
        return _read_all(sources, settings)


def _read_all(sources: Sources, settings: PrepareSettings) -> Readings:
    mutations = _read_mutations(sources, settings)
    copy_number = _read_copy_number(sources, mutations)
    altered = [each.table.index for each in (mutations, copy_number) if each is not None]
    samples = [str(name) for index in altered for name in index]
    table = _read_expression(sources, settings, samples)
    tumours, inside = split_normals(table)
    if tumours.empty:
        raise InputError(
            f"expression ({table.log.source}) must have tumours, but all of its "
            f"{len(inside)} samples are normals; name the table of tumours, and this one with "
            f"--normals"
        )
    expression = replace(table, table=tumours)
    normals, more = _read_normals(sources, settings, table, inside)
    annotation, about = _read_annotation(sources)
    readings = [each for each in (mutations, copy_number, table, more) if each is not None]
    logs = tuple(each.log for each in readings) + ((about,) if about else ())
    return Readings(expression, mutations, copy_number, normals, annotation, logs)


def _read_mutations(sources: Sources, settings: PrepareSettings) -> GeneTable | None:
    if sources.maf is not None:
        return load_maf(sources.maf, sequenced=sources.sequenced, classes=settings.classes)
    if sources.mutations is not None:
        return _read_matrix(sources, settings)
    if sources.study is None:
        return None
    if not any(each.name == "mutations" for each in list_profiles(sources.study)):
        return None
    return load_cbioportal(sources.study, sequenced=sources.sequenced, classes=settings.classes)


def _read_matrix(sources: Sources, settings: PrepareSettings) -> GeneTable:
    """Read a table of mutations: 0, 1 or missing."""
    path = sources.mutations
    if path is None:
        raise ValueError("there is no table of mutations")
    if find_format(path, sources.mutations_format) == "xena":
        reading = load_xena(
            path, kind="mutation", sequenced=sources.sequenced, classes=settings.classes
        )
    else:
        reading = load_table(path, kind="mutation", genes_in_rows=has_samples_in_columns(path, ()))
    values = reading.table
    if not (values.isin([0, 1]) | values.isna()).all(axis=None):
        raise InputError(
            f"--mutations ({path}) must hold 0 and 1, but holds other numbers; name a table of "
            f"copy number with --copy-number"
        )
    if sources.sequenced is None:
        return reading
    listed = set(load_samples(sources.sequenced, "--sequenced"))
    patients = {parse_barcode(name).patient for name in listed}
    is_listed = np.array(
        [
            name in listed or (parse_barcode(name).is_patient and name in patients)
            for name in map(str, values.index)
        ]
    )
    left = tuple(map(str, values.index[~is_listed]))
    if not is_listed.any():
        raise InputError(
            f"--sequenced ({sources.sequenced}) must name samples of {path}, but names none of "
            f"them; write the sample ids the same way"
        )
    if not left:
        return reading
    entry = LogEntry("dropped", "samples", len(left), "not in the list of sequenced samples", left)
    log = replace(reading.log, entries=(*reading.log.entries, entry))
    kept = values.loc[is_listed]
    return replace(reading, table=kept, log=log, sequenced=tuple(map(str, kept.index)))


def _read_copy_number(sources: Sources, mutations: GeneTable | None) -> GeneTable | None:
    path = sources.copy_number
    if path is not None:
        form = find_format(path, sources.copy_number_format)
        if form == "gistic":
            reading = load_gistic(path, dtype="float32")
        else:
            how: dict[str, Any] = {"kind": "copy number", "dtype": "float32"}
            samples = () if mutations is None else mutations.table.index
            if form == "table":
                how["genes_in_rows"] = has_samples_in_columns(path, samples)
            reading = (load_table if form == "table" else load_xena)(path, **how)
    elif sources.study is None or not any(
        each.name == "copy_number" for each in list_profiles(sources.study)
    ):
        return None
    else:
        reading = load_cbioportal(sources.study, "copy_number", dtype="float32")
    _check_levels(reading)
    return reading


def _check_levels(reading: GeneTable) -> None:
    """Refuse log2 ratios; -1.5 is a level in some studies."""
    values = reading.table.to_numpy()
    observed = ~np.isnan(values)
    is_level = np.isin(values, (-2, -1.5, -1, 0, 1, 2))
    if (observed & ~is_level).any():
        raise InputError(
            f"copy number ({reading.log.source}) must hold levels from -2 to 2, but holds "
            f"{values[observed & ~is_level][0]:g}; name the thresholded table, such as "
            f"all_thresholded.by_genes.txt"
        )


def _read_expression(
    sources: Sources, settings: PrepareSettings, samples: Sequence[str]
) -> GeneTable:
    if sources.expression is not None:
        return _load_expression(sources.expression, sources, settings, samples)
    if sources.study is None:
        raise ValueError("there is no expression")
    profiles = {each.name for each in list_profiles(sources.study)}
    profile = sources.expression_profile
    if profile is None:
        profile = "z_scores" if settings.reference == "none" else "expression"
        if profile not in profiles:
            raise InputError(_describe_missing(sources.study, profiles, profile))
    return load_cbioportal(sources.study, profile, log=LOGS[settings.log])


def _describe_missing(study: Path, profiles: set[str], wanted: str) -> str:
    has = "has only z-scores" if "z_scores" in profiles else "has none"
    advice = "pass --reference none" if "z_scores" in profiles else "name a file with --expression"
    if wanted == "z_scores":
        has = "has only measured values" if "expression" in profiles else "has none"
        advice = "leave --reference none out" if "expression" in profiles else "name --expression"
    what = "z-scores" if wanted == "z_scores" else "measured expression"
    return f"--study ({study}) must have a profile of {what}, but {has}; {advice}"


def _load_expression(
    path: Path, sources: Sources, settings: PrepareSettings, samples: Sequence[str] = ()
) -> GeneTable:
    form = find_format(path, sources.expression_format)
    if form not in EXPRESSION:
        raise InputError(
            f"--expression ({path}) must be expression, but its columns are those of GISTIC's copy "
            f"number; name it with --copy-number, or pass --expression-format"
        )
    how: dict[str, Any] = {"kind": "expression", "log": LOGS[settings.log]}
    if form == "table":
        how["genes_in_rows"] = has_samples_in_columns(path, samples)
    return EXPRESSION[form](path, **how)


def _read_normals(
    sources: Sources, settings: PrepareSettings, tumours: GeneTable, inside: pd.DataFrame
) -> tuple[pd.DataFrame | None, GeneTable | None]:
    """The normals of the expression table, and those of a file of their own."""
    if sources.normals is None:
        return (inside if len(inside) else None), None
    reading = _load_expression(sources.normals, sources, settings)
    if reading.scale != tumours.scale:
        raise InputError(
            f"--normals ({sources.normals}) must have the scale of the tumours, but has "
            f"{reading.scale!r} and the tumours {tumours.scale!r}; pass --log yes or --log no, or "
            f"export both the same way"
        )
    more = reading.table.drop(index=inside.index, errors="ignore")
    shared = inside.columns.isin(more.columns)
    if not shared.any():
        raise InputError(
            f"--normals ({sources.normals}) must have genes of the tumours' table, but shares none "
            f"with it; write the gene names the same way"
        )
    return pd.concat([inside, more.reindex(columns=inside.columns)]), reading


def _read_annotation(sources: Sources) -> tuple[pd.DataFrame | None, ReadLog | None]:
    if sources.clinical is not None:
        return load_annotation(sources.clinical)
    frame = None if sources.study is None else load_clinical(sources.study)
    if frame is None:
        return None, None
    entry = LogEntry("read", "samples", len(frame), f"of {frame.shape[1]} columns")
    return frame, ReadLog(str(sources.study), "clinical tables of the study", (entry,))


def find_format(path: Path, named: str) -> str:
    """The format of a table: as named, or by its first line or file name where that is `auto`."""
    if named != "auto":
        return named
    try:
        first = next(iter(Lines(path, "table")), "")
    except InputError:  # the reader of the file will say more
        first = ""
    if is_gistic(split_header(first)):
        return "gistic"
    if first.strip().strip('"') in GCT_VERSIONS:
        return "gct"
    return SUFFIXES.get(Path(path.name.lower().removesuffix(".gz")).suffix, "xena")
