"""Which latents are identifiable, why the others are not, and the modified graph without those.

The definitions are those of Young, Andrews, Cooper and Lu (2020). The graph is assumed to be true.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeVar

import networkx as nx

from rinn.graphs.basics import by_role, check_acyclic, reach, sources

MAX_NAMES = 4

Key = TypeVar("Key", bound=Hashable)


def modify_graph(graph: nx.DiGraph) -> nx.DiGraph:
    """Build the modified graph G_M of a true graph G_T, by the paper's three steps in turn.

    (i) Latents above an input or below an output go. (ii) Of the others, latents that no input
    reaches or that reach no output go. (iii) Edges between two inputs or two outputs go. A latent
    goes with its edges, which are not replaced.

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
    latents = set(by_role(graph, "latent"))
    outside = latents & (above(small, inputs) | below(small, outputs))
    small.remove_nodes_from(outside)
    small.remove_nodes_from(latents - outside - (below(small, inputs) & above(small, outputs)))
    role = dict(small.nodes(data="role"))
    small.remove_edges_from([(a, b) for a, b in small.edges if role[a] == role[b] != "latent"])
    return small


def above(graph: nx.DiGraph, nodes: Iterable[str]) -> set[str]:
    """Collect the ancestors of nodes."""
    ancestors: set[str] = set()
    waiting = list(nodes)
    while waiting:
        fresh = [parent for parent in graph.pred[waiting.pop()] if parent not in ancestors]
        ancestors.update(fresh)
        waiting += fresh
    return ancestors


def below(graph: nx.DiGraph, nodes: Iterable[str]) -> set[str]:
    """Collect the descendants of nodes."""
    return above(graph.reverse(copy=False), nodes)


@dataclass(frozen=True)
class SignatureClass:
    """Latents that reach the same outputs; `inputs` lists for each of them what acts on it."""

    outputs: tuple[str, ...]
    latents: tuple[str, ...]
    inputs: tuple[tuple[str, ...], ...]

    def to_json(self) -> dict[str, object]:
        """Give the class by name."""
        pairs = zip(self.latents, self.inputs, strict=True)
        return {
            "outputs": list(self.outputs),
            "inputs": {name: list(inputs) for name, inputs in pairs},
        }


@dataclass(frozen=True)
class LatentFinding:
    """Whether one latent is identifiable; `reason` continues a sentence that starts with its name.

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
        return asdict(self) | {"inputs": list(self.inputs), "outputs": list(self.outputs)}


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
    same of the outputs below it. Proposition 2 also needs A8, that no other graph does the same
    with as few edges. So a latent is called spare if it can be left out and its parents joined to
    its children; one with a single parent or a single child always is. `find_smaller` of
    `graphs.minimal` tries more such changes.

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
        ('h16', 'reaches the same outputs as h20, so the two cannot be distinguished')
    """
    check_acyclic(graph)
    before = above(graph, by_role(graph, "input"))
    after = below(graph, by_role(graph, "output"))
    reached, origins, sort = reach(graph), sources(graph), _sort_by(graph)
    outside = before | after
    between = [node for node in by_role(graph, "latent") if node not in outside]
    both = {node: (origins[node], reached[node]) for node in between}
    shared: list[tuple[Mapping[str, Hashable], dict[Any, list[str]]]] = [
        (key, _group(between, key)) for key in (both, reached, origins)
    ]
    modified = modify_graph(graph)
    findings = []
    for node in by_role(graph, "latent"):
        if node in before:  # condition (i)
            problem: str | None = "acts on an input, so it is not between inputs and outputs"
        elif node in after:
            problem = "is an effect of an output, so it is not between inputs and outputs"
        elif not reached[node]:  # the first halves of conditions (iii) and (ii)
            alone = "" if origins[node] else ", and no input reaches it"
            problem = f"reaches no output{alone}, so nothing measured shows what it does"
        elif not origins[node]:
            problem = "is reached by no input, so no input shows what it does"
        else:
            problem = _explain_shared(node, [groups[key[node]] for key, groups in shared])
        spare = None if problem else _explain_spare(modified, node)
        reason = "no other latent reaches the same outputs or is reached by the same inputs"
        reason += f"; but {spare}" if spare else ""
        about = problem is None, bool(spare), problem or reason
        findings.append(LatentFinding(node, *about, sort(origins[node]), sort(reached[node])))
    return tuple(findings)


def join_names(names: Sequence[str], count: int | None = None) -> str:
    """Write the first few names as part of a sentence, and how many more there are."""
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
    index = {node: i for i, node in enumerate(graph)}
    return lambda names: tuple(sorted(names, key=index.__getitem__))


def _explain_shared(node: str, groups: Sequence[Sequence[str]]) -> str | None:
    """The second halves of conditions (ii) and (iii), of latents with the same both, or one."""
    what = (
        "reaches the same outputs and is reached by the same inputs as",
        "reaches the same outputs as",
        "is reached by the same inputs as",
    )
    for verb, group in zip(what, groups, strict=True):
        if len(group) > 1:
            first = list(islice((other for other in group if other != node), MAX_NAMES))
            they = "the two" if len(group) == 2 else "they"
            names = join_names(first, len(group) - 1)
            return f"{verb} {names}, so {they} cannot be distinguished"
    return None


def _explain_spare(graph: nx.DiGraph, node: str) -> str | None:
    """A8, for one change: leave the latent out and connect its parents to its children."""
    parents, children = list(graph.predecessors(node)), list(graph.successors(node))
    new, old, below_it = 0, len(parents) + len(children), set(children)
    for parent in parents:
        new += len(below_it.difference(graph.succ[parent]))
        if new > old:
            return None
    does = f"does the same with {'fewer' if new < old else 'as few'} edges"
    for side, what in ((children, "child"), (parents, "parent")):
        if len(side) == 1:
            return f"it has only one {what}, and a graph without it {does}"
    return f"a graph that connects its parents to its children without it {does}"
