"""Gene symbols: repaired where a program changed them, and written in one way in each table."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rinn.data.log import LogEntry, log_names
from rinn.data.text import MISSING, Lines
from rinn.errors import InputError

_DATES = (
    re.compile(r"(?P<day>\d{1,2})[-/ ](?P<month>[a-z]{3})(?:[-/ ]\d{2,4})?", re.IGNORECASE),
    re.compile(r"(?P<month>[a-z]{3})[-/ ](?P<day>\d{1,2})", re.IGNORECASE),
    re.compile(r"\d{4}-(?P<month>\d\d)-(?P<day>\d\d)(?:[ T]00:00:00)?"),
)
_MONTHS = {"sep": "09", "mar": "03", "dec": "12"}
_ENSEMBL = re.compile(r"(ENS[A-Z]*\d{11})\.\d+(?:_PAR_Y)?", re.IGNORECASE)
_NO_SYMBOL = MISSING | {"?", ".", "-", "---", "unknown"}

DATED = (
    {("09", day): f"SEPTIN{day}" for day in range(1, 15)}
    | {("09", 15): "SELENOF", ("12", 1): "DELEC1"}
    | {("03", day): f"MARCHF{day}" for day in range(1, 12)}
)
ALIASES: Mapping[str, str] = (
    {"MLL": "KMT2A", "MLL2": "KMT2D", "MLL3": "KMT2C", "SEP15": "SELENOF", "DEC1": "DELEC1"}
    | {"MARC1": "MTARC1", "MARC2": "MTARC2"}
    | {f"SEPT{number}": f"SEPTIN{number}" for number in range(1, 15)}
    | {f"MARCH{number}": f"MARCHF{number}" for number in range(1, 12)}
)
_REASONS = {
    "rename": "the list of names to change",
    "alias": "an older symbol of the same gene",
    "date": "a date that a spreadsheet made of a symbol (Mar 1 and 2 may also have been MARC1, 2)",
    "version": "the version of the Ensembl id is cut off",
    "cut": "what follows | is cut off",
    "case": "in capitals",
}


@dataclass(frozen=True)
class SymbolRules:
    """Which steps of cleaning gene symbols are taken."""

    cut: bool = True
    upper: bool = True
    dates: bool = True
    aliases: Mapping[str, str] = field(default_factory=lambda: ALIASES)
    rename: Mapping[str, str] = field(default_factory=dict)


AS_WRITTEN = SymbolRules(cut=False, upper=False, dates=False, aliases={})


@dataclass(frozen=True)
class Symbols:
    """The symbols of a table's genes; `targets` has, for each name of the file, its index or -1."""

    names: tuple[str, ...]
    targets: tuple[int, ...]
    entries: tuple[LogEntry, ...]


def clean_symbol(text: str, rules: SymbolRules | None = None) -> tuple[str | None, str | None]:
    """The clean symbol, or None where there is none, and the step that changed it.

    >>> [clean_symbol(text) for text in ("TP53|7157", "1-Sep", "?|100130426", "MLL3", "EGFR")]
    [('TP53', 'cut'), ('SEPTIN1', 'date'), (None, None), ('KMT2C', 'alias'), ('EGFR', None)]
    """
    rules = rules or SymbolRules()
    name = text.strip().strip('"').strip()
    step = None
    if rules.cut:
        match = _ENSEMBL.fullmatch(name)
        if match:
            name, step = match[1], "version"
        elif "|" in name:
            name, step = name.partition("|")[0].strip(), "cut"
    for form in dict.fromkeys((text.strip(), name)):
        if form in rules.rename:
            renamed = rules.rename[form].strip()
            return (renamed or None), "rename"
    match = next(filter(None, (form.fullmatch(name) for form in _DATES)), None)
    if match and rules.dates:
        month = match["month"].lower()
        dated = DATED.get((_MONTHS.get(month, month), int(match["day"])))
        if dated:
            return dated, "date"
    if rules.upper and name != name.upper():
        name, step = name.upper(), step or "case"
    if name in rules.aliases:
        return rules.aliases[name], "alias"
    return (None, None) if name.lower() in _NO_SYMBOL else (name, step)


def clean_symbols(texts: Sequence[str], rules: SymbolRules | None, rule: str) -> Symbols:
    """Clean all gene symbols of a table, and find those that become one.

    >>> symbols = clean_symbols(["SLC35E2|728661", "SLC35E2|9906", "?|1"], None, "mean")
    >>> symbols.names, symbols.targets
    (('SLC35E2',), (0, 0, -1))
    """
    index: dict[str, int] = {}
    sources: dict[str, list[str]] = {}
    changes: dict[str, list[str]] = {}
    targets, nameless = [], []
    for text in texts:
        name, step = clean_symbol(text, rules)
        if name is None:
            nameless.append(text)
            targets.append(-1)
            continue
        if step:
            changes.setdefault(step, []).append(f"{text} -> {name}")
        targets.append(index.setdefault(name, len(index)))
        sources.setdefault(name, []).append(text)
    entries = log_names("dropped", "genes", "they have no symbol", nameless)
    for step in (step for step in _REASONS if step in changes):
        is_rare = step in ("alias", "date")
        shown = changes[step] if is_rare else changes[step][:1]
        reason = _REASONS[step] if is_rare else f"{_REASONS[step]}, as {shown[0]}"
        entries += log_names("renamed", "genes", reason, changes[step], keep=is_rare)
    merged = [f"{name} ({len(rows)})" for name, rows in sources.items() if len(rows) > 1]
    reason = f"several rows have the same symbol: merged by the rule '{rule}'"
    entries += log_names("merged", "genes", reason, merged)
    return Symbols(tuple(index), tuple(targets), tuple(entries))


def load_gene_names(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a table of ids and symbols, such as a Xena probe map; for `SymbolRules(rename=...)`."""
    lines = Lines(path, "gene names")
    names: dict[str, str] = {}
    for line in lines:
        cells = [cell.strip().strip('"') for cell in line.split("\t")]
        if lines.number == 1 and cells[0].lower().lstrip("#") in ("id", "gene_id", "ensembl_id"):
            continue
        if not line.strip():
            continue
        if len(cells) < 2:
            raise lines.reject("have an id and a symbol in each line", "has no tab", "add the tab")
        match = _ENSEMBL.fullmatch(cells[0])
        for name in (cells[0], match[1] if match else cells[0]):
            names[name] = cells[1]
    if not names:
        raise InputError(f"{lines.source} must name genes, but it is empty; export it again")
    return names
