"""An experiment as it was read, before doses, times and replicates are arranged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rinn.data.log import ReadLog


@dataclass(frozen=True)
class Experiment:
    """Samples of an experiment: what each was given, and what was measured.

    All tables have the same index. `levels` is [sample, treatment], 0 where it was not given;
    `measured` [sample, output]; `labels` the columns that become covariates; `times` the time of
    each sample, or None. `before` names treatments that act before time 0, as inhibitors do.
    """

    levels: pd.DataFrame
    measured: pd.DataFrame
    labels: pd.DataFrame
    times: pd.Series | None
    logs: tuple[ReadLog, ...]
    before: tuple[str, ...] = ()
    is_logged: bool = False

    def take(self, rows: np.ndarray) -> Experiment:
        """The experiment with these rows."""
        times = None if self.times is None else self.times[rows]
        return Experiment(
            self.levels[rows], self.measured[rows], self.labels[rows], times, self.logs,
            self.before, self.is_logged,
        )  # fmt: skip


def number_groups(*tables: pd.DataFrame | pd.Series) -> np.ndarray:
    """A number for each row: rows that agree in all columns of all tables have the same."""
    columns = [pd.DataFrame(each).T.reset_index(drop=True).T for each in tables]
    keys = pd.concat(columns, axis=1, ignore_index=True)
    if keys.shape[1] == 0:
        return np.zeros(len(keys), int)
    return keys.groupby(list(keys.columns), sort=False, dropna=False).ngroup().to_numpy()
