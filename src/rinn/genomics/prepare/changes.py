"""X, which gene is altered in which tumour, and Y, how far expression is from its reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, log_count, log_names
from rinn.errors import InputError
from rinn.genomics.prepare.settings import PrepareSettings

DEEP = 2  # copy-number levels that count: 2 and more, -2 and less
MAD_TO_SD = 1.4826  # of a normal distribution
MAX_Z = 10.0


@dataclass(frozen=True)
class Columns:
    """X or Y of matched tumours: inputs by their frequency, outputs by their spread.

    `table` is samples x genes as it is written. `genes` has a row for every gene of the files:
    counts of tumours, and `why` it is not kept. `calls` has the outputs as 0 and 1, for TCI.
    """

    table: pd.DataFrame
    genes: pd.DataFrame
    entries: tuple[LogEntry, ...]
    calls: pd.DataFrame


def find_alterations(
    mutations: pd.DataFrame | None, levels: pd.DataFrame | None, settings: PrepareSettings
) -> Columns:
    """Call a gene altered where it is mutated or its copy number is 2 or -2.

    A gene that a table does not have counts as not altered in it. Missing cells are unknown; genes
    unknown in many tumours are dropped, and the unknown cells of the others are not altered.
    """
    counts, altered = _count(mutations, levels)
    minimum = max(settings.min_carriers, math.ceil(settings.min_frequency * len(altered) - 1e-9))
    counts["why"] = _explain_inputs(counts, len(altered), minimum, settings)
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
    reason = "unknown in X: counted as not altered"
    repaired = log_count("repaired", "cells", int(kept["unknown"].sum()), reason)
    return Columns(table, counts, (*log_dropped(counts, "X"), *repaired), table)


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


def _explain_inputs(
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
        f"unknown in more than {100 * settings.max_missing:g}% of the tumours"
    )
    return why


def log_dropped(genes: pd.DataFrame, table: str) -> list[LogEntry]:
    """One entry for each reason, without names: there may be twenty thousand."""
    reasons = genes.loc[genes["why"] != "", "why"].value_counts().sort_index()
    return [LogEntry("dropped", "genes", n, f"of {table}: {why}") for why, n in reasons.items()]


@dataclass(frozen=True)
class Reference:
    """What tumours are compared with.

    `normals` holds normal samples x genes with `normal_tissues`, or is None; `levels` the copy
    number of the tumours, or is None.
    """

    normals: pd.DataFrame | None = None
    normal_tissues: Sequence[str] = ()
    levels: pd.DataFrame | None = None


@dataclass(frozen=True)
class Scores:
    """`z` is tumours x genes, NaN where there is no reference; `spread` ranks the genes.

    `cis` counts for each gene the tumours in which its own copy number is altered.
    """

    z: pd.DataFrame
    spread: pd.Series
    cis: pd.Series
    entries: tuple[LogEntry, ...]


def find_usable(
    tissues: pd.Series, reference: Reference, settings: PrepareSettings
) -> tuple[pd.Series, list[LogEntry]]:
    """Which tumours have a reference to be compared with."""
    if settings.reference == "none":
        return pd.Series(True, index=tissues.index), []
    minimum = settings.min_reference
    counts = tissues.value_counts()
    enough = set(counts.index[counts >= minimum])
    if settings.reference == "normals":
        normals = pd.Series(reference.normal_tissues, dtype=object).value_counts()
        served = set(normals.index[normals >= minimum]) & set(counts.index)
        if not served:
            largest = int(normals.reindex(counts.index).fillna(0).max()) if len(counts) else 0
            raise InputError(
                f"--reference normals must have at least {minimum} normals of a tissue, but there "
                f"are at most {largest}; name more with --normals, or pass --reference tissue"
            )
        enough |= served
    if not enough:
        raise InputError(
            f"a tissue must have at least {minimum} tumours to be compared with, but the largest, "
            f"{counts.index[0]!r}, has {counts.iloc[0]}; pool tissues in the clinical table, or "
            f"lower --min-reference"
        )
    usable = tissues.isin(enough)
    reason = f"their tissue has fewer than {minimum} samples to be compared with"
    lost = [f"{name} ({tissues[name]})" for name in tissues.index[~usable]]
    return usable, log_names("dropped", "samples", reason, lost)


def score_expression(
    expression: pd.DataFrame, tissues: pd.Series, reference: Reference, settings: PrepareSettings
) -> Scores:
    """Find z = (value - centre) / spread of each gene in each tumour, tissue by tissue.

    Centre and spread are the median and 1.4826 MAD of the tumours of the tissue, or the mean and
    standard deviation (with `robust` the median and MAD) of its normals or of those of its tumours
    in which the gene is diploid. Where such a reference has too few samples, that of the tissue's
    tumours is used. z is 0 where the gene's own copy number is 2 or -2.
    """
    levels, entries = reference.levels, list[LogEntry]()
    is_cis = np.zeros(expression.shape, bool)
    if levels is not None:
        levels = levels.reindex(columns=expression.columns)
        is_cis |= (levels.abs().to_numpy() >= DEEP) & (not settings.keep_cis)
    z = expression.astype(float)
    if settings.reference != "none":
        z, entries = _compare(expression, tissues, replace(reference, levels=levels), settings)
    trans = expression.where(~is_cis).astype(float)
    spread = (trans - trans.groupby(tissues).transform("mean")).std(ddof=0)
    is_set = is_cis & z.notna().to_numpy() & (z != 0).to_numpy()
    reason = "of Y set to 0: the copy number of the same gene is 2 or -2 in that tumour"
    entries += log_count("repaired", "cells", int(is_set.sum()), reason)
    cis = pd.Series(is_cis.sum(axis=0), index=expression.columns)
    return Scores(z.mask(is_set, 0.0), spread.fillna(0.0), cis, tuple(entries))


def _compare(
    expression: pd.DataFrame, tissues: pd.Series, reference: Reference, settings: PrepareSettings
) -> tuple[pd.DataFrame, list[LogEntry]]:
    """Score tissue by tissue; list the tissues in which genes have too small a reference."""
    levels, normals = reference.levels, reference.normals
    if settings.reference == "diploid" and levels is None:
        raise InputError(
            "--reference diploid needs copy number, but got none; name it with "
            "--copy-number, or pass --reference tissue"
        )
    normal_tissues = np.array(reference.normal_tissues, dtype=object)
    parts, few = [], []
    for tissue in dict.fromkeys(tissues):
        rows = (tissues == tissue).to_numpy()
        values = expression.loc[rows].astype(float)
        centre, spread = _describe(values, robust=True)
        other = None
        if settings.reference == "normals" and normals is not None:
            own = normals.loc[normal_tissues == tissue]
            other = own.reindex(columns=expression.columns).astype(float)
        elif settings.reference == "diploid" and levels is not None:
            other = values.where(levels.loc[rows] == 0)
        if other is not None:
            enough = other.count() >= settings.min_reference
            other_centre, other_spread = _describe(other, robust=settings.robust)
            centre, spread = other_centre.where(enough, centre), other_spread.where(enough, spread)
            few += [] if enough.all() else [f"{tissue}: {(~enough).sum():,} genes"]
        parts.append((values - centre) / spread)
    what = "normals" if settings.reference == "normals" else "diploid tumours"
    less = f"with fewer than {settings.min_reference} {what}"
    reason = f"{less}: compared with all tumours of the tissue instead"
    return pd.concat(parts).reindex(expression.index), log_names("noted", "tissues", reason, few)


def _describe(values: pd.DataFrame, *, robust: bool) -> tuple[pd.Series, pd.Series]:
    """Centre and spread of each gene; the spread is NaN where all values are the same."""
    if robust:
        centre = values.median()
        spread = MAD_TO_SD * (values - centre).abs().median()
    else:
        centre, spread = values.mean(), values.std()
    return centre, spread.where(spread > 1e-9 * centre.abs().clip(lower=1.0))


def make_outputs(scores: Scores, settings: PrepareSettings) -> Columns:
    """Make Y of the scores.

    Genes without a score in many tumours are dropped; the missing scores of the others become 0.
    Binary outputs are 1 where |z| reaches the cut-off, and must be neither rare nor common.
    Continuous outputs are z, clipped to -10 and 10, and must vary.
    """
    z, samples = scores.z, len(scores.z)
    calls = (z.abs() >= settings.z_cutoff).astype(np.int8)
    columns = {"changed": calls.sum(), "prevalence": calls.sum() / samples, "spread": scores.spread}
    columns |= {"missing": z.isna().sum(), "own_copy_number": scores.cis}
    genes = pd.DataFrame(columns).rename_axis("gene").reset_index()
    constant = (z.fillna(0.0) == z.fillna(0.0).iloc[0]).all().to_numpy()
    genes["why"] = _explain_outputs(genes, constant, samples, settings)
    kept = genes.loc[genes["why"] == ""].sort_values(["spread", "gene"], ascending=[False, True])
    if kept.empty:
        reason = genes["why"].value_counts().index[0] if len(genes) else "there is no gene"
        advice = "check the expression table"
        if settings.y_kind == "binary":
            advice = "pass --y-kind continuous, or a lower --cutoff and --min-prevalence"
        raise InputError(
            f"Y must have a gene whose expression changes, but none of {len(genes):,} is left "
            f"({reason}); {advice}"
        )
    names = list(kept["gene"])
    table, entries = calls[names], log_dropped(genes, "Y")
    if settings.y_kind == "continuous":
        table = z[names].fillna(0.0)
        far = int((table.abs() > MAX_Z).to_numpy().sum())
        table = table.clip(-MAX_Z, MAX_Z)  # one value of 300 would outweigh all others
        clipped = f"of Y beyond {MAX_Z:g} or -{MAX_Z:g}: clipped"
        entries += log_count("repaired", "cells", far, clipped)
    filled = int(kept["missing"].sum())
    entries += log_count("repaired", "cells", filled, "without a score in Y: set to 0")
    return Columns(table, genes, tuple(entries), calls[names])


def _explain_outputs(
    genes: pd.DataFrame, constant: np.ndarray, samples: int, settings: PrepareSettings
) -> pd.Series:
    why = pd.Series("", index=genes.index, dtype=object)
    if settings.y_kind == "binary":
        few = max(settings.min_carriers, settings.min_prevalence * samples)
        many = min(samples - settings.min_carriers, settings.max_prevalence * samples)
        why[genes["changed"] > many] = f"changed in more than {many / samples:.0%} of the tumours"
        why[genes["changed"] < few] = f"changed in fewer than {few / samples:.0%} of the tumours"
    else:
        why[constant] = "the same in all tumours"
    why[genes["gene"].isin(settings.exclude)] = "excluded by --exclude"
    why[genes["missing"] > settings.max_missing * samples] = (
        f"without a score in more than {100 * settings.max_missing:g}% of the tumours"
    )
    return why
