"""Column-wise units: from the user's to the networks' and back; limits of extreme values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from rinn.errors import InputError, quote

LARGEST = 1e30  # values fit into float32, and their squares into float64
MIN_RANGE = 1e-30
LIMIT = 10.0  # robust standard deviations: values beyond weigh too much in any fit
TRIMMED = 0.02  # fraction of the values at either end that the robust standard deviation leaves out
MIN_TRIMMED = 2  # values at either end


@dataclass(frozen=True)
class Standardizer:
    """Column-wise mean and standard deviation; `undo(apply(v)) == v`."""

    mean: np.ndarray
    std: np.ndarray

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values into the networks' units."""
        return (values - self.mean) / self.std

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values back into the user's units."""
        return values * self.std + self.mean


def check_range(values: np.ndarray, columns: Sequence[str], label: str) -> None:
    """Refuse columns whose squared errors would overflow or vanish."""
    highest, lowest = np.fmax.reduce(values, axis=0), np.fmin.reduce(values, axis=0)  # [column]
    for column, high, low in zip(columns, highest.tolist(), lowest.tolist(), strict=True):
        extreme = high if abs(high) >= abs(low) else low
        if abs(extreme) > LARGEST:
            raise InputError(
                f"{label} must have values up to {LARGEST:g}, but column {quote(column)} has "
                f"{extreme:g}; give it in another unit"
            )
        if 0 < high - low < MIN_RANGE:
            raise InputError(
                f"{label} must have values that differ by at least {MIN_RANGE:g}, but those of "
                f"column {quote(column)} are between {low:g} and {high:g}; give it in another "
                f"unit"
            )


def fit_standardizer(values: np.ndarray, *, binary: bool = True) -> Standardizer:
    """Mean and standard deviation of [sample, column] values; two values become 0 and 1.

    >>> fit_standardizer(np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 1.0]])).mean
    array([2., 0.])
    """
    observed = ~np.isnan(values)
    if observed.all():
        mean, std, first = values.mean(axis=0), values.std(axis=0), values[0]
    else:
        with warnings.catch_warnings():  # of columns without any value
            warnings.simplefilter("ignore", RuntimeWarning)
            mean, std = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        first = values[observed.argmax(axis=0), np.arange(values.shape[1])]
    if binary:
        low, high = values.min(axis=0), values.max(axis=0)
        has_two = ((values == low) | (values == high)).all(axis=0) & (low < high)
        as_is = np.isin(values, (0, 1)).all(axis=0)
        low, high = np.where(as_is, 0.0, low), np.where(as_is, 1.0, high)
        mean, std = np.where(has_two, low, mean), np.where(has_two, high - low, std)
    # A column can be constant outside the test set although it varies over all samples; rounding
    # may then leave a standard deviation of 1e-14, so compare the values themselves.
    same = ((values == first) | ~observed).all(axis=0)
    first = np.where(np.isnan(first), 0.0, first)
    return Standardizer(np.where(same, first, mean), np.where(same, 1.0, std))


def find_limits(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest value of each column that is not extreme, from [sample, column].

    >>> low, high = find_limits(np.append(np.arange(100.0), 1e9)[:, None])
    >>> round(float(high[0]))
    294
    """
    limits = [_find_limits(np.sort(column[~np.isnan(column)])) for column in values.T]
    return tuple(np.array(limits, np.float64).reshape(-1, 2).T)  # type: ignore[return-value]


def _find_limits(values: np.ndarray) -> tuple[float, float]:
    cut = max(MIN_TRIMMED, int(TRIMMED * len(values)))
    if len(values) <= 2 * cut + 1:
        return -np.inf, np.inf
    std = (values[-1 - cut] - values[cut]) / (2 * stats.norm.ppf(1 - (cut + 0.5) / len(values)))
    if not std > 0:
        return -np.inf, np.inf
    median = float(np.median(values))
    return median - LIMIT * std, median + LIMIT * std
