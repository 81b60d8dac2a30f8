"""The ten assumptions under which a found graph is the true one, and what a graph says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import networkx as nx

from rinn.causal.evidence import DataComparison
from rinn.causal.latents import explain_latents, join_names
from rinn.causal.modified import above, below, modify_graph
from rinn.graphs import by_role, check_acyclic, collapse
from rinn.simulation.minimal import find_smaller

Status = Literal["holds", "broken", "doubtful", "open"]
Verdict = tuple[Status, str]

SAYS = {
    "A1": "no cycles, and every latent between inputs and outputs is identifiable",
    "A2": "inputs act on outputs, never back, and only through latents",
    "A3": "nothing unmeasured acts on both an input and an output",
    "A4": "no input acts on an input, and no output on an output",
    "A5": "samples were not chosen by what is measured in them",
    "A6": "what the graph separates is independent in the data",
    "A7": "what is independent in the data, the graph separates",
    "A8": "no other graph explains as much with as few edges",
    "A9": "a neural network can compute what the causes do",
    "A10": "training ends in the best and sparsest network",
}


@dataclass(frozen=True)
class Assumption:
    """One of the ten, in plain words, with what is known of it.

    `status` is holds or broken where the graph settles it, doubtful where something speaks against
    it, and open where nothing does but nothing proves it either.
    """

    name: str
    says: str
    status: Status
    detail: str

    def to_json(self) -> dict[str, str]:
        """Give the assumption by name."""
        return {
            "name": self.name,
            "says": self.says,
            "status": self.status,
            "detail": self.detail,
        }


def check_assumptions(
    graph: nx.DiGraph, comparison: DataComparison | None = None
) -> tuple[Assumption, ...]:
    """Go through A1 to A10 for a graph that is taken for the truth.

    The graph settles A1 to A4. For A8 `find_smaller` tries single changes that keep the reach, so
    it can raise a doubt and never prove minimality. A6 and A7 need data.

    Args:
        graph: the true graph; it is not changed. Inputs may have parents and outputs children.
        comparison: the graph beside data, from `compare_with_data`.

    Returns:
        The ten assumptions in order.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulation.paper import paper_graph
        >>> [one.name for one in check_assumptions(paper_graph()) if one.status == "holds"]
        ['A2', 'A3', 'A4']
    """
    check_acyclic(graph)
    verdicts: dict[str, Verdict] = {
        "A1": _check_identifiable(graph),
        "A2": _check_direction(graph),
        "A3": _check_confounding(graph),
        "A4": _check_sides(graph),
        "A5": ("open", "depends on how the samples were collected"),
        "A6": _check_explained(comparison),
        "A7": _check_visible(comparison),
        "A8": _check_smallest(graph),
        "A9": ("open", "compare the test error with that of other models"),
        "A10": ("open", "nobody can see the best of all networks; compare seeds and budgets"),
    }
    return tuple(Assumption(name, SAYS[name], *verdict) for name, verdict in verdicts.items())


def _check_identifiable(graph: nx.DiGraph) -> Verdict:
    kept = set(by_role(modify_graph(graph), "latent"))
    findings = [finding for finding in explain_latents(graph) if finding.name in kept]
    lost = [finding.name for finding in findings if not finding.identifiable]
    if lost:
        return "broken", f"not identifiable: {join_names(lost)}"
    return "holds", f"all {len(findings)} latents between inputs and outputs are identifiable"


def _check_direction(graph: nx.DiGraph) -> Verdict:
    inputs, outputs = set(by_role(graph, "input")), set(by_role(graph, "output"))
    caused = below(graph, outputs) - outputs
    if caused:
        return "broken", f"descends from an output: {join_names(_sort(graph, caused))}"
    direct = [f"{a} -> {b}" for a, b in graph.edges if a in inputs and b in outputs]
    if direct:
        return "broken", f"no latent between: {join_names(direct)}"
    return "holds", "every path from an input to an output has a latent on it"


def _check_confounding(graph: nx.DiGraph) -> Verdict:
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    beside = graph.subgraph([node for node in graph if node not in set(inputs)])
    both = above(beside, outputs) & above(graph, inputs) & set(by_role(graph, "latent"))
    if both:
        return "broken", f"acts on inputs and on outputs: {join_names(_sort(graph, both))}"
    return "holds", "no latent of the graph acts on both"


def _check_sides(graph: nx.DiGraph) -> Verdict:
    for role in ("input", "output"):
        causes = {name: nx.ancestors(graph, name) for name in by_role(graph, role)}
        pairs = [f"{a} -> {b}" for a in causes for b in causes if a in causes[b]]
        if pairs:
            return "broken", f"an {role} acts on an {role}: {join_names(pairs)}"
    return "holds", "no such path in the graph"


def _check_explained(comparison: DataComparison | None) -> Verdict:
    if comparison is None:
        return "open", "needs data"
    pairs = [f"{test.x} and {test.y}" for test in comparison.unexplained]
    if pairs:
        return "doubtful", f"dependent in the data alone: {_count(pairs, comparison)}"
    return "open", f"none of {comparison.pairs} pairs of input and output speaks against it"


def _check_visible(comparison: DataComparison | None) -> Verdict:
    if comparison is None:
        return "open", "needs data"
    pairs = [f"{test.x} and {test.y}" for test in comparison.silent]
    if pairs:
        return "doubtful", f"dependent in the graph alone: {_count(pairs, comparison)}"
    return "open", f"none of {comparison.pairs} pairs of input and output speaks against it"


def _check_smallest(graph: nx.DiGraph) -> Verdict:
    modified = modify_graph(graph)
    change = find_smaller(modified)
    if change is None:
        return "open", "no single change of the kinds tried gives a graph as small"
    joined = find_smaller(collapse(modified))
    if joined == change:
        return "doubtful", change
    then = "no other change was found" if joined is None else joined
    return "doubtful", f"{change}; with latents of the same outputs made one: {then}"


def _sort(graph: nx.DiGraph, chosen: set[str]) -> list[str]:
    return [node for node in graph if node in chosen]


def _count(pairs: list[str], comparison: DataComparison) -> str:
    return f"{len(pairs)} of {comparison.pairs} pairs, such as {pairs[0]}"
