"""From one line per mutation to a table of which gene is mutated in which sample."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.text import Lines
from rinn.errors import InputError, quote_some
from rinn.genomics.barcodes import choose_aliquots, load_samples, log_shortened, parse_barcode
from rinn.genomics.readers.matrices import GeneTable, split_header
from rinn.genomics.readers.options import ClassList, Options, find_classes
from rinn.genomics.symbols import clean_symbols

_MAX_KEYS = 1000  # classes and filters; a file with more has something else in these columns
_MAX_CELLS = 1 << 32


class LongTable:
    """One pass over a long table, which yields the cells of the requested columns.

    Quotes have no meaning: a field goes from tab to tab. Lines that begin with `#` before the
    header are comments. A line that is shorter than the header is taken as if empty fields
    followed, unless a requested column is missing or the file ends in the middle of it.
    """

    def __init__(
        self, lines: Lines, columns: Mapping[str, Sequence[str]], optional: Sequence[str] = ()
    ) -> None:
        self.lines, self.rows = lines, 0
        self._short = self._blank = self._comments = 0
        self._body = iter(lines)
        self.header = self._read_header()
        found = {key: self._find(names, key not in optional) for key, names in columns.items()}
        self.columns = {key: column for key, column in found.items() if column is not None}

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the requested cells of each row, in the order of `columns`."""
        wanted, width = tuple(self.columns.values()), len(self.header)
        last = max(wanted)
        for line in self._body:
            if not line.strip():
                self._blank += 1
                continue
            fields = line.count("\t") + 1
            if fields > width and any(map(str.strip, line.split("\t")[width:])):
                raise self.lines.reject(
                    f"have at most {width} fields in each line, as its header has",
                    f"has {fields}",
                    "look for a tab too many in that line",
                )
            if fields <= last or (fields < width and self.lines.is_cut):
                end = " and is the end of the file" if self.lines.is_cut else ""
                raise self.lines.reject(
                    f"have {width} fields in each line, as its header has",
                    f"has {fields}{end}",
                    "correct that line, or download the file again",
                )
            self._short += fields < width
            self.rows += 1
            cells = line.split("\t", last + 1)
            yield [cells[column] for column in wanted]

    @property
    def entries(self) -> list[LogEntry]:
        """What was read and repaired so far."""
        short = "shorter than the header: the missing fields count as empty"
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


@dataclass(frozen=True)
class _Kept:
    """The kept mutations as indices into `barcodes` and `genes`, with the log and the counts.

    `failed` holds the indices of the barcodes of which no mutation passed the filters.
    """

    barcodes: list[str]
    genes: list[str]
    rows: np.ndarray
    columns: np.ndarray
    failed: set[int]
    entries: list[LogEntry]
    effects: dict[str, int]


def read_mutations(
    lines: Lines, format_name: str, columns: Mapping[str, Sequence[str]], options: Options
) -> GeneTable:
    """Read a long table of mutations."""
    table = LongTable(lines, columns, optional=("filter",))
    listing = find_classes(options["classes"])
    kept = _collect(table, listing, options["filters"])
    if not len(kept.rows):
        raise InputError(
            f"{lines.source} must have a mutation to keep, but of {table.rows:,} rows none is left "
            f"(classes: {quote_some(list(kept.effects)) or 'none'}; list of classes: "
            f"'{listing.name}'); pass classes= with those to keep"
        )
    return _make_table(kept, ReadLog(str(lines.path), format_name), options)


def _collect(table: LongTable, listing: ClassList, filters: Collection[str] | None) -> _Kept:
    """Go through the rows once; keep two small numbers of each mutation that counts."""
    barcodes: dict[str, int] = {}
    genes: dict[str, int] = {}
    rows, columns = array("i"), array("i")
    effects: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    passing: set[int] = set()
    has_filter = "filter" in table.columns and filters is not None
    allowed = {"", ".", *(filters or ())}  # an empty part or a dot is no filter

    @lru_cache(4096)
    def passes(cell: str) -> bool:
        return all(part.strip() in allowed for part in re.split("[;,]", cell))

    keeps = lru_cache(4096)(listing.keep)
    special = {gene for gene, _ in listing.exceptions}
    for gene, barcode, effect, *cells in table:
        effects[effect if effect in effects or len(effects) < _MAX_KEYS else "other"] += 1
        # also where the mutation is dropped: the sample was sequenced
        row = barcodes.setdefault(barcode, len(barcodes))
        if has_filter and not passes(cells[0]):
            reason = cells[0]
            refused[reason if reason in refused or len(refused) < _MAX_KEYS else "other"] += 1
            continue
        passing.add(row)
        if keeps(gene if gene in special else "", effect):
            rows.append(row)
            columns.append(genes.setdefault(gene, len(genes)))
    dropped = {f"FILTER is {cell}": count for cell, count in refused.most_common(20)}
    dropped["FILTER is something else"] = refused.total() - sum(dropped.values())
    entries = table.entries
    for reason, count in dropped.items():
        entries += log_count("dropped", "mutations", count, reason)
    if silent := table.rows - refused.total() - len(rows):
        classes = tuple(effect for effect in effects if not listing.keep("", effect))
        reason = f"their class is not kept by the list '{listing.name}'"
        entries.append(LogEntry("dropped", "mutations", silent, reason, classes))
    entries.append(LogEntry("read", "mutations", len(rows), f"kept by the list '{listing.name}'"))
    return _Kept(
        list(barcodes),
        list(genes),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        set(range(len(barcodes))) - passing,
        entries,
        dict(effects.most_common()),
    )


def _make_table(kept: _Kept, log: ReadLog, options: Options) -> GeneTable:
    """Clean the names and fill the table."""
    symbols = clean_symbols(kept.genes, options["symbols"], "any")
    owners, unsure, entries = _find_owners(kept, options["aliquots"])
    present = {owner for owner in owners if owner}
    sequenced = None
    if options["sequenced"] is not None:
        listed = _resolve(load_samples(options["sequenced"], "sequenced"), present)
        sequenced = tuple(name for name in listed if name not in unsure)
    samples = pd.Index(sorted({*present, *(sequenced or ())}), name="sample")
    genes = pd.Index(sorted(symbols.names))
    if len(samples) * len(genes) > _MAX_CELLS:
        raise InputError(
            f"{log.source} must give a table of at most {_MAX_CELLS:,} cells, but it has "
            f"{len(samples):,} samples and {len(genes):,} genes; check its columns"
        )
    targets = [symbols.names[n] if n >= 0 else None for n in symbols.targets]
    rows = samples.get_indexer(pd.Index(owners))[kept.rows]
    columns = genes.get_indexer(pd.Index(targets))[kept.columns]
    is_kept = (rows >= 0) & (columns >= 0)
    values = np.zeros((len(samples), len(genes)), dtype=np.int8)
    values[rows[is_kept], columns[is_kept]] = 1
    table = pd.DataFrame(values, samples, genes, copy=False)
    is_mutated = values.any(axis=0)  # not where a dropped aliquot had the only mutation
    if not is_mutated.all():
        table = table.iloc[:, np.flatnonzero(is_mutated)]
    if table.empty:
        raise InputError(f"{log.source} must name genes, but no symbol is left; check column 1")
    nameless, lost = int((columns < 0).sum()), int(((rows < 0) & (columns >= 0)).sum())
    of_dropped = "of aliquots that were dropped, or of no sample"
    repeats = int(is_kept.sum() - values.sum(dtype=np.int64))
    entries = [
        *kept.entries,
        *log_count("dropped", "mutations", nameless, "their gene has no symbol"),
        *log_count("dropped", "mutations", lost, of_dropped),
        *symbols.entries,
        *entries,
        *log_count("merged", "mutations", repeats, "more of the same gene and sample"),
        *_log_sequenced(present, sequenced),
    ]
    log = replace(log, entries=tuple(entries), tallies={"class": kept.effects})
    return GeneTable(table, log, "mutation", "0 or 1", sequenced)


def _find_owners(kept: _Kept, aliquots: str) -> tuple[list[str | None], set[str], list[LogEntry]]:
    """The sample of each barcode; the samples of which no mutation passed; the log.

    None stands for a barcode that is empty, one of a sample of which another aliquot is kept, and
    one of a sample of which no mutation passed: whether that has mutations is unknown.
    """
    samples, rows, dropped = choose_aliquots(kept.barcodes, kept.failed)
    good = {sample for row, sample in enumerate(samples) if row not in kept.failed} - {""}
    unsure = sorted(set(samples) - good - {""})
    reason = "no mutation of theirs passed the filters: not counted as samples without mutation"
    entries = log_shortened(kept.barcodes, samples)
    entries += log_names("dropped", "samples", reason, unsure)
    if aliquots == "merge":
        merging = "several aliquots of one sample: merged by the rule 'any'"
        dropped = log_count("merged", "aliquots", len(samples) - len(rows), merging)
        rows = list(range(len(samples)))
    used = set(rows)
    owners = [s if s in good and row in used else None for row, s in enumerate(samples)]
    return owners, set(unsure), entries + dropped


def _log_sequenced(present: set[str], listed: tuple[str, ...] | None) -> list[LogEntry]:
    """List the samples without a mutation in the file, and those outside the list."""
    if listed is None:
        reason = "no list of sequenced samples: who is not in the file may have mutations or none"
        return [LogEntry("noted", "samples", len(present), reason)]
    unlisted = sorted(present - set(listed))
    none = [name for name in listed if name not in present]
    return [
        *log_names("noted", "samples", "sequenced, without any row: no mutation", none),
        *log_names("noted", "samples", "not on the list of sequenced samples: kept", unlisted),
    ]


def _resolve(listed: Iterable[str], present: set[str]) -> tuple[str, ...]:
    """Write the listed samples as the table does: a patient's one sample, a sample's patient."""
    of_patient: dict[str, list[str]] = {}
    for name in sorted(present):
        of_patient.setdefault(parse_barcode(name).patient, []).append(name)
    resolved: dict[str, None] = {}
    for name in listed:
        barcode = parse_barcode(name)
        same = of_patient.get(barcode.patient, [])
        if name in present or not same:
            resolved[name] = None
        elif barcode.is_patient:
            resolved.update(dict.fromkeys(same))
        else:
            resolved[barcode.patient if barcode.patient in present else name] = None
    return tuple(resolved)
