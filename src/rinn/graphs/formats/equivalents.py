"""The graphs that the data cannot distinguish from the reported one, as a list."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from rinn.graphs.files import EXCHANGEABLE, encode_json

MAX_GRAPHS = 100


def encode_equivalents(graph: nx.DiGraph) -> bytes:
    """Write the graph, and one for each of its exchangeable edges with the other edge instead.

    Each exchange was tested by itself, so that several at once are not listed. `count` is the
    number of all graphs, of which the first `MAX_GRAPHS` are written.
    """
    graphs = list_equivalents(graph)
    content = {
        "count": len(graphs),
        "listed": min(len(graphs), MAX_GRAPHS),
        "graphs": [json.loads(encode_json(one)) for one in graphs[:MAX_GRAPHS]],
    }
    return (json.dumps(content, separators=(",", ":")) + "\n").encode()


def list_equivalents(graph: nx.DiGraph) -> list[nx.DiGraph]:
    """The graph, then those with one exchangeable edge replaced; `exchanged` says which."""
    result = [graph]
    for source, target, values in graph.edges(data=True):
        other = _find_edge(graph, values.get(EXCHANGEABLE))
        if other is None or graph.has_edge(*other):
            continue
        one: nx.DiGraph = graph.copy()
        one.remove_edge(source, target)
        one.add_edge(*other)
        if not nx.is_directed_acyclic_graph(one):
            continue
        one.graph["exchanged"] = {"without": [source, target], "with": list(other)}
        result.append(one)
    return result


def _find_edge(graph: nx.DiGraph, text: Any) -> tuple[str, str] | None:
    """The ends of an edge that is written as `source -> target`; names may hold an arrow too."""
    parts = text.split(" -> ") if isinstance(text, str) else []
    for cut in range(1, len(parts)):
        ends = " -> ".join(parts[:cut]), " -> ".join(parts[cut:])
        if all(end in graph for end in ends):
            return ends
    return None
