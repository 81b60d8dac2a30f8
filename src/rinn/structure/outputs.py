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

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Float
from scipy import stats

from rinn.cells import quote, quote_some
from rinn.structure.constants import SAMPLES_PER_INPUT
from rinn.structure.effects import Effects
from rinn.structure.regression import Sample

VANISHES = 0.01  # p-value above which effects may be 0
CLEAR = 1e-6  # and below which they are not
MIN_FREE = 10  # samples beyond the regressors


def find_output_causes(
    graph: nx.DiGraph, effects: Effects, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[str, ...]:
    """Name latents that may be one of their own outputs.

    Args:
        graph: as `learn_graph` reports it.
        effects: that it was learned from.
        inputs: names, in the order of the effects.
        outputs: names, in the order of the effects.

    Returns:
        One sentence for each such latent; none with fewer than three samples for each input.

    Example:
        >>> from rinn.problem import make_problem
        >>> from rinn.records import Data
        >>> from rinn.structure.effects import estimate_effects
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(1000, 2))
        >>> cause = x.sum(axis=1, keepdims=True) + rng.normal(size=(1000, 1))
        >>> y = np.concatenate([cause, cause + rng.normal(size=(1000, 2))], axis=1)
        >>> effects = estimate_effects(make_problem(Data(x, y, ("a", "b"), ("u", "v", "w"))))
        >>> graph = nx.DiGraph([("a", "L1"), ("b", "L1"), *(("L1", name) for name in "uvw")])
        >>> roles = dict.fromkeys("ab", "input") | dict.fromkeys("uvw", "output") | {"L1": "latent"}
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> find_output_causes(graph, effects, ("a", "b"), ("u", "v", "w"))
        ("Outputs that may cause outputs: given 'u', the inputs of L1 have no effect on 'v', 'w' \
any more; L1 may be 'u' itself.",)
    """
    found = []
    for latent, role in graph.nodes(data="role"):
        children = [o for o, name in enumerate(outputs) if graph.has_edge(latent, name)]
        if role != "latent" or len(children) < 2:
            continue
        above = nx.ancestors(graph, latent)
        own = {i for i, name in enumerate(inputs) if name in above}
        cause = _find_cause(effects.sample, own, children) if own else None
        if cause is not None:
            y0 = quote(outputs[cause])
            others = quote_some([outputs[o] for o in children if o != cause])
            found.append(
                f"Outputs that may cause outputs: given {y0}, the inputs of {latent} have no "
                f"effect on {others} any more; {latent} may be {y0} itself."
            )
    return tuple(found)


def _find_cause(sample: Sample, own: set[int], children: Sequence[int]) -> int | None:
    """The child through which inputs act on all others, if there is one."""
    columns = [c for c, owners in enumerate(sample.owners) if own.intersection(owners)]
    test = _test_columns(sample, columns, children)
    if test is None:
        return None
    everything = range(len(children))
    best, cause = VANISHES, None
    for child in everything:
        others = [o for o in everything if o != child]
        p = test.find_p(others, [child])
        if p > best and max(test.find_p(others, []), test.find_p([child], others)) < CLEAR:
            best, cause = p, children[child]
    return cause


def _test_columns(
    sample: Sample, columns: Sequence[int], children: Sequence[int]
) -> _LambdaTest | None:
    """Prepare the tests of some columns; None where there are too few samples."""
    x, y = sample.x, sample.y[:, children]
    if sample.observed is not None:
        rows = sample.observed[:, children].all(axis=1)
        x, y = x[rows], y[rows]
    free = len(x) - x.shape[1] - sample.covariates - 1
    if len(x) < SAMPLES_PER_INPUT * x.shape[1] or free < MIN_FREE + len(children):
        return None
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True)
    slopes = inverse @ (x.T @ y)
    left = y - x @ slopes
    within = left.T @ left
    within += 1e-9 * np.diag(np.diag(y.T @ y))  # an output may follow from others exactly
    part = inverse[np.ix_(columns, columns)]
    added = slopes[columns].T @ np.linalg.pinv(part, rcond=1e-9, hermitian=True) @ slopes[columns]
    return _LambdaTest(free, len(columns), within, within + added)


@dataclass(frozen=True)
class _LambdaTest:
    """Tests of some inputs in one regression of several outputs."""

    free: int  # samples less all regressors
    inputs: int
    left: Float[np.ndarray, "output output"]  # sums of products of the residuals
    without: Float[np.ndarray, "output output"]  # the same without these inputs

    def find_p(self, outputs: Sequence[int], fixed: Sequence[int]) -> float:
        """The p-value of no effect on outputs, others held fixed."""
        wilks = self._find_log([*outputs, *fixed]) - self._find_log(fixed)
        scale = self.free - len(fixed) - (len(outputs) - self.inputs + 1) / 2
        return float(stats.chi2.sf(-scale * wilks, self.inputs * len(outputs)))

    def _find_log(self, outputs: Sequence[int]) -> float:
        part = np.ix_(outputs, outputs)
        return float(
            np.linalg.slogdet(self.left[part])[1] - np.linalg.slogdet(self.without[part])[1]
        )
