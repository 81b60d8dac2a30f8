"""The gene sets that `rinn name` found for latents, where the run folder holds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from rinn.errors import InputError, clip
from rinn.files import read_table
from rinn.structure.enrichment import ALPHA, COLUMNS, SIDES

NAMES = "names.csv"
MAX_NAMES = 3  # of one latent
NUMBERS = ["overlap", "latent_genes", "q"]


@dataclass(frozen=True)
class GeneSetName:
    """A gene set that a latent's genes of one side are enriched in."""

    name: str
    side: str
    overlap: int
    genes: int
    q: float

    @property
    def words(self) -> str:
        """The name and what it rests on, on one line."""
        return (
            f"{clip(self.name, 60)} ({self.side}: {self.overlap} of {self.genes} genes, "
            f"q = {self.q:.2g})"
        )


def read_names(folder: Path) -> dict[str, tuple[GeneSetName, ...]] | None:
    """Read the best names of each latent from names.csv."""
    path = folder / NAMES
    if not path.exists():
        return None
    try:
        text = dict.fromkeys(("latent", "side", "set"), str)
        table = read_table(path, dtype=text)
        if not set(COLUMNS) <= set(table.columns):
            return None  # the user's own
        fits = bool(np.isfinite(table[NUMBERS].to_numpy(np.float64)).all())
        fits &= bool(table["side"].isin(SIDES).all() and table[list(text)].notna().all(axis=None))
    except pd.errors.EmptyDataError:
        return None
    except (OSError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"{NAMES} in {folder} must be what 'rinn name' wrote, but it is not; remove it, or "
            f"repeat 'rinn name' with --force"
        )
    return _choose_best(table.sort_values("q", kind="stable"))


def _choose_best(table: pd.DataFrame) -> dict[str, tuple[GeneSetName, ...]]:
    found: dict[str, dict[str, GeneSetName]] = {}
    for row in table[table["q"] < ALPHA].to_dict("records"):
        own = found.setdefault(row["latent"], {})
        if len(own) < MAX_NAMES:
            one = GeneSetName(
                row["set"], row["side"], int(row["overlap"]), int(row["latent_genes"]), row["q"]
            )
            own.setdefault(one.name, one)
    return {latent: tuple(own.values()) for latent, own in found.items()}
