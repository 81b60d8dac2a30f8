"""What the cells of a table mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rinn.errors import InputError, quote

_MISSING = ("", "na", "n/a", "nan", "null", "none", "#n/a", "#na", "<na>")
WORDS = {"true": 1.0, "false": 0.0} | dict.fromkeys(_MISSING, math.nan)
# Control characters but tab and newline, lone surrogates, byte order marks, and what XML 1.0
# cannot hold: not every file that we write could give these back.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
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

    Example:
        >>> is_id_header("Sample ID"), is_id_header("TP53")
        (True, False)
    """
    word = name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")
    return not word or word in _ID_HEADERS


def is_all_text(cells: Iterable[str]) -> bool:
    """Whether no cell is a number, true, false or missing.

    Example:
        >>> is_all_text(["s1", "s2"]), is_all_text(["s1", "2"])
        (True, False)
    """
    return all(parse_cell(cell) is None for cell in cells)


def check_names(names: Iterable[str], source: str, what: str) -> None:
    r"""Refuse names that no file could give back: with control characters, or no Unicode.

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
