"""Inputs with similar effects: the cosine between the effects of two inputs on all outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from rinn.errors import InputError, quote, suggest

MAX_LISTED = 20


@dataclass(frozen=True)
class Similarity:
    """How similar the effects of inputs are."""

    inputs: tuple[str, ...]  # their names
    # between the effects of two inputs on all outputs; NaN where one of them has none
    cosine: Float[np.ndarray, "input input"]
    error: Float[np.ndarray, "input input"]  # its standard error, to first order; NaN likewise
    acts: Bool[np.ndarray, " input"]  # whether an input has an effect on any output

    def to_frame(self) -> pd.DataFrame:
        """The cosines as a table of inputs by inputs."""
        names = list(self.inputs)
        return pd.DataFrame(self.cosine, index=pd.Index(names, name="input"), columns=names)

    def list_nearest(self, name: str, count: int | None = None) -> pd.DataFrame:
        """The inputs that act most like one."""
        if name not in self.inputs:
            listed = len(self.inputs) <= MAX_LISTED
            raise InputError(
                f"input must be an input of the run, got {quote(name)}"
                f"{suggest(name, self.inputs, listed=listed)}"
            )
        row = self.inputs.index(name)
        table = pd.DataFrame(
            {"input": self.inputs, "cosine": self.cosine[row], "error": self.error[row]}
        )
        others = table.drop(index=row).dropna()
        ranked = others.sort_values("cosine", ascending=False, kind="stable", ignore_index=True)
        return ranked if count is None else ranked.head(count)


def compare_inputs(effects: Float[np.ndarray, "input output"], inputs: Sequence[str]) -> Similarity:
    """Compare inputs by their effects on all outputs.

    The cosine is 1 for inputs that do the same, whatever their strength, -1 for those that do the
    opposite, and 0 for those that have nothing in common. That of an input without effect would
    be one of noise: an input counts as acting where one of its squared effects is above twice the
    logarithm of the number of effects, which the largest of as many of pure noise comes to.

    Args:
        effects: in units of their sampling error, with signs.
        inputs: names.

    Returns:
        The cosines.

    Raises:
        InputError: the table and the names do not fit.

    Example:
        >>> effects = np.array([[9.0, 9.0, 0.0], [-5.0, -5.0, 0.0], [0.1, -0.3, 0.2]])
        >>> compare_inputs(effects, ["a", "b", "c"]).cosine.round(2)
        array([[ 1., -1., nan],
               [-1.,  1., nan],
               [nan, nan, nan]])
    """
    effects = np.asarray(effects, np.float64)
    if effects.ndim != 2 or len(effects) != len(inputs) or not np.isfinite(effects).all():
        raise InputError(
            f"effects must be finite numbers with a row for each of the {len(inputs)} inputs, got "
            f"the shape {effects.shape}"
        )
    acts = np.asarray((effects**2 > 2 * np.log(max(effects.size, 8))).any(axis=1))
    size = np.where(acts, np.linalg.norm(effects, axis=1), np.nan)
    cosine = np.clip(effects @ effects.T / np.outer(size, size), -1.0, 1.0)
    np.fill_diagonal(cosine, np.where(acts, 1.0, np.nan))
    # The slope of the cosine along one signature has the length sqrt(1 - cosine^2) / its size.
    each = (1 / size) ** 2
    error = np.sqrt((1 - cosine**2) * (each[:, None] + each[None]))
    return Similarity(tuple(inputs), cosine, error, acts)
