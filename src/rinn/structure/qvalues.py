"""How many edges chance alone gives, and what that makes of those that were found."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.structure.influence import DATA, PRIOR
from rinn.structure.rounds import Null

_DIGITS = 9  # frequencies that differ by less are the same share, rounded on the way


def expected_by_chance(null: Null, frequency: float) -> float:
    """Say how many edges of at least this frequency a graph has by chance.

    Example:
        >>> from rinn.structure.rounds import NullRound
        >>> rounds = [NullRound(n, n, 32, (0.1, 0.5)[: n + 1], 0, 4, 0) for n in range(2)]
        >>> null = Null(tuple(rounds), NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> [expected_by_chance(null, frequency) for frequency in (0.1, 0.2, 0.6)]
        [1.5, 0.5, 0.0]
    """
    return int(_count_null(null, np.array([frequency]))[0]) / null.rounds


def q_values(
    frequencies: Sequence[float] | np.ndarray, null: Null, origin: str = DATA
) -> Float[np.ndarray, " edge"]:
    """Estimate the false discovery rate at which each edge would just be accepted.

    q = min over f' <= f of ((c(f') + 1) / R) / n(f'), at most 1, where f is the edge's frequency,
    n(f') counts the given edges of at least the frequency f', and c(f') those of all R permuted
    rounds together.

    The 1 stands for the finite number of rounds: that none of them had such an edge does not show
    that there is none, and no q is below 1 / (R n). If edges arise by chance as a Poisson process
    of which nothing is known beforehand, (c + 1) / R is their expected number in another graph; for
    one round it is the count that knockoff+ takes (Barber, Candès 2015: Controlling the false
    discovery rate via knockoffs). Dividing by R + 1 instead would fall below the observed c / R
    where that is above 1.

    This is chance in data without any effect. Wrong edges that arise beside right ones are not
    counted here: where decoys are connected, there are more of them than q says.

    Example:
        >>> from rinn.structure.rounds import NullRound
        >>> rounds = tuple(NullRound(n, n, 32, (0.1, 0.4), 0, 4, 0) for n in range(5))
        >>> null = Null(rounds, NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> q_values([1.0, 1.0, 0.4, 0.1], null)  # 1/5/2, 6/5/3, 11/5/4
        array([0.1 , 0.1 , 0.4 , 0.55])
    """
    given = np.round(np.asarray(frequencies, float), _DIGITS)
    levels, place, counts = np.unique(given, return_inverse=True, return_counts=True)
    real = np.cumsum(counts[::-1])[::-1]  # [level], edges at or above it
    rates = (_count_null(null, levels, origin) + 1) / null.rounds / real
    # Between two levels only the numerator falls, so that no other threshold has a lower ratio.
    return np.minimum(np.minimum.accumulate(rates), 1.0)[place]


def assign_q(graph: nx.DiGraph, null: Null) -> dict[tuple[str, str], float]:
    """Estimate q for every edge of a graph.

    Example:
        >>> from rinn.structure.rounds import NullRound
        >>> rounds = tuple(NullRound(n, n, 32, (0.1, 0.4), 0, 4, 0) for n in range(5))
        >>> null = Null(rounds, NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> graph = nx.DiGraph()
        >>> graph.add_edge("x", "L1", frequency=1.0)
        >>> assign_q(graph, null)
        {('x', 'L1'): 0.2}
    """
    found: dict[tuple[str, str], float] = {}
    for origin in (DATA, PRIOR):
        edges = [edge for edge in graph.edges if find_origin(graph, edge) == origin]
        q = q_values(list_frequencies(graph, origin), null, origin)
        found |= dict(zip(edges, map(float, q), strict=True))
    return found


def list_frequencies(graph: nx.DiGraph, origin: str = DATA) -> list[float]:
    """One for each edge of an origin; a strategy without networks finds an edge or does not."""
    return [
        float(share)
        for source, target, share in graph.edges(data="frequency", default=1.0)
        if find_origin(graph, (source, target)) == origin
    ]


def find_origin(graph: nx.DiGraph, edge: tuple[str, str]) -> str:
    """What an edge owes its place to: the data, where nothing else is said."""
    return str(graph.edges[edge].get("origin", DATA))


def _count_null(null: Null, levels: np.ndarray, origin: str = DATA) -> np.ndarray:
    """Edges at or above each level, of all permuted rounds together."""
    rounds = [found.frequencies if origin == DATA else found.owed for found in null.permuted]
    seen = np.array([share for found in rounds for share in found])
    seen = np.sort(np.round(seen, _DIGITS))
    return len(seen) - np.searchsorted(seen, np.round(levels, _DIGITS))
