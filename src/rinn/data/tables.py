"""Read one table, from a file or from memory, and check its names and numbers."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from rinn.data.text import (
    Cells,
    Lines,
    check_names,
    check_unique,
    find_separator,
    is_all_text,
    is_id_header,
    parse_cell,
    read_delimited,
    read_name,
    read_records,
    split_rows,
)
from rinn.errors import InputError, name_row, quote, quote_some, reject_text
from rinn.files import check_file, check_memory, import_extra, read_file, unpack_gzip, within_memory

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": None}  # None: that of the first line
TEXT_SUFFIXES = tuple(SEPARATORS)
NARROW = 10_000_000  # cells


@dataclass(frozen=True)
class Table:
    """One checked table: `values` is [sample, column], float64, finite, or NaN where allowed.

    `samples` holds the sample ids, or is None where the table had none; `path` is None for a
    table from memory. Column names and sample ids are each unique.
    """

    values: np.ndarray
    columns: tuple[str, ...]
    samples: tuple[str, ...] | None = None
    path: Path | None = None

    def take(self, rows: Sequence[int]) -> Table:
        """The table with these rows, in their order."""
        samples = self.samples and tuple(self.samples[row] for row in rows)
        return replace(self, values=np.take(self.values, rows, axis=0), samples=samples)


def load_table(path: str | os.PathLike[str], label: str, *, missing: bool = False) -> Table:
    """Read one table from a file; its suffix gives the format.

    `.csv` is separated by commas, `.tsv` by tabs, `.txt` by whichever of tab, comma and semicolon
    its first line shows; each may end in `.gz`. `.parquet` takes its sample ids from the index or
    from a first column of text. `.npz` holds a 2-D array, alone or called `values`, and optionally
    the text arrays `columns` and `samples`.
    """
    path = Path(path)
    return check_cells(read_cells(path, label), f"{label} ({path})", path, missing=missing)


def read_cells(path: str | os.PathLike[str], label: str) -> Cells:
    """Read one table from a file as `load_table` does, but leave names and numbers unchecked."""
    path = Path(path)
    source = f"{label} ({path})"
    with within_memory(source):
        content, suffix = read_content(path, source, (*TEXT_SUFFIXES, ".parquet", ".npz"))
        if not content:
            raise InputError(f"{source} must hold a table, but the file is empty; export it again")
        if suffix == ".parquet":
            return convert_frame(read_parquet(content, source), source, label.lower())
        if suffix == ".npz":
            return _read_npz(content, source, label.lower())
        text, separator = _decode(content, suffix, source)
        return read_delimited(text, separator, source, label.lower())


def read_content(path: Path, source: str, suffixes: Collection[str]) -> tuple[bytes, str]:
    """Read a file whose name ends in one of the suffixes, text also with .gz; return both."""
    if os.path.exists(path):  # the shell's <(command) is a pipe with a number for its name
        check_file(path, source)
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix or name.removesuffix(".gz")
    if suffix not in suffixes or (name.endswith(".gz") and suffix not in SEPARATORS):
        raise InputError(
            f"{source} must be a file that ends in one of {', '.join(suffixes)} (the first three "
            f"also with .gz), but it is called {quote(path.name)}; save it as .csv"
        )
    content = read_file(path, source)
    return (unpack_gzip(content, source) if name.endswith(".gz") else content), suffix


def read_text_frame(content: bytes, suffix: str, source: str) -> pd.DataFrame:
    """All cells of a table with a header as text, without space around them."""
    text, separator = _decode(content, suffix, source)
    rows = [list(map(read_name, row)) for _, row in split_rows(text, separator, source)]
    if not rows:
        raise InputError(f"{source} must hold a table, but the file is empty; export it again")
    cells = np.array(rows[1:], dtype=object).reshape(len(rows) - 1, len(rows[0]))
    return pd.DataFrame(cells, columns=pd.Index(rows[0], dtype=object))


def read_frame(lines: Lines, *, comments: bool = False, pad: bool = False) -> pd.DataFrame:
    """As `read_text_frame`, line by line; `pad` allows rows that are short or end in blanks."""
    records = read_records(lines, comments=comments)
    header = list(map(read_name, next(records, [])))
    while pad and header and not header[-1]:
        header.pop()
    if not header:
        raise InputError(f"{lines.source} must hold a table, but is empty; export it again")
    rows = []
    for record in records:
        row = list(map(read_name, record))
        if pad:
            row = [*row[: len(header)], *filter(None, row[len(header) :])]
            row += [""] * (len(header) - len(row))
        if len(row) != len(header):
            must = f"have {len(header)} fields in each line"
            raise lines.reject(must, f"has {len(record)}", "correct that line")
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.Index(header, dtype=object), dtype=object)


def read_parquet(content: bytes, source: str) -> pd.DataFrame:
    """Read a Parquet table."""
    pa = import_extra("pyarrow", "parquet", source)
    parquet = import_extra("pyarrow.parquet", "parquet", source)
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        check_memory(8 * file.metadata.num_rows * file.metadata.num_columns, source, 2)
        return file.read(use_threads=False).to_pandas()
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{source} must be a Parquet table, but it cannot be read ({reason}); write it again"
        ) from error


def make_table(values: Any, label: str, *, missing: bool = False) -> Table:
    """Make a table from a DataFrame or a 2-D array, which stay as they are.

    The index of a DataFrame gives the sample ids, unless it is pandas' default 0, 1, 2 and so on.
    """
    if isinstance(values, pd.DataFrame):
        cells = convert_frame(values, label, label.lower())
    elif sparse.issparse(values) or isinstance(values, np.ndarray):
        dense = _as_dense(values, label) if sparse.issparse(values) else values
        cells = convert_array(dense, label, label.lower())
    else:
        raise InputError(
            f"{label} must be a DataFrame, a 2-D array or a sparse matrix, but it is a "
            f"{type(values).__name__}; wrap it in pandas.DataFrame"
        )
    return check_cells(cells, label, missing=missing)


def convert_array(values: np.ndarray, source: str, prefix: str) -> Cells:
    """Copy a 2-D array of numbers; its columns are called `{prefix}0`, `{prefix}1`, and so on."""
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
    dtype = _choose_dtype([values.dtype], values.size)
    return Cells(np.array(values, dtype=dtype, order="C"), names, None)


def _choose_dtype(dtypes: Iterable[Any], cells: int) -> Any:
    """Large tables of one byte a cell stay as they are; all others become float64."""
    is_narrow = cells >= NARROW and all(dtype in (np.bool_, np.uint8) for dtype in dtypes)
    return np.uint8 if is_narrow else np.float64


def _as_dense(values: Any, source: str) -> np.ndarray:
    """A sparse matrix as an array; one of 0 and 1 takes one byte a cell."""
    values = values.tocsr()
    dtype = np.uint8 if np.isin(values.data, (0, 1)).all() else values.dtype
    check_memory(values.shape[0] * values.shape[1] * np.dtype(dtype).itemsize, source, 2)
    return np.asarray(values.astype(dtype).toarray())


def convert_frame(frame: pd.DataFrame, source: str, prefix: str) -> Cells:
    """Copy a DataFrame; sample ids are its index, or a first column of ids or of text."""
    ids, frame = _split_ids(frame)
    samples = None if ids is None else tuple(_show(name) for name in ids)
    names = tuple(_show(name) for name in frame.columns)
    if isinstance(frame.columns, pd.RangeIndex):
        names = tuple(f"{prefix}{number}" for number in range(len(names)))
    values = np.empty(frame.shape, _choose_dtype(set(frame.dtypes), frame.size))
    for number, name in enumerate(names):
        values[:, number] = _convert_column(frame.iloc[:, number], name, samples, source)
    return Cells(values, names, samples)


def check_numbers(frame: pd.DataFrame, source: str) -> None:
    """Raise InputError that names a column which holds text."""
    for number, name in enumerate(frame.columns):
        if not is_numeric(frame.iloc[:, number]):
            _convert_column(frame.iloc[:, number], _show(name), None, source)


def is_default(index: pd.Index) -> bool:
    """Whether an index is 0, 1, 2 and so on, as pandas makes it where none is given."""
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))


def is_numeric(column: pd.Series) -> bool:
    """Whether a column has real numbers or booleans, not text."""
    types = pd.api.types
    return types.is_numeric_dtype(column) and not types.is_complex_dtype(column)


def check_cells(
    cells: Cells, source: str, path: Path | None = None, *, missing: bool = False
) -> Table:
    """Refuse names that are empty or repeated, and values that are missing or infinite."""
    if not cells.columns:
        raise InputError(
            f"{source} must have a column of numbers, but it has none besides the sample ids; "
            f"check that .csv fields are separated by commas and .tsv fields by tabs"
        )
    if not len(cells.values):
        raise InputError(f"{source} must have a row for each sample, but it has no rows; add them")
    for names, what in ((cells.columns, "column"), (cells.samples or (), "sample")):
        check_unique(names, source, what)
        check_names(names, source, what)
    wrong = np.isinf(cells.values) if missing else ~np.isfinite(cells.values)
    if wrong.any():
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        kind = "missing" if np.isnan(cells.values)[row, column] else "infinite"
        raise InputError(
            f"{source} must have no {'' if missing else 'missing or '}infinite values, but column "
            f"{quote(cells.columns[column])} is {kind} in "
            f"{name_row(row, cells.lines, cells.samples)}, the first of {int(wrong.sum())} in all; "
            f"fill in such values, or remove their rows or columns"
        )
    return Table(cells.values, cells.columns, cells.samples, path)


def _decode(content: bytes, suffix: str, source: str) -> tuple[str, str]:
    """The text of a file, and its separator."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source} must be UTF-8 text, but byte {error.start + 1} is not; save it again as "
            f"UTF-8"
        ) from error
    return text, SEPARATORS[suffix] or find_separator(text, source)


def _read_npz(content: bytes, source: str, prefix: str) -> Cells:
    arrays = _unpack_npz(content, source)
    if {"format", "shape", "data"} <= arrays.keys():  # as scipy.sparse.save_npz writes it
        matrix = _as_dense(sparse.load_npz(io.BytesIO(content)), source)
        return convert_array(matrix, source, prefix)
    names = [name for name in arrays if name not in ("columns", "samples")]
    if "values" not in names and len(names) != 1:
        raise InputError(
            f"{source} must have an array called 'values', but has {quote_some(names) or 'none'}; "
            f"save it with np.savez(path, values=..., columns=..., samples=...)"
        )
    values = arrays["values" if "values" in names else names[0]]
    cells, labels = convert_array(values, source, prefix), {}
    for key, size in zip(("samples", "columns"), values.shape, strict=True):
        texts = arrays.get(key, np.empty(size, str))
        if texts.shape != (size,):
            raise InputError(
                f"{source} must have {size} names in its array '{key}', but that has shape "
                f"{texts.shape}; save one name for each of its {key}"
            )
        if texts.dtype.kind == "S":
            texts = np.char.decode(texts, "utf-8", "replace")
        labels[key] = tuple(str(name).strip() for name in texts) if key in arrays else None
    return Cells(cells.values, labels["columns"] or cells.columns, labels["samples"])


def _unpack_npz(content: bytes, source: str) -> dict[str, np.ndarray]:
    """Read all arrays; those that would run code when read are refused."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise InputError(
            f"{source} must be an NPZ file, but it is not a zip file, or a damaged one; save it "
            f"again with np.savez"
        )
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            check_memory(sum(part.file_size for part in archive.zip.infolist()), source, 2)
            arrays = {name: archive[name] for name in archive.files}
    except InputError:
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{source} must hold arrays of numbers and text, but one cannot be read ({error}); "
            f"save names as np.array(names, dtype=str)"
        ) from error
    strange = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if strange:
        raise InputError(
            f"{source} must hold arrays only, but {quote_some(strange)} is not one; save it again "
            f"with np.savez"
        )
    return arrays


def _split_ids(frame: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    """Separate the sample ids: the index, else a first column of ids or of text."""
    if not is_default(frame.index):
        return frame.index, frame
    if not frame.shape[1] or isinstance(frame.columns, pd.RangeIndex):
        return None, frame
    first = frame.iloc[:, 0]
    has_ids = is_id_header(_show(frame.columns[0])) or (
        not pd.api.types.is_numeric_dtype(first) and is_all_text(map(_show, first))
    )
    return (first, frame.iloc[:, 1:]) if has_ids else (None, frame)


def _show(name: object) -> str:
    """A name as text; one that is missing becomes empty."""
    is_missing = name is None or name is pd.NA or (isinstance(name, float) and np.isnan(name))
    return "" if is_missing else str(name).strip()


def _convert_column(
    column: pd.Series, name: str, samples: tuple[str, ...] | None, source: str
) -> Any:
    """Turn one column into numbers: directly, or cell by cell where it holds text."""
    if is_numeric(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    cells = [_show(cell) for cell in column]
    numbers = [parse_cell(cell) for cell in cells]
    if None in numbers:
        row = numbers.index(None)
        raise reject_text(source, name, name_row(row, None, samples), cells[row])
    return numbers
