"""Whether an input's effects are more than chance, by tests that need no normal errors.

The errors of effects are normal only where inputs have many carriers and outputs no heavy tails,
and networks can fit noise. So no latent is reported unless one of its inputs passes a test without
these assumptions. `SetTest` compares linear effects with permuted samples. For effects that depend
on other inputs, `HeldOutTest` tests whether what networks learnt of an input predicts samples that
they were not trained on; without networks, `ProductTest` tests products of inputs like inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import stats
from scipy.special import gammaln

from rinn.config import Stream
from rinn.data.adjustment import project
from rinn.data.least_squares import RCOND
from rinn.data.problem import Problem, add_offset
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import move_inputs, predict_net
from rinn.structure.constants import SAMPLES_PER_INPUT
from rinn.structure.regression import Sample, can_add_products, count_inputs

GRID = 9  # values that an input that is not 0/1 is moved to
MAX_SAMPLES = 2000  # held out
PRODUCTS = 0.1  # of the level: an input that acts by itself is the rule
OVERLAP = np.sqrt(1.4)  # test samples are two of five held-out samples, and count twice
PERMUTATIONS = 1000
BATCH = 250  # permutations at a time
MAX_KEPT = 20_000_000  # indices of permutations: more are drawn again for each input
SMALLEST = 1e-300
MIN_CARRIERS = 1000  # effective: with as many, permuted correlations are normal
MIN_SPREAD = 0.05  # of the logarithms: permuted samples may all give the same
FEW_OUTPUTS = 3  # as many squares together are near to a chi-square of few degrees of freedom

Null = tuple[np.ndarray, np.ndarray, np.ndarray]


def make_support_test(
    problem: Problem, nets: Sequence[TrainedNet] = (), sample: Sample | None = None
) -> SupportTest:
    """Make both tests, or the first alone where there are neither networks nor products."""
    sets = make_set_test(problem)
    if nets:
        return SupportTest(sets, held_out=HeldOutTest(nets, problem))
    can_have = sample is not None and can_add_products(sample)
    return SupportTest(sets, products=ProductTest(sample) if sample and can_have else None)


@dataclass(frozen=True)
class SupportTest:
    """The tests of an input: `held_out` where effects are networks', `products` elsewhere."""

    sets: SetTest
    held_out: HeldOutTest | None = None
    products: ProductTest | None = None

    def find_p(self, row: int, outputs: Sequence[int], level: float = 0.0) -> float:
        """Find a p-value for the effects of one input on some outputs."""
        second, level_part = self.held_out or self.products, 0.5 if self.held_out else PRODUCTS
        p = self.sets.find_p(row, outputs) / (1 - level_part if second else 1.0)
        if second is not None and p > level:
            p = min(p, second.find_p(row, outputs) / level_part)
        return min(p, 1.0)


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
            # Rows of `alone` are what the other inputs do not say of each input, up to its scale.
            alone = np.linalg.pinv(x @ x.T, rcond=RCOND, hermitian=True) @ x
            residual = y - (y @ alone.T) @ x
            free -= inputs
        else:
            alone, residual = x, y
        explained = (alone @ y.T) ** 2 / np.maximum((alone**2).sum(axis=1)[:, None], SMALLEST)
        total = (residual**2).sum(axis=1) + (explained if residual is not y else 0.0)
        self._squares = explained / np.maximum(total, SMALLEST) * (free / (samples - 1))
        self._x, self._y = _standardise(alone), _standardise(residual)
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
        is_few = len(self._y) <= FEW_OUTPUTS
        return max(p, self._find_least(carriers, outputs)) if is_few else p

    def _find_least(self, carriers: float, outputs: Sequence[int]) -> float:
        """One over the number of positions that carriers, or outliers of an output, can take."""
        samples = self._x.shape[1]
        few = max(1, round(min(carriers, *(_count_carriers(self._y[o]) for o in outputs))))
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
    """Bring sums of squares near to a normal: log; cube root of few (Wilson, Hilferty 1931).

    The logarithm of few has a long lower tail, so that a normal upper one is far too long.
    """
    outputs, samples = shape
    return np.cbrt(sums * samples) if outputs <= FEW_OUTPUTS else np.log(sums + SMALLEST)


def _count_carriers(values: Float[np.ndarray, " sample"]) -> float:
    """The effective number: of values that are standardised, how many make up their variance."""
    fourth = (values**4).sum()
    return float(len(values) ** 2 / fourth) if fourth else 0.0


def _standardise(values: np.ndarray) -> np.ndarray:
    values = values - values.mean(axis=1, keepdims=True)
    spread = values.std(axis=1, keepdims=True)
    return values / np.where(spread > 0, spread, 1.0)


class ProductTest:
    """Tests products of an input as `SetTest` does inputs; Bonferroni over all possible."""

    def __init__(self, sample: Sample) -> None:
        self._sets = SetTest(sample.x.T, sample.y.T)
        self._owners = sample.owners
        self._inputs = count_inputs(sample)

    def find_p(self, row: int, outputs: Sequence[int]) -> float:
        """Find the p-value of an input's products for some outputs."""
        columns = range(self._inputs, len(self._owners))
        products = [column for column in columns if row in self._owners[column]]
        result = [self._sets.find_p(column, outputs) for column in products]
        return min(1.0, self._inputs * min(result, default=1.0))


class HeldOutTest:
    """Tests whether what networks say of an input predicts samples they were not trained on.

    The contribution g of an input is what the mean network predicts, less its mean over the values
    of that input; r is the residual of the prediction without g. The statistic is the sum of g r
    over its standard error: the larger of the root of the sum of squares and of what the covariance
    of the residuals lets expect (projected covariance measure: Lundborg, Kim, Shah, Samworth 2024).
    """

    def __init__(self, nets: Sequence[TrainedNet], problem: Problem) -> None:
        self._problem = problem
        size = MAX_SAMPLES // len(problem.splits)
        self._groups = []
        for number, split in enumerate(problem.splits):
            members = [net for net in nets if net.trial.split == number]
            rows = np.concatenate([split.validation, problem.test])
            if members:
                picked = np.linspace(0, len(rows) - 1, min(len(rows), size)).astype(int)
                self._groups.append((members, number, rows[picked]))
        self._raw: list[Float[np.ndarray, "output sample"]] = []
        self._last: tuple[int, list[tuple[np.ndarray, np.ndarray]]] | None = None

    def find_p(self, row: int, outputs: Sequence[int]) -> float:
        """Find the one-sided p-value of an input's contributions to some outputs."""
        if self._last is None or self._last[0] != row:
            self._last = row, self._measure(row)
        chosen = list(outputs)
        total = squares = expected = 0.0
        for contribution, residual in self._last[1]:
            part, left = contribution[chosen], residual[chosen]
            each = (part * left).sum(axis=0)  # [sample]
            covariance = left @ left.T / left.shape[1]
            total += float(each.sum())
            squares += float((each**2).sum())
            expected += float(np.einsum("os,op,ps->", part, covariance, part, optimize=True))
        norm = np.sqrt(max(squares, expected))
        # The test samples are in each split's part: their products are not independent.
        return float(stats.norm.sf(total / norm / OVERLAP)) if norm > 0 else 1.0

    def _measure(self, row: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Contributions of an input, and residuals without it, of each split's held-out samples."""
        problem = self._problem
        if not self._raw:
            self._raw = [_predict_mean(nets, problem, rows) for nets, _, rows in self._groups]
        result = []
        for (nets, split, rows), raw in zip(self._groups, self._raw, strict=True):
            contribution = _find_contribution(nets, problem, row, rows)  # [output, sample]
            without = problem.likelihood.expect(
                add_offset(problem, split, rows, raw - contribution)
            )
            residual = problem.y[:, rows] - without
            observed = np.ones(residual.shape, bool)
            if problem.observed is not None:
                observed = problem.observed[:, rows]
            # A wrong intercept is no effect: without carriers among these samples there is none.
            contribution, residual = _centre(contribution, observed), _centre(residual, observed)
            count = np.maximum(observed.sum(axis=1, keepdims=True), 1)
            spread = np.sqrt((residual**2).sum(axis=1, keepdims=True) / count)
            result.append((contribution, residual / np.maximum(spread, 1e-12)))
        return result


def _predict_mean(
    nets: Sequence[TrainedNet], problem: Problem, rows: np.ndarray
) -> Float[np.ndarray, "output sample"]:
    x = problem.x[:, rows]
    return np.asarray(sum(predict_net(net, x).astype(np.float64) for net in nets) / len(nets))


def _centre(
    values: Float[np.ndarray, "output sample"], observed: np.ndarray
) -> Float[np.ndarray, "output sample"]:
    """Values less their mean over the samples in which the output is observed; 0 in the others."""
    count = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    mean = (values * observed).sum(axis=1, keepdims=True) / count
    return (values - mean) * observed


def _find_contribution(
    nets: Sequence[TrainedNet], problem: Problem, row: int, rows: np.ndarray
) -> Float[np.ndarray, "output sample"]:
    """What an input adds to the mean network's prediction, in the networks' units."""
    seen = problem.x[row, problem.seen]
    grid = np.unique(np.quantile(seen, np.linspace(0, 1, GRID)).astype(np.float32))
    if len(grid) == 1:
        return np.zeros((len(problem.y), len(rows)))
    moved = move_inputs(nets, problem.x[:, rows], np.full(len(grid), row), grid[:1], grid)
    # Between the values of the grid a straight line is drawn.
    left, fraction = _locate(problem.x[row, rows], grid)
    samples = np.arange(len(rows))
    here = (1 - fraction) * moved[left, :, samples].T + fraction * moved[left + 1, :, samples].T
    return here - np.einsum("v,vos->os", _weigh_grid(seen, grid), moved)


def _locate(
    values: Float[np.ndarray, " sample"], grid: Float[np.ndarray, " value"]
) -> tuple[np.ndarray, np.ndarray]:
    """The index of the grid value to the left of each value, and the fraction of the step."""
    left = np.clip(np.searchsorted(grid, values) - 1, 0, len(grid) - 2)
    return left, np.clip((values - grid[left]) / (grid[left + 1] - grid[left]), 0.0, 1.0)


def _weigh_grid(
    seen: Float[np.ndarray, " sample"], grid: Float[np.ndarray, " value"]
) -> Float[np.ndarray, " value"]:
    """The fraction of samples that each grid value represents, by linear interpolation."""
    left, fraction = _locate(seen, grid)
    weights = np.bincount(left, 1 - fraction, len(grid)) + np.bincount(
        left + 1, fraction, len(grid)
    )
    return weights / len(seen)
