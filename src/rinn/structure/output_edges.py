"""Outputs that cause outputs: edges from a latent or input that another output takes over.

If output a is the cause of b, the inputs that act on b through a have no effect on b once a is held
fixed, but still have one on a with b fixed (Wilks' lambda, see `output_causes.py`); nor does b then
share noise with the other outputs of these inputs. A latent above a, b and c leaves

    a fraction  1 - R  of its effect on b, and of the covariance of b and c,  R = w² v / (w² v + d),

where d is the noise of a, v that of the latent and w its weight on a. Little noise v leaves most
of the effect; with much noise the covariance that is left is large against its sampling error. So
the two tests together tell an output from a latent, unless the output follows the latent closely.
With two outputs there is no c: both graphs explain the same, and no edge is added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import networkx as nx
import numpy as np
from jaxtyping import Float
from scipy import optimize, stats

from rinn.config import Stream
from rinn.graphs.basics import by_role, name_latents
from rinn.structure import constants as c
from rinn.structure.output_causes import (
    LambdaTest,
    OutputRegression,
    find_columns,
    regress_outputs,
)
from rinn.structure.records import GraphSettings, LatentGraph
from rinn.structure.regression import Sample

SUPPORT = "effects"  # what pays for these edges

Edge = tuple[str, str]


@dataclass(frozen=True)
class Pair:
    """Output `cause` that may act on `effect` in place of the edges from `sources`."""

    cause: str
    effect: str
    sources: frozenset[str]
    through: frozenset[str]  # inputs that reach the effect through the sources alone
    above: frozenset[str]  # inputs of the cause that reach the effect no other way
    siblings: tuple[str, ...]  # outputs of the sources that share no other latent with the effect


def add_output_edges(
    latent: LatentGraph,
    sample: Sample,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    settings: GraphSettings | None = None,
) -> LatentGraph:
    """Let outputs take the place of the latents and inputs whose effects they pass on.

    The edges to an output b from all parents that it has in common with another output, a, become
    one from a, if b has no effect of their inputs any more once a is held fixed, and shares no
    noise with their other outputs. Of several such outputs the nearest to b is taken, and none
    where two are as near. A latent with one output left is that output: its parents act on it,
    unless inputs may not do so directly.
    """
    settings = settings or GraphSettings()
    columns = _Columns(sample, inputs, outputs)
    passing = [pair for pair in _list_pairs(latent.graph) if columns.passes(pair)]
    follows = {(pair.cause, pair.effect) for pair in passing}
    passing = [pair for pair in passing if columns.parts(pair, follows)]
    moved = _choose_nearest(latent.graph, passing)
    if not moved:
        return latent
    frequency = _count_resamples(columns, set(moved.values()), settings.bootstraps, seed)
    graph: nx.DiGraph = nx.DiGraph(latent.graph)
    for (source, effect), pair in moved.items():
        graph.remove_edge(source, effect)
        graph.add_edge(pair.cause, effect, frequency=frequency[pair], support=SUPPORT)
    gone = _replace_latents(graph, moved, contract=settings.direct)
    candidates: nx.DiGraph = nx.DiGraph(latent.candidates)
    candidates.remove_edges_from(moved)
    candidates.remove_nodes_from(gone)
    candidates.add_edges_from(graph.edges(data=True))
    names = _number_latents(graph, latent.graph)
    return replace(
        latent,
        graph=nx.relabel_nodes(graph, names),
        candidates=nx.relabel_nodes(candidates, names),
    )


def _list_pairs(graph: nx.DiGraph) -> Iterator[Pair]:
    """Ordered pairs of outputs with a parent in common."""
    roles = dict(graph.nodes(data="role"))
    inputs = frozenset(by_role(graph, "input"))
    common: dict[Edge, list[str]] = defaultdict(list)
    for source in graph:
        children = [node for node in graph.successors(source) if roles[node] == "output"]
        for edge in permutations(children, 2):
            common[edge].append(source)
    for (cause, effect), sources in common.items():
        without: nx.DiGraph = nx.DiGraph(graph)
        without.remove_edges_from((source, effect) for source in sources)
        others = nx.ancestors(without, effect)
        free = inputs - others
        origins = [{source, *nx.ancestors(graph, source)} for source in sources]
        through = free & set[str]().union(*origins)
        reached = set[str]().union(*(nx.descendants(graph, source) for source in sources))
        siblings = tuple(
            name
            for name in by_role(graph, "output")
            if name in reached - {cause, effect}
            and nx.ancestors(without, name).isdisjoint(others - inputs)
        )
        if through and siblings:
            above = free & nx.ancestors(graph, cause)
            yield Pair(cause, effect, frozenset(sources), through, above, siblings)


class _Columns:
    """Tests of pairs of outputs in the regressions of one sample."""

    def __init__(self, sample: Sample, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.sample, self.outputs = sample, outputs
        self.indices = {name: index for index, name in enumerate(inputs)}
        self.full = self.regress_all(None)

    def regress_all(self, weights: Float[np.ndarray, " sample"] | None) -> OutputRegression | None:
        """The regression of all outputs at once, where none is missing."""
        if self.sample.observed is not None:
            return None
        return regress_outputs(self.sample, range(len(self.outputs)), weights)

    def passes(self, pair: Pair) -> bool:
        """Whether the cause takes over the effect of the sources."""
        tests = self.make_tests(pair, self.full, None)
        if tests is None:
            return False
        (through, above), (a, b) = tests
        if not _is_clear(through, a, b) or above.find_p([b], [a]) <= c.VANISHES:
            return False
        total, df = through.measure([b], [])
        return _find_upper(*through.measure([b], [a])) < c.MAX_LEFT**2 * (total - df)

    def parts(self, pair: Pair, follows: Collection[Edge]) -> bool:
        """Whether the cause takes over what the effect shares with the other outputs."""
        siblings = [name for name in pair.siblings if (pair.effect, name) not in follows]
        names = [pair.cause, pair.effect, *siblings]
        regression = regress_outputs(self.sample, [self.outputs.index(name) for name in names])
        if regression is None or not siblings:
            return False
        others = range(2, len(names))
        shared = [regression.test_covariance(1, [o], []) < c.CLEAR_P for o in others]
        alone = min(regression.test_covariance(1, [o], [0]) for o in others) * len(others)
        together = regression.test_covariance(1, others, [0])
        return any(shared) and min(alone, together) > c.VANISHES

    def passes_again(
        self,
        pair: Pair,
        full: OutputRegression | None,
        weights: Float[np.ndarray, " sample"],
    ) -> bool:
        """The same for a resample, whose chi-squares are larger by their degrees of freedom."""
        tests = self.make_tests(pair, full, weights)
        if tests is None:
            return False
        (through, _), (a, b) = tests
        total, df = through.measure([b], [])
        left, _ = through.measure([b], [a])
        return _is_clear(through, a, b) and left - 2 * df < c.MAX_LEFT**2 * (total - 2 * df)

    def make_tests(
        self,
        pair: Pair,
        full: OutputRegression | None,
        weights: Float[np.ndarray, " sample"] | None,
    ) -> tuple[tuple[LambdaTest, LambdaTest], tuple[int, int]] | None:
        """Tests of the sources' inputs and of all of the cause's; where both outputs stand."""
        ends = [self.outputs.index(name) for name in (pair.cause, pair.effect)]
        regression, at = full, (ends[0], ends[1])
        if self.sample.observed is not None:
            regression, at = regress_outputs(self.sample, ends, weights), (0, 1)
        if regression is None:
            return None
        through, above = (
            regression.make_test(find_columns(self.sample, [self.indices[name] for name in names]))
            for names in (pair.through, pair.above)
        )
        return (through, above), at


def _is_clear(test: LambdaTest, cause: int, effect: int) -> bool:
    """Whether inputs have an effect on the one, and on the other with the first held fixed."""
    return max(test.find_p([effect], []), test.find_p([cause], [effect])) < c.CLEAR_P


def _find_upper(chi2: float, df: int) -> float:
    """The largest noncentrality that a chi-square as small as this does not rule out."""
    if stats.chi2.cdf(chi2, df) <= c.LEFT_LEVEL:
        return 0.0
    most = chi2 + 10 * np.sqrt(chi2 + df) + 10
    return float(
        optimize.brentq(lambda size: stats.ncx2.cdf(chi2, df, size) - c.LEFT_LEVEL, 1e-9, most)
    )


def _choose_nearest(graph: nx.DiGraph, passing: Sequence[Pair]) -> dict[Edge, Pair]:
    """Which edges from a latent or input are those of an output instead."""
    follows = {(pair.cause, pair.effect) for pair in passing}
    claims: dict[Edge, dict[str, Pair]] = defaultdict(dict)
    for pair in passing:
        for source in sorted(pair.sources):
            claims[source, pair.effect][pair.cause] = pair
    moved: dict[Edge, Pair] = {}
    changed: nx.DiGraph = nx.DiGraph(graph)
    for edge, causes in claims.items():
        nearest = [a for a in causes if not any((a, other) in follows for other in causes)]
        if len(nearest) == 1 and not nx.has_path(changed, edge[1], nearest[0]):
            moved[edge] = causes[nearest[0]]
            changed.add_edge(nearest[0], edge[1])
    return moved


def _count_resamples(
    columns: _Columns, pairs: Collection[Pair], count: int, seed: int
) -> dict[Pair, float]:
    """The fraction of resamples in which each pair passes; 1 without resamples."""
    rng = np.random.default_rng([seed, Stream.OUTPUT_EDGES])
    samples = len(columns.sample.x)
    result = dict.fromkeys(pairs, 0)
    for _ in range(count):
        weights = rng.multinomial(samples, np.full(samples, 1 / samples)).astype(np.float64)
        full = columns.regress_all(weights)
        for pair in result:
            result[pair] += columns.passes_again(pair, full, weights)
    return {pair: often / count if count else 1.0 for pair, often in result.items()}


def _replace_latents(graph: nx.DiGraph, moved: Collection[Edge], *, contract: bool) -> list[str]:
    """Let parents of latents that are an output act on it; remove these latents from the graph."""
    gone = []
    for latent in {source: None for source, _ in moved if graph.nodes[source]["role"] == "latent"}:
        children = list(graph.successors(latent))
        if len(children) > 1 or not contract:
            continue
        for parent, _, about in list(graph.in_edges(latent, data=True)):
            for child in children:
                if not graph.has_edge(parent, child):
                    graph.add_edge(parent, child, **about)
        graph.remove_node(latent)
        gone.append(latent)
    return gone


def _number_latents(graph: nx.DiGraph, before: nx.DiGraph) -> dict[str, str]:
    """New names for the latents that are left."""
    latents = by_role(graph, "latent")
    taken = {node for node, role in before.nodes(data="role") if role != "latent"}
    return dict(zip(latents, name_latents(len(latents), taken), strict=True))
