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


@dataclass(frozen=True)
class _Pick:
    """The rows of one tumour: the id of each table's row."""

    name: str
    level: str
    rows: tuple[str, ...]


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
    picks: list[_Pick] = []
    others: list[str] = []
    for patient in shared:
        tumours = _pick([group[patient] for group in groups.values()])
        picks += tumours[:1] if one_per_patient else tumours
        others += [pick.name for pick in tumours[1:]] if one_per_patient else []
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


def _pick(candidates: list[list[Barcode]]) -> list[_Pick]:
    """The tumours of one patient: by sample where a sample is in every table, else by patient."""
    exact = [group for group in candidates if not all(each.is_patient for each in group)]
    if not exact:
        return [_make_pick(candidates[0][0].patient, "sample", [group[0] for group in candidates])]
    common = set.intersection(*({each.sample for each in group} for group in exact))
    samples = dict.fromkeys(each.sample for each in exact[0] if each.sample in common)
    if samples and len(exact) == len(candidates):
        return [
            _make_pick(sample, "sample", [_find(group, sample) for group in exact])
            for sample in samples
        ]
    # one row of each table: the same sample in those that have samples, where that is possible
    best = next(iter(samples), None)
    rows = [_find(group, best) for group in candidates]
    return [_make_pick(rows[0].patient, "patient", rows)]


def _find(group: list[Barcode], sample: str | None) -> Barcode:
    return next((each for each in group if each.sample == sample), group[0])


def _make_pick(name: str, level: str, rows: list[Barcode]) -> _Pick:
    return _Pick(name, level, tuple(each.text for each in rows))


def _take(
    tables: Mapping[str, GeneTable | pd.DataFrame],
    frames: Mapping[str, pd.DataFrame],
    groups: Mapping[str, Mapping[str, list[Barcode]]],
    picks: list[_Pick],
    others: list[str],
) -> Matched:
    """Cut the tables to the tumours, and write the log."""
    index = pd.Index([pick.name for pick in picks], name="sample")
    sources = pd.DataFrame([pick.rows for pick in picks], index=index, columns=list(frames))
    reason = f"tumours that are in all of {', '.join(frames)}"
    entries = [LogEntry("read", "samples", len(picks), reason)]
    cut = {}
    for name, frame in frames.items():
        barcodes = [parse_barcode(str(label)) for label in frame.index]
        row_of = {barcode.text: row for row, barcode in enumerate(barcodes)}
        rows = [row_of[text] for text in sources[name]]
        cut[name] = frame.iloc[rows].set_axis(index, axis=0)
        normals = [each.text for each in barcodes if each.is_normal]
        entries += log_names("dropped", "samples", f"normals of {name}", normals)
        for other, group in groups.items():
            tumours = [each for each in barcodes if not each.is_normal]
            lost = [each.text for each in tumours if each.patient not in group]
            reason = f"of {name}, not in {other}{_describe_unknown(tables[other])}"
            entries += log_names("dropped", "samples", reason, lost)
    reason = "another tumour of the same patient is kept, the one with the lowest code"
    entries += log_names("dropped", "samples", reason, others)
    by_patient = [" = ".join(pick.rows) for pick in picks if pick.level == "patient"]
    entries += log_names("noted", "samples", "matched by patient only", by_patient)
    levels = pd.Series([pick.level for pick in picks], index=index, name="level", dtype=object)
    return Matched(cut, levels, sources, ReadLog(" and ".join(frames), "match", tuple(entries)))


def _describe_unknown(table: GeneTable | pd.DataFrame) -> str:
    if isinstance(table, GeneTable) and table.kind == "mutation" and table.sequenced is None:
        return " (no list of sequenced samples says that they have no mutation)"
    return ""
