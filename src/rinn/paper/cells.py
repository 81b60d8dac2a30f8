"""One result of the reproduction: what a strategy found on one draw of a dataset.

A cell's file is written when the cell is finished. A file that is damaged counts as missing.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rinn.files import replace_file
from rinn.graphs.protocol import FIELDS, TableScores

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


@dataclass(frozen=True)
class Job:
    """What to run: a strategy on one draw of a dataset."""

    dataset: str
    strategy: str
    seed: int

    @property
    def name(self) -> str:
        """The job as the stem of a file's name.

        Example:
            >>> Job("tcga-or", "rinn", 0).name
            'tcga-or-rinn-0'
        """
        return f"{self.dataset}-{self.strategy}-{self.seed}"


@dataclass(frozen=True)
class Setup:
    """What all cells of one reproduction have in common; `rinn` is the release."""

    budget: str
    samples: int
    trials: int | None
    rinn: str

    def to_json(self) -> dict[str, Any]:
        """The setup as a plain dictionary."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Spread:
    """A mean with its standard deviation over models, None where there is but one answer."""

    mean: float
    sd: float | None = None

    def __post_init__(self) -> None:
        _check(_is_number(self.mean), "mean", "a finite number", self.mean)
        good = self.sd is None or (_is_number(self.sd) and self.sd >= 0)
        _check(good, "sd", "None or a finite number of at least 0", self.sd)

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Mean and sample standard deviation of values; that of one value is 0.

        Example:
            >>> Spread.of([1.0, 3.0]).mean
            2.0
        """
        return cls(float(np.mean(values)), sample_sd(values))

    def to_json(self) -> dict[str, Any]:
        """Mean and sd by name."""
        return {"mean": self.mean, "sd": self.sd}

    @classmethod
    def from_json(cls, value: Any) -> Spread:
        """Read what `to_json` wrote."""
        return cls(**_fields(cls, value))


@dataclass(frozen=True)
class MapScores:
    """Precision, recall and F1 of one table, under one threshold chosen with sight of the truth.

    `threshold` is None where nothing is thresholded (DM).
    """

    precision: Spread
    recall: Spread
    f1: Spread
    threshold: float | None = None

    def __post_init__(self) -> None:
        for name in FIELDS:
            spread = getattr(self, name)
            good = isinstance(spread, Spread) and 0 <= spread.mean <= 1
            _check(good, name, "a Spread whose mean lies between 0 and 1", spread)
        good = self.threshold is None or _is_number(self.threshold)
        _check(good, "threshold", "None or a finite number", self.threshold)

    @classmethod
    def from_scores(cls, table: TableScores) -> MapScores:
        """Sum up the scores of several models."""
        mean, sd = table.mean, table.sd
        spreads = {name: Spread(mean[name], sd[name]) for name in FIELDS}
        return cls(**spreads, threshold=table.threshold)

    def to_json(self) -> dict[str, Any]:
        """The scores by name."""
        found: dict[str, Any] = {name: getattr(self, name).to_json() for name in FIELDS}
        return found | {"threshold": self.threshold}

    @classmethod
    def from_json(cls, value: Any) -> MapScores:
        """Read what `to_json` wrote."""
        found = _fields(cls, value)
        return cls(**found | {name: Spread.from_json(found[name]) for name in FIELDS})


@dataclass(frozen=True)
class GraphF1:
    """F1 of the graph that was read out of the networks without sight of the truth."""

    latents: float
    edges: float

    def __post_init__(self) -> None:
        for name in ("latents", "edges"):
            value = getattr(self, name)
            good = _is_number(value) and 0 <= value <= 1
            _check(good, name, "a number between 0 and 1", value)

    def to_json(self) -> dict[str, Any]:
        """Both by name."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> GraphF1:
        """Read what `to_json` wrote."""
        return cls(**_fields(cls, value))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a strategy found on one draw of a dataset, or why it found nothing."""

    dataset: str
    strategy: str
    seed: int
    budget: str
    samples: int
    trials: int | None
    versions: Mapping[str, str]
    device: str
    seconds: float
    sets: int
    networks: int
    hidden: MapScores | None
    input: MapScores | None = None
    test_error: Spread | None = None
    auroc: Spread | None = None
    graph: GraphF1 | None = None
    chosen: Mapping[str, Any] | None = None
    status: str = DONE
    words: str = ""

    def __post_init__(self) -> None:
        for name, known in (("dataset", DATASETS), ("strategy", STRATEGIES)):
            value = getattr(self, name)
            good = isinstance(value, str) and value in known
            _check(good, name, f"one of {', '.join(known)}", value)
        _check(self.status in (DONE, FAILED), "status", f"{DONE} or {FAILED}", self.status)
        for name in ("budget", "device", "words"):
            _check(isinstance(getattr(self, name), str), name, "text", getattr(self, name))
        for name in ("seed", "samples", "sets", "networks"):
            good = _is_count(getattr(self, name))
            _check(good, name, "a whole number of at least 0", getattr(self, name))
        good = self.trials is None or _is_count(self.trials)
        _check(good, "trials", "None or a whole number of at least 0", self.trials)
        good = _is_number(self.seconds) and self.seconds >= 0
        _check(good, "seconds", "a finite number of at least 0", self.seconds)
        good = isinstance(self.versions, Mapping) and isinstance(self.versions.get("rinn"), str)
        _check(good, "versions", "the packages' versions, rinn's among them", self.versions)
        good = self.chosen is None or isinstance(self.chosen, Mapping)
        _check(good, "chosen", "None or settings by name", self.chosen)
        for name, kind in _PARTS.items():
            value = getattr(self, name)
            good = value is None or isinstance(value, kind)
            _check(good, name, f"None or a {kind.__name__}", value)
        good = self.status == FAILED or self.hidden is not None
        _check(good, "hidden", "there in a cell that is done", self.hidden)

    @property
    def job(self) -> Job:
        """What was run."""
        return Job(self.dataset, self.strategy, self.seed)

    @property
    def setup(self) -> Setup:
        """What it has in common with the other cells of its reproduction."""
        return Setup(self.budget, self.samples, self.trials, self.versions["rinn"])

    def to_json(self) -> dict[str, Any]:
        """The cell as plain values by name."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        parts = {name: found[name] and found[name].to_json() for name in _PARTS}
        chosen = None if self.chosen is None else dict(self.chosen)
        return found | parts | {"versions": dict(self.versions), "chosen": chosen}

    @classmethod
    def from_json(cls, value: Any) -> Cell:
        """Read what `to_json` wrote."""
        found = _fields(cls, value)
        parts = {
            name: None if found[name] is None else kind.from_json(found[name])
            for name, kind in _PARTS.items()
        }
        return cls(**found | parts)


_PARTS: dict[str, Any] = {
    "hidden": MapScores,
    "input": MapScores,
    "test_error": Spread,
    "auroc": Spread,
    "graph": GraphF1,
}


def save_cell(path: Path, cell: Cell) -> None:
    """Write a cell's file."""
    text = json.dumps(cell.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, text.encode())


def load_cell(path: Path) -> Cell | None:
    """Read a cell's file; None where it is missing or damaged, to run the cell again."""
    try:
        return Cell.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None


def sample_sd(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 for one value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _fields(kind: Any, value: Any) -> dict[str, Any]:
    """The fields of a record, all there and no other."""
    names = {field.name for field in dataclasses.fields(kind)}
    found = set(value) if isinstance(value, dict) else None
    if found != names:
        raise ValueError(f"a {kind.__name__} must have {sorted(names)}, got {value!r}")
    return dict(value)


def _check(good: bool, name: str, words: str, value: object) -> None:
    if not good:
        raise ValueError(f"{name} must be {words}, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
