"""Tables of genes by samples: a header of samples, a line for each gene; repeats made one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from rinn.config import check_choice
from rinn.data.log import LogEntry, ReadLog
from rinn.data.scaling import LARGEST
from rinn.data.text import Lines, parse_cell
from rinn.errors import InputError, quote
from rinn.genomics.barcodes import choose_aliquots, note_shortened
from rinn.genomics.symbols import SymbolRules, check_unique, clean_symbols

Kind = Literal["mutation", "copy number", "expression", "other"]
SCALES: dict[Kind, str] = {"mutation": "0 or 1", "copy number": "levels"}
LEADS = frozenset({"hugo_symbol", "entrez_gene_id", "cytoband", "composite.element.ref"})
_LARGEST_LOG = 50.0  # log2 of anything that was ever counted is below


@dataclass(frozen=True)
class Options:
    """What the user chose about names and repeats; the same for each reader of a matrix."""

    symbols: SymbolRules | None = None
    duplicates: str | None = None
    aliquots: Literal["first", "merge"] = "first"
    log: bool | None = False
    dtype: str = "float64"

    def __post_init__(self) -> None:
        find_rule(self.duplicates, "other")
        if self.aliquots not in ("first", "merge"):
            raise InputError(f"aliquots must be 'first' or 'merge', got {self.aliquots!r}")
        if self.dtype not in ("float64", "float32"):
            raise InputError(f"dtype must be 'float64' or 'float32', got {self.dtype!r}")


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
    r"""Split a header into names without quotes; empty ones at the end are cut off.

    Example:
        >>> split_header('sample\t"TCGA-02-0001-01"\t\t')
        ['sample', 'TCGA-02-0001-01']
    """
    names = [name.strip().strip('"').strip() for name in line.split(separator)]
    while names and not names[-1]:
        names.pop()
    return names


def read_matrix(
    lines: Lines,
    rows: Iterator[str],
    header: Sequence[str],
    lead: int,
    name_gene: Callable[[list[str]], str],
    dtype: str = "float64",
) -> Matrix:
    """Read the lines that follow a header, one gene each."""
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
        wrong = find_endless(values)
        if wrong is not None:
            has = f"has {values[wrong]:g} for {quote(samples[wrong])}"
            raise lines.reject(f"hold numbers up to {LARGEST:g}", has, "write NA there")
        genes.append(name_gene(cells[:lead]))
        kept.append(values.astype(dtype, copy=False))
    if not genes:
        raise InputError(f"{lines.source} must have a line for each gene, but has none; add them")
    return Matrix(genes, samples, _stack(kept), lines.entries)


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
    entries = [
        *log.entries,
        LogEntry("read", "genes", len(matrix.genes), f"of {len(matrix.samples):,} samples"),
        *matrix.entries,
    ]
    symbols = clean_symbols(matrix.genes, options.symbols, rule)
    if not symbols.names:
        raise InputError(f"{log.source} must name genes, but no symbol is left; check column 1")
    values, logged = _settle_log(matrix.values, kind, options.log)
    values = merge_rows(values, symbols.targets, len(symbols.names), rule)
    names, columns, values, dropped = _merge_aliquots(matrix.samples, values, options, rule)
    missing = int(np.isnan(values).sum())
    entries += [*symbols.entries, *dropped, *note_shortened(matrix.samples, names), *logged]
    if missing:
        entries.append(LogEntry("noted", "cells", missing, "missing: left as NaN"))
    index = pd.Index(list(dict.fromkeys(names[column] for column in columns)), name="sample")
    table = pd.DataFrame(values.T, index=index, columns=pd.Index(symbols.names), copy=False)
    if annotation is not None:
        annotation = annotation.iloc[columns].set_axis(index, axis=0)
    log = replace(log, entries=tuple(entries))
    scale = "log2(x + 1)" if logged else scale
    return GeneTable(table, log, kind, scale, annotation=annotation)


def mark_sequenced(reading: GeneTable) -> GeneTable:
    """Say of a matrix of mutations that each of its samples was looked at."""
    if reading.kind != "mutation":
        return reading
    return replace(reading, sequenced=tuple(str(name) for name in reading.table.index))


def find_endless(values: np.ndarray) -> int | None:
    """Find a number that is infinite or too large to reckon with.

    Example:
        >>> find_endless(np.array([[1.0, np.nan], [np.inf, 2.0]]))
        2
    """
    is_endless = np.abs(values) > LARGEST
    return int(is_endless.argmax()) if is_endless.any() else None


def guess_kind(values: np.ndarray) -> Kind:
    """Say what a matrix holds, by its values.

    Example:
        >>> guess_kind(np.array([[0.0, 1.0], [np.nan, 0.0]])), guess_kind(np.array([[-2.0, 1.0]]))
        ('mutation', 'copy number')
    """
    lowest, highest = _find_range(values)
    if lowest < -2 or highest > 2 or not all(_is_whole(row) for row in values):
        return "expression"
    if lowest >= 0 and highest <= 1:
        return "mutation"
    return "copy number" if lowest < 0 else "expression"


def _is_whole(row: np.ndarray) -> bool:
    return bool((np.isnan(row) | (row == np.round(row))).all())


def _settle_log(
    values: np.ndarray, kind: Kind, log: bool | None
) -> tuple[np.ndarray, list[LogEntry]]:
    """Take log2(x + 1) where the user asks for it, or where the values are plainly not logs."""
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
    """The lowest and highest value, missing ones apart; 0 and 0 where all are missing."""
    lowest, highest = float(np.fmin.reduce(values, None)), float(np.fmax.reduce(values, None))
    return (0.0, 0.0) if math.isnan(lowest) else (lowest, highest)


def _merge_aliquots(
    samples: list[str], values: np.ndarray, options: Options, rule: str
) -> tuple[list[str], list[int], np.ndarray, list[LogEntry]]:
    """Keep one column for each sample; say which columns of the file stand for the samples."""
    names, columns, dropped = choose_aliquots(samples)
    if len(columns) == len(samples):
        return names, columns, values, []
    if options.aliquots == "first":
        return names, columns, values[:, columns], dropped
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    targets = [places[name] for name in names]
    firsts = np.unique(targets, return_index=True)[1].tolist()
    merged = merge_rows(values.T, targets, len(places), rule).T
    reason = f"several aliquots of one sample: merged by the rule '{rule}'"
    return (
        names,
        firsts,
        merged,
        [LogEntry("merged", "aliquots", len(samples) - len(places), reason)],
    )


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
    numbers = [parse_cell(cell.strip().strip('"')) for cell in cells]
    if None in numbers:
        place = numbers.index(None)
        raise lines.reject(
            "hold numbers",
            f"has {quote(cells[place].strip())} in column {quote(header[lead + place])}",
            "write a number or NA there",
        )
    return [math.nan if number is None else number for number in numbers]


def _reject_width(lines: Lines, found: int, expected: int) -> InputError:
    return lines.reject(
        f"have {expected} fields in each line, as its header has",
        f"has {found}",
        "mend that line, or export the file again",
    )


def _stack(rows: list[np.ndarray]) -> np.ndarray:
    """Make one array, freeing each row as it is copied."""
    stacked = np.empty((len(rows), len(rows[0])), dtype=rows[0].dtype)
    rows.reverse()
    for place in range(len(stacked)):
        stacked[place] = rows.pop()
    return stacked


def merge_rows(values: np.ndarray, targets: Sequence[int], size: int, rule: str) -> np.ndarray:
    """Merge the rows of a table that have the same target; a missing value gives way to others.

    Example:
        >>> merge_rows(np.array([[-2, 0], [1, 1]]), [0, 0], 1, "strongest")
        array([[-2,  1]])
    """
    places = np.asarray(targets, dtype=np.intp)
    if len(places) == size and np.array_equal(places, np.arange(size)):
        return values
    order = np.argsort(places, kind="stable")
    order = order[np.searchsorted(places[order], 0) :]
    groups = np.split(order, np.flatnonzero(np.diff(places[order])) + 1) if len(order) else []
    merged = np.empty((size, values.shape[1]), dtype=values.dtype)
    for place, rows in enumerate(groups):
        merged[place] = values[rows[0]] if len(rows) == 1 else RULES[rule](values[rows])
    return merged


def find_rule(rule: str | None, kind: Kind) -> str:
    """Check the name of a rule, or take the usual one.

    Example:
        >>> find_rule(None, "copy number")
        'strongest'
    """
    if rule is None:
        return {"mutation": "any", "copy number": "strongest"}.get(kind, "mean")
    return check_choice("duplicates", rule, RULES)


def _take_any(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.where(known.any(axis=0), ((rows != 0) & known).any(axis=0), np.nan)


def _take_mean(rows: np.ndarray) -> np.ndarray:
    count = (~np.isnan(rows)).sum(axis=0)
    total = np.nansum(rows, axis=0, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _take_sum(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.where(known.any(axis=0), np.nansum(rows, axis=0, dtype=np.float64), np.nan)


def _take_strongest(rows: np.ndarray) -> np.ndarray:
    strength = np.where(np.isnan(rows), -1, np.abs(rows))
    return np.take_along_axis(rows, strength.argmax(axis=0)[None], axis=0)[0]


def _take_first(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.take_along_axis(rows, known.argmax(axis=0)[None], axis=0)[0]


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "any": _take_any,
    "strongest": _take_strongest,
    "mean": _take_mean,
    "max": lambda rows: np.fmax.reduce(rows, axis=0),
    "sum": _take_sum,
    "first": _take_first,
}
