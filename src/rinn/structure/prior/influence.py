"""A graph learned with prior knowledge, and which of it the data alone would have shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from rinn.cluster.tasks import Workers
from rinn.errors import count, quote
from rinn.structure.consensus import learn_graph
from rinn.structure.constants import AGAINST, MIN_OVERLAP, MUST
from rinn.structure.effects import Effects
from rinn.structure.prior.log_odds import Prior
from rinn.structure.records import DATA, FORCED, PRIOR, GraphSettings, LatentGraph
from rinn.structure.score import find_penalty

MAX_LISTED = 200


@dataclass(frozen=True)
class Contradiction:
    """A pair of which the data say the opposite of the prior.

    `says` is must, mustnot, likely or unlikely; `evidence` are the log odds of the pair by its own
    effect, `without` is its frequency without the prior.
    """

    input: str
    output: str
    says: str
    evidence: float
    without: float
    reported: bool

    def to_json(self) -> dict[str, Any]:
        """The record by name, ready for `json.dumps`."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Influence:
    """What prior knowledge did to a graph."""

    edges: int  # the number of reported edges
    # reported edges that the graph without the prior does not have
    prior_driven: tuple[tuple[str, str], ...]
    # pairs that must be joined and that no reported latent joins: direct edges
    forced: tuple[tuple[str, str], ...]
    # pairs of input and output that are joined only with the prior
    gained: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]  # pairs that are joined only without it
    dropped_inputs: tuple[str, ...]  # inputs that have an edge only without it
    contradictions: tuple[Contradiction, ...]  # the clearest first
    without: LatentGraph  # the graph without it

    def to_json(self) -> dict[str, Any]:
        """The record without the other graph, ready for `json.dumps`; long lists are cut."""
        pairs = {name: getattr(self, name) for name in ("prior_driven", "forced", "gained", "lost")}
        listed = {
            name: [list(pair) for pair in items[:MAX_LISTED]] for name, items in pairs.items()
        }
        against = [one.to_json() for one in self.contradictions[:MAX_LISTED]]
        counts = {name: len(items) for name, items in pairs.items()}
        counts |= {"edges": self.edges, "contradictions": len(self.contradictions)}
        return {
            "sentence": self.sentence,
            "counts": counts,
            **listed,
            "dropped_inputs": list(self.dropped_inputs[:MAX_LISTED]),
            "contradictions": against,
        }

    @property
    def sentence(self) -> str:
        """What it did, in one or two sentences."""
        few = {0: "none is", 1: "one is"}
        are = few.get(len(self.prior_driven), f"{len(self.prior_driven)} are")
        text = f"Of {count(self.edges, 'edge')}, {are} there because of prior knowledge"
        if self.forced:
            are = "one is" if len(self.forced) == 1 else f"{len(self.forced)} are"
            text += f", and {are} reported only because the prior says so"
        text += (
            f"; it connected {count(len(self.gained), 'pair')} of input and output and "
            f"disconnected {len(self.lost) or 'none'}."
        )
        clear = [one for one in self.contradictions if one.says in ("must", "mustnot")]
        if clear:
            worst = clear[0]
            go = "One firm statement goes against the data:"
            if len(clear) > 1:
                go = f"{len(clear)} firm statements go against the data, such as"
            text += (
                f" {go} {worst.says} of {quote(worst.input)} and {quote(worst.output)} (evidence "
                f"{worst.evidence:+.1f} log odds); see prior.json."
            )
        return text


def learn_with_prior(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    prior: Prior,
    *,
    seed: int = 0,
    settings: GraphSettings | None = None,
    workers: Workers | None = None,
) -> tuple[LatentGraph, Influence]:
    """Learn a graph with and without prior knowledge, and say what owes its place to it."""
    result, without = (
        learn_graph(
            effects, inputs, outputs, seed=seed, prior=one, settings=settings, workers=workers
        )
        for one in (prior, None)
    )
    _mark_origins(result, without)
    forced = _add_forced(result, without, inputs, outputs, prior)
    now, before = (_list_pairs(one.graph, inputs, outputs) for one in (result, without))
    evidence = _find_evidence(effects)
    graph, other = result.graph, without.graph
    dropped = [n for n in inputs if other.out_degree(n) and not graph.out_degree(n)]
    prior_driven = [edge for edge in graph.edges if graph.edges[edge]["origin"] == PRIOR]
    influence = Influence(
        edges=graph.number_of_edges(),
        prior_driven=tuple(sorted(prior_driven)),
        forced=tuple(forced),
        gained=tuple(sorted(now - before)),
        lost=tuple(sorted(before - now)),
        dropped_inputs=tuple(dropped),
        contradictions=tuple(_find_contradictions(evidence, prior, inputs, outputs, without, now)),
        without=without,
    )
    return result, influence


def _mark_origins(result: LatentGraph, without: LatentGraph) -> None:
    """Say of every edge whether the graph without prior knowledge has it too, and how often."""
    match = _match_names(result, without)
    reported = without.graph
    below = {node: nx.descendants(reported, node) for node in reported}
    for graph in (result.graph, result.candidates):
        for source, target, values in graph.edges(data=True):
            ends = _match_node(source, graph, match), _match_node(target, graph, match)
            frequency = without.paths.get(ends, 0.0)
            is_reported = result.graph.has_edge(source, target)
            too = ends[1] in below.get(ends[0], ()) if is_reported else frequency > 0
            values["frequency_without"] = frequency
            values["origin"] = DATA if too else PRIOR


def _match_names(result: LatentGraph, without: LatentGraph) -> dict[str, str]:
    """The latent without prior knowledge that reaches most of the same outputs, if half of them."""
    pairs = sorted(
        (-len(one & other) / len(one | other), name, same)
        for name, one in result.outputs.items()
        for same, other in without.outputs.items()
        if len(one & other) >= MIN_OVERLAP * len(one | other)
    )
    match: dict[str, str] = {}
    for _, name, same in pairs:
        if name not in match and same not in match.values():
            match[name] = same
    return match


def _find_evidence(effects: Effects) -> np.ndarray:
    """Log odds of an effect: half of what it lowers the score by with the penalty of an edge."""
    return np.clip((effects.z**2 - find_penalty(effects.moments)) / 2, -MUST, MUST)


def _match_node(node: str, graph: nx.DiGraph, match: dict[str, str]) -> str:
    return match.get(node, "") if graph.nodes[node]["role"] == "latent" else node


def _add_forced(
    result: LatentGraph,
    without: LatentGraph,
    inputs: Sequence[str],
    outputs: Sequence[str],
    prior: Prior,
) -> list[tuple[str, str]]:
    """Add direct edges for the pairs that must be joined and are not."""
    graph = result.graph
    joined = _list_pairs(graph, inputs, outputs)
    pairs = [(inputs[i], outputs[o]) for i, o in np.argwhere(prior.order > 0)]
    missing = [pair for pair in pairs if pair not in joined]
    for pair in missing:
        about = {
            "frequency": result.paths.get(pair, 0.0),
            "frequency_without": without.paths.get(pair, 0.0),
            "origin": FORCED,
        }
        graph.add_edge(*pair, **about)
        result.candidates.add_edge(*pair, **about)
    return missing


def _list_pairs(
    graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]
) -> set[tuple[str, str]]:
    reached = set(outputs)
    return {(i, o) for i in inputs for o in nx.descendants(graph, i) & reached}


def _find_contradictions(
    evidence: np.ndarray,
    prior: Prior,
    inputs: Sequence[str],
    outputs: Sequence[str],
    without: LatentGraph,
    joined: set[tuple[str, str]],
) -> list[Contradiction]:
    """Pairs of which the data clearly say the opposite, firm statements and clear ones first."""
    said = np.where(prior.order != 0, prior.order, np.sign(prior.odds))
    indices = [(int(i), int(o)) for i, o in np.argwhere(said * evidence <= -AGAINST)]
    indices.sort(key=lambda p: (prior.order[p] == 0, -abs(evidence[p]), p))
    labels = {(1, True): "must", (-1, True): "mustnot", (1, False): "likely"}
    return [
        Contradiction(
            inputs[i],
            outputs[o],
            labels.get((int(said[i, o]), bool(prior.order[i, o])), "unlikely"),
            round(float(evidence[i, o]), 3),
            without.paths.get((inputs[i], outputs[o]), 0.0),
            (inputs[i], outputs[o]) in joined,
        )
        for i, o in indices
    ]
