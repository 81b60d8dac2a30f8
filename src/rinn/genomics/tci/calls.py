"""From causes to calls: drivers in a tumour, overall drivers, their targets; TCI in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rinn.genomics.tci.events import Events
from rinn.genomics.tci.inference import Causes, Report, infer_causes
from rinn.genomics.tci.null import Save, find_cutoffs
from rinn.genomics.tci.prior import Prior, make_prior
from rinn.genomics.tci.settings import TciSettings


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
    tumour, deg, sga = _find_links(causes, cutoffs)
    codes, counts = np.unique(tumour * sgas + sga, return_counts=True)
    enough = counts >= settings.min_degs
    codes, counts = codes[enough], counts[enough]
    calls = pd.DataFrame({"tumour": codes // sgas, "sga": codes % sgas, "degs": counts})
    carriers = np.bincount(events.altered.indices, minlength=sgas)
    called = np.bincount(calls["sga"].to_numpy(int), minlength=sgas)
    rate = called / np.maximum(carriers, 1)
    is_driver = (called >= settings.min_tumours) & (rate >= settings.min_rate)
    drivers = pd.DataFrame(
        {
            "sga": np.arange(sgas),
            "carriers": carriers,
            "cutoff": cutoffs,
            "called": called,
            "rate": rate,
            "driver": is_driver,
        }
    )
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


def _find_links(causes: Causes, cutoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where an SGA is the top cause and reaches its cut-off: tumour, DEG, SGA."""
    top, posterior = causes.top[..., 0], causes.posterior[..., 0]
    tumour, deg = np.nonzero(top > 0)
    sga = top[tumour, deg].astype(np.int64) - 1
    passes = posterior[tumour, deg] >= cutoffs[sga]
    return tumour[passes], deg[passes], sga[passes]


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
    causes = infer_causes(
        events,
        prior,
        any_direction=settings.any_direction,
        tissue_model=settings.tissue_model,
        top=settings.top,
        cores=cores,
        report=report,
    )
    cutoffs = find_cutoffs(
        events, prior, settings, done=done, save=save, cores=cores, report=report
    )
    calls = call_drivers(events, causes, cutoffs, settings)
    features = select_features(events, calls, settings)
    return Tci(events, prior, settings, causes, cutoffs, calls, features)
