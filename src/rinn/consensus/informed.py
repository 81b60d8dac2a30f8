"""What sets of outputs are worth where something is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from rinn.consensus.board import FEWEST_OUTPUTS, Board, Pattern, list_outputs
from rinn.consensus.evidence import pool_effects
from rinn.consensus.prior import Prior

HALF = 0.5  # each of two edges has its half of what company is worth
PASSES = 4  # until inputs that seek each other's company have settled
CHEAPEST = 0.5  # of an edge to an output that company has made cheaper
PARTNERS = 5

Worth = Float[np.ndarray, "latent input"]


def open_board(
    evidence: Float[np.ndarray, "input output"], price: float, prior: Prior | None
) -> Board:
    """Make the board of some evidence, with what is known beside it.

    Args:
        evidence: log odds by the data alone.
        price: of an edge.
        prior: of the same inputs and outputs, or None.

    Returns:
        The board; without a prior the plain one.

    Example:
        >>> open_board(np.array([[9.0, 8.0]]), 2.0, None).attach([0b11])[1]
        [(0,)]
    """
    return Board(evidence, price) if prior is None else InformedBoard(evidence, price, prior)


class InformedBoard(Board):
    """A board that knows more than the data.

    Log odds are added to the evidence. An input takes no latent outside its levels. The edge to a
    latent is cheaper for an input that finds a partner there, once for each input whatever the
    number of latents and partners; it is dearer for the weaker of two that are said to keep apart.
    """

    def __init__(
        self, evidence: Float[np.ndarray, "input output"], price: float, prior: Prior
    ) -> None:
        super().__init__(prior.add(evidence), price)
        self._prior = prior
        self._liked = HALF * np.maximum(prior.inputs_alike, 0.0)
        self._shunned = np.minimum(prior.inputs_alike, 0.0)  # which one of the two pays
        self._company = prior.company
        self._is_shy = bool(self._shunned.any())
        self._is_social = bool(prior.inputs_alike.any())

    def attach(
        self, patterns: Sequence[Pattern]
    ) -> tuple[Float[np.ndarray, " input"], list[tuple[int, ...]]]:
        """Let each input act on the latents that its evidence and what is known pay for."""
        count = len(self.evidence)
        if not patterns or not count:
            return np.zeros(count), [()] * count
        worth = np.stack([self.worth(pattern) for pattern in patterns])  # [latent, input]
        worth = np.where(self._find_allowed(patterns), worth, -np.inf)
        none = np.zeros_like(worth)
        if not self._is_social:
            return self._choose(patterns, worth, none, none)
        # From the most company that there could be: what does not hold together falls apart.
        members = worth + self._company > self.price
        for _ in range(PASSES):
            gain, chosen = self._choose(patterns, worth, *self._judge(worth, members))
            before, members = members, _mark(chosen, len(patterns))
            if (before == members).all():
                break
        return gain, chosen

    def discount(self, direct: Pattern) -> float:
        """How much cheaper the edges from one latent to these outputs are by their company."""
        alike = self._prior.outputs_alike
        if direct.bit_count() < FEWEST_OUTPUTS or not alike.any():
            return 0.0
        places = list_outputs(direct)
        among = HALF * alike[np.ix_(places, places)]
        most = CHEAPEST * self.price
        better = np.clip(among.max(axis=1), 0.0, most)
        worse = np.clip(among.min(axis=1), -most, 0.0)
        return float((better + worse).sum())

    def find_levels(self, patterns: Sequence[Pattern]) -> list[int]:
        """The level of each latent, counted from the outputs."""
        level: dict[Pattern, int] = {}
        for pattern in sorted(patterns, key=lambda p: (p.bit_count(), p)):
            below = self.cover(pattern, patterns)
            level[pattern] = 1 + max((level[child] for child in below), default=0)
        return [level[pattern] for pattern in patterns]

    def _find_allowed(self, patterns: Sequence[Pattern]) -> Bool[np.ndarray, "latent input"]:
        shape = len(patterns), len(self.evidence)
        if not self._prior.has_levels:
            return np.ones(shape, bool)
        levels = np.array(self.find_levels(patterns))[:, None]
        return np.asarray((levels >= self._prior.lowest) & (levels <= self._prior.highest))

    def _judge(self, worth: Worth, members: np.ndarray) -> tuple[Worth, Worth]:
        """What company is worth to each input at each latent, and what it costs."""
        bonus, malus = np.zeros_like(worth), np.zeros_like(worth)
        for k, there in enumerate(members):
            who = np.flatnonzero(there)
            if not len(who):
                continue
            bonus[k] = self._liked[:, who].max(axis=1)
            if not self._is_shy:
                continue
            # Of two that keep apart the one with more evidence has the latent for itself.
            rank = np.lexsort((np.arange(len(there)), -worth[k])).argsort()
            stronger = rank[who][None, :] < rank[:, None]  # [input, member]
            malus[k] = np.where(stronger, self._shunned[:, who], 0.0).min(axis=1)
        return bonus, malus

    def _choose(
        self, patterns: Sequence[Pattern], worth: Worth, bonus: Worth, malus: Worth
    ) -> tuple[Float[np.ndarray, " input"], list[tuple[int, ...]]]:
        each = np.arange(worth.shape[1])
        total = worth + bonus + malus
        first = total.argmax(axis=0)
        gain = np.maximum(total[first, each] - self.price, 0.0)
        chosen: list[tuple[int, ...]] = [
            (best,) if paid else () for best, paid in zip(first.tolist(), gain > 0, strict=True)
        ]
        hoped = np.stack([self._hoped[pattern] for pattern in patterns])[first, each]
        hoped = hoped + bonus.max(axis=0) - bonus[first, each]
        hopeful = np.flatnonzero((gain > 0) & (hoped > self.price))
        for best in np.unique(first[hopeful]).tolist():
            some = hopeful[first[hopeful] == best]
            new = np.stack([self.worth(p & ~patterns[best])[some] for p in patterns])
            new += np.maximum(bonus[:, some] - bonus[best, some], 0.0)
            for i in some[new.max(axis=0) > self.price].tolist():
                allowed = np.isfinite(worth[:, i])
                more, others = self._add_more(i, patterns, best, allowed, bonus[:, i], malus[:, i])
                gain[i] += more
                chosen[i] += others
        return gain, chosen

    def _add_more(
        self,
        i: int,
        patterns: Sequence[Pattern],
        first: int,
        allowed: np.ndarray,
        bonus: np.ndarray,
        malus: np.ndarray,
    ) -> tuple[float, tuple[int, ...]]:
        """Further latents for one input, each for outputs or company that it does not have yet."""
        covered, had, total = patterns[first], bonus[first], 0.0
        added: list[int] = []
        while True:
            new = np.array([self.worth(p & ~covered)[i] for p in patterns])
            gains = new + np.maximum(bonus - had, 0.0) + malus - self.price
            gains = np.where(allowed, gains, -np.inf)
            gains[[first, *added]] = -np.inf
            best = int(gains.argmax())
            if gains[best] <= 0:
                return total, tuple(added)
            total += float(gains[best])
            added.append(best)
            covered |= patterns[best]
            had = max(had, bonus[best])


def propose_together(
    effects: Float[np.ndarray, "input output"], noise: float, prior: Prior
) -> set[Pattern]:
    """Sets that latents may have: those of inputs that are said to share one, weighed together.

    Args:
        effects: in units of their sampling error, with their signs.
        noise: see `find_noise`.
        prior: what is known.

    Returns:
        Sets of at least two outputs.

    Example:
        >>> from rinn.consensus.prior import make_prior
        >>> prior = make_prior(2, 3)
        >>> prior.inputs_alike[[0, 1], [1, 0]] = 1.0
        >>> weak = np.array([[2.0, 1.6, 0.1], [1.6, 2.0, 0.2]])
        >>> propose_together(weak, 1.0, prior)
        {3}
    """
    found: set[Pattern] = set()
    scaled = effects / np.maximum(np.linalg.norm(effects, axis=1, keepdims=True), 1e-9)
    for i, row in enumerate(prior.inputs_alike):
        partners = np.flatnonzero(row > 0)
        if not len(partners):
            continue
        likeness = row[partners] + np.abs(scaled[partners] @ scaled[i])
        near = partners[np.argsort(-likeness, kind="stable")][:PARTNERS]
        for count in range(1, len(near) + 1):
            members = np.sort([i, *near[:count]])
            pooled = pool_effects(effects[members], noise)[None]
            # What is known of any of them counts for the latent that they share.
            own = prior.take(members, np.arange(effects.shape[1]))
            known = own.add(np.repeat(pooled, len(members), axis=0) / len(members)).sum(axis=0)
            found.add(sum(1 << int(o) for o in np.flatnonzero(known > 0)))
    return {pattern for pattern in found if pattern.bit_count() >= FEWEST_OUTPUTS}


def _mark(chosen: Sequence[tuple[int, ...]], latents: int) -> Bool[np.ndarray, "latent input"]:
    members = np.zeros((latents, len(chosen)), bool)
    places = [(k, i) for i, own in enumerate(chosen) for k in own]
    if places:
        members[tuple(np.array(places).T)] = True
    return members
