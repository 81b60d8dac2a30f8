"""MIDAS files: one row for each condition and time; columns TR: treatments, DA: times, DV: values.

Saez-Rodriguez et al., Bioinformatics 2008. Treatments may end in :Stimuli, :Inhibitors or another
kind; those that end in :CellLine say which cells a row is of.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.tables import read_frame
from rinn.data.text import Lines, check_unique, parse_cell
from rinn.errors import InputError, quote, quote_some
from rinn.genomics.experiments.records import Experiment
from rinn.genomics.experiments.settings import ExperimentSettings
from rinn.genomics.perturbations import CONTROLS

CELL = "cell"
NOTHING = ("nocyto", "noinhib", "nolig", "nostim", "mock")  # columns of rows without treatment


def read_midas(path: Path, settings: ExperimentSettings) -> Experiment:
    """Read a MIDAS file; inhibitors get the ending `i`, and are taken to act before time 0."""
    lines = Lines(path, "--midas")
    frame = read_frame(lines, pad=True)
    parts = {name: _split_name(name) for name in map(str, frame.columns)}
    columns = {
        kind: [name for name, (first, *_) in parts.items() if first == kind]
        for kind in ("TR", "DA", "DV")
    }
    if missing := [f"{kind}:" for kind, names in columns.items() if not names]:
        raise InputError(
            f"{lines.source} must have columns that begin with TR:, DA: and DV:, but none begins "
            f"with {quote_some(missing)}; give a MIDAS file, or a table with --design"
        )
    index = pd.Index([f"row{number + 1}" for number in range(len(frame))], name="sample")
    numbers = _read_numbers(frame[[*columns["TR"], *columns["DA"], *columns["DV"]]], lines.source)
    numbers = numbers.set_axis(index, axis=0)
    cells = [name for name in columns["TR"] if parts[name][2] == "cellline"]
    left = [name for name in columns["TR"] if _is_nothing(parts[name][1], settings)]
    treatments = [name for name in columns["TR"] if name not in (*cells, *left)]
    levels = numbers[treatments].fillna(0.0)
    levels.columns = pd.Index([_name_treatment(*parts[name][1:]) for name in treatments])
    check_unique(list(levels.columns), lines.source, "treatment")
    values = numbers[columns["DV"]]
    values.columns = pd.Index([parts[name][1] for name in columns["DV"]])
    check_unique(list(values.columns), lines.source, "output")
    before = [_name_treatment(*parts[n][1:]) for n in treatments if _is_inhibitor(*parts[n][1:])]
    labels, noted = _find_cells(numbers[cells], [parts[name][1] for name in cells], lines.source)
    shape = f"{len(treatments)} treatments, {values.shape[1]} outputs"
    entries = (
        LogEntry("read", "rows", len(frame), shape),
        *log_names("noted", "treatments", "inhibitors: given before time 0", before),
        *log_names("dropped", "columns", "they mean that nothing was given", left),
        *noted,
    )
    times = _find_times(numbers[columns["DA"]], lines.source)
    log = ReadLog(str(path), "MIDAS", entries)
    return Experiment(levels, values, labels, times, (log,), tuple(before))


def _split_name(name: str) -> tuple[str, str, str]:
    """The kind of a column, its name, and what follows that, in lower case."""
    first, _, rest = name.partition(":")
    middle, _, last = rest.partition(":")
    return first.strip().upper(), middle.strip(), last.strip().lower()


def _is_nothing(name: str, settings: ExperimentSettings) -> bool:
    known = (*NOTHING, *CONTROLS, *(each.lower() for each in settings.controls))
    return name.lower() in known


def _is_inhibitor(name: str, kind: str) -> bool:
    """Whether a treatment is called an inhibitor, or named as one (PI3Ki) without a kind."""
    return kind.startswith("inhib") or (not kind and len(name) > 2 and name.endswith("i"))


def _name_treatment(name: str, kind: str) -> str:
    """The name as input: an inhibitor of MEK, which may be an output too, is MEKi."""
    return f"{name}i" if kind.startswith("inhib") and not name.endswith("i") else name


def _read_numbers(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    numbers = frame.map(parse_cell)
    wrong = numbers.isna() & frame.map(lambda text: parse_cell(text) is None)
    for name in wrong.columns[wrong.any()]:
        row = int(wrong[name].to_numpy().argmax())
        raise InputError(
            f"{source} must hold numbers, but column {quote(name)} has "
            f"{quote(frame[name].iloc[row])} in line {row + 2}; write a number, or leave it empty"
        )
    return numbers.astype(float)


def _find_cells(
    given: pd.DataFrame, names: list[str], source: str
) -> tuple[pd.DataFrame, list[LogEntry]]:
    """The cell line of each row; none where all rows are of one."""
    empty = pd.DataFrame(index=given.index)
    if len(names) < 2:
        return empty, log_names("noted", "cell lines", "the same in all rows", names)
    flags = given.to_numpy() > 0
    wrong = flags.sum(axis=1) != 1
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{source} must name one cell line in each row, but line {row + 2} has "
            f"{int(flags[row].sum())}; write 1 in one of the columns {quote_some(names)}"
        )
    return empty.assign(**{CELL: [names[place] for place in flags.argmax(axis=1)]}), []


def _find_times(times: pd.DataFrame, source: str) -> pd.Series:
    """The time of each row, which all its DA: columns agree on."""
    lowest, highest = times.min(axis=1), times.max(axis=1)
    wrong = ~(lowest == highest).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        has = f"{lowest.iloc[row]:g} and {highest.iloc[row]:g}"
        raise InputError(
            f"{source} must have one time in each row, but the DA: columns of line {row + 2} have "
            f"{has}; give each time a row of its own"
        )
    return lowest.rename("time")
