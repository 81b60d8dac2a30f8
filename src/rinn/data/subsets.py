"""Data of some of the samples: columns that no longer vary are dropped, covariates coded again."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from rinn.data.align import pair_tables
from rinn.data.covariates import Coding, Covariates, CovariateTable
from rinn.data.records import Data
from rinn.data.tables import Table
from rinn.errors import InputError, quote, suggest


def take_rows(data: Data, rows: Int[np.ndarray, " row"]) -> Data:
    """The data of these samples, as if the tables had no others."""
    samples = None if data.samples is None else tuple(data.samples[row] for row in rows)
    x = Table(data.x[rows], data.inputs, samples)
    y = Table(data.y[rows], data.outputs, samples)
    covariates = None if data.covariates is None else _decode(data.covariates, rows, samples)
    return pair_tables(x, y, covariates=covariates, kinds=dict(data.kinds))


def find_levels(covariates: Covariates | None, name: str) -> np.ndarray:
    """The level of each sample in a categorical covariate."""
    known = [coding.name for coding in covariates.codings] if covariates else []
    if covariates is None or name not in known:
        raise InputError(
            f"--covariate must be one of the run's covariates, got {quote(name)}"
            f"{suggest(name, known) if known else '; the run has none'}"
        )
    start = 0
    for coding in covariates.codings:
        part = covariates.numbers[:, start : start + len(coding.columns)]
        if coding.name == name:
            break
        start += len(coding.columns)
    if not coding.levels:
        raise InputError(
            f"--covariate must have levels, but {quote(name)} is a number; name one of text or 0/1"
        )
    return _name_levels(coding, part)


def _name_levels(coding: Coding, part: np.ndarray) -> np.ndarray:
    levels = np.array(coding.levels, dtype=object)
    return levels[np.where(part.any(axis=1), part.argmax(axis=1) + 1, 0)]


def _decode(
    covariates: Covariates, rows: np.ndarray, samples: tuple[str, ...] | None
) -> CovariateTable | None:
    """The covariates that vary among these samples, as they were before they were coded."""
    columns, start = {}, 0
    for coding in covariates.codings:
        part = covariates.numbers[rows, start : start + len(coding.columns)]
        start += len(coding.columns)
        is_level = bool(coding.levels)
        values = _name_levels(coding, part) if is_level else part[:, 0] * coding.std + coding.mean
        if len(np.unique(values)) > 1:
            columns[coding.name] = values
    return CovariateTable(columns, samples) if columns else None
