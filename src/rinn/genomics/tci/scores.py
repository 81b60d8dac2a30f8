"""How well each cause explains a DEG over all tumours: counts by matrix products, then look-ups.

Cooper, Cai, Lu, tumour-specific causal inference (TCI), 2018. No score depends on the tumour, so
that all are found once. Arrays are [deg, cause]; cause 0 is A0, SGA h is cause h + 1. Counts are
whole numbers: sums come out the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp

from rinn.config import check_choice
from rinn.genomics.tci.events import Events
from rinn.genomics.tci.prior import Prior
from rinn.genomics.tci.settings import TISSUE_MODELS

# Beta parameters for DEG = 1 and DEG = 0: where the cause is present, where it is absent, and for
# A0, all that is not measured.
PRESENT, ABSENT, UNKNOWN = (2.0, 1.0), (1.0, 2.0), (1.0, 1.0)

# The score of a cause that is ruled out: exp gives 0, and differences stay finite.
RULED_OUT = -1e300


def log_marginal(
    n: np.ndarray | int, k: np.ndarray | int, ones: float, zeros: float
) -> np.ndarray | float:
    """Log probability of k ones in n tries in a given order, the rate drawn from a Beta.

    ln [ B(k + a, n - k + b) / B(a, b) ] with a = `ones` and b = `zeros`.

    Example:
        >>> round(float(np.exp(log_marginal(1, 1, 2, 1))), 6)
        0.666667
        >>> float(log_marginal(0, 0, 1, 2))
        0.0
    """
    return (
        gammaln(ones + zeros)
        - gammaln(n + ones + zeros)
        + (gammaln(k + ones) - gammaln(ones))
        + (gammaln(n - k + zeros) - gammaln(zeros))
    )


class MarginalTable:
    """`log_marginal` for one Beta, looked up: logarithms of the gamma function are slow."""

    def __init__(self, most: int, beta: tuple[float, float]) -> None:
        ones, zeros = beta
        numbers = np.arange(most + 1)
        self._tries = gammaln(ones + zeros) - gammaln(numbers + ones + zeros)
        self._ones = gammaln(numbers + ones) - gammaln(ones)
        self._zeros = gammaln(numbers + zeros) - gammaln(zeros)

    def __call__(self, n: np.ndarray, k: np.ndarray) -> np.ndarray:
        """The log marginal likelihood of k ones in n tries; the arrays are broadcast."""
        return self._tries.take(n) + self._ones.take(k) + self._zeros.take(n - k)


class MarginalTables:
    """The three tables of TCI, for up to `most` tumours."""

    def __init__(self, most: int) -> None:
        self.present = MarginalTable(most, PRESENT)
        self.absent = MarginalTable(most, ABSENT)
        self.unknown = MarginalTable(most, UNKNOWN)


@dataclass(frozen=True)
class Group:
    """Some of the tumours: all, or those of a tissue. `altered` is [sga, tumour]."""

    rows: np.ndarray
    altered: sparse.csr_array
    carriers: np.ndarray


@dataclass(frozen=True)
class Counts:
    """Tumours of a group counted for a block of DEGs.

    `carriers` [sga] have the SGA, `ones` [deg, 1] the DEG, `both` [deg, sga] both. Of those
    without the SGA, `instead` [deg, sga] have the global driver, `instead_ones` the DEG as well.
    """

    size: int
    carriers: np.ndarray
    ones: np.ndarray
    both: np.ndarray
    instead: np.ndarray | None = None
    instead_ones: np.ndarray | None = None

    def without(self, other: Counts) -> Counts:
        """The counts of the tumours that are not in the other group."""
        pairs = ((self.instead, other.instead), (self.instead_ones, other.instead_ones))
        instead = (None if a is None or b is None else a - b for a, b in pairs)
        return Counts(
            self.size - other.size,
            self.carriers - other.carriers,
            self.ones - other.ones,
            self.both - other.both,
            *instead,
        )


@dataclass(frozen=True)
class Scores:
    """What the tumours together say about a block of DEGs.

    `drivers` [deg, 2] are the global driver and the runner-up, `shares` [deg, 2] their posterior
    probabilities; `likelihoods` [deg, cause] are the log likelihoods of the tumour-specific step.
    """

    drivers: np.ndarray
    shares: np.ndarray
    likelihoods: np.ndarray


class Scorer:
    """Scores blocks of DEGs for the same tumours; safe to use from several threads."""

    def __init__(
        self,
        events: Events,
        prior: Prior,
        *,
        any_direction: bool = False,
        tissue_model: str = "strata",
    ) -> None:
        check_choice("tissue_model", tissue_model, TISSUE_MODELS)
        self._tables = MarginalTables(events.altered.shape[0])
        self._everyone = _group(events, np.arange(events.altered.shape[0]))
        self._tissues = _split_tissues(events)
        self._any_direction, self._is_stratified = any_direction, tissue_model == "strata"
        weights = np.append(prior.other, (1 - prior.other) * _normalise(prior.weights))
        with np.errstate(divide="ignore"):
            self._log_prior = np.maximum(np.log(weights), RULED_OUT)  # [cause]

    def score(self, expressed: np.ndarray) -> Scores:
        """Score every cause of a block of DEGs, [tumour, deg]."""
        total = _count(self._everyone, expressed)
        parts = [_count(group, expressed) for group in self._tissues]
        keeps = self._find_allowed(total)
        population = self._mix(self._score_population, total, parts)
        drivers, shares = _choose_drivers(_rule_out(population, keeps) + self._log_prior)
        total = _count_instead(self._everyone, expressed, total, drivers)
        pairs = zip(self._tissues, parts, strict=True)
        parts = [_count_instead(group, expressed, part, drivers) for group, part in pairs]

        def score_specific(counts: Counts) -> np.ndarray:
            return self._score_specific(counts, drivers)

        likelihoods = self._mix(score_specific, total, parts)
        return Scores(drivers, shares, _rule_out(likelihoods, keeps))

    def _mix(
        self, score: Callable[[Counts], np.ndarray], total: Counts, parts: Sequence[Counts]
    ) -> np.ndarray:
        """Score blind to tissues, or as the tissue model says.

        The mixture is ln [ 1/2 e^L + 1/2 sum_c (n_c / N) e^(L in c + L outside c) ], the strata
        are the sum of L in each tissue.
        """
        if parts and self._is_stratified:
            return sum(map(score, parts[1:]), start=score(parts[0]))
        blind = score(total)
        if not parts:
            return blind
        mixed = np.full_like(blind, -np.inf)
        for part in parts:
            apart = score(part) + score(total.without(part))
            np.logaddexp(mixed, apart + np.log(part.size / total.size), out=mixed)
        return np.logaddexp(blind, mixed) + np.log(0.5)

    def _score_population(self, counts: Counts) -> np.ndarray:
        """BB(n_h, k_hi; 2, 1) + BB(N - n_h, k_i - k_hi; 1, 2), and BB(N, k_i; 1, 1) for A0."""
        tables = self._tables
        found = tables.present(counts.carriers, counts.both)
        found += tables.absent(counts.size - counts.carriers, counts.ones - counts.both)
        return np.hstack([self._score_unknown(counts), found])

    def _score_specific(self, counts: Counts, drivers: np.ndarray) -> np.ndarray:
        """BB(n_h, k_hi; 2, 1) + BB(n01, k01; 2, 1) + BB(n00, k00; 1, 2); A0 as before.

        Where A0 stands in for the SGA, its own Beta(1, 1) takes the place of Beta(2, 1).
        """
        tables, n01, k01 = self._tables, counts.instead, counts.instead_ones
        if n01 is None or k01 is None:
            raise AssertionError("counts beside the global driver are needed")
        found = tables.present(counts.carriers, counts.both)
        second = tables.present(n01, k01)
        alone = drivers[:, 0] == 0
        second[alone] = tables.unknown(n01[alone], k01[alone])
        own = np.flatnonzero(~alone & (drivers[:, 1] == 0))
        places = own, drivers[own, 0] - 1
        second[places] = tables.unknown(n01[places], k01[places])
        found += second
        n00 = counts.size - counts.carriers - n01
        found += tables.absent(n00, counts.ones - counts.both - k01)
        return np.hstack([self._score_unknown(counts), found])

    def _score_unknown(self, counts: Counts) -> np.ndarray:
        return self._tables.unknown(np.array(counts.size), counts.ones)  # [deg, 1]

    def _find_allowed(self, counts: Counts) -> np.ndarray | None:
        """Which SGAs make a DEG more frequent, (2 + k_hi)/(3 + n_h) against those without it."""
        if self._any_direction:
            return None
        with_it = (2 + counts.both) / (3 + counts.carriers)
        without = (1 + counts.ones - counts.both) / (3 + counts.size - counts.carriers)
        return with_it > without


def _group(events: Events, rows: np.ndarray) -> Group:
    altered = events.altered[rows].astype(np.int32).T.tocsr()  # [sga, tumour]
    return Group(rows, altered, np.diff(altered.indptr).astype(np.int32))


def _split_tissues(events: Events) -> list[Group]:
    if events.tissues is None:
        return []
    names, place = np.unique(np.array(events.tissues), return_inverse=True)
    if len(names) == 1:
        return []
    return [_group(events, np.flatnonzero(place == number)) for number in range(len(names))]


def _normalise(weights: np.ndarray) -> np.ndarray:
    return weights / max(weights.sum(), np.finfo(float).tiny)


def _count(group: Group, expressed: np.ndarray) -> Counts:
    own = expressed[group.rows].astype(np.int32)  # [tumour, deg]
    both = np.ascontiguousarray((group.altered @ own).T)  # [deg, sga]
    return Counts(len(group.rows), group.carriers, own.sum(axis=0, dtype=np.int32)[:, None], both)


def _count_instead(
    group: Group, expressed: np.ndarray, counts: Counts, drivers: np.ndarray
) -> Counts:
    """Add the counts of tumours without the SGA but with the global driver.

    For the global driver itself, the runner-up stands in.
    """
    own = expressed[group.rows].astype(np.int32)  # [tumour, deg]
    first, second = (_spread(group, drivers[:, place]) for place in (0, 1))  # [tumour, deg]
    explained = first * own
    products = group.altered @ np.hstack([first, explained])  # [sga, 2 deg]
    degs = own.shape[1]
    instead = first.sum(axis=0, dtype=np.int32)[:, None] - products[:, :degs].T  # [deg, sga]
    ones = explained.sum(axis=0, dtype=np.int32)[:, None] - products[:, degs:].T
    measured = np.flatnonzero(drivers[:, 0])
    places = measured, drivers[measured, 0] - 1
    left = (1 - first) * second
    instead[places] = left.sum(axis=0)[measured]
    ones[places] = (left * own).sum(axis=0)[measured]
    return Counts(counts.size, counts.carriers, counts.ones, counts.both, instead, ones)


def _spread(group: Group, causes: np.ndarray) -> np.ndarray:
    """Which tumours have the cause of each DEG, [tumour, deg]; A0 is everywhere."""
    present = np.ones((len(group.rows), len(causes)), np.int32)
    measured = np.flatnonzero(causes)
    if len(measured):
        present[:, measured] = group.altered[causes[measured] - 1].toarray().T
    return present


def _rule_out(scores: np.ndarray, keeps: np.ndarray | None) -> np.ndarray:
    """Give the SGAs that are not kept a score that nothing comes of; A0 stays."""
    if keeps is not None:
        scores[:, 1:][~keeps] = RULED_OUT
    return scores


def _choose_drivers(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best cause of each DEG and the next, with their posteriors; ties go to A0, then left."""
    rows = np.arange(len(scores))
    total = logsumexp(scores, axis=1)
    first = scores.argmax(axis=1)
    rest = scores.copy()
    rest[rows, first] = -np.inf
    second = rest.argmax(axis=1)
    drivers = np.stack([first, second], axis=1)
    return drivers, np.exp(scores[rows[:, None], drivers] - total[:, None])
