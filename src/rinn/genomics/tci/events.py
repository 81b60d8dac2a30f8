"""What happened in each tumour: its alterations, its expression changes, its tissue."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from rinn.data.align import MIN_SAMPLES, find_shared_rows
from rinn.data.records import Dropped
from rinn.data.tables import (
    TEXT_SUFFIXES,
    Table,
    load_table,
    make_table,
    read_content,
    read_text_frame,
)
from rinn.data.text import MISSING, check_names, check_unique, is_id_header
from rinn.errors import InputError, quote, quote_some
from rinn.files import within_memory

OTHER = "A0"
TISSUE = "tissue"


@dataclass(frozen=True)
class Events:
    """Which tumour has which SGA and which DEG.

    `altered` is [tumour, sga], sparse, with int8 ones; `expressed` is [tumour, deg], bool.
    `tissues` holds one label for each tumour, or is None; `samples` the ids, or is None.
    """

    altered: sparse.csr_array
    expressed: np.ndarray
    sgas: tuple[str, ...]
    degs: tuple[str, ...]
    samples: tuple[str, ...] | None = None
    tissues: tuple[str, ...] | None = None
    dropped: tuple[Dropped, ...] = ()

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of the causes by their code: A0, all that is not measured, then the SGAs."""
        return (OTHER, *self.sgas)


def load_events(
    x_path: str | os.PathLike[str],
    y_path: str | os.PathLike[str],
    tissue_path: str | os.PathLike[str] | None = None,
) -> Events:
    """Read SGAs and DEGs from two tables of zeros and ones, and the tissues from a third.

    Args:
        x_path: alterations, samples x genes; `rinn.data.tables.load_table` says in which formats.
        y_path: expression changes, samples x genes, for the same samples.
        tissue_path: the tissue of each sample, as `load_labels` reads it.

    Returns:
        The samples that all tables have, in the order of X.

    Raises:
        InputError: a file cannot be read, holds other numbers, or does not fit the others.
    """
    labels = None if tissue_path is None else load_labels(tissue_path)
    # One table after the other: as numbers they are 64 times as large as they are as bits.
    x = _shrink(load_table(x_path, "X"), "X")
    y = _shrink(load_table(y_path, "Y"), "Y")
    return _pair(x, y, labels, MIN_SAMPLES)


def as_events(
    X: pd.DataFrame | np.ndarray,
    Y: pd.DataFrame | np.ndarray,
    tissues: Sequence[str] | pd.Series | None = None,
    *,
    min_samples: int = MIN_SAMPLES,
) -> Events:
    """Make events from tables in memory; they stay as they are.

    Args:
        X: alterations, zeros and ones; a DataFrame's index holds the sample ids.
        Y: expression changes, zeros and ones, for the same samples.
        tissues: one label for each row of X, or a Series by sample id.
        min_samples: how many samples the tables must have in common.

    Returns:
        The samples that all tables have, in the order of X.

    Raises:
        InputError: a table holds other numbers, or does not fit the others.

    Example:
        >>> x = pd.DataFrame({"TP53": [1, 0, 1], "KRAS": [0, 1, 1]})
        >>> events = as_events(x, 1 - x, ["lung", "lung", "skin"], min_samples=3)
        >>> events.altered.sum(axis=0).tolist(), events.causes
        ([2, 2], ('A0', 'TP53', 'KRAS'))
    """
    labels = None if tissues is None else pd.Series(tissues, dtype=object).map(str)
    if labels is not None and not isinstance(labels.index, pd.RangeIndex):
        labels = labels.set_axis(labels.index.map(str))
    x, y = _shrink(make_table(X, "X"), "X"), _shrink(make_table(Y, "Y"), "Y")
    return _pair(x, y, labels, min_samples)


def fingerprint_events(events: Events) -> dict[str, str]:
    """Hashes of the names, samples, tissues, X and Y of the events."""
    altered = events.altered
    indices = [altered.indptr.astype("<i8"), altered.indices.astype("<i8")]
    texts = {
        "names": [list(events.sgas), list(events.degs)],
        "samples": None if events.samples is None else list(events.samples),
        "tissues": None if events.tissues is None else list(events.tissues),
    }
    contents = {"x": b"".join(part.tobytes() for part in indices)}
    contents["y"] = np.packbits(events.expressed).tobytes()
    contents |= {name: json.dumps(value).encode() for name, value in texts.items()}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _shrink(table: Table, label: str) -> Table:
    """Refuse other values than 0 and 1, and keep a byte for each."""
    numbers = np.asarray(table.values)
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"{label} must hold only 0 and 1, but column {quote(table.columns[column])} has "
            f"{numbers[row, column]:g}, the first of {int(wrong.sum())} such values; write 1 "
            f"where a gene is altered or its expression changed, else 0"
        )
    return replace(table, values=numbers.astype(np.int8))


def _pair(x: Table, y: Table, labels: pd.Series | None, min_samples: int) -> Events:
    if OTHER in x.columns:
        raise InputError(
            f"X must not have a column {OTHER!r}, which stands for all causes that are not "
            f"measured, but it has one; rename it"
        )
    min_samples = max(2, min_samples)
    x_rows, y_rows, samples, dropped = find_shared_rows(x, y, min_samples)
    tissues = None
    if labels is not None:
        kept, tissues = _match_labels(labels, samples, x_rows, len(x.values))
        if len(kept) < min_samples:
            raise InputError(
                f"X, Y and the tissues must have at least {min_samples} samples in common, but "
                f"have {len(kept)}; check that the sample ids are written the same way"
            )
        if samples is not None:
            left = sorted(set(range(len(samples))) - set(kept))
            dropped += tuple(Dropped("X", samples[i], "sample has no tissue") for i in left)
            samples = tuple(samples[i] for i in kept)
        x_rows, y_rows = x_rows[kept], y_rows[kept]
    return Events(
        altered=sparse.csr_array(np.take(x.values, x_rows, axis=0)),
        expressed=np.take(y.values, y_rows, axis=0).astype(bool),
        sgas=x.columns,
        degs=y.columns,
        samples=samples,
        tissues=tissues,
        dropped=dropped,
    )


def _match_labels(
    labels: pd.Series, samples: tuple[str, ...] | None, x_rows: np.ndarray, rows: int
) -> tuple[list[int], tuple[str, ...]]:
    """Find the matched samples that have a label, and their labels."""
    if isinstance(labels.index, pd.RangeIndex) or samples is None:
        if len(labels) != rows:
            raise InputError(
                f"the tissues must have one label for each of the {rows} rows of X unless both "
                f"have sample ids, but have {len(labels)}; add the ids or the labels"
            )
        return list(range(len(x_rows))), tuple(labels.iloc[x_rows])
    of_sample = {str(name): str(label) for name, label in labels.items()}
    kept = [row for row, sample in enumerate(samples) if sample in of_sample]
    if not kept:
        raise InputError(
            f"the tissues must share sample ids with X, but have {quote_some(list(of_sample))} and "
            f"X has {quote_some(samples)}; write the ids the same way"
        )
    return kept, tuple(of_sample[samples[row]] for row in kept)


def load_labels(path: str | os.PathLike[str], column: str = TISSUE) -> pd.Series:
    """Read the labels of samples from a .csv, .tsv or .txt file with a header, also gzipped.

    A first column called sample, id, barcode or similar holds the sample ids; without one the
    rows are numbered. The labels are in the named column, or in the only other one.
    """
    path = Path(path)
    source = f"the table of labels ({path})"
    with within_memory(source):
        frame = read_text_frame(*read_content(path, source, TEXT_SUFFIXES), source)
    if len(frame.columns) > 1 and is_id_header(frame.columns[0]):
        frame = frame.set_index(frame.columns[0])
    names = list(frame.columns)
    if column not in names and len(names) != 1:
        raise InputError(
            f"{path} must have a column {quote(column)}, but it has {quote_some(names)}; rename one"
        )
    check_unique(names, str(path), "column")
    labels = frame[column if column in names else names[0]]
    check_names(labels, str(path), "label")
    missing = np.flatnonzero(labels.str.lower().isin(MISSING))
    if len(missing):
        row = missing[0]
        has_ids = not isinstance(labels.index, pd.RangeIndex)
        name = quote(labels.index[row]) if has_ids else f"row {row + 1}"
        raise InputError(
            f"{path} must have a label for each sample, but {name} has none, the first of "
            f"{len(missing)} in all; write 'unknown', or remove the rows"
        )
    if labels.index.has_duplicates:
        repeated = list(labels.index[labels.index.duplicated()].unique())
        raise InputError(
            f"{path} must have each sample once, but repeats {quote_some(repeated)}; keep one row "
            f"of each"
        )
    return labels
