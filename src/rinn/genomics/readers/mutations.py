"""From one line per mutation to a table of which gene is mutated in which sample."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.text import Lines
from rinn.errors import InputError, quote_some, suggest
from rinn.genomics.barcodes import choose_aliquots, load_samples, note_shortened, parse_barcode
from rinn.genomics.readers.longtables import LongTable, index_names
from rinn.genomics.readers.matrices import GeneTable
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

_MAX_WORDS = 1000  # of classes and of filters; a file with more has something else there
_MAX_CELLS = 1 << 32
Sequenced = str | os.PathLike[str] | Iterable[str] | None


@dataclass(frozen=True)
class ClassList:
    """Which classes are kept: those listed, or all but those listed."""

    name: str
    classes: tuple[str, ...]
    keeps: bool = True
    exceptions: tuple[tuple[str, str], ...] = ()

    def keep(self, gene: str, effect: str) -> bool:
        """Whether a mutation of this class in this gene is kept.

        Example:
            >>> CLASS_LISTS["cbioportal"].keep("TERT", "5'Flank")
            True
        """
        listed = {name.lower() for name in self.classes}
        parts = [
            part.strip() for part in effect.lower().replace("&", ";").replace(",", ";").split(";")
        ]
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
    """Find a list of classes by name, or make one of the user's own classes.

    Example:
        >>> find_classes(["Missense_Mutation"]).keep("TP53", "Silent")
        False
    """
    if isinstance(classes, ClassList):
        return classes
    if isinstance(classes, str):
        if classes not in CLASS_LISTS:
            raise InputError(
                f"classes must be one of {', '.join(CLASS_LISTS)} or a list of classes, got "
                f"{classes!r}{suggest(classes, CLASS_LISTS, listed=False)}"
            )
        return CLASS_LISTS[classes]
    own = tuple(str(name) for name in classes)
    if not own:
        raise InputError("classes must name at least one class to keep, but is empty; name one")
    return ClassList("your own", own)


@dataclass(frozen=True)
class Rules:
    """What the user chose about mutations."""

    classes: str | Collection[str] | ClassList = "maftools"
    filters: Collection[str] | None = None
    sequenced: Sequenced = None
    symbols: SymbolRules | None = None
    aliquots: str = "first"

    def __post_init__(self) -> None:
        find_classes(self.classes)
        if self.aliquots not in ("first", "merge"):
            raise InputError(f"aliquots must be 'first' or 'merge', got {self.aliquots!r}")
        if isinstance(self.filters, str):
            raise InputError(
                f"filters must be a list such as ['PASS'], got the text {self.filters!r}; put it "
                f"in brackets"
            )


@dataclass(frozen=True)
class _Found:
    """The mutations that are kept: places in `barcodes` and `genes`, and what was counted.

    `poor` holds the barcodes of which no mutation passed the filters.
    """

    barcodes: list[str]
    genes: list[str]
    rows: np.ndarray
    columns: np.ndarray
    poor: set[int]
    entries: list[LogEntry]
    effects: dict[str, int]


def read_mutations(
    lines: Lines,
    format_name: str,
    columns: Mapping[str, Sequence[str]],
    rules: Rules,
) -> GeneTable:
    """Read a long table of mutations."""
    table = LongTable(lines, columns, optional=("filter",))
    listing = find_classes(rules.classes)
    found = _collect(table, listing, rules.filters)
    if not len(found.rows):
        raise InputError(
            f"{lines.source} must have a mutation to keep, but of {table.rows:,} rows none is left "
            f"(classes: {quote_some(list(found.effects)) or 'none'}; list of classes: "
            f"'{listing.name}'); pass classes= with those to keep"
        )
    sequenced = rules.sequenced
    listed = None if sequenced is None else load_samples(sequenced, "sequenced")
    return _make_reading(found, listed, ReadLog(str(lines.path), format_name), rules)


def _collect(table: LongTable, listing: ClassList, filters: Collection[str] | None) -> _Found:
    """Go through the rows once; keep two small numbers of each mutation that counts."""
    barcodes: dict[str, int] = {}
    genes: dict[str, int] = {}
    number_barcode, number_gene = index_names(barcodes), index_names(genes)
    rows, columns = array("i"), array("i")
    effects: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    passing: set[int] = set()
    has_filter = "filter" in table.places and filters is not None
    passes = lru_cache(4096)(lambda word: _passes(word, filters or ()))
    keeps = lru_cache(4096)(listing.keep)
    special = {gene for gene, _ in listing.exceptions}
    for gene, barcode, effect, *words in table:
        effects[effect if effect in effects or len(effects) < _MAX_WORDS else "other"] += 1
        row = number_barcode(barcode)  # also where the mutation is dropped: it was sequenced
        if has_filter and not passes(words[0]):
            word = words[0]
            refused[word if word in refused or len(refused) < _MAX_WORDS else "other"] += 1
            continue
        passing.add(row)
        if keeps(gene if gene in special else "", effect):
            rows.append(row)
            columns.append(number_gene(gene))
    entries = table.entries + _note_dropped(table, listing, effects, refused, len(rows))
    return _Found(
        list(barcodes),
        list(genes),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        set(range(len(barcodes))) - passing,
        entries,
        dict(effects.most_common()),
    )


def _passes(word: str, filters: Collection[str]) -> bool:
    """Whether each word of a FILTER cell is allowed; an empty cell or a dot says nothing."""
    parts = word.replace(";", ",").split(",")
    return all(part.strip() in ("", ".", *filters) for part in parts)


def _note_dropped(
    table: LongTable,
    listing: ClassList,
    effects: Counter[str],
    refused: Counter[str],
    kept: int,
) -> list[LogEntry]:
    entries = []
    for word, count in refused.most_common(20):
        entries.append(LogEntry("dropped", "mutations", count, f"FILTER is {word}"))
    others = sum(refused.values()) - sum(count for _, count in refused.most_common(20))
    if others:
        entries.append(LogEntry("dropped", "mutations", others, "FILTER is something else"))
    silent = table.rows - sum(refused.values()) - kept
    if silent:
        classes = tuple(word for word in effects if not listing.keep("", word))
        reason = f"their class is not kept by the list '{listing.name}'"
        entries.append(LogEntry("dropped", "mutations", silent, reason, classes))
    entries.append(LogEntry("read", "mutations", kept, f"kept by the list '{listing.name}'"))
    return entries


def _make_reading(
    found: _Found, listed: tuple[str, ...] | None, log: ReadLog, rules: Rules
) -> GeneTable:
    """Clean the names and fill the table."""
    symbols = clean_symbols(found.genes, rules.symbols, "any")
    targets = np.array(symbols.targets, dtype=np.int64)
    owners, unsure, entries = _find_owners(found, rules.aliquots)
    sequenced = None
    if listed is not None:
        sequenced = tuple(name for name in _resolve(listed, owners) if name not in unsure)
    samples = sorted({*(owner for owner in owners if owner), *(sequenced or ())})
    if len(samples) * len(symbols.names) > _MAX_CELLS:
        raise InputError(
            f"{log.source} must give a table of at most {_MAX_CELLS:,} cells, but it has "
            f"{len(samples):,} samples and {len(symbols.names):,} genes; check its columns"
        )
    place = {name: row for row, name in enumerate(samples)}
    rows = np.array([place.get(owner or "", -1) for owner in owners], dtype=np.int64)[found.rows]
    columns = targets[found.columns]
    is_kept = (rows >= 0) & (columns >= 0)
    order = sorted(range(len(symbols.names)), key=symbols.names.__getitem__)
    values = np.zeros((len(samples), len(order)), dtype=np.int8)
    values[rows[is_kept], np.argsort(order)[columns[is_kept]]] = 1
    names = [symbols.names[number] for number in order]
    table = pd.DataFrame(values, pd.Index(samples, name="sample"), pd.Index(names), copy=False)
    is_mutated = values.any(axis=0)  # not where an aliquot that was dropped had the only mutation
    if not is_mutated.all():
        table = table.iloc[:, np.flatnonzero(is_mutated)]
    if table.empty:
        raise InputError(f"{log.source} must name genes, but no symbol is left; check column 1")
    repeats = int(is_kept.sum() - values.sum(dtype=np.int64))
    entries = [
        *found.entries,
        *_note_lost(rows, columns),
        *symbols.entries,
        *entries,
        *_note_repeats(repeats),
        *_note_sequenced(owners, sequenced),
    ]
    log = replace(log, entries=tuple(entries), tallies={"class": found.effects})
    return GeneTable(table, log, "mutation", "0 or 1", sequenced)


def _find_owners(found: _Found, aliquots: str) -> tuple[list[str | None], set[str], list[LogEntry]]:
    """The sample that each barcode stands for; samples of which nothing passed; the entries.

    None stands for a barcode that is empty, for one of a sample of which another aliquot is kept,
    and for one of a sample of which nothing passed: whether that has mutations is not known.
    """
    samples, rows, dropped = choose_aliquots(found.barcodes, found.poor)
    good = {sample for row, sample in enumerate(samples) if row not in found.poor}
    unsure = sorted(set(samples) - good - {""})
    reason = "no mutation of theirs passed the filters: not taken for samples without mutation"
    entries = note_shortened(found.barcodes, samples)
    entries += log_names("dropped", "samples", reason, unsure)
    extra = len(samples) - len(rows)
    if aliquots == "merge" and extra:
        merging = "several aliquots of one sample: merged by the rule 'any'"
        dropped = [LogEntry("merged", "aliquots", extra, merging)]
    kept = set(range(len(samples)) if aliquots == "merge" else rows)
    owners = [
        sample if sample and sample in good and row in kept else None
        for row, sample in enumerate(samples)
    ]
    return owners, set(unsure), entries + dropped


def _note_repeats(count: int) -> list[LogEntry]:
    return [LogEntry("merged", "mutations", count, "more of the same gene and sample")] * (
        count > 0
    )


def _note_lost(rows: np.ndarray, columns: np.ndarray) -> list[LogEntry]:
    nameless, others = int((columns < 0).sum()), int(((rows < 0) & (columns >= 0)).sum())
    entries = []
    if nameless:
        entries.append(LogEntry("dropped", "mutations", nameless, "their gene has no symbol"))
    if others:
        entries.append(
            LogEntry(
                "dropped", "mutations", others, "of aliquots that were dropped, or of no sample"
            )
        )
    return entries


def _note_sequenced(owners: list[str | None], listed: tuple[str, ...] | None) -> list[LogEntry]:
    """Say which samples have no mutation in the file, and which were not on the list."""
    known = {owner for owner in owners if owner}
    if listed is None:
        reason = "no list of sequenced samples: who is not in the file may have mutations or none"
        return [LogEntry("noted", "samples", len(known), reason)]
    strangers = sorted(known - set(listed))
    none = [name for name in listed if name not in known]
    return [
        *log_names("noted", "samples", "sequenced, without any row: no mutation", none),
        *log_names("noted", "samples", "not on the list of sequenced samples: kept", strangers),
    ]


def _resolve(listed: Sequence[str], owners: Iterable[str | None]) -> tuple[str, ...]:
    """Write the listed samples as the table does: a patient's one sample, a sample's patient."""
    known = {owner for owner in owners if owner}
    of_patient: dict[str, list[str]] = {}
    for name in sorted(known):
        of_patient.setdefault(parse_barcode(name).patient, []).append(name)
    resolved: dict[str, None] = {}
    for name in listed:
        barcode = parse_barcode(name)
        same = of_patient.get(barcode.patient, [])
        if name in known or not same:
            resolved[name] = None
        elif barcode.is_patient:
            resolved.update(dict.fromkeys(same))
        else:
            resolved[barcode.patient if barcode.patient in known else name] = None
    return tuple(resolved)
