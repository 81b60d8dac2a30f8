"""How a file of genes is read: the keywords of all readers, lists of classes, rules for repeats."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

import numpy as np

from rinn.config import check_choice
from rinn.errors import InputError, suggest
from rinn.genomics.symbols import SymbolRules

Kind = Literal["mutation", "copy number", "expression", "other"]
NON_SILENT = (
    "Frame_Shift_Del", "Frame_Shift_Ins", "Splice_Site", "Translation_Start_Site",
    "Nonsense_Mutation", "Nonstop_Mutation", "In_Frame_Del", "In_Frame_Ins", "Missense_Mutation",
)  # fmt: skip
_SILENT = ("Silent", "Intron", "IGR", "3'UTR", "5'UTR", "3'Flank", "5'Flank")
_VEP = (
    "missense_variant", "stop_gained", "stop_lost", "start_lost", "frameshift_variant",
    "inframe_insertion", "inframe_deletion", "splice_acceptor_variant", "splice_donor_variant",
    "protein_altering_variant", "transcript_ablation",
)  # fmt: skip


@dataclass(frozen=True)
class ClassList:
    """Which classes of mutations are kept: those listed, or all but those listed.

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


class Options(TypedDict, total=False):
    """The keywords of all readers; a reader ignores those that its format does not need.

    Attributes:
        kind: what the values are: "mutation", "copy number", "expression" or "other"; by default
            as the format has them, or guessed (0 and 1 mutation, whole numbers from -2 to 2 copy
            number, else expression).
        log: take log2(x + 1) of expression; None where no value is below 0 and some are above 50,
            so that files that are logs already stay as they are.
        duplicates: how the rows of one gene are merged: "any" (the default for mutations),
            "strongest" (copy number), "mean" (expression), "max", "sum" or "first".
        symbols: how gene symbols are cleaned.
        aliquots: of several aliquots of one sample take the "first", or "merge" them.
        dtype: "float64", or "float32" for half the memory.
        classes: which mutations of a list count: the name of a list of classes ("maftools",
            "xena", "cbioportal", "vep", "all") or the classes to keep.
        filters: the values of the FILTER column of a list that pass, such as ("PASS", "wga") for
            MC3; empty cells pass too. None keeps all; a file without that column is not filtered.
        sequenced: for a list, the samples that were sequenced: their barcodes, or a file (see
            `load_samples`). A sample without mutations is in no list: here it gets zeros.
    """

    kind: Kind | None
    log: bool | None
    duplicates: str | None
    symbols: SymbolRules | None
    aliquots: Literal["first", "merge"]
    dtype: str
    classes: str | Collection[str] | ClassList
    filters: Collection[str] | None
    sequenced: str | os.PathLike[str] | Iterable[str] | None


DEFAULTS = Options(
    kind=None, log=None, duplicates=None, symbols=None, aliquots="first", dtype="float64",
    classes="maftools", filters=("PASS",), sequenced=None,
)  # fmt: skip


def fill_options(given: Options, **defaults: Unpack[Options]) -> Options:
    """Check the options that were given, and add the defaults of a reader for the others."""
    for name in given.keys() - DEFAULTS.keys():
        raise InputError(f"options must be known, got {name!r}{suggest(name, DEFAULTS)}")
    options: Options = {**DEFAULTS, **defaults, **given}
    find_rule(options["duplicates"], "other")
    check_choice("aliquots", options["aliquots"], ("first", "merge"))
    check_choice("dtype", options["dtype"], ("float64", "float32"))
    if isinstance(options["filters"], str):
        raise InputError(
            f"filters must be a list such as ['PASS'], got the text {options['filters']!r}; put "
            f"it in brackets"
        )
    find_classes(options["classes"])
    return options


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
    if not classes:
        raise InputError("classes must name at least one class to keep, but is empty; name one")
    return ClassList("your own", tuple(map(str, classes)))


def find_rule(rule: str | None, kind: Kind) -> str:
    """Check the name of a rule, or take the default of the kind."""
    if rule is None:
        return {"mutation": "any", "copy number": "strongest"}.get(kind, "mean")
    return check_choice("duplicates", rule, RULES)


def merge_rows(values: np.ndarray, targets: Collection[int], size: int, rule: str) -> np.ndarray:
    """Merge the rows with the same target by a rule that skips missing values; -1 drops a row.

    >>> merge_rows(np.array([[-2, 0], [1, 1]]), [0, 0], 1, "strongest")
    array([[-2,  1]])
    """
    index = np.asarray(targets, dtype=np.intp)
    if np.array_equal(index, np.arange(size)):
        return values
    order = np.argsort(index, kind="stable")[(index < 0).sum() :]
    groups = np.split(order, np.flatnonzero(np.diff(index[order])) + 1) if len(order) else []
    merged = np.empty((size, values.shape[1]), dtype=values.dtype)
    for target, rows in enumerate(groups):
        merged[target] = values[rows[0]] if len(rows) == 1 else RULES[rule](values[rows])
    return merged


def _sum(rows: np.ndarray) -> np.ndarray:
    missing = np.isnan(rows).all(axis=0)
    return np.where(missing, np.nan, np.nansum(rows, axis=0, dtype=np.float64))


def _pick(rows: np.ndarray, rank: np.ndarray) -> np.ndarray:
    return np.take_along_axis(rows, rank.argmax(axis=0)[None], axis=0)[0]


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "any": lambda rows: np.fmax.reduce(np.where(np.isnan(rows), rows, rows != 0), axis=0),
    "strongest": lambda rows: _pick(rows, np.where(np.isnan(rows), -1, np.abs(rows))),
    "mean": lambda rows: _sum(rows) / np.maximum((~np.isnan(rows)).sum(axis=0), 1),
    "max": lambda rows: np.fmax.reduce(rows, axis=0),
    "sum": _sum,
    "first": lambda rows: _pick(rows, ~np.isnan(rows)),
}
