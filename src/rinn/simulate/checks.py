"""Checks of the numbers a user gives to a simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from rinn.config import MOST
from rinn.errors import InputError, suggest

MOST_SAMPLES = 1_000_000


def fill_parameters(
    dataset: str, given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Complete the given parameters with the defaults of a dataset.

    Args:
        dataset: the name of the dataset, for the error sentence.
        given: what the user asked for.
        defaults: every parameter the dataset knows, with its default.

    Returns:
        One value for each known parameter, in the order of `defaults`.

    Raises:
        InputError: a given parameter is not one of the known ones.

    Example:
        >>> fill_parameters("or", {"noise": 0.2}, {"prevalence": 0.08, "noise": 0.1})
        {'prevalence': 0.08, 'noise': 0.2}
    """
    for name in given:
        if name not in defaults:
            raise InputError(
                f"{name!r} is not a parameter of the dataset {dataset!r}{suggest(name, defaults)}"
            )
    return {**defaults, **given}


def check_count(name: str, value: Any, least: int = 1, most: int = MOST) -> int:
    """Return a whole number that is not below the least allowed, nor above the most."""
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_count or not least <= value <= most:
        raise InputError(
            f"{name} must be a whole number of at least {least} and at most {most}, but "
            f"{value!r:.80} was given; choose {least} to {most}"
        )
    return int(value)


def check_share(name: str, value: Any, below: float = 1.0, closed: bool = True) -> float:
    """Return a number between 0 and an upper end, which is allowed itself where `closed`."""
    end = "at most" if closed else "below"
    fits = _is_number(value) and 0 <= value <= below and (closed or value < below)
    if not fits:
        raise InputError(
            f"{name} must be a number of at least 0 and {end} {below:g}, but {value!r} was given; "
            "choose for example 0.1"
        )
    return float(value)


def check_range(
    name: str, value: Any, open_end: bool = False, most: float | None = None
) -> tuple[float, float]:
    """Return a range (low, high) of numbers from 0, or above it where `open_end`, up to `most`."""
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    fits = len(pair) == 2 and all(_is_number(end) for end in pair) and 0 <= pair[0] <= pair[1]
    if not fits or (open_end and pair[0] == 0) or (most is not None and pair[1] > most):
        sign = "0 < low" if open_end else "0 <= low"
        end, example = ("", "(0.5, 1.5)") if most is None else (f" <= {most:g}", "(0.3, 0.7)")
        raise InputError(
            f"{name} must be two numbers (low, high) with {sign} <= high{end}, but {value!r} was "
            f"given; choose for example {example}"
        )
    return float(pair[0]), float(pair[1])


def check_choices(name: str, value: Any, known: Iterable[str]) -> tuple[str, ...]:
    """Return one or more of the known words as a tuple."""
    words = (value,) if isinstance(value, str) else tuple(value)
    choices = list(known)
    if not words:
        raise InputError(
            f"{name} must name at least one of {', '.join(choices)}, but {value!r} was given; "
            "add one"
        )
    for word in words:
        if word not in choices:
            raise InputError(
                f"{name} must be chosen from the known words, but {word!r} was given"
                f"{suggest(word, choices)}"
            )
    return words


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
