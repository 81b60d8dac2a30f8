"""Plain tables: CSV, TSV, Parquet and NPZ, also one table with clinical columns."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import numpy as np

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.tables import TEXT_SUFFIXES, read_cells
from rinn.data.text import Cells, Lines, check_unique, parse_cell, read_name, read_records
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.matrices import (
    SCALES,
    GeneTable,
    Kind,
    Matrix,
    Options,
    check_finite,
    guess_kind,
    make_gene_table,
    mark_sequenced,
)
from rinn.genomics.symbols import SymbolRules

_NO_MUTATION = frozenset({"0", "0.0", "wt", "false"})


def load_table(
    path: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    genes_in_rows: bool = False,
    columns: Collection[str] | None = None,
    mutation_suffix: str | None = None,
    text: Literal["refuse", "drop"] = "refuse",
    log: bool | None = False,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    dtype: str = "float64",
) -> GeneTable:
    """Read a plain table: .csv, .tsv, .txt (each also .gz), .parquet or .npz.

    Sample ids are the first column, as in `rinn.data.tables.load_table`; unlike there, cells may be
    missing and columns of the same gene are merged. Columns that end in `mutation_suffix` hold
    mutations as text, such as R175H, or 0.
    """
    options = Options(symbols, duplicates, aliquots, log, dtype)
    entries: list[LogEntry] = []
    if columns is None and mutation_suffix is None and text == "refuse":
        cells = read_cells(path, "table")
    else:
        cells, entries = _read_columns(Path(path), columns, mutation_suffix, text)
    source = f"table ({path})"
    if cells.samples is None:
        raise InputError(
            f"{source} must have sample ids in its first column, but has none; call that column "
            f"'sample'"
        )
    if genes_in_rows:
        reason = "it has genes in rows and samples in columns: transposed"
        entries.append(LogEntry("noted", "files", 1, reason))
    rows, names = (
        (cells.columns, cells.samples) if genes_in_rows else (cells.samples, cells.columns)
    )
    check_unique(rows, source, "sample")
    values = cells.values if genes_in_rows else cells.values.T
    if not values.size:
        raise InputError(f"{source} must have columns and rows, but has none; check its separator")
    check_finite(values, source)
    guessed: Kind = kind or ("mutation" if mutation_suffix else guess_kind(values))
    scale = "as written" if kind else SCALES.get(guessed, "as written")
    matrix = Matrix(list(names), list(rows), values.astype(dtype, copy=False), entries)
    return mark_sequenced(
        make_gene_table(matrix, guessed, ReadLog(str(path), "table"), options, scale)
    )


def has_samples_in_columns(path: Path, samples: Collection[str]) -> bool:
    """Whether most columns of a text table are TCGA barcodes or given samples."""
    if not path.name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES):
        return False
    ids = {name for each in samples for name in (each, parse_barcode(each).patient)}
    header = [parse_barcode(name.strip()) for name in next(read_records(Lines(path, "table")), [])]
    is_sample = [
        each.patient.startswith("TCGA-") or not ids.isdisjoint((each.sample, each.patient))
        for each in header[1:]
    ]
    return 2 * sum(is_sample) > len(is_sample)


def _read_columns(
    path: Path, columns: Collection[str] | None, suffix: str | None, text: str
) -> tuple[Cells, list[LogEntry]]:
    """Read the chosen columns of a text, line by line."""
    if not path.name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES):
        raise InputError(
            f"table ({path}) must end in {', '.join(TEXT_SUFFIXES)} (or with .gz) where only some "
            f"columns are read, but is called {quote(path.name)}; save it as .csv"
        )
    if text not in ("refuse", "drop"):
        raise InputError(f"text must be 'refuse' or 'drop', got {text!r}")
    lines = Lines(path, "table")
    records = read_records(lines)
    header = list(map(read_name, next(records, [])))
    if not header:
        raise InputError(f"{lines.source} must hold a table, but is empty; export it again")
    chosen = _choose(header, columns, suffix, lines)
    ids: list[str] = []
    parsed: dict[int, list[float | None]] = {column: [] for column in chosen}
    for record in records:
        if len(record) != len(header):
            raise lines.reject(
                f"have {len(header)} fields in each line", f"has {len(record)}", "correct that line"
            )
        ids.append(read_name(record[0]))
        for column, numbers in parsed.items():
            cell = record[column].strip()
            numbers.append(_read_change(cell) if suffix else parse_cell(cell))
    texts = [header[column] for column in chosen if None in parsed[column]]
    if texts and text == "refuse":
        raise InputError(
            f"{lines.source} must hold only numbers, but {quote_some(texts)} "
            f"hold text; pass text='drop' to leave these columns out"
        )
    kept = [column for column in chosen if None not in parsed[column]]
    values = np.array([parsed[column] for column in kept], dtype=np.float64)
    values = values.reshape(len(kept), -1).T
    names = tuple(header[column].removesuffix(suffix or "") for column in kept)
    others = [name for column, name in enumerate(header) if column and column not in parsed]
    entries = log_names("dropped", "columns", "columns that were not asked for", others)
    entries += log_names("dropped", "columns", "they hold text", texts)
    return Cells(values, names, tuple(ids)), entries + lines.entries


def _choose(
    header: list[str], columns: Collection[str] | None, suffix: str | None, lines: Lines
) -> list[int]:
    """The columns to read; the first column holds the sample ids."""
    wanted = None if columns is None else set(columns)
    missing = [] if wanted is None else sorted(wanted - set(header))
    if missing:
        raise InputError(
            f"columns must be in the header of {lines.source}, but {quote_some(missing)} is not; "
            f"check the spelling"
        )
    chosen = [
        column
        for column, name in enumerate(header)
        if column > 0 and (wanted is None or name in wanted) and name.endswith(suffix or "")
    ]
    if not chosen:
        raise InputError(
            f"{lines.source} must have a column to read, but none is asked for or ends in "
            f"{suffix!r}; check the header"
        )
    return chosen


def _read_change(cell: str) -> float:
    """1 where a cell names a mutation or several, 0 where it says that there is none."""
    number = parse_cell(cell)
    if number is not None and np.isnan(number):
        return float("nan")
    return 0.0 if cell.lower() in _NO_MUTATION else 1.0
