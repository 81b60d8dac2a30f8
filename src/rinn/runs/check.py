"""What can be known of a graph in a file: the findings of `rinn check`, as record and as text."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import networkx as nx
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.assumptions import Assumption, check_assumptions
from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.files import load_acyclic
from rinn.graphs.modified import modify_graph
from rinn.graphs.theory import LatentFinding, SignatureClass, explain_latents, signature_classes
from rinn.structure.check import DataComparison, PairTest, compare_data

MOST_PAIRS = 10

_STYLES = {"holds": "green", "broken": "red", "doubtful": "yellow", "open": "dim"}


@dataclass(frozen=True)
class CheckResult:
    """What can be known of a graph that is taken for the truth.

    `size` counts inputs, latents, outputs and edges of the graph; `kept_latents` and `kept_edges`
    those of its modified graph; `data` is there where tables were given, `fit` (the test of whether
    the graph explains the effects) and `effects` (what it was read from) where it is the graph of a
    run.
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
    """Check a graph file, or the graph of a run folder, beside data if tables are given.

    Args:
        path: a graph as .json or .graphml, or a run folder.
        x: the table of inputs.
        y: the table of outputs for the same samples.
        covariates: a table of tissue, batch and the like of these samples, to be held fixed.

    Returns:
        The findings.

    Raises:
        InputError: a file is missing or wrong, one of the two tables came alone, or the tables do
            not fit the graph.

    Example:
        >>> import tempfile
        >>> from rinn.graphs.files import write_graph
        >>> from rinn.simulate.paper import paper_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_graph(paper_graph(), f"{folder}/truth.json")
        ...     result = check_file(f"{folder}/truth.json")
        >>> [finding.name for finding in result.latents if not finding.identifiable]
        ['h16', 'h18', 'h20', 'h23']
    """
    if (x is None) != (y is None):
        alone, other = ("x", "y") if y is None else ("y", "x")
        raise InputError(
            f"x and y must be given together, but {alone} came without {other}; give both tables "
            "or none"
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
    from rinn.runs.folder import load_manifest  # loads JAX, which graph files do not need

    manifest = load_manifest(folder)
    return {name: manifest.get(name) for name in ("fit", "effects")}


def check_causality(graph: nx.DiGraph, data: Data | None = None) -> CheckResult:
    """Gather all that can be said of a graph, beside data if there are any.

    Args:
        graph: the graph, taken for the truth; it is not changed. Inputs may have parents and
            outputs children.
        data: matched tables whose columns are named as the graph's inputs and outputs.

    Returns:
        The findings.

    Raises:
        InputError: the graph is not directed, has a cycle or a node without a role, or the data do
            not fit it.

    Example:
        >>> from rinn.simulate.paper import paper_graph
        >>> result = check_causality(paper_graph())
        >>> len(result.latents), len(result.classes)
        (9, 7)
    """
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


def show_check(result: CheckResult, console: Console) -> None:
    """Print the findings: latents, then assumptions, then where data and graph differ.

    Args:
        result: the findings.
        console: where to print.
    """
    size = ", ".join(_count(number, name.removesuffix("s")) for name, number in result.size.items())
    known = sum(finding.identifiable for finding in result.latents)
    _say(console, f"If this graph is the truth ({size}), this much of it can be known:")
    _say(
        console,
        f"{_count(result.kept_latents, 'latent')} and {_count(result.kept_edges, 'edge')} lie "
        "between inputs and outputs (the modified graph); "
        f"{known} of the latents are identifiable.",
    )
    if result.latents:
        console.print(_list_latents(result))
    console.print(_list_assumptions(result))
    for about in (result.effects, result.fit):
        if about is not None:
            _say(console, about["sentence"])
    if result.data is not None:
        _show_data(result.data, console)


def _say(console: Console, sentence: str) -> None:
    console.print(sentence, highlight=False, markup=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _list_latents(result: CheckResult) -> Table:
    table = Table(title="Latents", title_justify="left")
    for column in ("latent", "identifiable", "why"):
        table.add_column(column)
    for finding in result.latents:
        word = "[green]yes[/]" if finding.identifiable else "[red]no[/]"
        word = "[yellow]yes, but[/]" if finding.spare else word
        table.add_row(escape(finding.name), word, escape(finding.reason))
    return table


def _list_assumptions(result: CheckResult) -> Table:
    table = Table(title="Assumptions (docs/assumptions.md)", title_justify="left")
    for column in ("", "assumes that", "here", "why"):
        table.add_column(column)
    for one in result.assumptions:
        style = _STYLES[one.status]
        table.add_row(one.name, one.says, f"[{style}]{one.status}[/]", escape(one.detail))
    return table


def _show_data(data: DataComparison, console: Console) -> None:
    held = ["all other inputs"] if data.given == "inputs" else []
    fixed = f"{' and '.join([*held, *data.covariates]) or 'nothing'} held fixed"
    _say(
        console,
        f"Data: {data.samples} samples, {data.pairs} pairs of input and output, {fixed}, "
        f"false discovery rate {data.level:g}.",
    )
    _list_pairs("in the data but not in the graph", data.unexplained, console)
    _list_pairs("in the graph but not seen in the data", data.silent, console)
    if data.untested:
        names = ", ".join(data.untested[:MOST_PAIRS])
        whose = "other inputs or covariates" if data.covariates else "other inputs"
        _say(console, f"Not tested, since {whose} repeat them ({len(data.untested)}): {names}")
    if data.few:
        names = ", ".join(data.few[:MOST_PAIRS])
        _say(console, f"Not tested, since too few values are known ({len(data.few)}): {names}")
    if data.unknown:
        names = ", ".join(data.unknown[:MOST_PAIRS])
        _say(console, f"Only in the graph or only in the tables ({len(data.unknown)}): {names}")


def _list_pairs(where: str, pairs: tuple[PairTest, ...], console: Console) -> None:
    _say(console, f"Dependent {where}: {_count(len(pairs), 'pair')}")
    for test in pairs[:MOST_PAIRS]:
        _say(
            console,
            f"  {test.x} and {test.y} (correlation {test.correlation:+.3f}, q = {test.q:.2g})",
        )
    if len(pairs) > MOST_PAIRS:
        _say(console, f"  and {len(pairs) - MOST_PAIRS} more")
