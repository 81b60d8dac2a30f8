"""The kind of each output: a number, 0 or 1, or a count."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rinn.data.likelihoods import BINARY, COUNT, KINDS, MIXED, NUMBER
from rinn.data.records import Data
from rinn.data.tables import read_frame
from rinn.data.text import Lines, check_unique
from rinn.errors import InputError, quote, quote_some, suggest

if TYPE_CHECKING:
    from rinn.data.problem import Problem

OF_LOSS = {"bce": BINARY, "mse": NUMBER, "poisson": COUNT}
ADVICE = {
    BINARY: "use mse, or auto",
    COUNT: "use mse for numbers, or name the counted columns with --kinds",
}
LABELS = {NUMBER: "continuous", BINARY: "of 0 and 1", COUNT: "counted"}


def find_kinds(data: Data, loss: str) -> tuple[str, ...]:
    """The kind of each output, as given by the user, the loss or, without both, its values.

    Whole numbers in all outputs, of which some are not 0 or 1, are levels: then all are numbers.

    >>> y = np.array([[0, 0.5], [1, 1.5]])
    >>> find_kinds(Data(y, y, ("a", "b"), ("c", "d")), "auto")
    ('binary', 'number')
    """
    y, given = data.y, dict(data.kinds)
    if loss != "auto":
        if given:
            raise InputError(
                f"loss must be auto where the kinds of outputs are given, got {loss!r}; leave one "
                f"of the two out"
            )
        given = dict.fromkeys(data.outputs, OF_LOSS[loss])
    missing = np.isnan(y)
    binary = ((y == 0) | (y == 1) | missing).all(axis=0)  # [output]
    integer = ((y == np.round(y)) | missing).all(axis=0)
    free = np.array([name not in given for name in data.outputs])
    if integer[free].all() and not binary[free].all():
        binary = np.zeros_like(binary)
    kinds = tuple(
        given.get(name, BINARY if flag else NUMBER)
        for name, flag in zip(data.outputs, binary, strict=True)
    )
    _check_values(data, kinds, loss)
    return kinds


def has_numbers(data: Data) -> bool:
    """Whether all outputs are numbers without gaps."""
    return data.is_complete and set(find_kinds(data, "auto")) == {NUMBER}


def describe_outputs(problem: Problem) -> dict[str, Any] | None:
    """The kinds of the outputs and the fraction of missing values; None where there is no news."""
    if problem.loss != MIXED and problem.observed is None:
        return None
    kinds = Counter(problem.likelihood.kinds)
    missing = 0.0
    sentence = "Outputs: " + ", ".join(
        f"{kinds[kind]} {LABELS[kind]}" for kind in KINDS if kinds[kind]
    )
    if problem.observed is not None:
        missing = float((~problem.observed).mean())
        most = float((~problem.observed).mean(axis=1).max())
        sentence += (
            f"; {100 * missing:.2g}% of their values are missing (at most {100 * most:.2g}% "
            f"of one output's), and are left out: the results hold if they are missing by chance"
        )
    return {"kinds": dict(kinds), "missing": missing, "sentence": f"{sentence}."}


def _check_values(data: Data, kinds: Sequence[str], loss: str) -> None:
    for name, kind, column in zip(data.outputs, kinds, data.y.T, strict=True):
        values = column[~np.isnan(column)]
        is_right = np.isin(values, (0, 1))
        if kind == COUNT:
            is_right = (values >= 0) & (values == np.round(values))
        if kind == NUMBER or is_right.all():
            continue
        wrong, what = values[~is_right][0], "0 and 1" if kind == BINARY else "whole numbers from 0"
        if loss == "auto":
            raise InputError(
                f"kinds must fit the outputs, but {quote(name)} is said to be {kind}, which is "
                f"{what}, and holds {wrong:g}; correct its kind"
            )
        raise InputError(
            f"loss must be one that fits the outputs, got {loss!r} but Y holds values other than "
            f"{what}, such as {wrong:g} in {quote(name)}; {ADVICE[kind]}"
        )


def check_kinds(kinds: Any, columns: Sequence[str], source: str = "kinds") -> dict[str, str]:
    """Check kinds that a user gave by the names of outputs."""
    if kinds is None:
        return {}
    if isinstance(kinds, pd.Series):
        kinds = kinds.to_dict()
    if not isinstance(kinds, Mapping):
        raise InputError(
            f"{source} must be a dictionary or Series from names of outputs to {', '.join(KINDS)}, "
            f"got a {type(kinds).__name__}"
        )
    outputs = set(columns)
    for name, kind in kinds.items():
        if name not in outputs:
            hint = suggest(str(name), columns, listed=False)
            hint = hint or f"; they are called {quote_some(list(columns))}"
            raise InputError(f"{source} must name outputs, got {quote(str(name))}{hint}")
        if kind not in KINDS:
            raise InputError(
                f"{source} must be one of {', '.join(KINDS)}, got {quote(str(kind))} for "
                f"{quote(str(name))}{suggest(str(kind), KINDS, listed=False)}"
            )
    return {str(name): str(kind) for name, kind in kinds.items()}


def load_kinds(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the kinds of outputs from a table with the columns `output` and `kind`."""
    lines = Lines(path, "--kinds")
    frame = read_frame(lines)
    header = list(frame.columns)
    frame.columns = frame.columns.str.lower()
    if not {"output", "kind"} <= set(frame):
        but = f"has {quote_some(header)}"
        raise lines.reject("begin with the column names output and kind", but, "write them", line=1)
    check_unique(list(frame["output"]), lines.source, "output")
    return dict(zip(frame["output"], frame["kind"].str.lower(), strict=True))
