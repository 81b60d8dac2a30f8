"""Plain tables: CSV, TSV, Parquet and NPZ, and the one-table CSV with clinical columns."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import numpy as np

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.scaling import LARGEST
from rinn.data.tables import TEXT_SUFFIXES, read_cells
from rinn.data.text import Cells, Lines, parse_cell, read_name, read_records
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.matrices import (
    SCALES,
    GeneTable,
    Kind,
    Matrix,
    Options,
    find_endless,
    guess_kind,
    make_gene_table,
    mark_sequenced,
)
from rinn.genomics.symbols import SymbolRules, check_unique

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
    r"""Read a plain table: .csv, .tsv, .txt (each also .gz), .parquet or .npz.

    Sample ids are the first column, as in `rinn.data.tables.load_table`; unlike there, cells may be
    missing and columns of the same gene are merged.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "one.csv"
        >>> _ = path.write_text("patient_id,age,tp53_mut\n5,43.2,R175H\n6,50.1,0\n")
        >>> load_table(path, mutation_suffix="_mut").table["TP53"].to_dict()
        {'5': 1.0, '6': 0.0}
    """
    options = Options(symbols, duplicates, aliquots, log, dtype)
    entries: list[LogEntry] = []
    if columns is None and mutation_suffix is None and text == "refuse":
        cells = read_cells(path, "table")
    else:
        cells, entries = _read_some(Path(path), columns, mutation_suffix, text)
    source = f"table ({path})"
    if cells.samples is None:
        raise InputError(
            f"{source} must have sample ids in its first column, but has none; call that column "
            f"'sample'"
        )
    if genes_in_rows:
        reason = "it has genes in rows and samples in columns: turned"
        entries.append(LogEntry("noted", "files", 1, reason))
    rows, names = (
        (cells.columns, cells.samples) if genes_in_rows else (cells.samples, cells.columns)
    )
    check_unique(rows, source, "sample")
    values = cells.values if genes_in_rows else cells.values.T
    if not values.size:
        raise InputError(f"{source} must have columns and rows, but has none; check its separator")
    if find_endless(values) is not None:
        raise InputError(f"{source} must hold numbers up to {LARGEST:g}; write NA for larger ones")
    found = kind or ("mutation" if mutation_suffix else guess_kind(values))
    matrix = Matrix(list(names), list(rows), values.astype(dtype, copy=False), entries)
    scale = "as written" if kind else SCALES.get(found, "as written")
    reading = make_gene_table(matrix, found, ReadLog(str(path), "table"), options, scale)
    return mark_sequenced(reading)


def are_samples_above(path: Path, known: Collection[str]) -> bool:
    r"""Say whether a text table has samples in its columns: most are TCGA barcodes or known.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "expression.csv"
        >>> _ = path.write_text(",s1,s2\nTP53,0.5,1.5\n")
        >>> are_samples_above(path, ["s1", "s2"]), are_samples_above(path, ["s3"])
        (True, False)
    """
    if not path.name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES):
        return False
    ids = {name for each in known for name in (each, parse_barcode(each).patient)}
    header = [parse_barcode(name.strip()) for name in next(read_records(Lines(path, "table")), [])]
    found = [
        each.patient.startswith("TCGA-") or not ids.isdisjoint((each.sample, each.patient))
        for each in header[1:]
    ]
    return 2 * sum(found) > len(found)


def _read_some(
    path: Path, columns: Collection[str] | None, suffix: str | None, text: str
) -> tuple[Cells, list[LogEntry]]:
    """Read some columns of a delimited text, line by line."""
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
    places = _choose(header, columns, suffix, lines)
    ids: list[str] = []
    parsed: dict[int, list[float | None]] = {place: [] for place in places}
    for record in records:
        if len(record) != len(header):
            raise lines.reject(
                f"have {len(header)} fields in each line", f"has {len(record)}", "mend that line"
            )
        ids.append(read_name(record[0]))
        for place in places:
            cell = record[place].strip()
            parsed[place].append(_read_change(cell) if suffix else parse_cell(cell))
    wordy = [place for place in places if None in parsed[place]]
    if wordy and text == "refuse":
        raise InputError(
            f"{lines.source} must hold only numbers, but {quote_some([header[n] for n in wordy])} "
            f"hold text; pass text='drop' to leave these columns out"
        )
    kept = [place for place in places if place not in wordy]
    values = np.array([parsed[place] for place in kept], dtype=np.float64).reshape(len(kept), -1).T
    names = tuple(header[place].removesuffix(suffix or "") for place in kept)
    reason = "columns that were not asked for"
    left = [header[place] for place in range(1, len(header)) if place not in parsed]
    entries = log_names("dropped", "columns", reason, left)
    entries += log_names("dropped", "columns", "they hold text", [header[n] for n in wordy])
    return Cells(values, names, tuple(ids)), entries + lines.entries


def _choose(
    header: list[str], columns: Collection[str] | None, suffix: str | None, lines: Lines
) -> list[int]:
    """Find the columns to read; the first holds the sample ids."""
    wanted = None if columns is None else set(columns)
    missing = [] if wanted is None else sorted(wanted - set(header))
    if missing:
        raise InputError(
            f"columns must be in the header of {lines.source}, but {quote_some(missing)} is not; "
            f"check the spelling"
        )
    places = [
        place
        for place, name in enumerate(header)
        if place > 0 and (wanted is None or name in wanted) and name.endswith(suffix or "")
    ]
    if not places:
        raise InputError(
            f"{lines.source} must have a column to read, but none is asked for or ends in "
            f"{suffix!r}; check the header"
        )
    return places


def _read_change(cell: str) -> float:
    """1 where a cell says what changed; several changes are still one mutation."""
    number = parse_cell(cell)
    if number is not None and np.isnan(number):
        return float("nan")
    return 0.0 if cell.lower() in _NO_MUTATION else 1.0
