"""Prior knowledge of inputs and outputs as log odds that are added to the score of a graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from rinn.structure.constants import MUST, NEVER
from rinn.structure.records import Structure

ANY_LEVEL = 1_000_000


@dataclass(frozen=True)
class Prior:
    """Prior knowledge of the pairs of a table, in the order of its inputs and outputs."""

    odds: Float[np.ndarray, "input output"]  # log odds that an input reaches an output
    # 1 where an input must reach an output, -1 where it must not, 0 elsewhere
    order: Int[np.ndarray, "input output"]
    # log odds that two inputs share a latent, symmetric; each counts half
    input_pairs: Float[np.ndarray, "input input"]
    output_pairs: Float[np.ndarray, "output output"]  # the same for two outputs
    # the lowest level of a latent that each input may act on. A latent of level 1 acts on outputs
    # only; any other is one above the highest latent that it acts on
    lowest: Int[np.ndarray, " input"]
    highest: Int[np.ndarray, " input"]  # the highest such level

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        said = (self.odds, self.order, self.input_pairs, self.output_pairs)
        return not any(part.any() for part in said) and not self.has_levels

    @property
    def has_levels(self) -> bool:
        """Whether some input is limited to some levels."""
        return bool((self.lowest > 1).any() or (self.highest < ANY_LEVEL).any())

    def speaks_for(self, row: int, outputs: Sequence[int]) -> bool:
        """Whether something is known that makes it more likely that an input reaches outputs."""
        parts = (self.odds[row, outputs], self.order[row, outputs], self.input_pairs[row])
        return any(bool((part > 0).any()) for part in parts)

    def count_log_odds(self, graph: Structure) -> float:
        """Count the log odds of a graph.

        Each pair that a graph joins counts. An input counts half of the log odds of its likeliest
        partner on a common latent; two that are said to be apart count theirs in full; so do
        outputs.
        """
        inputs = len(self.odds)  # products of inputs come after them
        joined = graph.reach[:inputs, graph.first_output :]
        odds = np.where(self.order > 0, MUST, np.where(self.order < 0, NEVER, self.odds))
        total = float(odds[joined].sum())
        nodes = list(graph.latent_nodes)
        total += _count_shared(self.input_pairs, graph.edges[:inputs, nodes])
        total += _count_shared(self.output_pairs, graph.edges[nodes, graph.first_output :].T)
        return total + (self._count_levels(graph) if self.has_levels else 0.0)

    def obey(self, graph: Structure) -> Structure:
        """The graph without edges of inputs that lead to outputs or levels they must not reach."""
        inputs, nodes = len(self.odds), list(graph.latent_nodes)
        below = graph.reach[:, graph.first_output :].astype(int)
        wrong = graph.edges.copy()
        wrong[inputs:] = False
        wrong[:inputs] &= (self.order < 0).astype(int) @ below.T > 0
        if self.has_levels:
            wrong[:inputs, nodes] |= graph.edges[:inputs, nodes] & self._find_misplaced(graph)
        if not wrong.any():
            return graph
        return replace(
            graph, edges=graph.edges & ~wrong, weights=np.where(wrong, 0.0, graph.weights)
        )

    def _count_levels(self, graph: Structure) -> float:
        """What inputs on latents outside their levels cost."""
        edges = graph.edges[: len(self.odds), list(graph.latent_nodes)]
        return NEVER * float((edges & self._find_misplaced(graph)).sum())

    def _find_misplaced(self, graph: Structure) -> Bool[np.ndarray, "input latent"]:
        """Which latents are outside the levels of which inputs."""
        nodes = list(graph.latent_nodes)
        inner = graph.edges[np.ix_(nodes, nodes)]
        level = np.ones(len(nodes), int)
        for _ in nodes:
            level = np.array([1 + max([0, *level[below]]) for below in inner])
        return np.asarray((level < self.lowest[:, None]) | (level > self.highest[:, None]))

    def fingerprint(self) -> str:
        """SHA-256 of all its numbers: the same for files that say the same."""
        digest = hashlib.sha256()
        for field in fields(self):
            value = getattr(self, field.name)
            kind = "<f8" if value.dtype.kind == "f" else "<i8"
            digest.update(f"{field.name}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value + 0, dtype=kind).tobytes())
        return digest.hexdigest()


def make_prior(inputs: int, outputs: int) -> Prior:
    """Make a prior that says nothing, to be filled in."""
    return Prior(
        odds=np.zeros((inputs, outputs)),
        order=np.zeros((inputs, outputs), int),
        input_pairs=np.zeros((inputs, inputs)),
        output_pairs=np.zeros((outputs, outputs)),
        lowest=np.ones(inputs, int),
        highest=np.full(inputs, ANY_LEVEL),
    )


def _count_shared(
    odds: Float[np.ndarray, "node node"], edges: Bool[np.ndarray, "node latent"]
) -> float:
    """Log odds of nodes that share a latent."""
    if not odds.any():
        return 0.0
    shared = np.where(edges.astype(int) @ edges.T > 0, odds, 0.0)
    return float(np.maximum(shared, 0.0).max(axis=1).sum() + np.minimum(shared, 0.0).sum()) / 2
