"""Tables of genes and samples as text, wide or long, and how they become a `GeneTable`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from rinn.config import check_choice
from rinn.data.log import LogEntry, ReadLog, log_count
from rinn.data.scaling import LARGEST
from rinn.data.text import Lines, check_unique, parse_cell
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.barcodes import choose_aliquots, log_shortened
from rinn.genomics.symbols import SymbolRules, clean_symbols

Kind = Literal["mutation", "copy number", "expression", "other"]
SCALES: dict[Kind, str] = {"mutation": "0 or 1", "copy number": "levels"}
ALIQUOTS = ("first", "merge")
GENE_COLUMNS = frozenset({"hugo_symbol", "entrez_gene_id", "cytoband", "composite.element.ref"})
_LONG = {
    "hugo": ("hugo_symbol",),
    "entrez": ("entrez_gene_id",),
    "sample": ("sample_id",),
    "value": ("value",),
}
_LARGEST_LOG = 50.0  # log2 of any count is below
_MAX_CELLS = 1 << 30


@dataclass(frozen=True)
class Options:
    """The user's choices about names and repeats; the same for each reader of a matrix."""

    symbols: SymbolRules | None = None
    duplicates: str | None = None
    aliquots: Literal["first", "merge"] = "first"
    log: bool | None = False
    dtype: str = "float64"

    def __post_init__(self) -> None:
        find_rule(self.duplicates, "other")
        check_choice("aliquots", self.aliquots, ALIQUOTS)
        check_choice("dtype", self.dtype, ("float64", "float32"))


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


@dataclass(frozen=True)
class Matrix:
    """Genes by samples, as a file has them: `values` is [gene, sample], NaN where missing."""

    genes: list[str]
    samples: list[str]
    values: np.ndarray
    entries: list[LogEntry] = field(default_factory=list)


def split_header(line: str, separator: str = "\t") -> list[str]:
    """Split a header into names without quotes; empty ones at the end are cut off."""
    names = [name.strip().strip('"').strip() for name in line.split(separator)]
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
    name_gene: Callable[[list[str]], str],
    dtype: str = "float64",
) -> Matrix:
    """Read the lines that follow a header, one gene each; the samples follow `lead` columns."""
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
        if len(cells) <= lead:
            raise _reject_width(lines, len(cells), len(header))
        values = np.array(_parse_row(lines, cells[lead], header, lead), dtype=np.float64)
        is_wrong = np.abs(values) > LARGEST
        if is_wrong.any():
            wrong = int(is_wrong.argmax())
            has = f"has {values[wrong]:g} for {quote(samples[wrong])}"
            raise lines.reject(f"hold numbers up to {LARGEST:g}", has, "write NA there")
        genes.append(name_gene(cells[:lead]))
        kept.append(values.astype(dtype, copy=False))
    if not genes:
        raise InputError(f"{lines.source} must have a line for each gene, but has none; add them")
    stacked = np.empty((len(kept), len(samples)), dtype=dtype)
    kept.reverse()
    for row in range(len(stacked)):
        stacked[row] = kept.pop()  # freed as it is copied
    return Matrix(genes, samples, stacked, lines.entries)


class LongTable:
    """One pass over a long table, which yields the cells of the requested columns.

    Quotes have no meaning: a field goes from tab to tab. Lines that begin with `#` before the
    header are comments. A line that is shorter than the header is taken as if empty fields
    followed, unless a requested column is missing or the file ends in the middle of it.
    """

    def __init__(
        self, lines: Lines, columns: Mapping[str, Sequence[str]], optional: Sequence[str] = ()
    ) -> None:
        self.lines = lines
        self.rows = 0
        self._short = self._blank = self._comments = 0
        self._body = iter(lines)
        self.header = self._read_header()
        self.columns = {
            key: column
            for key, names in columns.items()
            if (column := self._find(names, key not in optional)) is not None
        }

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the requested cells of each row, in the order of `columns`."""
        wanted = tuple(self.columns.values())
        last = max(wanted)
        width = len(self.header)
        for line in self._body:
            cells = line.split("\t", last + 1)
            if len(cells) <= last:
                if not line.strip():
                    self._blank += 1
                    continue
                raise self._reject_short(len(cells))
            tabs = line.count("\t")
            if tabs + 1 != width:
                self._check_width(line, tabs + 1)
            self.rows += 1
            yield [cells[column] for column in wanted]

    @property
    def entries(self) -> list[LogEntry]:
        """What was read and repaired so far."""
        short = "shorter than the header: the fields at the end are taken for empty"
        return [
            LogEntry("read", "rows", self.rows, "lines after the header"),
            *log_count("dropped", "lines", self._comments, "comments above the header"),
            *log_count("dropped", "lines", self._blank, "blank"),
            *log_count("repaired", "rows", self._short, short),
            *self.lines.entries,
        ]

    def _read_header(self) -> list[str]:
        for line in self._body:
            if line.startswith("#"):
                self._comments += 1
            elif line.strip():
                return split_header(line)
        raise InputError(
            f"{self.lines.source} must begin with a line of column names, but it has no such line; "
            f"export it again"
        )

    def _find(self, names: Sequence[str], is_needed: bool) -> int | None:
        """The index of a column by the first of its names that is there."""
        header = [name.lower().replace(" ", "_") for name in self.header]
        for name in names:
            if header.count(name) > 1:
                raise self.lines.reject(
                    "have each column once", f"has {name} twice", "remove one of them"
                )
            if name in header:
                return header.index(name)
        if is_needed:
            raise self.lines.reject(
                f"have a column called {' or '.join(names)}",
                f"names only {quote_some(self.header)}",
                "check that it is the right file, with tabs between its columns",
            )
        return None

    def _check_width(self, line: str, fields: int) -> None:
        """Accept empty fields at the end, whether there are more or fewer than in the header."""
        width = len(self.header)
        if fields > width:
            if any(cell.strip() for cell in line.split("\t")[width:]):
                raise self.lines.reject(
                    f"have at most {width} fields in each line, as its header has",
                    f"has {fields}",
                    "look for a tab too many in that line",
                )
        elif self.lines.is_cut:
            raise self._reject_short(fields)
        else:
            self._short += 1

    def _reject_short(self, fields: int) -> InputError:
        end = " and is the end of the file" if self.lines.is_cut else ""
        return self.lines.reject(
            f"have {len(self.header)} fields in each line, as its header has",
            f"has {fields}{end}",
            "correct that line, or download the file again",
        )


def read_long_values(lines: Lines, dtype: str) -> Matrix:
    """Read values with one line per gene and sample; a pair without a line is missing."""
    table = LongTable(lines, _LONG, optional=("hugo", "entrez"))
    if not {"hugo", "entrez"} & set(table.columns):
        raise lines.reject(
            "have the column Hugo_Symbol or Entrez_Gene_Id", "has neither", "add one"
        )
    genes: dict[str, int] = {}
    samples: dict[str, int] = {}
    rows, columns, numbers = array("q"), array("q"), array("d")
    for *names, sample, text in table:
        value = parse_cell(text.strip('"'))
        if value is None or abs(value) > LARGEST:
            raise lines.reject("hold numbers", f"has the value {quote(text)}", "write one, or NA")
        gene = next((name for name in names if name.strip()), "")
        rows.append(genes.setdefault(gene, len(genes)))
        columns.append(samples.setdefault(sample.strip(), len(samples)))
        numbers.append(value)
    if not genes:
        raise InputError(f"{lines.source} must have rows, but has only a header; export it again")
    if "" in samples or len(genes) * len(samples) > _MAX_CELLS:
        raise InputError(
            f"{lines.source} must have a sample in each row and at most {_MAX_CELLS:,} cells, but "
            f"has {len(genes):,} genes and {len(samples):,} samples; check its columns"
        )
    at = np.array(rows), np.array(columns)
    written = np.array(numbers, dtype=dtype)
    values = np.full((len(genes), len(samples)), np.nan, dtype=dtype)
    values[at] = written
    clash = ~((values[at] == written) | (np.isnan(values[at]) & np.isnan(written)))
    if clash.any():
        first = int(clash.argmax())
        raise InputError(
            f"{lines.source} must have one value for each gene and sample, but has several for "
            f"{quote(list(genes)[rows[first]])} in {quote(list(samples)[columns[first]])}; keep "
            f"one row"
        )
    repeats = len(rows) - len(np.unique(at[0] * len(samples) + at[1]))
    merged = log_count("merged", "rows", repeats, "the same gene, sample and value again")
    return Matrix(list(genes), list(samples), values, table.entries + merged)


def make_gene_table(
    matrix: Matrix,
    kind: Kind,
    log: ReadLog,
    options: Options,
    scale: str = "as written",
    annotation: pd.DataFrame | None = None,
) -> GeneTable:
    """Turn genes by samples into samples by genes, with clean names."""
    rule = find_rule(options.duplicates, kind)
    symbols = clean_symbols(matrix.genes, options.symbols, rule)
    if not symbols.names:
        raise InputError(f"{log.source} must name genes, but no symbol is left; check column 1")
    values, logged = _take_log(matrix.values, kind, options.log)
    values = merge_rows(values, symbols.targets, len(symbols.names), rule)
    names, columns, values, merged = _merge_aliquots(matrix.samples, values, options, rule)
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
    index = pd.Index(list(dict.fromkeys(names[column] for column in columns)), name="sample")
    table = pd.DataFrame(values.T, index=index, columns=pd.Index(symbols.names), copy=False)
    if annotation is not None:
        annotation = annotation.iloc[columns].set_axis(index, axis=0)
    scale = "log2(x + 1)" if logged else scale
    log = replace(log, entries=tuple(entries))
    return GeneTable(table, log, kind, scale, annotation=annotation)


def mark_sequenced(table: GeneTable) -> GeneTable:
    """Mark each sample of a matrix of mutations as tested."""
    if table.kind != "mutation":
        return table
    return replace(table, sequenced=tuple(str(name) for name in table.table.index))


def check_finite(values: np.ndarray, source: str) -> None:
    """Refuse numbers that are infinite or too large to compute with."""
    if (np.abs(values) > LARGEST).any():
        raise InputError(f"{source} must hold numbers up to {LARGEST:g}; write NA for larger ones")


def guess_kind(values: np.ndarray) -> Kind:
    """What a matrix holds, by its values.

    >>> guess_kind(np.array([[0.0, 1.0], [np.nan, 0.0]])), guess_kind(np.array([[-2.0, 1.0]]))
    ('mutation', 'copy number')
    """
    lowest, highest = _find_range(values)
    if lowest < -2 or highest > 2 or not all(_is_integer(row) for row in values):
        return "expression"
    if lowest >= 0 and highest <= 1:
        return "mutation"
    return "copy number" if lowest < 0 else "expression"


def _is_integer(row: np.ndarray) -> bool:
    return bool((np.isnan(row) | (row == np.round(row))).all())


def _take_log(
    values: np.ndarray, kind: Kind, log: bool | None
) -> tuple[np.ndarray, list[LogEntry]]:
    """Take log2(x + 1) where the user asks for it, or where the values are clearly not logs."""
    if kind != "expression" or log is False:
        return values, []
    lowest, highest = _find_range(values)
    if log is None and not (lowest >= 0 and highest > _LARGEST_LOG):
        return values, []
    if lowest < 0:
        raise InputError(
            f"log must be False where values are below 0, but the lowest is {lowest:g}; leave it "
            f"out"
        )
    reason = f"values from {lowest:g} to {highest:g}: log2(x + 1) is taken"
    entry = LogEntry("noted", "cells", values.size, reason)
    return np.log2(values + 1, dtype=values.dtype), [entry]


def _find_range(values: np.ndarray) -> tuple[float, float]:
    """The lowest and highest value, without missing ones; 0 and 0 where all are missing."""
    lowest, highest = float(np.fmin.reduce(values, None)), float(np.fmax.reduce(values, None))
    return (0.0, 0.0) if math.isnan(lowest) else (lowest, highest)


def _merge_aliquots(
    samples: list[str], values: np.ndarray, options: Options, rule: str
) -> tuple[list[str], list[int], np.ndarray, list[LogEntry]]:
    """Keep one column for each sample; return also which columns of the file these are."""
    names, columns, dropped = choose_aliquots(samples)
    if len(columns) == len(samples):
        return names, columns, values, []
    if options.aliquots == "first":
        return names, columns, values[:, columns], dropped
    index = {name: number for number, name in enumerate(dict.fromkeys(names))}
    targets = [index[name] for name in names]
    firsts = np.unique(targets, return_index=True)[1].tolist()
    merged = merge_rows(values.T, targets, len(index), rule).T
    reason = f"several aliquots of one sample: merged by the rule '{rule}'"
    entry = LogEntry("merged", "aliquots", len(samples) - len(index), reason)
    return names, firsts, merged, [entry]


def _parse_row(lines: Lines, text: str, header: Sequence[str], lead: int) -> list[float]:
    """Turn the cells of one line into numbers."""
    width = len(header) - lead
    cells = text.split("\t")
    if len(cells) != width:
        if len(cells) < width or any(cell.strip() for cell in cells[width:]):
            raise _reject_width(lines, len(cells) + lead, len(header))
        cells = cells[:width]
    if text.isascii() and "_" not in text:  # float() would take 1_000 and Arabic digits
        try:
            return list(map(float, cells))
        except ValueError:
            pass
        try:
            return [math.nan if cell in ("NA", "") else float(cell) for cell in cells]
        except ValueError:
            pass
    numbers = []
    for column, cell in enumerate(cells, lead):
        number = parse_cell(cell.strip().strip('"'))
        if number is None:
            has = f"has {quote(cell.strip())} in column {quote(header[column])}"
            raise lines.reject("hold numbers", has, "write a number or NA there")
        numbers.append(number)
    return numbers


def _reject_width(lines: Lines, fields: int, expected: int) -> InputError:
    return lines.reject(
        f"have {expected} fields in each line, as its header has",
        f"has {fields}",
        "correct that line, or export the file again",
    )


def merge_rows(values: np.ndarray, targets: Sequence[int], size: int, rule: str) -> np.ndarray:
    """Merge the rows with the same target by a rule that skips missing values; -1 drops a row.

    >>> merge_rows(np.array([[-2, 0], [1, 1]]), [0, 0], 1, "strongest")
    array([[-2,  1]])
    """
    index = np.asarray(targets, dtype=np.intp)
    if len(index) == size and np.array_equal(index, np.arange(size)):
        return values
    order = np.argsort(index, kind="stable")
    order = order[np.searchsorted(index[order], 0) :]
    groups = np.split(order, np.flatnonzero(np.diff(index[order])) + 1) if len(order) else []
    merged = np.empty((size, values.shape[1]), dtype=values.dtype)
    for target, rows in enumerate(groups):
        merged[target] = values[rows[0]] if len(rows) == 1 else RULES[rule](values[rows])
    return merged


def find_rule(rule: str | None, kind: Kind) -> str:
    """Check the name of a rule, or take the default of the kind."""
    if rule is None:
        return {"mutation": "any", "copy number": "strongest"}.get(kind, "mean")
    return check_choice("duplicates", rule, RULES)


def _take_any(rows: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(rows)
    return np.where(observed.any(axis=0), ((rows != 0) & observed).any(axis=0), np.nan)


def _take_mean(rows: np.ndarray) -> np.ndarray:
    observed = (~np.isnan(rows)).sum(axis=0)
    return _take_sum(rows) / np.maximum(observed, 1)


def _take_sum(rows: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(rows)
    return np.where(observed.any(axis=0), np.nansum(rows, axis=0, dtype=np.float64), np.nan)


def _take_strongest(rows: np.ndarray) -> np.ndarray:
    strength = np.where(np.isnan(rows), -1, np.abs(rows))
    return np.take_along_axis(rows, strength.argmax(axis=0)[None], axis=0)[0]


def _take_first(rows: np.ndarray) -> np.ndarray:
    observed = ~np.isnan(rows)
    return np.take_along_axis(rows, observed.argmax(axis=0)[None], axis=0)[0]


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "any": _take_any,
    "strongest": _take_strongest,
    "mean": _take_mean,
    "max": lambda rows: np.fmax.reduce(rows, axis=0),
    "sum": _take_sum,
    "first": _take_first,
}
