"""X: which gene is altered in which tumour, by mutation or by copy number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, log_names
from rinn.errors import InputError
from rinn.genomics.prepare.settings import PrepareSettings

DEEP = 2  # copy-number levels that count: 2 and more, -2 and less
COUNTS = ("carriers", "frequency", "mutated", "amplified", "deleted", "unknown")


@dataclass(frozen=True)
class Alterations:
    """Somatic genome alterations (SGA) of matched tumours.

    `table` is samples x genes, int8, the most frequent gene first. `genes` has a row for every
    gene that was looked at: in how many tumours it is altered and how, whether it is kept, and
    why not.
    """

    table: pd.DataFrame
    genes: pd.DataFrame
    entries: tuple[LogEntry, ...]


def find_alterations(
    mutations: pd.DataFrame | None, levels: pd.DataFrame | None, settings: PrepareSettings
) -> Alterations:
    """Call a gene altered where it is mutated or its copy number is 2 or -2.

    A gene that one of the tables does not have was not found altered in that way. A cell that is
    missing in a table is unknown; genes unknown in many tumours are dropped, and the unknown cells
    of the others are taken for not altered.

    Example:
        >>> mutations = pd.DataFrame({"TP53": [1, 0, 0, 0], "KRAS": [0, 0, 0, 1]})
        >>> levels = pd.DataFrame({"TP53": [0, -2, 0, 0], "EGFR": [0, 2, 1, 2]})
        >>> found = find_alterations(mutations, levels, PrepareSettings(min_carriers=2))
        >>> found.table.to_dict("list")
        {'EGFR': [0, 1, 0, 1], 'TP53': [1, 1, 0, 0]}
    """
    counts, altered = _count(mutations, levels)
    least = max(settings.min_carriers, math.ceil(settings.min_frequency * len(altered) - 1e-9))
    counts["why"] = _say_why(counts, len(altered), least, settings)
    kept = counts.loc[counts["why"] == ""].sort_values(
        ["carriers", "gene"], ascending=[False, True]
    )
    if kept.empty:
        best = counts.sort_values("carriers", ascending=False).iloc[0]
        raise InputError(
            f"X must have a gene that is altered in at least {least} of {len(altered)} tumours, "
            f"but the most frequent, {best['gene']!r}, is in {best['carriers']}; lower "
            f"--min-frequency and --min-carriers, or add tumours"
        )
    table = altered[kept["gene"]].astype(np.int8)
    entries = _note_dropped(counts)
    unknown = int(kept["unknown"].sum())
    if unknown:
        reason = "unknown in X: taken for not altered"
        entries.append(LogEntry("repaired", "cells", unknown, reason))
    return Alterations(table, counts, tuple(entries))


def _count(
    mutations: pd.DataFrame | None, levels: pd.DataFrame | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count for each gene in how many tumours it is altered and how."""
    frames = [frame for frame in (mutations, levels) if frame is not None]
    if not frames:
        raise ValueError("there are neither mutations nor copy number")
    genes = pd.Index(dict.fromkeys(str(name) for frame in frames for name in frame.columns))
    shape = (len(frames[0]), len(genes))
    mutated, amplified, deleted, unknown = (np.zeros(shape, bool) for _ in range(4))
    if mutations is not None:
        places, values = genes.get_indexer(mutations.columns), mutations.to_numpy()
        mutated[:, places] = values == 1
        unknown[:, places] = np.isnan(values)
    if levels is not None:
        places, values = genes.get_indexer(levels.columns), levels.to_numpy()
        amplified[:, places], deleted[:, places] = values >= DEEP, values <= -DEEP
        unknown[:, places] |= np.isnan(values)
    altered = mutated | amplified | deleted
    unknown &= ~altered
    parts = (mutated, amplified, deleted, unknown)
    sums = dict(zip(COUNTS[2:], (part.sum(axis=0) for part in parts), strict=True))
    counts = pd.DataFrame(
        {"gene": genes, "carriers": altered.sum(axis=0), "frequency": altered.mean(axis=0)} | sums
    )
    return counts, pd.DataFrame(altered, index=frames[0].index, columns=genes)


def _say_why(
    counts: pd.DataFrame, samples: int, least: int, settings: PrepareSettings
) -> pd.Series:
    """Why a gene is left out; empty where it is kept."""
    why = pd.Series("", index=counts.index, dtype=object)
    why[counts["carriers"] > samples - settings.min_carriers] = (
        f"altered in all but fewer than {settings.min_carriers} tumours"
    )
    why[counts["carriers"] < least] = f"altered in fewer than {least} tumours"
    why[counts["gene"].isin(settings.exclude)] = "excluded by --exclude"
    why[counts["unknown"] > settings.max_missing * samples] = (
        f"unknown in more than {100 * settings.max_missing:g} % of the tumours"
    )
    return why


def _note_dropped(counts: pd.DataFrame) -> list[LogEntry]:
    entries: list[LogEntry] = []
    for reason, group in counts[counts["why"] != ""].groupby("why", sort=True):
        # inputs.csv has the names: there may be twenty thousand
        entries += log_names("dropped", "genes", f"of X: {reason}", group["gene"], keep=False)
    return entries
