"""Plain tables: CSV, TSV, Parquet and NPZ, also one table with clinical columns."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal, Unpack

import numpy as np

from rinn.config import check_choice
from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.tables import TEXT_SUFFIXES, read_cells, read_frame
from rinn.data.text import Cells, Lines, check_unique, parse_cell, read_records
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.matrices import GeneTable, Matrix, make_gene_table
from rinn.genomics.readers.options import Options, fill_options


def load_table(
    path: str | os.PathLike[str],
    *,
    genes_in_rows: bool = False,
    columns: Collection[str] | None = None,
    mutation_suffix: str | None = None,
    text: Literal["refuse", "drop"] = "refuse",
    **options: Unpack[Options],
) -> GeneTable:
    """Read a plain table: .csv, .tsv, .txt (each also .gz), .parquet or .npz.

    Sample ids are the first column, as in `rinn.data.tables.load_table`; unlike there, cells may be
    missing and columns of the same gene are merged. Columns that end in `mutation_suffix` hold
    mutations as text, such as R175H, or 0. No logarithms are taken by default.
    """
    filled = fill_options(options, log=False, kind="mutation" if mutation_suffix else None)
    entries: list[LogEntry] = []
    if columns is None and mutation_suffix is None and text == "refuse":
        cells = read_cells(path, "table")
    else:
        check_choice("text", text, ("refuse", "drop"))
        cells, entries = _read_columns(Path(path), columns, mutation_suffix, text)
    source = f"table ({path})"
    if cells.samples is None:
        raise InputError(
            f"{source} must have sample ids in its first column, but has none; call that column "
            f"'sample'"
        )
    rows, names, values = cells.samples, cells.columns, cells.values.T
    if genes_in_rows:
        reason = "it has genes in rows and samples in columns: transposed"
        entries.append(LogEntry("noted", "files", 1, reason))
        rows, names, values = names, rows, values.T
    check_unique(rows, source, "sample")
    if not values.size:
        raise InputError(f"{source} must have columns and rows, but has none; check its separator")
    values = values.astype(filled["dtype"], copy=False)
    matrix = Matrix(list(names), list(rows), values, entries)
    return make_gene_table(matrix, ReadLog(str(path), "table"), filled)


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
    """Read the chosen columns of a text; the first column holds the sample ids."""
    if not path.name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES):
        raise InputError(
            f"table ({path}) must end in {', '.join(TEXT_SUFFIXES)} (or with .gz) where only some "
            f"columns are read, but is called {quote(path.name)}; save it as .csv"
        )
    lines = Lines(path, "table")
    frame = read_frame(lines)
    ids, *header = frame.columns
    if missing := sorted(set(columns or ()) - {ids, *header}):
        raise InputError(
            f"columns must be in the header of {lines.source}, but {quote_some(missing)} is not; "
            f"check the spelling"
        )
    parsed = {
        column: [
            _read_change(cell) if suffix else parse_cell(cell) for cell in frame.iloc[:, column]
        ]
        for column, name in enumerate(header, 1)
        if (columns is None or name in columns) and name.endswith(suffix or "")
    }
    if not parsed:
        raise InputError(
            f"{lines.source} must have a column to read, but none is asked for or ends in "
            f"{suffix!r}; check the header"
        )
    texts = [frame.columns[column] for column, cells in parsed.items() if None in cells]
    if texts and text == "refuse":
        raise InputError(
            f"{lines.source} must hold only numbers, but {quote_some(texts)} "
            f"hold text; pass text='drop' to leave these columns out"
        )
    kept = {column: cells for column, cells in parsed.items() if None not in cells}
    values = np.array(list(kept.values()), dtype=np.float64).reshape(len(kept), -1).T
    names = tuple(frame.columns[column].removesuffix(suffix or "") for column in kept)
    others = [name for column, name in enumerate(header, 1) if column not in parsed]
    entries = log_names("dropped", "columns", "columns that were not asked for", others)
    entries += log_names("dropped", "columns", "they hold text", texts)
    return Cells(values, names, tuple(frame.iloc[:, 0])), entries + lines.entries


def _read_change(cell: str) -> float:
    """1 where a cell names a mutation or several, 0 where it says that there is none."""
    number = parse_cell(cell)
    if number is not None and np.isnan(number):
        return float("nan")
    return 0.0 if cell.lower() in ("0", "0.0", "wt", "false") else 1.0
