"""What the cells of a table mean, and how errors speak of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rinn.errors import InputError

_MISSING = ("", "na", "n/a", "nan", "null", "none", "#n/a", "#na", "<na>")
WORDS = {"true": 1.0, "false": 0.0} | dict.fromkeys(_MISSING, math.nan)
# Control characters but tab and newline, lone surrogates, byte order marks, and what XML 1.0
# cannot hold: not every file that we write could give these back.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_FORMULA_STARTS = frozenset("=+-@\t\r\uff1d\uff0b\uff0d\uff20")  # the last four are full-width
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ID_HEADERS = frozenset(
    {
        "barcode",
        "case_id",
        "id",
        "patient",
        "patient_id",
        "row_names",
        "rownames",
        "sample",
        "sample_barcode",
        "sample_id",
        "sample_name",
        "sampleid",
        "samples",
        "submitter_id",
        "tumor_sample_barcode",
        "unnamed:_0",
    }
)


@dataclass(frozen=True)
class Cells:
    """What one table holds, before its names and numbers are checked.

    `values` is [sample, column] with NaN for a missing cell; `lines` holds the line of the file
    on which each row begins, or is None where that was not needed or there is no text file.
    """

    values: np.ndarray
    columns: tuple[str, ...]
    samples: tuple[str, ...] | None
    lines: tuple[int, ...] | None = None


def parse_cell(text: str) -> float | None:
    """Turn the text of one cell into a number.

    Args:
        text: a number, true or false, or a word for a missing value such as NA.

    Returns:
        The number, 1 or 0, or NaN; None where the text is none of these.

    Example:
        >>> [parse_cell(text) for text in (" 2.5", "TRUE", "NA", "high")]
        [2.5, 1.0, nan, None]
    """
    text = text.strip()
    word = WORDS.get(text.lower())
    if word is not None:
        return word
    if "_" in text or not text.isascii():  # float() would take 1_000 and Arabic digits
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_id_header(name: str) -> bool:
    """Whether a first column of this name holds sample ids.

    Args:
        name: the name of the first column.

    Returns:
        True for an empty name and for words such as sample, id and barcode.

    Example:
        >>> is_id_header("Sample ID"), is_id_header("TP53")
        (True, False)
    """
    word = name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")
    return not word or word in _ID_HEADERS


def is_all_text(cells: Iterable[str]) -> bool:
    """Whether no cell is a number, true, false or missing.

    Args:
        cells: the cells of one column.

    Returns:
        True where each cell is text.

    Example:
        >>> is_all_text(["s1", "s2"]), is_all_text(["s1", "2"])
        (True, False)
    """
    return all(parse_cell(cell) is None for cell in cells)


def quote(name: str) -> str:
    """Show a name in an error sentence: in quotes, on one line, shortened when very long.

    Args:
        name: any text.

    Returns:
        The quoted text, of at most some 60 characters.

    Example:
        >>> quote("TP53"), len(quote("x" * 300))
        ("'TP53'", 62)
    """
    return repr(name if len(name) <= 60 else f"{name[:40]}...{name[-17:]}")


def quote_some(names: Sequence[str], limit: int = 3) -> str:
    """Show the first few names of a list and say how many more there are.

    Args:
        names: any texts.
        limit: how many to show.

    Returns:
        The quoted names with commas between them.

    Example:
        >>> quote_some(["a", "b", "c"], limit=2)
        "'a', 'b' and 1 more"
    """
    shown = ", ".join(quote(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def find_repeated(names: Iterable[str]) -> list[str]:
    """List the names that occur more than once.

    Args:
        names: any texts.

    Returns:
        Each repeated name once, in the order of their first occurrence.

    Example:
        >>> find_repeated(["a", "b", "a"])
        ['a']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def check_names(names: Iterable[str], source: str, what: str) -> None:
    r"""Refuse names that no file could give back: with control characters, or no Unicode.

    Args:
        names: any texts; tabs and newlines may be in them.
        source: how errors call the table.
        what: what is named, such as "column".

    Raises:
        InputError: a name holds such a character.

    Example:
        >>> check_names(["TP53", "a\rb"], "X", "column")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        rinn.errors.InputError: X must have names without control characters, ... 'a\rb'; rename it
    """
    wrong = next((name for name in names if _UNWRITABLE.search(name)), None)
    if wrong is not None:
        raise InputError(
            f"{source} must have names without control characters, but a {what} is called "
            f"{quote(wrong)}; rename it"
        )


def guard_formula(text: str) -> str:
    """Write text so that no spreadsheet takes it for a formula: with a quote before it.

    A formula begins with = + - @, a tab or a carriage return and goes on. Plain numbers are none.

    Args:
        text: of a cell, or the name of a column.

    Returns:
        The text, with one more ' before a formula; `unguard_formula` takes it away.

    Example:
        >>> [guard_formula(text) for text in ("TP53", "-", "-1.5", "=1+1", "'=1+1")]
        ['TP53', '-', '-1.5', "'=1+1", "''=1+1"]
    """
    return f"'{text}" if _is_formula(text) else text


def unguard_formula(text: str) -> str:
    """Read what `guard_formula` wrote.

    Args:
        text: of a cell, or the name of a column.

    Returns:
        The text without the ' before a formula.

    Example:
        >>> [unguard_formula(text) for text in ("TP53", "'-", "5'-FU", "'=1+1", "''=1+1")]
        ['TP53', "'-", "5'-FU", '=1+1', "'=1+1"]
    """
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def reject_text(source: str, column: str, place: str, text: str) -> InputError:
    """Make the error for text in a column of numbers.

    Args:
        source: how errors call the table.
        column: the name of the column.
        place: where in the column, such as "line 3".
        text: what the cell holds.

    Returns:
        The error, to be raised.

    Example:
        >>> print(reject_text("X", "TP53", "line 3", "high"))
        X must hold only numbers in column 'TP53', but line 3 has 'high'; write a number there or \
remove the column
    """
    return InputError(
        f"{source} must hold only numbers in column {quote(column)}, but {place} has "
        f"{quote(text)}; write a number there or remove the column"
    )


def name_place(row: int, lines: Sequence[int] | None, samples: Sequence[str] | None) -> str:
    """Say where a row is, as the user sees it.

    Args:
        row: which row, counted from 0.
        lines: the line of the file on which each row begins, if there is a text file.
        samples: the sample ids, if there are any.

    Returns:
        The line of the file, or the row counted from 1, and the sample id.

    Example:
        >>> name_place(0, [2, 3], ["a", "b"]), name_place(0, None, None)
        ("line 2 (sample 'a')", 'row 1')
    """
    place = f"row {row + 1}" if lines is None else f"line {lines[row]}"
    return place if samples is None else f"{place} (sample {quote(samples[row])})"


def _is_formula(text: str) -> bool:
    """Whether text, but for quotes before it, is one that a spreadsheet would evaluate."""
    bare = text.lstrip("'")
    return len(bare) > 1 and bare[0] in _FORMULA_STARTS and not _PLAIN_NUMBER.fullmatch(bare)
