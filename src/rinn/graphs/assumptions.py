"""The ten assumptions under which a found graph is the true one, and their status in a graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import networkx as nx
import numpy as np

from rinn.graphs.basics import by_role, check_acyclic, collapse, find_ancestors
from rinn.graphs.minimal import count_tries, find_smaller
from rinn.graphs.theory import MAX_NAMES, above, below, explain_latents, join_names, modify_graph

Status = Literal["holds", "broken", "doubtful", "open"]
Verdict = tuple[Status, str]

SAYS = {
    "A1": "no cycles, and every latent between inputs and outputs is identifiable",
    "A2": "inputs act on outputs, never back, and only through latents",
    "A3": "nothing unmeasured acts on both an input and an output",
    "A4": "no input acts on an input, and no output on an output",
    "A5": "samples were not chosen by what is measured in them",
    "A6": "what the graph separates is independent in the data",
    "A7": "what is independent in the data is separated in the graph",
    "A8": "no other graph explains as much with as few edges",
    "A9": "a neural network can compute what the causes do",
    "A10": "training ends in the best and sparsest network",
}
UNBROKEN = "nothing in this graph breaks it, and the search considers no other graphs"
UNSEEN = "neither a graph nor two tables can show it; it follows from how the data were made"
NEEDS_TABLES = "not checked: 'rinn check GRAPH --x X --y Y' compares the graph with the tables"
MAX_TRIES = 2_000_000  # a few seconds

Given = Literal["inputs", "nothing"]


@dataclass(frozen=True)
class PairTest:
    """The test of one input and one output; `q` is p adjusted for the pairs tested alike."""

    x: str
    y: str
    correlation: float
    p: float
    q: float


@dataclass(frozen=True)
class DataComparison:
    """Where graph and data differ.

    `unexplained` pairs are dependent in the data but not in the graph, which contradicts A6.
    `silent` pairs are dependent in the graph but not in the data: that contradicts A7, or the
    effect is too small for the number of samples, or not linear. `untested` inputs repeat other
    inputs or covariates. `unknown` names are in the graph or in the tables only, or are constant.
    `covariates` were held fixed. `few` outputs have too few values to be tested.
    """

    samples: int
    pairs: int
    level: float
    given: Given
    unexplained: tuple[PairTest, ...]
    silent: tuple[PairTest, ...]
    untested: tuple[str, ...]
    unknown: tuple[str, ...]
    covariates: tuple[str, ...] = ()
    few: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Give the comparison by name."""
        values = asdict(self).items()
        return {key: list(item) if isinstance(item, tuple) else item for key, item in values}


@dataclass(frozen=True)
class Assumption:
    """One of the ten, and its status in a graph.

    `status` is holds or broken where the graph settles it, doubtful where something speaks against
    it, and open where neither is shown. A graph can break A2, A3 and A4,
    but none can show them: they speak of what is outside of it too.
    """

    name: str
    says: str
    status: Status
    detail: str

    def to_json(self) -> dict[str, str]:
        """Give the assumption by name."""
        return asdict(self)


def check_assumptions(
    graph: nx.DiGraph, comparison: DataComparison | None = None
) -> tuple[Assumption, ...]:
    """Go through A1 to A10 for a graph that is assumed to be true.

    The graph settles A1, and may break A2 to A4. For A8 `find_smaller` tries single changes that
    keep the reach, so it can raise a doubt and never prove minimality. A6 and A7 need data.

    Args:
        graph: the true graph; it is not changed. Inputs may have parents and outputs children.
        comparison: the graph compared with data, from `compare_with_data`.

    Returns:
        The ten assumptions in order.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> [one.name for one in check_assumptions(paper_graph()) if one.status != "open"]
        ['A1', 'A8']
    """
    check_acyclic(graph)
    verdicts: dict[str, Verdict] = {
        "A1": _check_identifiable(graph),
        "A2": _check_direction(graph),
        "A3": _check_confounding(graph),
        "A4": _check_sides(graph),
        "A5": ("open", f"not checked: {UNSEEN}"),
        "A6": _check_pairs(comparison, "A6"),
        "A7": _check_pairs(comparison, "A7"),
        "A8": _check_smallest(graph),
        "A9": ("open", "not proved: compare the test error with that of other models"),
        "A10": (
            "open",
            "not proved: another seed or a larger budget that finds the same graph supports it",
        ),
    }
    return tuple(Assumption(name, SAYS[name], *verdict) for name, verdict in verdicts.items())


def _check_identifiable(graph: nx.DiGraph) -> Verdict:
    kept = set(by_role(modify_graph(graph), "latent"))
    findings = [finding for finding in explain_latents(graph) if finding.name in kept]
    lost = [finding.name for finding in findings if not finding.identifiable]
    if lost:
        return "broken", f"not identifiable: {join_names(lost)}"
    if not findings:
        return "holds", "this graph has no latent between inputs and outputs"
    number = "the one latent" if len(findings) == 1 else f"all {len(findings)} latents"
    verb = "is" if len(findings) == 1 else "are"
    return "holds", f"in this graph {number} between inputs and outputs {verb} identifiable"


def _check_direction(graph: nx.DiGraph) -> Verdict:
    inputs, outputs = set(by_role(graph, "input")), set(by_role(graph, "output"))
    caused = below(graph, outputs) - outputs
    if caused:
        return "broken", f"descends from an output: {join_names(_sort(graph, caused))}"
    direct = [f"{a} -> {b}" for a, b in graph.edges if a in inputs and b in outputs]
    if direct:
        return "broken", f"no latent between: {join_names(direct)}"
    return "open", f"assumed: {UNBROKEN}"


def _check_confounding(graph: nx.DiGraph) -> Verdict:
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    causes = above(graph, inputs) & set(by_role(graph, "latent"))
    if causes:
        without = graph.copy()
        without.remove_nodes_from(inputs)
        causes &= above(without, outputs)
    if causes:
        return "broken", f"acts on inputs and on outputs: {join_names(_sort(graph, causes))}"
    return "open", f"not checked: {UNSEEN}"


def _check_sides(graph: nx.DiGraph) -> Verdict:
    for role in ("input", "output"):
        pairs, count = _find_pairs(graph, by_role(graph, role))
        if count:
            return "broken", f"an {role} acts on an {role}: {join_names(pairs, count)}"
    return "open", f"assumed: {UNBROKEN}"


def _find_pairs(graph: nx.DiGraph, names: list[str]) -> tuple[list[str], int]:
    """The first few pairs of which one acts on the other, and how many pairs there are."""
    affected = below(graph, names) & set(names)
    if not affected:
        return [], 0
    index = {node: i for i, node in enumerate(graph)}
    columns = [index[name] for name in names]
    shown: list[str] = []
    count = 0
    ancestors = find_ancestors(graph, [name for name in names if name in affected])
    for target, bits in ancestors.items():
        causes = [names[i] for i in np.flatnonzero(np.unpackbits(bits)[columns])]
        count += len(causes) - 1
        if len(shown) < MAX_NAMES:
            shown += [f"{cause} -> {target}" for cause in causes if cause != target]
    return shown, count


def _check_pairs(comparison: DataComparison | None, kind: str) -> Verdict:
    """A6 by the `unexplained` pairs, which are in the data alone; A7 by the `silent` ones."""
    if comparison is None:
        return "open", NEEDS_TABLES
    tests, where = (
        (comparison.unexplained, "data") if kind == "A6" else (comparison.silent, "graph")
    )
    if tests:
        which = f"{len(tests)} of {comparison.pairs} pairs, such as {tests[0].x} and {tests[0].y}"
        return "doubtful", f"dependent in the {where} alone: {which}"
    return "open", f"none of {comparison.pairs} pairs of input and output contradicts it"


def _check_smallest(graph: nx.DiGraph) -> Verdict:
    modified = modify_graph(graph)
    change = find_smaller(modified, MAX_TRIES)
    if change is None:
        few = "; only simple changes were tried, since it is large"
        left_out = few if count_tries(modified) > MAX_TRIES else ""
        return (
            "open",
            f"not proved: no single change that was tried gives a graph as small{left_out}",
        )
    joined = find_smaller(collapse(modified), MAX_TRIES)
    if joined == change:
        return "doubtful", change
    then = "no other change was found" if joined is None else joined
    return "doubtful", f"{change}; after merging latents with the same outputs: {then}"


def _sort(graph: nx.DiGraph, chosen: set[str]) -> list[str]:
    return [node for node in graph if node in chosen]
