"""Read one table, from a file or from memory, and check its names and numbers."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from rinn.data.cells import Cells, check_names
from rinn.data.frames import convert_array, convert_frame
from rinn.data.text import find_separator, read_delimited
from rinn.errors import InputError, find_repeated, name_row, quote, quote_some
from rinn.files import check_file, check_memory, read_file, unpack_gzip, within_memory


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


def load_table(path: str | os.PathLike[str], label: str, *, missing: bool = False) -> Table:
    r"""Read one table from a file; its suffix says how.

    `.csv` is separated by commas, `.tsv` by tabs, `.txt` by whichever of tab, comma and semicolon
    its first line shows; each may end in `.gz`. `.parquet` takes its sample ids from the index or
    from a first column of text. `.npz` holds a 2-D array, alone or called `values`, and if you
    like the text arrays `columns` and `samples`.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mutation.csv"
        >>> _ = path.write_text("sample,TP53,EGFR\na,0,1\nb,1,0\n")
        >>> table = load_table(path, "X")
        >>> table.columns, table.samples, table.values.shape
        (('TP53', 'EGFR'), ('a', 'b'), (2, 2))
    """
    path = Path(path)
    return check_cells(read_cells(path, label), f"{label} ({path})", path, missing=missing)


def read_cells(path: str | os.PathLike[str], label: str) -> Cells:
    r"""Read one table from a file as `load_table` does, but leave its names and numbers unchecked.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mutation.csv"
        >>> _ = path.write_text("sample,TP53,TP53\na,0,NA\n")
        >>> read_cells(path, "X").columns
        ('TP53', 'TP53')
    """
    path = Path(path)
    source = f"{label} ({path})"
    if os.path.exists(path):  # the shell's <(command) is a pipe with a number for its name
        check_file(path, source)
    name = path.name.lower()
    suffix = next((known for known in READERS if name.removesuffix(".gz").endswith(known)), None)
    if suffix is None or (name.endswith(".gz") and suffix not in _TEXT_SUFFIXES):
        raise InputError(
            f"{source} must be a file that ends in one of {', '.join(READERS)} (the first three "
            f"also with .gz), but it is called {quote(path.name)}; save it as .csv"
        )
    with within_memory(source):
        content = read_file(path, source)
        if name.endswith(".gz"):
            content = unpack_gzip(content, source)
        if not content:
            raise InputError(f"{source} must hold a table, but the file is empty; export it again")
        return READERS[suffix](content, source, label.lower())


def make_table(values: pd.DataFrame | np.ndarray, label: str, *, missing: bool = False) -> Table:
    """Make a table from a DataFrame or a 2-D array; what it is made from stays as it is.

    The index of a DataFrame gives the sample ids, unless it is pandas' default 0, 1, 2 and so on.

    Example:
        >>> make_table(np.eye(3), "Y").columns
        ('y0', 'y1', 'y2')
    """
    prefix = label.lower()
    if isinstance(values, pd.DataFrame):
        return check_cells(convert_frame(values, label, prefix), label, missing=missing)
    if not isinstance(values, np.ndarray):
        raise InputError(
            f"{label} must be a DataFrame or a 2-D array, but it is a {type(values).__name__}; "
            f"wrap it in pandas.DataFrame"
        )
    return check_cells(convert_array(values, label, prefix), label, missing=missing)


def check_cells(
    cells: Cells, source: str, path: Path | None = None, *, missing: bool = False
) -> Table:
    """Refuse names that are empty or repeated, and values that are missing or infinite.

    Example:
        >>> check_cells(Cells(np.eye(1), ("TP53",), ("a",)), "X").samples
        ('a',)
    """
    if not cells.columns:
        raise InputError(
            f"{source} must have a column of numbers, but it has none beside the sample ids; "
            f"check that .csv fields are separated by commas and .tsv fields by tabs"
        )
    if not len(cells.values):
        raise InputError(f"{source} must have a row for each sample, but it has no rows; add them")
    if "" in cells.columns:
        raise InputError(
            f"{source} must have a name for each column, but number "
            f"{cells.columns.index('') + 1} of {len(cells.columns)} has none; name or remove it"
        )
    repeated = find_repeated(cells.columns)
    if repeated:
        raise InputError(
            f"{source} must have unique column names, but repeats {quote_some(repeated)}; "
            f"rename or remove the copies"
        )
    check_names(cells.columns, source, "column")
    _check_samples(cells, source)
    _check_finite(cells, source, missing)
    return Table(cells.values, cells.columns, cells.samples, path)


def _check_samples(cells: Cells, source: str) -> None:
    """Refuse sample ids that are empty or repeated."""
    if cells.samples is None:
        return
    if "" in cells.samples:
        raise InputError(
            f"{source} must have a sample id in each row, but sample number "
            f"{cells.samples.index('') + 1} has none; give it an id or remove the row"
        )
    repeated = find_repeated(cells.samples)
    if repeated:
        raise InputError(
            f"{source} must have each sample once, but repeats the sample id "
            f"{quote_some(repeated)}; keep one row of each"
        )
    check_names(cells.samples, source, "sample")


def _check_finite(cells: Cells, source: str, missing: bool) -> None:
    """Refuse missing and infinite values: say where the first is, and how many there are."""
    wrong = np.isinf(cells.values) if missing else ~np.isfinite(cells.values)
    if not wrong.any():
        return
    row, column = (int(place) for place in np.argwhere(wrong)[0])
    kind = "missing" if np.isnan(cells.values)[row, column] else "infinite"
    raise InputError(
        f"{source} must have no {'' if missing else 'missing or '}infinite values, but column "
        f"{quote(cells.columns[column])} is {kind} in "
        f"{name_row(row, cells.lines, cells.samples)}, the first of {int(wrong.sum())} in all; "
        f"fill in such values, or remove their rows or columns"
    )


def read_parquet(content: bytes, source: str) -> pd.DataFrame:
    """Read a Parquet table.

    Example:
        >>> read_parquet(pd.DataFrame({"TP53": [0, 1]}).to_parquet(), "X")["TP53"].tolist()
        [0, 1]
    """
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


def _read_text(separator: str | None) -> Callable[[bytes, str, str], Cells]:
    """Make the reader for one separator; None to look at the first line."""

    def read(content: bytes, source: str, prefix: str) -> Cells:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source} must be UTF-8 text, but byte {error.start + 1} is not; save it again "
                f"as UTF-8"
            ) from error
        return read_delimited(text, separator or find_separator(text), source, prefix)

    return read


def _read_parquet(content: bytes, source: str, prefix: str) -> Cells:
    return convert_frame(read_parquet(content, source), source, prefix)


def _read_npz(content: bytes, source: str, prefix: str) -> Cells:
    arrays = _unpack_npz(content, source)
    names = [name for name in arrays if name not in ("columns", "samples")]
    if "values" not in names and len(names) != 1:
        raise InputError(
            f"{source} must have an array called 'values', but has {quote_some(names) or 'none'}; "
            f"save it with np.savez(path, values=..., columns=..., samples=...)"
        )
    values = arrays["values" if "values" in names else names[0]]
    cells = convert_array(values, source, prefix)
    columns = _read_names(arrays, "columns", values.shape[1], source)
    samples = _read_names(arrays, "samples", values.shape[0], source)
    return Cells(cells.values, columns or cells.columns, samples)


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
            f"{source} must hold arrays only, but {quote_some(strange)} is none; save it again "
            f"with np.savez"
        )
    return arrays


def _read_names(
    arrays: dict[str, np.ndarray], key: str, size: int, source: str
) -> tuple[str, ...] | None:
    """Read the column names or the sample ids beside an array, if there are any."""
    if key not in arrays:
        return None
    names = arrays[key]
    if names.shape != (size,):
        raise InputError(
            f"{source} must have {size} names in its array '{key}', but that has shape "
            f"{names.shape}; save one name for each of its {key}"
        )
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    return tuple(str(name).strip() for name in names)


_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
READERS: dict[str, Callable[[bytes, str, str], Cells]] = {
    ".csv": _read_text(","),
    ".tsv": _read_text("\t"),
    ".txt": _read_text(None),
    ".parquet": _read_parquet,
    ".npz": _read_npz,
}
