"""How large a posterior gets by chance: cut-offs from permuted Y."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

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
    """Give the DEGs to other tumours, within each tissue where tissues are given."""
    rng = np.random.default_rng(seed)
    tissues = np.array(events.tissues or ("",) * len(events.expressed))
    expressed = np.empty_like(events.expressed)
    for tissue in np.unique(tissues):
        rows = np.flatnonzero(tissues == tissue)
        degs = events.expressed[rows]
        expressed[rows] = rng.permutation(degs) if permute == "rows" else rng.permuted(degs, axis=0)
    return dataclasses.replace(events, expressed=expressed)


def read_cutoffs(causes: Causes, sgas: int, significance: float) -> np.ndarray:
    """Read a cut-off for each SGA from its posteriors where it is the top cause.

    The posteriors are counted in 1,000 bins; the cut-off is the upper end of the bin at which the
    fraction of those counted comes nearest to 1 - significance, the lowest such bin.
    """
    top, posterior = causes.top[..., 0].ravel(), causes.posterior[..., 0].ravel()
    measured = np.flatnonzero(top > 0)
    bins = np.minimum((posterior[measured] * BINS).astype(np.int64), BINS - 1)
    codes, counts = np.unique(
        (top[measured].astype(np.int64) - 1) * BINS + bins, return_counts=True
    )
    by_sga = pd.Series(counts, index=codes).groupby(codes // BINS)
    distance = (by_sga.cumsum() / by_sga.transform("sum") - (1 - significance)).abs()
    best = distance.groupby(codes // BINS).idxmin()  # the code of the nearest bin
    cutoffs = np.full(sgas, np.nan)
    cutoffs[best.index] = (best.to_numpy() % BINS + 1) / BINS
    return cutoffs


def _average(rounds: Sequence[np.ndarray], sgas: int, settings: TciSettings) -> np.ndarray:
    if not rounds:
        return np.full(sgas, settings.min_cutoff)
    cutoffs = np.stack(rounds)  # [round, sga]
    seen = np.isfinite(cutoffs)
    total = np.where(seen, cutoffs, 0.0).sum(axis=0)
    mean = np.where(seen.any(axis=0), total / np.maximum(seen.sum(axis=0), 1), 1.0)
    return np.clip(mean, settings.min_cutoff, settings.max_cutoff)
