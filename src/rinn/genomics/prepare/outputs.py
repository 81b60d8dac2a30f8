"""From scores to Y: calls or numbers, and which genes are fit to be outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import Entry, note_some
from rinn.errors import InputError
from rinn.genomics.prepare.expression import MOST_Z, Scores
from rinn.genomics.prepare.settings import PrepareSettings


@dataclass(frozen=True)
class Outputs:
    """Expression changes of matched tumours.

    `table` is samples x genes as it is written, the gene with the largest spread first; `calls`
    has the same genes as 0 and 1, for TCI. `genes` has a row for every gene that was looked at.
    """

    table: pd.DataFrame
    calls: pd.DataFrame
    genes: pd.DataFrame
    entries: tuple[Entry, ...]


def make_outputs(scores: Scores, settings: PrepareSettings) -> Outputs:
    """Make Y of the scores.

    Genes without a score in many tumours are dropped; the missing scores of the others become 0.
    Binary outputs are 1 where |z| reaches the cut-off, and must be neither rare nor common.
    Continuous outputs are z, held between -10 and 10, and must vary.

    Args:
        scores: of the tumours.
        settings: how.

    Returns:
        The table and what was dropped.

    Raises:
        InputError: no gene is left.

    Example:
        >>> z = pd.DataFrame({"MYC": [0.5, -2.5, 3.0, 0.1], "JUN": [0.0, 0.1, 0.2, 0.3]})
        >>> ones = pd.Series(1.0, index=z.columns)
        >>> settings = PrepareSettings(y_kind="binary", min_carriers=2)
        >>> make_outputs(Scores(z, ones, 0 * ones, ()), settings).table.to_dict("list")
        {'MYC': [0, 1, 1, 0]}
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
    genes["why"] = _say_why(genes, constant, samples, settings)
    kept = genes.loc[genes["why"] == ""].sort_values(["spread", "gene"], ascending=[False, True])
    if kept.empty:
        reason = genes["why"].value_counts().index[0] if len(genes) else "there is no gene"
        raise InputError(
            f"Y must have a gene whose expression changes, but none of {len(genes):,} is left "
            f"({reason}); "
            + (
                "pass --y-kind continuous, or a lower --cutoff and --min-prevalence"
                if settings.y_kind == "binary"
                else "check the expression table"
            )
        )
    names = list(kept["gene"])
    table, entries = calls[names], _note_dropped(genes)
    if settings.y_kind == "continuous":
        table, clipped = _hold(z[names].fillna(0.0))
        entries += clipped
    filled = int(kept["missing"].sum())
    if filled:
        entries.append(Entry("repaired", "cells", filled, "without a score in Y: taken for 0"))
    return Outputs(table, calls[names], genes, tuple(entries))


def _say_why(
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
    why[genes["missing"] > settings.most_missing * samples] = (
        f"without a score in more than {100 * settings.most_missing:g} % of the tumours"
    )
    return why


def _hold(z: pd.DataFrame) -> tuple[pd.DataFrame, list[Entry]]:
    """Hold scores between two bounds: one value of 300 would outweigh all others."""
    far = int((z.abs() > MOST_Z).to_numpy().sum())
    reason = f"of Y beyond {MOST_Z:g} or -{MOST_Z:g}: held there"
    return z.clip(-MOST_Z, MOST_Z), [Entry("repaired", "cells", far, reason)] if far else []


def _note_dropped(genes: pd.DataFrame) -> list[Entry]:
    entries: list[Entry] = []
    for reason, group in genes[genes["why"] != ""].groupby("why", sort=True):
        entries += note_some("dropped", "genes", f"of Y: {reason}", group["gene"], keep=False)
    return entries
