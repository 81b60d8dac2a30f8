"""The cause of each DEG in each tumour: all tumours at once, DEG by DEG, on several cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rinn.genomics.tci.events import Events
from rinn.genomics.tci.prior import Prior
from rinn.genomics.tci.scores import RULED_OUT, Scorer

NO_CAUSE = -1
# Scores of a block held at once; several arrays of this many numbers for each core.
BLOCK_NUMBERS = 2**19
MAX_DEGS = 64
BLOCKS_PER_CORE = 4

Report = Callable[[int], None]


@dataclass(frozen=True)
class Causes:
    """The best causes of each DEG in each tumour that has it.

    `top` is [tumour, deg, place]: 0 for A0, h + 1 for SGA h, -1 where the tumour does not have
    the DEG or there are fewer causes; the best comes first. `posterior` are their probabilities,
    0 where there is none. `drivers` and `shares` are [deg, 2]: the global driver of each DEG and
    the runner-up, and their posterior over all tumours.
    """

    top: np.ndarray
    posterior: np.ndarray
    drivers: np.ndarray
    shares: np.ndarray


def infer_causes(
    events: Events,
    prior: Prior,
    *,
    any_direction: bool = False,
    tissue_model: str = "strata",
    top: int = 1,
    cores: int | None = None,
    block: int | None = None,
    report: Report | None = None,
) -> Causes:
    """Find the causes of each DEG in each tumour, by P(h -> i) ~ p_th exp L(h, i).

    Where the events have tissues, the likelihood allows for them. DEGs are scored in
    blocks: beside the events and the result, which has 12 bytes for each tumour, DEG and place,
    only the scores of a block are held for each core. Neither the block nor the number of cores
    changes the result.

    Example:
        >>> from rinn.genomics.tci.events import as_events
        >>> from rinn.genomics.tci.prior import make_prior
        >>> x = np.repeat([[1, 0], [0, 1], [0, 0]], 20, axis=0)
        >>> events = as_events(x, x[:, :1])
        >>> causes = infer_causes(events, make_prior(events))
        >>> [events.causes[code] for code in causes.top[[0, 19], 0, 0]]
        ['x0', 'x0']
        >>> causes.top[59, 0, 0].item()
        -1
    """
    tumours, degs = events.expressed.shape
    scorer = Scorer(events, prior, any_direction=any_direction, tissue_model=tissue_model)
    with np.errstate(divide="ignore"):
        log_weights = np.log(prior.weights)
    explainer = _Explainer(events.altered, log_weights, _log_other(events, prior), top)
    found = Causes(
        np.full((tumours, degs, top), NO_CAUSE, np.int32),
        np.zeros((tumours, degs, top)),
        np.zeros((degs, 2), np.int32),
        np.zeros((degs, 2)),
    )
    cores = cores or count_cores()
    size = block or _choose_block(len(events.sgas), degs, cores)

    def work(start: int) -> int:
        some = slice(start, min(start + size, degs))
        scores = scorer.score(events.expressed[:, some])
        found.drivers[some], found.shares[some] = scores.drivers, scores.shares
        for place, deg in enumerate(range(some.start, some.stop)):
            rows = np.flatnonzero(events.expressed[:, deg])
            best, shares = explainer.explain(rows, scores.likelihoods[place])
            found.top[rows, deg], found.posterior[rows, deg] = best, shares
        return some.stop - some.start

    _share_out(work, range(0, degs, size), cores, report)
    return found


def count_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _choose_block(sgas: int, degs: int, cores: int) -> int:
    """As many DEGs as fit, but some blocks for each core: the last ones end at about one time."""
    even = -(-degs // (BLOCKS_PER_CORE * cores))
    return max(1, min(MAX_DEGS, even, BLOCK_NUMBERS // max(1, sgas)))


def _share_out(
    work: Callable[[int], int], starts: range, cores: int, report: Report | None
) -> None:
    """Work through the blocks on threads; an interrupt or error leaves the rest undone."""
    pool = ThreadPoolExecutor(cores)
    waiting: set[Future[int]] = {pool.submit(work, start) for start in starts}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                count = future.result()
                if report:
                    report(count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _log_other(events: Events, prior: Prior) -> np.ndarray:
    """Logarithm of the prior of A0 in each tumour, in the unit of the SGAs' weights there."""
    weights = events.altered.astype(float) @ prior.weights  # [tumour]
    return np.log(prior.other / (1 - prior.other)) + np.log(np.where(weights > 0, weights, 1.0))


class _Explainer:
    """Turns the scores of the causes of one DEG into posteriors in each tumour."""

    def __init__(
        self, altered: sparse.csr_array, log_weights: np.ndarray, log_other: np.ndarray, top: int
    ) -> None:
        self._altered, self._log_weights = altered, log_weights
        self._log_other, self._top = log_other, top

    def explain(self, rows: np.ndarray, likelihoods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the best causes and their posteriors, both [row, place]."""
        of_sgas = likelihoods[1:] + self._log_weights  # [sga]
        other = likelihoods[0] + self._log_other[rows]  # [row]
        best = np.full((len(rows), self._top), NO_CAUSE, np.int32)
        best_scores = np.full((len(rows), self._top), RULED_OUT)
        mass = np.zeros(len(rows))
        own = self._altered[rows]
        lengths = np.diff(own.indptr)
        some = np.flatnonzero(lengths)  # a tumour without any SGA has A0 alone
        if len(some):
            best[some], best_scores[some], mass[some] = _rank(
                own.indices, own.indptr[:-1][some], lengths[some], of_sgas, self._top
            )
        codes, scores = _insert_other(best, best_scores, other)
        # The mass of the SGAs is in units of the best of them.
        highest = np.maximum(best_scores[:, 0], other)
        total = mass * np.exp(best_scores[:, 0] - highest) + np.exp(other - highest)
        shares = np.exp(scores - highest[:, None]) / total[:, None]
        ruled_out = scores <= RULED_OUT
        codes[ruled_out], shares[ruled_out] = NO_CAUSE, 0.0
        return codes, shares


def _rank(
    sgas: np.ndarray, starts: np.ndarray, lengths: np.ndarray, scores: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best SGAs of each tumour, [tumour, place], their scores, and the sum in units of the best."""
    values = scores.take(sgas)  # [event]
    best = np.empty((len(starts), top), np.int32)
    best_scores = np.empty((len(starts), top))
    mass = np.empty(0)
    for place in range(top):
        highest = np.maximum.reduceat(values, starts)
        below = values - np.repeat(highest, lengths)
        first = np.minimum.reduceat(np.where(below == 0, sgas, len(scores)), starts)
        if place == 0:
            mass = np.add.reduceat(np.exp(below), starts)
        best[:, place], best_scores[:, place] = first + 1, highest
        if place + 1 < top:
            values[sgas == np.repeat(first, lengths)] = RULED_OUT
    return best, best_scores, mass


def _insert_other(
    best: np.ndarray, scores: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put A0 in its place among the best, before those that score the same."""
    codes = np.hstack([np.zeros((len(best), 1), np.int32), best])
    all_scores = np.hstack([other[:, None], scores])
    order = np.argsort(-all_scores, axis=1, kind="stable")[:, :-1]
    rows = np.arange(len(best))[:, None]
    return codes[rows, order], all_scores[rows, order]
