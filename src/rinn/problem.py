"""From two tables to what the networks see: splits first, then scales that know no test sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from rinn.config import SPLITS, TEST_SHARE, VALIDATION_SHARE
from rinn.confounding.models import Adjustment, fit_adjustment
from rinn.errors import InputError
from rinn.pairing import outputs_kind
from rinn.records import Data

MANY_INPUTS = 100


@dataclass(frozen=True)
class Scale:
    """Column-wise centre and spread; `undo(apply(v)) == v`."""

    centre: np.ndarray
    spread: np.ndarray

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values into the networks' units."""
        return (values - self.centre) / self.spread

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Bring [sample, column] values back into the user's units."""
        return values * self.spread + self.centre


@dataclass(frozen=True)
class Split:
    """Row numbers of one training and one validation set."""

    train: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True)
class Problem:
    """What every network of a run learns from, samples along the last axis.

    Where there are covariates, `adjustment` holds what they say of the outputs.
    """

    x: np.ndarray  # [input, sample], scaled, float32
    y: np.ndarray  # [output, sample], scaled, float32
    loss: str
    splits: tuple[Split, ...]
    test: np.ndarray
    x_scale: Scale
    y_scale: Scale
    adjustment: Adjustment | None = None

    @property
    def seen(self) -> np.ndarray:
        """Row numbers outside the test set."""
        return np.concatenate([self.splits[0].train, self.splits[0].validation])


def make_problem(data: Data, *, seed: int = 0, loss: str = "auto") -> Problem:
    """Split the samples and scale the columns.

    The test set is 10 % of the samples; of the rest, split 1 validates on the last 15 % (of all
    samples) of a random order and split 2 on the first 15 %. Columns that are not 0/1 are brought
    to mean 0 and standard deviation 1 by the samples outside the test set, so that one range of
    L1 rates fits every dataset.

    Args:
        data: the user's tables.
        seed: decides the splits.
        loss: bce, mse, or auto: bce where every output is 0 or 1.

    Returns:
        The problem.

    Raises:
        InputError: the outputs are a mixture of binary and continuous columns, or do not fit
            the loss.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> names = tuple("abc")
        >>> data = Data(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)), names, names)
        >>> problem = make_problem(data)
        >>> problem.loss, [len(s.train) for s in problem.splits], len(problem.test)
        ('mse', [75, 75], 10)
    """
    if loss == "auto":
        loss = "bce" if outputs_kind(data.y, data.outputs) == "binary" else "mse"
    elif loss == "bce" and not np.isin(data.y, (0, 1)).all():
        raise InputError(
            "loss must be one that fits the outputs, got 'bce' but Y holds values other than 0 and "
            "1; use mse, or auto"
        )
    order = np.random.default_rng([seed, 7]).permutation(len(data.x))
    n_test = round(TEST_SHARE * len(order))
    test, rest = np.sort(order[:n_test]), order[n_test:]
    x_scale = _find_scale(data.x[rest])
    y_scale = _keep_scale(data.y) if loss == "bce" else _find_scale(data.y[rest], binary=False)
    y = np.ascontiguousarray(y_scale.apply(data.y).T, np.float32)
    splits = _make_splits(rest, round(VALIDATION_SHARE * len(order)))
    adjustment = None
    if data.covariates is not None:
        trains = [split.train for split in splits]
        adjustment = fit_adjustment(data.covariates.numbers, y, loss, trains)
    return Problem(
        x=np.ascontiguousarray(x_scale.apply(data.x).T, np.float32),
        y=y,
        loss=loss,
        splits=splits,
        test=test,
        x_scale=x_scale,
        y_scale=y_scale,
        adjustment=adjustment,
    )


def add_offset(
    problem: Problem, split: int, rows: np.ndarray, raw: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, "output sample"]:
    """Add what covariates say to what a network of a split gives; nothing where there are none."""
    if problem.adjustment is None:
        return raw
    return raw + problem.adjustment.offset[split][:, rows]


def is_large(problem: Problem) -> bool:
    """Whether the problem has the size of the paper's data 5 and 6: more than 100 inputs."""
    return len(problem.x) > MANY_INPUTS


def find_price(problem: Problem) -> float:
    """Find the L1 rate at which a linear network would just keep every weight at zero.

    It is the largest slope of the loss over all pairs of input and output, where every weight is
    zero: the natural unit for L1 rates, as in the path of a lasso. Where there are covariates, it
    is of what these leave over. Test samples are not looked at.

    Args:
        problem: the data.

    Returns:
        The rate, above zero.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(100, 1))
        >>> data = Data(x, 3 * x, ("a",), ("b",))
        >>> round(find_price(make_problem(data)), 3)
        2.0
    """
    rows = np.sort(problem.seen)
    x, y = problem.x[:, rows].astype(np.float64), problem.y[:, rows].astype(np.float64)
    x -= x.mean(axis=1, keepdims=True)
    if problem.adjustment is not None:
        y = y - problem.adjustment.expect(problem.loss).mean(axis=0)[:, rows]
    slopes = np.abs(x @ y.T) / len(rows) / len(y)  # [input, output]
    factor = 2.0 if problem.loss == "mse" else 1.0
    return float(max(factor * slopes.max(), 1e-8))


def see_outputs(problem: Problem) -> Problem:
    """The problem of an autoencoder: the outputs are their own inputs."""
    return replace(problem, x=problem.y, x_scale=problem.y_scale)


def _make_splits(rest: np.ndarray, n_validation: int) -> tuple[Split, ...]:
    last = Split(train=rest[:-n_validation], validation=rest[-n_validation:])
    first = Split(train=rest[n_validation:], validation=rest[:n_validation])
    return (last, first)[:SPLITS]


def _find_scale(values: np.ndarray, *, binary: bool = True) -> Scale:
    centre, spread = values.mean(axis=0), values.std(axis=0)
    if binary:
        as_is = np.isin(values, (0, 1)).all(axis=0)
        centre, spread = np.where(as_is, 0.0, centre), np.where(as_is, 1.0, spread)
    # A column can be constant outside the test set although it varies over all samples; rounding
    # may then leave it a spread of 1e-14, so look at the values themselves.
    same = (values == values[0]).all(axis=0)
    return Scale(np.where(same, values[0], centre), np.where(same, 1.0, spread))


def _keep_scale(values: np.ndarray) -> Scale:
    return Scale(np.zeros(values.shape[1]), np.ones(values.shape[1]))
