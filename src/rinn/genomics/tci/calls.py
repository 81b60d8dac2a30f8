"""From causes to calls: cut-offs from permuted Y, drivers and their targets; TCI in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from rinn.genomics.tci.events import Events
from rinn.genomics.tci.inference import Causes, Report, infer_causes
from rinn.genomics.tci.prior import Prior, make_prior
from rinn.genomics.tci.settings import TciSettings

BINS = 1000
Save = Callable[[np.ndarray], None]


@dataclass(frozen=True)
class Calls:
    """The called drivers and targets; SGAs and DEGs are numbered as in the events.

    `calls` has a row for each driver in a tumour: `tumour`, `sga`, `degs` explained there;
    `drivers` one for each SGA: `sga`, `carriers`, `cutoff`, number of tumours in which it is
    `called`, `rate` of its carriers, `driver` overall or not; `targets` one for each target DEG of
    an overall driver: `sga`, `deg`, `tumours` in which they are linked, `fraction` of the tumours
    where the SGA is called.
    """

    calls: pd.DataFrame
    drivers: pd.DataFrame
    targets: pd.DataFrame


@dataclass(frozen=True)
class Features:
    """The selected columns: numbers of the SGAs and of the DEGs, in their order."""

    sgas: tuple[int, ...]
    degs: tuple[int, ...]


def call_drivers(
    events: Events, causes: Causes, cutoffs: np.ndarray, settings: TciSettings
) -> Calls:
    """Call drivers and targets.

    An SGA is linked to a DEG in a tumour where it is the top cause with at least the posterior of
    its cut-off. It is a driver in a tumour with `min_degs` links, a driver overall with calls in
    `min_tumours` tumours and in the fraction `min_rate` of its carriers. A target of a driver
    overall is linked to it in the fraction `min_target_rate` of the tumours where it is called.
    """
    sgas, degs = len(events.sgas), len(events.degs)
    top, posterior = causes.top[..., 0], causes.posterior[..., 0]
    tumour, deg = np.nonzero(top > 0)
    sga = top[tumour, deg].astype(np.int64) - 1
    passes = posterior[tumour, deg] >= cutoffs[sga]
    tumour, deg, sga = tumour[passes], deg[passes], sga[passes]
    codes, counts = np.unique(tumour * sgas + sga, return_counts=True)
    enough = counts >= settings.min_degs
    codes, counts = codes[enough], counts[enough]
    calls = pd.DataFrame({"tumour": codes // sgas, "sga": codes % sgas, "degs": counts})
    carriers = np.bincount(events.altered.indices, minlength=sgas)
    called = np.bincount(calls["sga"].to_numpy(int), minlength=sgas)
    rate = called / np.maximum(carriers, 1)
    is_driver = (called >= settings.min_tumours) & (rate >= settings.min_rate)
    columns = {"carriers": carriers, "cutoff": cutoffs, "called": called, "rate": rate}
    drivers = pd.DataFrame({"sga": np.arange(sgas), **columns, "driver": is_driver})
    counted = is_driver[sga] & np.isin(tumour * sgas + sga, codes)
    pairs, linked = np.unique(sga[counted] * degs + deg[counted], return_counts=True)
    fraction = linked / np.maximum(called[pairs // degs], 1)
    targets = pd.DataFrame(
        {"sga": pairs // degs, "deg": pairs % degs, "tumours": linked, "fraction": fraction}
    )
    targets = targets[fraction >= settings.min_target_rate].reset_index(drop=True)
    return Calls(calls, drivers, targets)


def select_features(events: Events, calls: Calls, settings: TciSettings) -> Features:
    """Choose the columns for a smaller problem: overall drivers, and the DEGs that they explain.

    A DEG is kept if it is a target of `min_drivers` of the overall drivers and its frequency is
    from `min_prevalence` to `max_prevalence`.
    """
    drivers = np.flatnonzero(calls.drivers["driver"].to_numpy())
    of_deg = np.bincount(calls.targets["deg"].to_numpy(int), minlength=len(events.degs))
    prevalence = events.expressed.mean(axis=0)
    keeps = of_deg >= settings.min_drivers
    keeps &= (settings.min_prevalence <= prevalence) & (prevalence <= settings.max_prevalence)
    return Features(tuple(drivers.tolist()), tuple(np.flatnonzero(keeps).tolist()))


@dataclass(frozen=True)
class Tci:
    """All results of TCI; `cutoffs` has one number for each SGA."""

    events: Events
    prior: Prior
    settings: TciSettings
    causes: Causes
    cutoffs: np.ndarray
    calls: Calls
    features: Features

    def summarise(self) -> dict[str, Any]:
        """Count what was read, called and selected."""
        top = self.causes.top[..., 0]
        explained = int((top >= 0).sum())
        drivers = self.calls.drivers
        often = drivers["carriers"] >= self.settings.min_tumours
        return {
            "tumours": self.events.altered.shape[0],
            "sgas": len(self.events.sgas),
            "degs": len(self.events.degs),
            "tissues": len(set(self.events.tissues or ())),
            "explained": explained,
            "unknown_fraction": float((top == 0).sum() / max(explained, 1)),
            "calls": len(self.calls.calls),
            "tumours_with_calls": int(self.calls.calls["tumour"].nunique()),
            "drivers": int(drivers["driver"].sum()),
            "cutoff_of_one": int((often & (drivers["cutoff"] == 1)).sum()),
            "targets": len(self.calls.targets),
            "selected_sgas": len(self.features.sgas),
            "selected_degs": len(self.features.degs),
        }


def find_drivers(
    events: Events,
    settings: TciSettings | None = None,
    prior: Prior | None = None,
    *,
    done: Sequence[np.ndarray] = (),
    save: Save | None = None,
    cores: int | None = None,
    report: Report | None = None,
) -> Tci:
    """Find the cause of each DEG in each tumour, and call drivers and targets.

    The settings and the events decide the result; the number of cores does not.

    Args:
        events: the tumours, as `load_events` or `as_events` make them.
        settings: by default those of `TciSettings`.
        prior: as `make_prior` makes it; by default the frequency prior.
        done: cut-offs of permutations that were made before, as `save` was given them.
        save: called with the cut-offs of each permutation.
        cores: threads to use; by default as many as the process may use.
        report: called with the number of DEGs that are done, of those of the data and of each
            permutation.

    Example:
        >>> from rinn.genomics.tci.events import as_events
        >>> rng = np.random.default_rng(0)
        >>> x = rng.random((400, 5)) < 0.2
        >>> y = np.repeat(x[:, :1], 6, axis=1) ^ (rng.random((400, 6)) < 0.05)
        >>> result = find_drivers(as_events(x.astype(int), y.astype(int)), TciSettings(
        ...     permutations=5))
        >>> result.features
        Features(sgas=(0,), degs=(0, 1, 2, 3, 4, 5))
    """
    settings = settings or TciSettings()
    prior = prior or make_prior(events)
    how: Any = {"any_direction": settings.any_direction, "tissue_model": settings.tissue_model}
    causes = infer_causes(events, prior, top=settings.top, cores=cores, report=report, **how)
    cutoffs = find_cutoffs(
        events, prior, settings, done=done, save=save, cores=cores, report=report
    )
    calls = call_drivers(events, causes, cutoffs, settings)
    features = select_features(events, calls, settings)
    return Tci(events, prior, settings, causes, cutoffs, calls, features)


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
    how: Any = {"any_direction": settings.any_direction, "tissue_model": settings.tissue_model}
    rounds = list(done)[: settings.permutations]
    for number in range(len(rounds), settings.permutations):
        permuted = permute_events(events, settings.permute, [settings.seed, number])
        causes = infer_causes(permuted, prior, cores=cores, report=report, **how)
        rounds.append(read_cutoffs(causes, len(events.sgas), settings.significance))
        if save:
            save(rounds[-1])
    if not rounds:
        return np.full(len(events.sgas), settings.min_cutoff)
    cutoffs = np.stack(rounds)  # [round, sga]
    seen = np.isfinite(cutoffs)
    total = np.where(seen, cutoffs, 0.0).sum(axis=0)
    mean = np.where(seen.any(axis=0), total / np.maximum(seen.sum(axis=0), 1), 1.0)
    return np.clip(mean, settings.min_cutoff, settings.max_cutoff)


def permute_events(events: Events, permute: str, seed: int | Sequence[int]) -> Events:
    """Give the DEGs to other tumours, within each tissue where tissues are given."""
    rng = np.random.default_rng(seed)
    tissues = np.array(events.tissues or ("",) * len(events.expressed))
    expressed = np.empty_like(events.expressed)
    for tissue in np.unique(tissues):
        rows = np.flatnonzero(tissues == tissue)
        degs = events.expressed[rows]
        expressed[rows] = rng.permutation(degs) if permute == "rows" else rng.permuted(degs, axis=0)
    return replace(events, expressed=expressed)


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
