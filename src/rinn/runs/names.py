"""Names of latents, as `rinn name` wrote them into a run folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from rinn.errors import InputError, clip
from rinn.files import read_table
from rinn.structure.enrichment import ALPHA, COLUMNS, SIDES
from rinn.structure.network_names import COLUMNS as NODE_COLUMNS
from rinn.structure.network_names import DIRECT, LATENT

NAMES, NODE_NAMES, NODE_MAP = "names.csv", "network_names.csv", "network_map.csv"
MAX_NAMES = 3  # gene sets of one latent


@dataclass(frozen=True)
class GeneSetName:
    """A gene set that a latent's genes of one side are enriched in."""

    name: str
    side: str
    overlap: int
    genes: int
    q: float

    @property
    def label(self) -> str:
        """The name and what it is based on."""
        return (
            f"{clip(self.name, 60)} ({self.side}: {self.overlap} of {self.genes} genes, "
            f"q = {self.q:.2g})"
        )


@dataclass(frozen=True)
class NodeName:
    """The nodes of a known network between the inputs and outputs of a latent, or of one input."""

    nodes: tuple[str, ...]
    score: float
    p: float
    q: float
    is_direct: bool = False

    @property
    def label(self) -> str:
        """The nodes and what they are based on."""
        values = f"score {self.score:.2f}, p = {self.p:.2g}, q = {self.q:.2g}"
        return f"{clip(', '.join(self.nodes), 60)} ({values})"


def read_names(folder: Path) -> dict[str, tuple[GeneSetName, ...]] | None:
    """Read the best gene sets of each latent from names.csv."""
    text, numbers = ("latent", "side", "set"), ("overlap", "latent_genes", "q")
    table = _read(folder / NAMES, COLUMNS, text, numbers, lambda rows: rows["side"].isin(SIDES))
    if table is None:
        return None
    best: dict[str, dict[str, GeneSetName]] = {}
    for row in table[table["q"] < ALPHA].sort_values("q", kind="stable").to_dict("records"):
        sets = best.setdefault(row["latent"], {})
        overlap, genes = int(row["overlap"]), int(row["latent_genes"])
        if len(sets) < MAX_NAMES:
            name = GeneSetName(row["set"], row["side"], overlap, genes, row["q"])
            sets.setdefault(name.name, name)
    return {latent: tuple(sets.values()) for latent, sets in best.items()}


def read_node_names(folder: Path) -> dict[str, NodeName] | None:
    """Read the known nodes of each latent, and of inputs with direct edges, that are names."""
    text, numbers = ("latent", "kind", "node"), ("rank", "score", "p")
    kinds = (LATENT, DIRECT)
    table = _read(
        folder / NODE_NAMES, NODE_COLUMNS, text, numbers, lambda rows: rows["kind"].isin(kinds)
    )
    if table is None:
        return None
    named = table[(table["rank"] == 1) & (pd.to_numeric(table["q"], "coerce") < ALPHA)]
    nodes: dict[str, list[str]] = {}
    for latent, node in zip(named["latent"], named["node"], strict=True):
        nodes.setdefault(latent, []).append(node)
    return {
        row["latent"]: NodeName(
            tuple(nodes[row["latent"]]), row["score"], row["p"], row["q"], row["kind"] == DIRECT
        )
        for row in named.to_dict("records")
    }


def _read(
    path: Path,
    columns: Sequence[str],
    text: Sequence[str],
    numbers: Sequence[str],
    fits_rows: Callable[[pd.DataFrame], pd.Series],
) -> pd.DataFrame | None:
    """A table that rinn wrote; None where there is none, or the user's own of that name."""
    if not path.exists():
        return None
    try:
        table = read_table(path, dtype=dict.fromkeys(text, str))
        if not set(columns) <= set(table.columns):
            return None  # the user's own
        values = table[list(numbers)].to_numpy(np.float64)
        fits = bool(np.isfinite(values).all() and table[list(text)].notna().all(axis=None))
        fits &= bool(fits_rows(table).all())
    except pd.errors.EmptyDataError:
        return None
    except (OSError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"{path.name} in {path.parent} must be what 'rinn name' wrote, but it is not; remove "
            f"it, or repeat 'rinn name' with --force"
        )
    return table
