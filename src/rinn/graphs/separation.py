"""Restricted Markov and faithfulness (A6, A7): a graph against statements of independence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import networkx as nx

from rinn.errors import InputError, quote
from rinn.graphs.basics import by_role, check_acyclic
from rinn.graphs.theory import above

MAX_STATEMENTS = 200_000


@dataclass(frozen=True)
class Statement:
    """That an input and an output are independent, or not, given other inputs and outputs."""

    x: str
    y: str
    given: frozenset[str] = frozenset()
    independent: bool = True


def is_separated(graph: nx.DiGraph, x: str, y: str, given: Iterable[str] = ()) -> bool:
    """Tell whether a graph makes an input and an output independent (d-separation).

    Args:
        graph: the graph; it is not changed.
        x: an input.
        y: an output.
        given: the inputs and outputs that are held fixed.

    Returns:
        True where every path between the two is blocked.

    Raises:
        InputError: the graph is not acyclic with roles, or a name is not what it must be.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> graph = paper_graph()
        >>> is_separated(graph, "x0", "y1"), is_separated(graph, "x0", "y1", ["y0"])
        (True, False)
    """
    statement = Statement(x, y, frozenset(given))
    return answer_statements(graph, [statement])[statement]


def list_statements(graph: nx.DiGraph, max_given: int = 0) -> tuple[Statement, ...]:
    """List what a graph says of each input and output, given each small set of the others.

    Args:
        graph: the graph; it is not changed.
        max_given: the largest number of inputs and outputs that are held fixed.

    Returns:
        All statements, with what d-separation says of them.

    Raises:
        InputError: the graph is not acyclic with roles, `max_given` is negative, or there would
            be more than 200,000 statements.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> statements = list_statements(paper_graph())
        >>> len(statements), sum(not statement.independent for statement in statements)
        (256, 113)
    """
    check_acyclic(graph)
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    others = max(0, len(inputs) + len(outputs) - 2)
    if max_given < 0:
        raise InputError(f"max_given must be 0 or more, got {max_given}; choose 0, 1 or 2")
    count = len(inputs) * len(outputs) * sum(comb(others, n) for n in range(max_given + 1))
    if count > MAX_STATEMENTS:
        raise InputError(
            f"max_given must leave at most {MAX_STATEMENTS} statements, but {max_given} gives "
            f"{count}; choose a smaller one, or a graph with fewer inputs and outputs"
        )
    asked = [
        Statement(x, y, frozenset(given))
        for x in inputs
        for y in outputs
        for size in range(max_given + 1)
        for given in combinations([node for node in inputs + outputs if node not in (x, y)], size)
    ]
    separated = answer_statements(graph, asked)
    return tuple(Statement(s.x, s.y, s.given, separated[s]) for s in asked)


def check_markov(graph: nx.DiGraph, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Find where a graph breaks the restricted Markov condition (A6).

    Args:
        graph: the graph; it is not changed.
        statements: what is true of the data: from tests, or from `list_statements` of a truth.

    Returns:
        The statements of dependence between an input and an output that the graph separates.
        None of them: the condition holds as far as the statements go.

    Raises:
        InputError: the graph is not acyclic with roles, or a statement names other nodes.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_node("x0", role="input")
        >>> graph.add_node("y0", role="output")
        >>> check_markov(graph, [Statement("x0", "y0", independent=False)])
        (Statement(x='x0', y='y0', given=frozenset(), independent=False),)
    """
    return _find_wrong(graph, statements, independent=False)


def check_faithfulness(graph: nx.DiGraph, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Find where a graph breaks the restricted faithfulness condition (A7).

    Args:
        graph: the graph; it is not changed.
        statements: what is true of the data: from tests, or from `list_statements` of a truth.

    Returns:
        The statements of independence between an input and an output that the graph connects.
        None of them: the condition holds as far as the statements go.

    Raises:
        InputError: the graph is not acyclic with roles, or a statement names other nodes.

    Example:
        >>> from rinn.simulate.graphs import paper_graph
        >>> check_faithfulness(paper_graph(), [Statement("x0", "y0"), Statement("x0", "y1")])
        (Statement(x='x0', y='y0', given=frozenset(), independent=True),)
    """
    return _find_wrong(graph, statements, independent=True)


def _find_wrong(
    graph: nx.DiGraph, statements: Iterable[Statement], *, independent: bool
) -> tuple[Statement, ...]:
    """The statements of this kind of which the graph says the opposite."""
    asked = tuple(statements)
    separated = answer_statements(graph, asked)
    return tuple(s for s in asked if s.independent == independent != separated[s])


def answer_statements(graph: nx.DiGraph, statements: Sequence[Statement]) -> dict[Statement, bool]:
    """Tell for each statement whether the graph separates its ends."""
    check_acyclic(graph)
    # One walk for all statements of one x and conditions is faster than nx.is_d_separator for each.
    groups: dict[tuple[str, frozenset[str]], list[Statement]] = defaultdict(list)
    for statement in statements:
        groups[statement.x, statement.given].append(statement)
    role = dict(graph.nodes(data="role"))
    separated: dict[Statement, bool] = {}
    for (x, given), group in groups.items():
        _check_names(role, x, given, group)
        connected = _find_connected(graph, x, given)
        separated |= {statement: statement.y not in connected for statement in group}
    return separated


def _check_names(
    role: dict[str, str], x: str, given: frozenset[str], group: list[Statement]
) -> None:
    if role.get(x) != "input":
        raise InputError(f"x must be an input of the graph, got {quote(x)}; name an input")
    for name in sorted(given):
        if name == x or role.get(name) not in ("input", "output"):
            raise InputError(
                f"given must hold other inputs and outputs of the graph than {quote(x)}, got "
                f"{quote(name)}; leave it out"
            )
    for statement in group:
        if role.get(statement.y) != "output" or statement.y in given:
            raise InputError(
                "y must be an output of the graph that is not given too, got "
                f"{quote(statement.y)}; name another output"
            )


def _find_connected(graph: nx.DiGraph, x: str, given: frozenset[str]) -> set[str]:
    """All nodes that a path connects with one (Shachter 1998: Bayes-ball), in one walk."""
    opened = above(graph, given) | given  # where two arrows that meet let a path through
    connected: set[str] = set()
    waiting, met = [(x, True)], {(x, True)}
    while waiting:
        node, is_from_below = waiting.pop()
        passes = node not in given
        if passes:
            connected.add(node)
        following = [(child, False) for child in graph.succ[node]] if passes else []
        if (passes and is_from_below) or (not is_from_below and node in opened):
            following += [(parent, True) for parent in graph.pred[node]]
        fresh = [step for step in following if step not in met]
        met.update(fresh)
        waiting += fresh
    return connected - {x}
