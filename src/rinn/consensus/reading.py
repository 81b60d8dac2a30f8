"""One graph from many networks: every latent and edge with the share of searches that found it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.consensus.board import list_outputs
from rinn.consensus.effects import Effects
from rinn.consensus.evidence import find_noise
from rinn.consensus.prior import Prior
from rinn.consensus.smallest import MANY_PAIRS, Found, Pattern, find_smallest, join_latents
from rinn.graph import LatentGraph
from rinn.graphs import name_latents

SHAKES = 16
LINE = 0.6  # found less often than this, a latent or an edge from an input is not drawn
DIFFERENCE = 5  # one of so many outputs may differ between searches of the same latent
MANY = 16  # outputs: with more, and few samples, the edge of a latent's set is never the same
MOST_DIFFERENCE = 3  # one of so many may differ then, if the latent's effects are no chance
LEVEL = 0.01  # of the test that a latent's effects are no chance, for all inputs together
INPUT_LEVEL = 0.05  # of the same test for each further input of a latent
OVERLAP = 0.5

Edge = tuple[str, str]


@dataclass(frozen=True)
class Reading:
    """A graph, and what the searches behind it found.

    `patterns` are the outputs of each latent by its name, the drawn ones first; `paths` the share
    of repeated searches in which one node leads to another.
    """

    latent: LatentGraph
    patterns: dict[str, Pattern]
    paths: dict[Edge, float]


def read_consensus(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    prior: Prior | None = None,
) -> LatentGraph:
    """Read one graph out of the effects of several networks.

    The smallest graph is searched for once with the effects as they are, and sixteen times with
    networks drawn anew, with replacement, and effects shaken by their sampling error. A latent's
    frequency is the share of these searches that find it, with one output more or less, or a
    fifth of them, but not more than three; an edge's the share in which its source leads to its
    target, by itself or through other latents. Latents that less than three in five searches find
    are not drawn, and the others are joined anew; nor are edges from inputs that less than three in
    five find. Where the samples are at hand, a latent is drawn only if one of the inputs above it
    passes a test against chance at the level 0.01 / number of inputs, and another input acts on it
    only if it passes at 0.05 (`SupportTest`); an input is not tested where the prior speaks for it.

    Of a latent with more than sixteen outputs a third may differ, if inputs that act on it pass a
    test against chance (`SupportTest`); its edges from other inputs, and to outputs that less
    than three in five searches find, are not drawn.

    Args:
        effects: of the networks.
        inputs: names.
        outputs: names.
        seed: of the shaking.
        prior: what is known of these inputs and outputs; it takes part in every search.

    Returns:
        The graph; latents and edges have `frequency`. What they do, and with which sign, is known
        once the graph has a network of its own (`refit_graph`).

    Example:
        >>> strong = np.array([[9.0, 8.0, 9.0, 0.1], [8.0, 9.0, 9.0, 0.3]])
        >>> effects = Effects(strong, strong[None], np.ones(4), (0,))
        >>> found = read_consensus(effects, ["a", "b"], ["w", "x", "y", "z"])
        >>> sorted(found.graph.edges("L1")), found.graph.edges["a", "L1"]["frequency"]
        ([('L1', 'w'), ('L1', 'x'), ('L1', 'y')], 1.0)
    """
    return read_searches(effects, inputs, outputs, seed, prior).latent


def read_searches(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    seed: int = 0,
    prior: Prior | None = None,
) -> Reading:
    """Do what `read_consensus` does, and keep what the searches found."""
    noise = find_noise(effects.all)
    first = find_smallest(effects.all, noise=noise, prior=prior)
    # A large graph is only mended as the evidence is shaken: to build it anew takes minutes.
    start = first.latents if effects.all.size > MANY_PAIRS else ()
    shaken = [find_smallest(shaken, start, noise, prior) for shaken in _shake(effects, seed)]
    matches = [match_latents(first.latents, found.latents) for found in shaken]
    share = _count_shares(first, shaken, matches)
    large = _test_large(first, effects, [p for p in first.latents if share[p] < LINE])
    if large:
        matches = [
            _match_more(match, large, found) for match, found in zip(matches, shaken, strict=True)
        ]
        share = _count_shares(first, shaken, matches)
    drawn = [pattern for pattern in first.latents if share[pattern] >= LINE]
    drawn = _keep_supported(effects, drawn, prior)
    others = [pattern for pattern in share if pattern not in set(drawn)]
    others.sort(key=lambda pattern: (-share[pattern], pattern))
    names = _name(drawn, others, {*inputs, *outputs})
    paths: Counter[Edge] = Counter()
    direct: set[Edge] = set()
    for found, match in zip(shaken, matches, strict=True):
        own = {pattern: names[match.get(pattern, pattern)] for pattern in found.latents}
        edges = set(_list_edges(found, own, inputs, outputs))
        direct |= edges
        paths.update(set(_list_paths(edges)))
    joined = _drop_chance(join_latents(effects.all, drawn, prior), effects, prior)
    main = set(_list_edges(joined, names, inputs, outputs))
    doubtful = _start(inputs, outputs)
    for pattern in [*drawn, *others]:
        doubtful.add_node(names[pattern], role="latent", frequency=share[pattern])
    for edge in sorted(main | direct):
        doubtful.add_edge(*edge, frequency=paths[edge] / SHAKES)
    chosen = _choose(main, paths, {names[p]: large[p] for p in large}, inputs, outputs)
    graph = _draw(doubtful, chosen, [names[pattern] for pattern in drawn], inputs, outputs)
    shares = {edge: count / SHAKES for edge, count in paths.items()}
    return Reading(LatentGraph(graph, doubtful), {names[p]: p for p in [*drawn, *others]}, shares)


def _shake(effects: Effects, seed: int) -> Iterator[Float[np.ndarray, "input output"]]:
    """Effects as other networks and other samples might have given them."""
    rng = np.random.default_rng([seed, 29])
    splits = np.array(effects.splits)
    rows = [np.flatnonzero(splits == split) for split in np.unique(splits)]
    centre = effects.each.mean(axis=0)
    for _ in range(SHAKES):
        drawn = np.concatenate([rng.choice(row, len(row)) for row in rows])
        moved = effects.each[drawn].mean(axis=0) - centre
        yield effects.all + moved + rng.standard_normal(effects.all.shape)


def _count_shares(
    first: Found, shaken: Sequence[Found], matches: Sequence[dict[Pattern, Pattern]]
) -> dict[Pattern, float]:
    """The share of searches that find each latent."""
    counts: Counter[Pattern] = Counter()
    for found, match in zip(shaken, matches, strict=True):
        counts.update({match.get(pattern, pattern) for pattern in found.latents})
    return {pattern: counts[pattern] / SHAKES for pattern in {*first.latents, *counts}}


def _keep_supported(
    effects: Effects, latents: Sequence[Pattern], prior: Prior | None
) -> list[Pattern]:
    """Latents with an input above them whose effects are more than chance."""
    if effects.test is None:
        return list(latents)
    level, kept = LEVEL / max(len(effects.all), 1), list(latents)
    while kept:
        found = join_latents(effects.all, kept, prior)
        passed = {
            pattern
            for pattern, above in zip(found.latents, _list_inputs_above(found), strict=True)
            if any(
                _is_supported(effects, row, pattern, level, prior)
                for row in _sort_by_strength(effects, above, pattern)
            )
        }
        if len(passed) == len(kept):
            break
        kept = [pattern for pattern in kept if pattern in passed]
    return kept


def _drop_chance(found: Found, effects: Effects, prior: Prior | None) -> Found:
    """The graph without edges from inputs whose effects below them may be chance."""
    parents = tuple(
        tuple(
            k for k in latents if _is_supported(effects, row, found.latents[k], INPUT_LEVEL, prior)
        )
        for row, latents in enumerate(found.parents)
    )
    return replace(found, parents=parents)


def _is_supported(
    effects: Effects, row: int, pattern: Pattern, level: float, prior: Prior | None
) -> bool:
    outputs = list_outputs(pattern)
    if effects.test is None or (prior is not None and prior.speaks_for(row, outputs)):
        return True
    return effects.test.find_p(row, outputs, level) <= level


def _list_inputs_above(found: Found) -> list[set[int]]:
    """The inputs that reach each latent, by themselves or through other latents."""
    above: list[set[int]] = [set() for _ in found.latents]
    for row, latents in enumerate(found.parents):
        for k in latents:
            above[k].add(row)
    for k, below in enumerate(found.children):  # causes come before effects
        for child in below:
            above[child] |= above[k]
    return above


def _sort_by_strength(effects: Effects, rows: set[int], pattern: Pattern) -> list[int]:
    outputs = list_outputs(pattern)
    return sorted(rows, key=lambda row: (-float((effects.all[row, outputs] ** 2).sum()), row))


def _test_large(
    first: Found, effects: Effects, doubtful: Sequence[Pattern]
) -> dict[Pattern, frozenset[int]]:
    """Large latents whose effects are no chance, with the inputs of which that is so."""
    if effects.test is None:
        return {}
    level, passed = LEVEL / max(len(effects.all), 1), {}
    for place, pattern in enumerate(first.latents):
        if pattern not in doubtful or pattern.bit_count() <= MANY:
            continue
        outputs = list_outputs(pattern)
        own = [row for row, latents in enumerate(first.parents) if place in latents]
        good = frozenset(row for row in own if effects.test.find_p(row, outputs, level) <= level)
        if good:
            passed[pattern] = good
    return passed


def _match_more(
    match: dict[Pattern, Pattern], large: Iterable[Pattern], found: Found
) -> dict[Pattern, Pattern]:
    """Match large latents with what is left of a search's, less strictly."""
    taken = set(match.values())
    known = [pattern for pattern in large if pattern not in taken]
    left = [pattern for pattern in found.latents if pattern not in match]
    return match | match_latents(known, left, tested=True)


def _choose(
    edges: Iterable[Edge],
    paths: Counter[Edge],
    large: dict[str, frozenset[int]],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> list[Edge]:
    """The edges to draw: those from inputs, and those of large latents, must be found often."""
    row, ends = {name: place for place, name in enumerate(inputs)}, set(outputs)
    chosen = []
    for source, target in edges:
        seldom = paths[source, target] < LINE * SHAKES
        chance = source in row and target in large and row[source] not in large[target]
        unsure = source in row or (source in large and target in ends)
        if not chance and not (unsure and seldom):
            chosen.append((source, target))
    return chosen


def match_latents(
    known: Sequence[Pattern], found: Sequence[Pattern], *, tested: bool = False
) -> dict[Pattern, Pattern]:
    """Which known latent each found one is: the nearest, each once.

    Args:
        known: outputs of latents.
        found: outputs of others.
        tested: whether the effects of the known ones are no chance. Otherwise a set of nearly all
            outputs would be found again by chance, as any two such sets are alike.

    Returns:
        From found ones to known ones; those without a partner are missing.

    Example:
        >>> match_latents([0b111, 0b11111000], [0b1111, 0b11100000])
        {15: 7}
    """
    pairs = []
    for place, one in enumerate(known):
        for other in found:
            differ, both = (one ^ other).bit_count(), (one | other).bit_count()
            alike = (one & other).bit_count() >= OVERLAP * both
            most = both // MOST_DIFFERENCE if tested else max(1, min(both, MANY) // DIFFERENCE)
            if alike and differ <= most:
                pairs.append((differ, place, other))
    pairs.sort()
    taken: set[int] = set()
    matched: dict[Pattern, Pattern] = {}
    for _, place, other in pairs:
        if place not in taken and other not in matched:
            taken.add(place)
            matched[other] = known[place]
    return matched


def _name(
    drawn: Sequence[Pattern], others: Sequence[Pattern], taken: set[str]
) -> dict[Pattern, str]:
    names = dict(zip(drawn, name_latents(len(drawn), taken), strict=True))
    unsure = name_latents(len(others), taken | {name.replace("L", "U") for name in taken}, "U")
    return names | dict(zip(others, unsure, strict=True))


def _list_edges(
    found: Found, names: dict[Pattern, str], inputs: Sequence[str], outputs: Sequence[str]
) -> Iterator[Edge]:
    own = [names[pattern] for pattern in found.latents]
    for name, latents in zip(inputs, found.parents, strict=True):
        yield from ((name, own[k]) for k in latents)
    for k, name in enumerate(own):
        yield from ((name, own[child]) for child in found.children[k])
        yield from ((name, outputs[o]) for o in found.direct[k])


def _list_paths(edges: set[Edge]) -> Iterator[Edge]:
    """From where to where the edges of one search lead."""
    whole = nx.DiGraph(sorted(edges))
    for node in whole:
        yield from ((node, reached) for reached in nx.descendants(whole, node))


def _start(inputs: Sequence[str], outputs: Sequence[str]) -> nx.DiGraph:
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((name, {"role": "input"}) for name in inputs)
    graph.add_nodes_from((name, {"role": "output"}) for name in outputs)
    return graph


def _draw(
    doubtful: nx.DiGraph,
    edges: Sequence[Edge],
    latents: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> nx.DiGraph:
    """The part of a graph that lies between inputs and outputs along these edges."""
    whole = doubtful.edge_subgraph(edges)
    down = {node for i in inputs if i in whole for node in nx.descendants(whole, i)}
    up = {node for o in outputs if o in whole for node in nx.ancestors(whole, o)}
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((name, {"role": "input"}) for name in inputs)
    graph.add_nodes_from((n, dict(doubtful.nodes[n])) for n in latents if n in down and n in up)
    graph.add_nodes_from((name, {"role": "output"}) for name in outputs)
    for source in list(graph):
        for target in sorted(target for start, target in edges if start == source):
            if target in graph:
                graph.add_edge(source, target, **doubtful.edges[source, target])
    return graph
