"""The same tumours in all tables, with their tissue and their reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.errors import InputError, quote_some
from rinn.genomics.align import match_tables
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.prepare.changes import Reference
from rinn.genomics.prepare.clinical import clean_text, find_column
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.genomics.prepare.sources import Readings
from rinn.genomics.readers.matrices import GeneTable

ONE_TISSUE = "all"
TISSUE = "tissue"
COMPARED = "tumours are compared with them"


@dataclass(frozen=True)
class Tumours:
    """Tables with the same rows; `tissues` has one label for each."""

    mutations: pd.DataFrame | None
    levels: pd.DataFrame | None
    expression: pd.DataFrame
    annotation: pd.DataFrame | None
    tissues: pd.Series

    def take(self, rows: pd.Series) -> Tumours:
        """Keep these rows."""
        tables = {name: each.loc[rows] for name, each in vars(self).items() if each is not None}
        return replace(self, **tables)


def choose_columns(
    annotation: pd.DataFrame | None, settings: PrepareSettings
) -> pd.DataFrame | None:
    """The tissue, if there is one, and the other columns that were asked for."""
    wanted = [*filter(None, [settings.tissue_column]), *settings.covariate_columns]
    if not wanted:
        return None
    if annotation is None:
        raise InputError(
            f"--tissue-column and --covariate-columns must name columns of a clinical table, but "
            f"there is none for {quote_some(wanted)}; name it with --clinical"
        )
    columns: dict[str, pd.Series] = {}
    of_tissue = None
    if settings.tissue_column is not None:
        of_tissue = find_column(annotation, settings.tissue_column, "--tissue-column")
        columns[TISSUE] = annotation[of_tissue].fillna("").map(clean_text)
    for given in settings.covariate_columns:
        name = find_column(annotation, given, "--covariate-columns")
        if name != of_tissue:
            columns[f"{name}_2" if name in columns else name] = annotation[name]
    return pd.DataFrame(columns, index=annotation.index)


def match_tumours(
    readings: Readings, annotation: pd.DataFrame | None, settings: PrepareSettings
) -> tuple[Tumours, ReadLog]:
    """Bring all tables to the same tumours; those without a tissue are dropped."""
    only_levels = settings.unsequenced == "copy-number"
    if only_levels and (readings.copy_number is None or readings.mutations is None):
        raise InputError(
            "--unsequenced copy-number must come with mutations and copy number, but one of them "
            "is missing; leave the option out"
        )
    tables: dict[str, GeneTable | pd.DataFrame] = {}
    if readings.mutations is not None and not only_levels:
        tables["mutations"] = readings.mutations
    if readings.copy_number is not None:
        tables["copy number"] = readings.copy_number
    tables["expression"] = readings.expression
    matched = match_tables(tables, one_per_patient=not settings.all_samples)
    frames, entries = dict(matched.tables), list(matched.log.entries)
    if only_levels and readings.mutations is not None:
        frames["mutations"], more = _add_mutations(frames["expression"], readings.mutations)
        entries += more
    expression = frames["expression"]
    annotated = pd.Series(True, index=expression.index)
    tissues = pd.Series(ONE_TISSUE, index=expression.index, name=TISSUE)
    if annotation is not None:
        annotation, annotated, more = _annotate(
            expression.index, annotation, needs_tissue=settings.tissue_column is not None
        )
        entries += more
        tissues = annotation[TISSUE] if settings.tissue_column else tissues
    tumours = Tumours(
        frames.get("mutations"), frames.get("copy number"), expression, annotation, tissues
    )
    log = replace(matched.log, entries=tuple(entries))
    return (tumours if annotated.all() else tumours.take(annotated)), log


def _annotate(
    index: pd.Index, annotation: pd.DataFrame, *, needs_tissue: bool
) -> tuple[pd.DataFrame, pd.Series, list[LogEntry]]:
    """Find the row of each tumour, and log those without one or without a tissue."""
    rows = _find_rows(index, annotation.index)
    rows_found = annotation.reindex(pd.Index(rows, dtype=object)).set_axis(index, axis=0).fillna("")
    there = pd.Series([row is not None for row in rows], index=index)
    lost = [str(name) for name in index[~there]]
    entries = log_names("dropped", "samples", "not in the clinical table", lost)
    if needs_tissue:
        without = there & (rows_found[TISSUE] == "")
        names = [str(name) for name in index[without]]
        entries += log_names("dropped", "samples", "without a tissue", names)
        there &= ~without
    return rows_found, there, entries


def _find_rows(names: pd.Index, table: pd.Index) -> list[str | None]:
    """The row of each tumour in a table: that of its sample, else the first of its patient."""
    samples, of_patient = set(map(str, table)), dict[str, str]()
    for name in map(str, table):
        if not (barcode := parse_barcode(name)).is_normal:
            of_patient.setdefault(barcode.patient, name)
    return [
        name if name in samples else of_patient.get(parse_barcode(name).patient)
        for name in map(str, names)
    ]


def _add_mutations(
    expression: pd.DataFrame, mutations: GeneTable
) -> tuple[pd.DataFrame, list[LogEntry]]:
    """Add mutations to tumours; those that were not sequenced have none."""
    sequenced = match_tables({"tumours": expression, "mutations": mutations}).tables["mutations"]
    rows = _find_rows(expression.index, sequenced.index)
    indices = sequenced.index.get_indexer(pd.Index(rows))
    values = sequenced.to_numpy()[indices]
    values[indices < 0] = 0
    left = [str(name) for name in expression.index[indices < 0]]
    reason = "not sequenced: copy number alone, without any mutation"
    frame = pd.DataFrame(values, index=expression.index, columns=sequenced.columns)
    return frame, log_names("noted", "samples", reason, left)


def find_reference(
    readings: Readings,
    annotation: pd.DataFrame | None,
    tumours: Tumours,
    settings: PrepareSettings,
) -> tuple[Reference, list[LogEntry]]:
    """The normals with their tissues; those without a tissue are dropped."""
    if settings.reference != "normals":
        return Reference(levels=tumours.levels), []
    normals = readings.normals
    if normals is None:
        raise InputError(
            "--reference normals must come with normal samples, but the expression table has none "
            "(barcodes with the codes 10 to 14) and --normals was not given; name them, or pass "
            "--reference tissue"
        )
    if annotation is None or settings.tissue_column is None:
        noted = [LogEntry("noted", "normals", len(normals), COMPARED)]
        return Reference(normals, [ONE_TISSUE] * len(normals), tumours.levels), noted
    of_sample = {str(name): str(tissue) for name, tissue in annotation[TISSUE].items()}
    of_patient = {parse_barcode(name).patient: one for name, one in of_sample.items() if one}
    labels = [
        of_sample.get(name) or of_patient.get(parse_barcode(name).patient, "")
        for name in map(str, normals.index)
    ]
    has_tissue = np.array(labels, dtype=object) != ""
    lost = [str(name) for name in normals.index[~has_tissue]]
    entries = log_names("dropped", "normals", "without a tissue", lost)
    kept = [label for label in labels if label]
    entries += [LogEntry("noted", "normals", len(kept), COMPARED)]
    return Reference(normals.loc[has_tissue], kept, tumours.levels), entries
