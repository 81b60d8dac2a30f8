"""Null rounds, and the q-values of edges that follow from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.structure.records import DATA, PRIOR

DECOY_ROUND = -1
_DIGITS = 9  # frequencies that differ by less are the same fraction, rounded on the way


@dataclass(frozen=True)
class NullRound:
    """What one search gave where there was nothing, or among decoys (`number` is then -1).

    `frequencies` are those of all candidate edges, ascending; `reported` counts the reported ones.
    Edges that owe their place to prior knowledge are in `prior_driven` instead; forced ones are in
    none of these. Inputs and decoys are connected where a reported edge leaves them.
    """

    number: int
    seed: int
    networks: int
    frequencies: tuple[float, ...]
    reported: int
    inputs: int
    connected_inputs: int
    decoys: int = 0
    connected_decoys: int = 0
    prior_driven: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The round by name, ready for `json.dumps`."""
        values = dataclasses.asdict(self) | {"frequencies": list(self.frequencies)}
        prior_driven = list(values.pop("prior_driven"))
        return values | ({"prior_driven": prior_driven} if prior_driven else {})

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> NullRound:
        """Read what `to_json` wrote."""
        lists = {name: tuple(value.get(name, ())) for name in ("frequencies", "prior_driven")}
        return cls(**value | lists)


@dataclass(frozen=True)
class Null:
    """Rounds with the rows of Y permuted, and one with decoys."""

    permuted: tuple[NullRound, ...]
    decoyed: NullRound

    @property
    def rounds(self) -> int:
        """How often the rows were permuted."""
        return len(self.permuted)

    @property
    def networks(self) -> int:
        """Networks of each round; 0 for a strategy without any."""
        return self.decoyed.networks

    @property
    def reported(self) -> float:
        """Mean number of reported edges of a permuted round."""
        return sum(one.reported for one in self.permuted) / self.rounds

    def to_json(self) -> dict[str, Any]:
        """The null by name, ready for `json.dumps`."""
        return {
            "rounds": self.rounds,
            "networks": self.networks,
            "permuted": [one.to_json() for one in self.permuted],
            "decoyed": self.decoyed.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Null:
        """Read what `to_json` wrote."""
        permuted = tuple(NullRound.from_json(one) for one in value["permuted"])
        return cls(permuted, NullRound.from_json(value["decoyed"]))


def q_values(
    frequencies: Sequence[float] | np.ndarray, null: Null, origin: str = DATA
) -> Float[np.ndarray, " edge"]:
    """Estimate the false discovery rate at which each edge would just be accepted.

    q = min over f' <= f of ((c(f') + 1) / R) / n(f'), at most 1, where f is the edge's frequency,
    n(f') counts the given edges of at least the frequency f', and c(f') those of all R permuted
    rounds together. The 1 stands for the finite number of rounds: if edges arise by chance as a
    Poisson process, (c + 1) / R is their expected number in another graph; for one round it is the
    count of knockoff+ (Barber, Candès 2015).

    Example:
        >>> rounds = tuple(NullRound(n, n, 32, (0.1, 0.4), 0, 4, 0) for n in range(5))
        >>> null = Null(rounds, NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> q_values([1.0, 1.0, 0.4, 0.1], null)  # 1/5/2, 6/5/3, 11/5/4
        array([0.1 , 0.1 , 0.4 , 0.55])
    """
    given = np.round(np.asarray(frequencies, float), _DIGITS)
    levels, index, counts = np.unique(given, return_inverse=True, return_counts=True)
    real = np.cumsum(counts[::-1])[::-1]  # [level], edges at or above it
    rates = (_count_null(null, levels, origin) + 1) / null.rounds / real
    # Between two levels only the numerator falls, so that no other threshold has a lower ratio.
    return np.minimum(np.minimum.accumulate(rates), 1.0)[index]


def assign_q(graph: nx.DiGraph, null: Null) -> dict[tuple[str, str], float]:
    """Estimate q for every edge of a graph that is not forced."""
    q: dict[tuple[str, str], float] = {}
    for origin in (DATA, PRIOR):
        edges = [edge for edge in graph.edges if find_origin(graph, edge) == origin]
        values = q_values(list_frequencies(graph, origin), null, origin)
        q |= dict(zip(edges, map(float, values), strict=True))
    return q


def list_frequencies(graph: nx.DiGraph, origin: str = DATA) -> list[float]:
    """One for each edge of an origin; 1 where a strategy has no frequencies."""
    return [
        float(frequency)
        for source, target, frequency in graph.edges(data="frequency", default=1.0)
        if find_origin(graph, (source, target)) == origin
    ]


def find_origin(graph: nx.DiGraph, edge: tuple[str, str]) -> str:
    """What an edge owes its place to: the data, where nothing else is said."""
    return str(graph.edges[edge].get("origin", DATA))


def _count_null(null: Null, levels: np.ndarray, origin: str) -> np.ndarray:
    """Edges at or above each level, of all permuted rounds together."""
    name = "frequencies" if origin == DATA else "prior_driven"
    seen = np.array([value for one in null.permuted for value in getattr(one, name)])
    seen = np.sort(np.round(seen, _DIGITS))
    return len(seen) - np.searchsorted(seen, np.round(levels, _DIGITS))
