"""Errors that a user can fix, and the phrases that messages are made of."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

NAME_LENGTH = 40


class InputError(ValueError):
    """Wrong input: the message names the input, what it must be, and what was received.

    Example:
        >>> from rinn import RunSettings
        >>> RunSettings(bootstraps=-1)
        Traceback (most recent call last):
        ...
        rinn.errors.InputError: bootstraps must be a whole number from 0 to 10000, got -1; choose \
0 to 10000
    """


class TrainingError(RuntimeError):
    """Training failed: the message gives the reason and what to check."""


class ClusterError(RuntimeError):
    """A cluster failed: the message says what is kept and what to do."""


def suggest(name: str, choices: Iterable[str], *, listed: bool = True) -> str:
    """The closest choices, for the end of an error message."""
    listing = ", ".join(choices := list(choices))
    spelling = {choice.lower(): choice for choice in choices}
    matches = difflib.get_close_matches(str(name).lower(), list(spelling), n=2, cutoff=0.5)
    nearest = " or ".join(repr(spelling[match]) for match in matches)
    if not listed:
        return f"; did you mean {nearest}?" if matches else ""
    return f"; did you mean {nearest}? Known: {listing}" if matches else f"; known: {listing}"


def quote(name: str) -> str:
    """A name in quotes, on one line, shortened when very long."""
    return repr(name if len(name) <= 60 else f"{name[:40]}...{name[-17:]}")


def quote_some(names: Sequence[str], limit: int = 3) -> str:
    """The first few names of a list, and how many more there are."""
    shown = ", ".join(quote(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 latent, 1,200 samples."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def clip(name: str, length: int = NAME_LENGTH) -> str:
    """A name on one line of at most `length` characters."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= length else line[: length - 1] + "…"


def find_repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, number in Counter(names).items() if number > 1]


def reject_text(source: str, column: str, location: str, text: str) -> InputError:
    """The error for text in a column of numbers."""
    return InputError(
        f"{source} must hold only numbers in column {quote(column)}, but {location} has "
        f"{quote(text)}; write a number there or remove the column"
    )


def name_row(row: int, lines: Sequence[int] | None, samples: Sequence[str] | None) -> str:
    """Where a row is, as the user sees it: line 2 (sample 'a')."""
    location = f"row {row + 1}" if lines is None else f"line {lines[row]}"
    return location if samples is None else f"{location} (sample {quote(samples[row])})"
