"""Perturb-seq: guides of cells to inputs, counts to outputs, by pseudo-bulk or cell by cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.errors import InputError, quote_some
from rinn.genomics.experiments.design import find_named, read_times
from rinn.genomics.experiments.records import Experiment, number_groups
from rinn.genomics.experiments.settings import ExperimentSettings
from rinn.genomics.perturbations import CONTROLS, encode_labels, split_label
from rinn.genomics.prepare.clinical import clean_text, find_column
from rinn.genomics.prepare.settings import LOGS
from rinn.genomics.readers.h5ad import load_h5ad, load_obs

# KLF1_2, KLF1.g2, KLF1-sg2; not the gene NKX2-1.
_NUMBER = re.compile(r"(?:[ _.#]+|[ _.#-]+(?:sg|g|guide|grna|sh|si)[ _.#-]*)\d+$", re.IGNORECASE)


@dataclass(frozen=True)
class _Cells:
    """Cells with a guide: their guides as text, and what Experiment has of each."""

    guides: pd.Series
    levels: pd.DataFrame
    labels: pd.DataFrame
    times: pd.Series | None
    replicates: pd.DataFrame
    has_guide: np.ndarray  # of all cells of the file


def read_perturb_seq(path: Path, settings: ExperimentSettings) -> Experiment:
    """Read cells with their guides; cells without a guide are left out."""
    source = f"--perturb-seq ({path})"
    cells = _read_cells(load_obs(path), settings, source)
    acting = int((cells.levels == 0).all(axis=1).sum())
    entries = [
        LogEntry("read", "cells", len(cells.has_guide), f"guides of {', '.join(settings.guides)}"),
        *log_count("dropped", "cells", int((~cells.has_guide).sum()), "without a guide"),
        *log_count("noted", "cells", acting, "controls: no guide that acts"),
    ]
    first: Any = slice(None)
    groups = sizes = None
    index = cells.guides.index
    if settings.unit == "pseudobulk":
        pools, first, pooled = _pool(cells, settings.min_cells, source)
        entries += pooled
        pool = iter(pools)
        groups = [next(pool) if has_one else None for has_one in cells.has_guide]
        sizes = pd.Series([name for name in pools if name]).value_counts(sort=False)
        index = pd.Index(sizes.index)
    table = load_h5ad(path, layer=settings.layer, groups=groups, dtype="float64")
    values, more, is_logged = _normalise(table.table.loc[index], sizes, settings)
    index = index.rename("sample")
    times = None if cells.times is None else cells.times.iloc[first].set_axis(index)
    return Experiment(
        cells.levels.iloc[first].set_axis(index, axis=0).astype(float),
        values.set_axis(index, axis=0),
        cells.labels.iloc[first].set_axis(index, axis=0),
        times,
        (ReadLog(str(path), "Perturb-seq", (*entries, *more)), table.log),
        is_logged=is_logged,
    )


def _read_cells(obs: pd.DataFrame, settings: ExperimentSettings, source: str) -> _Cells:
    """Find the guides of each cell and its other labels."""
    if not settings.guides:
        raise InputError(
            f"--guides must name the columns of obs with the guides of each cell, but is empty; "
            f"{source} has the columns {quote_some(list(map(str, obs.columns)), 12)}"
        )
    names = [find_column(obs, name, "--guides", "obs") for name in settings.guides]
    listed = [_list_guides(row, settings.separators) for row in obs[names].itertuples(index=False)]
    has_guide = np.array([bool(row) for row in listed])
    if not has_guide.any():
        raise InputError(
            f"{source} must have cells with a guide, but {quote_some(names)} is empty; check the "
            f"column"
        )
    obs, listed = obs[has_guide], [row for row in listed if row]
    separator = settings.separators[:1] or "|"
    guides = pd.Series([separator.join(row) for row in listed], index=obs.index)
    targets = guides
    if settings.merge_guides:
        merged = [separator.join(_NUMBER.sub("", part) or part for part in row) for row in listed]
        targets = pd.Series(merged, index=obs.index)
    controls = (*CONTROLS, *(name.lower() for name in settings.controls))
    columns = [
        find_column(obs, name, "--covariate-columns", "obs") for name in settings.covariate_columns
    ]
    time = find_named(obs, settings.time_column, "--time-column")
    replicate = find_named(obs, settings.replicate_column, "--replicate-column")
    return _Cells(
        guides,
        encode_labels(targets, separators=separator, controls=controls),
        obs[columns].map(lambda cell: "" if cell is None else clean_text(str(cell))),
        None if time is None else read_times(obs[time], source),
        obs[[replicate] if replicate else []],
        has_guide,
    )


def _list_guides(row: Sequence[object], separators: str) -> list[str]:
    """The guides of a cell, from all columns, in the order of their names."""
    cells = [clean_text("" if cell is None else str(cell)) for cell in row]
    return sorted({part for cell in cells for part in split_label(cell, separators) if part})


def _pool(
    cells: _Cells, min_cells: int, source: str
) -> tuple[list[str | None], np.ndarray, list[LogEntry]]:
    """The pseudo-bulk of each cell, None for small ones; the first cell of each; the log."""
    labels = cells.guides
    times = [] if cells.times is None else [cells.times]
    numbers = number_groups(labels, cells.labels, cells.replicates, *times)
    sizes = np.bincount(numbers)
    _, starts = np.unique(numbers, return_index=True)
    counts: dict[str, int] = {}
    names: list[str | None] = []
    for number, start in enumerate(starts):
        label = str(labels.iloc[start])
        counts[label] = counts.get(label, 0) + 1
        names.append(f"{label}#{counts[label]}" if sizes[number] >= min_cells else None)
    if not any(names):
        raise InputError(
            f"{source} must have pseudo-bulks of at least {min_cells} cells, but the largest has "
            f"{sizes.max()}; lower --min-cells, or pass --unit cells"
        )
    small = [str(labels.iloc[s]) for name, s in zip(names, starts, strict=True) if name is None]
    lost = f"pseudo-bulks of fewer than {min_cells} cells"
    entries = [
        LogEntry("merged", "cells", len(numbers), f"into {len(names) - len(small)} pseudo-bulks"),
        *log_names("dropped", "pseudo-bulks", lost, small),
    ]
    first = starts[[name is not None for name in names]]
    return [names[number] for number in numbers], first, entries


def _normalise(
    values: pd.DataFrame, sizes: pd.Series | None, settings: ExperimentSettings
) -> tuple[pd.DataFrame, list[LogEntry], bool]:
    """Scale counts to the same total, as log2(x + 1); other values stay as they are."""
    numbers = values.to_numpy(float)
    is_count = bool((numbers >= 0).all() and (numbers == np.round(numbers)).all())
    if not is_count:
        means = numbers if sizes is None else numbers / sizes.to_numpy(float)[:, None]
        reason = "no counts: as written" + ("" if sizes is None else ", mean over cells")
        frame = pd.DataFrame(means, values.index, values.columns)
        return frame, [LogEntry("noted", "genes", values.shape[1], reason)], False
    totals = numbers.sum(axis=1, keepdims=True)
    is_empty = totals[:, 0] == 0
    if is_empty.any():
        raise InputError(
            f"--perturb-seq must have counts in each sample, but "
            f"{quote_some(list(map(str, values.index[is_empty])))} has none; remove such cells"
        )
    middle = float(np.median(totals))
    scaled = numbers * (middle / totals)
    is_logged = LOGS[settings.log] is not False
    reason = f"counts scaled to the median total {middle:,.0f}"
    if is_logged:
        scaled, reason = np.log2(scaled + 1), f"{reason}, log2(x + 1)"
    seen = np.array(numbers.any(axis=0))
    frame = pd.DataFrame(scaled[:, seen], values.index, values.columns[seen])
    unseen = log_count("dropped", "genes", int((~seen).sum()), "without any count")
    return frame, [LogEntry("noted", "genes", frame.shape[1], reason), *unseen], True
