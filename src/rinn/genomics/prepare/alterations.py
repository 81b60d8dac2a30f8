"""X: which gene is altered in which tumour, by mutation or by copy number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, log_count
from rinn.errors import InputError
from rinn.genomics.prepare.settings import PrepareSettings

DEEP = 2  # copy-number levels that count: 2 and more, -2 and less


@dataclass(frozen=True)
class Alterations:
    """Somatic genome alterations (SGA) of matched tumours.

    `table` is samples x genes, int8, the most frequent gene first. `genes` has a row for every
    gene of the files: counts of tumours, whether it is kept, and why not.
    """

    table: pd.DataFrame
    genes: pd.DataFrame
    entries: tuple[LogEntry, ...]


def find_alterations(
    mutations: pd.DataFrame | None, levels: pd.DataFrame | None, settings: PrepareSettings
) -> Alterations:
    """Call a gene altered where it is mutated or its copy number is 2 or -2.

    A gene that a table does not have counts as not altered in it. Missing cells are unknown; genes
    unknown in many tumours are dropped, and the unknown cells of the others are not altered.
    """
    counts, altered = _count(mutations, levels)
    minimum = max(settings.min_carriers, math.ceil(settings.min_frequency * len(altered) - 1e-9))
    counts["why"] = _explain_dropped(counts, len(altered), minimum, settings)
    kept = counts.loc[counts["why"] == ""].sort_values(
        ["carriers", "gene"], ascending=[False, True]
    )
    if kept.empty:
        best = counts.sort_values("carriers", ascending=False).iloc[0]
        raise InputError(
            f"X must have a gene that is altered in at least {minimum} of {len(altered)} tumours, "
            f"but the most frequent, {best['gene']!r}, is in {best['carriers']}; lower "
            f"--min-frequency and --min-carriers, or add tumours"
        )
    table = altered[kept["gene"]].astype(np.int8)
    reason = "unknown in X: taken for not altered"
    repaired = log_count("repaired", "cells", int(kept["unknown"].sum()), reason)
    return Alterations(table, counts, (*log_dropped(counts, "X"), *repaired))


def _count(
    mutations: pd.DataFrame | None, levels: pd.DataFrame | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count for each gene in how many tumours it is altered and how."""
    frames = [frame for frame in (mutations, levels) if frame is not None]
    genes = pd.Index(dict.fromkeys(str(name) for frame in frames for name in frame.columns))
    changes, copies = (
        np.zeros((1, 1)) if frame is None else frame.reindex(columns=genes, fill_value=0).to_numpy()
        for frame in (mutations, levels)
    )
    mutated, amplified, deleted = changes == 1, copies >= DEEP, copies <= -DEEP
    altered = mutated | amplified | deleted
    unknown = (np.isnan(changes) | np.isnan(copies)) & ~altered
    shown = (altered, mutated, amplified, deleted, unknown)
    sums = [np.broadcast_to(part, altered.shape).sum(axis=0) for part in shown]
    columns = {"carriers": sums[0], "frequency": altered.mean(axis=0)}
    columns |= dict(zip(("mutated", "amplified", "deleted", "unknown"), sums[1:], strict=True))
    table = pd.DataFrame(altered, index=frames[0].index, columns=genes)
    return pd.DataFrame({"gene": genes} | columns), table


def _explain_dropped(
    counts: pd.DataFrame, samples: int, minimum: int, settings: PrepareSettings
) -> pd.Series:
    """Why a gene is left out; empty where it is kept."""
    why = pd.Series("", index=counts.index, dtype=object)
    why[counts["carriers"] > samples - settings.min_carriers] = (
        f"altered in all but fewer than {settings.min_carriers} tumours"
    )
    why[counts["carriers"] < minimum] = f"altered in fewer than {minimum} tumours"
    why[counts["gene"].isin(settings.exclude)] = "excluded by --exclude"
    why[counts["unknown"] > settings.max_missing * samples] = (
        f"unknown in more than {100 * settings.max_missing:g} % of the tumours"
    )
    return why


def log_dropped(genes: pd.DataFrame, table: str) -> list[LogEntry]:
    """One entry for each reason, without names: there may be twenty thousand."""
    reasons = genes.loc[genes["why"] != "", "why"].value_counts().sort_index()
    return [LogEntry("dropped", "genes", n, f"of {table}: {why}") for why, n in reasons.items()]
