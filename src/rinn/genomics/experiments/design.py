"""Designs as tables: a column for each treatment, or a row for each treatment of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.tables import load_table, read_frame
from rinn.data.text import Lines, check_unique, is_id_header, parse_cell
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.experiments.records import Experiment
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.perturbations import CONTROLS, encode_labels, split_label
from rinn.genomics.prepare.clinical import clean_text, find_column

TREATMENTS = ("treatment", "perturbation", "drug", "compound", "stimulus")
DOSES = ("dose", "concentration")


def read_design(sources: ExperimentSources, settings: ExperimentSettings) -> Experiment:
    """Read a design and the measurements of its samples."""
    path = Path(str(sources.design))
    lines = Lines(path, "--design")
    frame = read_frame(lines, pad=True).map(clean_text)
    check_unique(list(frame.columns), lines.source, "column")
    if frame.empty:
        raise InputError(f"{lines.source} must have a row for each sample, but has none; add them")
    first = str(frame.columns[0])
    if not is_id_header(first):
        raise InputError(
            f"{lines.source} must have sample ids in its first column, but that is called "
            f"{quote(first)}; call it sample"
        )
    ids = frame.pop(first)
    treatment = find_named(frame, settings.treatment_column, "--treatment-column", TREATMENTS)
    time = find_named(frame, settings.time_column, "--time-column")
    labels = [
        find_column(frame, name, "--covariate-columns", "the design")
        for name in settings.covariate_columns
    ]
    others = [*labels, *filter(None, [time])]
    if treatment is None:
        levels, entries = _read_wide(frame, others, settings, lines.source)
        check_unique(list(ids), lines.source, "sample")
    else:
        levels, frame, ids = _read_long(frame, ids, treatment, others, settings, lines.source)
        entries = [LogEntry("read", "treatments", levels.shape[1], f"of the column {treatment}")]
    entries.insert(0, LogEntry("read", "samples", len(ids), "of the design"))
    values, rows, read = _match(Path(str(sources.measurements)), list(map(str, ids)))
    index = values.index.rename("sample")
    kept = frame.iloc[rows].set_axis(index, axis=0)
    return Experiment(
        levels.iloc[rows].set_axis(index, axis=0),
        values.set_axis(index, axis=0),
        kept[labels],
        None if time is None else read_times(kept[time], lines.source),
        (ReadLog(str(path), "design", (*entries, *lines.entries)), read),
    )


def find_named(
    frame: pd.DataFrame, name: str | None, option: str, usual: Sequence[str] = ()
) -> str | None:
    """The column that is named, else one with a usual name, else None."""
    if name is not None:
        return find_column(frame, name, option, "the table")
    return next((str(each) for each in frame.columns if str(each).lower() in usual), None)


def read_times(column: pd.Series, source: str) -> pd.Series:
    """The times of all samples as numbers."""
    numbers = column.map(lambda cell: parse_cell(str(cell)))
    wrong = numbers.isna()
    if wrong.any():
        raise InputError(
            f"the time of each sample in {source} must be a number, but "
            f"{quote(str(column[wrong].iloc[0]))} is in column {quote(str(column.name))}; write "
            f"numbers of one unit, and name it with --time-unit"
        )
    return numbers.astype(float).rename("time")


def _read_wide(
    frame: pd.DataFrame, others: Sequence[str], settings: ExperimentSettings, source: str
) -> tuple[pd.DataFrame, list[LogEntry]]:
    """Levels of a table with a column for each treatment; an empty cell is 0."""
    numbers = frame.map(parse_cell)
    is_text = (numbers.isna() & frame.map(lambda cell: parse_cell(cell) is None)).any()
    named = [find_column(frame, name, "--treatments", "the design") for name in settings.treatments]
    columns = named or [n for n in frame.columns if n not in others and not is_text[n]]
    if wrong := [name for name in columns if is_text[name]]:
        raise InputError(
            f"--treatments must be columns of numbers in {source}, but {quote_some(wrong)} has "
            f"text; write doses, or 0 and 1"
        )
    if not columns:
        raise InputError(
            f"{source} must have a column of numbers for each treatment, or one called treatment, "
            f"but has only {quote_some(list(frame.columns))}; name it with --treatment-column"
        )
    levels = numbers[columns].astype(float)
    gaps = int(levels.isna().to_numpy().sum())
    left = [str(n) for n in frame.columns if n not in (*columns, *others)]
    return levels.fillna(0.0), [
        LogEntry("read", "treatments", len(columns), "one column each"),
        *log_count("repaired", "cells", gaps, "empty: not given, 0 is written"),
        *log_names("dropped", "columns", "no option names them", left),
    ]


def _read_long(
    frame: pd.DataFrame,
    ids: pd.Series,
    treatment: str,
    others: Sequence[str],
    settings: ExperimentSettings,
    source: str,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Levels of a table with a row for each treatment of a sample; one row for each sample."""
    dose = find_named(frame, settings.dose_column, "--dose-column", DOSES)
    labels = frame[treatment]
    controls = (*CONTROLS, *(name.lower() for name in settings.controls))
    doses = [
        _read_doses(label, "" if dose is None else frame[dose].iloc[row], row, settings, source)
        for row, label in enumerate(labels)
    ]
    levels = encode_labels(labels, doses=doses, separators=settings.separators, controls=controls)
    if ids.is_unique:
        return levels, frame, ids
    samples, unique = pd.factorize(ids)
    given = (levels != 0).groupby(samples).sum()
    if (given > 1).to_numpy().any():
        row, column = np.argwhere((given > 1).to_numpy())[0]
        times = int(given.to_numpy()[row, column])
        raise InputError(
            f"{source} must give a sample each treatment once, but {quote(str(unique[row]))} has "
            f"{quote(str(levels.columns[column]))} {times} times; add up the doses"
        )
    labels_of = frame[list(others)]
    differs = (labels_of != labels_of.groupby(samples).transform("first")).to_numpy()
    if differs.any():
        row, column = np.argwhere(differs)[0]
        raise InputError(
            f"{source} must have one value of {quote(others[column])} for each sample, but "
            f"{quote(str(ids.iloc[row]))} has several; correct its rows"
        )
    first = ~pd.Series(samples).duplicated().to_numpy()
    return levels.groupby(samples).sum(), frame[first].reset_index(drop=True), pd.Series(unique)


def _read_doses(
    label: str, cell: str, row: int, settings: ExperimentSettings, source: str
) -> list[float]:
    """The dose of each part of a label: one for all, or as many as parts; 1 where none is given."""
    parts = split_label(label, settings.separators)
    numbers = [parse_cell(text) for text in split_label(cell, settings.separators)]
    numbers = numbers * len(parts) if len(numbers) == 1 else numbers
    if len(numbers) != len(parts) or None in numbers:
        raise InputError(
            f"the dose of {quote(label)} in {source} must be a number, or one for each of its "
            f"{len(parts)} parts, but line {row + 2} has {quote(cell)}; write numbers"
        )
    return [1.0 if np.isnan(each) else float(each) for each in numbers if each is not None]


def _match(path: Path, names: list[str]) -> tuple[pd.DataFrame, list[int], ReadLog]:
    """The measurements of the samples of a design, and which rows of the design they are."""
    table = load_table(path, "--measurements", missing=True)
    if table.samples is None:
        raise InputError(
            f"--measurements ({path}) must have sample ids in its first column, but has none; "
            f"call that column sample"
        )
    values = pd.DataFrame(table.values, index=list(table.samples), columns=list(table.columns))
    entry = LogEntry("read", "outputs", values.shape[1], f"of {len(values):,} samples")
    if not set(names) & set(values.index) and set(names) & set(values.columns):
        values = values.T
    rows = [row for row, name in enumerate(names) if name in values.index]
    if not rows:
        raise InputError(
            f"--measurements ({path}) must have samples of the design, but shares none with it: "
            f"{quote(names[0])} in the design, {quote(str(values.index[0]))} here; write the ids "
            f"the same way"
        )
    lost = [name for name in names if name not in values.index]
    unknown = [name for name in map(str, values.index) if name not in set(names)]
    entries = (
        entry,
        *log_names("dropped", "samples", "of the design, without measurements", lost),
        *log_names("dropped", "samples", "measured, but not in the design", unknown),
    )
    return (
        values.loc[[names[row] for row in rows]],
        rows,
        ReadLog(str(path), "measurements", entries),
    )
