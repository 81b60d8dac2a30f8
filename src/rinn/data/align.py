"""Match the rows of X, Y and covariates by sample, and list what was dropped."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.covariates import (
    CovariateTable,
    code_covariates,
    load_covariates,
    make_covariates,
)
from rinn.data.kinds import check_kinds, has_numbers, load_kinds
from rinn.data.records import Data, Dropped
from rinn.data.scaling import check_range
from rinn.data.tables import (
    Table,
    check_cells,
    is_default,
    make_table,
    read_cells,
)
from rinn.data.text import Cells, check_names, check_unique, is_id_header
from rinn.errors import InputError, find_repeated, quote, quote_some

MIN_SAMPLES = 50
MIN_OF_NUMBERS = 10  # samples, where all outputs are numbers without gaps
MIN_VALUES = 10  # of an output that is missing in other samples


def load_data(
    x_path: str | os.PathLike[str],
    y_path: str | os.PathLike[str],
    covariates_path: str | os.PathLike[str] | None = None,
    kinds_path: str | os.PathLike[str] | None = None,
    *,
    as_is: bool = False,
) -> Data:
    r"""Read X and Y from two files, and covariates from a third, and match their samples.

    Cells of Y may be empty. One of the two may have its samples in columns, if these have the ids
    of the other's rows: it is transposed, and the notes of the result report it.

    Args:
        x_path: the table of inputs, such as mutations: .csv, .tsv, .txt, .parquet or .npz.
        y_path: the table of outputs, such as expression, for the same samples.
        covariates_path: a table of tissue, batch and the like, in text or .parquet.
        kinds_path: a table with the columns output and kind (number, binary or count).
        as_is: keep copies of inputs, and outputs with two values that are not 0 and 1.

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
    if os.path.realpath(x_path) == os.path.realpath(y_path):
        raise InputError(
            f"X and Y must be two tables, but both are {x_path}; name the table of the outputs as Y"
        )
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
    min_samples: int | None = None,
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
        min_samples: how many samples they must have in common: by default 10 where all outputs are
            numbers without gaps, and 50 elsewhere.
        covariates: a DataFrame, Series or array of tissue, batch and the like, or None.
        kinds: from names of outputs to number, binary or count; others follow from their values.
        as_is: keep copies of inputs, and outputs with two values that are not 0 and 1.

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
    kinds = check_kinds(kinds, y.columns)
    x = make_table(X, "X")
    return pair_tables(x, y, min_samples=min_samples, covariates=table, kinds=kinds, as_is=as_is)


def pair_tables(
    x: Table,
    y: Table,
    *,
    min_samples: int | None = None,
    covariates: CovariateTable | None = None,
    kinds: Mapping[str, str] | None = None,
    as_is: bool = False,
) -> Data:
    """Match two tables by sample id, or row by row where one of them has no ids.

    Samples of one table only are dropped, those without any output, columns with the same value in
    each of the samples that are left, inputs that are copies of others, and outputs with fewer than
    ten values; each is named in the result. Outputs that all have the same two values are read as 0
    and 1. The order is that of X. With `as_is`, copies and such outputs stay as they are.
    """
    x, y, covariates, dropped = _share_ids(x, y, covariates)
    x, lacking = _drop_without_covariates(x, covariates)
    x, y, unmatched = _match_samples(x, y)
    _check_count(len(x.values), MIN_OF_NUMBERS if min_samples is None else min_samples)
    names = {entry.name for entry in lacking}
    dropped += [entry for entry in unmatched if entry.name not in names]
    x_values, inputs, x_dropped = _drop_constant(x, "X")
    y_values, outputs, y_dropped = _drop_constant(y, "Y")
    y_values = y_values.astype(np.float64, copy=False)
    check_range(x_values, inputs, "X")
    check_range(y_values, outputs, "Y")
    notes, coding = list[str](), (0.0, 1.0)
    if not as_is:
        x_values, inputs, copies = _drop_copies(x_values, inputs)
        x_dropped += copies
        low, high = float(np.nanmin(y_values)), float(np.nanmax(y_values))
        is_pair = ((y_values == low) | (y_values == high) | np.isnan(y_values)).all()
        if is_pair and not kinds and (low, high) != coding:
            notes = [f"Coding: all outputs are {low:g} or {high:g}, and are read as 0 and 1."]
            y_values, coding = (y_values - low) / (high - low), (low, high)
    coded, constant = None, tuple[Dropped, ...]()
    if covariates is not None:
        row_of = {sample: row for row, sample in enumerate(covariates.samples or ())}
        rows = [row_of[sample] for sample in x.samples or ()]
        coded, constant = code_covariates(covariates.take(rows) if rows else covariates)
    new_inputs, new_outputs = _make_unique(inputs, outputs)
    renamed = zip(new_outputs, outputs, strict=True)
    data = Data(
        x_values,
        y_values,
        new_inputs,
        new_outputs,
        x.samples,
        (*dropped, *x_dropped, *y_dropped, *lacking, *constant),
        coded,
        kinds=tuple((new, kinds[old]) for new, old in renamed if kinds and old in kinds),
        notes=tuple(notes),
        coding=coding,
    )
    if min_samples is None and not has_numbers(data):
        where = " where outputs are 0/1 or counted, or lack values"
        _check_count(len(x_values), MIN_SAMPLES, where)
    return data


def _check_count(samples: int, least: int, where: str = "") -> None:
    if samples < least:
        raise InputError(
            f"X and Y must have at least {least} samples in common{where}, but have {samples}; add "
            f"samples, or check that the sample ids are written in the same way"
        )


def find_shared_rows(
    x: Table, y: Table, min_samples: int = MIN_SAMPLES
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None, tuple[Dropped, ...]]:
    """The rows of two tables with the same samples, their ids, and the samples left out."""
    x, y = (
        Table(np.arange(len(table.values), dtype=float)[:, None], ("row",), table.samples)
        for table in (x, y)
    )
    matched = pair_tables(x, y, min_samples=min_samples, as_is=True)
    x_rows, y_rows = (part[:, 0].astype(int) for part in (matched.x, matched.y))
    return x_rows, y_rows, matched.samples, matched.dropped


def match_rows(X: Any, Y: Any) -> tuple[Any, Any]:
    """Bring X and Y into the same order where both have sample ids and these differ."""
    if not all(
        isinstance(table, (pd.DataFrame, pd.Series)) and len(table) and not is_default(table.index)
        for table in (X, Y)
    ):
        return X, Y
    if X.index.equals(Y.index):
        return X, Y
    for label, table in (("X", X), ("Y", Y)):
        if table.index.has_duplicates:
            repeated = [str(name) for name in table.index[table.index.duplicated()]]
            raise InputError(
                f"{label} must have each sample once where X and Y have different indexes, but "
                f"repeats {quote_some(repeated)}; keep one row of each, or give both the same index"
            )
    shared = X.index[X.index.isin(Y.index)]
    if shared.empty:
        raise InputError(
            f"X and Y must share sample ids, but no index entry of X (such as "
            f"{quote(str(X.index[0]))}) is in Y (such as {quote(str(Y.index[0]))}); give both the "
            f"same index, or none with reset_index(drop=True)"
        )
    unmatched = len(X) + len(Y) - 2 * len(shared)
    if unmatched:
        warnings.warn(
            f"{unmatched} rows of X and Y are left out, because their sample ids are in only "
            f"one of the tables; {len(shared)} samples are used",
            stacklevel=4,
        )
    return X.loc[shared], Y.loc[shared]


def find_names(table: Any, label: str) -> tuple[str, ...] | None:
    """The column names of a table, checked as names of nodes; None where it has none."""
    is_series = isinstance(table, pd.Series)
    names: list[Any] = [table.name] if is_series else list(getattr(table, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        return None
    check_unique(names, label, "column")
    check_names(names, label, "column")
    if len(names) > 1 and is_id_header(names[0]):
        raise InputError(
            f"{label} must hold nothing but {'inputs' if label == 'X' else 'outputs'}, but its "
            f"first column {quote(names[0])} seems to hold sample ids; make it the index with "
            f"set_index({names[0]!r})"
        )
    return tuple(names)


def fingerprint(data: Data) -> dict[str, str]:
    """SHA-256 of each part of the data."""
    names = {"inputs": list(data.inputs), "outputs": list(data.outputs)}
    samples = None if data.samples is None else list(data.samples)
    contents = {
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
    digests = {part: hashlib.sha256(content).hexdigest() for part, content in contents.items()}
    x = hashlib.sha256()
    for row in data.x:  # one by one: a wide table has one byte a cell
        x.update(np.ascontiguousarray(row, dtype="<f8").tobytes())
    return {"x": x.hexdigest()} | digests


def _load_two(x_path: Path, y_path: Path) -> tuple[Table, Table, tuple[str, ...]]:
    """Read X and Y, and transpose the one that has its samples in columns."""
    cells = {"X": read_cells(x_path, "X"), "Y": read_cells(y_path, "Y")}
    label, notes = _find_transposed(**cells), list[str]()
    if label is not None:
        turned = cells[label]
        values = np.ascontiguousarray(np.transpose(turned.values))
        cells[label] = Cells(values, turned.samples or (), turned.columns)
        other = "Y" if label == "X" else "X"
        note = f"{label} was transposed: its samples are in columns, as the sample ids of {other}"
        notes = [f"{note} show"]
    x = check_cells(cells["X"], f"X ({x_path})", x_path)
    return x, check_cells(cells["Y"], f"Y ({y_path})", y_path, missing=True), tuple(notes)


def _find_transposed(X: Cells, Y: Cells) -> str | None:
    """Which table has the samples of the other in its columns: X, Y, or None where unclear.

    Genes may be in both tables too, so that the columns of either are rows of the other. Then the
    samples are those names that make up at least half of the rows and half of the columns.
    """
    if X.samples is None or Y.samples is None or set(X.samples) & set(Y.samples):
        return None
    pairs = {"X": (set(X.columns), set(Y.samples)), "Y": (set(Y.columns), set(X.samples))}
    for bound in (min, max):
        matching = [
            label
            for label, (names, ids) in pairs.items()
            if 2 * len(names & ids) >= bound(len(names), len(ids))
        ]
        if len(matching) == 1:
            return matching[0]
    return None


def _share_ids(
    x: Table, y: Table, covariates: CovariateTable | None
) -> tuple[Table, Table, CovariateTable | None, list[Dropped]]:
    """Give each table the ids of those it is matched with by position; drop empty rows of Y."""
    is_empty = np.isnan(y.values).all(axis=1)
    if is_empty.all():
        raise InputError(
            f"Y must hold numbers, but all of its {len(y.values)} rows are empty; check the table"
        )
    is_positional = x.samples is None or y.samples is None
    if is_positional and len(x.values) != len(y.values):
        advice = "remove the extra rows, or give both tables a first column called 'sample'"
        if len(x.columns) == len(y.values) or len(y.columns) == len(x.values):
            advice = "give each sample a row, as one table seems to have its samples in columns"
        raise InputError(
            f"X and Y must have the same number of rows unless both have sample ids, but X has "
            f"{len(x.values)} and Y has {len(y.values)}; {advice}"
        )
    if is_positional:
        ids = x.samples or y.samples
        x, y = replace(x, samples=ids), replace(y, samples=ids)
    if covariates is not None and (x.samples is None or covariates.samples is None):
        if covariates.rows != len(x.values):
            raise InputError(
                f"covariates must have as many rows as X unless both have sample ids, but have "
                f"{covariates.rows} and X has {len(x.values)}; remove the extra rows, or give all "
                f"tables a first column called 'sample'"
            )
        covariates = replace(covariates, samples=x.samples)
    if not is_empty.any():
        return x, y, covariates, []
    names = [y.samples[n] if y.samples else f"row {n + 1}" for n in np.flatnonzero(is_empty)]
    dropped = [Dropped("Y", name, "sample has no outputs") for name in names]
    rows = np.flatnonzero(~is_empty).tolist()
    if covariates is not None and x.samples is None:
        covariates = covariates.take(rows)
    return (x.take(rows) if is_positional else x), y.take(rows), covariates, dropped


def _drop_without_covariates(
    x: Table, covariates: CovariateTable | None
) -> tuple[Table, list[Dropped]]:
    if covariates is None or x.samples is None:
        return x, []
    ids = covariates.samples or ()
    matched = set(ids)
    rows = [row for row, sample in enumerate(x.samples) if sample in matched]
    if not rows:
        raise InputError(
            f"covariates must have the sample ids of X, but no id of X (such as "
            f"{quote(x.samples[0])}) is among theirs (such as {quote(ids[0])}); write the ids "
            f"in the same way"
        )
    lacking = [name for name in x.samples if name not in matched]
    return x.take(rows), [Dropped("X", name, "sample has no covariates") for name in lacking]


def _make_unique(
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


def _match_samples(x: Table, y: Table) -> tuple[Table, Table, list[Dropped]]:
    """The rows of X and Y with the same samples in the order of X, and the samples left out."""
    if x.samples is None or y.samples is None:
        return x, y, []
    y_row = {sample: row for row, sample in enumerate(y.samples)}
    x_rows = [row for row, sample in enumerate(x.samples) if sample in y_row]
    samples = [x.samples[row] for row in x_rows]
    if not samples:
        advice = "write the ids in the same way in both tables"
        if {*x.columns, *x.samples} & {*y.columns, *y.samples}:
            advice += ", and give each sample its own row"
        raise InputError(
            f"X and Y must share sample ids, but no id of X (such as {quote(x.samples[0])}) is in "
            f"Y (such as {quote(y.samples[0])}); {advice}"
        )
    kept = set(samples)
    dropped = []
    for table, ids, other in (("X", x.samples, "Y"), ("Y", y.samples, "X")):
        is_few = 2 * len(samples) < len(ids)
        note = f" (only {len(samples)} of the {len(ids)} samples of {table} are)" if is_few else ""
        reason = f"sample is not in {other}{note}"
        dropped += [Dropped(table, sample, reason) for sample in ids if sample not in kept]
    return x.take(x_rows), y.take([y_row[sample] for sample in samples]), dropped


def _drop_constant(table: Table, label: str) -> tuple[np.ndarray, tuple[str, ...], list[Dropped]]:
    """Drop constant columns, and those with hardly any value."""
    values, columns = np.asarray(table.values), table.columns
    observed = ~np.isnan(values)
    first = values[observed.argmax(axis=0), np.arange(values.shape[1])]  # [column]
    is_few = ~observed.all(axis=0) & (observed.sum(axis=0) < MIN_VALUES)
    is_constant = ((values == first) | ~observed).all(axis=0) | is_few
    if is_constant.all():
        few = ", or hardly any" if is_few.any() else ""
        raise InputError(
            f"{label} must have a column that varies, but each of its {len(columns)} columns has "
            f"the same value in all {len(values)} samples{few}; check the table, or add samples"
        )
    reasons = {
        n: f"only {observed[:, n].sum()} values" if is_few[n] else f"constant (always {first[n]:g})"
        for n in np.flatnonzero(is_constant)
    }
    dropped = [Dropped(label, columns[n], reason) for n, reason in reasons.items()]
    kept = tuple(name for n, name in enumerate(columns) if not is_constant[n])
    return values[:, ~is_constant], kept, dropped


def _drop_copies(
    values: np.ndarray, columns: tuple[str, ...]
) -> tuple[np.ndarray, tuple[str, ...], list[Dropped]]:
    """Keep the first of inputs that are the same but for origin, scale and sign.

    Columns are compared after the first sample is brought to 0, and the next that clearly differs
    from it to 1.
    """
    seen: dict[bytes, int] = {}
    kept, dropped = [], []
    for number, column in enumerate(values.T):
        moved = column - np.float64(column[0])
        size = np.abs(moved)
        unit = moved[(size > 0.1 * np.median(size[size > 0])).argmax()]
        rounded = np.round(moved / unit, 9) + 0.0  # no -0.0
        original = seen.setdefault(hashlib.sha256(rounded.tobytes()).digest(), number)
        if original == number:
            kept.append(number)
            continue
        name = quote(columns[original])
        is_same = (column == values[:, original]).all()
        how = f"the same as {name}" if is_same else f"{name} in other units or with another sign"
        reason = f"it is {how}; edges of {name} are those of both"
        dropped.append(Dropped("X", columns[number], reason))
    return values[:, kept], tuple(columns[number] for number in kept), dropped
