"""Whether an input's effects are more than chance, by tests that need no normal errors.

The errors of effects are normal only where inputs have many carriers and outputs no heavy tails,
and networks can fit noise. So no latent is reported unless one of its inputs passes a test without
these assumptions. `SetTest` compares linear effects with permuted samples; few samples have too few
permutations, and there `RotationTest` assumes normal errors. For effects that depend on other
inputs, `HeldOutTest` tests whether what networks learned of an input predicts samples that they
were not trained on; without networks, `ProductTest` tests products of inputs like inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg, stats
from scipy.special import gammaln

from rinn.config import Stream
from rinn.data.adjustment import project
from rinn.data.least_squares import RCOND
from rinn.data.problem import Problem
from rinn.nets.groups import TrainedNet
from rinn.structure.constants import LEVEL, SAMPLES_PER_INPUT
from rinn.structure.held_out import HeldOutTest
from rinn.structure.regression import Sample, can_add_products, count_inputs

PRODUCTS = 0.1  # of the level: an input that acts by itself is the rule
PERMUTATIONS = 1000
MIN_ROTATIONS, MAX_ROTATIONS = 20_000, 200_000
BATCH = 250  # permutations at a time
MAX_KEPT = 20_000_000  # indices of permutations: more are drawn again for each input
SMALLEST = 1e-300
ROUNDING = 1e-5  # of numbers of single precision
MIN_CARRIERS = 1000  # effective: with as many, permuted correlations are normal
MIN_SPREAD = 0.05  # of the logarithms: permuted samples may all give the same
# Of an input with all others held fixed. Set on 400 tables with idle inputs that correlate .5 to
# .95 with active ones or with the sum of two.
OTHERS_LEVEL = 0.01
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

    sets: SetTest | RotationTest
    held_out: HeldOutTest | None = None
    products: ProductTest | None = None

    def find_p(
        self,
        row: int,
        outputs: Sequence[int],
        level: float = 0.0,
        beside: Sequence[int] | None = None,
    ) -> float:
        """Find a p-value for the effects of one input on some outputs; `beside` as in `SetTest`."""
        second, level_part = self.held_out or self.products, 0.5 if self.held_out else PRODUCTS
        p = self.sets.find_p(row, outputs, beside) / (1 - level_part if second else 1.0)
        if second is not None and p > level:
            p = min(p, second.find_p(row, outputs) / level_part)
        return min(p, 1.0)


def make_set_test(problem: Problem) -> SetTest | RotationTest:
    """Make the test from the samples outside the test set; covariates are held fixed."""
    rows = np.sort(problem.seen)
    x, y = (table[:, rows].astype(np.float64) for table in (problem.x, problem.y))
    if problem.adjustment is not None:
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows]
        if problem.observed is not None:
            y = y * problem.observed[:, rows]
        x = x - x.mean(axis=1, keepdims=True)
        x = x - project(problem.adjustment.design[:, rows], x)
    if problem.is_small:
        design = problem.adjustment.design[:, rows] if problem.adjustment else x[:0]
        inputs, outputs = problem.tested  # before screening
        tests = max(inputs, len(x)) * max(outputs / len(y), 1.0)
        return RotationTest(x, y, design, tests=tests)
    return SetTest(x, y, chosen=problem.tested[0] > len(x))


class SetTest:
    """Tests of one input against sets of outputs.

    The sum of squared partial correlations of an input with k outputs is compared with that of its
    k best outputs after the residuals of the outputs were permuted (Freedman, Lane 1983). Outputs
    keep their correlations, and the choice of the set is allowed for. Only linear effects are seen.
    Inputs are `chosen` if a screening left out others that go with them.
    """

    def __init__(
        self,
        x: Float[np.ndarray, "input sample"],
        y: Float[np.ndarray, "output sample"],
        *,
        chosen: bool = False,
    ) -> None:
        x, y = (table - table.mean(axis=1, keepdims=True) for table in (x, y))
        inputs, samples = x.shape
        free = samples - 1
        self._is_chosen, self._is_joint = chosen, samples >= SAMPLES_PER_INPUT * inputs
        if self._is_joint:
            # Rows of `alone` are what the other inputs do not say of each input, up to its scale.
            alone = np.linalg.pinv(x @ x.T, rcond=RCOND, hermitian=True) @ x
            residual = y - (y @ alone.T) @ x
            free -= inputs
        else:
            alone, residual = x, y
        explained = (alone @ y.T) ** 2 / np.maximum((alone**2).sum(axis=1)[:, None], SMALLEST)
        total = (residual**2).sum(axis=1) + (explained if residual is not y else 0.0)
        self._squares = explained / np.maximum(total, SMALLEST) * (free / (samples - 1))
        self._inner, self._across, self._total = x @ x.T, x @ y.T, (y**2).sum(axis=1)
        self._x, self._y = _standardise(alone), _standardise(residual)
        whole = _standardise(x)
        fewer = (whole**4).sum(axis=1) > (self._x**4).sum(axis=1)
        self._x[fewer] = whole[fewer]  # with fewer carriers chance has longer tails
        self._nulls: dict[int | None, Null] = {}
        self._orders: list[Int[np.ndarray, "permutation sample"]] = []

    def find_p(
        self, row: int, outputs: Sequence[int], beside: Sequence[int] | None = None
    ) -> float:
        """Find how often chance alone would give an input effects as strong.

        All other inputs are held fixed. With `beside`, inputs that act on the same outputs, only
        these are; with all others held fixed the input must then pass at `OTHERS_LEVEL`, unless
        inputs were chosen, each for those like it.
        """
        if not len(outputs):
            return 1.0
        p = self._compare(row, outputs, self._squares[row, list(outputs)])
        if beside is None or not self._is_joint:
            return p
        first = self._compare(row, outputs, self._measure(row, outputs, beside))
        return first if self._is_chosen or p <= OTHERS_LEVEL else max(p, first)

    def _measure(
        self, row: int, outputs: Sequence[int], beside: Sequence[int]
    ) -> Float[np.ndarray, " output"]:
        """Squared partial correlations with some inputs held fixed."""
        inputs, samples = [row, *beside], self._x.shape[1]
        inner = self._inner[np.ix_(inputs, inputs)]
        inverse = np.linalg.pinv(inner, rcond=RCOND, hermitian=True)
        across = self._across[np.ix_(inputs, outputs)]
        slopes = inverse @ across
        explained = slopes[0] ** 2 / max(inverse[0, 0], SMALLEST)
        total = self._total[list(outputs)] - (slopes * across).sum(axis=0) + explained
        free = samples - 1 - len(inputs)
        return np.asarray(explained / np.maximum(total, SMALLEST) * (free / (samples - 1)))

    def _compare(
        self, row: int, outputs: Sequence[int], squares: Float[np.ndarray, " output"]
    ) -> float:
        """The p-value of squared correlations of an input with some outputs."""
        carriers = _count_carriers(self._x[row])
        key = None if carriers >= MIN_CARRIERS else row
        if key not in self._nulls:
            drawn = self._draw_normal() if key is None else self._permute(row)
            self._nulls[key] = _sum_up(drawn, self._y.shape)
        result = _shrink(squares.sum(), self._y.shape)
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


class RotationTest:
    """Tests of one input against sets of outputs, as `SetTest`, with normal errors.

    The direction of an input among the samples, all other inputs and covariates held fixed, is
    compared with random directions (Langsrud 2005). Given normal errors, with any covariance of the
    outputs, this is exact, however few the samples.
    """

    def __init__(
        self,
        x: Float[np.ndarray, "input sample"],
        y: Float[np.ndarray, "output sample"],
        fixed: Float[np.ndarray, "column sample"],
        *,
        tests: float = 1.0,
    ) -> None:
        self._fixed = np.vstack([fixed, np.ones((1, x.shape[1]))])
        self._x, self._y = _leave_out(x, _find_basis(self._fixed)), y
        is_joint = x.shape[1] >= SAMPLES_PER_INPUT * len(x)
        # As in `SetTest`: what the other inputs do not say of each input.
        inverse = np.linalg.pinv(self._x @ self._x.T, rcond=RCOND, hermitian=True)
        self._alone, self._is_joint = inverse @ self._x if is_joint else self._x, is_joint
        # Twice as many as the level for all tests together can need.
        self._count = int(np.clip(2 * tests / LEVEL, MIN_ROTATIONS, MAX_ROTATIONS))
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None

    def find_p(
        self, row: int, outputs: Sequence[int], beside: Sequence[int] | None = None
    ) -> float:
        """Find how often chance alone would give an input effects as strong.

        All other inputs are held fixed, also where `beside` names some of them.
        """
        if not len(outputs):
            return 1.0
        if self._last is None or self._last[0] != row:
            self._last = row, *self._rotate(row)
        _, squares, sums = self._last
        result = squares[list(outputs)].sum() * (1 - ROUNDING)
        return (1 + np.count_nonzero(sums[:, len(outputs) - 1] >= result)) / (1 + self._count)

    def _rotate(
        self, row: int
    ) -> tuple[Float[np.ndarray, " output"], Float[np.ndarray, "rotation output"]]:
        """Squared partial correlations of an input; of random directions, those of the k best."""
        direction = _take_direction(self._alone[row : row + 1])
        others = _leave_out(self._x, direction.T) if self._is_joint else self._x[:0]
        basis = _find_basis(np.vstack([self._fixed, others]))
        y = _take_direction(_leave_out(self._y, basis)).T
        rng = np.random.default_rng([self._count, Stream.UNSEEDED])
        drawn = rng.standard_normal((self._count, len(basis)), np.float32)
        drawn = _take_direction(_leave_out(drawn, basis.astype(np.float32)))
        sums = -((drawn @ y.astype(np.float32)) ** 2)
        sums.sort(axis=1)
        np.cumsum(sums, axis=1, out=sums)
        return (direction @ y)[0] ** 2, np.negative(sums, out=sums)


def _find_basis(rows: np.ndarray) -> Float[np.ndarray, "sample rank"]:
    return np.asarray(linalg.orth(rows.T, rcond=RCOND))


def _leave_out(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Rows without what an orthonormal basis says of them; 0 where only rounding is left."""
    left = rows - (rows @ basis) @ basis.T
    size, whole = (np.linalg.norm(part, axis=1, keepdims=True) for part in (left, rows))
    return np.asarray(np.where(size > ROUNDING * whole, left, 0))


def _take_direction(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1.0))


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
