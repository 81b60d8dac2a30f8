"""manifest.json of a run: what was run, how, and what came of it, as typed records."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from rinn.cluster.dask_workers import WorkerSummary
from rinn.config import RunSettings
from rinn.data.records import Dropped
from rinn.errors import InputError
from rinn.files import read_file
from rinn.refit.compare import Comparison
from rinn.structure.prior.influence import Contradiction

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Tables:
    """The tables of a run: their file names, sizes and columns."""

    x: str
    y: str
    samples: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    covariates: str | None = None


@dataclass(frozen=True)
class DeviceSummary:
    """Where the networks were trained."""

    platform: str
    kind: str
    count: int

    def __str__(self) -> str:
        return f"{self.count} x {self.kind}"


@dataclass(frozen=True)
class NetworkSummary:
    """How many networks and settings were trained; the numbers of the trials that were kept."""

    trained: int
    sets: int
    kept: tuple[int, ...]
    paper: tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """A mean with its standard deviation over networks, None where there is only one result."""

    mean: float
    sd: float | None = None


@dataclass(frozen=True)
class PredictionSummary:
    """Error and AUROC on the samples that no network has seen."""

    error: Spread
    auroc: Spread | None
    samples: int
    loss: str


@dataclass(frozen=True)
class EffectsSummary:
    """What the graph was read from."""

    source: str
    sentence: str


@dataclass(frozen=True)
class FitSummary:
    """The test of whether the graph explains the effects."""

    chi2: float
    df: float
    p: float
    sentence: str


@dataclass(frozen=True)
class OutputSummary:
    """The kinds of the outputs and the fraction of their values that is missing."""

    kinds: dict[str, int]
    missing: float
    sentence: str


@dataclass(frozen=True)
class CovariateSummary:
    """How much of the outputs the covariates alone explain."""

    names: tuple[str, ...]
    columns: tuple[dict[str, str], ...]
    fraction: float
    sentence: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NullSummary:
    """How much of the graph is chance."""

    sentence: str
    rounds: int
    reported: float


@dataclass(frozen=True)
class PriorSummary:
    """Prior knowledge: what was given, and what it did to the graph."""

    files: dict[str, str]
    notes: tuple[str, ...]
    options: dict[str, Any]
    sentence: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    dropped_inputs: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


class ScoreValues(TypedDict):
    """Precision, recall and F1; of several networks also their spread and threshold."""

    precision: float
    recall: float
    f1: float
    sd: NotRequired[dict[str, float]]
    threshold: NotRequired[float | None]


class PaperScores(TypedDict):
    """Scores by the paper's protocol."""

    hidden: ScoreValues
    input: ScoreValues | None
    threshold: float | None
    models: NotRequired[int]
    protocol: NotRequired[str]


class GraphScores(TypedDict):
    """Scores of the graph."""

    latents: ScoreValues
    edges: ScoreValues
    latent_edges: ScoreValues
    shd: int
    order_errors: int
    twins: int
    twins_found: int


class Scores(TypedDict):
    """scores.json: how a run compares with the truth."""

    paper: PaperScores
    graph: GraphScores


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a run is, how it was made, and what it found; None is not written."""

    format: int
    status: str
    settings: RunSettings
    data: dict[str, str]
    created: str
    tables: Tables
    versions: dict[str, str]
    device: DeviceSummary
    prior: PriorSummary | None = None
    plan: str
    command: tuple[str, ...] = ()
    title: str | None = None
    null: NullSummary | None = None
    seconds: float | None = None
    outputs: OutputSummary | None = None
    covariates: CovariateSummary | None = None
    effects: EffectsSummary | None = None
    fit: FitSummary | None = None
    comparison: Comparison | None = None
    warnings: tuple[str, ...] | None = None
    networks: NetworkSummary | None = None
    workers: tuple[WorkerSummary, ...] | None = None
    test: PredictionSummary | None = None
    paper_test: PredictionSummary | None = None
    scores: Scores | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the run is finished."""
        return self.status == "complete"

    def to_json(self) -> dict[str, Any]:
        """The manifest without its empty fields, ready for `json.dumps`."""
        values = _drop_empty(dataclasses.asdict(self))
        values["settings"] = self.settings.to_json()
        values["tables"] = _drop_empty(values["tables"])
        if self.comparison:
            values["comparison"] = self.comparison.to_json()
        return values

    @classmethod
    def from_json(cls, value: object) -> Manifest:
        """Read what `to_json` wrote; ValueError where it is something else."""
        manifest: Manifest = read_record(cls, value)
        names = (*manifest.tables.inputs, *manifest.tables.outputs)
        if not manifest.tables.inputs or not manifest.tables.outputs:
            raise ValueError("tables must name inputs and outputs")
        if len(set(names)) < len(names):
            raise ValueError("names must be unique")
        return manifest


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest of a run folder."""
    if not folder.is_dir():
        raise InputError(
            f"RUN must be a run folder, but {folder} is not a folder; name one that 'rinn fit' has "
            f"written"
        )
    try:
        return Manifest.from_json(json.loads(read_file(folder / MANIFEST, MANIFEST)))
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"RUN must be a folder that 'rinn fit' has written, but {folder} has no readable "
            f"{MANIFEST}"
        ) from None


def read_record(kind: Any, value: Any) -> Any:
    """Make a value of a type, such as a dataclass, of JSON; ValueError where it does not fit."""
    if kind is Any:
        return value
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None and types.NoneType in parts:
            return None
        (kind,) = (part for part in parts if part is not types.NoneType)
        return read_record(kind, value)
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)):
        return _read_fields(kind, value)
    if origin is tuple and isinstance(value, list):
        return tuple(read_record(parts[0], one) for one in value)
    if origin is dict and isinstance(value, dict):
        return {name: read_record(parts[1], one) for name, one in value.items()}
    is_bool = isinstance(value, bool)
    if kind is float and isinstance(value, int | float) and not is_bool:
        fits = abs(value) <= sys.float_info.max
    else:
        fits = kind in (str, bool, int) and isinstance(value, kind) and is_bool == (kind is bool)
    if fits:
        return value
    raise ValueError(f"expected {getattr(kind, '__name__', kind)}, got {value!r:.80}")


def _read_fields(kind: Any, values: Any) -> Any:
    """Read a dataclass or a typed dictionary, whose other keys stay as they are."""
    if not isinstance(values, dict):
        raise ValueError(f"expected {kind.__name__}, got {values!r:.80}")
    hints = _find_types(kind)
    if typing.is_typeddict(kind):
        marked = typing.get_type_hints(kind, include_extras=True).items()
        required = {name for name, one in marked if typing.get_origin(one) is not NotRequired}
        if missing := required - values.keys():
            raise ValueError(f"{kind.__name__} lacks {min(missing)}")
        return {name: read_record(hints.get(name, Any), one) for name, one in values.items()}
    try:
        return kind(**{n: read_record(hints[n], values[n]) for n in hints if n in values})
    except TypeError as error:  # a field is missing
        raise ValueError(str(error)) from None


@functools.cache
def _find_types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
