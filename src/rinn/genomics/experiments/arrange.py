"""X, Y and covariates of an experiment: logs, baseline, doses, replicates, times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from rinn.data.align import MIN_OF_NUMBERS
from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.text import check_names
from rinn.data.warnings import warn_of_size
from rinn.errors import InputError, quote_some
from rinn.genomics.experiments.records import Experiment, number_groups
from rinn.genomics.experiments.settings import ExperimentSettings
from rinn.genomics.prepare.clinical import make_covariates
from rinn.genomics.prepare.prepare import Tables
from rinn.genomics.prepare.settings import LOGS
from rinn.genomics.readers.matrices import find_range, needs_log

TIME = "time"
MAX_MISSING = 0.5  # of a covariate


def arrange(experiment: Experiment, settings: ExperimentSettings) -> Tables:
    """Make X, Y and covariates."""
    experiment, entries = _take_log(experiment, settings)
    experiment, dropped = _subtract_start(experiment, settings)
    entries += dropped
    if settings.baseline == "controls":
        experiment = _subtract_controls(experiment)
        entries.append(_note_baseline(experiment, "the mean of the controls"))
    if settings.replicates == "mean":
        experiment, merged = _average(experiment)
        entries += merged
    if settings.time == "outputs" and experiment.times is not None:
        experiment = _spread_times(experiment, settings.time_unit)
    experiment, least = _choose_outputs(experiment, settings.max_outputs)
    x = scale_doses(experiment.levels, settings.dose)
    never = [str(name) for name in x.columns if not x[name].any()]
    entries += least + log_names("dropped", "treatments", "given to no sample", never)
    x = x.drop(columns=never)
    if x.empty:
        raise InputError(
            "X must have a treatment that some samples were given, but has none; check the design"
        )
    covariates, notes = _make_covariates(experiment, settings)
    for label, names in (("X", x), ("Y", experiment.measured), ("samples", x.index)):
        check_names(map(str, names), label, "name")
    logs = (*experiment.logs, ReadLog("prepared tables", "experiment", (*entries, *notes)))
    return Tables(
        x,
        experiment.measured,
        covariates,
        _describe_inputs(x),
        _describe_outputs(experiment.measured),
        logs,
        _list_warnings(x, covariates),
    )


def scale_doses(levels: pd.DataFrame, how: str) -> pd.DataFrame:
    """Doses as levels of X: linear, log or binary; 0 stays 0, and a negative dose negative.

    >>> scale_doses(pd.DataFrame({"drug": [0.0, 0.1, 0.7]}), "log")["drug"].tolist()
    [0.0, 1.0, 3.0]
    """
    if how == "linear":
        return levels
    if how == "binary":
        return (levels != 0).astype(np.int8)
    sizes = levels.abs()
    smallest = sizes.where(sizes > 0).min().fillna(1.0)
    logs = np.sign(levels.to_numpy()) * np.log2(1 + (sizes / smallest).to_numpy())
    return pd.DataFrame(logs.round(6), levels.index, levels.columns)


def _take_log(
    experiment: Experiment, settings: ExperimentSettings
) -> tuple[Experiment, list[LogEntry]]:
    values = experiment.measured.to_numpy()
    lowest, highest = find_range(values)
    if experiment.is_logged or not needs_log(lowest, highest, LOGS[settings.log]):
        return experiment, []
    reason = f"values from {lowest:g} to {highest:g}: log2(x + 1) is taken"
    frame = pd.DataFrame(
        np.log2(values + 1), experiment.measured.index, experiment.measured.columns
    )
    return replace(experiment, measured=frame, is_logged=True), [
        LogEntry("noted", "cells", values.size, reason)
    ]


def _subtract_start(
    experiment: Experiment, settings: ExperimentSettings
) -> tuple[Experiment, list[LogEntry]]:
    """Leave out time 0, where nothing has acted yet; it may be what is subtracted."""
    times = experiment.times
    at_start = np.zeros(len(experiment.levels), bool) if times is None else times.to_numpy() == 0
    wanted = settings.baseline == "time-0"
    if wanted and (not at_start.any() or at_start.all()):
        raise InputError(
            "--baseline time-0 needs samples at time 0 and later ones, but there are "
            "none; name the times with --time-column, or leave it out"
        )
    if not at_start.any() or at_start.all():
        return experiment, []
    later = experiment.take(~at_start)
    entries = log_count("dropped", "samples", int(at_start.sum()), "at time 0, before any effect")
    if not wanted:
        return later, entries
    values = later.measured - _find_start(experiment.take(at_start), later)
    return replace(later, measured=values), [*entries, _note_baseline(later, "the value at time 0")]


def _find_start(start: Experiment, later: Experiment) -> np.ndarray:
    """The mean at time 0 of the same treatments; else of those alone that act before time 0."""
    found = np.full(later.measured.shape, np.nan)
    missing = np.ones(len(found), bool)
    is_before = later.levels.columns.isin(later.before)
    for levels in (later.levels, later.levels * is_before):
        numbers = number_groups(
            pd.concat([start.levels, levels]), pd.concat([start.labels, later.labels])
        )
        means = start.measured.groupby(numbers[: len(start.levels)]).mean()
        own = numbers[len(start.levels) :]
        fits = missing & np.isin(own, means.index)
        found[fits] = means.loc[own[fits]].to_numpy()
        missing &= ~fits
    if missing.any():
        row = later.levels[missing].iloc[0]
        raise InputError(
            f"--baseline time-0 must find each sample's treatments at time 0, but "
            f"{int(missing.sum())} samples, such as {str(row.name)!r} with "
            f"{quote_some([str(n) for n in row.index[row != 0]]) or 'no treatment'}, have none "
            f"there; pass --baseline controls"
        )
    return found


def _subtract_controls(experiment: Experiment) -> Experiment:
    """Subtract the mean of the samples without treatment, with the same labels and time."""
    times = [] if experiment.times is None else [experiment.times]
    numbers = number_groups(experiment.labels, *times)
    is_control = (experiment.levels == 0).all(axis=1).to_numpy()
    means = experiment.measured[is_control].groupby(numbers[is_control]).mean()
    lacking = ~np.isin(numbers, means.index)
    if lacking.any():
        name = experiment.levels.index[lacking][0]
        raise InputError(
            f"--baseline controls must find samples without treatment that have the same "
            f"covariates and time, but {int(lacking.sum())} samples, such as {str(name)!r}, have "
            f"none; name fewer covariates, or leave it out"
        )
    return replace(experiment, measured=experiment.measured - means.loc[numbers].to_numpy())


def _note_baseline(experiment: Experiment, what: str) -> LogEntry:
    return LogEntry("noted", "outputs", experiment.measured.shape[1], f"{what} is subtracted")


def _average(experiment: Experiment) -> tuple[Experiment, list[LogEntry]]:
    """One sample for all with the same treatments, labels and time."""
    times = [] if experiment.times is None else [experiment.times]
    numbers = number_groups(experiment.levels, experiment.labels, *times)
    first = ~pd.Series(numbers).duplicated().to_numpy()
    kept = experiment.take(first)
    means = experiment.measured.groupby(numbers, sort=False).mean().set_axis(kept.levels.index)
    less = len(first) - int(first.sum())
    return replace(kept, measured=means), log_count(
        "merged", "samples", less, "means of replicates"
    )


def _spread_times(experiment: Experiment, unit: str) -> Experiment:
    """One sample for all times: outputs such as AKT@30. Replicates are matched by their order."""
    numbers = number_groups(experiment.levels, experiment.labels)
    times = pd.Series(experiment.times).to_numpy()
    frame = pd.DataFrame({"unit": numbers, "time": times})
    order = frame.groupby(["unit", "time"]).cumcount().to_numpy()
    units = number_groups(frame[["unit"]], pd.Series(order))
    first = ~pd.Series(units).duplicated().to_numpy()
    index = pd.MultiIndex.from_arrays([units, times])
    wide = pd.DataFrame(experiment.measured.set_axis(index, axis=0).unstack())  # noqa: PD010
    wide = wide.loc[:, wide.notna().any()]
    parts = (wide.columns.get_level_values(level) for level in (0, 1))
    names = [f"{name}@{time:g}{unit}" for name, time in zip(*parts, strict=True)]
    kept = experiment.take(first)
    values = wide.loc[units[first]].set_axis(kept.levels.index, axis=0).set_axis(names, axis=1)
    return replace(kept, measured=values, times=None)


def _choose_outputs(
    experiment: Experiment, maximum: int | None
) -> tuple[Experiment, list[LogEntry]]:
    """Keep the outputs with the largest variance, in their order."""
    values = experiment.measured
    if maximum is None or values.shape[1] <= maximum:
        return experiment, []
    best = values.var().sort_values(ascending=False, kind="stable").index[:maximum]
    reason = f"with less variance than the {maximum:,} that are kept"
    entry = LogEntry("dropped", "outputs", values.shape[1] - maximum, reason)
    return replace(experiment, measured=values.loc[:, values.columns.isin(best)]), [entry]


def _make_covariates(
    experiment: Experiment, settings: ExperimentSettings
) -> tuple[pd.DataFrame | None, list[LogEntry]]:
    """The labels and the time; a time is a level, as its effect need not be linear."""
    labels = experiment.labels
    if experiment.times is not None:  # dropped below where all are the same
        texts = [f"t{time:g}{settings.time_unit}" for time in experiment.times]
        labels = labels.assign(**{TIME: texts})
    return make_covariates(labels, MAX_MISSING)


def _describe_inputs(x: pd.DataFrame) -> pd.DataFrame:
    given = x.where(x != 0)
    return pd.DataFrame(
        {
            "input": x.columns,
            "samples": given.notna().sum().to_numpy(),
            "levels": given.nunique().to_numpy(),
            "lowest": given.min().to_numpy(),
            "highest": given.max().to_numpy(),
        }
    )


def _describe_outputs(y: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "output": y.columns,
            "missing": y.isna().sum().to_numpy(),
            "mean": y.mean().to_numpy(),
            "std": y.std().to_numpy(),
        }
    )


def _list_warnings(x: pd.DataFrame, covariates: pd.DataFrame | None) -> tuple[str, ...]:
    """What the user must know before believing a graph of these tables."""
    warnings = [warn_of_size(*x.shape)]
    if len(x) < MIN_OF_NUMBERS:
        warnings.append(
            f"Too few samples: rinn fit needs at least {MIN_OF_NUMBERS}, and there are {len(x)}; "
            f"keep replicates and time points as samples, or add samples."
        )
    if (x != 0).any(axis=1).all():
        warnings.append(
            "No sample is without treatment: effects are those of one treatment against the others."
        )
    copies = _find_copies(x)
    if copies:
        warnings.append(
            f"{len(copies)} treatments are given at the same levels in the same samples "
            f"({quote_some(copies)}): the data cannot show which of them acts."
        )
    return tuple(text for text in warnings if text is not None)


def _find_copies(x: pd.DataFrame) -> Sequence[str]:
    return [str(name) for name in x.columns[x.T.duplicated(keep=False)]]
