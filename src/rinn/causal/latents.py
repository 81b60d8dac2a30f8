"""Which latents can be known, and in plain words why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from rinn.causal.modified import above, below, modify_graph
from rinn.graphs import by_role, check_acyclic, reach, sources

MOST_NAMES = 4


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
        >>> from rinn.simulation.paper import paper_graph
        >>> [group.latents for group in signature_classes(paper_graph()) if len(group.latents) > 1]
        [('h16', 'h20'), ('h18', 'h23')]
    """
    check_acyclic(graph)
    reached, origins = reach(graph), sources(graph)
    groups: dict[frozenset[str], list[str]] = {}
    for latent in by_role(graph, "latent"):
        groups.setdefault(reached[latent], []).append(latent)
    return tuple(
        SignatureClass(
            outputs=_in_order(graph, outputs),
            latents=tuple(latents),
            inputs=tuple(_in_order(graph, origins[latent]) for latent in latents),
        )
        for outputs, latents in groups.items()
    )


def explain_latents(graph: nx.DiGraph) -> tuple[LatentFinding, ...]:
    """Tell for each latent whether it is identifiable, and why or why not.

    The paper's definition, to which A1 refers: (i) no input below the latent and no output above
    it; (ii) the inputs above it are not none, and not those of another latent with (i); (iii) the
    same of the outputs below it. Proposition 2 needs A8 as well, that no other graph does with as
    few edges. So a latent is called spare if it can be left out and its parents joined to its
    children; one with a single parent or a single child always is. `find_smaller` of
    `rinn.simulation` knows more such changes, of the graph as a whole.

    Args:
        graph: the true graph; it is not changed.

    Returns:
        One finding for each latent, in the graph's order.

    Raises:
        InputError: the graph is not directed, has a cycle, or a node without a role.

    Example:
        >>> from rinn.simulation.paper import paper_graph
        >>> finding = explain_latents(paper_graph())[0]
        >>> finding.name, finding.reason
        ('h16', 'reaches the same outputs as h20, so the two cannot be told apart')
    """
    check_acyclic(graph)
    before = above(graph, by_role(graph, "input"))
    after = below(graph, by_role(graph, "output"))
    reached, origins = reach(graph), sources(graph)
    between = [node for node in by_role(graph, "latent") if node not in before | after]
    modified = modify_graph(graph)
    findings = []
    for node in by_role(graph, "latent"):
        others = [other for other in between if other != node]
        same_outputs = [other for other in others if reached[other] == reached[node]]
        same_inputs = [other for other in others if origins[other] == origins[node]]
        problem = (
            _say_place(node in before, node in after)
            or _say_empty(bool(origins[node]), bool(reached[node]))
            or _say_twins(same_outputs, same_inputs)
        )
        spare = None if problem else _say_spare(modified, node)
        findings.append(
            LatentFinding(
                name=node,
                identifiable=problem is None,
                spare=spare is not None,
                reason=problem or _say_own(spare),
                inputs=_in_order(graph, origins[node]),
                outputs=_in_order(graph, reached[node]),
            )
        )
    return tuple(findings)


def join_names(names: Sequence[str]) -> str:
    """Write the first few names as words of a sentence, and how many more there are.

    Example:
        >>> join_names(["a", "b", "c"]), join_names("abcdef")
        ('a, b and c', 'a, b, c, d and 2 more')
    """
    shown = list(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        return f"{', '.join(shown)} and {len(names) - MOST_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _in_order(graph: nx.DiGraph, chosen: frozenset[str]) -> tuple[str, ...]:
    return tuple(node for node in graph if node in chosen)


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


def _say_twins(same_outputs: list[str], same_inputs: list[str]) -> str | None:
    """The second halves of conditions (ii) and (iii)."""
    both = [name for name in same_outputs if name in same_inputs]
    if both:
        what, twins = "reaches the same outputs and is reached by the same inputs as", both
    elif same_outputs:
        what, twins = "reaches the same outputs as", same_outputs
    elif same_inputs:
        what, twins = "is reached by the same inputs as", same_inputs
    else:
        return None
    whole = "the two" if len(twins) == 1 else "they"
    return f"{what} {join_names(twins)}, so {whole} cannot be told apart"


def _say_spare(graph: nx.DiGraph, node: str) -> str | None:
    """A8, for one change: leave the latent out and join its parents to its children."""
    parents, children = list(graph.predecessors(node)), list(graph.successors(node))
    new = sum(not graph.has_edge(parent, child) for parent in parents for child in children)
    old = len(parents) + len(children)
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
