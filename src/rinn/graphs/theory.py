"""Which latents can be known, why the others cannot, and the graph without those (modified).

The definitions are those of Young, Andrews, Cooper and Lu 2020: Learning Latent Causal Structures
with a Redundant Input Neural Network. Every function here takes the graph for the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import networkx as nx

from rinn.graphs.basics import by_role, check_acyclic, reach, sources

MAX_NAMES = 4

Key = TypeVar("Key", bound=Hashable)


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


@dataclass(frozen=True)
class SignatureClass:
    """Latents that reach the same outputs; `inputs` lists for each of them what acts on it."""

    outputs: tuple[str, ...]
    latents: tuple[str, ...]
    inputs: tuple[tuple[str, ...], ...]

    def to_json(self) -> dict[str, object]:
        """Give the class by name."""
        acting = {
            name: list(inputs) for name, inputs in zip(self.latents, self.inputs, strict=True)
        }
        return {"outputs": list(self.outputs), "inputs": acting}


@dataclass(frozen=True)
class LatentFinding:
    """Whether one latent can be known, and why or why not, in the words after its name.

    `spare` marks an identifiable latent without which a graph has as few edges and the same reach.
    """

    name: str
    identifiable: bool
    spare: bool
    reason: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Give the finding by name."""
        return {
            "name": self.name,
            "identifiable": self.identifiable,
            "spare": self.spare,
            "reason": self.reason,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }


def signature_classes(graph: nx.DiGraph) -> tuple[SignatureClass, ...]:
    """Group the latents by the outputs that they reach.

    Two latents of one class cannot both be identifiable (condition iii of the paper's
    definition); `graphs.collapse` makes one latent of them.

    Args:
        graph: the true graph; it is not changed.

    Returns:
        The classes, in the graph's order of their first latents; each latent is in one of them.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> [group.latents for group in signature_classes(paper_graph()) if len(group.latents) > 1]
        [('h16', 'h20'), ('h18', 'h23')]
    """
    check_acyclic(graph)
    reached, origins, sort = reach(graph), sources(graph), _sort_by(graph)
    return tuple(
        SignatureClass(
            outputs=sort(outputs),
            latents=tuple(latents),
            inputs=tuple(sort(origins[latent]) for latent in latents),
        )
        for outputs, latents in _group(by_role(graph, "latent"), reached).items()
    )


def explain_latents(graph: nx.DiGraph) -> tuple[LatentFinding, ...]:
    """Tell for each latent whether it is identifiable, and why or why not.

    The paper's definition, to which A1 refers: (i) no input below the latent and no output above
    it; (ii) the inputs above it are not none, and not those of another latent with (i); (iii) the
    same of the outputs below it. Proposition 2 needs A8 as well, that no other graph does with as
    few edges. So a latent is called spare if it can be left out and its parents joined to its
    children; one with a single parent or a single child always is. `find_smaller` of
    `rinn.simulate` knows more such changes, of the graph as a whole.

    Args:
        graph: the true graph; it is not changed.

    Returns:
        One finding for each latent, in the graph's order.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> finding = explain_latents(paper_graph())[0]
        >>> finding.name, finding.reason
        ('h16', 'reaches the same outputs as h20, so the two cannot be told apart')
    """
    check_acyclic(graph)
    before = above(graph, by_role(graph, "input"))
    after = below(graph, by_role(graph, "output"))
    reached, origins, sort = reach(graph), sources(graph), _sort_by(graph)
    outside = before | after
    between = [node for node in by_role(graph, "latent") if node not in outside]
    both = {node: (origins[node], reached[node]) for node in between}
    same_both, same_outputs, same_inputs = (
        _group(between, both),
        _group(between, reached),
        _group(between, origins),
    )
    modified = modify_graph(graph)
    findings = []
    for node in by_role(graph, "latent"):
        problem = (
            _say_place(node in before, node in after)
            or _say_empty(bool(origins[node]), bool(reached[node]))
            or _say_twins(
                node, same_both[both[node]], same_outputs[reached[node]], same_inputs[origins[node]]
            )
        )
        spare = None if problem else _say_spare(modified, node)
        findings.append(
            LatentFinding(
                name=node,
                identifiable=problem is None,
                spare=spare is not None,
                reason=problem or _say_own(spare),
                inputs=sort(origins[node]),
                outputs=sort(reached[node]),
            )
        )
    return tuple(findings)


def join_names(names: Sequence[str], count: int | None = None) -> str:
    """Write the first few names as words of a sentence, and how many more there are.

    Example:
        >>> join_names(["a", "b", "c"]), join_names("abcdef")
        ('a, b and c', 'a, b, c, d and 2 more')
    """
    shown = list(names[:MAX_NAMES])
    count = len(names) if count is None else count
    if count > MAX_NAMES:
        return f"{', '.join(shown)} and {count - MAX_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _group(nodes: Sequence[str], key: Mapping[str, Key]) -> dict[Key, list[str]]:
    """Gather the nodes that have the same key."""
    groups: dict[Key, list[str]] = {}
    for node in nodes:
        groups.setdefault(key[node], []).append(node)
    return groups


def _sort_by(graph: nx.DiGraph) -> Callable[[frozenset[str]], tuple[str, ...]]:
    """How to bring names into the graph's order."""
    place = {node: position for position, node in enumerate(graph)}
    return lambda names: tuple(sorted(names, key=place.__getitem__))


def _say_place(is_before: bool, is_after: bool) -> str | None:
    """Condition (i)."""
    if is_before:
        return "acts on an input, so it does not lie between inputs and outputs"
    if is_after:
        return "is acted on by an output, so it does not lie between inputs and outputs"
    return None


def _say_empty(has_inputs: bool, has_outputs: bool) -> str | None:
    """The first halves of conditions (ii) and (iii)."""
    if not has_outputs:
        alone = "" if has_inputs else ", and no input reaches it"
        return f"reaches no output{alone}, so nothing measured shows what it does"
    if not has_inputs:
        return "is reached by no input, so no input shows what it does"
    return None


def _say_twins(
    node: str, same_both: list[str], same_outputs: list[str], same_inputs: list[str]
) -> str | None:
    """The second halves of conditions (ii) and (iii); the lists hold the latent itself too."""
    for what, group in (
        ("reaches the same outputs and is reached by the same inputs as", same_both),
        ("reaches the same outputs as", same_outputs),
        ("is reached by the same inputs as", same_inputs),
    ):
        if len(group) > 1:
            first = list(islice((other for other in group if other != node), MAX_NAMES))
            whole = "the two" if len(group) == 2 else "they"
            names = join_names(first, len(group) - 1)
            return f"{what} {names}, so {whole} cannot be told apart"
    return None


def _say_spare(graph: nx.DiGraph, node: str) -> str | None:
    """A8, for one change: leave the latent out and join its parents to its children."""
    parents, children = list(graph.predecessors(node)), list(graph.successors(node))
    new, old, below_it = 0, len(parents) + len(children), set(children)
    for parent in parents:
        new += len(below_it.difference(graph.succ[parent]))
        if new > old:
            return None
    edges = "fewer" if new < old else "as few"
    does = f"does the same with {edges} edges"
    for side, what in ((children, "child"), (parents, "parent")):
        if len(side) == 1:
            return f"it has only one {what}, and a graph without it {does}"
    return f"a graph that joins its parents to its children without it {does}"


def _say_own(spare: str | None) -> str:
    words = "no other latent reaches the same outputs or is reached by the same inputs"
    return f"{words}; but {spare}" if spare else words
