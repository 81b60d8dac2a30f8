"""How well each cause explains a DEG over all tumours: counts by matrix products, then look-ups.

Cooper, Cai, Lu, tumour-specific causal inference (TCI), 2018. No score depends on the tumour, so
that all are found once. Arrays are [deg, cause]; cause 0 is A0, SGA h is cause h + 1. Counts are
whole numbers: sums come out the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

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


class MarginalTable:
    """Log probability of k ones in n tries in a given order, the rate drawn from a Beta(a, b).

    ln [ B(k + a, n - k + b) / B(a, b) ]. The parts are looked up for n of at most `size`:
    `betaln` is slow.
    """

    def __init__(self, size: int, beta: tuple[float, float]) -> None:
        ones, zeros = beta
        numbers = np.arange(size + 1)
        self._tries = gammaln(ones + zeros) - gammaln(numbers + ones + zeros)
        self._ones = gammaln(numbers + ones) - gammaln(ones)
        self._zeros = gammaln(numbers + zeros) - gammaln(zeros)

    def __call__(self, n: np.ndarray, k: np.ndarray) -> np.ndarray:
        """The log marginal likelihood of k ones in n tries; the arrays are broadcast."""
        return self._tries.take(n) + self._ones.take(k) + self._zeros.take(n - k)


@dataclass(frozen=True)
class Group:
    """The tumours of a tissue, or all. `altered` is [sga, tumour]."""

    rows: np.ndarray
    altered: sparse.csr_array
    carriers: np.ndarray


class Counts(NamedTuple):
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
        pairs: Any = zip(self, other, strict=True)
        return Counts._make(None if mine is None else mine - theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Scores:
    """What the tumours together say about a block of DEGs.

    `drivers` [deg, 2] are the global driver and the runner-up, `driver_posteriors` [deg, 2] their
    probabilities; `likelihoods` [deg, cause] are the log likelihoods of the tumour-specific step.
    """

    drivers: np.ndarray
    driver_posteriors: np.ndarray
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
        tumours = events.altered.shape[0]
        betas = PRESENT, ABSENT, UNKNOWN
        self._present, self._absent, self._unknown = (MarginalTable(tumours, b) for b in betas)
        self._everyone = _group(events, np.arange(tumours))
        tissues = np.array(events.tissues or ())
        names = np.unique(tissues) if len(set(tissues)) > 1 else ()
        self._tissues = [_group(events, np.flatnonzero(tissues == name)) for name in names]
        self._any_direction, self._is_stratified = any_direction, tissue_model == "strata"
        shares = prior.weights / max(prior.weights.sum(), np.finfo(float).tiny)
        weights = np.append(prior.other, (1 - prior.other) * shares)
        with np.errstate(divide="ignore"):
            self._log_prior = np.maximum(np.log(weights), RULED_OUT)  # [cause]

    def score(self, expressed: np.ndarray) -> Scores:
        """Score every cause of a block of DEGs, [tumour, deg]."""
        total = _count(self._everyone, expressed)
        parts = [_count(group, expressed) for group in self._tissues]
        keeps = self._find_allowed(total)
        population = self._mix(self._score_population, total, parts)
        population[:, 1:][~keeps] = RULED_OUT  # A0 stays
        drivers, posteriors = _choose_drivers(population + self._log_prior)
        total = _count_instead(self._everyone, expressed, total, drivers)
        pairs = zip(self._tissues, parts, strict=True)
        parts = [_count_instead(group, expressed, part, drivers) for group, part in pairs]
        likelihoods = self._mix(partial(self._score_specific, drivers), total, parts)
        likelihoods[:, 1:][~keeps] = RULED_OUT
        return Scores(drivers, posteriors, likelihoods)

    def _mix(
        self, score: Callable[[Counts], np.ndarray], total: Counts, parts: Sequence[Counts]
    ) -> np.ndarray:
        """Score without tissues, or by the tissue model.

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
        scores = self._present(counts.carriers, counts.both)
        scores += self._absent(counts.size - counts.carriers, counts.ones - counts.both)
        return np.hstack([self._score_unknown(counts), scores])

    def _score_specific(self, drivers: np.ndarray, counts: Counts) -> np.ndarray:
        """BB(n_h, k_hi; 2, 1) + BB(n01, k01; 2, 1) + BB(n00, k00; 1, 2); A0 as before.

        Where A0 stands in for the SGA, Beta(1, 1) replaces Beta(2, 1).
        """
        n01, k01 = counts.instead, counts.instead_ones
        if n01 is None or k01 is None:
            raise AssertionError("counts with the global driver are needed")
        scores = self._present(counts.carriers, counts.both)
        second = self._present(n01, k01)
        alone = drivers[:, 0] == 0
        second[alone] = self._unknown(n01[alone], k01[alone])
        degs = np.flatnonzero(~alone & (drivers[:, 1] == 0))
        pairs = degs, drivers[degs, 0] - 1
        second[pairs] = self._unknown(n01[pairs], k01[pairs])
        scores += second
        n00 = counts.size - counts.carriers - n01
        scores += self._absent(n00, counts.ones - counts.both - k01)
        return np.hstack([self._score_unknown(counts), scores])

    def _score_unknown(self, counts: Counts) -> np.ndarray:
        return self._unknown(np.array(counts.size), counts.ones)  # [deg, 1]

    def _find_allowed(self, counts: Counts) -> np.ndarray:
        """Which SGAs make a DEG more frequent, (2 + k_hi)/(3 + n_h) against those without it."""
        if self._any_direction:
            return np.ones_like(counts.both, bool)
        with_it = (2 + counts.both) / (3 + counts.carriers)
        without = (1 + counts.ones - counts.both) / (3 + counts.size - counts.carriers)
        return with_it > without


def _group(events: Events, rows: np.ndarray) -> Group:
    altered = events.altered[rows].astype(np.int32).T.tocsr()  # [sga, tumour]
    return Group(rows, altered, np.diff(altered.indptr).astype(np.int32))


def _count(group: Group, expressed: np.ndarray) -> Counts:
    degs = expressed[group.rows].astype(np.int32)  # [tumour, deg]
    both = np.ascontiguousarray((group.altered @ degs).T)  # [deg, sga]
    return Counts(len(group.rows), group.carriers, degs.sum(axis=0, dtype=np.int32)[:, None], both)


def _count_instead(
    group: Group, expressed: np.ndarray, counts: Counts, drivers: np.ndarray
) -> Counts:
    """Add the counts of tumours without the SGA but with the global driver.

    For the global driver itself, the runner-up stands in.
    """
    degs = expressed[group.rows].astype(np.int32)  # [tumour, deg]
    first, second = (_find_present(group, causes) for causes in drivers.T)  # [tumour, deg]
    explained = first * degs
    products = group.altered @ np.hstack([first, explained])  # [sga, 2 deg]
    width = degs.shape[1]
    instead = first.sum(axis=0, dtype=np.int32)[:, None] - products[:, :width].T  # [deg, sga]
    ones = explained.sum(axis=0, dtype=np.int32)[:, None] - products[:, width:].T
    measured = np.flatnonzero(drivers[:, 0])
    pairs = measured, drivers[measured, 0] - 1
    second_only = (1 - first) * second
    instead[pairs] = second_only.sum(axis=0)[measured]
    ones[pairs] = (second_only * degs).sum(axis=0)[measured]
    return counts._replace(instead=instead, instead_ones=ones)


def _find_present(group: Group, causes: np.ndarray) -> np.ndarray:
    """Which tumours have the cause of each DEG, [tumour, deg]; A0 is everywhere."""
    present = np.ones((len(group.rows), len(causes)), np.int32)
    measured = np.flatnonzero(causes)
    if len(measured):
        present[:, measured] = group.altered[causes[measured] - 1].toarray().T
    return present


def _choose_drivers(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best cause of each DEG and the next, with their posteriors; ties go to A0, then left."""
    rows = np.arange(len(scores))
    total = logsumexp(scores, axis=1)
    first = scores.argmax(axis=1)
    others = scores.copy()
    others[rows, first] = -np.inf
    second = others.argmax(axis=1)
    drivers = np.stack([first, second], axis=1)
    return drivers, np.exp(scores[rows[:, None], drivers] - total[:, None])
