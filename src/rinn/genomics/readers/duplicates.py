"""Rules by which several rows of one gene, or several aliquots of one sample, become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rinn.data.log import Kind
from rinn.errors import InputError, suggest


def merge_rows(values: np.ndarray, targets: Sequence[int], size: int, rule: str) -> np.ndarray:
    """Merge the rows of a table that have the same target; a missing value gives way to others.

    Args:
        values: [row, column].
        targets: where each row goes, or -1 where it is dropped; each of the `size` places is used.
        size: how many rows there are in the end.
        rule: one of `RULES`.

    Returns:
        [place, column], of the same type; `values` itself where each row has a place of its own.

    Example:
        >>> merge_rows(np.array([[-2, 0], [1, 1]]), [0, 0], 1, "strongest")
        array([[-2,  1]])
    """
    places = np.asarray(targets, dtype=np.intp)
    if len(places) == size and np.array_equal(places, np.arange(size)):
        return values
    order = np.argsort(places, kind="stable")
    order = order[np.searchsorted(places[order], 0) :]
    groups = np.split(order, np.flatnonzero(np.diff(places[order])) + 1) if len(order) else []
    merged = np.empty((size, values.shape[1]), dtype=values.dtype)
    for place, rows in enumerate(groups):
        merged[place] = values[rows[0]] if len(rows) == 1 else RULES[rule](values[rows])
    return merged


def find_rule(rule: str | None, kind: Kind) -> str:
    """Check the name of a rule, or take the usual one.

    Args:
        rule: one of `RULES`, or None for the usual one.
        kind: what the table holds.

    Returns:
        The name of the rule: any for mutations, strongest for copy number, else mean.

    Raises:
        InputError: there is no such rule.

    Example:
        >>> find_rule(None, "copy number")
        'strongest'
    """
    if rule is None:
        return {"mutation": "any", "copy number": "strongest"}.get(kind, "mean")
    if rule not in RULES:
        raise InputError(
            f"duplicates must be one of {', '.join(RULES)}, got {rule!r}"
            f"{suggest(rule, RULES, listed=False)}"
        )
    return rule


def _take_any(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.where(known.any(axis=0), ((rows != 0) & known).any(axis=0), np.nan)


def _take_mean(rows: np.ndarray) -> np.ndarray:
    count = (~np.isnan(rows)).sum(axis=0)
    total = np.nansum(rows, axis=0, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _take_sum(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.where(known.any(axis=0), np.nansum(rows, axis=0, dtype=np.float64), np.nan)


def _take_strongest(rows: np.ndarray) -> np.ndarray:
    strength = np.where(np.isnan(rows), -1, np.abs(rows))
    return np.take_along_axis(rows, strength.argmax(axis=0)[None], axis=0)[0]


def _take_first(rows: np.ndarray) -> np.ndarray:
    known = ~np.isnan(rows)
    return np.take_along_axis(rows, known.argmax(axis=0)[None], axis=0)[0]


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "any": _take_any,
    "strongest": _take_strongest,
    "mean": _take_mean,
    "max": lambda rows: np.fmax.reduce(rows, axis=0),
    "sum": _take_sum,
    "first": _take_first,
}
