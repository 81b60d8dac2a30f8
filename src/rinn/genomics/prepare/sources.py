"""The files of a preparation, read in any of their formats."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.errors import InputError
from rinn.files import within_memory
from rinn.genomics.align import split_normals
from rinn.genomics.barcodes import load_samples, parse_barcode
from rinn.genomics.prepare.clinical import load_annotation
from rinn.genomics.prepare.settings import LOGS, PrepareSettings, Sources
from rinn.genomics.readers import find_reader
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.cbioportal_study import list_profiles, load_clinical
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.matrices import GeneTable
from rinn.genomics.readers.options import Kind
from rinn.genomics.readers.table import has_samples_in_columns


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
        mutations = _read_mutations(sources, settings)
        copy_number = _read_copy_number(sources, mutations)
        altered = [each for each in (mutations, copy_number) if each is not None]
        samples = [str(name) for each in altered for name in each.table.index]
        table = _read_expression(sources, settings, samples)
        tumours, inside = split_normals(table)
        if tumours.empty:
            raise InputError(
                f"expression ({table.log.source}) must have tumours, but all of its "
                f"{len(inside)} samples are normals; name the table of tumours, and this one with "
                f"--normals"
            )
        normals, more = _read_normals(sources, settings, table, inside)
        annotation, about = _read_annotation(sources)
    logs = [each.log for each in (*altered, table, *more)] + about
    expression = replace(table, table=tumours)
    return Readings(expression, mutations, copy_number, normals, annotation, tuple(logs))


def _load(
    sources: Sources,
    option: str,
    kind: Kind,
    path: Path,
    samples: Collection[str] = (),
    **how: Any,
) -> GeneTable:
    """Read a table in the format that is named for an option, or in that of the file."""
    named = getattr(sources, f"{option}_format")
    reader = find_reader(path, kind, option.replace("_", "-"), named)
    if reader.name == "table":
        how["genes_in_rows"] = has_samples_in_columns(path, samples)
    return reader.load(path, kind=kind, **how)


def _find_profiles(sources: Sources) -> set[str]:
    return set() if sources.study is None else {one.name for one in list_profiles(sources.study)}


def _read_mutations(sources: Sources, settings: PrepareSettings) -> GeneTable | None:
    how: Any = {"sequenced": sources.sequenced, "classes": settings.classes}
    if sources.maf is not None:
        return load_maf(sources.maf, **how)
    path = sources.mutations
    if path is None:
        has_any = "mutations" in _find_profiles(sources)
        return load_cbioportal(sources.study or "", **how) if has_any else None
    reading = _load(sources, "mutations", "mutation", path, **how)
    values = reading.table
    if not (values.isin([0, 1]) | values.isna()).all(axis=None):
        raise InputError(
            f"--mutations ({path}) must hold 0 and 1, but holds other numbers; name a table of "
            f"copy number with --copy-number"
        )
    if sources.sequenced is None:
        return reading
    listed = set(load_samples(sources.sequenced, "--sequenced"))
    listed |= {parse_barcode(name).patient for name in listed}
    kept = values.loc[[name in listed for name in map(str, values.index)]]
    if kept.empty:
        raise InputError(
            f"--sequenced ({sources.sequenced}) must name samples of {path}, but names none of "
            f"them; write the sample ids the same way"
        )
    left = [str(name) for name in values.index if name not in kept.index]
    entries = log_names("dropped", "samples", "not in the list of sequenced samples", left)
    reading = replace(reading, table=kept, sequenced=tuple(map(str, kept.index)))
    return reading.add_entries(entries)


def _read_copy_number(sources: Sources, mutations: GeneTable | None) -> GeneTable | None:
    if sources.copy_number is not None:
        samples = () if mutations is None else list(mutations.table.index)
        path = sources.copy_number
        reading = _load(sources, "copy_number", "copy number", path, samples, dtype="float32")
    elif "copy_number" in _find_profiles(sources):
        reading = load_cbioportal(sources.study or "", "copy_number", dtype="float32")
    else:
        return None
    values = reading.table.to_numpy()
    wrong = values[~np.isnan(values) & ~np.isin(values, (-2, -1.5, -1, 0, 1, 2))]
    if len(wrong):  # log2 ratios; -1.5 is a level in some studies
        raise InputError(
            f"copy number ({reading.log.source}) must hold levels from -2 to 2, but holds "
            f"{wrong[0]:g}; name the thresholded table, such as all_thresholded.by_genes.txt"
        )
    return reading


def _read_expression(
    sources: Sources, settings: PrepareSettings, samples: Collection[str]
) -> GeneTable:
    log = LOGS[settings.log]
    if sources.expression is not None:
        return _load(sources, "expression", "expression", sources.expression, samples, log=log)
    profile, profiles = sources.expression_profile, _find_profiles(sources)
    if profile is None:
        names = {"expression": "measured expression", "z_scores": "z-scores"}
        profile, other = ("expression", "z_scores")[:: -1 if settings.reference == "none" else 1]
        if profile not in profiles:
            has, advice = "none", "name a file with --expression"
            if other in profiles:
                has = f"only {names[other]}"
                advice = f"{'pass' if profile == 'expression' else 'leave out'} --reference none"
            raise InputError(
                f"--study ({sources.study}) must have a profile of {names[profile]}, but has "
                f"{has}; {advice}"
            )
    return load_cbioportal(sources.study or "", profile, log=log)


def _read_normals(
    sources: Sources, settings: PrepareSettings, tumours: GeneTable, inside: pd.DataFrame
) -> tuple[pd.DataFrame | None, list[GeneTable]]:
    """The normals of the expression table, and those of a file of their own."""
    if sources.normals is None:
        return (inside if len(inside) else None), []
    log = LOGS[settings.log]
    reading = _load(sources, "expression", "expression", sources.normals, log=log)
    if reading.scale != tumours.scale:
        raise InputError(
            f"--normals ({sources.normals}) must have the scale of the tumours, but has "
            f"{reading.scale!r} and the tumours {tumours.scale!r}; pass --log yes or --log no, or "
            f"export both the same way"
        )
    more = reading.table.drop(index=inside.index, errors="ignore")
    if not inside.columns.isin(more.columns).any():
        raise InputError(
            f"--normals ({sources.normals}) must have genes of the tumours' table, but shares none "
            f"with it; write the gene names the same way"
        )
    return pd.concat([inside, more.reindex(columns=inside.columns)]), [reading]


def _read_annotation(sources: Sources) -> tuple[pd.DataFrame | None, list[ReadLog]]:
    if sources.clinical is not None:
        table, log = load_annotation(sources.clinical)
        return table, [log]
    frame = None if sources.study is None else load_clinical(sources.study)
    if frame is None:
        return None, []
    entry = LogEntry("read", "samples", len(frame), f"of {frame.shape[1]} columns")
    return frame, [ReadLog(str(sources.study), "clinical tables of the study", (entry,))]
