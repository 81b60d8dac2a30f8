"""A graph against data: which inputs move which outputs, by a test of each pair.

The test is that of a partial correlation, the other inputs and covariates held fixed, as the slope
of a regression. Where covariates are held fixed, the residual variance of an output may differ
between their levels: it is fitted by the covariates, and the standard errors of slopes follow it
(White 1980). The p-values are adjusted for their number (Benjamini and Hochberg 1995), separately
for pairs that the graph separates and pairs that it connects: if the graph is right, the first are
all chance, and the adjustment bounds the probability that any of them is significant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy import stats

from rinn.config import check_choice, check_number
from rinn.data.adjustment import find_basis
from rinn.data.align import as_data
from rinn.data.least_squares import weigh_variances
from rinn.data.records import Data
from rinn.errors import InputError, quote_some
from rinn.graphs.assumptions import DataComparison, Given, PairTest
from rinn.graphs.basics import by_role
from rinn.graphs.separation import Statement, answer_statements

LEVEL = 0.05
# Directions in which the inputs vary less than this fraction of the largest are taken for exact
# repetitions of other inputs; rounding leaves about 1e-15.
SINGULAR = 1e-10
MIN_VARIANCE = 0.1  # of an output's mean variance, at any level of a covariate
MIN_FREE = 2


def compare_with_data(
    graph: nx.DiGraph,
    X: pd.DataFrame | np.ndarray,
    Y: pd.DataFrame | np.ndarray,
    *,
    level: float = LEVEL,
    given: Given = "inputs",
    covariates: Any = None,
) -> DataComparison:
    """Compare what a graph says of each input and output with what the data say.

    For a pair the data say dependence where the partial correlation differs from zero, by a t-test
    whose adjusted p-value is at most `level`. It sees straight-line effects only, 0/1 columns
    included. The graph is asked by d-separation. These are the statements of `check_markov` and
    `check_faithfulness` in which all other inputs are given. Covariates act on inputs and outputs
    from outside the graph: they are held fixed by straight lines, a level each for tissues and the
    like, and errors follow how uncertain an output is at their levels.

    Args:
        graph: the graph; it is not changed.
        X: the inputs, one row per sample, columns named as in the graph (or x0, x1 and so on).
        Y: the outputs, one row per sample (or y0, y1 and so on).
        level: the false discovery rate to accept.
        given: "inputs" holds all other columns of X fixed, as is right where inputs go together;
            "nothing" is the plain correlation, for fewer samples than inputs.
        covariates: a DataFrame, Series or array of tissue, batch and the like; always held fixed.

    Returns:
        The pairs in which graph and data differ, the clearest first.

    Raises:
        InputError: the tables do not fit each other or the graph, there are too few samples, or an
            option is not what it must be.

    Example:
        >>> from rinn.simulate.datasets import make_dataset
        >>> data = make_dataset("or", samples=1000, seed=0)
        >>> wrong = data.truth.copy()
        >>> wrong.remove_edges_from(list(wrong.in_edges("h17")))
        >>> result = compare_with_data(wrong, data.x, data.y)
        >>> sorted({pair.x for pair in result.unexplained})
        ['x1', 'x2', 'x8']
    """
    data = as_data(X, Y, covariates=covariates, as_is=True)
    return compare_data(graph, data, level=level, given=given)


def compare_data(
    graph: nx.DiGraph, data: Data, *, level: float = LEVEL, given: Given = "inputs"
) -> DataComparison:
    """Compare a graph with tables that are matched already; see `compare_with_data`."""
    check_number("level", level, maximum=1, above=True, below=True, example=0.05)
    check_choice("given", given, get_args(Given))
    inputs = _shared(graph, "input", data.inputs, "X")
    outputs = _shared(graph, "output", data.outputs, "Y")
    correlation, p, few = _test_pairs(data, inputs, outputs, given)
    outputs_tested = [y for y in outputs if y not in few]
    seen = ~np.isnan(p).all(axis=1)  # [input]
    tested = [x for x, flag in zip(inputs, seen, strict=True) if flag]
    separated = _ask_graph(graph, tested, outputs_tested, inputs if given == "inputs" else [])
    known_pairs = ~np.isnan(p[seen])
    tests = [
        _gather_tests(tested, outputs_tested, correlation[seen], p[seen], chosen & known_pairs)
        for chosen in (separated, ~separated)
    ]
    names = {*inputs, *outputs}
    everything = [*data.inputs, *data.outputs, *by_role(graph, "input"), *by_role(graph, "output")]
    return DataComparison(
        samples=len(data.x),
        pairs=int(known_pairs.sum()),
        level=level,
        given=given,
        unexplained=tuple(test for test in tests[0] if test.q <= level),
        silent=tuple(test for test in reversed(tests[1]) if test.q > level),
        untested=tuple(x for x, flag in zip(inputs, seen, strict=True) if not flag),
        unknown=tuple(dict.fromkeys(name for name in everything if name not in names)),
        covariates=data.covariates.names if data.covariates else (),
        few=tuple(few),
    )


def _shared(graph: nx.DiGraph, role: str, columns: tuple[str, ...], table: str) -> list[str]:
    """The columns that are nodes of the graph in their role."""
    names = by_role(graph, role)
    shared = [name for name in columns if name in set(names)]
    if not shared:
        raise InputError(
            f"{table} must have columns named as the {role}s of the graph, such as "
            f"{quote_some(names)}, got {quote_some(columns)}; rename them, or check the files"
        )
    return shared


def _test_pairs(
    data: Data, inputs: list[str], outputs: list[str], given: Given
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Give correlations and p-values [input, output], and the outputs that have too few values."""
    rows = [data.inputs.index(name) for name in inputs]
    columns = [data.outputs.index(name) for name in outputs]
    held = data.covariates.numbers if data.covariates else None
    result = correlate_pairs(data.x, data.y[:, columns], held, partly=given == "inputs")
    enough = result.enough
    if not enough.any():
        most = int((~np.isnan(data.y[:, columns])).sum(axis=0).max())
        fixed = "the other inputs" if held is None else "the other inputs and the covariates"
        raise InputError(
            f"X and Y must have at least {result.needed} samples to hold {fixed} fixed, but have "
            f"{most}; add samples, or compare with given='nothing'"
        )
    p = result.p[rows][:, enough]
    if np.isnan(p).all():
        others = "the others" if held is None else "others and covariates"
        raise InputError(
            f"X must have an input that {others} do not determine, but each one repeats them; "
            f"remove the repeated columns, or compare with given='nothing'"
        )
    few = [name for name, flag in zip(outputs, enough, strict=True) if not flag]
    return result.r[rows][:, enough], p, few


def _ask_graph(
    graph: nx.DiGraph, inputs: list[str], outputs: list[str], fixed: list[str]
) -> Bool[np.ndarray, "input output"]:
    """Which pairs the graph separates, given all other fixed inputs."""
    given = {x: frozenset(fixed) - {x} for x in inputs}
    asked = [Statement(x, y, given[x]) for x in inputs for y in outputs]
    result = answer_statements(graph, asked)
    return np.array([result[s] for s in asked]).reshape(len(inputs), len(outputs))


def _gather_tests(
    inputs: list[str],
    outputs: list[str],
    correlation: np.ndarray,
    p: np.ndarray,
    chosen: np.ndarray,
) -> list[PairTest]:
    """Adjust the p-values of the chosen pairs together; the strongest pair comes first."""
    indices = np.argwhere(chosen)
    if not len(indices):
        return []
    r, alone = correlation[chosen], p[chosen]
    q = stats.false_discovery_control(alone)
    return [
        PairTest(
            inputs[indices[k, 0]], outputs[indices[k, 1]], float(r[k]), float(alone[k]), float(q[k])
        )
        for k in np.argsort(-np.abs(r), kind="stable")
    ]


@dataclass(frozen=True)
class Correlations:
    """Correlation and p-value of each pair (NaN if untestable); outputs with `enough` values."""

    r: Float[np.ndarray, "input output"]
    p: Float[np.ndarray, "input output"]
    enough: Bool[np.ndarray, " output"]
    needed: int


def correlate_pairs(
    x: Float[np.ndarray, "sample input"],
    y: Float[np.ndarray, "sample output"],
    covariates: Float[np.ndarray, "sample column"] | None = None,
    *,
    partly: bool = True,
) -> Correlations:
    """Test each input against each output by a t-test.

    Outputs that are missing in the same samples are tested together, by the others.
    """
    r = np.full((x.shape[1], y.shape[1]), np.nan)
    p, enough, needed = r.copy(), np.zeros(y.shape[1], bool), 0
    patterns, which = np.unique(~np.isnan(y), axis=1, return_inverse=True)
    for number, observed in enumerate(patterns.T):
        outputs = np.flatnonzero(which.ravel() == number)
        z = None if covariates is None else covariates[observed]
        t, freedom, taken = _find_slopes(x[observed], y[np.ix_(observed, outputs)], z, partly)
        needed = max(needed, taken + MIN_FREE)
        if freedom < MIN_FREE:
            continue
        enough[outputs] = True
        r[:, outputs] = np.clip(t / np.sqrt(freedom + t**2), -1, 1)
        p[:, outputs] = 2 * stats.t.sf(np.abs(t), freedom)
    return Correlations(r, p, enough, needed)


def _find_slopes(
    x: np.ndarray, y: np.ndarray, z: np.ndarray | None, partly: bool
) -> tuple[Float[np.ndarray, "input output"], int, int]:
    """Slopes in units of their errors, degrees of freedom, and parameters used."""
    basis = find_basis(np.zeros((0, len(x))) if z is None else z.T)
    x, alone = _hold_fixed(x, basis)
    y, _ = _hold_fixed(y, basis)
    samples = len(x)
    if partly:
        spread, axes = np.linalg.eigh(x.T @ x / samples)  # [axis], [input, axis]
        used = spread > SINGULAR * max(spread.max(initial=0.0), SINGULAR)
        inverse = (axes[:, used] / spread[used]) @ axes[:, used].T  # [input, input]
        alone = alone & ~(np.abs(axes[:, ~used]) > np.sqrt(SINGULAR)).any(axis=1)
        rank = int(used.sum())
    else:
        inverse, rank = np.eye(x.shape[1]), 1
    taken = rank + basis.shape[1] + 1
    freedom = samples - taken
    if freedom < MIN_FREE:
        return np.zeros((x.shape[1], y.shape[1])), freedom, taken
    shared = x.T @ y / samples  # [input, output]
    slopes = inverse @ shared
    explained = (slopes * shared).sum(axis=0) if partly else slopes**2
    left = np.maximum((y**2).mean(axis=0) - explained, SINGULAR)  # [output], or [input, output]
    errors = np.sqrt(np.diag(inverse)[:, None] * left / freedom)
    if basis.shape[1]:
        residual = y - x @ slopes if partly else y
        errors = errors * _find_error_ratio(x @ inverse, residual**2, basis)
    t = np.divide(slopes, errors, out=np.zeros_like(slopes), where=errors > 0)
    t[~alone] = np.nan
    return t, freedom, taken


def _hold_fixed(
    values: np.ndarray, basis: Float[np.ndarray, "sample rank"]
) -> tuple[Float[np.ndarray, "sample column"], np.ndarray]:
    """Columns without what covariates explain, at variance 1, and whether anything is left."""
    values = values.astype(float)
    values = values - values.mean(axis=0)
    total = values.std(axis=0)
    values = values - basis @ (basis.T @ values)
    left = values.std(axis=0)
    varies = left > np.sqrt(SINGULAR) * total
    return np.where(varies, values, 0.0) / np.where(varies, left, 1.0), varies


def _find_error_ratio(
    readers: Float[np.ndarray, "sample input"],
    squares: Float[np.ndarray, "sample output"],
    basis: Float[np.ndarray, "sample rank"],
) -> Float[np.ndarray, "input output"]:
    """Ratio of errors where the samples that determine a slope are the noisier ones."""
    mean = squares.mean(axis=0)
    variances = mean + basis @ (basis.T @ squares)  # the basis is centred
    variances = np.maximum(variances, np.maximum(MIN_VARIANCE * mean, 1e-300))
    ratio = weigh_variances(readers**2, variances / variances.mean(axis=0))
    return np.sqrt(np.maximum(ratio, 1e-12))
