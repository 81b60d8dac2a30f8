"""Whether two graphs are the same but for the names of their latents."""

from __future__ import annotations

from typing import Any

import networkx as nx

from rinn.graphs.basics import by_role, check_acyclic, reach, sources


def equal_graphs(left: nx.DiGraph, right: nx.DiGraph) -> bool:
    """Tell whether some renaming of latents turns one graph into the other.

    Inputs and outputs must have the same names and roles. Weights, frequencies and other
    attributes play no part.

    Args:
        left: a graph; it is not changed.
        right: a graph; it is not changed.

    Returns:
        True where nodes and edges are the same but for the latents' names.

    Raises:
        InputError: a graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulate.paper import paper_graph
        >>> graph = paper_graph()
        >>> equal_graphs(graph, nx.relabel_nodes(graph, {"h16": "h24", "h24": "h16"}))
        True
    """
    check_acyclic(left)
    check_acyclic(right)
    if _measured(left) != _measured(right):
        return False
    return nx.is_isomorphic(_label(left), _label(right), node_match=_same_label)


def _measured(graph: nx.DiGraph) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The inputs and outputs with their roles, and the edges between them."""
    nodes = {(node, role) for role in ("input", "output") for node in by_role(graph, role)}
    names = {node for node, _ in nodes}
    return nodes, {(a, b) for a, b in graph.edges if a in names and b in names}


def _label(graph: nx.DiGraph) -> nx.DiGraph:
    """The latents alone, each with what ties it to inputs and outputs, which keep their names."""
    reached, origins = reach(graph), sources(graph)
    latents = by_role(graph, "latent")
    hidden = set(latents)
    small: nx.DiGraph = nx.DiGraph()
    for node in latents:
        direct = set(graph.predecessors(node)) - hidden, set(graph.successors(node)) - hidden
        small.add_node(node, label=(*direct, origins[node], reached[node]))
    small.add_edges_from(graph.subgraph(latents).edges)
    return small


def _same_label(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return bool(left["label"] == right["label"])
