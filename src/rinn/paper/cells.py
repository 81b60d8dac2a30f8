"""The result of a strategy on one draw of a dataset, and the figures of the paper."""

from __future__ import annotations

import csv
import dataclasses
import functools
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rinn.runs.manifest import Spread, read_record

DATASETS = {
    "matrix": "(1) matrix",
    "gaussian": "(2) gaussian",
    "or": "(3) or",
    "logic": "(4) logic",
    "tcga-or": "(5) tcga-or",
    "tcga-logic": "(6) tcga-logic",
}
STRATEGIES = {"rinn": "RINN", "dnn": "DNN", "dbn": "DBN", "esc": "ES-C", "dm": "DM"}
DONE, FAILED = "done", "failed"
SCORES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Job:
    """What to run: a strategy on one draw of a dataset."""

    dataset: str
    strategy: str
    seed: int

    @property
    def name(self) -> str:
        """The job as the stem of a file's name, such as tcga-or-rinn-0."""
        return f"{self.dataset}-{self.strategy}-{self.seed}"


@dataclass(frozen=True)
class Setup:
    """What all cells of one reproduction have in common; `rinn` is the release."""

    budget: str
    samples: int
    trials: int | None
    rinn: str

    def to_json(self) -> dict[str, Any]:
        """The setup as a dictionary."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class MapScores:
    """Scores of one table under one threshold, chosen with the truth; None where DM has none."""

    precision: Spread
    recall: Spread
    f1: Spread
    threshold: float | None = None


@dataclass(frozen=True)
class GraphF1:
    """F1 of the graph that was read out of the networks without sight of the truth."""

    latents: float
    edges: float


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The result of a strategy on one draw of a dataset, or why there is none."""

    dataset: str
    strategy: str
    seed: int
    budget: str
    samples: int
    trials: int | None
    versions: dict[str, str]
    device: str
    seconds: float
    sets: int
    networks: int
    hidden: MapScores | None
    input: MapScores | None = None
    test_error: Spread | None = None
    auroc: Spread | None = None
    graph: GraphF1 | None = None
    chosen: dict[str, Any] | None = None
    status: str = DONE
    message: str = ""

    @property
    def job(self) -> Job:
        """What was run."""
        return Job(self.dataset, self.strategy, self.seed)

    @property
    def setup(self) -> Setup:
        """What it has in common with the other cells of its reproduction."""
        return Setup(self.budget, self.samples, self.trials, self.versions["rinn"])

    @property
    def figures(self) -> dict[str, Spread | None]:
        """Every figure by the key of its measure; None where the strategy has none."""
        scores: dict[str, Spread | None] = {
            f"{kind}_{name}": getattr(table, name, None)
            for kind, table in (("hidden", self.hidden), ("input", self.input))
            for name in SCORES
        }
        return scores | {
            "test_error": self.test_error,
            "auroc": self.auroc,
            "sets": Spread(self.sets),
            "graph_latents_f1": Spread(self.graph.latents) if self.graph else None,
            "graph_edges_f1": Spread(self.graph.edges) if self.graph else None,
            "networks": Spread(self.networks),
            "seconds": Spread(self.seconds),
        }

    def to_json(self) -> dict[str, Any]:
        """The cell by name, ready for `json.dumps`."""
        return dataclasses.asdict(self)


def load_cell(path: Path) -> Cell | None:
    """Read a cell's file; None where it is missing or damaged, to run the cell again."""
    try:
        cell: Cell = read_record(Cell, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    is_known = cell.dataset in DATASETS and cell.strategy in STRATEGIES and "rinn" in cell.versions
    is_complete = cell.status == FAILED or (cell.status == DONE and cell.hidden is not None)
    return cell if is_known and is_complete else None


@functools.cache
def load_published() -> dict[tuple[str, str], dict[str, Spread]]:
    """The figures of the paper's Tables 1, 2 and 3, by dataset, strategy and key of the measure."""
    text = resources.files("rinn.paper").joinpath("published.csv").read_text(encoding="utf-8")
    published: dict[tuple[str, str], dict[str, Spread]] = {}
    for row in csv.DictReader(text.splitlines()):
        spread = Spread(json.loads(row["mean"]), json.loads(row["sd"] or "null"))
        published.setdefault((row["dataset"], row["strategy"]), {})[row["measure"]] = spread
    return published
