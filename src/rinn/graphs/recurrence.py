"""Which latents, edges and pairs of a graph others have too, and what else these have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import networkx as nx
import pandas as pd

from rinn.graphs.basics import by_role, latents_in_order, reach
from rinn.graphs.compare import match_latents

LATENTS = ("latent", "found", "of", "bootstrap", "missing_in")
EDGES = ("source", "target", "in_run", "found", "of", "bootstrap", "missing_in")
PAIRS = ("input", "output", "in_run", "found", "of", "missing_in")
MAX_LISTED = 20  # graphs by name; of more only the numbers are given


def tabulate_latents(graph: nx.DiGraph, others: Mapping[str, nx.DiGraph]) -> pd.DataFrame:
    """One row for each latent of a graph; others have it where outputs or edges are the same."""
    rows = []
    names = _name_latents(graph, others)
    for latent in latents_in_order(graph):
        lacking = [label for label in others if latent not in names[label].values()]
        often = graph.nodes[latent].get("frequency")
        found = len(others) - len(lacking)
        rows.append((latent, found, len(others), often, _list(lacking, len(others))))
    return pd.DataFrame(rows, columns=list(LATENTS))


def tabulate_edges(graph: nx.DiGraph, others: Mapping[str, nx.DiGraph]) -> pd.DataFrame:
    """One row for each edge of any graph between inputs, outputs and latents of the first."""
    names = _name_latents(graph, others)
    edges = {
        label: {
            (names[label].get(a, a), names[label].get(b, b))
            for a, b in other.edges
            if _is_named(other, names[label], a) and _is_named(other, names[label], b)
        }
        for label, other in others.items()
    }
    table = _count(graph, {*graph.edges}, others, edges)
    often = nx.get_edge_attributes(graph, "frequency")
    ends = zip(table["first"], table["second"], strict=True)
    table["bootstrap"] = [often.get(edge) for edge in ends]
    return table.rename(columns={"first": "source", "second": "target"})[list(EDGES)]


def tabulate_pairs(graph: nx.DiGraph, others: Mapping[str, nx.DiGraph]) -> pd.DataFrame:
    """One row for each input and output that any graph joins by a path."""
    joined = {label: _list_pairs(other) for label, other in others.items()}
    table = _count(graph, _list_pairs(graph), others, joined)
    return table.rename(columns={"first": "input", "second": "output"})[list(PAIRS)]


def _list_pairs(graph: nx.DiGraph) -> set[tuple[str, str]]:
    reached = reach(graph)
    return {(name, output) for name in by_role(graph, "input") for output in reached[name]}


def _count(
    graph: nx.DiGraph,
    own: set[tuple[str, str]],
    others: Mapping[str, nx.DiGraph],
    found: Mapping[str, set[tuple[str, str]]],
) -> pd.DataFrame:
    """In how many graphs each pair of nodes is, of those that have its input and output at all."""
    counts = Counter(pair for pairs in found.values() for pair in pairs)
    measured = {*by_role(graph, "input"), *by_role(graph, "output")}
    order = {node: number for number, node in enumerate(graph)}
    rows = []
    for pair in sorted({*own, *counts}, key=lambda pair: (order[pair[0]], order[pair[1]])):
        ends = measured.intersection(pair)
        able = [label for label, other in others.items() if all(end in other for end in ends)]
        lacking = [label for label in able if pair in own and pair not in found[label]]
        numbers = counts[pair], len(able)
        rows.append((*pair, pair in own, *numbers, _list(lacking, len(others))))
    table = pd.DataFrame(rows, columns=["first", "second", *PAIRS[2:]])
    order_by = ["in_run", "found"]
    return table.sort_values(order_by, ascending=[False, True], kind="stable", ignore_index=True)


def _name_latents(graph: nx.DiGraph, others: Mapping[str, nx.DiGraph]) -> dict[str, dict[str, str]]:
    """The latents of the first graph that those of each other graph are."""
    return {
        label: dict(match_latents(other, graph, nearest=True)) for label, other in others.items()
    }


def _is_named(graph: nx.DiGraph, names: Mapping[str, str], node: str) -> bool:
    """Whether a node is an input, an output or a latent that the first graph has too."""
    return node in names or graph.nodes[node]["role"] != "latent"


def _list(labels: list[str], others: int) -> str:
    return "; ".join(labels) if others <= MAX_LISTED else ""
