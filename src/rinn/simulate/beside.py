"""The user's own tables, to stand beside a simulated block."""

from __future__ import annotations

import os
from collections.abc import Collection

import numpy as np
import pandas as pd

from rinn.config import check_integer
from rinn.data.align import pair_tables
from rinn.data.tables import Table, load_table, make_table
from rinn.data.text import is_id_header
from rinn.errors import InputError, quote, quote_some
from rinn.simulate.samples import Tumours

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray


def load_tumours(
    x_block: Source | None,
    y_block: Source | None,
    *,
    samples: int | None = None,
    taken: Collection[str] = (),
) -> Tumours:
    """Read two tables whose columns are to stand before those of a simulated block.

    Rows are matched by sample id where both tables have ids, else one by one, and are in the order
    of `x_block`. Each column stays, also one that never changes.

    Example:
        >>> x = pd.DataFrame({"TP53": np.arange(60) % 2}, index=[f"s{row}" for row in range(60)])
        >>> tumours = load_tumours(x, (1 - x).rename(columns={"TP53": "CDKN1A"})[::-1])
        >>> tumours.y.head(2).to_dict()
        {'CDKN1A': {'s0': 1, 's1': 0}}
    """
    if x_block is None or y_block is None:
        name, other = ("x_block", "y_block") if x_block is None else ("y_block", "x_block")
        raise InputError(
            f"{name} must come with {other}, since samples need inputs and outputs, but it was not "
            f"given; add it, or leave both out for generated tumours"
        )
    x, y = _load("x_block", x_block, taken), _load("y_block", y_block, taken)
    matched = pair_tables(_number_rows(x), _number_rows(y), as_is=True)
    x_rows, y_rows = (rows[:, 0].astype(int) for rows in (matched.x, matched.y))
    count = _count_rows(samples, len(x_rows))
    index = None if matched.samples is None else pd.Index(matched.samples[:count])
    outputs = np.take(y.values, y_rows, axis=0)
    _check_binary(outputs, y.columns)
    return Tumours(
        x=_to_frame(np.take(x.values, x_rows[:count], axis=0), x.columns, index),
        y=_to_frame(outputs[:count], y.columns, index),
        dropped=matched.dropped,
        parameters={"x_block": _name_source(x), "y_block": _name_source(y)},
    )


def _load(name: str, source: Source, taken: Collection[str]) -> Table:
    """Read one table, and refuse names that would not survive beside the simulated block."""
    if isinstance(source, str | os.PathLike):
        table = load_table(source, name)
    else:
        table = make_table(source, name)
    clashes = [column for column in table.columns if column in taken]
    if clashes:
        raise InputError(
            f"{name} must not use the names of the simulated graph's nodes, but has columns "
            f"called {quote_some(clashes)}; rename them"
        )
    if table.samples is None and is_id_header(table.columns[0]):
        raise InputError(
            f"{name} must not begin with a column of numbers called {quote(table.columns[0])}, "
            f"because files keep sample ids under such a name; rename it"
        )
    return table


def _number_rows(table: Table) -> Table:
    """Stand in for a table where samples are matched: its own constant columns are to stay."""
    return Table(np.arange(len(table.values), dtype=float)[:, None], ("row",), table.samples)


def _count_rows(samples: int | None, matched: int) -> int:
    if samples is None:
        return matched
    if check_integer("samples", samples) > matched:
        raise InputError(
            f"samples must be at most the {matched} rows that x_block and y_block have in common, "
            f"but {samples} was given; leave it out, or choose {matched} or less"
        )
    return samples


def _check_binary(outputs: np.ndarray, columns: tuple[str, ...]) -> None:
    """Refuse outputs that cannot be learned together with those of the simulated block."""
    wrong = (outputs != 0) & (outputs != 1)  # [sample, output]
    if not wrong.any():
        return
    row, column = (int(place) for place in np.argwhere(wrong)[0])
    others = [name for name, flag in zip(columns, wrong.any(axis=0), strict=True) if flag]
    raise InputError(
        f"y_block must hold 0 and 1 only, because the simulated outputs do and mixed ones cannot "
        f"be learned together, but {outputs[row, column]:g} is in column {quote(columns[column])}, "
        f"one of {len(others)} such columns; turn them into 0 and 1, or leave them out"
    )


def _to_frame(values: np.ndarray, columns: tuple[str, ...], index: pd.Index | None) -> pd.DataFrame:
    """Make a table; whole numbers are written without a point."""
    if ((values == 0) | (values == 1)).all():
        values = values.astype(np.int8)
    elif (values == np.round(values)).all() and (np.abs(values) < 2**53).all():
        values = values.astype(np.int64)
    return pd.DataFrame(values, index=index, columns=list(columns))


def _name_source(table: Table) -> str:
    return "in memory" if table.path is None else str(table.path)
