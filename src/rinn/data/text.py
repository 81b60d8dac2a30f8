"""Tables as text: cells, lines of a file of any size, records, and tables of numbers."""

from __future__ import annotations

import csv
import itertools
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rinn.data.log import LogEntry, log_count
from rinn.errors import InputError, count, find_repeated, name_row, quote, quote_some, reject_text
from rinn.files import BLOCK, check_file, unguard_formula, unpack_blocks

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "#n/a", "#na", "<na>"})
MAX_LINE = 1 << 26  # 64 MiB: a row of a million samples has about 10 MB
_CONSTANTS = {"true": 1.0, "false": 0.0} | dict.fromkeys(MISSING, math.nan)
# Control characters but tab and newline, lone surrogates, byte order marks, and what XML 1.0
# cannot hold: not every output file could give these back.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_ID_HEADER = re.compile(  # in lower case with underscores; an unnamed first column holds ids too
    r"|id|(?:case|patient|submitter)_id|patient|samples?|sampleid|sample_(?:barcode|id|name)"
    r"|barcode|tumor_sample_barcode|row_?names|unnamed:_0"
)
_SIGNATURES = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"PK\x03\x04": "a zip or Excel file; unpack it, or save the sheet as text",
    b"BZh": "compressed by bzip2; unpack it or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it or compress it by gzip",
    b"\x89HDF": "an HDF5 file; read it with load_h5ad",
    b"PAR1": "a Parquet file; read it with load_table",
}
_END_NAMES = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Cells:
    """A table before its names and numbers are checked.

    `values` is [sample, column] with NaN for a missing cell; `lines` holds the line of the file
    on which each row begins, or is None where that is not needed or there is no text file.
    """

    values: np.ndarray
    columns: tuple[str, ...]
    samples: tuple[str, ...] | None
    lines: tuple[int, ...] | None = None


def parse_cell(text: str) -> float | None:
    """The number in a cell; NaN where it is missing, None where it is text.

    >>> [parse_cell(text) for text in (" 2.5", "TRUE", "NA", "high")]
    [2.5, 1.0, nan, None]
    """
    text = text.strip()
    constant = _CONSTANTS.get(text.lower())
    if constant is not None:
        return constant
    if "_" in text or not text.isascii():  # float() would take 1_000 and Arabic digits
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_id_header(name: str) -> bool:
    """Whether a first column of this name holds sample ids.

    >>> is_id_header("Sample ID"), is_id_header("TP53")
    (True, False)
    """
    return bool(_ID_HEADER.fullmatch(re.sub(r"[ .-]", "_", name.strip().lower())))


def is_all_text(cells: Iterable[str]) -> bool:
    """Whether no cell is a number, true, false or missing."""
    return all(parse_cell(cell) is None for cell in cells)


def check_unique(names: Sequence[str], source: str, what: str) -> None:
    """Refuse names that are empty or repeated."""
    if "" in names:
        raise InputError(
            f"{source} must have a name for each {what}, but number {names.index('') + 1} of "
            f"{len(names)} has none; name or remove it"
        )
    repeated = find_repeated(names)
    if repeated:
        raise InputError(
            f"{source} must have each {what} once, but repeats {quote_some(repeated)}; keep one of "
            f"each, or give them different names"
        )


def check_names(names: Iterable[str], source: str, what: str) -> None:
    """Refuse names that not every file could give back: control characters, invalid Unicode."""
    wrong = next((name for name in names if _UNWRITABLE.search(name)), None)
    if wrong is not None:
        raise InputError(
            f"{source} must have names without control characters, but a {what} is called "
            f"{quote(wrong)}; rename it"
        )


class Lines:
    """One pass over the lines of a text file, plain or gzip, in bounded memory.

    LF, CRLF and CR each end a line, also where a file mixes them. Gzip is detected by its first
    bytes, not by the name. A line that is not UTF-8 is read as Latin-1. `number` is that of the
    last line, from 1; `entries` lists what was repaired so far.
    """

    def __init__(self, path: str | os.PathLike[str], label: str) -> None:
        self.path = Path(path)
        self.source = f"{label} ({self.path})"
        self.number = 0
        self.is_cut = False  # the last line had no line end
        self._ends: Counter[bytes] = Counter()
        self._foreign: list[int] = []
        self._is_misnamed = False

    def __iter__(self) -> Iterator[str]:
        """Yield each line without its end."""
        parts: list[bytes] = []  # of a line whose end is not read yet
        size, held = 0, b""
        for block in self._read_blocks():
            block = held + block
            # a CR at the very end may be the first half of a CRLF
            held, block = (b"\r", block[:-1]) if block.endswith(b"\r") else (b"", block)
            complete, end, begun = self._unify_ends(block).rpartition(b"\n")
            if end:
                yield from self._decode(b"".join([*parts, complete]))
                parts, size = [], 0
            parts.append(begun)
            size += len(begun)
            if size > MAX_LINE:
                must = f"have lines of at most {MAX_LINE >> 20} MiB"
                advice = "check that it is a table of text"
                raise self.reject(must, "is longer", advice, line=self.number + 1)
        last = b"".join(parts)
        if last or held:
            self.is_cut = not held
            self._unify_ends(held)
            yield from self._decode(last)

    @property
    def entries(self) -> list[LogEntry]:
        """What was repaired in the lines so far."""
        misnamed = "the name ends in .gz, but the file is not compressed: read as plain text"
        ends = ", ".join(f"{_END_NAMES[end]} {count:,}" for end, count in self._ends.items())
        mixed = f"mixed line ends ({ends}): each counts as the end of a line"
        foreign = f"not UTF-8, the first on line {min(self._foreign, default=0)}: read as Latin-1"
        return [
            *log_count("repaired", "files", int(self._is_misnamed), misnamed),
            *log_count("repaired", "lines", self._ends.total() * (len(self._ends) > 1), mixed),
            *log_count("repaired", "lines", len(self._foreign), foreign),
        ]

    def reject(self, must: str, but: str, advice: str, *, line: int | None = None) -> InputError:
        """The error for one line of the file; an empty file has a line 1 to write."""
        line = max(self.number, 1) if line is None else line
        return InputError(f"{self.source} must {must}, but line {line} {but}; {advice}")

    def _unify_ends(self, block: bytes) -> bytes:
        """Count the line ends of each kind, and make each LF."""
        both = block.count(b"\r\n")
        counts = {b"\n": block.count(b"\n") - both, b"\r\n": both, b"\r": block.count(b"\r") - both}
        self._ends.update({end: count for end, count in counts.items() if count})
        if counts[b"\r"] or both:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return block

    def _decode(self, block: bytes) -> Iterator[str]:
        """Yield the lines of a block whose line ends are all LF."""
        if b"\0" in block:
            line = self.number + 1 + block[: block.index(b"\0")].count(b"\n")
            advice = "save it as UTF-8 text, or check the file"
            raise self.reject("be text", "holds a zero byte", advice, line=line)
        try:
            texts = block.decode().split("\n")
        except UnicodeDecodeError:
            texts = [self._decode_line(line, n) for n, line in enumerate(block.split(b"\n"), 1)]
        if self.number == 0:
            texts[0] = texts[0].removeprefix("\ufeff")
        for text in texts:
            self.number += 1
            yield text

    def _decode_line(self, line: bytes, offset: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self._foreign.append(self.number + offset)
            return line.decode("latin-1")

    def _read_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, unpacked."""
        size = check_file(self.path, self.source)
        try:
            with self.path.open("rb") as file:
                begin = file.read(8)
                file.seek(0)
                for signature, meaning in _SIGNATURES.items():
                    if begin.startswith(signature):
                        raise InputError(f"{self.source} must be text, but it is {meaning}")
                blocks = iter(lambda: file.read(BLOCK), b"")
                is_gzip = begin.startswith(b"\x1f\x8b")
                self._is_misnamed = self.path.suffix.lower() == ".gz" and not is_gzip
                yield from unpack_blocks(blocks, size, self.source) if is_gzip else blocks
        except zlib.error as error:
            raise InputError(
                f"{self.source} must be a whole gzip file, but it cannot be unpacked after line "
                f"{self.number} ({error}); compress or download it again"
            ) from error
        except OSError as error:
            raise InputError(
                f"{self.source} must be a file you may read, but reading it failed ({error}); "
                f"check its name and its permissions"
            ) from error


def read_records(lines: Lines, *, comments: bool = False) -> Iterator[list[str]]:
    """The fields of each record of a file; blank lines and, if told so, comments (#) are skipped.

    The separator is that of the first line: tab, comma or semicolon. Between tabs quotes have no
    meaning and are cut off; else they may hold separators.
    """
    rows: Iterator[str] = (
        "\n" if not line.strip() or (comments and line.lstrip().startswith("#")) else f"{line}\n"
        for line in lines
    )
    first = next((row for row in rows if row.strip()), "")
    start, separator = lines.number, find_separator(first, lines.source)
    rows = itertools.chain([first], rows)
    if separator == "\t":
        for row in rows:
            if row.strip():
                yield [cell.strip().strip('"') for cell in row.split("\t")]
        return
    for _, fields in split_records(rows, separator, lines.source, start=start, strict=True):
        yield fields


def find_separator(text: str, source: str = "the table") -> str:
    r"""Which of tab, comma and semicolon separates the fields of the first line.

    >>> find_separator("sample;TP53;EGFR\na;0;1\n")
    ';'
    """
    first = {each: next(split_records(split_lines(text), each, source), None) for each in "\t,;"}
    return max(first, key=lambda separator: len((first[separator] or (0, []))[1]))


def split_lines(text: str) -> Iterator[str]:
    """Yield one line after the other, with its end; io.StringIO would first copy the text."""
    return (match.group() for match in _LINE.finditer(text))


def split_records(
    rows: Iterable[str],
    separator: str,
    source: str,
    *,
    keep_blank: bool = False,
    start: int = 1,
    strict: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which a record begins, and its fields; blank lines are skipped."""
    reader = csv.reader(rows, delimiter=separator, strict=strict)
    begin = start
    try:
        for fields in reader:
            if fields or keep_blank:
                yield begin, fields or [""]
            begin = reader.line_num + start
    except csv.Error as error:
        raise InputError(
            f"{source} must be a table of text, but line {begin} cannot be split into fields "
            f"({error}); look for a quote that is not closed"
        ) from error


def split_rows(
    text: str, separator: str, source: str, width: int | None = None, lines_above: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield line and fields of each row, all as wide as the first unless the width is given."""
    records = split_records(split_lines(text), separator, source, keep_blank=width == 1)
    for line, fields in records:
        width = width or len(fields)
        if len(fields) != width:
            mend = "correct that line, with quotes around a field that holds the separator"
            if width == 1:
                mend = "separate fields by commas (.csv) or tabs (.tsv), and use decimal points"
            raise InputError(
                f"{source} must have {count(width, 'field')} in each row, but line "
                f"{line + lines_above} has {len(fields)}; {mend}"
            )
        yield line + lines_above, fields


@dataclass(frozen=True)
class _Layout:
    """Where the names end and the rows begin."""

    header: tuple[str, ...]
    first_cell: str
    body: str
    lines_above: int
    separator: str
    source: str


def read_delimited(text: str, separator: str, source: str, prefix: str) -> Cells:
    r"""Read a table of numbers from text.

    The first line holds the column names, unless each of its fields is a number: then the table
    has no header and the columns are called `{prefix}0`, `{prefix}1`, and so on. The first column
    holds sample ids if its header is empty or a word such as `sample`, `id` or `barcode`, if the
    header is one field shorter than the rows (as R writes it), or if each of its cells is text.
    Names are read without space around them, and without the ' that guards against formulas.

    >>> cells = read_delimited("sample,TP53,EGFR\na,0,1\nb,1,0\n", ",", "X", "x")
    >>> cells.columns, cells.samples
    (('TP53', 'EGFR'), ('a', 'b'))
    """
    layout = _find_layout(text, separator, source, prefix)
    cells = _read_fast(layout)
    return _read_carefully(layout) if cells is None else cells


def read_name(text: str) -> str:
    """A name without space around it and without a guard against formulas."""
    return unguard_formula(text.strip())


def _find_layout(text: str, separator: str, source: str, prefix: str) -> _Layout:
    """Read the first two records, and decide on the header."""
    records = split_records(split_lines(text), separator, source)
    _, top = next(records, (0, None))
    if top is None:
        raise InputError(f"{source} must hold a table, but the file is empty; export it again")
    if _looks_like_data(top):
        names = tuple(f"{prefix}{number}" for number in range(len(top)))
        return _Layout(names, top[0], _trim(text, top), 0, separator, source)
    header = tuple(map(read_name, top))
    _, first = next(records, (0, None))
    if first is None:
        raise InputError(
            f"{source} must have a row for each sample, but it has only a header; "
            f"export it again with its rows"
        )
    if len(first) == len(header) + 1 and parse_cell(first[0]) is None:
        header = ("", *header)
    elif len(header) > 1 and not is_id_header(header[0]) and _looks_like_data(header[1:]):
        raise InputError(
            f"{source} must begin with a line of column names, but its first line is "
            f"{quote(header[0])} followed by numbers only; add a line of names, with 'sample' "
            f"above the sample ids"
        )
    reader = csv.reader(split_lines(text), delimiter=separator)
    while not next(reader):
        pass
    above = reader.line_num
    end = next(itertools.islice(_LINE.finditer(text), above - 1, None)).end()
    return _Layout(header, first[0], _trim(text[end:], header), above, separator, source)


def _looks_like_data(fields: Sequence[str]) -> bool:
    """Whether a first line holds numbers, not names; a missing cell may be among them."""
    if not fields[0].strip() or any(parse_cell(field) is None for field in fields):
        return False
    return any(field.strip().lower() not in _CONSTANTS for field in fields)


def _trim(body: str, fields: Sequence[str]) -> str:
    """Take the blank lines off the end of one column, where a blank line is a missing cell."""
    return body.rstrip("\r\n") if len(fields) == 1 else body


def _read_fast(layout: _Layout) -> Cells | None:
    """Read a table that is all finite numbers and sample ids; None where it is not.

    Without pyarrow, which is an extra, every table is read carefully: the numbers are the same.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    width = len(layout.header)
    has_ids = is_id_header(layout.header[0]) or parse_cell(layout.first_cell) is None
    types = {str(column): pa.float64() for column in range(width)}
    if has_ids:
        types["0"] = pa.string()
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(layout.body.encode()),
            # A worker of Arrow's pool may release the bytes after this returned; while Python shuts
            # down, that aborts the process.
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=list(types), block_size=1 << 24
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.separator,
                newlines_in_values='"' in layout.body,
                ignore_empty_lines=width > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    values = np.empty((table.num_rows, width - has_ids))
    for number, column in enumerate(table.columns[has_ids:]):
        values[:, number] = column.to_numpy()
    ids = table.column(0).to_pylist() if has_ids else []
    is_sure = is_id_header(layout.header[0]) or is_all_text(ids)
    if not is_sure or not np.isfinite(values).all():
        return None
    samples = tuple(map(read_name, ids)) if has_ids else None
    return Cells(values, layout.header[has_ids:], samples)


def _read_carefully(layout: _Layout) -> Cells:
    """Read a table cell by cell, and name the line of an error."""
    shape = layout.separator, layout.source, len(layout.header), layout.lines_above
    begins = [(line, fields[0]) for line, fields in split_rows(layout.body, *shape)]
    lines = tuple(line for line, _ in begins)
    ids = tuple(read_name(cell) for _, cell in begins)
    has_ids = is_id_header(layout.header[0]) or is_all_text(ids)
    samples = ids if has_ids else None
    columns = layout.header[has_ids:]
    values = np.empty((len(lines), len(columns)))
    for row, (_, fields) in enumerate(split_rows(layout.body, *shape)):
        numbers = [parse_cell(field) for field in fields[has_ids:]]
        if None in numbers:
            wrong = numbers.index(None)
            location = name_row(row, lines, samples)
            text = fields[has_ids:][wrong].strip()
            raise reject_text(layout.source, columns[wrong], location, text)
        values[row] = numbers
    return Cells(values, columns, samples, lines)
