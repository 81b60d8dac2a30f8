"""Covariates, text or numbers: read, matched to samples, and coded as columns of numbers.

A categorical covariate becomes a column of 0 and 1 for each level but the most frequent, a number
a standardised column.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from rinn.data.records import Dropped
from rinn.data.scaling import check_range
from rinn.data.tables import (
    TEXT_SUFFIXES,
    is_default,
    is_numeric,
    read_content,
    read_parquet,
    read_text_frame,
)
from rinn.data.text import MISSING, check_names, check_unique, is_all_text, is_id_header, parse_cell
from rinn.errors import InputError, name_row, quote, quote_some
from rinn.files import within_memory

LABEL = "covariates"
MISSING_LEVEL = "(missing)"
MIN_STRATUM = 5  # samples; rows of smaller strata are permuted together
SAMPLES_PER_COLUMN = 3
FEW_VALUES = 12  # whole numbers with no more values than this may be names


@dataclass(frozen=True)
class CovariateTable:
    """Covariates as they were read: float64 with NaN, or text (dtype object) with ''."""

    columns: dict[str, np.ndarray]
    samples: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """The number of samples."""
        return len(next(iter(self.columns.values())))

    def take(self, rows: Sequence[int]) -> CovariateTable:
        """The table with these rows, in their order."""
        samples = None if self.samples is None else tuple(self.samples[row] for row in rows)
        return CovariateTable({n: v[list(rows)] for n, v in self.columns.items()}, samples)

    def find(self, names: Sequence[str]) -> CovariateTable:
        """The rows of these samples, without ids."""
        row_of = {sample: row for row, sample in enumerate(self.samples or ())}
        lacking = [name for name in names if name not in row_of]
        if lacking:
            raise InputError(
                f"covariates must have a row for each sample of X, but have none for "
                f"{quote_some(lacking)}; add them, or leave these samples out of X"
            )
        return CovariateTable(self.take([row_of[name] for name in names]).columns)


@dataclass(frozen=True)
class Coding:
    """How one covariate becomes numbers.

    `levels` are those of a categorical one, the reference first; numbers have none, but the `mean`
    and standard deviation `std` that they are standardised by.
    """

    name: str
    levels: tuple[str, ...] = ()
    mean: float = 0.0
    std: float = 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The level that each of its columns stands for; one without a name for numbers."""
        return self.levels[1:] if self.levels else ("",)

    def encode(self, values: np.ndarray) -> Float[np.ndarray, "sample column"]:
        """Turn values into columns; a number that is missing becomes the mean."""
        if not self.levels:
            filled = np.where(np.isnan(values), self.mean, values)
            return (filled[:, None] - self.mean) / self.std
        levels = np.array(self.levels[1:], dtype=object)
        return (_name_levels(values)[:, None] == levels).astype(np.float64)


@dataclass(frozen=True)
class Covariates:
    """Coded covariates of the samples of a run, and notes on the coding."""

    numbers: Float[np.ndarray, "sample column"]
    codings: tuple[Coding, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The covariates."""
        return tuple(coding.name for coding in self.codings)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Covariate and level of each column."""
        return tuple((coding.name, level) for coding in self.codings for level in coding.columns)

    @property
    def strata(self) -> Int[np.ndarray, " sample"]:
        """A number for each combination of levels; those of fewer than five samples share one."""
        is_level = [bool(coding.levels) for coding in self.codings for _ in coding.columns]
        if not any(is_level):
            return np.zeros(len(self.numbers), int)
        stratum = np.unique(self.numbers[:, is_level], axis=0, return_inverse=True)[1].ravel()
        is_small = np.bincount(stratum)[stratum] < MIN_STRATUM
        return np.where(is_small, stratum.max() + 1, stratum)

    @property
    def permutation(self) -> str:
        """How rows of Y are permuted with these covariates, in a sentence."""
        categorical = [coding.name for coding in self.codings if coding.levels]
        if not categorical:
            return "Rows of Y were permuted together with their covariates."
        names = " and ".join(categorical)
        return f"Rows of Y were permuted among samples with the same {names}."

    def take(self, rows: np.ndarray) -> Covariates:
        """The covariates of these samples, in their order."""
        return replace(self, numbers=self.numbers[rows])

    def permute(self, rng: np.random.Generator) -> Int[np.ndarray, " sample"]:
        """Draw a permutation of the samples within each stratum."""
        strata = self.strata
        order = np.arange(len(strata))
        for stratum in np.unique(strata):
            rows = np.flatnonzero(strata == stratum)
            order[rows] = rng.permutation(rows)
        return order


def load_covariates(path: str | os.PathLike[str]) -> CovariateTable:
    """Read covariates from a file with a header: .csv, .tsv or .txt, also gzipped, or .parquet.

    A first column called sample, id, barcode and the like, or without a name, holds sample ids;
    so does one of text whose cells are all different. A column is a number where each of its cells
    is one or is missing, and text otherwise.
    """
    source = f"{LABEL} ({path})"
    with within_memory(source):
        content, suffix = read_content(Path(path), source, (*TEXT_SUFFIXES, ".parquet"))
        if suffix == ".parquet":
            return _convert(read_parquet(content, source), source)
        return _convert(read_text_frame(content, suffix, source), source)


def make_covariates(values: Any) -> CovariateTable:
    """Make a table of covariates from memory; `values` stays as it is."""
    if isinstance(values, CovariateTable):
        return values
    if isinstance(values, pd.Series):
        values = values.to_frame("z0" if values.name is None else values.name)
    if not isinstance(values, pd.DataFrame):
        array = np.asarray(values)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise InputError(
                f"{LABEL} must be a table [sample, covariate], but has shape {array.shape}; wrap "
                f"it in pandas.DataFrame"
            )
        values = pd.DataFrame(array, columns=[f"z{number}" for number in range(array.shape[1])])
    return _convert(values, LABEL)


def match_covariates(X: Any, values: Any) -> CovariateTable:
    """Bring covariates into the order of X, by sample ids where both have them."""
    table = make_covariates(values)
    rows = len(X) if hasattr(X, "__len__") else table.rows
    index = X.index if isinstance(X, (pd.DataFrame, pd.Series)) else pd.RangeIndex(rows)
    if is_default(index) or table.samples is None:
        if table.rows != rows:
            raise InputError(
                f"covariates must have as many rows as X, but have {table.rows} and X has {rows}; "
                f"give one row for each row of X"
            )
        return CovariateTable(table.columns)
    return table.find([str(name).strip() for name in index])


def code_covariates(table: CovariateTable) -> tuple[Covariates, tuple[Dropped, ...]]:
    """Turn a table of covariates into numbers; those that are constant are dropped.

    Text and 0/1 become a column of zeros and ones for each level but the most frequent; missing
    values are a level. Other numbers are standardised, missing ones replaced by the mean.
    """
    codings, notes, dropped = [], [], []
    for name, values in table.columns.items():
        constant = _find_constant(values)
        if constant is not None:
            dropped.append(Dropped("covariates", name, f"constant (always {constant})"))
            continue
        if values.dtype != object:
            check_range(values[:, None], (name,), "covariates")
        coding = _make_coding(name, values)
        codings.append(coding)
        notes += _make_notes(coding, values)
    if not codings:
        raise InputError(
            f"covariates must have a column that varies, but each of "
            f"{quote_some(list(table.columns))} has the same value in all samples; leave the "
            f"covariates out"
        )
    columns = sum(len(coding.columns) for coding in codings)
    if columns * SAMPLES_PER_COLUMN > table.rows:
        most = max(codings, key=lambda coding: len(coding.columns))
        raise InputError(
            f"covariates must have at most one level for {SAMPLES_PER_COLUMN} samples, but have "
            f"{columns} for {table.rows} samples, {len(most.columns)} of them in "
            f"{quote(most.name)}; leave it out, or join levels"
        )
    values = encode_covariates(table, codings)
    return Covariates(values, tuple(codings), tuple(notes)), tuple(dropped)


def encode_covariates(
    table: CovariateTable, codings: Sequence[Coding]
) -> Float[np.ndarray, "sample column"]:
    """Turn the covariates of new samples into numbers by the codings of the training samples."""
    parts = []
    for coding in codings:
        if coding.name not in table.columns:
            raise InputError(
                f"covariates must have the column {quote(coding.name)}, which the networks were "
                f"trained with, but have {quote_some(list(table.columns))}; add it"
            )
        values = table.columns[coding.name]
        if coding.levels:
            levels = _name_levels(values)
            unseen = np.flatnonzero(~np.isin(levels, coding.levels))
            if len(unseen):
                where = name_row(int(unseen[0]), None, table.samples)
                raise InputError(
                    f"covariates must have levels that the networks were trained with in column "
                    f"{quote(coding.name)} ({quote_some(coding.levels)}), but {where} has "
                    f"{quote(levels[unseen[0]])}; leave such samples out"
                )
        elif values.dtype == object:
            raise InputError(
                f"covariates must hold numbers in column {quote(coding.name)}, as where the "
                f"networks were trained, but hold text; write numbers"
            )
        parts.append(coding.encode(values))
    return np.concatenate(parts, axis=1)


def _convert(frame: pd.DataFrame, source: str) -> CovariateTable:
    names = [str(name).strip() for name in frame.columns]
    samples, first = None, 0
    if not is_default(frame.index):
        samples = tuple(str(name).strip() for name in frame.index)
    elif len(names) > 1:
        cells = tuple(str(cell).strip() for cell in frame.iloc[:, 0])
        is_unique = len(set(cells)) == len(cells) > 1
        if is_id_header(names[0]) or (is_unique and is_all_text(cells)):
            samples, first = cells, 1
    names = names[first:]
    if not names or not len(frame):
        what = "a column besides the sample ids" if len(frame) else "a row for each sample"
        raise InputError(f"{source} must have {what}, but there is none; add it")
    for labels, what in ((names, "column"), (samples or (), "sample")):
        check_unique(labels, source, what)
        check_names(labels, source, what)
    columns = {
        name: _convert_column(frame.iloc[:, first + number], name, samples, source)
        for number, name in enumerate(names)
    }
    return CovariateTable(columns, samples)


def _convert_column(
    column: pd.Series, name: str, samples: tuple[str, ...] | None, source: str
) -> np.ndarray:
    """Numbers where each cell is one or missing; pandas' categories are always text."""
    if is_numeric(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        cells = ["" if pd.isna(cell) else str(cell).strip() for cell in column]
        cells = ["" if cell.lower() in MISSING else cell for cell in cells]
        parsed = [parse_cell(cell) for cell in cells]
        if None in parsed or isinstance(column.dtype, pd.CategoricalDtype):
            check_names(cells, source, f"level of {quote(name)}")
            return np.array(cells, dtype=object)
        numbers = np.array(parsed, dtype=np.float64)
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise InputError(
            f"{source} must hold no infinite number, but column {quote(name)} has one in "
            f"{name_row(row, None, samples)}; leave the cell empty"
        )
    return numbers


def _name_levels(values: np.ndarray) -> np.ndarray:
    """Values as the names of levels: numbers in short, missing ones as `(missing)`."""
    if values.dtype == object:
        return np.array([text or MISSING_LEVEL for text in values], dtype=object)
    return np.array([MISSING_LEVEL if np.isnan(v) else f"{v:g}" for v in values], dtype=object)


def _find_constant(values: np.ndarray) -> str | None:
    """The only value there is, as text, or None where there are several."""
    if values.dtype == object:
        distinct = set(values)
        return None if len(distinct) > 1 else quote(distinct.pop() or MISSING_LEVEL)
    observed = values[~np.isnan(values)]
    if not len(observed):
        return MISSING_LEVEL
    is_binary = np.isin(observed, (0, 1)).all()  # a missing value is then another level
    varies = (observed != observed[0]).any() or (is_binary and len(observed) < len(values))
    return None if varies else f"{observed[0]:g}"


def _make_coding(name: str, values: np.ndarray) -> Coding:
    observed = values if values.dtype == object else values[~np.isnan(values)]
    if values.dtype != object and not np.isin(observed, (0, 1)).all():
        # over all samples, with the mean in place of missing values
        std = np.sqrt(((observed - observed.mean()) ** 2).sum() / len(values))
        return Coding(name, mean=float(observed.mean()), std=float(std))
    counts = Counter(_name_levels(values).tolist())
    reference = min(counts, key=lambda level: (-counts[level], level))
    return Coding(name, (reference, *sorted(counts.keys() - {reference})))


def _make_notes(coding: Coding, values: np.ndarray) -> list[str]:
    """Notes on missing values, and on numbers that may be names."""
    name, notes = quote(coding.name), []
    missing = int((_name_levels(values) == MISSING_LEVEL).sum())
    if missing:
        fate = "are a separate level" if coding.levels else "were replaced by the mean"
        notes.append(f"covariate {name}: {missing} missing values {fate}")
    if coding.levels:
        return notes
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= FEW_VALUES and (distinct == np.round(distinct)).all():
        notes.append(
            f"covariate {name}: taken as a number with {len(distinct)} different values; if these "
            f"are names, such as of batches, write them as text (b1, b2)"
        )
    return notes
