"""Match the tumours of several tables by sample, then by patient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.errors import InputError
from rinn.genomics.barcodes import Barcode, parse_barcode
from rinn.genomics.readers.matrices import GeneTable


@dataclass(frozen=True)
class Matched:
    """Tables with the same rows.

    `tables` has the tables by name, each with the same index: the sample where all tables have the
    same one, else the patient. `levels` says for each row "sample" or "patient". `sources` says
    which row of each table it was.
    """

    tables: Mapping[str, pd.DataFrame]
    levels: pd.Series
    sources: pd.DataFrame
    log: ReadLog


def match_tables(
    tables: Mapping[str, GeneTable | pd.DataFrame], *, one_per_patient: bool = True
) -> Matched:
    """Bring several tables to the same tumours in the same order.

    Normals are left out. For each patient in every table, the sample in every table is taken; of
    several the one with the lowest code (primary before metastasis). Where no sample is in every
    table, the first sample of that patient in each table is taken, and the match is one by
    patient. A table with patient ids only matches any sample.

    Args:
        tables: `GeneTable`s, or tables with barcodes in their index, each with a name.
        one_per_patient: False keeps each sample that is in every table.

    Returns:
        The tables with the same rows, in the order of the first table, and the log.

    Raises:
        InputError: there are no tables, one repeats an id, or no patient is in all of them.

    Example:
        >>> x = pd.DataFrame({"TP53": [1, 0]}, index=["TCGA-02-0001", "TCGA-02-0003"])
        >>> y = pd.DataFrame({"EGFR": [2.5, 1.5]}, index=["TCGA.02.0001.01A", "TCGA.02.0007.01A"])
        >>> matched = match_tables({"X": x, "Y": y})
        >>> matched.tables["Y"].to_dict("index"), matched.levels.to_dict()
        ({'TCGA-02-0001': {'EGFR': 2.5}}, {'TCGA-02-0001': 'patient'})
    """
    if not tables:
        raise InputError("tables must hold at least one table, but is empty; give X and Y")
    frames = {
        name: each.table if isinstance(each, GeneTable) else each for name, each in tables.items()
    }
    groups = {name: _group(frame, name) for name, frame in frames.items()}
    shared = [
        patient
        for patient in next(iter(groups.values()))
        if all(patient in group for group in groups.values())
    ]
    if not shared:
        firsts = ", ".join(
            f"{name} has {frame.index[0]!r}" for name, frame in frames.items() if len(frame)
        )
        raise InputError(
            f"tables must share patients, but none is in all of {', '.join(frames)} ({firsts}); "
            f"write the sample ids in the same way"
        )
    picks: list[tuple[str, str, list[str]]] = []
    others: list[str] = []
    for patient in shared:
        tumours = _pick([group[patient] for group in groups.values()])
        picks += tumours[:1] if one_per_patient else tumours
        others += [name for name, *_ in tumours[1:]] if one_per_patient else []
    return _take(tables, frames, groups, picks, others)


def split_normals(table: GeneTable) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split a table into tumours and normals, by the codes of its barcodes."""
    frame = table.table
    is_normal = np.array([parse_barcode(str(name)).is_normal for name in frame.index], bool)
    return frame.loc[~is_normal], frame.loc[is_normal]


def _group(frame: pd.DataFrame, name: str) -> dict[str, list[Barcode]]:
    """The tumour rows of each patient, the one to prefer first."""
    if isinstance(frame.index, pd.RangeIndex) or not frame.index.is_unique:
        raise InputError(
            f"{name} must have each sample once, with barcodes in its index, but has not; set the "
            f"index to the sample ids"
        )
    groups: dict[str, list[Barcode]] = {}
    for text in frame.index:
        barcode = parse_barcode(str(text))
        if not barcode.is_normal:
            groups.setdefault(barcode.patient, []).append(barcode)
    return {patient: sorted(group, key=lambda each: each.rank) for patient, group in groups.items()}


def _pick(candidates: list[list[Barcode]]) -> list[tuple[str, str, list[str]]]:
    """The tumours of one patient, by sample where one is in every table: name, level, rows."""
    exact = [group for group in candidates if not all(each.is_patient for each in group)]
    common = set.intersection(*({each.sample for each in group} for group in exact or [[]]))
    samples = dict.fromkeys(each.sample for group in exact[:1] for each in group)
    shared = [sample for sample in samples if sample in common]
    if shared and len(exact) == len(candidates):
        return [(sample, "sample", _find(candidates, sample)) for sample in shared]
    # one row of each table: the same sample in those that have samples, where that is possible
    rows = _find(candidates, next(iter(shared), None))
    return [(candidates[0][0].patient, "patient" if exact else "sample", rows)]


def _find(candidates: list[list[Barcode]], sample: str | None) -> list[str]:
    """The row of a sample in each table, or the one to prefer where it is not there."""
    return [
        next((each for each in group if each.sample == sample), group[0]).text
        for group in candidates
    ]


def _take(
    tables: Mapping[str, GeneTable | pd.DataFrame],
    frames: Mapping[str, pd.DataFrame],
    groups: Mapping[str, Mapping[str, list[Barcode]]],
    picks: list[tuple[str, str, list[str]]],
    others: list[str],
) -> Matched:
    names, kinds, texts = map(list, zip(*picks, strict=True))
    index = pd.Index(names, name="sample")
    sources = pd.DataFrame(texts, index=index, columns=list(frames))
    reason = f"tumours that are in all of {', '.join(frames)}"
    entries = [LogEntry("read", "samples", len(picks), reason)]
    cut = {}
    for name, frame in frames.items():
        barcodes = [parse_barcode(str(label)) for label in frame.index]
        row_of = {barcode.text: row for row, barcode in enumerate(barcodes)}
        cut[name] = frame.iloc[[row_of[text] for text in sources[name]]].set_axis(index, axis=0)
        normals = [each.text for each in barcodes if each.is_normal]
        entries += log_names("dropped", "samples", f"normals of {name}", normals)
        for other, group in groups.items():
            table = tables[other]
            why = ""
            if isinstance(table, GeneTable) and (table.kind, table.sequenced) == ("mutation", None):
                why = " (no list of sequenced samples says that they have no mutation)"
            lost = [b.text for b in barcodes if not b.is_normal and b.patient not in group]
            entries += log_names("dropped", "samples", f"of {name}, not in {other}{why}", lost)
    reason = "another tumour of the same patient is kept, the one with the lowest code"
    entries += log_names("dropped", "samples", reason, others)
    by_patient = [" = ".join(rows) for _, level, rows in picks if level == "patient"]
    entries += log_names("noted", "samples", "matched by patient only", by_patient)
    levels = pd.Series(kinds, index=index, name="level", dtype=object)
    return Matched(cut, levels, sources, ReadLog(" and ".join(frames), "match", tuple(entries)))
