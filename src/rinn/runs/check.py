"""What can be known of a graph in a file: the findings of `rinn check`."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import networkx as nx

from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.assumptions import Assumption, DataComparison, check_assumptions
from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.files import load_acyclic
from rinn.graphs.theory import (
    LatentFinding,
    SignatureClass,
    explain_latents,
    modify_graph,
    signature_classes,
)
from rinn.structure.check import compare_data


@dataclass(frozen=True)
class CheckResult:
    """What can be known about a graph that is assumed to be true.

    `kept_latents` and `kept_edges` are those of its modified graph; `data` is there where tables
    were given, `fit` and `effects` where it is the graph of a run.
    """

    size: dict[str, int]
    kept_latents: int
    kept_edges: int
    latents: tuple[LatentFinding, ...]
    classes: tuple[SignatureClass, ...]
    assumptions: tuple[Assumption, ...]
    data: DataComparison | None = None
    fit: dict[str, Any] | None = None
    effects: dict[str, Any] | None = None

    def to_json(self) -> dict[str, object]:
        """Give the findings by name, ready for `json.dumps`."""
        return {
            "graph": dict(self.size),
            "modified": {"latents": self.kept_latents, "edges": self.kept_edges},
            "latents": [finding.to_json() for finding in self.latents],
            "classes": [group.to_json() for group in self.classes],
            "assumptions": [one.to_json() for one in self.assumptions],
            "data": None if self.data is None else self.data.to_json(),
            "fit": self.fit,
            "effects": self.effects,
        }


def check_file(
    path: str | os.PathLike[str],
    x: str | os.PathLike[str] | None = None,
    y: str | os.PathLike[str] | None = None,
    covariates: str | os.PathLike[str] | None = None,
) -> CheckResult:
    """Check a graph file, or the graph of a run folder, against data if tables are given."""
    if (x is None) != (y is None):
        other = "y" if y is None else "x"
        raise InputError(
            f"x and y must be given together, but {other} is missing; give both tables or none"
        )
    if covariates is not None and x is None:
        raise InputError(
            "covariates must come with x and y, the tables they are held fixed in, but these are "
            "missing; give all three"
        )
    file = Path(path)
    graph = load_acyclic(file / "graph.json" if file.is_dir() else file)
    data = None if x is None or y is None else load_data(x, y, covariates, as_is=True)
    return replace(check_causality(graph, data), **_read_manifest(file))


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The test of fit, and what the graph was read from, in the manifest of a run folder."""
    if not (folder / "manifest.json").is_file():
        return {}
    from rinn.runs.manifest import load_manifest  # loads JAX, which graph files do not need

    manifest = load_manifest(folder)
    parts = {"fit": manifest.fit, "effects": manifest.effects}
    return {name: values and asdict(values) for name, values in parts.items()}


def check_causality(graph: nx.DiGraph, data: Data | None = None) -> CheckResult:
    """Gather the findings about a graph, compared with data if there are any."""
    comparison = None if data is None else compare_data(graph, data)
    assumptions = check_assumptions(graph, comparison)
    modified = modify_graph(graph)
    size = {f"{role}s": len(by_role(graph, role)) for role in ROLES}
    return CheckResult(
        size=size | {"edges": graph.number_of_edges()},
        kept_latents=len(by_role(modified, "latent")),
        kept_edges=modified.number_of_edges(),
        latents=explain_latents(graph),
        classes=signature_classes(graph),
        assumptions=assumptions,
        data=comparison,
    )
