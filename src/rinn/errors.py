"""What a user can mend and what came to nothing, and the words that errors are made of."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

NAME_LENGTH = 40


class InputError(ValueError):
    """The user's input is wrong: one sentence says which, what it must be, what came."""


class TrainingError(RuntimeError):
    """Training came to nothing: one sentence says how, and what to look at."""


def suggest(name: str, known: Iterable[str], *, listed: bool = True) -> str:
    """Name the closest known words, for the end of an error sentence.

    Example:
        >>> suggest("gausian", ["matrix", "gaussian"])
        "; did you mean 'gaussian'? Known: matrix, gaussian"
    """
    choices = list(known)
    spelt = {choice.lower(): choice for choice in choices}
    matches = difflib.get_close_matches(str(name).lower(), list(spelt), n=2, cutoff=0.5)
    close = [spelt[match] for match in matches]
    listing = ", ".join(choices)
    nearest = " or ".join(repr(word) for word in close)
    if not listed:
        return f"; did you mean {nearest}?" if close else ""
    return f"; did you mean {nearest}? Known: {listing}" if close else f"; known: {listing}"


def quote(name: str) -> str:
    """Show a name in an error sentence: in quotes, on one line, shortened when very long.

    Example:
        >>> quote("TP53"), len(quote("x" * 300))
        ("'TP53'", 62)
    """
    return repr(name if len(name) <= 60 else f"{name[:40]}...{name[-17:]}")


def quote_some(names: Sequence[str], limit: int = 3) -> str:
    """Show the first few names of a list and say how many more there are.

    Example:
        >>> quote_some(["a", "b", "c"], limit=2)
        "'a', 'b' and 1 more"
    """
    shown = ", ".join(quote(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def find_repeated(names: Iterable[str]) -> list[str]:
    """List the names that occur more than once.

    Example:
        >>> find_repeated(["a", "b", "a"])
        ['a']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def reject_text(source: str, column: str, place: str, text: str) -> InputError:
    """Make the error for text in a column of numbers.

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

    Example:
        >>> name_place(0, [2, 3], ["a", "b"]), name_place(0, None, None)
        ("line 2 (sample 'a')", 'row 1')
    """
    place = f"row {row + 1}" if lines is None else f"line {lines[row]}"
    return place if samples is None else f"{place} (sample {quote(samples[row])})"


def clip(name: str, length: int = NAME_LENGTH) -> str:
    """Shorten a name to one line of at most `length` characters.

    Example:
        >>> clip("a long name", 6)
        'a lon…'
    """
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= length else line[: length - 1] + "…"
