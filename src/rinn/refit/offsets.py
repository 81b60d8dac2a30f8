"""What covariates add to the outputs of samples, by what a run folder holds of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.data.coding import Coding, encode_covariates
from rinn.data.covariates import CovariateTable, load_covariates, make_covariates
from rinn.errors import InputError, quote, quote_some

CovariateSource = str | os.PathLike[str] | pd.DataFrame | pd.Series | np.ndarray


@dataclass(frozen=True)
class Offsets:
    """How covariates act on the outputs of a run, beside its graph.

    Attributes:
        codings: how each covariate becomes numbers.
        coefficients: of these numbers, the intercept first, in the networks' units.
    """

    codings: tuple[Coding, ...]
    coefficients: Float[np.ndarray, "split column+1 output"]

    def find(self, table: CovariateTable) -> Float[np.ndarray, "split output sample"]:
        """What covariates add to the outputs of the networks of each split.

        Args:
            table: the covariates of the samples.

        Returns:
            Offsets in the networks' units.

        Raises:
            InputError: a covariate is missing, of another kind, or has a level that was not seen.

        Example:
            >>> tissue = Coding("tissue", ("lung", "skin"))
            >>> offsets = Offsets((tissue,), np.array([[[1.0], [0.5]]]))
            >>> skin = CovariateTable({"tissue": np.array(["skin"], dtype=object)})
            >>> offsets.find(skin)
            array([[[1.5]]])
        """
        z = encode_covariates(table, self.codings)
        found = self.coefficients[:, :1] + z @ self.coefficients[:, 1:]  # [split, sample, output]
        return np.swapaxes(found, 1, 2)

    def repeat_usual(self, samples: int) -> Float[np.ndarray, "split output sample"]:
        """The offset of samples with the reference levels and the mean of all numbers."""
        return np.repeat(self.coefficients[:, 0, :, None], samples, axis=2)

    @property
    def names(self) -> str:
        """The covariates, in words."""
        return quote_some([coding.name for coding in self.codings])

    @property
    def usual(self) -> str:
        """The reference levels and the mean of numbers, in words."""
        words = [
            f"{quote(own.name)} {quote(own.levels[0])}"
            if own.levels
            else f"{quote(own.name)} at its mean"
            for own in self.codings
        ]
        return " and ".join(words)


def read_offsets(notes: Mapping[str, Any], splits: int, outputs: int) -> Offsets | None:
    """Read how covariates act from what a run keeps beside its networks.

    Args:
        notes: of the kept networks.
        splits: how many models the graph has.
        outputs: how many outputs there are.

    Returns:
        The offsets, or None for a run without covariates.

    Raises:
        KeyError, TypeError, ValueError: the notes are damaged.
    """
    plain = notes.get("covariates")
    if plain is None:
        return None
    codings = tuple(
        Coding(
            str(own["name"]),
            tuple(map(str, own["levels"])),
            float(own["centre"]),
            float(own["spread"]),
        )
        for own in plain["codings"]
    )
    columns = sum(len(coding.columns) for coding in codings)
    coefficients = np.array(plain["coefficients"], np.float64)
    if coefficients.shape != (splits, columns + 1, outputs):
        raise ValueError(f"coefficients must be [{splits}, {columns + 1}, {outputs}]")
    scales = [(coding.centre, coding.spread) for coding in codings]
    if not np.isfinite(coefficients).all() or not np.isfinite(scales).all():
        raise ValueError("coefficients and scales of covariates must be finite")
    if not all(spread > 0 for _, spread in scales):
        raise ValueError("spread of a covariate must be above zero")
    return Offsets(codings, coefficients)


def take_covariates(
    source: CovariateSource, samples: Sequence[str] | None, total: int, rows: Sequence[int]
) -> CovariateTable:
    """Bring covariates into the order of chosen samples, by ids where both tables have them.

    Args:
        source: a file, or a table from memory.
        samples: the ids of X, or None where it has none.
        total: how many rows X has.
        rows: those of X that are wanted.

    Returns:
        The covariates of these rows, without ids.

    Raises:
        InputError: it is no such table, or a sample has no covariates.

    Example:
        >>> table = pd.Series(["skin", "lung"], index=["b", "a"], name="tissue")
        >>> take_covariates(table, ("a", "b"), 2, [0]).columns["tissue"].tolist()
        ['lung']
    """
    if isinstance(source, str | os.PathLike):
        table = load_covariates(source)
    else:
        table = make_covariates(source)
    if samples is None or table.samples is None:
        if table.rows != total:
            raise InputError(
                f"covariates must have as many rows as X where one of the two has no sample ids, "
                f"but have {table.rows} and X has {total}; give each row of X its own"
            )
        return CovariateTable(table.take(rows).columns)
    return table.find([samples[row] for row in rows])
