"""Covariates as numbers: a column for each level but the most frequent, or a standardised value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from rinn.data.covariates import CovariateTable
from rinn.data.records import Dropped
from rinn.data.scaling import check_range
from rinn.errors import InputError, name_row, quote, quote_some

MISSING = "(missing)"
FEWEST_TOGETHER = 5  # samples of a stratum; rows of smaller ones are permuted together
SAMPLES_PER_COLUMN = 3
FEW_VALUES = 12  # whole numbers with no more values than this may be names


@dataclass(frozen=True)
class Coding:
    """How one covariate becomes numbers.

    `levels` are those of a categorical one, the reference first; numbers have none, but the mean
    (`mean`) and standard deviation (`std`) that they are standardised by.
    """

    name: str
    levels: tuple[str, ...] = ()
    mean: float = 0.0
    std: float = 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The level that each of its columns stands for; one without a name for numbers."""
        return self.levels[1:] if self.levels else ("",)

    def encode(self, values: np.ndarray) -> Float[np.ndarray, "sample column"]:
        """Turn values into columns; a number that is missing becomes the mean."""
        if not self.levels:
            return (np.where(np.isnan(values), self.mean, values)[:, None] - self.mean) / (self.std)
        words = name_levels(values)
        return (words[:, None] == np.array(self.levels[1:], dtype=object)).astype(np.float64)


@dataclass(frozen=True)
class Covariates:
    """Coded covariates of the samples of a run, and what was done to them."""

    numbers: Float[np.ndarray, "sample column"]
    codings: tuple[Coding, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The covariates."""
        return tuple(coding.name for coding in self.codings)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Covariate and level of each column."""
        return tuple((coding.name, level) for coding in self.codings for level in coding.columns)

    @property
    def strata(self) -> Int[np.ndarray, " sample"]:
        """Samples with equal levels of all categorical covariates have the same number.

        Strata of fewer than five samples are one together.
        """
        levelled = [bool(coding.levels) for coding in self.codings for _ in coding.columns]
        if not any(levelled):
            return np.zeros(len(self.numbers), int)
        place = np.unique(self.numbers[:, levelled], axis=0, return_inverse=True)[1].ravel()
        small = np.bincount(place)[place] < FEWEST_TOGETHER
        return np.where(small, place.max() + 1, place)

    @property
    def permutation(self) -> str:
        """How rows of Y are permuted beside these covariates, in a sentence."""
        levelled = [coding.name for coding in self.codings if coding.levels]
        if not levelled:
            return "Rows of Y were permuted together with their covariates."
        names = " and ".join(levelled)
        return f"Rows of Y were permuted among samples with the same {names}."

    def take(self, rows: np.ndarray) -> Covariates:
        """The covariates of these samples, in their order."""
        return replace(self, numbers=self.numbers[rows])

    def permute(self, rng: np.random.Generator) -> Int[np.ndarray, " sample"]:
        """Draw an order of the samples in which each stratum keeps its places."""
        strata = self.strata
        order = np.arange(len(strata))
        for stratum in np.unique(strata):
            rows = np.flatnonzero(strata == stratum)
            order[rows] = rng.permutation(rows)
        return order


def code_covariates(table: CovariateTable) -> tuple[Covariates, tuple[Dropped, ...]]:
    """Turn a table of covariates into numbers.

    Text and 0/1 become a column of zeros and ones for each level but the most frequent; missing
    values are a level of their own. Other numbers are standardised, missing ones replaced by the
    mean. Covariates with the same value in all samples are left out.

    Example:
        >>> tissue = np.array(["lung", "skin", "lung", "skin", "lung", "", "lung"], dtype=object)
        >>> found, _ = code_covariates(CovariateTable({"tissue": tissue}))
        >>> found.columns, found.numbers[[1, 5]].tolist()
        ((('tissue', '(missing)'), ('tissue', 'skin')), [[0.0, 1.0], [1.0, 0.0]])
    """
    codings, notes, dropped = [], [], []
    for name, values in table.columns.items():
        constant = _find_constant(values)
        if constant is not None:
            dropped.append(Dropped("covariates", name, f"constant (always {constant})"))
            continue
        if values.dtype != object:
            check_range(values[:, None], (name,), "covariates")
        coding = _make_coding(name, values)
        codings.append(coding)
        notes += _note(coding, values)
    if not codings:
        raise InputError(
            f"covariates must have a column that varies, but each of "
            f"{quote_some(list(table.columns))} has the same value in all samples; leave the "
            f"covariates out"
        )
    _check_count(codings, table.rows)
    values = encode_covariates(table, codings)
    return Covariates(values, tuple(codings), tuple(notes)), tuple(dropped)


def encode_covariates(
    table: CovariateTable, codings: Sequence[Coding]
) -> Float[np.ndarray, "sample column"]:
    """Turn the covariates of new samples into numbers as those of earlier ones were."""
    parts = []
    for coding in codings:
        if coding.name not in table.columns:
            raise InputError(
                f"covariates must have the column {quote(coding.name)}, which the networks were "
                f"trained with, but have {quote_some(list(table.columns))}; add it"
            )
        values = table.columns[coding.name]
        if coding.levels:
            _check_levels(coding, values, table.samples)
        elif values.dtype == object:
            raise InputError(
                f"covariates must hold numbers in column {quote(coding.name)}, as where the "
                f"networks were trained, but hold text; write numbers"
            )
        parts.append(coding.encode(values))
    return np.concatenate(parts, axis=1)


def name_levels(values: np.ndarray) -> np.ndarray:
    """Write values as the names of levels: numbers in short, missing ones as `(missing)`."""
    if values.dtype == object:
        return np.array([word or MISSING for word in values], dtype=object)
    return np.array([MISSING if np.isnan(v) else f"{v:g}" for v in values], dtype=object)


def _find_constant(values: np.ndarray) -> str | None:
    """The only value there is, in words, or None where there are several."""
    if values.dtype == object:
        found = set(values)
        return None if len(found) > 1 else quote(found.pop() or MISSING)
    known = values[~np.isnan(values)]
    if not len(known):
        return MISSING
    is_binary = np.isin(known, (0, 1)).all()  # one that is missing is then a level of its own
    varies = (known != known[0]).any() or (is_binary and len(known) < len(values))
    return None if varies else f"{known[0]:g}"


def _make_coding(name: str, values: np.ndarray) -> Coding:
    known = values if values.dtype == object else values[~np.isnan(values)]
    if values.dtype != object and not np.isin(known, (0, 1)).all():
        return Coding(name, mean=float(known.mean()), std=_find_std(values, known))
    counts = Counter(name_levels(values).tolist())
    reference = min(counts, key=lambda level: (-counts[level], level))
    return Coding(name, (reference, *sorted(counts.keys() - {reference})))


def _find_std(values: np.ndarray, known: np.ndarray) -> float:
    """Standard deviation over all samples, those at the mean in place of a missing value too."""
    return float(np.sqrt(((known - known.mean()) ** 2).sum() / len(values)))


def _note(coding: Coding, values: np.ndarray) -> list[str]:
    """Say what was made of values that are missing, and of numbers that may be names."""
    name, notes = quote(coding.name), []
    if coding.levels:
        missing = int((name_levels(values) == MISSING).sum())
        if missing:
            notes.append(f"covariate {name}: {missing} missing values are a level of their own")
        return notes
    missing = int(np.isnan(values).sum())
    if missing:
        notes.append(f"covariate {name}: {missing} missing values were replaced by the mean")
    known = np.unique(values[~np.isnan(values)])
    if len(known) <= FEW_VALUES and (known == np.round(known)).all():
        notes.append(
            f"covariate {name}: taken as a number with {len(known)} different values; if these are "
            f"names, such as of batches, write them as text (b1, b2)"
        )
    return notes


def _check_count(codings: Sequence[Coding], samples: int) -> None:
    columns = sum(len(coding.columns) for coding in codings)
    if columns * SAMPLES_PER_COLUMN > samples:
        most = max(codings, key=lambda coding: len(coding.columns))
        raise InputError(
            f"covariates must have at most one level for {SAMPLES_PER_COLUMN} samples, but have "
            f"{columns} for {samples} samples, {len(most.columns)} of them in {quote(most.name)}; "
            f"leave it out, or join levels"
        )


def _check_levels(coding: Coding, values: np.ndarray, samples: tuple[str, ...] | None) -> None:
    words = name_levels(values)
    strange = ~np.isin(words, coding.levels)
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise InputError(
            f"covariates must have levels that the networks were trained with in column "
            f"{quote(coding.name)} ({quote_some(coding.levels)}), but "
            f"{name_row(row, None, samples)} has {quote(words[row])}; leave such samples out"
        )
