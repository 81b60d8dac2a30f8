"""Frozen records that pass between the stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rinn.data.coding import Covariates


@dataclass(frozen=True)
class Dropped:
    """A column or row of the user's tables that is not used, and why."""

    table: str
    name: str
    reason: str


@dataclass(frozen=True)
class Data:
    """X and Y for the same samples, ready to learn from.

    `x` is [sample, input] and `y` is [sample, output]; `samples` holds the sample ids, or is
    None where the tables had none. `covariates` are of the same samples, where there are any.
    `y` is NaN where an output was not measured; `kinds` are those of outputs whose kind the user
    named: number, binary or count. `notes` say how the tables were read, where that was not plain;
    `coding` are the two values that outputs which are read as 0 and 1 had.
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

    @property
    def is_complete(self) -> bool:
        """Whether every output was measured in every sample."""
        return not np.isnan(self.y).any()
