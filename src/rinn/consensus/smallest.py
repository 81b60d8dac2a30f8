"""The smallest latent graph that keeps the likely effects.

A graph is known by the sets of outputs that its latents reach; sets are written as the bits of a
whole number. Every edge has a price, so that a latent is worth what it saves: k inputs with the
same c outputs cost k c edges without it and k + c with it (assumptions A8 and A10 of the paper).
What an input reaches through its latents is credited with the evidence for it, or against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.consensus.board import FEWEST_OUTPUTS, LATENT, Board, Pattern, list_outputs, unite
from rinn.consensus.evidence import find_noise, pool_effects, weigh_effects
from rinn.consensus.informed import open_board, propose_together
from rinn.consensus.prior import Prior

LEAST_PRICE = 2.0
NEIGHBOURS = 5
ALIKE = 0.3  # least cosine between the evidence of inputs that are tried together
MOST_PAIRED = 80  # inputs whose sets are intersected with each other
ROUNDS = 80
SWEEPS = 5
POOLINGS = 3
AGAINST = -3.0  # log odds
MOST_TRIED = 60  # additions whose worth is found exactly at each step
MOST_SPLIT = 15  # with more latents, sets are split by one another only where the evidence asks
MANY_PAIRS = 4000  # of inputs and outputs: beyond, clear effects divide the table
HOPEFUL = 1.5  # in prices: inputs with less evidence in all are left out


@dataclass(frozen=True)
class Found:
    """A graph: its latents from causes to effects, and how they are joined.

    `parents[i]` are the latents that input i acts on, `children[k]` the latents below latent k and
    `direct[k]` the outputs that it acts on itself.
    """

    latents: tuple[Pattern, ...]
    parents: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]
    direct: tuple[tuple[int, ...], ...]


def find_smallest(
    effects: Float[np.ndarray, "input output"],
    start: Sequence[Pattern] = (),
    noise: float | None = None,
    prior: Prior | None = None,
) -> Found:
    """Search for the graph with the best balance of evidence and number of edges.

    First each input's evidence counts by itself, then inputs that turned out to act on the same
    latents have theirs weighed together, which shows effects too weak for any one of them.

    Args:
        effects: in units of their sampling error, with their signs.
        start: latents to mend, in place of a search from none.
        noise: the size of effects that are none; found from the effects by default.
        prior: what is known of these inputs and outputs beside the effects.

    Returns:
        The graph; latents that no input reaches are left out.

    Example:
        >>> strong = np.array([[9.0, 8.0, 7.0, 0.1], [8.0, 9.0, 9.0, 0.3]])
        >>> find_smallest(strong).latents, find_smallest(strong).parents
        ((7,), ((0,), (0,)))
    """
    noise = find_noise(effects) if noise is None else noise
    price = _find_price(effects)
    own = weigh_effects(effects, noise)
    shared, found = own.copy(), set()
    known, company = (own, 0.0) if prior is None else (prior.add(own), prior.company)
    for rows, columns in _find_parts(known, price, company):
        within = [_project(pattern, columns) for pattern in start]
        within = [pattern for pattern in within if pattern.bit_count() >= FEWEST_OUTPUTS]
        part = np.ix_(rows, columns)
        some = prior and prior.take(rows, columns)
        shared[part], patterns = _search(own[part], effects[part], noise, price, within, some)
        found |= {sum(1 << int(columns[o]) for o in list_outputs(p)) for p in patterns}
    return join(open_board(shared, price, prior), sorted(found))


def join_latents(
    effects: Float[np.ndarray, "input output"],
    patterns: Sequence[Pattern],
    prior: Prior | None = None,
) -> Found:
    """Join given latents with inputs, outputs and each other.

    Args:
        effects: in units of their sampling error, with their signs.
        patterns: the outputs of each latent.
        prior: what is known of these inputs and outputs beside the effects.

    Returns:
        The graph; latents that no input reaches are left out.

    Example:
        >>> join_latents(np.array([[9.0, 8.0, 0.1], [0.1, 0.2, 9.0]]), [0b011]).parents
        ((0,), ())
    """
    noise = find_noise(effects)
    own = weigh_effects(effects, noise)
    alone = open_board(own, _find_price(effects), prior)
    shared = _share(own, effects, noise, alone.attach(patterns)[1])[0]
    return join(open_board(shared, alone.price, prior), patterns)


def _find_price(effects: Float[np.ndarray, "input output"]) -> float:
    """What an edge costs, in log odds."""
    return max(LEAST_PRICE, 0.5 * float(np.log(max(effects.size, 1))))


def _find_parts(
    evidence: Float[np.ndarray, "input output"],
    price: float,
    company: Float[np.ndarray, " input"] | float = 0.0,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs and outputs that are searched together.

    In a large table those that clear effects join; what has none is left out. A small one is
    searched as a whole, but for inputs that have no evidence to pay with.
    """
    hopeful = np.maximum(evidence, 0).sum(axis=1) + company > HOPEFUL * price
    if evidence.size <= MANY_PAIRS:
        return [(np.flatnonzero(hopeful), np.arange(evidence.shape[1]))]
    clear = np.argwhere((evidence > price) & hopeful[:, None])
    joined = nx.Graph(((0, int(i)), (1, int(o))) for i, o in clear)
    parts = []
    for nodes in nx.connected_components(joined):
        sides = [np.array(sorted(n for side, n in nodes if side == s), int) for s in (0, 1)]
        if len(sides[1]) >= FEWEST_OUTPUTS:
            parts.append((sides[0], sides[1]))
    return sorted(parts, key=lambda part: part[0].tolist())


def _project(pattern: Pattern, columns: np.ndarray) -> Pattern:
    """The part of a set that lies in some columns, as a set of their places."""
    return sum(1 << place for place, o in enumerate(columns) if pattern >> int(o) & 1)


def _search(
    own: Float[np.ndarray, "input output"],
    effects: Float[np.ndarray, "input output"],
    noise: float,
    price: float,
    start: Sequence[Pattern],
    prior: Prior | None,
) -> tuple[Float[np.ndarray, "input output"], tuple[Pattern, ...]]:
    """Search among some inputs and outputs: the evidence as it was pooled, and the latents."""
    alone = open_board(own, price, prior)
    if start:
        shared = _share(own, effects, noise, alone.attach(start)[1])[0]
        return shared, _change_each(open_board(shared, price, prior), tuple(start))
    candidates = _propose(alone.evidence, price)
    if prior is not None:
        candidates |= propose_together(effects, noise, prior)
    shared, patterns = own, _climb(alone, candidates)
    for _ in range(POOLINGS):
        shared, more = _share(own, effects, noise, alone.attach(patterns)[1])
        before = set(patterns)
        patterns = _climb(open_board(shared, price, prior), candidates | more, patterns)
        if set(patterns) == before:
            break
    return shared, patterns


def join(board: Board, patterns: Sequence[Pattern]) -> Found:
    """Join the latents that inputs reach, in causal order: a set comes before those within it."""
    patterns = sorted(patterns, key=lambda p: (-p.bit_count(), list_outputs(p)))
    chosen = board.attach(patterns)[1]
    reached = {patterns[k] for latents in chosen for k in latents}
    for pattern in patterns:
        if pattern in reached:
            reached.update(board.cover(pattern, patterns))
    kept = [pattern for pattern in patterns if pattern in reached]
    place = {pattern: k for k, pattern in enumerate(kept)}
    covers = [board.cover(pattern, kept) for pattern in kept]
    return Found(
        latents=tuple(kept),
        parents=tuple(tuple(sorted(place[patterns[k]] for k in own)) for own in chosen),
        children=tuple(tuple(sorted(place[p] for p in below)) for below in covers),
        direct=tuple(
            tuple(list_outputs(pattern & ~unite(below)))
            for pattern, below in zip(kept, covers, strict=True)
        ),
    )


def _as_pattern(shown: np.ndarray) -> Pattern:
    return sum(1 << int(place) for place in np.flatnonzero(shown))


def _propose(evidence: Float[np.ndarray, "input output"], price: float) -> set[Pattern]:
    """Sets that latents may have: those of inputs, alone and with the inputs most like them."""
    shown = evidence > 0
    worth = np.maximum(evidence, 0).sum(axis=1) - price * shown.sum(axis=1)
    strong = [int(i) for i in np.argsort(-worth, kind="stable") if shown[i].any()]
    strong = [i for i in strong if worth[i] > 0][:MOST_PAIRED] or strong[:MOST_PAIRED]
    own = {_as_pattern(shown[i]) for i in strong}
    found = own | {one & other for one, other in combinations(own, 2)}
    some = np.maximum(evidence[strong], -5.0)
    some = some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-9)
    alike = some @ some.T
    for row, i in enumerate(strong):
        total = evidence[i].copy()
        near = [int(j) for j in np.argsort(-alike[row], kind="stable") if j != row]
        for j in near[:NEIGHBOURS]:
            if alike[row, j] < ALIKE:
                break
            total = total + evidence[strong[j]]
            found.add(_as_pattern(total > 0))
    return {pattern for pattern in found if pattern.bit_count() >= FEWEST_OUTPUTS}


def _share(
    own: Float[np.ndarray, "input output"],
    effects: Float[np.ndarray, "input output"],
    noise: float,
    chosen: Sequence[tuple[int, ...]],
) -> tuple[Float[np.ndarray, "input output"], set[Pattern]]:
    """Weigh inputs that act on the same latents together; and the sets that this shows."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, latents in enumerate(chosen):
        if latents:
            groups.setdefault(tuple(sorted(latents)), []).append(i)
    shared, shown = own.copy(), set()
    for members in groups.values():
        together = pool_effects(effects[members], noise)
        shown.add(_as_pattern(together > 0))
        # Where all are clearly against, the pooled evidence, which has a floor, would say less.
        better = (together > own[members].sum(axis=0)) & (own[members].max(axis=0) > AGAINST)
        shared[members] = np.where(better, together / len(members), own[members])
    shown |= {one & other for one, other in combinations(shown, 2)}
    return shared, {pattern for pattern in shown if pattern.bit_count() >= FEWEST_OUTPUTS}


def _climb(
    board: Board, candidates: set[Pattern], patterns: Sequence[Pattern] = ()
) -> tuple[Pattern, ...]:
    """Add latents while one more is worth it; then change each in turn, until none changes."""
    now = tuple(patterns)
    for _ in range(ROUNDS):
        after = _take_best(board, now, _list_additions(board, now, candidates))
        if after == now:
            break
        now = after
    for _ in range(SWEEPS):
        before = now
        now = _change_each(board, now)
        now = _take_best(board, now, _list_additions(board, now, candidates))
        if now == before:
            break
    return now


def _change_each(board: Board, now: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    for pattern in now:
        if pattern in now:
            now = _take_best(board, now, _list_changes(board, now, pattern))
    return now


def _take_best(
    board: Board, now: tuple[Pattern, ...], steps: Sequence[tuple[Pattern, ...]]
) -> tuple[Pattern, ...]:
    best = max(steps, key=board.value, default=now)
    return best if board.value(best) > board.value(now) + 1e-6 else now


def _list_additions(
    board: Board, now: tuple[Pattern, ...], candidates: set[Pattern]
) -> list[tuple[Pattern, ...]]:
    """One latent more: of many candidates those that promise most."""
    pairs = list(combinations(now, 2))
    new = candidates | {p & q for p, q in pairs} | {p & ~q for p, q in pairs}
    new |= {q & ~p for p, q in pairs}
    fresh = sorted(p for p in new - {*now} if p.bit_count() >= FEWEST_OUTPUTS)
    if len(fresh) > MOST_TRIED:
        promise = _promise(board, now, fresh)
        best = np.argsort(-promise, kind="stable")[:MOST_TRIED]
        fresh = [fresh[place] for place in best if promise[place] > 0]
    return [(*now, pattern) for pattern in fresh]


def _promise(
    board: Board, now: tuple[Pattern, ...], fresh: Sequence[Pattern]
) -> Float[np.ndarray, " pattern"]:
    """At most so much does a new latent bring: to inputs, and to latents that it saves edges."""
    gain = board.attach(now)[0]
    worth = np.stack([board.worth(pattern) for pattern in fresh])  # [pattern, input]
    found = np.maximum(worth - board.price - gain, 0.0).sum(axis=1)
    shown = np.stack([board.spread_out(pattern) for pattern in fresh])  # [pattern, output]
    for pattern in now:
        left = board.spread_out(pattern & ~unite(board.cover(pattern, now)))
        within = shown @ (1 - board.spread_out(pattern)) == 0
        found += board.price * np.where(within, np.maximum(shown @ left - 1, 0), 0)
        # The new latent may have this one as a child, and save the edges to what it reaches.
        inside = shown @ board.spread_out(pattern) == pattern.bit_count()
        found += board.price * np.where(inside, pattern.bit_count() - 1, 0)
    return np.asarray(found - board.price * (shown.sum(axis=1) + LATENT))


def _list_changes(
    board: Board, now: tuple[Pattern, ...], pattern: Pattern
) -> list[tuple[Pattern, ...]]:
    """A latent less, or another set for it, where the evidence is not clear."""
    place = now.index(pattern)
    rest = now[:place] + now[place + 1 :]
    members = [i for i, latents in enumerate(board.attach(now)[1]) if place in latents]
    evidence = board.evidence[members].sum(axis=0)  # [output]
    changed = {
        pattern ^ 1 << output
        for output in range(board.outputs)
        if (evidence[output] < board.price) == bool(pattern >> output & 1)
        or abs(evidence[output]) < board.price
    }
    changed |= {
        pattern | other
        for other in rest
        if len(now) <= MOST_SPLIT or evidence[list_outputs(other & ~pattern)].sum() > 0
    }
    if len(now) <= MOST_SPLIT:
        changed |= {pattern & ~other for other in rest}
    fresh = sorted(p for p in changed - {*now} if p.bit_count() >= FEWEST_OUTPUTS)
    return [rest, *((*rest[:place], p, *rest[place:]) for p in fresh)]
