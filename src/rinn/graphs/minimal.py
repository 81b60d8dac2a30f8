"""Whether a latent graph is the smallest one with its reach: which inputs lead to which outputs.

The fewest edges with a given reach are hard to find: every single change of a few kinds is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_

import networkx as nx

from rinn.graphs.basics import lay_out

# Subsets of so many latents are all tried; above that, single additions, removals and swaps.
EXACT_LATENTS = 9
MAX_SHOWN = 6  # names in a sentence


@dataclass(frozen=True)
class View:
    """A graph seen forwards (children, outputs) or backwards (parents, inputs).

    `ends` are sets written as the bits of a whole number.
    """

    names: tuple[str, ...]
    latents: tuple[int, ...]
    following: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]


def is_minimal(graph: nx.DiGraph) -> bool:
    """Tell whether no single change keeps the graph's reach with as few edges."""
    return find_smaller(graph) is None


def count_tries(graph: nx.DiGraph) -> int:
    """Estimate how many choices `find_smaller` looks at for new connections."""
    return sum(map(_count_tries, _look(graph)))


def find_smaller(graph: nx.DiGraph, max_tries: int | None = None) -> str | None:
    """Name a change that keeps the graph's reach and does not raise its number of edges."""
    forward, backward = _look(graph)
    changes = [
        _find_idle(forward, "reaches no output"),
        _find_idle(backward, "is reached from no input"),
        _find_equal(forward, "reach the same outputs"),
        _find_equal(backward, "are reached from the same inputs"),
        _find_shared(forward, backward),
    ]
    if max_tries is None or _count_tries(forward) + _count_tries(backward) <= max_tries:
        changes += [
            _find_recovered(forward, "children"),
            _find_recovered(backward, "parents"),
            _find_removable(forward, backward, "parents"),
            _find_removable(backward, forward, "children"),
        ]
    return next(chain.from_iterable(changes), None)


def _look(graph: nx.DiGraph) -> tuple[View, View]:
    """The graph seen forwards and backwards."""
    layout = lay_out(graph)
    children: list[list[int]] = [[] for _ in layout.nodes]
    for node, parents in enumerate(layout.parents):
        for parent in parents:
            children[parent].append(node)
    latents = tuple(node for node, role in enumerate(layout.roles) if role == "latent")
    order = range(len(layout.nodes))
    sides = (children, layout.outputs, reversed(order)), (layout.parents, layout.inputs, order)
    views = []
    for following, last, next_first in sides:
        ends = [0] * len(layout.nodes)
        for bit, node in enumerate(last):
            ends[node] = 1 << bit
        for node in next_first:
            ends[node] |= _join(ends[after] for after in following[node])
        views.append(View(layout.nodes, latents, tuple(map(tuple, following)), tuple(ends)))
    return views[0], views[1]


def _find_idle(view: View, what: str) -> Iterator[str]:
    yield from (f"{view.names[node]} {what}" for node in view.latents if not view.ends[node])


def _find_equal(view: View, what: str) -> Iterator[str]:
    first: dict[int, int] = {}
    for node in view.latents:
        other = first.setdefault(view.ends[node], node)
        if other != node:
            yield f"{view.names[other]} and {view.names[node]} {what}"


def _count_tries(view: View) -> int:
    """A node is looked at once, and again for each latent next to it that may be removed."""
    latents = set(view.latents)
    near = (sum(after in latents for after in following) for following in view.following)
    return len(latents) * sum((1 + number) ** 2 for number in near)


def _find_shared(view: View, other: View) -> Iterator[str]:
    """Two nodes with s >= 2 common children: 2 s edges, or s + 2 through a new latent."""
    for one, after in enumerate(view.following):
        shared = Counter(parent for child in after for parent in other.following[child])
        for second in sorted(node for node, count in shared.items() if count > 1 and node > one):
            common = sorted({*after} & {*view.following[second]})
            children = " ".join(view.names[node] for node in common[:MAX_SHOWN])
            children += f" and {len(common) - MAX_SHOWN} more" if len(common) > MAX_SHOWN else ""
            yield f"{view.names[one]} and {view.names[second]} share the children {children}"


def _find_recovered(view: View, side: str) -> Iterator[str]:
    """A node whose ends another choice of next nodes covers with as few edges."""
    for node, after in enumerate(view.following):
        if after and _cheapest_cover(view, node, keep=False) <= len(after):
            yield f"{view.names[node]} has other {side} that do the same with as few edges"


def _find_removable(view: View, other: View, side: str) -> Iterator[str]:
    """A latent whose neighbours on one side do as well without it."""
    for latent in view.latents:
        added = 0
        budget = len(view.following[latent]) + len(other.following[latent])
        for before in other.following[latent]:
            cost = _cheapest_cover(view, before, without=latent)
            added += cost - len(view.following[before]) + 1
            if added > budget:
                break
        else:
            yield f"{view.names[latent]} can be removed and its {side} connected without it"


def _cheapest_cover(view: View, node: int, without: int = -1, keep: bool = True) -> int:
    """The fewest edges from a node that lead to its ends: to latents with no others, and to ends.

    With `keep` false the node's present cover does not count, so that ties show.
    """
    target = view.ends[node]
    following = set(view.following[node])
    options = [
        latent
        for latent in view.latents
        if latent not in (node, without) and view.ends[latent] & ~target == 0
    ]
    present = [index for index, latent in enumerate(options) if latent in following]
    sets = [view.ends[latent] for latent in options]
    find_costs = _cost_all if len(sets) <= EXACT_LATENTS else _cost_near
    cost, best_other = find_costs(sets, target, present)
    minimal = len(following) <= cost  # an edge too many is no cover to keep
    return best_other if not keep and minimal else min(cost, best_other)


def _cost_all(sets: list[int], target: int, present: list[int]) -> tuple[int, int]:
    """The cost of the present choice of latents, and the lowest cost of any other."""
    reached = [0] * (1 << len(sets))
    for choice in range(1, len(reached)):
        lowest = choice & -choice
        reached[choice] = reached[choice ^ lowest] | sets[lowest.bit_length() - 1]
    costs = [
        choice.bit_count() + (target & ~ends).bit_count() for choice, ends in enumerate(reached)
    ]
    cost = costs.pop(sum(1 << index for index in present))
    return cost, min(costs, default=target.bit_count() + 1)


def _cost_near(sets: list[int], target: int, present: list[int]) -> tuple[int, int]:
    """The same, where the others are those one step away and what greedy additions reach."""
    members = set(present)
    others = [index for index in range(len(sets)) if index not in members]

    def find_cost(count: int, ends: int) -> int:
        return count + (target & ~ends).bit_count()

    covered = _join(sets[index] for index in present)
    costs = [find_cost(len(present) + 1, covered | sets[new]) for new in others]
    for out in present:
        left = _join(sets[index] for index in present if index != out)
        costs.append(find_cost(len(present) - 1, left))
        costs += [find_cost(len(present), left | sets[new]) for new in others]
    for begin in ([], present):
        choice = _add_greedily(sets, begin)
        if set(choice) != members:
            costs.append(find_cost(len(choice), _join(sets[index] for index in choice)))
    return find_cost(len(present), covered), min(costs)


def _add_greedily(sets: list[int], present: list[int]) -> list[int]:
    """Add the latent that saves most edges until none saves any."""
    choice, covered = list(present), _join(sets[index] for index in present)
    while True:
        gains = [(ends & ~covered).bit_count() for ends in sets]
        best = max(range(len(sets)), key=gains.__getitem__)
        if gains[best] < 2:
            return choice
        choice.append(best)
        covered |= sets[best]


def _join(sets: Iterable[int]) -> int:
    """All ends that some latents lead to."""
    return reduce(or_, sets, 0)
