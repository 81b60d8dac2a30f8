"""Column-wise units: from the user's to the networks' and back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from rinn.errors import InputError, quote

LARGEST = 1e30  # squares of values, and float32, have room above and below
MIN_SPREAD = 1e-30
LIMIT = 10.0  # robust standard deviations: values beyond weigh too much in any fit
TRIMMED = 0.02  # share of the values at either end that the robust standard deviation leaves out
MIN_TRIMMED = 2  # values at either end


@dataclass(frozen=True)
class Scale:
    """Column-wise centre and spread; `undo(apply(v)) == v`."""

    centre: np.ndarray
    spread: np.ndarray

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values into the networks' units."""
        return (values - self.centre) / self.spread

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values back into the user's units."""
        return values * self.spread + self.centre


def check_range(values: np.ndarray, columns: Sequence[str], label: str) -> None:
    """Refuse columns whose errors would not fit into floating-point numbers.

    Example:
        >>> check_range(np.array([[0.0], [1e160]]), ["reads"], "Y")
        Traceback (most recent call last):
        rinn.errors.InputError: Y must have values up to 1e+30, but column 'reads' has 1e+160; \
give it in another unit
    """
    highest, lowest = np.fmax.reduce(values, axis=0), np.fmin.reduce(values, axis=0)  # [column]
    for column, most, least in zip(columns, highest.tolist(), lowest.tolist(), strict=True):
        extreme = most if abs(most) >= abs(least) else least
        if abs(extreme) > LARGEST:
            raise InputError(
                f"{label} must have values up to {LARGEST:g}, but column {quote(column)} has "
                f"{extreme:g}; give it in another unit"
            )
        if 0 < most - least < MIN_SPREAD:
            raise InputError(
                f"{label} must have values that differ by at least {MIN_SPREAD:g}, but those of "
                f"column {quote(column)} lie between {least:g} and {most:g}; give it in another "
                f"unit"
            )


def find_scale(values: np.ndarray, *, binary: bool = True) -> Scale:
    """Find mean and standard deviation of [sample, column] values.

    Example:
        >>> find_scale(np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 1.0]])).centre
        array([2., 0.])
    """
    known = ~np.isnan(values)
    if known.all():
        centre, spread, first = values.mean(axis=0), values.std(axis=0), values[0]
    else:
        with warnings.catch_warnings():  # of columns without any value
            warnings.simplefilter("ignore", RuntimeWarning)
            centre, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        first = values[known.argmax(axis=0), np.arange(values.shape[1])]
    if binary:
        low, high = values.min(axis=0), values.max(axis=0)
        has_two = ((values == low) | (values == high)).all(axis=0) & (low < high)
        as_is = np.isin(values, (0, 1)).all(axis=0)
        low, high = np.where(as_is, 0.0, low), np.where(as_is, 1.0, high)
        centre, spread = np.where(has_two, low, centre), np.where(has_two, high - low, spread)
    # A column can be constant outside the test set although it varies over all samples; rounding
    # may then leave it a spread of 1e-14, so look at the values themselves.
    same = ((values == first) | ~known).all(axis=0)
    first = np.where(np.isnan(first), 0.0, first)
    return Scale(np.where(same, first, centre), np.where(same, 1.0, spread))


def find_limits(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find how far from its median each column of [sample, column] values may go.

    Example:
        >>> low, high = find_limits(np.append(np.arange(100.0), 1e9)[:, None])
        >>> round(float(high[0]))
        294
    """
    limits = [_find_limits(np.sort(column[~np.isnan(column)])) for column in values.T]
    return tuple(np.array(limits, np.float64).reshape(-1, 2).T)  # type: ignore[return-value]


def _find_limits(values: np.ndarray) -> tuple[float, float]:
    """The limits of sorted values."""
    cut = max(MIN_TRIMMED, int(TRIMMED * len(values)))
    if len(values) <= 2 * cut + 1:
        return -np.inf, np.inf
    spread = (values[-1 - cut] - values[cut]) / (2 * stats.norm.ppf(1 - (cut + 0.5) / len(values)))
    if not spread > 0:
        return -np.inf, np.inf
    middle = float(np.median(values))
    return middle - LIMIT * spread, middle + LIMIT * spread
