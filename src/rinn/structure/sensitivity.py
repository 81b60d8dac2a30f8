"""How strong an unmeasured confounder must be to explain an effect away.

The robustness value of Cinelli and Hazlett (2020): a confounder that explains this fraction of the
variance of both the input and the output, of what the other inputs and covariates leave, reduces
the effect to 0 (`rv`), or to one that is not significant (`rv_significant`). With t of the effect
and f = |t| / sqrt(df), rv = (sqrt(f^4 + 4 f^2) - f^2) / 2.

For 0/1 inputs and outputs also the E-value of VanderWeele and Ding (2017): a confounder that goes
with the input, and with the output, by at least this risk ratio each can explain a risk ratio RR
above 1 away. E = RR + sqrt(RR (RR - 1)); for one below 1 of 1 / RR.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import stats

from rinn.graphs.basics import by_role, reach, sources

LEVEL = 0.05
PAIRS = ("input", "output", "t", "df", "partial_r2", "rv", "rv_significant")
RATIOS = ("risk_ratio", "e_value", "e_bound")
EDGES = ("source", "target", "pairs", "min_rv", "median_rv", "max_rv", "weakest")


def find_robustness(t: Float[np.ndarray, "*effect"], df: int) -> Float[np.ndarray, "*effect"]:
    """The robustness value of effects with these t.

    >>> find_robustness(np.array([0.0, 4.18]), 783).round(3)
    array([0.   , 0.139])
    """
    return _solve(np.abs(t) / np.sqrt(df))


def find_significant_robustness(
    t: Float[np.ndarray, "*effect"], df: int, level: float = LEVEL
) -> Float[np.ndarray, "*effect"]:
    """The fraction at which effects with these t are no longer significant.

    >>> find_significant_robustness(np.array([1.0, 4.18]), 783).round(3)
    array([0.   , 0.076])
    """
    f = np.abs(t) / np.sqrt(df)
    critical = stats.t.isf(level / 2, df - 1) / np.sqrt(df - 1)
    # Where the output's part may be less than the input's, both are not the same fraction.
    other = (f**2 - critical**2) / (1 + f**2)
    return np.where(f * critical > 1, other, _solve(np.maximum(f - critical, 0.0)))


def find_e_value(ratio: Float[np.ndarray, "*effect"]) -> Float[np.ndarray, "*effect"]:
    """The E-value of risk ratios.

    >>> find_e_value(np.array([1.0, 3.9, 1 / 3.9])).round(2)
    array([1.  , 7.26, 7.26])
    """
    ratio = np.maximum(ratio, 1 / ratio)
    return np.asarray(ratio + np.sqrt(ratio * (ratio - 1)))


def find_e_values(
    slope: Float[np.ndarray, "*effect"],
    t: Float[np.ndarray, "*effect"],
    x_mean: Float[np.ndarray, "*effect"],
    y_mean: Float[np.ndarray, "*effect"],
    samples: int,
    level: float = LEVEL,
) -> list[Float[np.ndarray, "*effect"]]:
    """Risk ratios, and the E-values of them and of the confidence limits that are nearer to 1.

    The risks are those that a linear regression expects of all samples with the input at 0 and at
    1; NaN where one is not between 0 and 1. The variance of the logarithm of their ratio is that
    without other inputs (Katz 1978), times the ratio of the slope's variances with and without.
    """
    low = y_mean - slope * x_mean
    with np.errstate(divide="ignore", invalid="ignore"):
        risks = [np.where((risk > 0) & (risk < 1), risk, np.nan) for risk in (low, low + slope)]
        counts = (1 - x_mean) * samples, x_mean * samples
        pairs = list(zip(risks, counts, strict=True))
        error = np.divide(slope, t, where=t != 0, out=np.full(np.shape(slope), np.inf))
        more = error**2 / sum(risk * (1 - risk) / number for risk, number in pairs)
        variance = more * sum((1 - risk) / (risk * number) for risk, number in pairs)
        ratio = risks[1] / risks[0]
        bound = np.abs(np.log(ratio)) - stats.norm.isf(level / 2) * np.sqrt(variance)
    return [ratio, find_e_value(ratio), find_e_value(np.exp(np.maximum(bound, 0.0)))]


def tabulate_sensitivity(
    graph: nx.DiGraph,
    t: Float[np.ndarray, "input output"],
    inputs: Sequence[str],
    outputs: Sequence[str],
    df: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs of input and output that a graph joins, and its edges by the pairs they carry."""
    reached, row_of, column_of = reach(graph), _index(inputs), _index(outputs)
    pairs = [
        (i, o) for i in inputs if i in graph for o in sorted(reached[i], key=column_of.__getitem__)
    ]
    values = np.array([t[row_of[i], column_of[o]] for i, o in pairs])
    rv, significant = find_robustness(values, df), find_significant_robustness(values, df)
    effects = pd.DataFrame(pairs, columns=list(PAIRS[:2]))
    effects["t"], effects["df"] = values, df
    effects["partial_r2"] = values**2 / (values**2 + df)
    effects["rv"], effects["rv_significant"] = rv, significant
    value_of = dict(zip(pairs, rv, strict=True))
    origins = sources(graph) | {name: frozenset({name}) for name in by_role(graph, "input")}
    below = reached | {name: frozenset({name}) for name in by_role(graph, "output")}
    rows = []
    for source, target in graph.edges:
        carried = [(i, o) for i in origins.get(source, ()) for o in below[target]]
        found = sorted((value_of[pair], pair) for pair in carried)
        if found:
            size = np.array([value for value, _ in found])
            weakest = " -> ".join(found[0][1])
            row = len(found), size.min(), np.median(size), size.max(), weakest
            rows.append((source, target, *row))
    edges = pd.DataFrame(rows, columns=list(EDGES)).sort_values("median_rv", ignore_index=True)
    return effects.sort_values("rv", ignore_index=True), edges


def _solve(f: np.ndarray) -> np.ndarray:
    return np.asarray((np.sqrt(f**4 + 4 * f**2) - f**2) / 2)


def _index(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
