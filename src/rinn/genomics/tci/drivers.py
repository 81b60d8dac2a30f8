"""TCI from start to end in memory: causes, cut-offs, calls, what to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rinn.genomics.tci.calls import Calls, Features, call_drivers, select_features
from rinn.genomics.tci.events import Events
from rinn.genomics.tci.inference import Causes, Report, infer_causes
from rinn.genomics.tci.null import Save, find_cutoffs
from rinn.genomics.tci.prior import Prior, make_prior
from rinn.genomics.tci.settings import TciSettings


@dataclass(frozen=True)
class Tci:
    """Everything that TCI found; `cutoffs` has one number for each SGA."""

    events: Events
    prior: Prior
    settings: TciSettings
    causes: Causes
    cutoffs: np.ndarray
    calls: Calls
    features: Features

    def summarise(self) -> dict[str, Any]:
        """Say in numbers what was read, called and kept."""
        top = self.causes.top[..., 0]
        explained = int((top >= 0).sum())
        drivers = self.calls.drivers
        often = drivers["carriers"] >= self.settings.least_tumours
        return {
            "tumours": self.events.altered.shape[0],
            "sgas": len(self.events.sgas),
            "degs": len(self.events.degs),
            "tissues": len(set(self.events.tissues or ())),
            "explained": explained,
            "unknown_share": float((top == 0).sum() / max(explained, 1)),
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
        >>> found = find_drivers(as_events(x.astype(int), y.astype(int)), TciSettings(
        ...     permutations=5))
        >>> found.features
        Features(sgas=(0,), degs=(0, 1, 2, 3, 4, 5))
    """
    settings = settings or TciSettings()
    prior = prior or make_prior(events)
    causes = infer_causes(
        events,
        prior,
        direction=settings.direction,
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
