"""What is known of inputs and outputs before the data speak, as numbers that a search can use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from rinn.consensus.evidence import MOST

MUST = MOST  # log odds: as sure as the clearest effect that data can show
NEVER = -1e4  # more than all else together can pay for
ANY_LEVEL = 1_000_000


@dataclass(frozen=True)
class Prior:
    """Prior knowledge of the pairs of a table, in the order of its inputs and outputs.

    Attributes:
        odds: log odds to add to the evidence that an input reaches an output.
        order: 1 where an input must reach an output, -1 where it must not, 0 elsewhere.
        inputs_alike: log odds that two inputs share a latent: where they do, each of their edges to
            it is cheaper by half of this (below 0, one is dearer); symmetric, 0 on the diagonal.
        outputs_alike: the same for two outputs and the edges of a latent to them.
        lowest: the least level of a latent that each input may act on. A latent of level 1 acts on
            outputs alone; any other is one above the highest latent that it acts on.
        highest: the highest such level.
    """

    odds: Float[np.ndarray, "input output"]
    order: Int[np.ndarray, "input output"]
    inputs_alike: Float[np.ndarray, "input input"]
    outputs_alike: Float[np.ndarray, "output output"]
    lowest: Int[np.ndarray, " input"]
    highest: Int[np.ndarray, " input"]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        said = (self.odds, self.order, self.inputs_alike, self.outputs_alike)
        return not any(part.any() for part in said) and not self.has_levels

    @property
    def has_levels(self) -> bool:
        """Whether some input is limited to some levels."""
        return bool((self.lowest > 1).any() or (self.highest < ANY_LEVEL).any())

    @property
    def company(self) -> Float[np.ndarray, " input"]:
        """The most that each input can gain by sharing a latent."""
        if not self.inputs_alike.size:
            return np.zeros(len(self.inputs_alike))
        return np.maximum(self.inputs_alike.max(axis=1), 0.0) / 2

    def speaks_for(self, row: int, outputs: Sequence[int]) -> bool:
        """Whether something is known that makes it more likely that an input reaches outputs."""
        parts = (self.odds[row, outputs], self.order[row, outputs], self.inputs_alike[row])
        return any(bool((part > 0).any()) for part in parts)

    def add(self, evidence: Float[np.ndarray, "input output"]) -> Float[np.ndarray, "input output"]:
        """Add what is known to what the data say.

        Args:
            evidence: log odds by the data alone.

        Returns:
            Log odds; where something is ordered, the data have no say.

        Example:
            >>> prior = make_prior(1, 3)
            >>> prior.order[0, :2] = 1, -1
            >>> prior.odds[0, 2] = 2.0
            >>> prior.add(np.array([[-4.0, 9.0, 1.0]]))
            array([[ 1.5e+01, -1.0e+04,  3.0e+00]])
        """
        known = np.where(self.order > 0, MUST, evidence + self.odds)
        return np.asarray(np.where(self.order < 0, NEVER, known))

    def take(self, rows: np.ndarray, columns: np.ndarray) -> Prior:
        """The part of it that speaks of some inputs and outputs, by their places."""
        pairs = np.ix_(rows, columns)
        return Prior(
            self.odds[pairs],
            self.order[pairs],
            self.inputs_alike[np.ix_(rows, rows)],
            self.outputs_alike[np.ix_(columns, columns)],
            self.lowest[rows],
            self.highest[rows],
        )

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
    """Make a prior that says nothing, to be filled in.

    Args:
        inputs: how many.
        outputs: how many.

    Returns:
        The prior.

    Example:
        >>> make_prior(3, 2).is_empty
        True
    """
    return Prior(
        odds=np.zeros((inputs, outputs)),
        order=np.zeros((inputs, outputs), int),
        inputs_alike=np.zeros((inputs, inputs)),
        outputs_alike=np.zeros((outputs, outputs)),
        lowest=np.ones(inputs, int),
        highest=np.full(inputs, ANY_LEVEL),
    )
