"""Learning curves: what each network lost in every epoch, from the training loop to curves.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

CURVES = "curves.csv"
LOSSES = ("train_loss", "validation_loss")
COLUMNS = ("trial", "epoch", *LOSSES)
NO_CURVE = np.empty((0, len(LOSSES)), np.float32)


def add_segment(
    curves: tuple[np.ndarray, ...],
    members: np.ndarray,
    losses: Sequence[np.ndarray],
    trials: int,
    epoch: int,
) -> tuple[np.ndarray, ...]:
    """Add the losses of one segment to the curves of a group, NaN where a trial did not run."""
    recorded = sum(len(part) for part in curves)
    if recorded < epoch:
        curves = (np.full((epoch - recorded, trials, len(LOSSES)), np.nan, np.float32), *curves)
    running = members >= 0
    part = np.full((len(losses[0]), trials, len(LOSSES)), np.nan, np.float32)
    part[:, members[running]] = np.stack([loss[:, running] for loss in losses], axis=-1)
    return (*curves, part)


def read_curves(curves: Sequence[np.ndarray], trials: np.ndarray) -> np.ndarray:
    """The curves of some trials of a group, [trial, epoch, loss]."""
    return np.concatenate([part[:, trials] for part in curves]).swapaxes(0, 1)


def tabulate_curves(curves: Mapping[int, np.ndarray]) -> pd.DataFrame:
    """One row for each network and epoch."""
    numbers = sorted(curves)
    lengths = [len(curves[number]) for number in numbers]
    losses = np.concatenate([NO_CURVE, *(curves[number] for number in numbers)])
    table = pd.DataFrame(
        {
            "trial": np.repeat(np.array(numbers, np.int64), lengths),
            "epoch": np.concatenate([np.arange(0), *(np.arange(n) + 1 for n in lengths)]),
            **dict(zip(LOSSES, losses.T.astype(np.float64), strict=True)),
        }
    )
    return table.dropna(subset=list(LOSSES), how="all", ignore_index=True)
