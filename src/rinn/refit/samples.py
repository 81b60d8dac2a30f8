"""A run's model, and samples brought into the order and units of its networks."""

from __future__ import annotations

import os
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
from rinn.refit.model import GraphModel

CovariateSource = str | os.PathLike[str] | pd.DataFrame | pd.Series | np.ndarray

MAX_LISTED = 20

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray


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


def read_offsets(values: Mapping[str, Any] | None, splits: int, outputs: int) -> Offsets | None:
    """Read how covariates act from what a run keeps with its networks."""
    if values is None:
        return None
    codings = tuple(
        Coding(
            str(coding["name"]),
            tuple(map(str, coding["levels"])),
            float(coding["mean"]),
            float(coding["std"]),
        )
        for coding in values["codings"]
    )
    columns = sum(len(coding.columns) for coding in codings)
    coefficients = np.array(values["coefficients"], np.float64).reshape(
        splits, columns + 1, outputs
    )
    scales = [(coding.mean, coding.std) for coding in codings]
    finite = np.isfinite(coefficients).all() and np.isfinite(scales).all()
    if not finite or not all(std > 0 for _, std in scales):
        raise ValueError("coefficients must be finite, and standard deviations above zero")
    return Offsets(codings, coefficients)


def take_covariates(
    source: CovariateSource, samples: Sequence[str] | None, total: int, rows: Sequence[int]
) -> CovariateTable:
    """Bring covariates into the order of chosen samples, by ids where both tables have them.

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


@dataclass(frozen=True)
class Range:
    """The values of an input or latent in the run's own table, in the user's units.

    `low` and `high` are one standard deviation to either side of the mean, no further than the
    values go; 0 and 1 for an input that is nothing else (`binary`).
    """

    least: float
    most: float
    mean: float
    low: float
    high: float
    binary: bool = False

    def holds(self, value: float) -> bool:
        """Whether the data had values as small and as large as this one."""
        slack = 1e-6 * (self.most - self.least)
        return self.least - slack <= value <= self.most + slack


@dataclass(frozen=True)
class RunModel:
    """A graph that can be asked: its own networks, and the free ones that it was read from.

    Attributes:
        inputs: names, in the order of the networks.
        outputs: names, in the order of the networks.
        likelihood: what the networks give, brought to the user's units: values, probabilities of
            a 1, mean counts.
        models: the graph's own network, one for each split of the samples.
        nets: the kept free networks; empty where the run kept none.
        x_scale: from the user's units to the networks', for the inputs.
        ranges: of inputs and latents; those that the folder says nothing of are missing.
        carries: whether the graph's network predicts as well as others; None if unknown.
        offsets: how covariates act on the outputs beside the graph; None where there are none.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    likelihood: Likelihood
    models: tuple[GraphModel, ...]
    nets: tuple[TrainedNet, ...]
    x_scale: Standardizer
    ranges: Mapping[str, Range]
    carries: bool | None = None
    offsets: Offsets | None = None

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
        return tuple((parent, name) for name, own in functions for parent in own.parents)


@dataclass(frozen=True)
class Samples:
    """Samples as a run's networks take them.

    Attributes:
        x: in the networks' units.
        names: sample ids, or row numbers from 1 where the table has none.
        offset: what covariates add to the outputs in the networks' units; None where the run has
            none.
        cautions: sentences about values beyond those of the run's own table, and columns that it
            does not know.
    """

    x: Float[np.ndarray, "input sample"]
    names: tuple[str, ...]
    offset: Float[np.ndarray, "split output sample"] | None = None
    cautions: tuple[str, ...] = ()


def take_samples(
    model: RunModel,
    table: Source,
    chosen: Sequence[str] = (),
    covariates: CovariateSource | None = None,
) -> Samples:
    """Find the run's inputs in a table, by their names, and bring them into its units.

    An input that the run calls `TP53_x`, because both of its tables had a TP53, is found as TP53
    too. Columns that the run does not know are left out.
    """
    found = _read(model, table)
    columns = {name: place for place, name in enumerate(found.columns)}
    places = [columns.get(name, columns.get(_shorten(model, name), -1)) for name in model.inputs]
    missing = [name for name, place in zip(model.inputs, places, strict=True) if place < 0]
    if missing:
        raise InputError(
            f"X must have a column for each of the run's {len(model.inputs)} inputs, but lacks "
            f"{quote_some(missing)}{suggest(missing[0], found.columns, listed=False)}"
        )
    names = found.samples or tuple(str(row) for row in range(1, len(found.values) + 1))
    rows = _find_rows(names, chosen)
    values = found.values[np.ix_(rows, places)]  # noqa: PD011
    cautions = _check_columns(found, places) + _check_values(model, values)
    x = np.ascontiguousarray(model.x_scale.apply(values).T)
    offset = None
    if covariates is not None:
        if model.offsets is None:
            raise InputError(
                "--covariates must come with a run that has covariates, but RUN was fitted without "
                "any; leave it out, or fit with them"
            )
        own = take_covariates(covariates, found.samples, len(found.values), rows)
        offset = model.offsets.find(own)
    return Samples(x, tuple(names[row] for row in rows), offset, tuple(cautions))


def _read(model: RunModel, table: Source) -> Table:
    if isinstance(table, str | os.PathLike):
        return load_table(table, "X")
    found = make_table(table, "X")
    if isinstance(table, np.ndarray) and len(found.columns) == len(model.inputs):
        return Table(found.values, model.inputs)
    return found


def _shorten(model: RunModel, name: str) -> str:
    """The name that an input had in its own table, where both tables had it."""
    base = name.removesuffix("_x")
    return base if f"{base}_y" in model.outputs else name


def _find_rows(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    place = {name: row for row, name in enumerate(names)}
    for name in chosen:
        if name not in place:
            nearest = suggest(name, names, listed=len(names) <= MAX_LISTED)
            raise InputError(f"sample must be in X, got {quote(name)}{nearest}")
    return [place[name] for name in dict.fromkeys(chosen)] or list(range(len(names)))


def _check_columns(table: Table, places: Sequence[int]) -> list[str]:
    known = set(places)
    others = [name for place, name in enumerate(table.columns) if place not in known]
    if not others:
        return []
    return [f"X has columns that the run does not know, left out: {quote_some(others)}"]


def _check_values(model: RunModel, values: Float[np.ndarray, "sample input"]) -> list[str]:
    """Say which inputs have values that the run never saw: there its networks only guess."""
    beyond = []
    for name, column in zip(model.inputs, values.T, strict=True):
        known = model.ranges.get(name)
        if known is None:
            continue
        inside = known.holds(float(column.min())) and known.holds(float(column.max()))
        if not inside or (known.binary and not np.isin(column, (0, 1)).all()):
            beyond.append(name)
    if not beyond:
        return []
    return [
        f"X has values that the run's own table did not have, where its networks only guess: in "
        f"{quote_some(beyond)}"
    ]
