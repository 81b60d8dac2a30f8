"""Turn DataFrames and arrays into the cells of a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.cells import Cells, check_names, is_all_text, is_id_header, parse_cell
from rinn.errors import InputError, find_repeated, name_row, quote, quote_some, reject_text


def convert_array(values: np.ndarray, source: str, prefix: str) -> Cells:
    """Copy a 2-D array of numbers; its columns are called `{prefix}0`, `{prefix}1`, and so on.

    Example:
        >>> convert_array(np.eye(2), "X", "x").columns
        ('x0', 'x1')
    """
    if values.ndim != 2:
        raise InputError(
            f"{source} must be a 2-D array [sample, column], but it has shape {values.shape}; "
            f"reshape it, with reshape(-1, 1) for a single column"
        )
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"{source} must be an array of numbers, but its dtype is {values.dtype}; convert it "
            f"with astype(float)"
        )
    names = tuple(f"{prefix}{number}" for number in range(values.shape[1]))
    return Cells(np.array(values, dtype=np.float64, order="C"), names, None)


def convert_frame(frame: pd.DataFrame, source: str, prefix: str) -> Cells:
    """Copy a DataFrame; sample ids are its index, or a first column of ids or of text.

    The index counts only where it is not pandas' default 0, 1, 2 and so on.

    Example:
        >>> cells = convert_frame(pd.DataFrame({"TP53": [0, 1]}, index=["a", "b"]), "X", "x")
        >>> cells.columns, cells.samples
        (('TP53',), ('a', 'b'))
    """
    ids, frame = _split_ids(frame)
    samples = None if ids is None else tuple(_show(name) for name in ids)
    names = tuple(_show(name) for name in frame.columns)
    if isinstance(frame.columns, pd.RangeIndex):
        names = tuple(f"{prefix}{number}" for number in range(len(names)))
    values = np.empty(frame.shape)
    for number, name in enumerate(names):
        values[:, number] = _convert_column(frame.iloc[:, number], name, samples, source)
    return Cells(values, names, samples)


def match_rows(X: Any, Y: Any) -> tuple[Any, Any]:
    """Bring X and Y into the same order where both have sample ids and these differ."""
    if not (_has_ids(X) and _has_ids(Y)) or X.index.equals(Y.index):
        return X, Y
    for label, table in (("X", X), ("Y", Y)):
        if table.index.has_duplicates:
            twice = [str(name) for name in table.index[table.index.duplicated()]]
            raise InputError(
                f"{label} must have each sample once where X and Y have different indexes, but "
                f"repeats {quote_some(twice)}; keep one row of each, or give both the same index"
            )
    shared = X.index[X.index.isin(Y.index)]
    if shared.empty:
        raise InputError(
            f"X and Y must share sample ids, but no index entry of X (such as "
            f"{quote(str(X.index[0]))}) is in Y (such as {quote(str(Y.index[0]))}); give both the "
            f"same index, or none with reset_index(drop=True)"
        )
    alone = len(X) + len(Y) - 2 * len(shared)
    if alone:
        warnings.warn(
            f"{alone} rows of X and Y are left out, as their sample ids are in one of them only; "
            f"{len(shared)} samples are used",
            stacklevel=4,
        )
    return X.loc[shared], Y.loc[shared]


def find_names(table: Any, label: str) -> tuple[str, ...] | None:
    """The names that a table gives its columns, fit to be nodes of a graph; None without."""
    is_series = isinstance(table, pd.Series)
    names: list[Any] = [table.name] if is_series else list(getattr(table, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        return None
    repeated = find_repeated(names)
    if repeated:
        raise InputError(
            f"{label} must have unique column names, but repeats {quote_some(repeated)}; rename "
            f"or remove the copies"
        )
    check_names(names, label, "column")
    if len(names) > 1 and is_id_header(names[0]):
        raise InputError(
            f"{label} must hold nothing but {'inputs' if label == 'X' else 'outputs'}, but its "
            f"first column {quote(names[0])} seems to hold sample ids; make it the index with "
            f"set_index({names[0]!r})"
        )
    return tuple(names)


def _split_ids(frame: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    """Find the sample ids: the index, else a first column of ids or of text."""
    if not _is_default(frame.index):
        return frame.index, frame
    if not frame.shape[1] or isinstance(frame.columns, pd.RangeIndex):
        return None, frame
    first = frame.iloc[:, 0]
    has_ids = is_id_header(_show(frame.columns[0])) or (
        not pd.api.types.is_numeric_dtype(first) and is_all_text(map(_show, first))
    )
    return (first, frame.iloc[:, 1:]) if has_ids else (None, frame)


def _has_ids(table: Any) -> bool:
    if not isinstance(table, (pd.DataFrame, pd.Series)) or table.empty:
        return False
    return not _is_default(table.index)


def _is_default(index: pd.Index) -> bool:
    """Whether an index is 0, 1, 2 and so on, as pandas makes it where nobody gave one."""
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))


def _show(name: object) -> str:
    """Write a name as text; one that is missing becomes empty."""
    is_missing = name is None or name is pd.NA or (isinstance(name, float) and np.isnan(name))
    return "" if is_missing else str(name).strip()


def _convert_column(
    column: pd.Series, name: str, samples: tuple[str, ...] | None, source: str
) -> Any:
    """Turn one column into numbers: directly, or cell by cell where it holds text."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = [_show(cell) for cell in column]
    numbers = [parse_cell(cell) for cell in cells]
    if None in numbers:
        row = numbers.index(None)
        raise reject_text(source, name, name_row(row, None, samples), cells[row])
    return numbers
