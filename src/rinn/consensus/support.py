"""Whether an input's effects are more than chance, by tests that need no normal errors.

The errors of effects are normal only where inputs have many carriers and outputs no heavy tails,
and networks can fit noise. So no latent is reported unless one of its inputs passes a test that
holds in any case: `SetTest` compares linear effects with permuted samples, `HeldOutTest` asks
whether what networks learnt of an input predicts samples that they were not trained on, so that
effects that depend on other inputs count too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from rinn.cohorts import TrainedNet
from rinn.consensus.effects import move_inputs
from rinn.consensus.permuted import SetTest, make_set_test
from rinn.evaluation import predict_net
from rinn.problem import Problem, add_offset

GRID = 9  # values that an input that is not 0/1 is moved to


@dataclass(frozen=True)
class SupportTest:
    """Both tests; `held_out` is None where the effects are no network's."""

    sets: SetTest
    held_out: HeldOutTest | None = None

    def find_p(self, row: int, outputs: Sequence[int], level: float = 0.0) -> float:
        """Find a p-value for the effects of one input on some outputs.

        Args:
            row: the index of the input.
            outputs: the indices of the outputs.
            level: what is asked; the second test is only done where the first does not reach it.

        Returns:
            Twice the smaller of the two p-values (Bonferroni), at most 1.
        """
        factor = 1 if self.held_out is None else 2
        p = factor * self.sets.find_p(row, outputs)
        if self.held_out is not None and p > level:
            p = min(p, factor * self.held_out.find_p(row, outputs))
        return min(p, 1.0)


class HeldOutTest:
    """Tests whether what networks say of an input predicts samples they were not trained on.

    The contribution g of an input to an output is what the mean network predicts for a sample, less
    its mean over the values of that input. Where the input does nothing, g has nothing to do with
    the residual r of the prediction without g. The sum over held-out samples of g r, divided by the
    root of the sum of its squares, is then at most standard normal, whatever the distribution of
    the residuals: with k carriers it cannot exceed the root of k (projected covariance measure:
    Lundborg, Kim, Shah, Samworth 2024).

    Args:
        nets: trained networks.
        problem: the data; each network is asked of the validation samples of its split and of the
            test samples.
    """

    def __init__(self, nets: Sequence[TrainedNet], problem: Problem) -> None:
        self._problem = problem
        self._groups = [
            ([net for net in nets if net.trial.split == number], number, split.validation)
            for number, split in enumerate(problem.splits)
            if any(net.trial.split == number for net in nets)
        ]
        self._products: dict[int, Float[np.ndarray, "output sample"]] = {}

    def find_p(self, row: int, outputs: Sequence[int]) -> float:
        """Find the one-sided p-value of an input's contributions to some outputs."""
        if row not in self._products:
            self._products[row] = self._multiply(row)
        each = self._products[row][list(outputs)].sum(axis=0)  # [sample]
        norm = float(np.sqrt((each**2).sum()))
        return float(stats.norm.sf(each.sum() / norm)) if norm > 0 else 1.0

    def _multiply(self, row: int) -> Float[np.ndarray, "output sample"]:
        """Contribution times residual, each output in units of its spread, of held-out samples."""
        problem, parts, tests = self._problem, [], []
        for nets, split, validation in self._groups:
            rows = np.concatenate([validation, problem.test])
            raw = np.mean([predict_net(net, problem.x[:, rows]) for net in nets], axis=0)
            own = _find_contribution(nets, problem, row, rows)  # [output, sample]
            without = problem.likelihood.expect(add_offset(problem, split, rows, raw - own))
            residual = problem.y[:, rows] - without
            if problem.known is not None:
                residual = residual * problem.known[:, rows]
            spread = np.maximum(residual.std(axis=1, keepdims=True), 1e-12)
            # A wrong intercept is no effect: without carriers among these samples there is none.
            own, residual = (part - part.mean(axis=1, keepdims=True) for part in (own, residual))
            products = own * residual / spread
            parts.append(products[:, : len(validation)])
            tests.append(products[:, len(validation) :])
        return np.concatenate([*parts, np.mean(tests, axis=0)], axis=1)


def _find_contribution(
    nets: Sequence[TrainedNet], problem: Problem, row: int, rows: np.ndarray
) -> Float[np.ndarray, "output sample"]:
    """What an input adds to the mean network's prediction, in the networks' units."""
    seen = problem.x[row, problem.seen]
    grid = np.unique(np.quantile(seen, np.linspace(0, 1, GRID))).astype(np.float32)
    moved = move_inputs(nets, problem.x[:, rows], np.full(len(grid), row), grid[:1], grid)
    # Between the values of the grid a straight line is drawn.
    values = problem.x[row, rows]
    right = np.clip(np.searchsorted(grid, values), 1, len(grid) - 1) if len(grid) > 1 else None
    if right is None:
        return np.zeros(moved.shape[1:])
    share = np.clip((values - grid[right - 1]) / (grid[right] - grid[right - 1]), 0.0, 1.0)
    samples = np.arange(len(rows))
    here = (1 - share) * moved[right - 1, :, samples].T + share * moved[right, :, samples].T
    weights = _weigh_grid(seen, grid)
    return here - np.einsum("v,vos->os", weights, moved)


def _weigh_grid(
    seen: Float[np.ndarray, " sample"], grid: Float[np.ndarray, " value"]
) -> Float[np.ndarray, " value"]:
    """How much of the samples each value of the grid stands for, by linear interpolation."""
    right = np.clip(np.searchsorted(grid, seen), 1, len(grid) - 1)
    share = np.clip((seen - grid[right - 1]) / (grid[right] - grid[right - 1]), 0.0, 1.0)
    weights = np.bincount(right, share, len(grid)) + np.bincount(right - 1, 1 - share, len(grid))
    return weights / len(seen)


def make_support_test(problem: Problem, nets: Sequence[TrainedNet] = ()) -> SupportTest:
    """Make both tests, or the first alone where there are no networks.

    Args:
        problem: the data.
        nets: those that the effects were read from.

    Returns:
        The test.
    """
    return SupportTest(make_set_test(problem), HeldOutTest(nets, problem) if nets else None)
