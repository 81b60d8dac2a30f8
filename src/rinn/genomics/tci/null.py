"""How large a posterior gets by chance: cut-offs from permuted Y."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from rinn.genomics.tci.events import Events
from rinn.genomics.tci.inference import Causes, Report, infer_causes
from rinn.genomics.tci.prior import Prior
from rinn.genomics.tci.settings import TciSettings

BINS = 1000

Save = Callable[[np.ndarray], None]


def find_cutoffs(
    events: Events,
    prior: Prior,
    settings: TciSettings,
    *,
    done: Sequence[np.ndarray] = (),
    save: Save | None = None,
    cores: int | None = None,
    report: Report | None = None,
) -> np.ndarray:
    """Find the posterior that each SGA must reach, from runs on permuted Y.

    Round r permutes with the random numbers of (seed, r), so that rounds can be made at different
    times. A cut-off is the mean over the rounds in which the SGA was the top cause of anything;
    an SGA that never was gets 1. The bounds of the settings come last.

    Example:
        >>> from rinn.genomics.tci.events import as_events
        >>> from rinn.genomics.tci.prior import make_prior
        >>> rng = np.random.default_rng(0)
        >>> events = as_events(rng.integers(0, 2, (60, 4)), rng.integers(0, 2, (60, 6)))
        >>> cutoffs = find_cutoffs(events, make_prior(events), TciSettings(permutations=2))
        >>> bool(((cutoffs > 0) & (cutoffs <= 1)).all())
        True
    """
    rounds = list(done)[: settings.permutations]
    if report and rounds:
        report(len(rounds) * len(events.degs))
    for number in range(len(rounds), settings.permutations):
        permuted = permute_events(events, settings.permute, [settings.seed, number])
        causes = infer_causes(
            permuted,
            prior,
            any_direction=settings.any_direction,
            tissue_model=settings.tissue_model,
            cores=cores,
            report=report,
        )
        rounds.append(read_cutoffs(causes, len(events.sgas), settings.significance))
        if save:
            save(rounds[-1])
    return _average(rounds, len(events.sgas), settings)


def permute_events(events: Events, permute: str, seed: int | Sequence[int]) -> Events:
    """Give the DEGs to other tumours, within each tissue where tissues are known.

    Example:
        >>> from rinn.genomics.tci.events import as_events
        >>> events = as_events(np.eye(6), np.eye(6), list("aaabbb"), least=6)
        >>> permuted = permute_events(events, "rows", 1).expressed
        >>> permuted[:3, :3].sum().item(), permuted.sum(axis=0).tolist()
        (3, [1, 1, 1, 1, 1, 1])
    """
    rng = np.random.default_rng(seed)
    labels = events.tissues or ("",) * len(events.expressed)
    _, place = np.unique(np.array(labels), return_inverse=True)
    expressed = np.empty_like(events.expressed)
    for number in range(place.max() + 1):
        rows = np.flatnonzero(place == number)
        own = events.expressed[rows]
        mixed = rng.permutation(own) if permute == "rows" else rng.permuted(own, axis=0)
        expressed[rows] = mixed
    return dataclasses.replace(events, expressed=expressed)


def read_cutoffs(causes: Causes, sgas: int, significance: float) -> np.ndarray:
    """Read a cut-off for each SGA from its posteriors where it is the top cause.

    The posteriors are counted in 1,000 bins; the cut-off is the upper end of the bin at which the
    share of those counted comes nearest to 1 - significance, the lowest such bin.
    """
    top, posterior = causes.top[..., 0].ravel(), causes.posterior[..., 0].ravel()
    measured = np.flatnonzero(top > 0)
    bins = np.minimum((posterior[measured] * BINS).astype(np.int64), BINS - 1)
    codes, counts = np.unique(
        (top[measured].astype(np.int64) - 1) * BINS + bins, return_counts=True
    )
    cutoffs = np.full(sgas, np.nan)
    if not len(codes):
        return cutoffs
    owners, starts = np.unique(codes // BINS, return_index=True)  # each SGA's first bin
    sizes = np.diff(np.append(starts, len(codes)))
    summed = np.cumsum(counts)
    before = np.repeat(summed[starts] - counts[starts], sizes)
    totals = np.repeat(np.add.reduceat(counts, starts), sizes)
    distance = np.abs((summed - before) / totals - (1 - significance))
    nearest = np.repeat(np.minimum.reduceat(distance, starts), sizes)
    places = np.where(distance == nearest, np.arange(len(codes)), len(codes))
    best = np.minimum.reduceat(places, starts)
    cutoffs[owners] = (codes[best] % BINS + 1) / BINS
    return cutoffs


def _average(rounds: Sequence[np.ndarray], sgas: int, settings: TciSettings) -> np.ndarray:
    if not rounds:
        return np.full(sgas, settings.min_cutoff)
    cutoffs = np.stack(rounds)  # [round, sga]
    seen = np.isfinite(cutoffs)
    total = np.where(seen, cutoffs, 0.0).sum(axis=0)
    mean = np.where(seen.any(axis=0), total / np.maximum(seen.sum(axis=0), 1), 1.0)
    return np.clip(mean, settings.min_cutoff, settings.max_cutoff)
