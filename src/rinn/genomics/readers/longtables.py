"""Tables with one line for each mutation or measurement: pick the few columns that matter."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from rinn.data.log import LogEntry
from rinn.data.text import Lines, parse_cell
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.readers.matrices import LARGEST, Matrix, split_header

_LONG = {
    "hugo": ("hugo_symbol",),
    "entrez": ("entrez_gene_id",),
    "sample": ("sample_id",),
    "value": ("value",),
}
_MAX_CELLS = 1 << 30


class LongTable:
    """One pass over a long table, which yields the cells of the columns that were asked for.

    Quotes have no meaning: a field goes from tab to tab. Lines that begin with `#` before the
    header are comments. A line that is shorter than the header is taken as if empty fields
    followed, unless a column that matters is missing or the file ends in the middle of it.
    """

    def __init__(
        self, lines: Lines, columns: Mapping[str, Sequence[str]], optional: Sequence[str] = ()
    ) -> None:
        self.lines = lines
        self.rows = 0
        self._short = 0
        self._blank = 0
        self._comments = 0
        self._rest = iter(lines)
        self.header = self._read_header()
        self.places = {
            key: place
            for key, names in columns.items()
            if (place := self._find(names, key not in optional)) is not None
        }

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the wanted cells of each row, in the order of `places`."""
        wanted = tuple(self.places.values())
        furthest = max(wanted)
        width = len(self.header)
        for line in self._rest:
            cells = line.split("\t", furthest + 1)
            if len(cells) <= furthest:
                if not line.strip():
                    self._blank += 1
                    continue
                raise self._reject_short(len(cells))
            tabs = line.count("\t")
            if tabs + 1 != width:
                self._check_width(line, tabs + 1)
            self.rows += 1
            yield [cells[place] for place in wanted]

    @property
    def entries(self) -> list[LogEntry]:
        """What was read and mended so far."""
        entries = [LogEntry("read", "rows", self.rows, "lines after the header")]
        if self._comments:
            entries.append(
                LogEntry("dropped", "lines", self._comments, "comments above the header")
            )
        if self._blank:
            entries.append(LogEntry("dropped", "lines", self._blank, "blank"))
        if self._short:
            reason = "shorter than the header: the fields at the end are taken for empty"
            entries.append(LogEntry("repaired", "rows", self._short, reason))
        return entries + self.lines.entries

    def _read_header(self) -> list[str]:
        for line in self._rest:
            if line.startswith("#"):
                self._comments += 1
            elif line.strip():
                return split_header(line)
        raise InputError(
            f"{self.lines.source} must begin with a line of column names, but it has no such line; "
            f"export it again"
        )

    def _find(self, names: Sequence[str], is_needed: bool) -> int | None:
        """Find a column by the first of its names that is there."""
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

    def _check_width(self, line: str, found: int) -> None:
        """Bear empty fields at the end, whether there are more or fewer than in the header."""
        width = len(self.header)
        if found > width:
            if any(cell.strip() for cell in line.split("\t")[width:]):
                raise self.lines.reject(
                    f"have at most {width} fields in each line, as its header has",
                    f"has {found}",
                    "look for a tab too many in that line",
                )
        elif self.lines.is_cut:
            raise self._reject_short(found)
        else:
            self._short += 1

    def _reject_short(self, found: int) -> InputError:
        end = " and is the end of the file" if self.lines.is_cut else ""
        return self.lines.reject(
            f"have {len(self.header)} fields in each line, as its header has",
            f"has {found}{end}",
            "mend that line, or download the file again",
        )


def index_names(names: dict[str, int]) -> Callable[[str], int]:
    """Make a function that numbers names as they come.

    Example:
        >>> names: dict[str, int] = {}
        >>> number = index_names(names)
        >>> [number("TP53"), number("EGFR"), number("TP53")], list(names)
        ([0, 1, 0], ['TP53', 'EGFR'])
    """

    def number(name: str) -> int:
        found = names.get(name)
        if found is None:
            found = names[name] = len(names)
        return found

    return number


def read_long_values(lines: Lines, dtype: str) -> Matrix:
    """Read values with one line per gene and sample; what has no line is missing."""
    table = LongTable(lines, _LONG, optional=("hugo", "entrez"))
    if not {"hugo", "entrez"} & set(table.places):
        raise lines.reject(
            "have the column Hugo_Symbol or Entrez_Gene_Id", "has neither", "add one"
        )
    gene_names: dict[str, int] = {}
    sample_names: dict[str, int] = {}
    number_gene, number_sample = index_names(gene_names), index_names(sample_names)
    genes, samples, values = array("i"), array("i"), array("d")
    for *names, sample, text in table:
        value = parse_cell(text.strip('"'))
        if value is None or abs(value) > LARGEST:
            raise lines.reject("hold numbers", f"has the value {quote(text)}", "write one, or NA")
        genes.append(number_gene(next((name for name in names if name.strip()), "")))
        samples.append(number_sample(sample.strip()))
        values.append(value)
    return _pivot(lines, table, (gene_names, sample_names), (genes, samples, values), dtype)


def _pivot(
    lines: Lines,
    table: LongTable,
    names: tuple[dict[str, int], dict[str, int]],
    cells: tuple[array[int], array[int], array[float]],
    dtype: str,
) -> Matrix:
    """Spread the values over genes and samples; refuse two different ones for the same cell."""
    genes, samples = list(names[0]), list(names[1])
    if not genes:
        raise InputError(f"{lines.source} must have rows, but has only a header; export it again")
    if "" in samples or len(genes) * len(samples) > _MAX_CELLS:
        raise InputError(
            f"{lines.source} must have a sample in each row and at most {_MAX_CELLS:,} cells, but "
            f"has {len(genes):,} genes and {len(samples):,} samples; check its columns"
        )
    places = np.array(cells[0], dtype=np.int64) * len(samples) + np.array(cells[1], dtype=np.int64)
    written = np.array(cells[2], dtype=dtype)
    flat = np.full(len(genes) * len(samples), np.nan, dtype=dtype)
    flat[places] = written
    clash = ~((flat[places] == written) | (np.isnan(flat[places]) & np.isnan(written)))
    if clash.any():
        gene, sample = divmod(int(places[int(clash.argmax())]), len(samples))
        raise InputError(
            f"{lines.source} must have one value for each gene and sample, but has several for "
            f"{quote(genes[gene])} in {quote(samples[sample])}; keep one row"
        )
    entries = table.entries
    repeats = len(places) - len(np.unique(places))
    if repeats:
        entries.append(LogEntry("merged", "rows", repeats, "the same gene, sample and value again"))
    return Matrix(genes, samples, flat.reshape(len(genes), len(samples)), entries)
