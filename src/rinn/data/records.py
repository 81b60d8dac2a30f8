"""Frozen records that pass between the stages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rinn.data.covariates import Covariates


@dataclass(frozen=True)
class Dropped:
    """A column or row of the user's tables that is not used, and why."""

    table: str
    name: str
    reason: str


@dataclass(frozen=True)
class Screening:
    """All columns of wide tables, of which some were kept, and the largest |t| of each."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_t: np.ndarray
    output_t: np.ndarray


@dataclass(frozen=True)
class Data:
    """X and Y for the same samples, ready to learn from.

    Attributes:
        x: [sample, input].
        y: [sample, output]; NaN where an output was not measured.
        inputs: the names of the columns of `x`.
        outputs: the names of the columns of `y`.
        samples: the sample ids, or None where the tables had none.
        dropped: what of the tables is not used.
        covariates: those of the same samples, or None.
        kinds: outputs whose kind the user gave (number, binary or count), with the kind.
        notes: how the tables were read, where that needs a note.
        coding: the two values of outputs that are read as 0 and 1.
        screening: the tables that these columns were chosen from, where they were wide.
    """

    x: np.ndarray
    y: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    samples: tuple[str, ...] | None = None
    dropped: tuple[Dropped, ...] = field(default=())
    covariates: Covariates | None = None
    kinds: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    coding: tuple[float, float] = (0.0, 1.0)
    screening: Screening | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every output was measured in every sample."""
        return not np.isnan(self.y).any()

    def take(self, inputs: np.ndarray, outputs: np.ndarray, screening: Screening) -> Data:
        """The data of some columns."""
        names = tuple(self.outputs[o] for o in outputs)
        return replace(
            self,
            x=self.x[:, inputs].astype(np.float64),
            y=self.y[:, outputs],
            inputs=tuple(self.inputs[i] for i in inputs),
            outputs=names,
            kinds=tuple((name, kind) for name, kind in self.kinds if name in names),
            screening=screening,
        )
