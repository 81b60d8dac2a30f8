"""Whether an input could have its effects on so many outputs by chance: samples are permuted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy import stats

from rinn.consensus.adjusted import project
from rinn.problem import Problem

PERMUTATIONS = 2000
TOGETHER = 250  # permutations at a time
STREAM = 31
LEAST = 1e-300


class SetTest:
    """Tests of one input against sets of outputs.

    Outputs that go together, as genes of one pathway do, all move with an input that moves one of
    them by chance: their number says little. The sum of squared correlations of an input with k
    outputs is therefore compared with its sum over the k outputs that it correlates with best,
    after its samples were permuted. Outputs keep all that they have in common, and that the set was
    chosen for its correlations is allowed for, since permuted samples choose theirs too. Only
    straight-line effects are seen.

    Args:
        x: inputs, by samples.
        y: outputs, by the same samples; 0, their mean, where one is missing.
    """

    def __init__(
        self, x: Float[np.ndarray, "input sample"], y: Float[np.ndarray, "output sample"]
    ) -> None:
        self._x, self._y = _standardise(x), _standardise(y)
        self._chance: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def find_p(self, row: int, outputs: Sequence[int]) -> float:
        """Find how often chance alone would give an input so much.

        Args:
            row: the place of the input.
            outputs: the places of the outputs.

        Returns:
            The p-value, by a gamma distribution (Pearson's type III) with the mean, spread and
            skewness of the logarithms of 2000 permuted sums.

        Example:
            >>> rng = np.random.default_rng(0)
            >>> x, common, own = (rng.normal(size=(rows, 100)) for rows in (2, 1, 9))
            >>> test = SetTest(x, np.vstack([3 * common + own[:5], x[0] + own[5:]]))
            >>> test.find_p(0, range(5, 9)) < 1e-3, test.find_p(1, range(5)) > 0.01
            (True, True)
        """
        if not len(outputs):
            return 1.0
        if row not in self._chance:
            self._chance[row] = self._permute(row)
        found = self._correlate(self._x[row][None])[0, list(outputs)].sum()
        mean, spread, skew = (part[len(outputs) - 1] for part in self._chance[row])
        return float(stats.pearson3.sf((np.log(found + LEAST) - mean) / spread, skew))

    def _permute(self, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, spread and skewness of the logarithm of the k largest squares together, by k."""
        samples = self._x.shape[1]
        rng = np.random.default_rng([samples, STREAM])
        logs = []
        for _ in range(PERMUTATIONS // TOGETHER):
            orders = np.stack([rng.permutation(samples) for _ in range(TOGETHER)])
            squares = -np.sort(-self._correlate(self._x[row][orders]), axis=1)
            logs.append(np.log(np.cumsum(squares, axis=1) + LEAST))
        whole = np.concatenate(logs)  # [permutation, size]
        spread = np.maximum(whole.std(axis=0), 1e-9)
        skew = (((whole - whole.mean(axis=0)) / spread) ** 3).mean(axis=0)
        return whole.mean(axis=0), spread, np.maximum(skew, 0.0)

    def _correlate(self, x: np.ndarray) -> Float[np.ndarray, "any output"]:
        return (x @ self._y.T / self._x.shape[1]) ** 2


def make_set_test(problem: Problem) -> SetTest:
    """Make the test from the samples outside the test set; covariates are held fixed."""
    rows = np.sort(problem.seen)
    x, y = (table[:, rows].astype(np.float64) for table in (problem.x, problem.y))
    if problem.adjustment is not None:
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows]
        if problem.known is not None:
            y = y * problem.known[:, rows]
        x = x - x.mean(axis=1, keepdims=True)
        x = x - project(problem.adjustment.design[:, rows], x)
    return SetTest(x, y)


def _standardise(values: np.ndarray) -> np.ndarray:
    values = values - values.mean(axis=1, keepdims=True)
    spread = values.std(axis=1, keepdims=True)
    return values / np.where(spread > 0, spread, 1.0)
