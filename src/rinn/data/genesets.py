"""Gene sets from a GMT file: one set on each line, its name, a description, and its genes."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.text import Lines
from rinn.errors import InputError, quote

EXAMPLES = 3
_WEIGHTED = re.compile(r"(?P<gene>[^,]+),-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class GeneSets:
    """Named sets of genes.

    Attributes:
        sets: the genes of each set, in the order of the file; of those asked for, if any were.
        sizes: how many genes each set has in the file.
        descriptions: the second field of each line.
        log: what was read, dropped and repaired.
        examples: a few genes of the file, whether asked for or not.
    """

    sets: dict[str, frozenset[str]]
    sizes: dict[str, int]
    descriptions: dict[str, str]
    log: ReadLog
    examples: tuple[str, ...] = ()

    @property
    def genes(self) -> frozenset[str]:
        """All genes of the sets."""
        return frozenset().union(*self.sets.values())


def load_gmt(path: str | os.PathLike[str], *, genes: Collection[str] | None = None) -> GeneSets:
    r"""Read gene sets, line by line, plain or gzip.

    Empty lines, lines that begin with # and sets without a gene are left out. A gene that a line
    repeats counts once; of `TP53,1.0`, a gene with its weight, the gene is kept. A set that is
    there twice with the same genes is kept once.

    Args:
        path: the file: set name, description and genes, separated by tabs.
        genes: keep these genes only, so that a large file needs little memory.

    Returns:
        The sets.

    Raises:
        InputError: the file cannot be read, a line has no name or too few fields, two different
            sets have the same name, or there is no set at all.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "sets.gmt"
        >>> _ = path.write_text("CYCLE\tfrom a book\tCDK1\tCCNB1\nP53\t\tTP53\tCDKN1A\tTP53\n")
        >>> groups = load_gmt(path)
        >>> list(groups.sets), sorted(groups.sets["P53"])
        (['CYCLE', 'P53'], ['CDKN1A', 'TP53'])
    """
    lines = Lines(path, "GMT")
    wanted = None if genes is None else frozenset(genes)
    sets: dict[str, frozenset[str]] = {}
    descriptions: dict[str, str] = {}
    prints: dict[str, tuple[int, int, int]] = {}  # line, size and hash of the genes of each set
    empty: list[str] = []
    twice: list[str] = []
    examples: list[str] = []
    tally: Counter[str] = Counter()
    for name, about, members in _read_sets(lines, tally):
        if not members:
            empty.append(name)
        elif name not in prints:
            prints[name] = lines.number, len(members), hash(members)
            sets[name] = members if wanted is None else members & wanted
            descriptions[name] = about
            examples += sorted(members)[: EXAMPLES - len(examples)]
        elif prints[name][1:] == (len(members), hash(members)):
            twice.append(name)
        else:
            raise lines.reject(
                "have each set name once",
                f"has {quote(name)} again, with other genes than line {prints[name][0]}",
                "rename or remove one of the two",
            )
    if not sets:
        raise InputError(
            f"{lines.source} must hold at least one set of genes, but it has none; each line is a "
            f"set name, a description and genes, separated by tabs"
        )
    cut = "what follows the comma is cut off"
    entries = (
        LogEntry("read", "sets", len(sets), "with at least one gene"),
        *log_names("dropped", "sets", "no genes", empty),
        *log_names("merged", "sets", "there twice with the same genes", twice),
        *log_count("dropped", "lines", tally["skipped"], "empty, or begin with #"),
        *log_count("merged", "genes", tally["repeated"], "repeated within their set"),
        *log_count("repaired", "genes", tally["weighted"], cut),
        *lines.entries,
    )
    sizes = {name: prints[name][1] for name in sets}
    log = ReadLog(str(lines.path), "GMT", entries)
    return GeneSets(sets, sizes, descriptions, log, tuple(examples))


def _read_sets(lines: Lines, tally: Counter[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    shared: dict[str, str] = {}  # each gene once in memory, however many sets it is in
    for line in lines:
        if not line.strip() or line.startswith("#"):
            tally["skipped"] += 1
            continue
        fields = line.split("\t")
        name = fields[0].strip()
        if not name:
            raise lines.reject("have a set name on each line", "has none", "name or remove it")
        if len(fields) < 2:
            raise lines.reject(
                "have a set name, a description and genes on each line, separated by tabs",
                f"has no tab ({quote(name)})",
                "save the file with tabs",
            )
        genes = [text for text in map(str.strip, fields[2:]) if text]
        for number, gene in enumerate(genes):
            if "," in gene and (match := _WEIGHTED.fullmatch(gene)):
                tally["weighted"] += 1
                genes[number] = match["gene"].strip()
        members = frozenset(shared.setdefault(gene, gene) for gene in genes)
        tally["repeated"] += len(genes) - len(members)
        yield name, fields[1].strip(), members
