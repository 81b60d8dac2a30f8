"""What each input does to each output: by regression, by networks, or by networks corrected.

The corrected estimate is the mean effect of the networks plus a regression of their residuals on
the inputs (one-step correction: Chernozhukov et al. 2018). Both parts are one regression of the
outcomes

    y* = y - f(x) + x' a,

where f is the mean network, cross-fitted on samples it was not trained on, and a are its average
effects: this undoes the shrinkage of the networks, and what they explain is no noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from rinn.config import MIN_NETWORKS, RunSettings, Stream
from rinn.data.adjustment import find_basis
from rinn.data.least_squares import regress
from rinn.data.problem import MANY_INPUTS, MIN_HELD_OUT, Problem, add_offset, is_large
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import predict_net
from rinn.strategies import find_strategy
from rinn.strategies.base import Networks
from rinn.structure import constants as c
from rinn.structure.records import Moments
from rinn.structure.regression import Sample, add_products, count_inputs, estimate_moments

NETWORK, REGRESSION, CORRECTED = "network", "regression", "corrected"
ROWS = 256  # samples at which inputs of networks are moved
LEVELS = 5  # values that an input that is not 0/1 is moved over
BLOCK = 2_000_000  # values of moved inputs at a time


class Test(Protocol):
    """Tells the effects of one input on some outputs from chance."""

    def find_p(
        self,
        row: int,
        outputs: Sequence[int],
        level: float = 0.0,
        beside: Sequence[int] | None = None,
    ) -> float:
        """The p-value, which need not be exact below `level`; inputs `beside` it are held fixed."""


@dataclass(frozen=True)
class Effects:
    """Effects of inputs on outputs, and the samples that they were estimated from."""

    # effects in units of their standard error; where a product or square of an input has a clearer
    # one, that
    z: Float[np.ndarray, "input output"]
    sample: Sample = field(repr=False)  # the rows, for the bootstrap
    moments: Moments = field(repr=False)  # what the score reads, products of inputs included
    source: str = REGRESSION  # network, regression or corrected
    test: Test | None = field(default=None, repr=False, compare=False)  # tells effects from chance


@threadpool_limits.wrap(limits=1, user_api="blas")  # the last digits depend on the threads
def estimate_effects(
    problem: Problem,
    nets: Sequence[TrainedNet] = (),
    source: str = "auto",
    test: Test | None = None,
) -> Effects:
    """Estimate what each input does to each output, all other inputs held fixed.

    Binary outputs and counts are on their own scale: effects are differences of probabilities and
    means. Covariates are regressed out of inputs and outputs.

    Args:
        problem: the data; test samples are not looked at.
        nets: trained networks; without any, and with fewer than two samples for each input, the
            effects are a regression's.
        source: network, regression or corrected; auto takes corrected where clear effects are
            below 8 standard errors in the median and networks predict samples they were not
            trained on better than a regression, and regression elsewhere (`explain_regression`).
        test: passed on.

    Returns:
        The effects.

    Example:
        >>> from rinn.data.problem import make_problem
        >>> from rinn.data.records import Data
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> noise = np.random.default_rng(1).normal(size=(1000, 1))
        >>> data = Data(x, x[:, :1] + noise, ("a", "b"), ("y",))
        >>> estimate_effects(make_problem(data)).z.round(0)
        array([[28.],
               [ 1.]])
    """
    rows = np.sort(problem.seen)
    raw = _take_sample(problem, rows)
    is_joint = len(rows) >= c.SAMPLES_PER_INPUT * len(problem.x)
    groups = _group_nets(nets, problem) if source != REGRESSION and is_joint else {}
    if not groups:
        source = REGRESSION
    elif source == "auto":
        is_enough = explain_regression(problem) or _compare_networks(groups, problem) <= c.BETTER
        source = REGRESSION if is_enough else CORRECTED
    sample = raw if source == REGRESSION else _correct(raw, groups, problem, rows, source)
    moments = estimate_moments(sample)
    more = add_products(sample, moments, raw.y)
    if more is not sample:
        sample = more if source == REGRESSION else _correct_products(more, raw)
        moments = estimate_moments(sample)
    return Effects(_find_z(sample, moments), sample, moments, source, test)


def estimate_slopes(
    problem: Problem,
) -> tuple[Float[np.ndarray, "input output"], Float[np.ndarray, "input output"]]:
    """Estimate the slopes of a linear regression in the units of the problem, and their t."""
    sample = _take_sample(problem, np.sort(problem.seen))
    return regress(sample.x, sample.y)[0], estimate_moments(sample).z


def explain_regression(problem: Problem) -> str | None:
    """Say why the effects of a regression are enough; this needs no trained network."""
    rows = np.sort(problem.seen)
    if not problem.has_test:
        return f"there are fewer than {MIN_HELD_OUT} samples"
    if is_large(problem):
        return f"there are more than {MANY_INPUTS} inputs"
    if len(rows) < c.SAMPLES_PER_INPUT * len(problem.x):
        return f"there are fewer than {c.SAMPLES_PER_INPUT} samples for each input"
    size = np.abs(estimate_moments(_take_sample(problem, rows)).z)
    clear = size[size > c.CLEAR_EFFECT]
    strength = float(np.median(clear)) if len(clear) else 0.0
    if strength < c.STRONG:
        return None
    return f"its effects are clear ({strength:.0f} standard errors in the median)"


def find_skip_reason(problem: Problem, settings: RunSettings) -> str | None:
    """Say why the networks of a strategy would add nothing to a regression."""
    strategy = find_strategy(settings)
    if not isinstance(strategy, Networks) or strategy.is_autoencoder:
        return None
    if settings.effects == REGRESSION:
        return "as a regression was asked for"
    if settings.effects != "auto" or not strategy.is_optional:
        return None
    if settings.trials is not None and settings.trials < MIN_NETWORKS:
        return f"because fewer than {MIN_NETWORKS} were asked for, which are too few to be read"
    reason = explain_regression(problem)
    return reason and f"because {reason}"


def _take_sample(problem: Problem, rows: np.ndarray) -> Sample:
    x, y = (table[:, rows].T.astype(np.float64) for table in (problem.x, problem.y))
    observed = None if problem.observed is None else problem.observed[:, rows].T
    x, y, covariates = _regress_out(problem, rows, x), _centre(y, observed), 0
    if problem.adjustment is not None:
        covariates = find_basis(problem.adjustment.design[:, rows]).shape[1]
        y = _centre(_regress_out(problem, rows, y), observed)
    owners = tuple((i,) for i in range(x.shape[1]))
    return Sample(x, y, observed, covariates, owners, problem.tested, problem.is_small)


def _regress_out(problem: Problem, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Centred values without what covariates explain."""
    values = values - values.mean(axis=0)
    if problem.adjustment is None:
        return values
    basis = find_basis(problem.adjustment.design[:, rows])
    return np.asarray(values - basis @ (basis.T @ values))


def _centre(values: np.ndarray, observed: np.ndarray | None) -> np.ndarray:
    if observed is None:
        return np.asarray(values - values.mean(axis=0))
    count = np.maximum(observed.sum(axis=0), 1)
    return np.asarray((values - (values * observed).sum(axis=0) / count) * observed)


def _group_nets(nets: Sequence[TrainedNet], problem: Problem) -> dict[int, list[TrainedNet]]:
    """The networks of each split."""
    result = {
        split: [net for net in nets if net.trial.split == split]
        for split in range(len(problem.splits))
    }
    return {split: members for split, members in result.items() if members}


def _predict(
    nets: Sequence[TrainedNet], split: int, problem: Problem, x: np.ndarray, rows: np.ndarray
) -> Float[np.ndarray, "sample output"]:
    """What the mean network of a split expects of the outputs, in the problem's units."""
    total: np.ndarray | float = 0.0
    for net in nets:
        raw = add_offset(problem, split, rows, predict_net(net, x).astype(np.float64))
        total = total + problem.likelihood.expect(raw)
    return np.asarray(total).T / len(nets)


def _compare_networks(groups: dict[int, list[TrainedNet]], problem: Problem) -> float:
    """By how many standard errors networks predict validation samples better than a regression."""
    gains = []
    for split, nets in groups.items():
        train, held = np.sort(problem.splits[split].train), problem.splits[split].validation
        fitted = _take_sample(problem, train)
        slopes = regress(fitted.x, fitted.y)[0]
        validation = _take_sample(problem, held)
        result = _predict(nets, split, problem, problem.x[:, held], held)
        truth = problem.y[:, held].T.astype(np.float64)
        spread = np.maximum(fitted.y.std(axis=0), 1e-9)
        observed = 1.0 if problem.observed is None else problem.observed[:, held].T
        by_regression = ((validation.y - validation.x @ slopes) / spread) ** 2
        residual = truth - result
        by_networks = ((residual - residual.mean(axis=0)) / spread) ** 2
        gains.append(((by_regression - by_networks) * observed).sum(axis=1))
    gain = np.concatenate(gains)
    return float(gain.mean() / max(gain.std(ddof=1) / np.sqrt(len(gain)), 1e-12))


def _correct(
    raw: Sample,
    groups: dict[int, list[TrainedNet]],
    problem: Problem,
    rows: np.ndarray,
    source: str,
) -> Sample:
    """Outcomes whose regression gives the networks' effects, corrected or not."""
    predicted = {
        split: _predict(nets, split, problem, problem.x[:, rows], rows)
        for split, nets in groups.items()
    }
    mean = np.mean(list(predicted.values()), axis=0)
    is_held = np.zeros(len(rows), bool)
    for split, values in predicted.items():
        held = np.isin(rows, problem.splits[split].validation)
        mean[held] = values[held]
        is_held |= held
    left = _regress_out(problem, rows, problem.y[:, rows].T.astype(np.float64) - mean)
    left = _centre(left, raw.observed)
    fitted = raw.x @ regress(raw.x, left)[0]
    noise = left - fitted
    # Residuals of samples that networks were trained on are too small.
    squares = noise**2
    inflation = squares[is_held].mean(axis=0) / np.maximum(squares[~is_held].mean(axis=0), 1e-12)
    noise = noise * np.sqrt(np.clip(inflation, 1.0, 4.0))
    slopes = np.mean([_move(nets, s, problem) for s, nets in groups.items()], axis=0)
    outcomes = raw.x @ slopes + noise + (fitted if source == CORRECTED else 0.0)
    return replace(raw, y=_centre(outcomes, raw.observed))


def _move(
    nets: Sequence[TrainedNet], split: int, problem: Problem
) -> Float[np.ndarray, "input output"]:
    """The average slope of the mean network along each input, over several of its values."""
    seen = np.sort(problem.seen)
    rows = np.random.default_rng([len(seen), Stream.SLOPE_ROWS]).permutation(seen)[:ROWS]
    x = problem.x[:, rows]
    slopes = np.zeros((len(x), len(problem.y)))
    step = max(1, BLOCK // (LEVELS * x.size))
    for first in range(0, len(x), step):
        inputs = range(first, min(first + step, len(x)))
        levels = [_find_levels(problem.x[i, seen]) for i in inputs]
        moved = [
            _set_input(x, i, v) for i, values in zip(inputs, levels, strict=True) for v in values
        ]
        result = _predict(
            nets, split, problem, np.concatenate(moved, axis=1), np.tile(rows, len(moved))
        )
        means = result.reshape(len(moved), len(rows), -1).mean(axis=1)  # [move, output]
        start = 0
        for i, values in zip(inputs, levels, strict=True):
            part = means[start : start + len(values)]
            centred = values - values.mean()
            slopes[i] = centred @ part / max(float(centred @ centred), 1e-12)
            start += len(values)
    return slopes


def _find_levels(values: np.ndarray) -> np.ndarray:
    """The values that an input is moved over."""
    if np.isin(values, (0, 1)).all():
        return np.array([0.0, 1.0])
    return np.quantile(values.astype(np.float64), np.linspace(0.1, 0.9, LEVELS))


def _set_input(x: np.ndarray, row: int, value: float) -> np.ndarray:
    moved = x.copy()
    moved[row] = value
    return moved


def _correct_products(sample: Sample, raw: Sample) -> Sample:
    """Add the effects of products of inputs, which networks explain, back to the outcomes."""
    extra = sample.x[:, raw.x.shape[1] :]
    alone = extra - raw.x @ regress(raw.x, extra)[0]
    missing = raw.y - sample.y
    return replace(sample, y=sample.y + extra @ regress(alone, missing)[0])


def _find_z(sample: Sample, moments: Moments) -> Float[np.ndarray, "input output"]:
    every = moments.z
    count = count_inputs(sample)
    result = every[:count].copy()
    for row, owners in zip(every[count:], sample.owners[count:], strict=True):
        for i in owners:
            result[i] = np.where(np.abs(row) > np.abs(result[i]), row, result[i])
    return result
