"""Match the rows of X and Y by sample, and say what was dropped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.cells import Cells
from rinn.data.coding import code_covariates
from rinn.data.covariates import CovariateTable, load_covariates, make_covariates
from rinn.data.kinds import check_kinds, load_kinds
from rinn.data.records import Data, Dropped
from rinn.data.scaling import check_range
from rinn.data.tables import Table, check_cells, make_table, read_cells
from rinn.errors import InputError, find_repeated, quote, quote_some

MIN_SAMPLES = 50
FEWEST_VALUES = 10  # of an output that is missing in other samples


def load_data(
    x_path: str | os.PathLike[str],
    y_path: str | os.PathLike[str],
    covariates_path: str | os.PathLike[str] | None = None,
    kinds_path: str | os.PathLike[str] | None = None,
    *,
    as_is: bool = False,
) -> Data:
    r"""Read X and Y from two files, and covariates from a third, and match their samples.

    Cells of Y may be empty. One of the two may have its samples in columns, if these bear the ids
    of the other's rows: it is turned, and the notes of the result say so.

    Args:
        x_path: the table of inputs, such as mutations; `load_table` says in which formats.
        y_path: the table of outputs, such as expression, for the same samples.
        covariates_path: a table of tissue, batch and the like; `load_covariates` says how.
        kinds_path: which outputs are numbers, 0 or 1, or counts; `load_kinds` says how.
        as_is: see `pair_tables`.

    Returns:
        The two tables with the same samples in the same order, and what was dropped.

    Raises:
        InputError: a file cannot be read, or the two tables do not fit together.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> rows = [f"s{row},{row % 2}\n" for row in range(60)]
        >>> _ = (folder / "x.csv").write_text("sample,TP53\n" + "".join(rows))
        >>> _ = (folder / "y.csv").write_text("sample,CDKN1A\n" + "".join(rows[::-1]))
        >>> data = load_data(folder / "x.csv", folder / "y.csv")
        >>> data.inputs, data.outputs, data.samples[:2]
        (('TP53',), ('CDKN1A',), ('s0', 's1'))
    """
    covariates = None if covariates_path is None else load_covariates(covariates_path)
    x, y, notes = _load_two(Path(x_path), Path(y_path))
    kinds = None
    if kinds_path is not None:
        kinds = check_kinds(load_kinds(kinds_path), y.columns, f"--kinds ({kinds_path})")
    data = pair_tables(x, y, covariates=covariates, kinds=kinds, as_is=as_is)
    return replace(data, notes=(*notes, *data.notes))


def as_data(
    X: pd.DataFrame | np.ndarray,
    Y: pd.DataFrame | np.ndarray,
    *,
    least: int = MIN_SAMPLES,
    covariates: Any = None,
    kinds: Mapping[str, str] | pd.Series | None = None,
    as_is: bool = False,
) -> Data:
    """Match X and Y from memory; both stay as they are.

    The index of a DataFrame gives the sample ids, unless it is pandas' default 0, 1, 2 and so on.
    Columns without a name are called x0, x1 and so on, or y0, y1 and so on.

    Args:
        X: the inputs, one row per sample.
        Y: the outputs, one row per sample.
        least: how many samples they must have in common.
        covariates: a DataFrame, Series or array of tissue, batch and the like, or None.
        kinds: from names of outputs to number, binary or count; of the others their values tell.
        as_is: see `pair_tables`.

    Returns:
        The two tables with the same samples in the same order, and what was dropped.

    Raises:
        InputError: X does not hold finite numbers, Y holds others than finite numbers and NaN, or
            the two do not fit together.

    Example:
        >>> cause = np.arange(60.0).reshape(30, 2).repeat(2, axis=0)
        >>> as_data(cause, cause[:, :1]).outputs
        ('y0',)
    """
    table = None if covariates is None else make_covariates(covariates)
    y = make_table(Y, "Y", missing=True)
    told = check_kinds(kinds, y.columns)
    x = make_table(X, "X")
    return pair_tables(x, y, least=least, covariates=table, kinds=told, as_is=as_is)


def pair_tables(
    x: Table,
    y: Table,
    *,
    least: int = MIN_SAMPLES,
    covariates: CovariateTable | None = None,
    kinds: Mapping[str, str] | None = None,
    as_is: bool = False,
) -> Data:
    """Match two tables by sample id, or row by row where one of them has no ids.

    Samples of one table only are dropped, those without any output, columns with the same value in
    each of the samples that are left, inputs that are copies of others, and outputs with fewer than
    ten values; each is named in the result. Outputs that all have the same two values are read as 0
    and 1. The order is that of X.

    Example:
        >>> values = np.arange(60.0)[:, None]
        >>> data = pair_tables(Table(values, ("TP53",)), Table(-values, ("CDKN1A",)))
        >>> data.x.shape, data.samples, data.dropped
        ((60, 1), None, ())
    """
    if covariates is not None:
        return _pair_three(x, y, covariates, least, kinds, as_is)
    x, y, empty = _drop_empty(x, y)
    x_rows, y_rows, samples, dropped = _match_samples(x, y)
    if len(x_rows) < least:
        raise InputError(
            f"X and Y must have at least {least} samples in common, but have {len(x_rows)}"
            f"; add samples, or check that the sample ids are written alike"
        )
    x_values, inputs, x_dropped = _drop_constant(np.take(x.values, x_rows, axis=0), x.columns, "X")
    y_values, outputs, y_dropped = _drop_constant(np.take(y.values, y_rows, axis=0), y.columns, "Y")
    check_range(x_values, inputs, "X")
    check_range(y_values, outputs, "Y")
    copies: list[Dropped] = []
    notes: tuple[str, ...] = ()
    coding = (0.0, 1.0)
    if not as_is:
        x_values, inputs, copies = _drop_copies(x_values, inputs)
        y_values, coding, notes = _recode_pairs(y_values, kinds)
    inputs, names = _tell_apart(inputs, outputs)
    told = kinds or {}
    own = tuple((new, told[old]) for new, old in zip(names, outputs, strict=True) if old in told)
    dropped = [*empty, *dropped, *x_dropped, *copies, *y_dropped]
    return Data(
        x_values,
        y_values,
        inputs,
        names,
        samples,
        tuple(dropped),
        kinds=own,
        notes=notes,
        coding=coding,
    )


def fingerprint(data: Data) -> dict[str, str]:
    """Sum up the data in short texts that change when the data do.

    Example:
        >>> data = Data(np.zeros((2, 1)), np.ones((2, 1)), ("a",), ("b",))
        >>> fingerprint(data)["samples"][:12]  # of JSON's null
        '74234e98afe7'
    """
    names = {"inputs": list(data.inputs), "outputs": list(data.outputs)}
    samples = None if data.samples is None else list(data.samples)
    contents = {
        "x": np.ascontiguousarray(data.x, dtype="<f8").tobytes(),
        "y": np.ascontiguousarray(np.where(np.isnan(data.y), np.nan, data.y), "<f8").tobytes(),
        "names": json.dumps(names, sort_keys=True).encode(),
        "samples": json.dumps(samples).encode(),
    }
    if data.covariates is not None:
        columns = json.dumps(data.covariates.columns).encode()
        values = np.ascontiguousarray(data.covariates.numbers, dtype="<f8").tobytes()
        contents["covariates"] = columns + values
    if data.kinds:
        contents["kinds"] = json.dumps(sorted(data.kinds)).encode()
    return {part: hashlib.sha256(content).hexdigest() for part, content in contents.items()}


def _load_two(x_path: Path, y_path: Path) -> tuple[Table, Table, tuple[str, ...]]:
    """Read X and Y, and turn the one that has its samples in columns."""
    x, y = read_cells(x_path, "X"), read_cells(y_path, "Y")
    turned = _find_turned(x, y)
    notes = tuple(
        f"{label} was turned: its samples are in columns, as the sample ids of {other} show"
        for label, other in (("X", "Y"), ("Y", "X"))
        if label == turned
    )
    x, y = (_turn(x) if turned == "X" else x), (_turn(y) if turned == "Y" else y)
    x_table = check_cells(x, f"X ({x_path})", x_path)
    return x_table, check_cells(y, f"Y ({y_path})", y_path, missing=True), notes


def _find_turned(x: Cells, y: Cells) -> str | None:
    """Which table has the samples of the other in its columns: X, Y, or None where it is unclear.

    Genes may be in both tables too, so that the columns of either are rows of the other. Then the
    samples are those names that make up at least half of the rows and half of the columns.
    """
    if x.samples is None or y.samples is None or set(x.samples) & set(y.samples):
        return None
    pairs = {"X": (x.columns, y.samples), "Y": (y.columns, x.samples)}
    shared = {label: len(set(names) & set(ids)) for label, (names, ids) in pairs.items()}
    for most in (min, max):
        found = [
            label
            for label, (names, ids) in pairs.items()
            if 2 * shared[label] >= most(len(names), len(ids))
        ]
        if len(found) == 1:
            return found[0]
    return None


def _turn(cells: Cells) -> Cells:
    values = np.ascontiguousarray(np.transpose(cells.values))
    return Cells(values, cells.samples or (), cells.columns)


def _pair_three(
    x: Table,
    y: Table,
    covariates: CovariateTable,
    least: int,
    kinds: Mapping[str, str] | None,
    as_is: bool,
) -> Data:
    """Pair those rows of X and Y that have covariates, and code these."""
    if x.samples is None or y.samples is None:
        _check_rows(x, y)
        ids = x.samples or y.samples
        x, y = replace(x, samples=ids), replace(y, samples=ids)
    if x.samples is None or covariates.samples is None:
        _check_count(x, covariates)
        covariates = replace(covariates, samples=x.samples)
    measured = ~np.isnan(y.values).all(axis=1)
    x, y, empty = _drop_empty(x, y)
    if empty and x.samples is None:
        covariates = covariates.take(np.flatnonzero(measured).tolist())
    x, lacking = _keep_known(x, covariates)
    data = pair_tables(x, y, least=least, kinds=kinds, as_is=as_is)
    if data.samples is not None:
        place = {sample: row for row, sample in enumerate(covariates.samples or ())}
        covariates = covariates.take([place[sample] for sample in data.samples])
    coded, constant = code_covariates(covariates)
    names = {entry.name for entry in lacking}
    dropped = [e for e in data.dropped if not (e.reason.startswith("sample") and e.name in names)]
    return replace(data, dropped=(*empty, *dropped, *lacking, *constant), covariates=coded)


def _check_count(x: Table, covariates: CovariateTable) -> None:
    if covariates.rows != len(x.values):
        raise InputError(
            f"covariates must have as many rows as X unless both have sample ids, but have "
            f"{covariates.rows} and X has {len(x.values)}; remove the extra rows, or give all "
            f"tables a first column called 'sample'"
        )


def _keep_known(x: Table, covariates: CovariateTable) -> tuple[Table, list[Dropped]]:
    """Leave out the samples without covariates, and note them."""
    if x.samples is None:
        return x, []
    ids = covariates.samples or ()
    known = set(ids)
    rows = [row for row, sample in enumerate(x.samples) if sample in known]
    if not rows:
        raise InputError(
            f"covariates must have the sample ids of X, but no id of X (such as "
            f"{quote(x.samples[0])}) is among theirs (such as {quote(ids[0])}); write the ids alike"
        )
    lacking = [
        Dropped("X", sample, "sample has no covariates")
        for sample in x.samples
        if sample not in known
    ]
    values = np.take(x.values, rows, axis=0)
    return replace(x, values=values, samples=tuple(x.samples[row] for row in rows)), lacking


def _tell_apart(
    inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Add _x and _y to names that both tables have: each column becomes a node of the graph."""
    shared = set(inputs) & set(outputs)
    inputs = tuple(name + "_x" if name in shared else name for name in inputs)
    outputs = tuple(name + "_y" if name in shared else name for name in outputs)
    clashes = find_repeated(inputs + outputs)
    if clashes:
        raise InputError(
            f"X and Y must have different column names, because each becomes a node of the graph, "
            f"but adding _x and _y to those that both have gives {quote_some(clashes)} twice; "
            f"rename them in one table"
        )
    return inputs, outputs


def _match_samples(
    x: Table, y: Table
) -> tuple[list[int], list[int], tuple[str, ...] | None, list[Dropped]]:
    """Find the rows of X and of Y to keep, their sample ids, and the samples left out."""
    if x.samples is None or y.samples is None:
        _check_rows(x, y)
        rows = list(range(len(x.values)))
        return rows, rows, x.samples or y.samples, []
    y_row = {sample: row for row, sample in enumerate(y.samples)}
    x_rows = [row for row, sample in enumerate(x.samples) if sample in y_row]
    samples = tuple(x.samples[row] for row in x_rows)
    if not samples:
        advice = "write the ids alike in both tables"
        if {*x.columns, *x.samples} & {*y.columns, *y.samples}:
            advice += ", and give each sample a row of its own"
        raise InputError(
            f"X and Y must share sample ids, but no id of X (such as {quote(x.samples[0])}) is in "
            f"Y (such as {quote(y.samples[0])}); {advice}"
        )
    return x_rows, [y_row[sample] for sample in samples], samples, _list_unmatched(x, y, samples)


def _check_rows(x: Table, y: Table) -> None:
    """Refuse different row counts where rows can only be matched by position."""
    if len(x.values) != len(y.values):
        advice = "remove the extra rows, or give both tables a first column called 'sample'"
        if len(x.columns) == len(y.values) or len(y.columns) == len(x.values):
            advice = "give each sample a row, as one table seems to have its samples in columns"
        raise InputError(
            f"X and Y must have the same number of rows unless both have sample ids, but X has "
            f"{len(x.values)} and Y has {len(y.values)}; {advice}"
        )


def _list_unmatched(x: Table, y: Table, samples: tuple[str, ...]) -> list[Dropped]:
    """Note each sample of one table only, and how few match if it is less than half."""
    kept = set(samples)
    dropped = []
    for table, ids, other in (("X", x.samples or (), "Y"), ("Y", y.samples or (), "X")):
        is_few = 2 * len(samples) < len(ids)
        note = f" (only {len(samples)} of the {len(ids)} samples of {table} are)" if is_few else ""
        reason = f"sample is not in {other}{note}"
        dropped += [Dropped(table, sample, reason) for sample in ids if sample not in kept]
    return dropped


def _drop_constant(
    values: np.ndarray, columns: tuple[str, ...], table: str
) -> tuple[np.ndarray, tuple[str, ...], list[Dropped]]:
    """Leave out the columns that tell nothing about the samples."""
    known = ~np.isnan(values)
    first = values[known.argmax(axis=0), np.arange(values.shape[1])]  # [column]
    is_few = ~known.all(axis=0) & (known.sum(axis=0) < FEWEST_VALUES)
    is_constant = ((values == first) | ~known).all(axis=0) | is_few
    if is_constant.all():
        few = ", or hardly any" if is_few.any() else ""
        raise InputError(
            f"{table} must have a column that varies, but each of its {len(columns)} columns has "
            f"the same value in all {len(values)} samples{few}; check the table, or add samples"
        )
    dropped = [
        Dropped(table, columns[number], _say_why(first[number], int(known[:, number].sum()), few))
        for number, few in zip(np.flatnonzero(is_constant), is_few[is_constant], strict=True)
    ]
    kept = tuple(name for name, flag in zip(columns, is_constant, strict=True) if not flag)
    return values[:, ~is_constant], kept, dropped


def _drop_copies(
    values: np.ndarray, columns: tuple[str, ...]
) -> tuple[np.ndarray, tuple[str, ...], list[Dropped]]:
    """Keep the first of inputs that are the same but for origin, scale and sign."""
    copies = _find_copies(values)
    dropped = [
        Dropped("X", columns[number], _say_copy(values, columns, number, original))
        for number, original in copies.items()
    ]
    kept = [number for number in range(len(columns)) if number not in copies]
    return values[:, kept], tuple(columns[number] for number in kept), dropped


def _find_copies(values: np.ndarray) -> dict[int, int]:
    """Columns that are the same but for origin, scale and sign: each later one, and the first.

    Columns are compared after the first sample is brought to 0, and the next that clearly differs
    from it to 1.
    """
    seen: dict[bytes, int] = {}
    found = {}
    for number, column in enumerate(values.T):
        moved = column - column[0]
        size = np.abs(moved)
        unit = moved[(size > 0.1 * np.median(size[size > 0])).argmax()]
        rounded = np.round(moved / unit, 9) + 0.0  # no -0.0
        original = seen.setdefault(hashlib.sha256(rounded.tobytes()).digest(), number)
        if original != number:
            found[number] = original
    return found


def _say_copy(values: np.ndarray, columns: tuple[str, ...], number: int, original: int) -> str:
    name = quote(columns[original])
    if (values[:, number] == values[:, original]).all():
        how = f"it is the same as {name}"
    else:
        how = f"it is {name} in other units or with another sign"
    return f"{how}; edges of {name} stand for both"


def _recode_pairs(
    values: np.ndarray, kinds: Mapping[str, str] | None
) -> tuple[np.ndarray, tuple[float, float], tuple[str, ...]]:
    """Read outputs that all have the same two values, such as 1 and 2, as 0 and 1."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    is_pair = ((values == low) | (values == high) | np.isnan(values)).all()
    if kinds or not is_pair or (low, high) == (0, 1):
        return values, (0.0, 1.0), ()
    note = f"Coding: all outputs are {low:g} or {high:g}, and are read as 0 and 1."
    return (values - low) / (high - low), (low, high), (note,)


def _say_why(value: float, count: int, is_few: bool) -> str:
    return f"only {count} values" if is_few else f"constant (always {value:g})"


def _drop_empty(x: Table, y: Table) -> tuple[Table, Table, list[Dropped]]:
    """Leave out the samples of Y in which no output was measured."""
    empty = np.isnan(y.values).all(axis=1)  # [sample]
    if not empty.any():
        return x, y, []
    if empty.all():
        raise InputError(
            f"Y must hold numbers, but all of its {len(empty)} rows are empty; check the table"
        )
    ids = y.samples or x.samples
    if x.samples is None or y.samples is None:  # rows belong together by their place
        _check_rows(x, y)
        x = _take_rows(x, ~empty)
    names = [ids[row] if ids else f"row {row + 1}" for row in np.flatnonzero(empty)]
    dropped = [Dropped("Y", name, "sample has no outputs") for name in names]
    return x, _take_rows(y, ~empty), dropped


def _take_rows(table: Table, kept: np.ndarray) -> Table:
    ids = table.samples and tuple(s for s, keep in zip(table.samples, kept, strict=True) if keep)
    return replace(table, values=np.compress(kept, table.values, axis=0), samples=ids)
