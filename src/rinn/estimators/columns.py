"""The columns of an estimator's tables: which of them the run uses, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rinn.data.records import Data
from rinn.data.scaling import fit_standardizer
from rinn.data.tables import Table, check_numbers, is_default
from rinn.errors import InputError, quote_some

if TYPE_CHECKING:
    from rinn.runs.read import RunContents


@dataclass(frozen=True)
class Columns:
    """The columns of X and Y, and which of them the run's networks use.

    `inputs` and `outputs` are positions in `x` and `y`, in the order of the networks. `means` are
    those of the outputs, which is what is predicted of one that was left out. `is_known` is false
    for a run of the command line, whose tables may have had further columns.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    means: tuple[float | None, ...]
    has_x_names: bool = True
    has_y_names: bool = True
    is_single: bool = False
    is_known: bool = True

    def select(self, X: Any) -> Any:
        """X with the columns of fit, where these are known by their names alone."""
        if self.is_known or not isinstance(X, pd.DataFrame):
            return X
        lacking = [name for name in self.x if name not in X]
        if lacking:
            raise InputError(
                f"X must have a column for each of the run's {len(self.x)} inputs, but lacks "
                f"{quote_some(lacking)}; give it the columns of the run's own table"
            )
        return X[list(self.x)]

    def fill(self, predicted: np.ndarray, X: Any) -> Any:
        """Predictions of all outputs with the names of Y, if X and Y have names."""
        means = [np.nan if mean is None else mean for mean in self.means]
        y = np.tile(np.array(means, np.float64), (len(predicted), 1))  # [sample, output]
        y[:, list(self.outputs)] = predicted
        if not (self.has_y_names and isinstance(X, pd.DataFrame)):
            return y[:, 0] if self.is_single else y
        if self.is_single:
            return pd.Series(y[:, 0], X.index, name=self.y[0])
        return pd.DataFrame(y, X.index, list(self.y))


def make_tables(
    x: np.ndarray, y: np.ndarray, names: Sequence[tuple[str, ...] | None], X: Any, Y: Any
) -> tuple[Table, Table]:
    """The tables of an estimator; columns without names are called x0, x1, y0 and so on."""
    filled = [
        given or tuple(f"{letter}{number}" for number in range(values.shape[1]))
        for given, values, letter in zip(names, (x, y), "xy", strict=True)
    ]
    samples = next((ids for ids in map(_find_samples, (X, Y)) if ids), None)
    if len(x) != len(y):  # which the pairing refuses
        samples = None
    return Table(x, filled[0], samples), Table(y, filled[1], samples)


def _find_samples(table: Any) -> tuple[str, ...] | None:
    """The ids of the rows, if they tell samples apart."""
    if not isinstance(table, pd.DataFrame | pd.Series) or is_default(table.index):
        return None
    ids = tuple(str(name) for name in table.index)
    return ids if len(set(ids)) == len(ids) else None


def check_columns(table: Any, label: str) -> None:
    """Raise InputError that names a column of a DataFrame which holds text."""
    if isinstance(table, pd.DataFrame):
        check_numbers(table, label)


def find_columns(
    x: Table, y: Table, data: Data, run: RunContents, *, names: Sequence[bool], is_single: bool
) -> Columns:
    """Which columns of an estimator's tables a run uses."""
    x_kept, y_kept = (
        [number for number, name in enumerate(table.columns) if name not in dropped]
        for table, dropped in ((x, _list_dropped(data, "X")), (y, _list_dropped(data, "Y")))
    )
    places = dict(zip((*data.inputs, *data.outputs), (*x_kept, *y_kept), strict=True))
    seen = ~np.isnan(y.values).all(axis=0)
    means = fit_standardizer(np.asarray(y.values), binary=False).mean
    return Columns(
        x=x.columns,
        y=y.columns,
        inputs=tuple(places[name] for name in run.inputs),
        outputs=tuple(places[name] for name in run.outputs),
        means=tuple(
            float(mean) if known else None for mean, known in zip(means, seen, strict=True)
        ),
        has_x_names=names[0],
        has_y_names=names[1],
        is_single=is_single,
    )


def _list_dropped(data: Data, label: str) -> set[str]:
    """The columns of a table that are left out; samples are listed beside them."""
    return {
        one.name
        for one in data.dropped
        if one.table == label and not one.reason.startswith("sample ")
    }


def guess_columns(run: RunContents) -> Columns:
    """The columns of a run that the command line made: those that it used, by their own names."""
    inputs, outputs = run.inputs, run.outputs
    both = {*inputs, *outputs}
    x = [name[:-2] if name.endswith("_x") and f"{name[:-2]}_y" in both else name for name in inputs]
    y = [
        name[:-2] if name.endswith("_y") and f"{name[:-2]}_x" in both else name for name in outputs
    ]
    return Columns(
        x=tuple(x),
        y=tuple(y),
        inputs=tuple(range(len(x))),
        outputs=tuple(range(len(y))),
        means=(None,) * len(y),
        is_known=False,
    )
