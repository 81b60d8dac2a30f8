"""What the report reads from a finished run folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd

from rinn.cohorts import TrainedNet
from rinn.errors import InputError
from rinn.graphfiles import load_graph
from rinn.store import WEIGHTS, load_kept, load_manifest

COLUMNS = ["sum_abs_weights", "validation_loss", "distance", "kept"]


@dataclass(frozen=True)
class Contents:
    """What a run folder holds, read once; a run without networks has no `nets`."""

    manifest: dict[str, Any]
    trials: pd.DataFrame
    graph: nx.DiGraph
    nets: tuple[TrainedNet, ...]
    notes: dict[str, Any]
    truth: nx.DiGraph | None


def load_contents(folder: Path) -> Contents:
    """Read what the report shows.

    Raises:
        InputError: see `write_report`.
    """
    manifest = load_manifest(folder)
    if manifest.get("status") != "complete":
        raise InputError(
            f"RUN must be a finished run, but {folder} is not; repeat its 'rinn fit' command to "
            f"let it go on"
        )
    nets, notes = load_kept(folder / WEIGHTS)
    try:
        trials = pd.read_csv(folder / "trials.csv", usecols=COLUMNS if nets else None)
    except (OSError, ValueError):
        raise InputError(
            f"RUN must hold the table of its trials, but trials.csv in {folder} is missing or "
            f"damaged"
        ) from None
    truth = folder / "truth.json"
    return Contents(
        manifest=manifest,
        trials=trials,
        graph=load_graph(folder / "graph.json"),
        nets=tuple(nets),
        notes=notes,
        truth=load_graph(truth) if truth.exists() else None,
    )
