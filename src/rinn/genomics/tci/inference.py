"""The cause of each DEG in each tumour: all tumours at once, DEG by DEG, on several cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rinn.config import count_cores
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

    `top` is [tumour, deg, rank]: 0 for A0, h + 1 for SGA h, -1 where the tumour does not have
    the DEG or there are fewer causes; the best comes first. `posterior` are their probabilities,
    0 where there is none. `drivers` and `driver_posteriors` are [deg, 2]: the global driver of
    each DEG and the runner-up, and their posterior over all tumours.
    """

    top: np.ndarray
    posterior: np.ndarray
    drivers: np.ndarray
    driver_posteriors: np.ndarray


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

    Where the events have tissues, the likelihood allows for them. DEGs are scored in blocks:
    besides the events and the result, which has 12 bytes for each tumour, DEG and rank, only the
    scores of a block are held for each core. Neither the block nor the number of cores changes the
    result.
    """
    tumours, degs = events.expressed.shape
    scorer = Scorer(events, prior, any_direction=any_direction, tissue_model=tissue_model)
    with np.errstate(divide="ignore"):
        log_weights = np.log(prior.weights)
    # prior of A0 in each tumour, in the unit of the SGAs' weights there
    weights = events.altered.astype(float) @ prior.weights  # [tumour]
    log_other = np.log(prior.other / (1 - prior.other))
    log_other = log_other + np.log(np.where(weights > 0, weights, 1.0))
    causes = Causes(
        np.full((tumours, degs, top), NO_CAUSE, np.int32),
        np.zeros((tumours, degs, top)),
        np.zeros((degs, 2), np.int32),
        np.zeros((degs, 2)),
    )
    cores = cores or count_cores()
    # As many DEGs as fit, but several blocks for each core, so that all end at about one time.
    even = -(-degs // (BLOCKS_PER_CORE * cores))
    size = block or max(1, min(MAX_DEGS, even, BLOCK_NUMBERS // max(1, len(events.sgas))))

    def work(start: int) -> int:
        stop = min(start + size, degs)
        scores = scorer.score(events.expressed[:, start:stop])
        causes.drivers[start:stop] = scores.drivers
        causes.driver_posteriors[start:stop] = scores.driver_posteriors
        for deg in range(start, stop):
            rows = np.flatnonzero(events.expressed[:, deg])
            best = _explain(
                events.altered[rows], log_weights, log_other[rows],
                scores.likelihoods[deg - start], top,
            )  # fmt: skip
            causes.top[rows, deg], causes.posterior[rows, deg] = best
        return stop - start

    _run_blocks(work, range(0, degs, size), cores, report)
    return causes


def _run_blocks(
    work: Callable[[int], int], starts: range, cores: int, report: Report | None
) -> None:
    """Run the blocks on threads; after an interrupt or error no other block starts."""
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


def _explain(
    altered: sparse.csr_array,
    log_weights: np.ndarray,
    log_other: np.ndarray,
    likelihoods: np.ndarray,
    top: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The best causes of one DEG and their posteriors, both [row, rank], from its scores."""
    of_sgas = likelihoods[1:] + log_weights  # [sga]
    other = likelihoods[0] + log_other  # [row]
    best = np.full((len(other), top), NO_CAUSE, np.int32)
    best_scores = np.full((len(other), top), RULED_OUT)
    mass = np.zeros(len(other))
    lengths = np.diff(altered.indptr)
    filled = np.flatnonzero(lengths)  # a tumour without any SGA has A0 alone
    if len(filled):
        best[filled], best_scores[filled], mass[filled] = _rank(
            altered.indices, altered.indptr[:-1][filled], lengths[filled], of_sgas, top
        )
    # A0 comes before SGAs with the same score.
    codes = np.hstack([np.zeros((len(best), 1), np.int32), best])
    scores = np.hstack([other[:, None], best_scores])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1]
    codes, scores = np.take_along_axis(codes, order, 1), np.take_along_axis(scores, order, 1)
    # The mass of the SGAs is in units of the best of them.
    highest = np.maximum(best_scores[:, 0], other)
    total = mass * np.exp(best_scores[:, 0] - highest) + np.exp(other - highest)
    posteriors = np.exp(scores - highest[:, None]) / total[:, None]
    ruled_out = scores <= RULED_OUT
    codes[ruled_out], posteriors[ruled_out] = NO_CAUSE, 0.0
    return codes, posteriors


def _rank(
    sgas: np.ndarray, starts: np.ndarray, lengths: np.ndarray, scores: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best SGAs of each tumour, [tumour, rank], their scores, and the sum in units of the best."""
    values = scores.take(sgas)  # [event]
    best = np.empty((len(starts), top), np.int32)
    best_scores = np.empty((len(starts), top))
    mass = np.empty(0)
    for rank in range(top):
        highest = np.maximum.reduceat(values, starts)
        below = values - np.repeat(highest, lengths)
        first = np.minimum.reduceat(np.where(below == 0, sgas, len(scores)), starts)
        if rank == 0:
            mass = np.add.reduceat(np.exp(below), starts)
        best[:, rank], best_scores[:, rank] = first + 1, highest
        if rank + 1 < top:
            values[sgas == np.repeat(first, lengths)] = RULED_OUT
    return best, best_scores, mass
