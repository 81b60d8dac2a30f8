"""The one exception for what a user can mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """The user's input is wrong: one sentence says which, what it must be, what came."""


class TrainingError(RuntimeError):
    """Training came to nothing: one sentence says how, and what to look at."""


def suggest(name: str, known: Iterable[str], *, listed: bool = True) -> str:
    """Name the closest known words, for the end of an error sentence.

    Args:
        name: what the user wrote.
        known: every word that would have been right.
        listed: name all of them too.

    Returns:
        A clause that begins with a semicolon, or nothing.

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
