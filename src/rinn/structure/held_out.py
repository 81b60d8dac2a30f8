"""Whether what networks learned of an input predicts samples that they were not trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy import stats

from rinn.data.problem import Problem, add_offset
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import move_inputs, predict_net

GRID = 9  # values that an input that is not 0/1 is moved to
MAX_SAMPLES = 2000  # held out
OVERLAP = np.sqrt(1.4)  # test samples are two of five held-out samples, and count twice


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
