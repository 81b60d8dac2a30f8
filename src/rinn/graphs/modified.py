"""The modified graph: what is left of a true graph once nothing unknowable is in it."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from rinn.graphs.basics import by_role, check_acyclic


def modify_graph(graph: nx.DiGraph) -> nx.DiGraph:
    """Build the modified graph G_M of a true graph G_T, by the paper's three steps in turn.

    (i) Latents above an input or below an output go. (ii) Of the rest, latents that no input
    reaches or that reach no output go. (iii) Edges between two inputs or two outputs go. A latent
    goes with its edges, and no edge is put in its place.

    Args:
        graph: the true graph; it is not changed. Unlike elsewhere, inputs may have parents and
            outputs children.

    Returns:
        A new graph with all inputs and outputs, and with the attributes of what is kept.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> graph = nx.DiGraph([("u", "x0"), ("x0", "h"), ("h", "y0"), ("h", "dead")])
        >>> roles = {"u": "latent", "x0": "input", "h": "latent", "y0": "output", "dead": "latent"}
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> sorted(modify_graph(graph).edges)
        [('h', 'y0'), ('x0', 'h')]
    """
    check_acyclic(graph)
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    small: nx.DiGraph = graph.copy()
    small.remove_nodes_from(_latents(small) & (above(small, inputs) | below(small, outputs)))
    small.remove_nodes_from(_latents(small) - (below(small, inputs) & above(small, outputs)))
    role = dict(small.nodes(data="role"))
    small.remove_edges_from([(a, b) for a, b in small.edges if role[a] == role[b] != "latent"])
    return small


def above(graph: nx.DiGraph, nodes: Iterable[str]) -> set[str]:
    """Collect the ancestors of some nodes.

    Example:
        >>> sorted(above(nx.DiGraph([("a", "b"), ("b", "c")]), ["c"]))
        ['a', 'b']
    """
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        for parent in graph.pred[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def below(graph: nx.DiGraph, nodes: Iterable[str]) -> set[str]:
    """Collect the descendants of some nodes.

    Example:
        >>> sorted(below(nx.DiGraph([("a", "b"), ("b", "c")]), ["a"]))
        ['b', 'c']
    """
    return above(graph.reverse(copy=False), nodes)


def _latents(graph: nx.DiGraph) -> set[str]:
    return set(by_role(graph, "latent"))
