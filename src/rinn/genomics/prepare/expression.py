"""Y: how far the expression of each gene is from its reference; which genes can be outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, log_names
from rinn.errors import InputError
from rinn.genomics.prepare.alterations import DEEP, log_dropped
from rinn.genomics.prepare.settings import PrepareSettings

MAD_TO_SD = 1.4826  # of a normal distribution
MAX_Z = 10.0


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
    levels = None
    if reference.levels is not None:
        levels = reference.levels.reindex(columns=expression.columns)
    is_cis = np.zeros(expression.shape, bool)
    if levels is not None and not settings.keep_cis:
        is_cis = levels.abs().to_numpy() >= DEEP
    stand_ins: list[tuple[str, int]] = []
    if settings.reference == "none":
        z = expression.astype(float)
    else:
        z, stand_ins = _compare(expression, tissues, reference, levels, settings)
    entries = _log_stand_ins(stand_ins, settings)
    trans = expression.where(~is_cis).astype(float)
    spread = (trans - trans.groupby(tissues).transform("mean")).std(ddof=0)
    is_set = is_cis & z.notna().to_numpy() & (z != 0).to_numpy()
    if is_set.any():
        reason = "of Y set to 0: the copy number of the same gene is 2 or -2 in that tumour"
        entries.append(LogEntry("repaired", "cells", int(is_set.sum()), reason))
    cis = pd.Series(is_cis.sum(axis=0), index=expression.columns)
    return Scores(z.mask(is_set, 0.0), spread.fillna(0.0), cis, tuple(entries))


def _compare(
    expression: pd.DataFrame,
    tissues: pd.Series,
    reference: Reference,
    levels: pd.DataFrame | None,
    settings: PrepareSettings,
) -> tuple[pd.DataFrame, list[tuple[str, int]]]:
    """Score tissue by tissue; also count the genes of each tissue without enough reference."""
    if settings.reference == "diploid" and levels is None:
        raise InputError(
            "--reference diploid must come with copy number, but there is none; name it with "
            "--copy-number, or pass --reference tissue"
        )
    normals = reference.normals
    if normals is not None:
        normals = normals.reindex(columns=expression.columns)
    normal_tissues = np.array(reference.normal_tissues, dtype=object)
    parts, stand_ins = [], []
    for tissue in dict.fromkeys(tissues):
        rows = (tissues == tissue).to_numpy()
        values = expression.loc[rows].astype(float)
        centre, spread = _describe(values, robust=True)
        other = None
        if settings.reference == "normals" and normals is not None:
            other = normals.loc[normal_tissues == tissue].astype(float)
        elif settings.reference == "diploid" and levels is not None:
            other = values.where(levels.loc[rows] == 0)
        if other is not None:
            enough = other.count() >= settings.min_reference
            other_centre, other_spread = _describe(other, robust=settings.robust)
            centre, spread = other_centre.where(enough, centre), other_spread.where(enough, spread)
            if not enough.all():
                stand_ins.append((str(tissue), int((~enough).sum())))
        parts.append((values - centre) / spread)
    return pd.concat(parts).reindex(expression.index), stand_ins


def _describe(values: pd.DataFrame, *, robust: bool) -> tuple[pd.Series, pd.Series]:
    """Centre and spread of each gene; the spread is NaN where all values are the same."""
    if robust:
        centre = values.median()
        spread = MAD_TO_SD * (values - centre).abs().median()
    else:
        centre, spread = values.mean(), values.std()
    return centre, spread.where(spread > 1e-9 * centre.abs().clip(lower=1.0))


def _log_stand_ins(stand_ins: list[tuple[str, int]], settings: PrepareSettings) -> list[LogEntry]:
    names = [f"{tissue}: {genes:,} genes" for tissue, genes in stand_ins]
    what = "normals" if settings.reference == "normals" else "diploid tumours"
    reason = (
        f"with fewer than {settings.min_reference} {what}: compared with all tumours of the "
        f"tissue instead"
    )
    return log_names("noted", "tissues", reason, names)


@dataclass(frozen=True)
class Outputs:
    """Expression changes of matched tumours.

    `table` is samples x genes as it is written, the gene with the largest spread first; `calls`
    has the same genes as 0 and 1, for TCI. `genes` has a row for every gene of the files.
    """

    table: pd.DataFrame
    calls: pd.DataFrame
    genes: pd.DataFrame
    entries: tuple[LogEntry, ...]


def make_outputs(scores: Scores, settings: PrepareSettings) -> Outputs:
    """Make Y of the scores.

    Genes without a score in many tumours are dropped; the missing scores of the others become 0.
    Binary outputs are 1 where |z| reaches the cut-off, and must be neither rare nor common.
    Continuous outputs are z, clipped to -10 and 10, and must vary.
    """
    z, samples = scores.z, len(scores.z)
    missing = z.isna().sum()
    calls = (z.abs() >= settings.z_cutoff).astype(np.int8)
    ones = calls.sum()
    genes = pd.DataFrame(
        {
            "gene": list(z.columns),
            "changed": ones.to_numpy(),
            "prevalence": (ones / samples).to_numpy(),
            "spread": scores.spread.to_numpy(),
            "missing": missing.to_numpy(),
            "own_copy_number": scores.cis.to_numpy(),
        }
    )
    constant = (z.fillna(0.0) == z.fillna(0.0).iloc[0]).all().to_numpy()
    genes["why"] = _explain_dropped(genes, constant, samples, settings)
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
        if far:
            reason = f"of Y beyond {MAX_Z:g} or -{MAX_Z:g}: clipped"
            entries.append(LogEntry("repaired", "cells", far, reason))
    filled = int(kept["missing"].sum())
    if filled:
        entries.append(LogEntry("repaired", "cells", filled, "without a score in Y: taken for 0"))
    return Outputs(table, calls[names], genes, tuple(entries))


def _explain_dropped(
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
        f"without a score in more than {100 * settings.max_missing:g} % of the tumours"
    )
    return why
