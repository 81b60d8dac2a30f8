"""Tables of genes by samples as text, and how they become a `GeneTable`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count
from rinn.data.scaling import LARGEST
from rinn.data.text import Lines, check_unique, parse_cell
from rinn.errors import InputError, quote
from rinn.genomics.barcodes import choose_aliquots, log_shortened
from rinn.genomics.readers.options import Kind, Options, find_rule, merge_rows
from rinn.genomics.symbols import clean_symbols

GENE_COLUMNS = frozenset({"hugo_symbol", "entrez_gene_id", "cytoband", "composite.element.ref"})
_SCALES: dict[Kind, str] = {"mutation": "0 or 1", "copy number": "levels"}
_LARGEST_LOG = 50.0  # log2 of any count is below


@dataclass(frozen=True)
class GeneTable:
    """Samples by genes, and the log of how the table was made.

    `table` has one row per sample and one column per gene; a cell is NaN where the file does not
    give the gene of that sample. `sequenced` lists the samples that were tested for mutations, or
    is None where that is unknown: then a sample outside the table may or may not have mutations.
    `annotation` holds the file's other columns of each sample, in the order of the table; `scale`
    describes the values.
    """

    table: pd.DataFrame
    log: ReadLog
    kind: Kind
    scale: str = "as written"
    sequenced: tuple[str, ...] | None = None
    annotation: pd.DataFrame | None = None

    def __str__(self) -> str:
        samples, genes = self.table.shape
        return f"{self.kind} of {samples:,} samples x {genes:,} genes ({self.scale})\n{self.log}"

    def add_entries(self, entries: Sequence[LogEntry]) -> GeneTable:
        """The table with more entries in its log."""
        return replace(self, log=replace(self.log, entries=(*self.log.entries, *entries)))


@dataclass(frozen=True)
class Matrix:
    """Genes by samples, as a file has them: `values` is [gene, sample], NaN where missing."""

    genes: list[str]
    samples: list[str]
    values: np.ndarray
    entries: list[LogEntry] = field(default_factory=list)


def split_header(line: str) -> list[str]:
    """Split a header into names without quotes; empty ones at the end are cut off."""
    names = [name.strip().strip('"').strip() for name in line.split("\t")]
    while names and not names[-1]:
        names.pop()
    return names


def count_gene_columns(header: Sequence[str]) -> int:
    """How many columns of names and ids of genes come before the samples."""
    others = (n for n, name in enumerate(header) if name.lower() not in GENE_COLUMNS)
    return next(others, len(header))


def read_matrix(
    lines: Lines,
    rows: Iterator[str],
    header: Sequence[str],
    lead: int,
    names: Sequence[int] = (0,),
    dtype: str = "float64",
) -> Matrix:
    """Read the lines that follow a header, one gene each; the samples follow `lead` columns.

    The name of a gene is in the first of the columns `names` that is not empty.
    """
    samples = list(header[lead:])
    if not samples:
        raise lines.reject("have samples in its header", "names none", "check the columns")
    check_unique(samples, lines.source, "sample")
    genes: list[str] = []
    kept: list[np.ndarray] = []
    for line in rows:
        if not line.strip():
            continue
        cells = line.split("\t", lead)
        values = np.array(_parse_row(lines, cells, header, lead), dtype=np.float64)
        is_wrong = np.abs(values) > LARGEST
        if is_wrong.any():
            wrong = int(is_wrong.argmax())
            has = f"has {values[wrong]:g} for {quote(samples[wrong])}"
            raise lines.reject(f"hold numbers up to {LARGEST:g}", has, "write NA there")
        genes.append(next((cells[n] for n in names if cells[n].strip()), ""))
        kept.append(values.astype(dtype, copy=False))
    if not genes:
        raise InputError(f"{lines.source} must have a line for each gene, but has none; add them")
    stacked = np.empty((len(kept), len(samples)), dtype=dtype)
    kept.reverse()
    for row in range(len(stacked)):
        stacked[row] = kept.pop()  # freed as it is copied
    return Matrix(genes, samples, stacked, lines.entries)


def _parse_row(lines: Lines, fields: list[str], header: Sequence[str], lead: int) -> list[float]:
    """Turn the cells of one line into numbers."""
    text = fields[lead] if len(fields) > lead else ""
    cells, width = text.split("\t"), len(header) - lead
    if len(fields) <= lead or len(cells) < width or any(map(str.strip, cells[width:])):
        count = len(cells) + lead if len(fields) > lead else len(fields)
        raise lines.reject(
            f"have {len(header)} fields in each line, as its header has",
            f"has {count}",
            "correct that line, or export the file again",
        )
    if text.isascii() and "_" not in text:  # float() would take 1_000 and Arabic digits
        with contextlib.suppress(ValueError):
            return [math.nan if cell in ("NA", "") else float(cell) for cell in cells[:width]]
    numbers = []
    for cell, name in zip(cells, header[lead:], strict=False):
        number = parse_cell(cell.strip().strip('"'))
        if number is None:
            has = f"has {quote(cell.strip())} in column {quote(name)}"
            raise lines.reject("hold numbers", has, "write a number or NA there")
        numbers.append(number)
    return numbers


def make_gene_table(
    matrix: Matrix,
    log: ReadLog,
    options: Options,
    scale: str | None = None,
    annotation: pd.DataFrame | None = None,
) -> GeneTable:
    """Turn genes by samples into samples by genes, with clean names."""
    lowest, highest = find_range(matrix.values)
    if max(-lowest, highest) > LARGEST:
        source = f"{log.format} ({log.source})"
        raise InputError(f"{source} must hold numbers up to {LARGEST:g}; write NA for larger ones")
    kind = options["kind"] or guess_kind(matrix.values)
    rule = find_rule(options["duplicates"], kind)
    symbols = clean_symbols(matrix.genes, options["symbols"], rule)
    if not symbols.names:
        raise InputError(f"{log.source} must name genes, but no symbol is left; check column 1")
    values, logged = np.asarray(matrix.values), list[LogEntry]()
    if kind == "expression" and needs_log(lowest, highest, options["log"]):
        reason = f"values from {lowest:g} to {highest:g}: log2(x + 1) is taken"
        logged = [LogEntry("noted", "cells", values.size, reason)]
        values = np.log2(values + 1, dtype=values.dtype)
    values = merge_rows(values, symbols.targets, len(symbols.names), rule)
    names, columns, merged = choose_aliquots(matrix.samples)
    index = pd.Index(list(dict.fromkeys(names[column] for column in columns)), name="sample")
    if len(columns) < len(names) and options["aliquots"] == "merge":
        targets, unique = pd.factorize(np.array(names, dtype=object))
        index = pd.Index(list(unique), name="sample")
        columns = np.unique(targets, return_index=True)[1].tolist()
        values = merge_rows(values.T, targets, len(index), rule).T
        reason = f"several aliquots of one sample: merged by the rule '{rule}'"
        merged = [LogEntry("merged", "aliquots", len(names) - len(index), reason)]
    elif len(columns) < len(names):
        values = values[:, columns]
    entries = [
        *log.entries,
        LogEntry("read", "genes", len(matrix.genes), f"of {len(matrix.samples):,} samples"),
        *matrix.entries,
        *symbols.entries,
        *merged,
        *log_shortened(matrix.samples, names),
        *logged,
        *log_count("noted", "cells", int(np.isnan(values).sum()), "missing: left as NaN"),
    ]
    table = pd.DataFrame(values.T, index=index, columns=pd.Index(symbols.names), copy=False)
    return GeneTable(
        table,
        replace(log, entries=tuple(entries)),
        kind,
        "log2(x + 1)" if logged else scale or _SCALES.get(kind, "as written"),
        tuple(index) if kind == "mutation" else None,
        None if annotation is None else annotation.iloc[columns].set_axis(index, axis=0),
    )


def guess_kind(values: np.ndarray) -> Kind:
    """What a matrix holds, by its values.

    >>> guess_kind(np.array([[0.0, 1.0], [np.nan, 0.0]])), guess_kind(np.array([[-2.0, 1.0]]))
    ('mutation', 'copy number')
    """
    lowest, highest = find_range(values)
    broken = (not (np.isnan(row) | (row == np.round(row))).all() for row in values)
    if lowest < -2 or highest > 2 or any(broken):
        return "expression"
    if lowest >= 0 and highest <= 1:
        return "mutation"
    return "copy number" if lowest < 0 else "expression"


def needs_log(lowest: float, highest: float, log: bool | None) -> bool:
    """Whether the user asks for logarithms, or the values are clearly none."""
    if log and lowest < 0:
        raise InputError(
            f"log must be False where values are below 0, but the lowest is {lowest:g}; leave it "
            f"out"
        )
    return lowest >= 0 and highest > _LARGEST_LOG if log is None else log


def find_range(values: np.ndarray) -> tuple[float, float]:
    """The lowest and highest value, without missing ones; 0 and 0 where all are missing."""
    lowest, highest = float(np.fmin.reduce(values, None)), float(np.fmax.reduce(values, None))
    return (0.0, 0.0) if math.isnan(lowest) else (lowest, highest)
