"""Tables as text with commas, tabs or semicolons between their fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from rinn.data.cells import WORDS, Cells, is_all_text, is_id_header, parse_cell
from rinn.errors import InputError, name_row, quote, reject_text
from rinn.files import unguard_formula

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


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
    r"""Read a table from text.

    The first line holds the column names, unless each of its fields is a number: then the table
    has no header and the columns are called `{prefix}0`, `{prefix}1`, and so on. The first column
    holds sample ids if its header is empty or a word such as `sample`, `id` or `barcode`, if the
    header is one field shorter than the rows (as R writes it), or if each of its cells is text.
    Names are read without space around them, and without a ' that guards a spreadsheet from a
    formula.

    Example:
        >>> cells = read_delimited("sample,TP53,EGFR\na,0,1\nb,1,0\n", ",", "X", "x")
        >>> cells.columns, cells.samples
        (('TP53', 'EGFR'), ('a', 'b'))
    """
    layout = _find_layout(text, separator, source, prefix)
    cells = _read_fast(layout)
    return _read_carefully(layout) if cells is None else cells


def find_separator(text: str) -> str:
    r"""Guess which of tab, comma and semicolon separates the fields of the first line.

    Example:
        >>> find_separator("sample;TP53;EGFR\na;0;1\n")
        ';'
    """

    def count_fields(separator: str) -> int:
        return len(next(_split_records(text, separator, "the table"), (0, []))[1])

    return max("\t,;", key=count_fields)


def _read_name(text: str) -> str:
    return unguard_formula(text.strip())


def _find_layout(text: str, separator: str, source: str, prefix: str) -> _Layout:
    """Read the first two records, and decide on the header."""
    records = _split_records(text, separator, source)
    _, top = next(records, (0, None))
    if top is None:
        raise InputError(f"{source} must hold a table, but the file is empty; export it again")
    if _looks_like_data(top):
        names = tuple(f"{prefix}{number}" for number in range(len(top)))
        return _Layout(names, top[0], _trim(text, top), 0, separator, source)
    header = tuple(map(_read_name, top))
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
    above, body = _cut_header(text, separator)
    return _Layout(header, first[0], _trim(body, header), above, separator, source)


def _looks_like_data(fields: Sequence[str]) -> bool:
    """Whether a first line holds numbers, not names; a missing cell may be among them."""
    if not fields[0].strip() or any(parse_cell(field) is None for field in fields):
        return False
    return any(field.strip().lower() not in WORDS for field in fields)


def _cut_header(text: str, separator: str) -> tuple[int, str]:
    """Count the lines of the header, and return what follows it."""
    taken: list[str] = []

    def take_lines() -> Iterator[str]:
        for line in _split_lines(text):
            taken.append(line)
            yield line

    reader = csv.reader(take_lines(), delimiter=separator)
    while not next(reader):
        pass
    return len(taken), text[sum(map(len, taken)) :]


def _trim(body: str, fields: Sequence[str]) -> str:
    """Take the blank lines off the end of one column, where a blank line is a missing cell."""
    return body.rstrip("\r\n") if len(fields) == 1 else body


def _read_fast(layout: _Layout) -> Cells | None:
    """Read a table that is all finite numbers and sample ids; None where it is not."""
    width = len(layout.header)
    has_ids = is_id_header(layout.header[0]) or parse_cell(layout.first_cell) is None
    types = {str(column): pa.float64() for column in range(width)}
    if has_ids:
        types["0"] = pa.string()
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(layout.body.encode()),
            # A worker of Arrow's pool may release the bytes after this returned; while Python goes
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
    samples = tuple(map(_read_name, ids)) if has_ids else None
    return Cells(values, layout.header[has_ids:], samples)


def _read_carefully(layout: _Layout) -> Cells:
    """Read a table cell by cell, and say on which line it goes wrong."""
    begins = [(line, fields[0]) for line, fields in _split_rows(layout)]
    lines = tuple(line for line, _ in begins)
    ids = tuple(_read_name(cell) for _, cell in begins)
    has_ids = is_id_header(layout.header[0]) or is_all_text(ids)
    samples = ids if has_ids else None
    columns = layout.header[has_ids:]
    values = np.empty((len(lines), len(columns)))
    for row, (_, fields) in enumerate(_split_rows(layout)):
        numbers = [parse_cell(field) for field in fields[has_ids:]]
        if None in numbers:
            wrong = numbers.index(None)
            place = name_row(row, lines, samples)
            text = fields[has_ids:][wrong].strip()
            raise reject_text(layout.source, columns[wrong], place, text)
        values[row] = numbers
    return Cells(values, columns, samples, lines)


def _split_rows(layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield line and fields of each row, all of the same length."""
    width = len(layout.header)
    records = _split_records(layout.body, layout.separator, layout.source, width == 1)
    for line, fields in records:
        if len(fields) != width:
            raise InputError(
                f"{layout.source} must have {width} fields in each row, but line "
                f"{line + layout.lines_above} has {len(fields)}; mend that line, with quotes "
                f"around a field that holds the separator"
            )
        yield line + layout.lines_above, fields


def _split_records(
    text: str, separator: str, source: str, keep_blank: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which a record begins, and its fields."""
    reader = csv.reader(_split_lines(text), delimiter=separator)
    begin = 1
    try:
        for fields in reader:
            if fields or keep_blank:
                yield begin, fields or [""]
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{source} must be a table of text, but line {begin} cannot be split into fields "
            f"({error}); look for a quote that is not closed"
        ) from error


def _split_lines(text: str) -> Iterator[str]:
    """Yield one line after the other; io.StringIO would first copy the whole text."""
    return (match.group() for match in _LINE.finditer(text))
