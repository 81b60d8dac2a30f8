"""From two tables to what the networks see: splits first, then scales that know no test sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from rinn.config import SPLITS, TEST_SHARE, VALIDATION_SHARE, Stream
from rinn.data.adjustment import Adjustment, fit_adjustment
from rinn.data.kinds import find_kinds
from rinn.data.likelihoods import NUMBER, Likelihood, make_likelihood
from rinn.data.records import Data
from rinn.data.scaling import Standardizer, find_limits, fit_standardizer

MANY_INPUTS = 100


@dataclass(frozen=True)
class Split:
    """Row numbers of one training and one validation set."""

    train: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True)
class Problem:
    """What every network of a run learns from, samples along the last axis.

    Where there are covariates, `adjustment` holds what they say of the outputs. Where outputs are
    missing, `y` is 0 there and `known` says where it is not.
    """

    x: np.ndarray  # [input, sample], scaled, float32
    y: np.ndarray  # [output, sample], scaled, float32
    likelihood: Likelihood
    splits: tuple[Split, ...]
    test: np.ndarray
    x_scale: Standardizer
    adjustment: Adjustment | None = None
    known: np.ndarray | None = None  # [output, sample]

    @property
    def loss(self) -> str:
        """Which loss the networks have: mse, bce or mixed."""
        return self.likelihood.loss

    @property
    def y_scale(self) -> Standardizer:
        """From the user's units to the networks', for the outputs."""
        return self.likelihood.scale

    @property
    def seen(self) -> np.ndarray:
        """Row numbers outside the test set."""
        return np.concatenate([self.splits[0].train, self.splits[0].validation])


def make_problem(data: Data, *, seed: int = 0, loss: str = "auto") -> Problem:
    """Split the samples and scale the columns.

    The test set is 10 % of the samples; of the rest, split 1 validates on the last 15 % (of all
    samples) of a random order and split 2 on the first 15 %. Columns that are not 0/1 are brought
    to mean 0 and standard deviation 1 by the samples outside the test set, so that one range of
    L1 rates fits every dataset; before that, outputs that are numbers are limited to ten robust
    standard deviations from the median (`find_limits`).

    Args:
        data: the user's tables.
        seed: decides the splits.
        loss: bce, mse, poisson, or auto: each output by its kind (`find_kinds`).

    Returns:
        The problem.

    Raises:
        InputError: the outputs do not fit the loss.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> names = tuple("abc")
        >>> data = Data(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)), names, names)
        >>> problem = make_problem(data)
        >>> problem.loss, [len(s.train) for s in problem.splits], len(problem.test)
        ('mse', [75, 75], 10)
    """
    kinds = find_kinds(data, loss)
    order = np.random.default_rng([seed, Stream.SPLITS]).permutation(len(data.x))
    n_test = round(TEST_SHARE * len(order))
    test, rest = np.sort(order[:n_test]), order[n_test:]
    numbers = np.array([kind == NUMBER for kind in kinds])
    y = np.where(numbers, np.clip(data.y, *find_limits(data.y[rest])), data.y)
    x_scale = fit_standardizer(data.x[rest])
    likelihood = make_likelihood(kinds, y[rest], fit_standardizer(y[rest], binary=False))
    y = np.ascontiguousarray(likelihood.scale.apply(y).T, np.float32)
    known = None if data.is_complete else ~np.isnan(y)
    y = y if known is None else np.where(known, y, np.float32(0))
    splits = _make_splits(rest, round(VALIDATION_SHARE * len(order)))
    adjustment = None
    if data.covariates is not None:
        trains = [split.train for split in splits]
        adjustment = fit_adjustment(data.covariates.numbers, y, likelihood, trains, known)
    return Problem(
        x=np.ascontiguousarray(x_scale.apply(data.x).T, np.float32),
        y=y,
        likelihood=likelihood,
        splits=splits,
        test=test,
        x_scale=x_scale,
        adjustment=adjustment,
        known=known,
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
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows]
    if problem.known is not None:
        y = y * weigh_known(problem, rows)
    slopes = np.abs(x @ y.T) / len(rows) / len(y)  # [input, output]
    factor = 1.0 if problem.loss == "bce" else 2.0
    return float(max(factor * slopes.max(), 1e-8))


def weigh_known(problem: Problem, rows: np.ndarray) -> Float[np.ndarray, "output sample"] | float:
    """What each output of some samples counts: nothing where it is missing, on average 1.

    A mean over outputs and samples is then one over the known values, of which each counts the
    same: an output with few of them has less to say, and the L1 penalty weighs more on it.
    """
    if problem.known is None:
        return 1.0
    known = problem.known[:, rows]
    return known / max(known.mean(), 1 / known.size)


def see_outputs(problem: Problem) -> Problem:
    """The problem of an autoencoder: the outputs are their own inputs."""
    return replace(problem, x=problem.y, x_scale=problem.y_scale)


def _make_splits(rest: np.ndarray, n_validation: int) -> tuple[Split, ...]:
    last = Split(train=rest[:-n_validation], validation=rest[-n_validation:])
    first = Split(train=rest[n_validation:], validation=rest[:n_validation])
    return (last, first)[:SPLITS]
