"""Statements about named inputs and outputs, from a small table or a JSON file."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rinn.data.text import Lines, read_records
from rinn.errors import InputError, quote, suggest
from rinn.files import check_file

KINDS = ("must", "mustnot", "together", "apart", "level")
FIELDS = ("statement", "first", "second", "weight", "note")
SOFT = ("together", "apart")
USUAL_WEIGHT = 2.0  # log odds of a soft statement that has no weight
MAX_WEIGHT = 100.0
MAX_BYTES = 1 << 26
_LEVEL = re.compile(r"(at most|at least|<=|>=|)\s*([0-9]{1,6})", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One thing that is known."""

    # must, mustnot (of an input and an output), together, apart (of two inputs or two outputs) or
    # level (of an input)
    kind: str
    first: str  # a name
    second: str = ""  # the other name; empty for a level
    weight: float | None = None  # log odds; None for a firm must or mustnot, and for a level
    lowest: int | None = None  # for a level, the least; None where there is none
    highest: int | None = None  # for a level, the highest; None where there is none
    location: str = "a statement"  # where it was said, for errors


def load_statements(path: str | os.PathLike[str]) -> tuple[Statement, ...]:
    """Read statements from .json, or from a table separated by commas, tabs or semicolons.

    The table has the columns statement, first, second and, optionally, weight and note; empty lines
    and lines that begin with # are skipped. A JSON file has a list of such objects, by itself or
    under "statements".
    """
    path = Path(path)
    is_json = path.name.lower().endswith((".json", ".json.gz"))
    rows = _read_json(path) if is_json else _read_table(path)
    result = tuple(_make_statement(values, location, path) for location, values in rows)
    if not result:
        raise InputError(
            f"--prior ({path}) must hold at least one statement, but it has none; each is one of "
            f"{', '.join(KINDS)} and the names it is about"
        )
    return result


def _read_table(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = Lines(path, "--prior")
    records = read_records(lines, comments=True)
    top = next(records, None)
    if top is None:
        return
    names = [name.strip().lower() for name in top]
    _check_header(names, lines)
    for fields in records:
        if len(fields) > len(names):
            raise lines.reject(
                f"have {len(names)} fields on each line, as its first line has",
                f"has {len(fields)}",
                "put quotes around names that hold the separator",
            )
        yield f"line {lines.number}", dict(zip(names, map(str.strip, fields), strict=False))


def _check_header(names: list[str], lines: Lines) -> None:
    for name in names:
        if name not in FIELDS:
            raise lines.reject(
                f"begin with the columns {', '.join(FIELDS[:3])} and, optionally, weight, note",
                f"has {quote(name)}",
                _advise_header(name),
            )
    missing = [name for name in FIELDS[:3] if name not in names]
    if missing or len(set(names)) < len(names):
        but = f"lacks {quote(missing[0])}" if missing else "has a name twice"
        raise lines.reject(f"have the columns {', '.join(FIELDS[:3])} once", but, "mend that line")


def _advise_header(name: str) -> str:
    if _find_kind(name) in KINDS:
        return f"put a line with those names above it, such as {','.join(FIELDS[:3])}"
    return f"rename that column{suggest(name, FIELDS, listed=False)}"


def _read_json(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    check_file(path, f"--prior ({path})")
    try:
        read = gzip.open if path.suffix.lower() == ".gz" else open
        with read(path, "rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise InputError(
                f"--prior ({path}) must be at most {MAX_BYTES >> 20} MiB of JSON, but it has "
                "more; leave out statements"
            )
        result = json.loads(text.decode("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"--prior ({path}) must be a file you may read, but it cannot be read "
            f"({error.strerror or error}); check the name"
        ) from None
    except (ValueError, RecursionError, EOFError, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"--prior ({path}) must hold JSON, but it does not ({error}); write the file again"
        ) from None
    entries = result.get("statements") if isinstance(result, dict) else result
    if not isinstance(entries, list):
        raise InputError(
            f"--prior ({path}) must hold a list of statements, by itself or under 'statements', "
            f"but it has none; put the statements into [ and ]"
        )
    for number, entry in enumerate(entries, 1):
        location = f"entry {number}"
        if not isinstance(entry, dict):
            raise _reject(path, location, "be an object", f"is {quote(str(entry))}", "mend it")
        for name in entry:
            if name not in FIELDS:
                advice = f"leave it out{suggest(str(name), FIELDS, listed=False)}"
                must = f"have {', '.join(FIELDS)}"
                raise _reject(path, location, must, f"has {quote(name)}", advice)
        yield location, entry


def _make_statement(values: Mapping[str, Any], location: str, path: Path) -> Statement:
    kind = _find_kind(str(values.get("statement") or ""))
    if kind not in KINDS:
        hint = suggest(kind, KINDS, listed=False)
        said = quote(str(values.get("statement") or ""))
        must = f"be one of {', '.join(KINDS)}"
        raise _reject(path, location, must, f"is {said}", f"mend it{hint}")
    first, second = (_read_name(values, name, location, path) for name in ("first", "second"))
    weight = _read_weight(values.get("weight"), location, path)
    if kind == "level":
        if weight is not None:
            advice = "leave the weight out"
            raise _reject(path, location, "be firm where it is a level", "has a weight", advice)
        lowest, highest = _read_level(second, location, path)
        return Statement(kind, first, lowest=lowest, highest=highest, location=location)
    if weight is None and kind in SOFT:
        weight = USUAL_WEIGHT
    return Statement(kind, first, second, weight, location=location)


def _find_kind(word: str) -> str:
    """How a kind is called where someone writes 'must not' or 'Must-not'."""
    return re.sub(r"[\s_-]+", "", word).lower()


def _read_name(values: Mapping[str, Any], field: str, location: str, path: Path) -> str:
    value = values.get(field)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        but = "has none" if value in (None, "") else f"has {quote(str(value))}"
        raise _reject(path, location, f"have a name as {field!r}", but, "write one")
    return str(value).strip()


def _read_weight(value: Any, location: str, path: Path) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number <= MAX_WEIGHT:
        must = f"have a weight above 0 and at most {MAX_WEIGHT:g}, in log odds"
        advice = "correct it, or leave it out; mustnot and apart need no minus"
        raise _reject(path, location, must, f"has {quote(str(value))}", advice)
    return number


def _read_level(text: str, location: str, path: Path) -> tuple[int | None, int | None]:
    match = _LEVEL.fullmatch(text)
    number = int(match[2]) if match else 0
    if match is None or number < 1:
        must = "have a level as 'second', such as 'at most 1', 'at least 2' or '1'"
        raise _reject(path, location, must, f"has {quote(text)}", "levels count from 1")
    word = match[1].lower()
    lowest = None if word in ("at most", "<=") else number
    return lowest, None if word in ("at least", ">=") else number


def _reject(path: Path, location: str, must: str, but: str, advice: str) -> InputError:
    return InputError(f"--prior ({path}): a statement must {must}, but {location} {but}; {advice}")
