"""Checks of latent graphs, which outputs a node reaches, and latents that are the same one.

A graph is an `nx.DiGraph` from cause to effect whose nodes, strings, have a `role` of `ROLES`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import UInt8

from rinn.errors import InputError, quote, suggest

ROLES = ("input", "latent", "output")
MAX_OF_CYCLE = 6  # nodes that an error names


@dataclass(frozen=True)
class Layout:
    """The nodes of a graph with parents first, and the indices of their parents."""

    nodes: tuple[str, ...]
    roles: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def check_graph(graph: nx.DiGraph) -> None:
    """Refuse what is no causal graph from inputs to outputs; outputs may act on outputs alone."""
    check_acyclic(graph)
    for source, target in graph.edges:
        if graph.nodes[target]["role"] == "input":
            problem = f"input {quote(target)} must not have parents, but has the edge from "
            raise InputError(f"{problem}{quote(source)}; remove that edge, or change a role")
        if graph.nodes[source]["role"] == "output" != graph.nodes[target]["role"]:
            problem = f"output {quote(source)} must act on outputs alone, but has the edge to "
            raise InputError(f"{problem}{quote(target)}; remove that edge, or change a role")


def check_acyclic(graph: nx.DiGraph) -> None:
    """Refuse a cycle or a node without a role; inputs may have parents, outputs children."""
    if not graph.is_directed() or graph.is_multigraph():
        raise InputError(f"graph must be an nx.DiGraph, got {type(graph).__name__}; make it one")
    check_roles(graph)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [source for source, _ in nx.find_cycle(graph)]
        shown = [quote(node) for node in cycle[:MAX_OF_CYCLE]]
        left_out = ["..."] if len(cycle) > MAX_OF_CYCLE else []
        path = " -> ".join([*shown, *left_out, shown[0]])
        raise InputError(f"graph must have no cycle, but has {path}; remove one of these edges")


def check_roles(graph: nx.DiGraph) -> None:
    """Refuse nodes that are not strings with a role."""
    for node, role in graph.nodes(data="role"):
        if not isinstance(node, str):
            raise InputError(
                f"every node id must be a string, got {quote(str(node))}; make it text"
            )
        if role is None:
            choices = ", ".join(ROLES)
            raise InputError(f"node {quote(node)} has no role; it must be one of: {choices}")
        if role not in ROLES:
            word = str(role)[:60]
            hint = suggest(word, ROLES)
            raise InputError(f"node {quote(node)} has the unknown role {quote(word)}{hint}")


def by_role(graph: nx.DiGraph, role: str) -> list[str]:
    """List the nodes of one role in the graph's order."""
    return [node for node, its_role in graph.nodes(data="role") if its_role == role]


def name_latents(count: int, taken: set[str], letter: str = "L") -> list[str]:
    """Name latents L1, L2 and so on; L_1 where a column is called L1."""
    names = [f"{letter}{number}" for number in range(1, count + 1)]
    while taken & set(names):
        names = [name.replace(letter, f"{letter}_", 1) for name in names]
    return names


def latents_in_order(graph: nx.DiGraph) -> list[str]:
    """List the latents from causes to effects: by number of ancestors, then by id.

    Unlike networkx's topological order it does not depend on the order in which nodes were added.
    """
    ancestors = find_ancestors(graph, by_role(graph, "latent"))
    return sorted(ancestors, key=lambda node: (int(np.unpackbits(ancestors[node]).sum()), node))


def lay_out(graph: nx.DiGraph) -> Layout:
    """Order the nodes of a graph so that each one comes after its parents."""
    check_acyclic(graph)
    nodes = tuple(nx.topological_sort(graph))
    index = {node: i for i, node in enumerate(nodes)}
    return Layout(
        nodes=nodes,
        roles=tuple(graph.nodes[node]["role"] for node in nodes),
        parents=tuple(tuple(sorted(index[p] for p in graph.predecessors(n))) for n in nodes),
        inputs=tuple(index[node] for node in by_role(graph, "input")),
        outputs=tuple(index[node] for node in by_role(graph, "output")),
    )


def find_ancestors(
    graph: nx.DiGraph, nodes: Sequence[str]
) -> dict[str, UInt8[np.ndarray, " byte"]]:
    """Find the ancestors of nodes, and the nodes themselves, as packed bits over the graph."""
    index = {node: i for i, node in enumerate(graph)}
    components = nx.condensation(graph)
    component_of = components.graph["mapping"]
    wanted = {component_of[node] for node in nodes}
    ancestors: dict[int, UInt8[np.ndarray, " byte"]] = {}
    for component in nx.topological_sort(components):
        parents = components.pred[component]
        inner = parents and components.succ[component]
        if component not in wanted and not inner:
            continue  # sources are put in by their children, and sinks are nobody's ancestors
        bits = np.zeros(len(graph), bool)
        for one in (component, *(parent for parent in parents if parent not in ancestors)):
            bits[[index[node] for node in components.nodes[one]["members"]]] = True
        packed = np.packbits(bits)
        for parent in parents:
            if parent in ancestors:
                packed |= ancestors[parent]
        ancestors[component] = packed
    return {node: ancestors[component_of[node]] for node in nodes}


def reach(graph: nx.DiGraph) -> dict[str, frozenset[str]]:
    """Find the outputs that each node reaches along directed paths."""
    return _gather(graph, "output")


def sources(graph: nx.DiGraph) -> dict[str, frozenset[str]]:
    """Find the inputs that each latent descends from."""
    gathered = _gather(graph.reverse(copy=False), "input")
    return {node: gathered[node] for node in by_role(graph, "latent")}


def find_twins(graph: nx.DiGraph) -> dict[frozenset[str], list[frozenset[str]]]:
    """Find the latents that reach the same outputs without acting on one another."""
    reached = reach(graph)
    same: dict[frozenset[str], list[str]] = {}
    for latent in by_role(graph, "latent"):
        same.setdefault(reached[latent], []).append(latent)
    parts = {
        outputs: [frozenset(p) for p in nx.weakly_connected_components(graph.subgraph(group))]
        for outputs, group in same.items()
        if outputs and len(group) > 1
    }
    return {outputs: twins for outputs, twins in parts.items() if len(twins) > 1}


def collapse(graph: nx.DiGraph, apart: Collection[frozenset[str]] = ()) -> nx.DiGraph:
    """Keep one latent for each distinct set of outputs reached, save those in `apart`.

    The last in causal order stays, with all ids in `merged`; of edges that coincide the strongest.
    A direct edge is left out where only merging gave it a longer path beside it.
    """
    keeper, members = _group(graph, apart)
    small: nx.DiGraph = nx.DiGraph()
    small.graph.update(graph.graph)
    small.add_nodes_from(
        entry for entry in graph.nodes(data=True) if keeper.get(entry[0]) == entry[0]
    )
    for node, group in members.items():
        if len(group) > 1:
            earlier = [graph.nodes[member].get("merged", [member]) for member in group]
            small.nodes[node]["merged"] = [name for names in earlier for name in names]
    for source, target, attributes in graph.edges(data=True):
        if source in keeper and target in keeper and keeper[source] != keeper[target]:
            edge = keeper[source], keeper[target]
            if not small.has_edge(*edge) or _strength(attributes) > _strength(small.edges[edge]):
                small.add_edges_from([(*edge, attributes)])
    small.remove_edges_from(_made_redundant(graph, small, keeper, members))
    return small


def _gather(graph: nx.DiGraph, role: str) -> dict[str, frozenset[str]]:
    """Collect the descendants of one role, each node counting as its own descendant."""
    components = nx.condensation(graph)
    below: dict[int, frozenset[str]] = {}
    for component in reversed(list(nx.topological_sort(components))):
        members = components.nodes[component]["members"]
        inside = frozenset(node for node in members if graph.nodes[node].get("role") == role)
        below[component] = inside.union(*(below[one] for one in components.successors(component)))
    return {node: below[components.graph["mapping"][node]] for node in graph}


def _group(
    graph: nx.DiGraph, apart: Collection[frozenset[str]]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Map each node to the one that is kept for it, and each kept latent to its group."""
    reached = reach(graph)
    twins = find_twins(graph) if apart else {}
    twin = {name: part for key in apart for part in twins.get(key, ()) for name in part}
    groups: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for latent in latents_in_order(graph):
        if reached[latent]:
            key = reached[latent], twin.get(latent, frozenset())
            groups.setdefault(key, []).append(latent)
    members = {group[-1]: group for group in groups.values()}
    keeper = {node: node for role in ("input", "output") for node in by_role(graph, role)}
    keeper |= {member: last for last, group in members.items() for member in group}
    return keeper, members


def _strength(attributes: dict[str, object]) -> float:
    weight = attributes.get("weight")
    return abs(weight) if isinstance(weight, int | float) else 0.0


def _made_redundant(
    graph: nx.DiGraph, small: nx.DiGraph, keeper: dict[str, str], members: dict[str, list[str]]
) -> list[tuple[str, str]]:
    """List edges of merged latents that repeat a longer path which no single member had too."""
    redundant = []
    for node, group in members.items():
        if len(group) == 1:
            continue
        below = {child: nx.descendants(small, child) for child in small.successors(node)}
        children = [{keeper.get(child) for child in graph.successors(member)} for member in group]
        for target in below:
            longer = {child for child, reached in below.items() if target in reached}
            had_both = any(target in direct and direct & longer for direct in children)
            if longer and not had_both:
                redundant.append((node, target))
    return redundant
