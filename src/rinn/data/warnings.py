"""Warnings about tables whose graph may be wrong or hard to interpret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rinn.config import FEW_NETWORKS, MIN_NETWORKS
from rinn.data.kinds import find_kinds, has_numbers
from rinn.data.likelihoods import NUMBER
from rinn.data.problem import MIN_PERMUTED
from rinn.data.records import Data
from rinn.data.scaling import LIMIT, find_limits
from rinn.errors import count, quote, quote_some

FEW_SAMPLES = 200
FEW_CARRIERS = 10
GAP = 10.0  # a value this many times the range of all others away from them looks like a code
NEARLY = 0.99  # correlation of inputs that can hardly be distinguished
MAX_COMPARED = 2000  # inputs: with more, pairs are not compared
NORMAL_ERRORS = (
    f"Normal errors are assumed: with fewer than {MIN_PERMUTED} samples nothing else can tell "
    f"effects from chance. Outputs that are far from normal, such as intensities, belong on a log "
    f"scale."
)


def find_warnings(data: Data, networks: int | None = None) -> tuple[str, ...]:
    """Warnings about the tables and the number of networks, one sentence each."""
    numbers = [kind == NUMBER for kind in find_kinds(data, "auto")]
    outputs = [name for name, flag in zip(data.outputs, numbers, strict=True) if flag]
    is_small = len(data.x) < MIN_PERMUTED and has_numbers(data)
    warnings = [
        *data.notes,
        warn_of_size(len(data.x), len((data.screening or data).inputs)),
        NORMAL_ERRORS if is_small else _warn_of_rare(data),
        _warn_of_networks(networks),
        _warn_of_codes("X", data.x, data.inputs),
        _warn_of_codes("Y", data.y, data.outputs),
        _warn_of_extremes("X", data.x, data.inputs, data.samples),
        _warn_of_extremes("Y", data.y[:, numbers], outputs, data.samples),
        _warn_of_similar(data),
    ]
    return tuple(sentence for sentence in warnings if sentence)


def warn_of_size(samples: int, inputs: int) -> str | None:
    """Warn where there are few samples, or fewer than inputs."""
    if samples < inputs:
        why = f"{samples:,} samples are fewer than the {inputs:,} inputs"
    elif samples < FEW_SAMPLES:
        why = f"{samples:,} samples are few (fewer than {FEW_SAMPLES})"
    else:
        return None
    return (
        f"Small data: {why}, so read the graph as a hypothesis and single edges as uncertain; "
        f"--null estimates how many edges are due to chance."
    )


def _warn_of_networks(networks: int | None) -> str | None:
    if networks is None or networks >= FEW_NETWORKS:
        return None
    trained, result = count(networks, "network"), "with {} edges may be missing or wrong"
    if networks < MIN_NETWORKS:
        result = "{} cannot support a graph, so no edge is reported"
    advice = f"train at least {FEW_NETWORKS}, or leave --trials out"
    return f"Few networks: {result.format(trained)}; {advice}."


def _warn_of_rare(data: Data) -> str | None:
    """Name inputs with two values of which one is rare."""
    low, high = data.x.min(axis=0), data.x.max(axis=0)
    is_binary = ((data.x == low) | (data.x == high)).all(axis=0)
    carriers = np.minimum((data.x == low).sum(axis=0), (data.x == high).sum(axis=0))
    rare = np.flatnonzero(is_binary & (carriers < FEW_CARRIERS))
    if not len(rare):
        return None
    first = rare[carriers[rare].argmin()]
    verb, whose = ("has", "its") if len(rare) == 1 else ("have", "their")
    return (
        f"Rare inputs: {len(rare)} of {len(data.inputs)} {verb} fewer than {FEW_CARRIERS} samples "
        f"with {whose} rarer value, such as {quote(data.inputs[first])} ({carriers[first]}); "
        f"{whose} effects can hardly be distinguished from chance."
    )


def _warn_of_codes(table: str, values: np.ndarray, names: Sequence[str]) -> str | None:
    """Name columns that repeat a value far from all others, such as -999."""
    each = ((name, _find_code(column)) for name, column in zip(names, values.T, strict=True))
    codes = [(name, code) for name, code in each if code is not None]
    if not codes:
        return None
    name, code = codes[0]
    repeat = "repeat" if codes[1:] else "repeats"
    return (
        f"Codes: {count(len(codes), 'column')} of {table}, such as {quote(name)}, {repeat} a value "
        f"({code:g}) that is far from all others; if it stands for a missing value, leave these "
        f"cells empty."
    )


def _warn_of_extremes(
    table: str, values: np.ndarray, names: Sequence[str], samples: Sequence[str] | None
) -> str | None:
    """Name values far from all others, which dominate any fit."""
    low, high = find_limits(values)
    rows, columns = np.nonzero((values < low) | (values > high))
    if not len(rows):
        return None
    row, column = rows[0], columns[0]
    where = f"sample {quote(samples[row])}" if samples else f"row {row + 1}"
    verb = "are" if len(rows) > 1 else "is"
    what = "limited to that" if table == "Y" else "left as they are and dominate the fit"
    return (
        f"Extreme values: {count(len(rows), 'value')} of {table}, such as {values[row, column]:g} "
        f"in {quote(names[column])} ({where}), {verb} more than {LIMIT:g} robust standard "
        f"deviations from the median; such values are {what}, so check them."
    )


def _find_code(column: np.ndarray) -> float | None:
    """A repeated smallest or largest value far from all others."""
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    if len(values) < 4:
        return None
    if values[1] - values[0] > GAP * (values[-1] - values[1]) and counts[0] > 1:
        return float(values[0])
    if values[-1] - values[-2] > GAP * (values[-2] - values[0]) and counts[-1] > 1:
        return float(values[-1])
    return None


def _warn_of_similar(data: Data) -> str | None:
    """Name inputs that are nearly the same, or that others add up to."""
    if not 1 < len(data.inputs) <= MAX_COMPARED:
        return None
    x = data.x - data.x.mean(axis=0)
    norm = np.sqrt((x**2).sum(axis=0))
    correlation = (x / norm).T @ (x / norm)
    pairs = np.argwhere(np.triu(np.abs(correlation) > NEARLY, 1))
    if len(pairs):
        one, other = (quote(data.inputs[column]) for column in pairs[0])
        return (
            f"Similar inputs: {count(len(pairs), 'pair')}, such as {one} and {other}, correlate by "
            f"more than {NEARLY:g}; which of them acts can hardly be decided, so leave one "
            f"of each pair out."
        )
    if len(data.x) <= len(data.inputs):
        return None
    values, vectors = np.linalg.eigh(correlation)
    if values[0] > 1e-9:
        return None
    weight = np.abs(vectors[:, 0]) / np.abs(vectors[:, 0]).max()
    involved = [data.inputs[column] for column in np.flatnonzero(weight > 0.05)]
    return (
        f"Dependent inputs: {quote_some(involved)} add up to a constant, so that the effect of "
        f"each cannot be separated from the others'; leave one of them out."
    )
