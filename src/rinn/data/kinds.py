"""Which output is a number, which is 0 or 1, and which is counted."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rinn.data.likelihoods import BINARY, COUNT, KINDS, MIXED, NUMBER
from rinn.data.lines import Lines
from rinn.data.records import Data
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.files import unguard_formula

if TYPE_CHECKING:
    from rinn.data.problem import Problem

OF_LOSS = {"bce": BINARY, "mse": NUMBER, "poisson": COUNT}
ADVICE = {
    BINARY: "use mse, or auto",
    COUNT: "use mse for numbers, or say which columns are counted with --kinds",
}
FIELDS = ("output", "kind")
WORDS = {NUMBER: "continuous", BINARY: "of 0 and 1", COUNT: "counted"}


def find_kinds(data: Data, loss: str) -> tuple[str, ...]:
    """Say of each output whether it is a number, 0 or 1, or a count.

    Example:
        >>> y = np.array([[0, 0.5], [1, 1.5]])
        >>> find_kinds(Data(y, y, ("a", "b"), ("c", "d")), "auto")
        ('binary', 'number')
    """
    y, told = data.y, dict(data.kinds)
    if loss != "auto":
        if told:
            raise InputError(
                f"loss must be auto where the kinds of outputs are given, got {loss!r}; leave one "
                f"of the two out"
            )
        told = dict.fromkeys(data.outputs, OF_LOSS[loss])
    known = ~np.isnan(y)
    binary = ((y == 0) | (y == 1) | ~known).all(axis=0)  # [output]
    whole = ((y == np.round(y)) | ~known).all(axis=0)
    free = np.array([name not in told for name in data.outputs])
    if whole[free].all() and not binary[free].all():
        binary = np.zeros_like(binary)
    kinds = tuple(
        told.get(name, BINARY if flag else NUMBER)
        for name, flag in zip(data.outputs, binary, strict=True)
    )
    _check_values(data, kinds, loss)
    return kinds


def tell_outputs(problem: Problem) -> dict[str, Any] | None:
    """Say of which kinds the outputs are, and how many of their values are missing."""
    if problem.loss != MIXED and problem.known is None:
        return None
    kinds = Counter(problem.likelihood.kinds)
    missing = 0.0 if problem.known is None else float((~problem.known).mean())
    words = [f"{kinds[kind]} {WORDS[kind]}" for kind in KINDS if kinds[kind]]
    sentence = f"Outputs: {', '.join(words)}"
    if problem.known is not None:
        most = float((~problem.known).mean(axis=1).max())
        sentence += (
            f"; {100 * missing:.2g} % of their values are missing (at most {100 * most:.2g} % of "
            f"one output's), and are left out: what is said holds if they are missing by chance"
        )
    return {"kinds": dict(kinds), "missing": missing, "sentence": f"{sentence}."}


def _check_values(data: Data, kinds: Sequence[str], loss: str) -> None:
    for name, kind, column in zip(data.outputs, kinds, data.y.T, strict=True):
        values = column[~np.isnan(column)]
        if kind == BINARY and not np.isin(values, (0, 1)).all():
            wrong, what = values[~np.isin(values, (0, 1))][0], "0 and 1"
        elif kind == COUNT and ((values < 0) | (values != np.round(values))).any():
            wrong = values[(values < 0) | (values != np.round(values))][0]
            what = "whole numbers from 0"
        else:
            continue
        if loss == "auto":
            raise InputError(
                f"kinds must fit the outputs, but {quote(name)} is said to be {kind}, which is "
                f"{what}, and holds {wrong:g}; mend its kind"
            )
        raise InputError(
            f"loss must be one that fits the outputs, got {loss!r} but Y holds values other than "
            f"{what}, such as {wrong:g} in {quote(name)}; {ADVICE[kind]}"
        )


def check_kinds(kinds: Any, columns: Sequence[str], source: str = "kinds") -> dict[str, str]:
    """Check kinds that a user gave by the names of outputs.

    Example:
        >>> check_kinds({"reads": "count"}, ["reads", "age"])
        {'reads': 'count'}
    """
    if kinds is None:
        return {}
    if isinstance(kinds, pd.Series):
        kinds = kinds.to_dict()
    if not isinstance(kinds, Mapping):
        raise InputError(
            f"{source} must be a dictionary or Series from names of outputs to {', '.join(KINDS)}, "
            f"got a {type(kinds).__name__}"
        )
    known = set(columns)
    for name, kind in kinds.items():
        if name not in known:
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
    r"""Read the kinds of outputs from a table with the columns `output` and `kind`.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "kinds.csv"
        >>> _ = path.write_text("output,kind\nreads,count\n")
        >>> load_kinds(path)
        {'reads': 'count'}
    """
    found: dict[str, str] = {}
    lines = Lines(path, "--kinds")
    texts = (line for line in lines if line.strip())
    top = next(texts, "")
    separator = max("\t,;", key=top.count)
    name_at, kind_at = _find_places(_split(top, separator, lines), lines)
    for line in texts:
        fields = _split(line, separator, lines)
        if len(fields) <= max(name_at, kind_at):
            raise lines.reject("have an output and its kind", "has fewer fields", "add them")
        name = unguard_formula(fields[name_at].strip())
        if name in found:
            raise lines.reject("name each output once", f"has {quote(name)} again", "remove it")
        found[name] = fields[kind_at].strip().lower()
    return found


def _split(line: str, separator: str, lines: Lines) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise lines.reject("be a table", f"cannot be split ({error})", "mend that line") from None


def _find_places(header: Sequence[str], lines: Lines) -> tuple[int, int]:
    names = [name.strip().lower() for name in header]
    if any(field not in names for field in FIELDS):
        but = f"has {quote_some(list(header)) or 'none'}"
        raise lines.reject("begin with the column names output and kind", but, "write them")
    return names.index(FIELDS[0]), names.index(FIELDS[1])
