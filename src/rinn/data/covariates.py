"""Read covariates, text or numbers, from a file or from memory."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.cells import WORDS, check_names, is_id_header, parse_cell
from rinn.data.tables import read_parquet
from rinn.data.text import find_separator
from rinn.errors import InputError, find_repeated, name_row, quote, quote_some
from rinn.files import check_file, read_file, unguard_formula, unpack_gzip, within_memory

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
LABEL = "covariates"


@dataclass(frozen=True)
class CovariateTable:
    """Covariates as they were read: float64 with NaN, or text (dtype object) with ''."""

    columns: dict[str, np.ndarray]
    samples: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """How many samples there are."""
        return len(next(iter(self.columns.values())))

    def take(self, rows: Sequence[int]) -> CovariateTable:
        """The table with these rows, in their order."""
        samples = None if self.samples is None else tuple(self.samples[row] for row in rows)
        return CovariateTable({n: v[list(rows)] for n, v in self.columns.items()}, samples)

    def find(self, names: Sequence[str]) -> CovariateTable:
        """The rows of these samples, without ids."""
        place = {sample: row for row, sample in enumerate(self.samples or ())}
        lacking = [name for name in names if name not in place]
        if lacking:
            raise InputError(
                f"covariates must have a row for each sample of X, but have none for "
                f"{quote_some(lacking)}; add them, or leave these samples out of X"
            )
        return CovariateTable(self.take([place[name] for name in names]).columns)


def load_covariates(path: str | os.PathLike[str]) -> CovariateTable:
    r"""Read covariates from a file with a header: .csv, .tsv or .txt, also gzipped, or .parquet.

    A first column called sample, id, barcode and the like, or without a name, holds sample ids;
    so does one whose words are all different. A column is a number where each of its cells is one
    or is missing, and text otherwise.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "samples.csv"
        >>> _ = path.write_text("sample,tissue,age\na,lung,61\nb,skin,NA\n")
        >>> table = load_covariates(path)
        >>> table.samples, table.columns["age"].tolist(), table.columns["tissue"].tolist()
        (('a', 'b'), [61.0, nan], ['lung', 'skin'])
    """
    path = Path(path)
    source = f"{LABEL} ({path})"
    if os.path.exists(path):  # the shell's <(command) is a pipe with a number for its name
        check_file(path, source)
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in SUFFIXES or (name.endswith(".gz") and suffix == ".parquet"):
        raise InputError(
            f"{source} must be a file that ends in one of {', '.join(SUFFIXES)} (the first "
            f"three also with .gz), but it is called {quote(path.name)}; save it as .csv"
        )
    with within_memory(source):
        content = read_file(path, source)
        if name.endswith(".gz"):
            content = unpack_gzip(content, source)
        if suffix == ".parquet":
            return _convert(read_parquet(content, source), source)
        try:
            frame = _read_text(content, suffix)
        except (ValueError, csv.Error) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{source} must be a table with a header, in UTF-8, but it cannot be read "
                f"({reason}); check the file"
            ) from error
        return _convert(frame, source)


def make_covariates(values: Any) -> CovariateTable:
    """Make a table of covariates from memory; what it is made from stays as it is.

    Example:
        >>> make_covariates(np.array(["lung", "skin"])).columns["z0"].tolist()
        ['lung', 'skin']
    """
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
    """Bring covariates into the order of X, by sample ids where both have them.

    Example:
        >>> X = pd.DataFrame({"TP53": [0, 1]}, index=["a", "b"])
        >>> tissue = pd.Series(["skin", "lung"], index=["b", "a"], name="tissue")
        >>> match_covariates(X, tissue).columns["tissue"].tolist()
        ['lung', 'skin']
    """
    table = make_covariates(values)
    rows = len(X) if hasattr(X, "__len__") else table.rows
    index = X.index if isinstance(X, (pd.DataFrame, pd.Series)) else pd.RangeIndex(rows)
    if _is_default(index) or table.samples is None:
        if table.rows != rows:
            raise InputError(
                f"covariates must have as many rows as X, but have {table.rows} and X has {rows}; "
                f"give each row of X its own"
            )
        return CovariateTable(table.columns)
    return table.find([str(name).strip() for name in index])


def _read_text(content: bytes, suffix: str) -> pd.DataFrame:
    """Read all cells as text."""
    text = content.decode("utf-8-sig")
    separator = {".csv": ",", ".tsv": "\t"}.get(suffix) or find_separator(text)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    if not rows:
        raise ValueError("it is empty")
    width = len(rows[0])
    wrong = next((n for n, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        raise ValueError(f"row {wrong + 1} has {len(rows[wrong])} fields instead of {width}")
    rows = [[unguard_formula(cell.strip()) for cell in row] for row in rows]
    cells = np.array(rows[1:], dtype=object).reshape(len(rows) - 1, width)
    return pd.DataFrame(cells, columns=pd.Index(rows[0], dtype=object))


def _convert(frame: pd.DataFrame, source: str) -> CovariateTable:
    names = [str(name).strip() for name in frame.columns]
    samples, first = _find_samples(frame, names)
    names = names[first:]
    if not names or not len(frame):
        what = "a column beside the sample ids" if len(frame) else "a row for each sample"
        raise InputError(f"{source} must have {what}, but there is none; add it")
    repeated = [*find_repeated(names), *(name for name in names if not name)]
    if repeated:
        raise InputError(
            f"{source} must have a name of its own for each column, but {quote_some(repeated)} is "
            f"empty or there twice; rename or remove it"
        )
    twice = find_repeated(samples or ())
    if twice:
        raise InputError(
            f"{source} must have each sample once, but repeats the sample id {quote_some(twice)}; "
            f"keep one row of each"
        )
    check_names(names, source, "column")
    check_names(samples or (), source, "sample")
    columns = {
        name: _convert_column(frame.iloc[:, first + number], name, samples, source)
        for number, name in enumerate(names)
    }
    return CovariateTable(columns, samples)


def _find_samples(frame: pd.DataFrame, names: list[str]) -> tuple[tuple[str, ...] | None, int]:
    """The sample ids, and how many columns they take."""
    if not _is_default(frame.index):
        return tuple(str(name).strip() for name in frame.index), 0
    if len(names) > 1:
        cells = [str(cell).strip() for cell in frame.iloc[:, 0]]
        is_text = not any(parse_cell(cell) is not None for cell in cells)
        if is_id_header(names[0]) or (is_text and len(set(cells)) == len(cells) > 1):
            return tuple(cells), 1
    return None, 0


def _is_default(index: pd.Index) -> bool:
    """Whether an index is 0, 1, 2 and so on, as pandas makes it where nobody gave one."""
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))


def _convert_column(
    column: pd.Series, name: str, samples: tuple[str, ...] | None, source: str
) -> np.ndarray:
    """Numbers where each cell is one or missing; pandas' categories are always text."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        cells = ["" if pd.isna(cell) else str(cell).strip() for cell in column]
        cells = ["" if np.isnan(WORDS.get(cell.lower(), 0.0)) else cell for cell in cells]
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
