"""From two tables to what the networks see: splits, then scaling without the test samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from rinn.config import SPLITS, TEST_FRACTION, VALIDATION_FRACTION, Stream
from rinn.data.adjustment import Adjustment, fit_adjustment
from rinn.data.kinds import find_kinds
from rinn.data.likelihoods import NUMBER, Likelihood, make_likelihood
from rinn.data.records import Data
from rinn.data.scaling import Standardizer, find_limits, fit_standardizer

MANY_INPUTS = 100
# Samples: of fewer none is held out, and effects are those of a regression. Development graphs with
# 60 samples, latents F1: .30 -> .54 with this and two samples for each input.
MIN_HELD_OUT = 100
MIN_PERMUTED = 50  # samples: with fewer, tests assume normal errors, and outputs must be numbers
SAMPLES_PER_INPUT = 2  # with fewer, effects are of each input by itself
BLOCK = 50_000_000  # inputs that are scaled at a time


@dataclass(frozen=True)
class Split:
    """Row numbers of one training and one validation set."""

    train: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True)
class Problem:
    """What every network of a run learns from, samples along the last axis.

    `adjustment` holds the outputs that covariates predict, where there are covariates. Where values
    of outputs are missing, `y` is 0 there and `observed` is the mask of the others.
    """

    x: np.ndarray  # [input, sample], scaled, float32
    y: np.ndarray  # [output, sample], scaled, float32
    likelihood: Likelihood
    splits: tuple[Split, ...]
    test: np.ndarray
    x_scale: Standardizer
    adjustment: Adjustment | None = None
    observed: np.ndarray | None = None  # [output, sample]
    tested: tuple[int, int] = (0, 0)  # inputs and outputs before screening, where there was one

    @property
    def loss(self) -> str:
        """The loss of the networks: mse, bce or mixed."""
        return self.likelihood.loss

    @property
    def is_small(self) -> bool:
        """Whether tests assume normal errors: few samples, and numbers without gaps in Y."""
        is_plain = self.observed is None and bool(self.likelihood.find(NUMBER).all())
        return is_plain and self.x.shape[1] < MIN_PERMUTED

    @property
    def has_test(self) -> bool:
        """Whether there are samples enough to hold some out."""
        return bool(len(self.test))

    @property
    def y_scale(self) -> Standardizer:
        """From the user's units to the networks', for the outputs."""
        return self.likelihood.scale

    @property
    def seen(self) -> np.ndarray:
        """Row numbers outside the test set."""
        return np.concatenate([self.splits[0].train, self.splits[0].validation])

    @cached_property
    def max_l1(self) -> float:
        """The smallest L1 rate at which a linear network keeps every weight at zero.

        It is the largest slope of the loss over all pairs of input and output at zero weights, as
        lambda_max of a lasso path: the natural unit for L1 rates. Where there are covariates, it
        is that of the residuals. Test samples are left out.

        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> round(make_problem(Data(x, 3 * x, ("a",), ("b",))).max_l1, 3)
        2.0
        """
        rows = np.sort(self.seen)
        x, y = self.x[:, rows].astype(np.float64), self.y[:, rows].astype(np.float64)
        x -= x.mean(axis=1, keepdims=True)
        if self.adjustment is not None:
            y = y - self.adjustment.expected.mean(axis=0)[:, rows]
        if self.observed is not None:
            y = y * weigh_observed(self, rows)
        slopes = np.abs(x @ y.T) / len(rows) / len(y)  # [input, output]
        factor = 1.0 if self.loss == "bce" else 2.0
        return float(max(factor * slopes.max(), 1e-8))


def make_problem(data: Data, *, seed: int = 0, loss: str = "auto") -> Problem:
    """Split the samples and scale the columns.

    The test set is 10 % of the samples, but empty where there are fewer than 100. Of the others,
    split 1 validates on the last 15 % (of all samples) of a random order and split 2 on the first
    15 %. Columns that are not 0/1 are brought to mean 0 and standard deviation 1 over the samples
    outside the test set, so that one range of L1 rates fits every dataset; before that, outputs
    that are numbers are clipped at ten robust standard deviations from the median (`find_limits`).

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
    n_test = 0 if len(order) < MIN_HELD_OUT else round(TEST_FRACTION * len(order))
    test, seen = np.sort(order[:n_test]), order[n_test:]
    numbers = np.array([kind == NUMBER for kind in kinds])
    y = np.where(numbers, np.clip(data.y, *find_limits(data.y[seen])), data.y)
    x, x_scale = _scale_inputs(data.x, seen)
    likelihood = make_likelihood(kinds, y[seen], fit_standardizer(y[seen], binary=False))
    y = np.ascontiguousarray(likelihood.scale.apply(y).T, np.float32)
    observed = None if data.is_complete else ~np.isnan(y)
    y = y if observed is None else np.where(observed, y, np.float32(0))
    n = round(VALIDATION_FRACTION * len(order))
    splits = (Split(seen[:-n], seen[-n:]), Split(seen[n:], seen[:n]))[:SPLITS]
    adjustment, wide = None, data.screening
    if data.covariates is not None:
        trains = [split.train for split in splits]
        adjustment = fit_adjustment(data.covariates.numbers, y, likelihood, trains, observed)
    return Problem(
        x=x,
        y=y,
        likelihood=likelihood,
        splits=splits,
        test=test,
        x_scale=x_scale,
        adjustment=adjustment,
        observed=observed,
        tested=(len(wide.inputs), len(wide.outputs)) if wide else (0, 0),
    )


def _scale_inputs(
    values: np.ndarray, seen: np.ndarray
) -> tuple[Float[np.ndarray, "input sample"], Standardizer]:
    """The scaled inputs, block by block: they may be stored in one byte each."""
    samples, inputs = values.shape
    result = np.empty((inputs, samples), np.float32)
    scales = []
    step = max(1, BLOCK // samples)
    for first in range(0, inputs, step):
        part = values[:, first : first + step]
        scales.append(fit_standardizer(part[seen]))
        result[first : first + step] = scales[-1].apply(part).T
    mean, std = (np.concatenate([getattr(s, name) for s in scales]) for name in ("mean", "std"))
    return result, Standardizer(mean, std)


def add_offset(
    problem: Problem, split: int, rows: np.ndarray, raw: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, "output sample"]:
    """Add the covariates' offset of a split to a network's raw outputs, if there are covariates."""
    if problem.adjustment is None:
        return raw
    return raw + problem.adjustment.offset[split][:, rows]


def is_large(problem: Problem) -> bool:
    """Whether the problem has the size of the paper's data 5 and 6: more than 100 inputs."""
    return len(problem.x) > MANY_INPUTS


def weigh_observed(
    problem: Problem, rows: np.ndarray
) -> Float[np.ndarray, "output sample"] | float:
    """The weight of each output of these samples: 0 where it is missing, on average 1.

    A mean over outputs and samples then weighs all observed values equally; the L1 penalty counts
    more for an output with few of them.
    """
    if problem.observed is None:
        return 1.0
    observed = problem.observed[:, rows]
    return observed / max(observed.mean(), 1 / observed.size)


def see_outputs(problem: Problem) -> Problem:
    """The problem of an autoencoder: the outputs are their own inputs."""
    return replace(problem, x=problem.y, x_scale=problem.y_scale)
