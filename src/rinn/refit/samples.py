"""A run's model, samples in the order and units of its networks, and the latents' activity."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.data.covariates import (
    Coding,
    CovariateTable,
    encode_covariates,
    load_covariates,
    make_covariates,
)
from rinn.data.likelihoods import Likelihood
from rinn.data.scaling import Standardizer
from rinn.data.tables import Table, load_table, make_table
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.nets.groups import TrainedNet
from rinn.refit.model import GraphModel, find_latents

CovariateSource = str | os.PathLike[str] | pd.DataFrame | pd.Series | np.ndarray

MAX_LISTED = 20

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray


@dataclass(frozen=True)
class Offsets:
    """How covariates act on a run's outputs: codings, and coefficients after the intercept."""

    codings: tuple[Coding, ...]
    coefficients: Float[np.ndarray, "split column+1 output"]

    def find(self, table: CovariateTable) -> Float[np.ndarray, "split output sample"]:
        """What covariates add to the outputs of the networks of each split."""
        z = encode_covariates(table, self.codings)
        offset = self.coefficients[:, :1] + z @ self.coefficients[:, 1:]  # [split, sample, output]
        return np.swapaxes(offset, 1, 2)

    def repeat_reference(self, samples: int) -> Float[np.ndarray, "split output sample"]:
        """The offset of samples with the reference levels and the mean of all numbers."""
        return np.repeat(self.coefficients[:, 0, :, None], samples, axis=2)

    @property
    def names(self) -> str:
        """The names of the covariates."""
        return quote_some([coding.name for coding in self.codings])

    @property
    def reference(self) -> str:
        """The reference levels, and the means of numbers."""
        return " and ".join(
            f"{quote(coding.name)} {quote(coding.levels[0]) if coding.levels else 'at its mean'}"
            for coding in self.codings
        )


def read_offsets(values: Mapping[str, Any] | None, splits: int, outputs: int) -> Offsets | None:
    """Read how covariates act from what a run keeps with its networks."""
    if values is None:
        return None
    codings = tuple(
        Coding(str(one["name"]), tuple(map(str, one["levels"])), float(one["mean"]),
               float(one["std"]))
        for one in values["codings"]
    )  # fmt: skip
    columns = 1 + sum(len(coding.columns) for coding in codings)
    coefficients = np.array(values["coefficients"], np.float64).reshape(splits, columns, outputs)
    finite = np.isfinite([*coefficients.flat, *(coding.mean for coding in codings)]).all()
    if not finite or not all(0 < coding.std < np.inf for coding in codings):
        raise ValueError("coefficients must be finite, and standard deviations above zero")
    return Offsets(codings, coefficients)


def take_covariates(
    source: CovariateSource, samples: Sequence[str] | None, total: int, rows: Sequence[int]
) -> CovariateTable:
    """Bring covariates into the order of chosen samples, by ids where both tables have them."""
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


@dataclass(frozen=True)
class Range:
    """The values of an input or latent in the run's own table, in the user's units.

    `low` and `high` are a deviation around the mean within the values; 0 and 1 if `binary`.
    """

    min: float
    max: float
    mean: float
    low: float
    high: float
    binary: bool = False

    def contains(self, value: float) -> bool:
        """Whether the data had values as small and as large as this one."""
        slack = 1e-6 * (self.max - self.min)
        return self.min - slack <= value <= self.max + slack


@dataclass(frozen=True)
class RunModel:
    """The graph of a run as a model: its own networks, and the free ones that it was read from.

    Attributes:
        inputs: names, in the order of the networks.
        outputs: names, in the order of the networks.
        likelihood: what the networks give, brought to the user's units: values, probabilities of
            a 1, mean counts.
        models: the graph's own network, one for each split of the samples.
        nets: the kept free networks; empty where the run kept none.
        x_scale: from the user's units to the networks', for the inputs.
        ranges: of inputs and latents.
        is_adequate: whether the graph's network predicts as well as others; None if unknown.
        offsets: how covariates act on the outputs apart from the graph; None where there are none.
        columns: of Y, also those that a screening left out; empty where these are the outputs.
        coding: the two values of outputs that were read as 0 and 1.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    likelihood: Likelihood
    models: tuple[GraphModel, ...]
    nets: tuple[TrainedNet, ...]
    x_scale: Standardizer
    ranges: Mapping[str, Range]
    is_adequate: bool | None = None
    offsets: Offsets | None = None
    columns: tuple[str, ...] = ()
    coding: tuple[float, float] = (0.0, 1.0)

    @property
    def loss(self) -> str:
        """Which loss the networks have: mse, bce or mixed."""
        return self.likelihood.loss

    @property
    def latents(self) -> tuple[str, ...]:
        """The latents from causes to effects."""
        return self.models[0].latents

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All edges of the graph, by their ends."""
        functions = self.models[0].functions.items()
        return tuple((parent, name) for name, function in functions for parent in function.parents)


@dataclass(frozen=True)
class Samples:
    """Samples in the units of a run's networks, what covariates add to them, and warnings."""

    x: Float[np.ndarray, "input sample"]
    names: tuple[str, ...]
    offset: Float[np.ndarray, "split output sample"] | None = None
    warnings: tuple[str, ...] = ()


def take_samples(
    model: RunModel,
    table: Source,
    chosen: Sequence[str] = (),
    covariates: CovariateSource | None = None,
) -> Samples:
    """Find the run's inputs in a table, by their names (TP53_x as TP53), in its units."""
    given = _read(model, table)
    indices = {name: column for column, name in enumerate(given.columns)}
    columns = [indices.get(name, indices.get(_shorten(model, name), -1)) for name in model.inputs]
    missing = [name for name, column in zip(model.inputs, columns, strict=True) if column < 0]
    if missing:
        raise InputError(
            f"X must have a column for each of the run's {len(model.inputs)} inputs, but lacks "
            f"{quote_some(missing)}{suggest(missing[0], given.columns, listed=False)}"
        )
    names = given.samples or tuple(str(row) for row in range(1, len(given.values) + 1))
    rows = _find_rows(names, chosen)
    values = given.values[np.ix_(rows, columns)]  # noqa: PD011
    others = [name for column, name in enumerate(given.columns) if column not in set(columns)]
    messages = _check_values(model, values)
    if others:
        unknown = f"X has columns that the run does not use, left out: {quote_some(others)}"
        messages.insert(0, unknown)
    x = np.ascontiguousarray(model.x_scale.apply(values).T)
    offset = None
    if covariates is not None:
        if model.offsets is None:
            raise InputError(
                "--covariates must come with a run that has covariates, but RUN was fitted without "
                "any; leave it out, or fit with them"
            )
        matched = take_covariates(covariates, given.samples, len(given.values), rows)
        offset = model.offsets.find(matched)
    return Samples(x, tuple(names[row] for row in rows), offset, tuple(messages))


def _read(model: RunModel, table: Source) -> Table:
    if isinstance(table, str | os.PathLike):
        return load_table(table, "X")
    given = make_table(table, "X")
    if isinstance(table, np.ndarray) and len(given.columns) == len(model.inputs):
        return Table(given.values, model.inputs)
    return given


def _shorten(model: RunModel, name: str) -> str:
    """The name that an input had in its own table, where both tables had it."""
    base = name.removesuffix("_x")
    return base if f"{base}_y" in (model.columns or model.outputs) else name


def _find_rows(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    rows = {name: row for row, name in enumerate(names)}
    for name in chosen:
        if name not in rows:
            nearest = suggest(name, names, listed=len(names) <= MAX_LISTED)
            raise InputError(f"sample must be in X, got {quote(name)}{nearest}")
    return [rows[name] for name in dict.fromkeys(chosen)] or list(range(len(names)))


def _check_values(model: RunModel, values: Float[np.ndarray, "sample input"]) -> list[str]:
    """Say which inputs have values outside the run's data: there its networks extrapolate."""
    outside = []
    for name, column in zip(model.inputs, values.T, strict=True):
        span = model.ranges[name]
        inside = span.contains(float(column.min())) and span.contains(float(column.max()))
        if not inside or (span.binary and not np.isin(column, (0, 1)).all()):
            outside.append(name)
    if not outside:
        return []
    return [
        f"X has values that the run's own table did not have, where its networks only guess: in "
        f"{quote_some(outside)}"
    ]


def find_activity(model: RunModel, x: Source) -> pd.DataFrame:
    """Compute the activity of each latent in each sample.

    It is the value that the graph's own network gives the latent, a mean over the models of the
    splits: mean 0 and standard deviation 1 over the run's own samples, with its sign chosen so
    that it raises the outputs. For these samples it is what activity.csv holds.

    Args:
        model: from `load_model`.
        x: the inputs: a file, a DataFrame, or an array in the order of the run's inputs.

    Returns:
        One row for each sample, one column for each latent.

    Raises:
        InputError: the table cannot be read, or lacks an input.

    Warns:
        UserWarning: X has columns or values that the run did not see.

    Example:
        >>> from rinn import RINN, make_dataset
        >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
        >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
        >>> find_activity(model.model_, data.x).shape == (99, len(model.latents_))
        True
    """
    samples = take_samples(model, x)
    for message in samples.warnings:
        warnings.warn(message, stacklevel=2)
    return tabulate_samples(model, samples)


def tabulate_samples(model: RunModel, samples: Samples) -> pd.DataFrame:
    """The activity of each latent in samples that are already in the run's units."""
    values = find_latents(model.models, samples.x)
    index = pd.Index(samples.names, name="sample")
    return pd.DataFrame(values, index=index, columns=list(model.latents))
