"""A graph learned with prior knowledge, and which of it the data alone would have shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from rinn.errors import count, quote
from rinn.structure.consensus import Reading, read_resamples
from rinn.structure.constants import MIN_OVERLAP
from rinn.structure.effects import Effects
from rinn.structure.prior import MUST, Prior
from rinn.structure.records import GraphSettings
from rinn.structure.search import find_penalty
from rinn.structure.vote import LatentGraph

AGAINST = 3.0  # log odds: the data speak clearly against what was said
MAX_LISTED = 200

DATA, PRIOR, STATED = "data", "prior", "stated"  # what an edge owes its place to


@dataclass(frozen=True)
class Contradiction:
    """A pair of which the data say the opposite of what is known.

    `says` is must, mustnot, likely or unlikely; `evidence` are the log odds that the input reaches
    the output, by its own effect in the data alone; `without` is the share of resamples that joined
    the two without prior knowledge, and `drawn` whether the graph does now.
    """

    input: str
    output: str
    says: str
    evidence: float
    without: float
    drawn: bool

    def to_json(self) -> dict[str, Any]:
        """The record by name, ready for `json.dumps`."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Influence:
    """What prior knowledge did to a graph.

    Attributes:
        edges: how many drawn edges there are in all.
        owed: drawn edges that the graph without the prior does not have.
        stated: pairs that must be joined and that no latent found often enough joins: they have an
            edge of their own, from input to output.
        gained: pairs of input and output that are joined with the prior alone.
        lost: pairs that are joined without it alone.
        silenced: inputs that have an edge without it alone.
        contradictions: the clearest first.
        without: the graph without it.
    """

    edges: int
    owed: tuple[tuple[str, str], ...]
    stated: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]
    silenced: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]
    without: LatentGraph

    def to_json(self) -> dict[str, Any]:
        """The record without the other graph, ready for `json.dumps`; long lists are cut."""
        pairs = {name: getattr(self, name) for name in ("owed", "stated", "gained", "lost")}
        listed = {name: [list(pair) for pair in some[:MAX_LISTED]] for name, some in pairs.items()}
        against = [one.to_json() for one in self.contradictions[:MAX_LISTED]]
        counts = {name: len(some) for name, some in pairs.items()}
        counts |= {"edges": self.edges, "contradictions": len(self.contradictions)}
        return {
            "sentence": self.sentence,
            "counts": counts,
            **listed,
            "silenced": list(self.silenced[:MAX_LISTED]),
            "contradictions": against,
        }

    @property
    def sentence(self) -> str:
        """What it did, in one or two sentences."""
        owed = "none owes" if not self.owed else f"{len(self.owed)} owe"
        owed = "one owes" if len(self.owed) == 1 else owed
        words = f"Of {count(self.edges, 'edge')} {owed} their place to prior knowledge"
        words = words.replace("owes their", "owes its")
        if self.stated:
            drawn = "one is" if len(self.stated) == 1 else f"{len(self.stated)} are"
            words += f", and {drawn} drawn only because the prior says so"
        words += (
            f"; it joined {count(len(self.gained), 'pair')} of input and output and parted "
            f"{len(self.lost) or 'none'}."
        )
        clear = [one for one in self.contradictions if one.says in ("must", "mustnot")]
        if clear:
            worst = clear[0]
            go = "One firm statement goes against the data:"
            if len(clear) > 1:
                go = f"{len(clear)} firm statements go against the data, such as"
            words += (
                f" {go} {worst.says} of {quote(worst.input)} and {quote(worst.output)} (evidence "
                f"{worst.evidence:+.1f} log odds); see prior.json."
            )
        return words


def learn_informed(
    effects: Effects,
    inputs: Sequence[str],
    outputs: Sequence[str],
    prior: Prior,
    *,
    seed: int = 0,
    settings: GraphSettings | None = None,
) -> tuple[LatentGraph, Influence]:
    """Learn a graph with and without prior knowledge, and say what owes its place to it."""
    found = read_resamples(effects, inputs, outputs, seed, prior, settings)
    without = read_resamples(effects, inputs, outputs, seed, None, settings)
    _mark_origins(found, without)
    stated = _draw_stated(found, without, inputs, outputs, prior)
    now, before = (_list_pairs(one.latent.graph, inputs, outputs) for one in (found, without))
    own = _find_evidence(effects)
    graph, plain = found.latent.graph, without.latent.graph
    lone = [n for n in inputs if plain.out_degree(n) and not graph.out_degree(n)]
    owed = [edge for edge in graph.edges if graph.edges[edge]["origin"] == PRIOR]
    influence = Influence(
        edges=graph.number_of_edges(),
        owed=tuple(sorted(owed)),
        stated=tuple(stated),
        gained=tuple(sorted(now - before)),
        lost=tuple(sorted(before - now)),
        silenced=tuple(lone),
        contradictions=tuple(_find_contradictions(own, prior, inputs, outputs, without, now)),
        without=without.latent,
    )
    return found.latent, influence


def _mark_origins(found: Reading, without: Reading) -> None:
    """Say of every edge whether the graph without prior knowledge has it too, and how often."""
    twin = _match_names(found, without)
    drawn = without.latent.graph
    below = {node: nx.descendants(drawn, node) for node in drawn}
    for graph in (found.latent.graph, found.latent.doubtful):
        for source, target, values in graph.edges(data=True):
            ends = _find_twin(source, graph, twin), _find_twin(target, graph, twin)
            share = without.paths.get(ends, 0.0)
            is_drawn = found.latent.graph.has_edge(source, target)
            too = ends[1] in below.get(ends[0], ()) if is_drawn else share > 0
            values["frequency_without"] = share
            values["origin"] = DATA if too else PRIOR


def _match_names(found: Reading, without: Reading) -> dict[str, str]:
    """The latent without prior knowledge that reaches most of the same outputs, if half of them."""
    pairs = sorted(
        (-len(one & other) / len(one | other), name, twin)
        for name, one in found.outputs.items()
        for twin, other in without.outputs.items()
        if len(one & other) >= MIN_OVERLAP * len(one | other)
    )
    match: dict[str, str] = {}
    for _, name, twin in pairs:
        if name not in match and twin not in match.values():
            match[name] = twin
    return match


def _find_evidence(effects: Effects) -> np.ndarray:
    """Log odds of an effect: half of what it lowers the score by with the penalty of an edge."""
    return np.clip((effects.z**2 - find_penalty(effects.moments)) / 2, -MUST, MUST)


def _find_twin(node: str, graph: nx.DiGraph, twin: dict[str, str]) -> str:
    return twin.get(node, "") if graph.nodes[node]["role"] == "latent" else node


def _draw_stated(
    found: Reading,
    without: Reading,
    inputs: Sequence[str],
    outputs: Sequence[str],
    prior: Prior,
) -> list[tuple[str, str]]:
    """Draw the pairs that must be joined and are not, as edges of their own."""
    graph = found.latent.graph
    joined = _list_pairs(graph, inputs, outputs)
    pairs = [(inputs[i], outputs[o]) for i, o in np.argwhere(prior.order > 0)]
    missing = [pair for pair in pairs if pair not in joined]
    for pair in missing:
        about = {
            "frequency": found.paths.get(pair, 0.0),
            "frequency_without": without.paths.get(pair, 0.0),
            "origin": STATED,
        }
        graph.add_edge(*pair, **about)
        found.latent.doubtful.add_edge(*pair, **about)
    return missing


def _list_pairs(
    graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]
) -> set[tuple[str, str]]:
    known = set(outputs)
    return {(i, o) for i in inputs for o in nx.descendants(graph, i) & known}


def _find_contradictions(
    evidence: np.ndarray,
    prior: Prior,
    inputs: Sequence[str],
    outputs: Sequence[str],
    without: Reading,
    joined: set[tuple[str, str]],
) -> list[Contradiction]:
    """Pairs of which the data clearly say the opposite, firm statements and clear ones first."""
    said = np.where(prior.order != 0, prior.order, np.sign(prior.odds))
    places = [(int(i), int(o)) for i, o in np.argwhere(said * evidence <= -AGAINST)]
    places.sort(key=lambda p: (prior.order[p] == 0, -abs(evidence[p]), p))
    words = {(1, True): "must", (-1, True): "mustnot", (1, False): "likely"}
    return [
        Contradiction(
            inputs[i],
            outputs[o],
            words.get((int(said[i, o]), bool(prior.order[i, o])), "unlikely"),
            round(float(evidence[i, o]), 3),
            without.paths.get((inputs[i], outputs[o]), 0.0),
            (inputs[i], outputs[o]) in joined,
        )
        for i, o in places
    ]
