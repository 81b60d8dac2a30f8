"""Screening of wide tables: which inputs and outputs could matter for the graph.

With thousands of columns most inputs act on nothing. Each pair of an input and an output is tested
by its correlation. The tests of a column are combined (Simes 1986), with control of the
false-discovery rate among columns (Benjamini and Hochberg 1995). Of the inputs that pass, those
that others explain are left out: forward selection, several at a time, the clearest
first. All inputs are then tested again on what the selected ones leave of the outputs, and on sums
of outputs weighted by the effects of each selected input: an input of the same latent has
proportional effects, and may be clear in the sum alone. In the same way outputs are tested against
what the inputs predict of other outputs.

Effects of the selected inputs are later estimated by one regression. The inputs that are left out
count as having none, so that there may be more inputs than samples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from rinn.data.adjustment import find_basis
from rinn.data.problem import Problem, is_large
from rinn.data.records import Data
from rinn.structure import constants as c

BLOCK = 50_000_000  # values of a block of inputs, or of its correlations
MIN_Z = 3.0  # pairs below are not counted: they save memory, and hardly ever make a column pass
SMALLEST = 1e-12


@dataclass(frozen=True)
class Screened:
    """The columns to keep, sorted, and the largest |z| of each column by itself."""

    inputs: Int[np.ndarray, " kept_input"]
    outputs: Int[np.ndarray, " kept_output"]
    input_z: Float[np.ndarray, " input"]
    output_z: Float[np.ndarray, " output"]


@dataclass(frozen=True)
class _Tests:
    """Tests of all pairs of inputs and outcomes."""

    inputs: Int[np.ndarray, " passing_input"]
    outcomes: Int[np.ndarray, " passing_outcome"]
    cutoff: float  # of |z|: pairs above make an input pass by themselves
    input_z: Float[np.ndarray, " input"]  # the largest |z|
    outcome_z: Float[np.ndarray, " outcome"]


def find_memory(data: Data) -> int:
    """About how many bytes the work on wide tables takes; 0 for others."""
    samples, inputs, outputs = len(data.x), len(data.inputs), len(data.outputs)
    if inputs <= c.MANY_INPUTS and outputs <= c.MANY_OUTPUTS:
        return 0
    kept = min(inputs, c.MAX_SCREENED), min(outputs, c.MAX_OUTPUTS)
    tables = samples * (inputs * (data.x.itemsize + 4) + 24 * outputs + 48 * sum(kept))
    return tables + 16 * BLOCK + 8 * sum(kept) ** 2


def screen(
    problem: Problem, inputs: Collection[int] = (), outputs: Collection[int] = ()
) -> Screened:
    """Find the inputs and outputs that could matter.

    Args:
        problem: the data; test samples are not looked at.
        inputs: kept in any case.
        outputs: kept in any case.

    Returns:
        The inputs and outputs to keep, and how clear the effects of each are.
    """
    x, y = _Inputs(problem), _standardise(_take_outcomes(problem))
    if not is_large(problem):
        inputs = range(len(x))
    limit = max(len(inputs), min(x.samples // c.SAMPLES_PER_INPUT, c.MAX_SCREENED))
    kept = np.array(sorted(inputs), int)
    wanted = set(outputs)
    outcomes, input_z, outcome_z = y, np.zeros(len(x)), np.zeros(len(y))
    for number in range(c.SCREENS):
        if number:
            outcomes = _leave(x.take(kept), y)
            outcomes = np.concatenate([outcomes, _pool(x.take(kept), y, outcomes)])
        tests = _test_pairs(x, _standardise(outcomes))
        if not number:
            input_z, outcome_z = tests.input_z, tests.outcome_z
        wanted.update(tests.outcomes[tests.outcomes < len(y)].tolist())
        if len(kept) == len(x):
            wanted.update(_find_similar(x, kept, y, np.array(sorted(wanted), int)))
            break
        pool = np.setdiff1d(tests.inputs, kept)
        pool = np.sort(pool[np.argsort(-tests.input_z[pool], kind="stable")[: c.MAX_POOL]])
        new = _select(x.take(pool), outcomes, tests.cutoff, x.free, limit - len(kept))
        if not len(new):
            break
        kept = np.union1d(kept, pool[new])
        wanted.update(_find_similar(x, kept, y, np.array(sorted(wanted), int)))
    if not len(kept):
        kept = np.sort(np.argsort(-input_z, kind="stable")[: c.MIN_SCREENED])
    if not wanted:
        wanted.update(np.argsort(-outcome_z, kind="stable")[: c.MIN_SCREENED].tolist())
    strongest = sorted(wanted, key=lambda o: (o not in outputs, -outcome_z[o], o))
    chosen = np.array(sorted(strongest[: max(c.MAX_OUTPUTS, len(outputs))]), int)
    return Screened(kept, chosen, input_z, outcome_z)


class _Inputs:
    """The inputs of the samples outside the test set, standardised when they are taken."""

    def __init__(self, problem: Problem) -> None:
        self._x, self._rows = problem.x, np.sort(problem.seen)
        self._basis = None
        if problem.adjustment is not None:
            design = problem.adjustment.design[:, self._rows]
            self._basis = find_basis(design).astype(np.float32)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def samples(self) -> int:
        return len(self._rows)

    @property
    def free(self) -> int:
        """Degrees of freedom of a correlation, covariates held fixed."""
        covariates = 0 if self._basis is None else self._basis.shape[1]
        return max(self.samples - 2 - covariates, 1)

    def take(self, inputs: np.ndarray) -> Float[np.ndarray, "input sample"]:
        values = self._x[inputs][:, self._rows]
        return _standardise(_regress_out(values, self._basis))

    def blocks(self, outcomes: int) -> Iterator[np.ndarray]:
        """The indices of all inputs, in blocks."""
        size = max(1, BLOCK // max(outcomes, self.samples))
        for first in range(0, len(self), size):
            yield np.arange(first, min(first + size, len(self)))


def _take_outcomes(problem: Problem) -> Float[np.ndarray, "output sample"]:
    rows, basis = np.sort(problem.seen), None
    y = problem.y[:, rows]
    observed = np.True_ if problem.observed is None else problem.observed[:, rows]
    if problem.adjustment is not None:
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows].astype(np.float32)
        basis = find_basis(problem.adjustment.design[:, rows]).astype(np.float32)
    y = np.where(observed, y - y.mean(axis=1, keepdims=True, where=observed), np.float32(0))
    return np.where(observed, _regress_out(y, basis), np.float32(0))


def _regress_out(values: np.ndarray, basis: np.ndarray | None) -> np.ndarray:
    values = values - values.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    return values if basis is None else values - (values @ basis) @ basis.T


def _standardise(values: np.ndarray) -> Float[np.ndarray, "row sample"]:
    """Rows with mean 0 and sum of squares 1; rows without variance become 0."""
    size = np.sqrt(np.einsum("rs,rs->r", values, values, dtype=np.float64))[:, None]
    factor = np.where(size > SMALLEST, 1 / np.maximum(size, SMALLEST), 0.0)
    return np.asarray(values * factor.astype(np.float32))


def _leave(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What a regression on some inputs leaves of the outcomes."""
    return np.asarray(y - (_regress(x, y).T @ x).astype(np.float32))


def _regress(x: np.ndarray, y: np.ndarray) -> Float[np.ndarray, "input outcome"]:
    inner = (x @ x.T).astype(np.float64)
    inner[np.diag_indices(len(inner))] += 1e-6
    return np.linalg.solve(inner, (x @ y.T).astype(np.float64)).astype(np.float32)


def _pool(x: np.ndarray, y: np.ndarray, left: np.ndarray) -> Float[np.ndarray, "input sample"]:
    """Sums of what is left of the outcomes, weighted by the clear effects of each input."""
    variance = np.maximum(np.einsum("os,os->o", left, left), SMALLEST)
    return np.asarray((_find_clear(x, y, variance) / variance) @ left)


def _find_similar(
    inputs: _Inputs, kept: np.ndarray, y: np.ndarray, outputs: np.ndarray
) -> list[int]:
    """The outputs that what the inputs predict of some outputs predicts as well."""
    x = inputs.take(kept)
    left = _leave(x, y[outputs])
    variance = np.maximum(np.einsum("os,os->o", left, left), SMALLEST)
    predicted = _standardise(_find_clear(x, y[outputs], variance).T @ x)
    z = np.abs(_find_t(y @ predicted.T, inputs.free))
    rows, columns = np.nonzero(z > MIN_Z)
    p = 2 * stats.t.sf(z[rows, columns], inputs.free)
    return [int(o) for o in find_passing(rows, p, len(y), len(outputs))]


def _find_clear(x: np.ndarray, y: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Effects of inputs on outputs, 0 where not clear; standard errors without correlations."""
    effects = _regress(x, y)
    return np.where(np.abs(effects) > c.CLEAR_OUTPUT * np.sqrt(variance / x.shape[1]), effects, 0)


def _test_pairs(x: _Inputs, outcomes: np.ndarray) -> _Tests:
    """Test all pairs of inputs and outcomes; find the inputs and outcomes that pass."""
    input_z, outcome_z = np.zeros(len(x)), np.zeros(len(outcomes))
    parts = []
    for block in x.blocks(len(outcomes)):
        z = np.abs(_find_t(x.take(block) @ outcomes.T, x.free))
        input_z[block] = z.max(axis=1, initial=0.0)
        outcome_z = np.maximum(outcome_z, z.max(axis=0, initial=0.0))
        rows, columns = np.nonzero(z > MIN_Z)
        parts.append((block[rows], columns, z[rows, columns]))
    rows, columns, z = (np.concatenate(part) for part in zip(*parts, strict=True))
    p = 2 * stats.t.sf(z, x.free)
    inputs = find_passing(rows, p, len(x), len(outcomes))
    passing = find_passing(columns, p, len(outcomes), len(x))
    level = c.SCREEN_FDR * max(len(inputs), 1) / (len(x) * len(outcomes))
    return _Tests(inputs, passing, float(stats.t.isf(level / 2, x.free)), input_z, outcome_z)


def _find_t(correlation: np.ndarray, free: float) -> np.ndarray:
    return np.asarray(correlation * np.sqrt(free / np.maximum(1 - correlation**2, 1e-6)))


def find_passing(
    owners: Int[np.ndarray, " pair"], p: Float[np.ndarray, " pair"], count: int, tests: int
) -> Int[np.ndarray, " passing"]:
    """Which of `count` columns pass at the false-discovery rate of the screening.

    Each column is tested once: its `tests` p-values, of which only small ones need be given, are
    combined (Simes 1986).

    >>> find_passing(np.array([2, 2, 5]), np.array([1e-9, 0.01, 0.01]), 10, 20)
    array([2])
    """
    order = np.lexsort((p, owners))
    owners, p = owners[order], p[order]
    first = np.searchsorted(owners, owners)  # where the p-values of each column begin
    simes = np.minimum(p * tests / (np.arange(len(p)) - first + 1), 1.0)
    best = np.ones(count)
    np.minimum.at(best, owners, simes)
    return np.flatnonzero(stats.false_discovery_control(best) <= c.SCREEN_FDR)


def _select(
    x: np.ndarray, outcomes: np.ndarray, cutoff: float, free: int, limit: int
) -> np.ndarray:
    """Forward selection of inputs that act where those selected before them are held fixed."""
    inner = (x @ x.T).astype(np.float64)
    across = (x @ outcomes.T).astype(np.float64)
    total = np.einsum("os,os->o", outcomes, outcomes, dtype=np.float64)
    chosen: list[int] = []
    left_x, left_y, own, spread = inner, across, np.diag(inner), total
    while len(chosen) < limit:
        scale = np.sqrt(np.maximum(own, SMALLEST)[:, None] * np.maximum(spread, SMALLEST))
        z = np.abs(_find_t(left_y / scale, max(free - len(chosen), 1))).max(axis=1, initial=0.0)
        z[own < c.MIN_ALONE] = 0.0
        z[chosen] = 0.0
        batch: list[int] = []
        for i in np.argsort(-z, kind="stable")[: limit - len(chosen)]:
            if z[i] < cutoff:
                break
            near = left_x[i, batch] ** 2 / np.maximum(own[i] * own[batch], SMALLEST)
            if not batch or near.max() < c.MAX_NEAR**2:
                batch.append(int(i))
        if not batch:
            break
        chosen += batch
        weights = np.linalg.solve(
            inner[np.ix_(chosen, chosen)] + 1e-9 * np.eye(len(chosen)),
            np.concatenate([inner[chosen], across[chosen]], axis=1),
        )
        to_x, to_y = weights[:, : len(inner)], weights[:, len(inner) :]
        left_x = inner - inner[:, chosen] @ to_x
        left_y = across - inner[:, chosen] @ to_y
        own = np.diag(left_x)
        spread = total - (across[chosen] * to_y).sum(axis=0)
    return np.array(sorted(chosen), int)
