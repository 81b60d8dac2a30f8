"""From one line per mutation to a table of which gene is mutated in which sample."""

from __future__ import annotations

import os
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from rinn.config import check_choice
from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.text import Lines
from rinn.errors import InputError, quote_some, suggest
from rinn.genomics.barcodes import choose_aliquots, load_samples, log_shortened, parse_barcode
from rinn.genomics.readers.matrices import ALIQUOTS, GeneTable, LongTable
from rinn.genomics.symbols import SymbolRules, clean_symbols

NON_SILENT = (
    "Frame_Shift_Del",
    "Frame_Shift_Ins",
    "Splice_Site",
    "Translation_Start_Site",
    "Nonsense_Mutation",
    "Nonstop_Mutation",
    "In_Frame_Del",
    "In_Frame_Ins",
    "Missense_Mutation",
)
_SILENT = ("Silent", "Intron", "IGR", "3'UTR", "5'UTR", "3'Flank", "5'Flank")
_VEP = (
    "missense_variant",
    "stop_gained",
    "stop_lost",
    "start_lost",
    "frameshift_variant",
    "inframe_insertion",
    "inframe_deletion",
    "splice_acceptor_variant",
    "splice_donor_variant",
    "protein_altering_variant",
    "transcript_ablation",
)

_MAX_KEYS = 1000  # classes and filters; a file with more has something else in these columns
_MAX_CELLS = 1 << 32
Sequenced = str | os.PathLike[str] | Iterable[str] | None


@dataclass(frozen=True)
class ClassList:
    """Which classes are kept: those listed, or all but those listed.

    >>> CLASS_LISTS["cbioportal"].keep("TERT", "5'Flank")
    True
    """

    name: str
    classes: tuple[str, ...]
    keeps: bool = True
    exceptions: tuple[tuple[str, str], ...] = ()

    def keep(self, gene: str, effect: str) -> bool:
        """Whether a mutation of this class in this gene is kept."""
        listed = {name.lower() for name in self.classes}
        parts = [part.strip() for part in re.split("[&,;]", effect.lower())]
        if any((part in listed) == self.keeps for part in parts if part):
            return True
        return any(gene == name and kind.lower() in parts for name, kind in self.exceptions)


CLASS_LISTS: dict[str, ClassList] = {
    listing.name: listing
    for listing in (
        ClassList("maftools", NON_SILENT),
        ClassList("xena", (*NON_SILENT, "RNA")),
        ClassList("cbioportal", _SILENT, keeps=False, exceptions=(("TERT", "5'Flank"),)),
        ClassList("vep", _VEP),
        ClassList("all", (), keeps=False),
    )
}


def find_classes(classes: str | Collection[str] | ClassList) -> ClassList:
    """Find a list of classes by name, or make one of the given classes."""
    if isinstance(classes, ClassList):
        return classes
    if isinstance(classes, str):
        if classes not in CLASS_LISTS:
            raise InputError(
                f"classes must be one of {', '.join(CLASS_LISTS)} or a list of classes, got "
                f"{classes!r}{suggest(classes, CLASS_LISTS, listed=False)}"
            )
        return CLASS_LISTS[classes]
    given = tuple(str(name) for name in classes)
    if not given:
        raise InputError("classes must name at least one class to keep, but is empty; name one")
    return ClassList("your own", given)


@dataclass(frozen=True)
class Rules:
    """The user's choices about mutations."""

    classes: str | Collection[str] | ClassList = "maftools"
    filters: Collection[str] | None = None
    sequenced: Sequenced = None
    symbols: SymbolRules | None = None
    aliquots: str = "first"

    def __post_init__(self) -> None:
        find_classes(self.classes)
        check_choice("aliquots", self.aliquots, ALIQUOTS)
        if isinstance(self.filters, str):
            raise InputError(
                f"filters must be a list such as ['PASS'], got the text {self.filters!r}; put it "
                f"in brackets"
            )


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
    lines: Lines, format_name: str, columns: Mapping[str, Sequence[str]], rules: Rules
) -> GeneTable:
    """Read a long table of mutations."""
    table = LongTable(lines, columns, optional=("filter",))
    listing = find_classes(rules.classes)
    kept = _collect(table, listing, rules.filters)
    if not len(kept.rows):
        raise InputError(
            f"{lines.source} must have a mutation to keep, but of {table.rows:,} rows none is left "
            f"(classes: {quote_some(list(kept.effects)) or 'none'}; list of classes: "
            f"'{listing.name}'); pass classes= with those to keep"
        )
    listed = None if rules.sequenced is None else load_samples(rules.sequenced, "sequenced")
    return _make_table(kept, listed, ReadLog(str(lines.path), format_name), rules)


def _collect(table: LongTable, listing: ClassList, filters: Collection[str] | None) -> _Kept:
    """Go through the rows once; keep two small numbers of each mutation that counts."""
    barcodes: dict[str, int] = {}
    genes: dict[str, int] = {}
    rows, columns = array("i"), array("i")
    effects: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    passing: set[int] = set()
    has_filter = "filter" in table.columns and filters is not None
    passes = lru_cache(4096)(lambda cell: _passes(cell, filters or ()))
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
    return _Kept(
        list(barcodes),
        list(genes),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        set(range(len(barcodes))) - passing,
        table.entries + _log_dropped(table.rows, listing, effects, refused, len(rows)),
        dict(effects.most_common()),
    )


def _passes(cell: str, filters: Collection[str]) -> bool:
    """Whether each part of a FILTER cell is allowed; an empty part or a dot is no filter."""
    return all(part.strip() in ("", ".", *filters) for part in re.split("[;,]", cell))


def _log_dropped(
    rows: int, listing: ClassList, effects: Counter[str], refused: Counter[str], kept: int
) -> list[LogEntry]:
    total = sum(refused.values())
    counts = {f"FILTER is {cell}": count for cell, count in refused.most_common(20)}
    counts["FILTER is something else"] = total - sum(counts.values())
    entries = [
        LogEntry("dropped", "mutations", count, reason) for reason, count in counts.items() if count
    ]
    silent = rows - total - kept
    if silent:
        classes = tuple(effect for effect in effects if not listing.keep("", effect))
        reason = f"their class is not kept by the list '{listing.name}'"
        entries.append(LogEntry("dropped", "mutations", silent, reason, classes))
    entries.append(LogEntry("read", "mutations", kept, f"kept by the list '{listing.name}'"))
    return entries


def _make_table(
    kept: _Kept, listed: tuple[str, ...] | None, log: ReadLog, rules: Rules
) -> GeneTable:
    """Clean the names and fill the table."""
    symbols = clean_symbols(kept.genes, rules.symbols, "any")
    owners, unsure, entries = _find_owners(kept, rules.aliquots)
    sequenced = None
    if listed is not None:
        sequenced = tuple(name for name in _resolve(listed, owners) if name not in unsure)
    samples = sorted({*(owner for owner in owners if owner), *(sequenced or ())})
    genes = sorted(symbols.names)
    if len(samples) * len(genes) > _MAX_CELLS:
        raise InputError(
            f"{log.source} must give a table of at most {_MAX_CELLS:,} cells, but it has "
            f"{len(samples):,} samples and {len(genes):,} genes; check its columns"
        )
    row_of = {name: row for row, name in enumerate(samples)}
    column_of = {name: column for column, name in enumerate(genes)}
    targets = [column_of[symbols.names[n]] if n >= 0 else -1 for n in symbols.targets]
    rows = np.array([row_of.get(owner or "", -1) for owner in owners], dtype=np.int64)[kept.rows]
    columns = np.array(targets, dtype=np.int64)[kept.columns]
    is_kept = (rows >= 0) & (columns >= 0)
    values = np.zeros((len(samples), len(genes)), dtype=np.int8)
    values[rows[is_kept], columns[is_kept]] = 1
    table = pd.DataFrame(values, pd.Index(samples, name="sample"), pd.Index(genes), copy=False)
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
        *_log_sequenced(owners, sequenced),
    ]
    log = replace(log, entries=tuple(entries), tallies={"class": kept.effects})
    return GeneTable(table, log, "mutation", "0 or 1", sequenced)


def _find_owners(kept: _Kept, aliquots: str) -> tuple[list[str | None], set[str], list[LogEntry]]:
    """The sample of each barcode; the samples of which no mutation passed; the log.

    None stands for a barcode that is empty, one of a sample of which another aliquot is kept, and
    one of a sample of which no mutation passed: whether that has mutations is unknown.
    """
    samples, rows, dropped = choose_aliquots(kept.barcodes, kept.failed)
    good = {sample for row, sample in enumerate(samples) if row not in kept.failed}
    unsure = sorted(set(samples) - good - {""})
    reason = "no mutation of theirs passed the filters: not taken for samples without mutation"
    entries = log_shortened(kept.barcodes, samples)
    entries += log_names("dropped", "samples", reason, unsure)
    extra = len(samples) - len(rows)
    if aliquots == "merge" and extra:
        merging = "several aliquots of one sample: merged by the rule 'any'"
        dropped = [LogEntry("merged", "aliquots", extra, merging)]
    used = set(range(len(samples)) if aliquots == "merge" else rows)
    owners = [
        sample if sample and sample in good and row in used else None
        for row, sample in enumerate(samples)
    ]
    return owners, set(unsure), entries + dropped


def _log_sequenced(owners: Sequence[str | None], listed: tuple[str, ...] | None) -> list[LogEntry]:
    """List the samples without a mutation in the file, and those outside the list."""
    present = {owner for owner in owners if owner}
    if listed is None:
        reason = "no list of sequenced samples: who is not in the file may have mutations or none"
        return [LogEntry("noted", "samples", len(present), reason)]
    unlisted = sorted(present - set(listed))
    none = [name for name in listed if name not in present]
    return [
        *log_names("noted", "samples", "sequenced, without any row: no mutation", none),
        *log_names("noted", "samples", "not on the list of sequenced samples: kept", unlisted),
    ]


def _resolve(listed: Sequence[str], owners: Iterable[str | None]) -> tuple[str, ...]:
    """Write the listed samples as the table does: a patient's one sample, a sample's patient."""
    present = {owner for owner in owners if owner}
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
