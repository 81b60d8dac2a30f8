"""Turn DataFrames and arrays into the cells of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rinn.cells import Cells, is_all_text, is_id_header, name_place, parse_cell, reject_text
from rinn.errors import InputError


def convert_array(values: np.ndarray, source: str, prefix: str) -> Cells:
    """Copy a 2-D array of numbers; its columns are called `{prefix}0`, `{prefix}1`, and so on.

    Args:
        values: [sample, column].
        source: how errors call the table.
        prefix: how the columns are called, before their number.

    Returns:
        The numbers, without sample ids.

    Raises:
        InputError: the array is not 2-D, or does not hold numbers.

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

    Args:
        frame: one row per sample.
        source: how errors call the table.
        prefix: how columns are called, before their number, where pandas only numbered them.

    Returns:
        The names and the numbers, not yet checked for missing values or repeated names.

    Raises:
        InputError: a cell is text.

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


def _split_ids(frame: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    """Find the sample ids: the index, else a first column of ids or of text."""
    index = frame.index
    if not (isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(frame)))):
        return index, frame
    if not frame.shape[1] or isinstance(frame.columns, pd.RangeIndex):
        return None, frame
    first = frame.iloc[:, 0]
    has_ids = is_id_header(_show(frame.columns[0])) or (
        not pd.api.types.is_numeric_dtype(first) and is_all_text(map(_show, first))
    )
    return (first, frame.iloc[:, 1:]) if has_ids else (None, frame)


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
        raise reject_text(source, name, name_place(row, None, samples), cells[row])
    return numbers
