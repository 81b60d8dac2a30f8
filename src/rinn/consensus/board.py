"""What sets of outputs are worth by the evidence, and a graph made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float

Pattern = int  # a set of outputs as bits

ORPHAN = 1.0  # edges that a latent with no input of its own must save beyond what it costs
LATENT = 0.25  # the same for a latent with inputs
FEWEST_OUTPUTS = 2


class Board:
    """The evidence, and what sets of outputs are worth by it."""

    def __init__(self, evidence: Float[np.ndarray, "input output"], price: float) -> None:
        self.evidence, self.price = evidence, price
        self.outputs = evidence.shape[1]
        self._hopes = np.maximum(evidence, 0.0)
        self._all_hopes = self._hopes.sum(axis=1)  # [input]
        self._worth: dict[Pattern, np.ndarray] = {}
        self._hoped: dict[Pattern, np.ndarray] = {}
        self._spread: dict[Pattern, np.ndarray] = {}
        self._covers: dict[tuple[Pattern, tuple[Pattern, ...]], tuple[Pattern, ...]] = {}
        self._values: dict[frozenset[Pattern], float] = {}

    def worth(self, pattern: Pattern) -> Float[np.ndarray, " input"]:
        """The evidence that each input reaches these outputs."""
        found = self._worth.get(pattern)
        if found is None:
            places = list_outputs(pattern)
            found = self._worth[pattern] = self.evidence[:, places].sum(axis=1)
            self._hoped[pattern] = self._all_hopes - self._hopes[:, places].sum(axis=1)
        return found

    def attach(
        self, patterns: Sequence[Pattern]
    ) -> tuple[Float[np.ndarray, " input"], list[tuple[int, ...]]]:
        """Let each input act on the latents that its evidence pays for, the best first.

        Returns:
            What each input gains, its edges paid for, and the places of its latents.
        """
        count = len(self.evidence)
        if not patterns or not count:
            return np.zeros(count), [()] * count
        worth = np.stack([self.worth(pattern) for pattern in patterns])  # [latent, input]
        first = worth.argmax(axis=0)
        each = np.arange(count)
        gain = np.maximum(worth[first, each] - self.price, 0.0)
        chosen: list[tuple[int, ...]] = [
            (best,) if paid else () for best, paid in zip(first.tolist(), gain > 0, strict=True)
        ]
        hoped = np.stack([self._hoped[pattern] for pattern in patterns])[first, each]
        hopeful = np.flatnonzero((gain > 0) & (hoped > self.price))
        for best in np.unique(first[hopeful]).tolist():
            some = hopeful[first[hopeful] == best]
            new = np.stack([self.worth(p & ~patterns[best])[some] for p in patterns])
            for i in some[new.max(axis=0) > self.price].tolist():
                more, others = self._add_latents(i, patterns, best)
                gain[i] += more
                chosen[i] += others
        return gain, chosen

    def _add_latents(
        self, i: int, patterns: Sequence[Pattern], first: int
    ) -> tuple[float, tuple[int, ...]]:
        covered, total = patterns[first], 0.0
        added: list[int] = []
        while True:
            gains = [float(self.worth(p & ~covered)[i]) - self.price for p in patterns]
            best = max(range(len(patterns)), key=gains.__getitem__)
            if gains[best] <= 0:
                return total, tuple(added)
            total += gains[best]
            added.append(best)
            covered |= patterns[best]

    def spread_out(self, pattern: Pattern) -> Float[np.ndarray, " output"]:
        """A set as ones among zeros."""
        found = self._spread.get(pattern)
        if found is None:
            found = self._spread[pattern] = np.zeros(self.outputs)
            found[list_outputs(pattern)] = 1.0
        return found

    def cover(self, pattern: Pattern, patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """Sets within a set, each adding at least two outputs, the one that adds most first."""
        within = tuple(sorted(p for p in patterns if p != pattern and p & ~pattern == 0))
        known = self._covers.get((pattern, within))
        if known is None:
            chosen: list[Pattern] = []
            left = pattern
            while within:
                best = max(within, key=lambda p: ((p & left).bit_count(), -p.bit_count(), p))
                if (best & left).bit_count() < FEWEST_OUTPUTS:
                    break
                chosen.append(best)
                left &= ~best
            known = self._covers[pattern, within] = tuple(chosen)
        return known

    def value(self, patterns: Sequence[Pattern]) -> float:
        """The evidence that a graph keeps, less the price of its edges."""
        key = frozenset(patterns)
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = self._find_value(patterns)
        return known

    def _find_value(self, patterns: Sequence[Pattern]) -> float:
        gain, chosen = self.attach(patterns)
        total = float(gain.sum())
        own = {patterns[k] for latents in chosen for k in latents}
        reached = set(own)
        for pattern in sorted(patterns, key=lambda p: -p.bit_count()):
            if pattern not in reached:
                total -= 1e-3  # of no use; a graph without it is the better one
                continue
            below = self.cover(pattern, patterns)
            reached.update(below)
            direct = pattern & ~unite(below)
            edges = len(below) + direct.bit_count()
            total -= self.price * (edges + (LATENT if pattern in own else ORPHAN))
            total += self.discount(direct)
        return total

    def discount(self, direct: Pattern) -> float:
        """How much cheaper the edges from one latent to these outputs are than their price."""
        return 0.0


def list_outputs(pattern: Pattern) -> list[int]:
    """The numbers of the outputs in a set.

    Example:
        >>> list_outputs(0b1011)
        [0, 1, 3]
    """
    return [place for place in range(pattern.bit_length()) if pattern >> place & 1]


def unite(patterns: Iterable[Pattern]) -> Pattern:
    """All outputs of several sets."""
    whole = 0
    for pattern in patterns:
        whole |= pattern
    return whole
