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
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from rinn.data.adjustment import find_basis
from rinn.data.problem import Problem, is_large
from rinn.data.records import Data, Screening
from rinn.structure import constants as c
from rinn.structure.records import LatentGraph

BLOCK = 50_000_000  # values of a block of inputs, or of its correlations
MIN_T = 3.0  # pairs below are not counted: they save memory, and hardly ever make a column pass
SMALLEST = 1e-12


@dataclass(frozen=True)
class _Tests:
    """Tests of all pairs of inputs and outcomes."""

    inputs: Int[np.ndarray, " passing_input"]
    outcomes: Int[np.ndarray, " passing_outcome"]
    cutoff: float  # of |t|: pairs above make an input pass by themselves
    input_t: Float[np.ndarray, " input"]  # the largest |t|
    outcome_t: Float[np.ndarray, " outcome"]


def find_memory(data: Data) -> int:
    """About how many bytes the work on wide tables takes; 0 for others."""
    samples, inputs, outputs = len(data.x), len(data.inputs), len(data.outputs)
    if inputs <= c.MANY_INPUTS and outputs <= c.MANY_OUTPUTS:
        return 0
    kept = min(inputs, c.MAX_SCREENED), min(outputs, c.MAX_OUTPUTS)
    tables = samples * (inputs * (data.x.itemsize + 4) + 24 * outputs + 48 * sum(kept))
    return tables + 16 * BLOCK + 8 * sum(kept) ** 2


def screen(data: Data, problem: Problem, named: Collection[str] = ()) -> Data:
    """The data of the columns that could matter, and of those that are named.

    Args:
        data: the tables.
        problem: made of them; its test samples are not looked at.
        named: columns that are kept in any case, with or without the _x or _y of both tables.

    Returns:
        The data of these columns; `screening` has all of them.
    """
    inputs, outputs = (
        [i for i, name in enumerate(names) if name in named or name.removesuffix(end) in named]
        for names, end in ((data.inputs, "_x"), (data.outputs, "_y"))
    )
    x = _Inputs(problem)
    y = _standardise(_take_outcomes(problem, x.basis))
    if not is_large(problem):
        inputs = list(range(len(x)))
    limit = max(len(inputs), min(x.samples // c.SAMPLES_PER_SCREENED, c.MAX_SCREENED))
    kept = np.array(sorted(inputs), int)
    wanted = set(outputs)
    outcomes, input_t, outcome_t = y, np.zeros(len(x)), np.zeros(len(y))
    for number in range(c.SCREENS):
        if number:
            outcomes = _leave(x.take(kept), y)
            outcomes = np.concatenate([outcomes, _pool(x.take(kept), y, outcomes)])
        tests = _test_pairs(x, _standardise(outcomes))
        if not number:
            input_t, outcome_t = tests.input_t, tests.outcome_t
        wanted.update(tests.outcomes[tests.outcomes < len(y)].tolist())
        if len(kept) == len(x):
            wanted.update(_find_similar(x, kept, y, np.array(sorted(wanted), int)))
            break
        if not number and len(kept):
            outcomes = _leave(x.take(kept), y)  # near-copies of a named input add nothing to it
        pool = np.setdiff1d(tests.inputs, kept)
        pool = np.sort(pool[np.argsort(-tests.input_t[pool], kind="stable")[: c.MAX_POOL]])
        new = _select(x.take(pool), outcomes, tests.cutoff, x.free, limit - len(kept))
        if not len(new):
            break
        kept = np.union1d(kept, pool[new])
        wanted.update(_find_similar(x, kept, y, np.array(sorted(wanted), int)))
    if not len(kept):
        kept = np.sort(np.argsort(-input_t, kind="stable")[: c.MIN_SCREENED])
    if not wanted:
        wanted.update(np.argsort(-outcome_t, kind="stable")[: c.MIN_SCREENED].tolist())
    strongest = sorted(wanted, key=lambda o: (o not in outputs, -outcome_t[o], o))
    chosen = np.array(sorted(strongest[: max(c.MAX_OUTPUTS, len(outputs))]), int)
    return data.take(kept, chosen, Screening(data.inputs, data.outputs, input_t, outcome_t))


def add_left_out(latent: LatentGraph, data: Data) -> LatentGraph:
    """The graphs with all columns of the tables as nodes, also those that were left out."""
    if data.screening is None:
        return latent
    graphs = []
    for graph in (latent.graph, latent.candidates):
        full: nx.DiGraph = nx.DiGraph()
        full.add_nodes_from(data.screening.inputs, role="input")
        full.add_nodes_from(n for n in graph.nodes(data=True) if n[1]["role"] == "latent")
        full.add_nodes_from(data.screening.outputs, role="output")
        full.add_edges_from(graph.edges(data=True))
        graphs.append(full)
    return replace(latent, graph=graphs[0], candidates=graphs[1])


class _Inputs:
    """The inputs of the samples outside the test set, standardised when they are taken."""

    def __init__(self, problem: Problem) -> None:
        self._x, self._rows = problem.x, np.sort(problem.seen)
        self.basis = None
        if problem.adjustment is not None:
            design = problem.adjustment.design[:, self._rows]
            self.basis = find_basis(design).astype(np.float32)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def samples(self) -> int:
        return len(self._rows)

    @property
    def free(self) -> int:
        """Degrees of freedom of a correlation, covariates held fixed."""
        covariates = 0 if self.basis is None else self.basis.shape[1]
        return max(self.samples - 2 - covariates, 1)

    def take(self, inputs: np.ndarray) -> Float[np.ndarray, "input sample"]:
        values = self._x[inputs][:, self._rows]
        return _standardise(_regress_out(values, self.basis))

    def blocks(self, outcomes: int) -> Iterator[np.ndarray]:
        """The indices of all inputs, in blocks."""
        size = max(1, BLOCK // max(outcomes, self.samples))
        for first in range(0, len(self), size):
            yield np.arange(first, min(first + size, len(self)))


def _take_outcomes(
    problem: Problem, basis: np.ndarray | None
) -> Float[np.ndarray, "output sample"]:
    rows = np.sort(problem.seen)
    y = problem.y[:, rows]
    observed = np.True_ if problem.observed is None else problem.observed[:, rows]
    if problem.adjustment is not None:
        y = y - problem.adjustment.expected.mean(axis=0)[:, rows].astype(np.float32)
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
    t = np.abs(_find_t(y @ predicted.T, inputs.free))
    rows, columns = np.nonzero(t > MIN_T)
    p = 2 * stats.t.sf(t[rows, columns], inputs.free)
    return [int(o) for o in find_passing(rows, p, len(y), len(outputs))]


def _find_clear(x: np.ndarray, y: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Effects of inputs on outputs, 0 where not clear; standard errors without correlations."""
    effects = _regress(x, y)
    return np.where(np.abs(effects) > c.CLEAR_OUTPUT * np.sqrt(variance / x.shape[1]), effects, 0)


def _test_pairs(x: _Inputs, outcomes: np.ndarray) -> _Tests:
    """Test all pairs of inputs and outcomes; find the inputs and outcomes that pass."""
    input_t, outcome_t = np.zeros(len(x)), np.zeros(len(outcomes))
    parts = []
    for block in x.blocks(len(outcomes)):
        t = np.abs(_find_t(x.take(block) @ outcomes.T, x.free))
        input_t[block] = t.max(axis=1, initial=0.0)
        outcome_t = np.maximum(outcome_t, t.max(axis=0, initial=0.0))
        rows, columns = np.nonzero(t > MIN_T)
        parts.append((block[rows], columns, t[rows, columns]))
    rows, columns, t = (np.concatenate(part) for part in zip(*parts, strict=True))
    p = 2 * stats.t.sf(t, x.free)
    inputs = find_passing(rows, p, len(x), len(outcomes))
    passing = find_passing(columns, p, len(outcomes), len(x))
    level = c.SCREEN_FDR * max(len(inputs), 1) / (len(x) * len(outcomes))
    return _Tests(inputs, passing, float(stats.t.isf(level / 2, x.free)), input_t, outcome_t)


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
        t = np.abs(_find_t(left_y / scale, max(free - len(chosen), 1))).max(axis=1, initial=0.0)
        t[own < c.MIN_ALONE] = 0.0
        t[chosen] = 0.0
        batch: list[int] = []
        for i in np.argsort(-t, kind="stable")[: limit - len(chosen)]:
            if t[i] < cutoff:
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
