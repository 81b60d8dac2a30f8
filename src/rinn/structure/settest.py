"""Whether an input could have its effects on so many outputs by chance: samples are permuted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import stats
from scipy.special import gammaln

from rinn.config import Stream
from rinn.data.adjustment import project
from rinn.data.problem import Problem
from rinn.structure.constants import SAMPLES_PER_INPUT

PERMUTATIONS = 1000
BATCH = 250  # permutations at a time
MAX_KEPT = 20_000_000  # places of samples: orders of more are drawn again for each input
SMALLEST = 1e-300
MIN_CARRIERS = 1000  # effective: with as many, permuted correlations are normal
MIN_SPREAD = 0.05  # of the logarithms: permuted samples may all give the same
RCOND = 1e-9  # below it inputs count as collinear

Null = tuple[np.ndarray, np.ndarray, np.ndarray]


class SetTest:
    """Tests of one input against sets of outputs.

    The sum of squared partial correlations of an input with k outputs is compared with that of its
    k best outputs after the residuals of the outputs were permuted (Freedman, Lane 1983). Outputs
    keep their correlations, and the choice of the set is allowed for. Only linear effects are seen.
    """

    def __init__(
        self, x: Float[np.ndarray, "input sample"], y: Float[np.ndarray, "output sample"]
    ) -> None:
        x, y = (table - table.mean(axis=1, keepdims=True) for table in (x, y))
        inputs, samples = x.shape
        free = samples - 1
        if samples >= SAMPLES_PER_INPUT * inputs:
            # Rows of `own` are what the other inputs do not say of each input, up to its scale.
            own = np.linalg.pinv(x @ x.T, rcond=RCOND, hermitian=True) @ x
            residual = y - (y @ own.T) @ x
            free -= inputs
        else:
            own, residual = x, y
        explained = (own @ y.T) ** 2 / np.maximum((own**2).sum(axis=1)[:, None], SMALLEST)
        total = (residual**2).sum(axis=1) + (explained if residual is not y else 0.0)
        self._squares = explained / np.maximum(total, SMALLEST) * (free / (samples - 1))
        self._x, self._y = _standardise(own), _standardise(residual)
        self._nulls: dict[int | None, Null] = {}
        self._orders: list[Int[np.ndarray, "permutation sample"]] = []

    def find_p(self, row: int, outputs: Sequence[int]) -> float:
        """Find how often chance alone would give an input effects as strong."""
        if not len(outputs):
            return 1.0
        carriers = _count_carriers(self._x[row])
        key = None if carriers >= MIN_CARRIERS else row
        if key not in self._nulls:
            squares = self._draw_normal() if key is None else self._permute(row)
            self._nulls[key] = _sum_up(squares, self._y.shape)
        result = _shrink(self._squares[row, list(outputs)].sum(), self._y.shape)
        mean, spread, skew = (part[len(outputs) - 1] for part in self._nulls[key])
        p = float(stats.pearson3.sf((result - mean) / spread, skew))
        return p if len(self._y) > 1 else max(p, self._find_least(carriers))

    def _find_least(self, carriers: float) -> float:
        """One over the number of positions that carriers, or outliers of one output, can take."""
        samples = self._x.shape[1]
        few = max(1, round(min(carriers, _count_carriers(self._y[0]))))
        return float(np.exp(-np.log(samples - np.arange(few)).sum() + gammaln(few + 1)))

    def _permute(self, row: int) -> Float[np.ndarray, "permutation output"]:
        """Squared correlations of an input with the outputs of permuted samples."""
        samples = self._x.shape[1]
        x, y = self._x[row].astype(np.float32), self._y.T.astype(np.float32)
        squares = [(x[orders] @ y / samples) ** 2 for orders in self._draw_orders()]
        return np.concatenate(squares).astype(np.float64)

    def _draw_orders(self) -> Iterable[Int[np.ndarray, "permutation sample"]]:
        """The same permutations for every input, in batches."""
        samples = self._x.shape[1]
        if self._orders:
            return self._orders
        rng = np.random.default_rng([samples, Stream.UNSEEDED])
        identity = np.arange(samples, dtype=np.int32)[None].repeat(BATCH, axis=0)
        orders = (rng.permuted(identity, axis=1) for _ in range(PERMUTATIONS // BATCH))
        if PERMUTATIONS * samples > MAX_KEPT:
            return orders
        self._orders = list(orders)
        return self._orders

    def _draw_normal(self) -> Float[np.ndarray, "permutation output"]:
        """What `_permute` gives of an input with many carriers: normal correlations."""
        outputs, samples = self._y.shape
        rng = np.random.default_rng([samples, Stream.UNSEEDED])
        if outputs > samples:
            return (rng.standard_normal((PERMUTATIONS, samples)) @ self._y.T / samples) ** 2
        values, vectors = np.linalg.eigh(self._y @ self._y.T / samples)
        root = vectors * np.sqrt(np.maximum(values, 0.0))  # [output, factor]
        return (rng.standard_normal((PERMUTATIONS, len(root))) @ root.T) ** 2 / samples


def _sum_up(squares: Float[np.ndarray, "permutation output"], shape: tuple[int, ...]) -> Null:
    """Mean, spread and skewness of the k largest squares together, made even, by k."""
    sums = _shrink(np.cumsum(-np.sort(-squares, axis=1), axis=1), shape)
    spread = np.maximum(sums.std(axis=0), MIN_SPREAD)
    skew = (((sums - sums.mean(axis=0)) / spread) ** 3).mean(axis=0)
    return sums.mean(axis=0), spread, np.maximum(skew, 0.0)


def _shrink(sums: Any, shape: tuple[int, ...]) -> Any:
    """Bring sums of squares near to a normal: log; cube root of one (Wilson, Hilferty 1931)."""
    outputs, samples = shape
    return np.cbrt(sums * samples) if outputs == 1 else np.log(sums + SMALLEST)


def _count_carriers(values: Float[np.ndarray, " sample"]) -> float:
    """The effective number: of values that are standardised, how many make up their variance."""
    fourth = (values**4).sum()
    return float(len(values) ** 2 / fourth) if fourth else 0.0


def make_set_test(problem: Problem) -> SetTest:
    """Make the test from the samples outside the test set; covariates are held fixed."""
    rows = np.sort(problem.seen)
    x, y = (table[:, rows].astype(np.float64) for table in (problem.x, problem.y))
    if problem.adjustment is not None:
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows]
        if problem.observed is not None:
            y = y * problem.observed[:, rows]
        x = x - x.mean(axis=1, keepdims=True)
        x = x - project(problem.adjustment.design[:, rows], x)
    return SetTest(x, y)


def _standardise(values: np.ndarray) -> np.ndarray:
    values = values - values.mean(axis=1, keepdims=True)
    spread = values.std(axis=1, keepdims=True)
    return values / np.where(spread > 0, spread, 1.0)
