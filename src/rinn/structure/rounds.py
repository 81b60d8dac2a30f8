"""What searches found where there was nothing to find, and among decoys."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

DECOY_ROUND = -1


@dataclass(frozen=True)
class NullRound:
    """What one search found where there was nothing, or among decoys (`number` is then -1).

    `frequencies` holds those of all edges that were found, drawn or not, in ascending order, and
    `drawn` counts the drawn ones. Edges that owe their place to prior knowledge are in `owed`
    instead; those that it orders, whatever the data say, are in none of these. Inputs and
    decoys are connected where an edge is drawn from them.
    """

    number: int
    seed: int
    networks: int
    frequencies: tuple[float, ...]
    drawn: int
    inputs: int
    connected_inputs: int
    decoys: int = 0
    connected_decoys: int = 0
    owed: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The round by name, ready for `json.dumps`."""
        plain = dataclasses.asdict(self) | {"frequencies": list(self.frequencies)}
        owed = list(plain.pop("owed"))
        return plain | ({"owed": owed} if owed else {})

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> NullRound:
        """Read what `to_json` wrote."""
        shares = {name: tuple(value.get(name, ())) for name in ("frequencies", "owed")}
        return cls(**value | shares)


@dataclass(frozen=True)
class Null:
    """What arises from nothing: rounds with the rows of Y permuted, and one with decoys."""

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
    def drawn(self) -> float:
        """Mean number of drawn edges of a permuted round."""
        return sum(found.drawn for found in self.permuted) / self.rounds

    def to_json(self) -> dict[str, Any]:
        """The null by name, ready for `json.dumps`."""
        return {
            "rounds": self.rounds,
            "networks": self.networks,
            "permuted": [found.to_json() for found in self.permuted],
            "decoyed": self.decoyed.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Null:
        """Read what `to_json` wrote."""
        permuted = tuple(NullRound.from_json(found) for found in value["permuted"])
        return cls(permuted, NullRound.from_json(value["decoyed"]))
