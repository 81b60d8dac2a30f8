"""Outputs that may cause outputs: latents whose inputs act on other outputs through one of them.

If output y0 is the cause of the other children of a latent, the inputs of the latent have no
effect on these children once y0 is held fixed, but still have one on y0 with the children fixed.
Both are tests of Wilks' lambda in the regression of the children on all inputs, by the
approximation of Bartlett (1938),

    chi2 = -(n' - (p - k + 1) / 2) log( |E| / |E + H| ),    k p degrees of freedom,

with E the residual sums of products of p outputs, H what k inputs add to them, and n' the samples
less all regressors. For outputs with others held fixed, log|E| is that of all less that of those
that are held fixed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Float
from scipy import stats

from rinn.data.least_squares import regress
from rinn.errors import quote, quote_some
from rinn.structure import constants as c
from rinn.structure.effects import Effects
from rinn.structure.regression import Sample


def find_output_causes(
    graph: nx.DiGraph, effects: Effects, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[str, ...]:
    """Name latents that may be one of their own outputs."""
    result = []
    for latent, role in graph.nodes(data="role"):
        children = [o for o, name in enumerate(outputs) if graph.has_edge(latent, name)]
        if role != "latent" or len(children) < 2:
            continue
        above = nx.ancestors(graph, latent)
        sources = {i for i, name in enumerate(inputs) if name in above}
        cause = _find_cause(effects.sample, sources, children) if sources else None
        if cause is not None:
            y0 = quote(outputs[cause])
            others = quote_some([outputs[o] for o in children if o != cause])
            result.append(
                f"Outputs that may cause outputs: given {y0}, the inputs of {latent} have no "
                f"effect on {others}; {latent} may be {y0} itself."
            )
    return tuple(result)


def _find_cause(sample: Sample, sources: set[int], children: Sequence[int]) -> int | None:
    """The child through which inputs act on all others, if there is one."""
    regression = regress_outputs(sample, children)
    if regression is None:
        return None
    test = regression.make_test(find_columns(sample, sources))
    everything = range(len(children))
    best, cause = c.VANISHES, None
    for child in everything:
        others = [o for o in everything if o != child]
        p = test.find_p(others, [child])
        if p > best and max(test.find_p(others, []), test.find_p([child], others)) < c.CLEAR_P:
            best, cause = p, children[child]
    return cause


def find_columns(sample: Sample, inputs: Collection[int]) -> list[int]:
    """The columns of some inputs, and of their products with any."""
    return [
        column for column, owners in enumerate(sample.owners) if not set(inputs).isdisjoint(owners)
    ]


def regress_outputs(
    sample: Sample, outputs: Sequence[int], weights: Float[np.ndarray, " sample"] | None = None
) -> OutputRegression | None:
    """Regress some outputs on all columns by the samples that have all of them."""
    x, y = sample.x, sample.y[:, outputs]
    weight = np.ones(len(x)) if weights is None else weights
    if sample.observed is not None:
        rows = sample.observed[:, outputs].all(axis=1)
        x, y, weight = x[rows], y[rows], weight[rows]
    count = float(weight.sum())
    free = count - x.shape[1] - sample.covariates - 1
    if count < c.SAMPLES_PER_INPUT * x.shape[1] or free < c.MIN_FREE + len(outputs):
        return None
    x, y = x - weight @ x / count, y - weight @ y / count
    slopes, inverse = regress(x, y, weight)
    left = y - x @ slopes
    within = (left.T * weight) @ left
    within += 1e-9 * np.diag(weight @ y**2)  # an output may follow from others exactly
    return OutputRegression(free, inverse, slopes, within)


@dataclass(frozen=True)
class OutputRegression:
    """Several outputs regressed on all columns."""

    free: float  # samples less all regressors
    inverse: Float[np.ndarray, "column column"]  # of the columns' sums of products
    slopes: Float[np.ndarray, "column output"]
    left: Float[np.ndarray, "output output"]  # sums of products of the residuals

    def make_test(self, columns: Sequence[int]) -> LambdaTest:
        """Prepare the tests of some columns."""
        part, slopes = self.inverse[np.ix_(columns, columns)], self.slopes[columns]
        added = slopes.T @ np.linalg.pinv(part, rcond=1e-9, hermitian=True) @ slopes
        return LambdaTest(self.free, len(columns), self.left, self.left + added)

    def test_covariance(self, one: int, others: Sequence[int], fixed: Sequence[int]) -> float:
        """The p-value of no residual covariance of one output with others, some held fixed."""

        def find_log(*outputs: int) -> float:
            return float(np.linalg.slogdet(self.left[np.ix_(outputs, outputs)])[1])

        wilks = find_log(one, *others, *fixed) + find_log(*fixed)
        wilks -= find_log(one, *fixed) + find_log(*others, *fixed)
        scale = self.free - len(fixed) - (len(others) + 2) / 2
        return float(stats.chi2.sf(-scale * wilks, len(others)))


@dataclass(frozen=True)
class LambdaTest:
    """Tests of some inputs in one regression of several outputs."""

    free: float  # samples less all regressors
    inputs: int
    left: Float[np.ndarray, "output output"]  # sums of products of the residuals
    without: Float[np.ndarray, "output output"]  # the same without these inputs

    def find_p(self, outputs: Sequence[int], fixed: Sequence[int]) -> float:
        """The p-value of no effect on outputs, others held fixed."""
        return float(stats.chi2.sf(*self.measure(outputs, fixed)))

    def measure(self, outputs: Sequence[int], fixed: Sequence[int]) -> tuple[float, int]:
        """The chi-square of no effect on outputs, others held fixed, and its degrees of freedom."""
        wilks = self._find_log([*outputs, *fixed]) - self._find_log(fixed)
        scale = self.free - len(fixed) - (len(outputs) - self.inputs + 1) / 2
        return -scale * wilks, self.inputs * len(outputs)

    def _find_log(self, outputs: Sequence[int]) -> float:
        part = np.ix_(outputs, outputs)
        return float(
            np.linalg.slogdet(self.left[part])[1] - np.linalg.slogdet(self.without[part])[1]
        )
