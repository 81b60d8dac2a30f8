"""Annotation of the samples besides their genes: a clinical table by sample or by patient."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.tables import read_frame
from rinn.data.text import MISSING, Lines, check_unique, parse_cell
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.genomics.barcodes import find_ids, parse_barcode

UNKNOWN = "unknown"
_MISSING = MISSING | {"[not available]", "not available", "[unknown]", "unknown", "--", "'--"}
_MISSING |= {"[not applicable]", "[not evaluated]"}


def load_annotation(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, ReadLog]:
    """Read a table of text with a header: tabs or commas, plain or gzip.

    Lines that begin with # are skipped, as in cBioPortal's clinical files. The column called
    sample, barcode or similar has the ids, else the column of patients.
    """
    lines = Lines(path, "--clinical")
    frame = read_frame(lines, comments=True, pad=True).map(clean_text)
    header = list(frame.columns)
    ids = find_ids(header)
    if ids is None and header[0]:  # R and pandas leave the first name empty
        raise lines.reject(
            "have a column of sample ids called sample, barcode or patient",
            f"has {quote_some(header)}",
            "rename it",
            line=1,
        )
    check_unique([name for name in header if name], lines.source, "column")
    names = [parse_barcode(name).sample for name in frame.iloc[:, ids or 0]]
    frame = frame.set_axis(pd.Index(names, name="sample")).loc[lambda table: table.index != ""]
    if frame.empty:
        raise InputError(f"{lines.source} must have a row for each sample, but has none; add them")
    check_unique(list(frame.index), lines.source, "sample")
    entry = LogEntry("read", "samples", len(frame), f"of {len(header) - 1} columns")
    log = ReadLog(str(path), "clinical table", (entry, *lines.entries))
    return frame.drop(columns=header[ids or 0]), log


def find_column(
    frame: pd.DataFrame, name: str, option: str, where: str = "the clinical table"
) -> str:
    """Find a column by its name, in upper or lower case."""
    names = [str(column) for column in frame.columns]
    if name in names:
        return name
    matches = [column for column in names if column.lower() == name.lower()]
    if len(matches) == 1:
        return matches[0]
    hint = suggest(name, names, listed=len(names) <= 12) or f"; it has {quote_some(names)}"
    raise InputError(f"{option} must name a column of {where}, but {name!r} is none{hint}")


def clean_text(cell: str) -> str:
    """A cell without space around it, empty if it means missing, such as [Not Available]."""
    text = " ".join(str(cell).split())
    return "" if text.lower() in _MISSING else text


def make_covariates(
    annotation: pd.DataFrame | None, max_missing: float
) -> tuple[pd.DataFrame | None, list[LogEntry]]:
    """Make columns that a fit can take: numbers or text, without missing values.

    Missing numbers become the median, other missing values 'unknown'. Columns with one value, or
    with too many missing, are left out.
    """
    entries: list[LogEntry] = []
    columns: dict[str, pd.Series] = {}
    for name, values in ({} if annotation is None else annotation).items():
        text = values.fillna("").map(clean_text)
        gaps = int((text == "").sum())
        label = (str(name),)
        if gaps > max_missing * len(text):
            reason = f"no value for {gaps:,} of {len(text):,} samples"
            entries += log_names("dropped", "covariates", reason, label)
        elif text[text != ""].nunique() + bool(gaps) < 2:
            entries += log_names("dropped", "covariates", "the same for all samples", label)
        else:
            columns[str(name)], filler = _fill(text)
            if gaps:
                reason = f"no value in {label[0]}: {filler} is written"
                entries.append(LogEntry("repaired", "samples", gaps, reason))
    return (pd.DataFrame(columns) if columns else None), entries


def _fill(text: pd.Series) -> tuple[pd.Series, str]:
    """The column without missing values, and what is written for them."""
    numbers = text.map(parse_cell)
    if numbers.isna().sum() == (text == "").sum():  # parse_cell gives None for text
        floats = numbers.astype(float)
        if np.isinf(floats).any():
            wrong = text[np.isinf(floats)].iloc[0]
            raise InputError(
                f"--covariate-columns must hold finite numbers, but {text.name} has "
                f"{quote(wrong)}; leave that cell empty"
            )
        middle = float(floats.median())
        return floats.fillna(middle), f"the median {middle:g}"
    return text.where(text != "", UNKNOWN), f"'{UNKNOWN}'"
