"""What a latent graph says: which outputs a node reaches, and which latents are the same one.

A graph is an `nx.DiGraph` whose nodes are strings with the attribute `role`: input, latent or
output. Edges point from cause to effect.
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
    """The nodes of a graph in an order that puts parents first, and where their parents stand."""

    nodes: tuple[str, ...]
    roles: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def check_graph(graph: nx.DiGraph) -> None:
    """Refuse a graph that is not a causal graph from inputs through latents to outputs.

    Outputs may act on outputs, and on nothing else.

    Example:
        >>> graph = nx.DiGraph([("y0", "h")])
        >>> nx.set_node_attributes(graph, {"y0": "output", "h": "latent"}, "role")
        >>> check_graph(graph)
        Traceback (most recent call last):
        rinn.errors.InputError: output 'y0' must act on outputs alone, but has the edge to 'h'; \
remove that edge, or change a role
    """
    check_acyclic(graph)
    for source, target in graph.edges:
        if graph.nodes[target]["role"] == "input":
            problem = f"input {quote(target)} must not have parents, but has the edge from "
            raise InputError(f"{problem}{quote(source)}; remove that edge, or change a role")
        if graph.nodes[source]["role"] == "output" != graph.nodes[target]["role"]:
            problem = f"output {quote(source)} must act on outputs alone, but has the edge to "
            raise InputError(f"{problem}{quote(target)}; remove that edge, or change a role")


def check_acyclic(graph: nx.DiGraph) -> None:
    """Refuse a graph that is not a directed graph without cycles whose nodes have roles.

    This is less than `check_graph` asks: inputs may have parents and outputs children.

    Example:
        >>> check_acyclic(nx.Graph())
        Traceback (most recent call last):
        rinn.errors.InputError: graph must be an nx.DiGraph, got Graph; make it one
    """
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
    """List the nodes of one role in the graph's own order.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_node("x0", role="input")
        >>> by_role(graph, "input"), by_role(graph, "latent")
        (['x0'], [])
    """
    return [node for node, its_role in graph.nodes(data="role") if its_role == role]


def name_latents(count: int, taken: set[str], letter: str = "L") -> list[str]:
    """Name latents L1, L2 and so on; L_1 where a column is called L1.

    Example:
        >>> name_latents(2, {"x", "L2"})
        ['L_1', 'L_2']
    """
    names = [f"{letter}{number}" for number in range(1, count + 1)]
    while taken & set(names):
        names = [name.replace(letter, f"{letter}_", 1) for name in names]
    return names


def latents_in_order(graph: nx.DiGraph) -> list[str]:
    """List the latents from causes to effects: by number of ancestors, then by id.

    An ancestor always has fewer ancestors than its descendants, so this is a topological order;
    unlike networkx's own it does not depend on the order in which nodes were added.

    Example:
        >>> graph = nx.DiGraph([("b", "a"), ("b", "c")])
        >>> nx.set_node_attributes(graph, "latent", "role")
        >>> latents_in_order(graph)
        ['b', 'a', 'c']
    """
    ancestors = find_ancestors(graph, by_role(graph, "latent"))
    return sorted(ancestors, key=lambda node: (int(np.unpackbits(ancestors[node]).sum()), node))


def lay_out(graph: nx.DiGraph) -> Layout:
    """Order the nodes of a graph so that each one comes after its parents.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_node("y0", role="output")
        >>> graph.add_node("x0", role="input")
        >>> graph.add_edge("x0", "y0")
        >>> lay_out(graph).nodes
        ('x0', 'y0')
    """
    for node, role in graph.nodes(data="role"):
        if role not in ROLES:
            raise InputError(
                f"graph must give each node a role of {', '.join(ROLES)}, but node {node!r} has "
                f"{role!r}; set graph.nodes[{node!r}]['role']"
            )
    if not nx.is_directed_acyclic_graph(graph):
        raise InputError(
            "graph must have no cycle, but one was given that has; remove an edge of "
            f"{nx.find_cycle(graph)}"
        )
    nodes = tuple(nx.topological_sort(graph))
    place = {node: position for position, node in enumerate(nodes)}
    return Layout(
        nodes=nodes,
        roles=tuple(graph.nodes[node]["role"] for node in nodes),
        parents=tuple(tuple(sorted(place[p] for p in graph.predecessors(n))) for n in nodes),
        inputs=tuple(place[node] for node in graph if graph.nodes[node]["role"] == "input"),
        outputs=tuple(place[node] for node in graph if graph.nodes[node]["role"] == "output"),
    )


def find_ancestors(
    graph: nx.DiGraph, nodes: Sequence[str]
) -> dict[str, UInt8[np.ndarray, " byte"]]:
    """Find the ancestors of some nodes, and the nodes themselves, all in one walk.

    Example:
        >>> graph = nx.DiGraph([("x0", "h"), ("h", "y0")])
        >>> nx.set_node_attributes(graph, {"x0": "input", "h": "latent", "y0": "output"}, "role")
        >>> np.unpackbits(find_ancestors(graph, ["h"])["h"], count=3)
        array([1, 1, 0], dtype=uint8)
    """
    place = {node: position for position, node in enumerate(graph)}
    components = nx.condensation(graph)
    component_of = components.graph["mapping"]
    wanted = {component_of[node] for node in nodes}
    found: dict[int, UInt8[np.ndarray, " byte"]] = {}
    for component in nx.topological_sort(components):
        parents = components.pred[component]
        inner = parents and components.succ[component]
        if component not in wanted and not inner:
            continue  # sources are put in by their children, and sinks are nobody's ancestors
        bits = np.zeros(len(graph), bool)
        for one in (component, *(parent for parent in parents if parent not in found)):
            bits[[place[node] for node in components.nodes[one]["members"]]] = True
        packed = np.packbits(bits)
        for parent in parents:
            if parent in found:
                packed |= found[parent]
        found[component] = packed
    return {node: found[component_of[node]] for node in nodes}


def reach(graph: nx.DiGraph) -> dict[str, frozenset[str]]:
    """Find the outputs that each node reaches along directed paths.

    Example:
        >>> graph = nx.DiGraph([("x0", "h"), ("h", "y0"), ("h", "y1")])
        >>> roles = {"x0": "input", "h": "latent", "y0": "output", "y1": "output"}
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> sorted(reach(graph)["x0"])
        ['y0', 'y1']
    """
    return _gather(graph, "output")


def sources(graph: nx.DiGraph) -> dict[str, frozenset[str]]:
    """Find the inputs that each latent descends from.

    Example:
        >>> graph = nx.DiGraph([("x0", "h"), ("h", "y0")])
        >>> nx.set_node_attributes(graph, {"x0": "input", "h": "latent", "y0": "output"}, "role")
        >>> sources(graph)
        {'h': frozenset({'x0'})}
    """
    gathered = _gather(graph.reverse(copy=False), "input")
    return {node: gathered[node] for node in by_role(graph, "latent")}


def find_twins(graph: nx.DiGraph) -> dict[frozenset[str], list[frozenset[str]]]:
    """Find the latents that reach the same outputs without acting on one another.

    Latents that reach the same outputs one through the other are one.

    Example:
        >>> graph = nx.DiGraph([("a", "y0"), ("a", "y1"), ("b", "y0"), ("b", "c"), ("c", "y1")])
        >>> roles = dict(a="latent", b="latent", c="latent", y0="output", y1="output")
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> [sorted(map(sorted, twins)) for twins in find_twins(graph).values()]
        [[['a'], ['b']]]
    """
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
    """Keep one latent for each distinct set of outputs reached.

    Latents that reach the same outputs become one, which keeps the id and attributes of the last
    of them in causal order and lists all their ids in the attribute `merged`. Edges among them
    vanish, and of edges that now coincide the one with the largest |weight| stays. A direct edge
    that merging made redundant, because another member goes the same way through a child, is
    left out; shortcuts that one member had beside the longer path stay. Latents that reach no
    output are left out.

    Example:
        >>> graph = nx.DiGraph([("x0", "a"), ("a", "b"), ("b", "y0"), ("b", "y1")])
        >>> roles = dict(x0="input", a="latent", b="latent", y0="output", y1="output")
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> small = collapse(graph)
        >>> sorted(small.edges), small.nodes["b"]["merged"]
        ([('b', 'y0'), ('b', 'y1'), ('x0', 'b')], ['a', 'b'])
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
            known = small.edges[edge] if small.has_edge(*edge) else None
            if known is None or _strength(attributes) > _strength(known):
                small.add_edges_from([(*edge, attributes)])
    small.remove_edges_from(_made_redundant(graph, small, keeper, members))
    return small


def _gather(graph: nx.DiGraph, role: str) -> dict[str, frozenset[str]]:
    """Collect the descendants of one role, each node counting as its own descendant."""
    components = nx.condensation(graph)
    found: dict[int, frozenset[str]] = {}
    for component in reversed(list(nx.topological_sort(components))):
        members = components.nodes[component]["members"]
        own = frozenset(node for node in members if graph.nodes[node].get("role") == role)
        found[component] = own.union(*(found[child] for child in components.successors(component)))
    return {node: found[components.graph["mapping"][node]] for node in graph}


def _group(
    graph: nx.DiGraph, apart: Collection[frozenset[str]]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Say which node stands for each node, and for whom each kept latent stands."""
    reached = reach(graph)
    own = {}
    if apart:
        twins = [part for key, parts in find_twins(graph).items() if key in apart for part in parts]
        own = {latent: twin for twin in twins for latent in twin}
    groups: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for latent in latents_in_order(graph):
        if reached[latent]:
            key = reached[latent], own.get(latent, frozenset())
            groups.setdefault(key, []).append(latent)
    members = {group[-1]: group for group in groups.values()}
    keeper = {node: node for role in ("input", "output") for node in by_role(graph, role)}
    keeper |= {member: last for last, group in members.items() for member in group}
    return keeper, members


def _strength(attributes: dict[str, object]) -> float:
    weight = attributes.get("weight")
    return abs(weight) if isinstance(weight, int | float) else 0.0


def _made_redundant(
    graph: nx.DiGraph,
    small: nx.DiGraph,
    keeper: dict[str, str],
    members: dict[str, list[str]],
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
            had_both = any(target in own and own & longer for own in children)
            if longer and not had_both:
                redundant.append((node, target))
    return redundant
