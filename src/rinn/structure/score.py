r"""The score of a graph: how far it is from the data, and a penalty for each edge.

A graph with weights W on its edges and noise variances D of its latents and outputs implies linear
effects B(W) of the inputs on the outputs and a covariance Sigma(W, D) of the outputs given the
inputs. With estimated effects B^ and residual covariance S of n samples, and C the covariance of
the inputs,

    score(G) = min_{W, D}  n tr[ (B^ - B)' C (B^ - B) S^-1 ]
                         + n / (1 + n^2 e^4) ( log|Sigma| + tr[ Sigma^-1 S ] - log|S| - q )
                         + penalty * edges(G).

The first term is the chi-square of the effects, whitened by the residual covariance, so that noise
which outputs share is counted once. The second is the likelihood of the covariance (MIMIC model:
Joreskog and Goldberger 1975), divided by what a graph may be off by an approximation error e
(RMSEA: Browne and Cudeck 1992), because outputs that are not linear in their latents do not follow
it exactly. Without the second term ("effects only") covariance plays no part. An edge from an input
to an output counts 1.3 times, a latent without inputs of its own as two edges more; a prior is
added as twice its log odds.

Both terms and their derivatives need no pass over the samples. An edge u -> v changes B by
t_u r_v', where t_u are the effects of the inputs on u and r_v those of v on the outputs, and Sigma
by c_u r_v' + r_v c_u', where c_u is the covariance of u with the outputs; so the Fisher information
of two edges is made of inner products of nodes, and one table of nodes by nodes has the derivative
for every edge that could be added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from rinn.structure import constants as c
from rinn.structure.records import Moments, Structure

Nodes = Int[np.ndarray, " edge"]
MIN_NOISE = 1e-4
MIN_OUTPUT_NOISE = 1e-3
MAX_NOISE = 1e4
MAX_LOG_STEP = 2.0
DAMPING = 1e-3
STEPS = 10
TOLERANCE = 0.05  # of the misfit: a step that gains less is the last


def find_penalty(moments: Moments) -> float:
    """The penalty of an edge: log(samples) + log(inputs x outputs)."""
    tested = moments.tested or moments.effects.size
    return float(np.log(max(moments.samples, 8)) + np.log(max(tested, 8)))


class Misfit:
    """The first two terms of the score."""

    def __init__(
        self, moments: Moments, *, effects_only: bool = False, exact: bool = False
    ) -> None:
        self.moments = moments
        self.covariance_weight = 1 / (1 + (moments.samples * c.RMSEA**2) ** 2)
        if effects_only or exact:
            self.covariance_weight = float(not effects_only)
        self._last: Linearised | None = None

    @property
    def is_small(self) -> bool:
        """Whether there are few enough inputs to try every move thoroughly."""
        return len(self.moments.effects) <= c.MANY_INPUTS

    def measure(self, graph: Structure) -> float:
        """The misfit of a graph with its weights as they are."""
        return self.measure_effects(graph) + self.covariance_weight * self.measure_covariance(graph)

    def measure_effects(self, graph: Structure) -> float:
        """The chi-square of the effects."""
        result = graph.totals[: graph.inputs, graph.first_output :]
        off = self.moments.effects - result
        weighed = (self.moments.inputs @ off) * (off @ self.moments.precision)
        return float(self.moments.samples * weighed.sum())

    def measure_covariance(self, graph: Structure) -> float:
        """The likelihood ratio of the covariance against any other; 0 where it is left out."""
        if not self.covariance_weight:
            return 0.0
        below = graph.totals[graph.inputs :, graph.first_output :]
        implied = (below.T * graph.noise) @ below
        try:
            root = np.linalg.cholesky(implied)
        except np.linalg.LinAlgError:
            return float("inf")
        inverse = np.linalg.inv(root)
        fit = 2 * np.log(np.diag(root)).sum() + ((inverse @ self.moments.residual) * inverse).sum()
        base = self.moments.log_determinant + graph.outputs
        return float(self.moments.samples * (fit - base))

    def fit(self, graph: Structure, steps: int = STEPS) -> tuple[Structure, float]:
        """Fit weights and noise by Fisher scoring with damping (Levenberg and Marquardt)."""
        misfit, damping = self.measure(graph), DAMPING
        for _ in range(steps):
            system = self.linearise(graph)
            for _ in range(6):
                moved = system.step(damping)
                after = self.measure(moved)
                if after < misfit:
                    break
                damping *= 10
            else:
                break
            gain, graph, misfit = misfit - after, moved, after
            damping = max(damping / 10, 1e-7)
            if gain < TOLERANCE:
                break
        return _scale_latents(graph), misfit

    def linearise(self, graph: Structure) -> Linearised:
        """Derivatives of the misfit at a graph; those of the last graph are kept."""
        if self._last is None or self._last.graph is not graph:
            self._last = Linearised(self, graph)
        return self._last


@dataclass(frozen=True)
class Linearised:
    """Derivatives of a graph's misfit with regard to its edges, and to those it does not have."""

    misfit: Misfit
    graph: Structure

    @cached_property
    def _tables(self) -> dict[str, np.ndarray]:
        """Inner products of nodes, of which all derivatives are made; 0 where no edge can be."""
        graph, moments, weight = self.graph, self.misfit.moments, self.misfit.covariance_weight
        first, last, nodes = graph.inputs, graph.first_output, len(graph.edges)
        onto = graph.totals[:first, first:last]  # of inputs on latents
        below = graph.totals[:, last:]  # of nodes on outputs
        result = {name: np.zeros((nodes, nodes)) for name in ("above", "below", "slope")}
        above, inner = result["above"], result["below"]
        above[:first, :first], above[:first, first:last] = moments.inputs, moments.inputs @ onto
        above[first:last, :first] = above[:first, first:last].T
        above[first:last, first:last] = onto.T @ above[:first, first:last]
        inner[last:, last:] = moments.precision
        inner[first:last, last:] = below[first:last] @ moments.precision
        inner[last:, first:last] = inner[first:last, last:].T
        inner[first:last, first:last] = inner[first:last, last:] @ below[first:last].T
        off = moments.inputs @ (moments.effects - below[:first]) @ moments.precision
        slope = result["slope"]
        slope[:first, first:last], slope[:first, last:] = off @ below[first:last].T, off
        slope[first:last, first:] = onto.T @ slope[:first, first:]
        slope *= -2 * moments.samples
        tables = result | {"totals": below}
        if weight:
            onto_outputs = below[first:]
            implied = (onto_outputs.T * graph.noise) @ onto_outputs
            precision = np.linalg.inv(implied)
            excess = precision - precision @ moments.residual @ precision
            inner = graph.totals[first:last, first:last]
            # Covariance of each latent with the outputs; inputs are given and have none.
            shared = (inner.T * graph.noise[: graph.latents]) @ below[first:last]
            implied_below = onto_outputs @ precision
            slope[first:last, first:] += (
                2 * moments.samples * weight * (shared @ excess @ onto_outputs.T)
            )
            for name in ("below_cov", "shared", "cross"):
                tables[name] = np.zeros((nodes, nodes))
            tables["below_cov"][first:, first:] = implied_below @ onto_outputs.T
            tables["shared"][first:last, first:last] = shared @ precision @ shared.T
            tables["cross"][first:last, first:] = shared @ implied_below.T
            tables["excess"] = excess
        return tables

    @property
    def excess(self) -> Float[np.ndarray, "output output"]:
        """Derivative of the covariance's misfit with regard to the implied covariance."""
        return self._tables["excess"]

    @cached_property
    def edges(self) -> tuple[Nodes, Nodes]:
        """Sources and targets of the graph's edges."""
        sources, targets = np.nonzero(self.graph.edges)
        return sources, targets

    def _inform(self, one: tuple[Nodes, Nodes], other: tuple[Nodes, Nodes]) -> np.ndarray:
        """Fisher information between edges, [edge of one, edge of other]."""
        (u, v), (s, t) = one, other
        table, weight = self._tables, self.misfit.covariance_weight
        result = table["above"][u[:, None], s] * table["below"][v[:, None], t]
        if weight:
            pairs = table["shared"][u[:, None], s] * table["below_cov"][v[:, None], t]
            crossed = table["cross"][u[:, None], t] * table["cross"][s[None], v[:, None]]
            result = result + weight * (pairs + crossed)
        return 2 * self.misfit.moments.samples * result

    def _inform_noise(self, edges: tuple[Nodes, Nodes]) -> np.ndarray:
        """Fisher information between edges and the logarithms of noise, [edge, noise]."""
        table, noise = self._tables, np.arange(self.graph.inputs, len(self.graph.edges))
        product = table["cross"][edges[0]][:, noise] * table["below_cov"][edges[1]][:, noise]
        return (
            2
            * self.misfit.covariance_weight
            * self.misfit.moments.samples
            * product
            * self.graph.noise
        )

    @cached_property
    def system(self) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and information of edges, and of the logarithms of noise."""
        graph, samples = self.graph, self.misfit.moments.samples
        weight = self.misfit.covariance_weight
        slope, information = self._tables["slope"][self.edges], self._inform(self.edges, self.edges)
        if not weight:
            return slope, information
        below = self._tables["totals"][graph.inputs :]
        noise_slope = weight * samples * ((below @ self.excess) * below).sum(axis=1) * graph.noise
        inner = self._tables["below_cov"][graph.inputs :, graph.inputs :]
        noise = weight * samples * inner**2 * np.outer(graph.noise, graph.noise)
        crossed = self._inform_noise(self.edges)
        information = np.block([[information, crossed], [crossed.T, noise]])
        return np.concatenate([slope, noise_slope]), information

    def step(self, damping: float) -> Structure:
        """The graph after one damped step."""
        slope, information = self.system
        ridge = damping * (np.diag(information) + 1e-9 * self.misfit.moments.samples)
        ridge = ridge + 1e-12 * max(float(np.diag(information).max(initial=0.0)), 1.0)
        step = -np.linalg.solve(information + np.diag(ridge), slope)
        weights, count = self.graph.weights.copy(), len(self.edges[0])
        weights[self.edges] += step[:count]
        if not self.misfit.covariance_weight:
            return replace(self.graph, weights=weights)
        noise = self.graph.noise * np.exp(np.clip(step[count:], -MAX_LOG_STEP, MAX_LOG_STEP))
        least = np.full(len(noise), MIN_OUTPUT_NOISE)
        least[: self.graph.latents] = MIN_NOISE
        return replace(self.graph, weights=weights, noise=np.clip(noise, least, MAX_NOISE))

    def find_losses(self) -> Float[np.ndarray, " edge"]:
        """How much the misfit rises without each edge (Wald test), by the quadratic at the fit."""
        spread = np.diag(self._inverse)[: len(self.edges[0])]
        return self.graph.weights[self.edges] ** 2 / np.maximum(spread, 1e-300) / 2

    @cached_property
    def _inverse(self) -> np.ndarray:
        """Of the information; a latent's scale is free, and is held, or any edge could be 0."""
        information = self.system[1]
        size = np.diag(information)
        free = self._find_free_directions()
        stiff = information + np.diag(1e-8 * size + 1e-12)
        if len(free):
            stiff = stiff + 10 * size.mean() * free.T @ free
        try:
            return np.asarray(np.linalg.inv(stiff))
        except np.linalg.LinAlgError:  # noise at its limit says nothing of its edges
            return np.asarray(np.linalg.pinv(stiff, hermitian=True))

    def _find_free_directions(self) -> Float[np.ndarray, "latent parameter"]:
        (u, v), graph = self.edges, self.graph
        weights = graph.weights[u, v]
        rows = np.zeros((graph.latents, len(self.system[0])))
        for row, node in enumerate(graph.latent_nodes):
            rows[row, : len(u)] = np.where(v == node, weights, 0) - np.where(u == node, weights, 0)
            if self.misfit.covariance_weight:
                rows[row, len(u) + row] = 2
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    def find_gains(
        self, allowed: np.ndarray, count: int
    ) -> tuple[tuple[Nodes, Nodes], np.ndarray, np.ndarray]:
        """How much the misfit falls with each edge that is added (score test), and its weight."""
        table, samples = self._tables, self.misfit.moments.samples
        weight = self.misfit.covariance_weight
        information = np.outer(np.diag(table["above"]), np.diag(table["below"]))
        if weight:
            pairs = np.outer(np.diag(table["shared"]), np.diag(table["below_cov"]))
            information = information + weight * (pairs + table["cross"] ** 2)
        information = 2 * samples * information
        bound = np.where(allowed, table["slope"] ** 2 / np.maximum(information, 1e-12), -1.0)
        order = np.argsort(-bound, axis=None, kind="stable")[:count]
        u, v = np.unravel_index(order[bound.ravel()[order] >= 0], bound.shape)
        slope, _ = self.system
        with_edges = self._inform((u, v), self.edges)
        if weight:
            with_edges = np.concatenate([with_edges, self._inform_noise((u, v))], axis=1)
        explained = with_edges @ self._inverse
        left = information[u, v] - (explained * with_edges).sum(axis=1)
        slopes = table["slope"][u, v] - explained @ slope
        identified = left > 1e-3 * information[u, v]
        left = np.where(identified, left, np.inf)
        return (u, v), slopes**2 / left / 2, -slopes / left


def _scale_latents(graph: Structure) -> Structure:
    """The same graph with latents whose effects on the outputs have length 1."""
    if not graph.latents:
        return graph
    nodes = slice(graph.inputs, graph.first_output)
    below = graph.totals[nodes, graph.first_output :]
    size = np.maximum(np.linalg.norm(below, axis=1), 1e-12)
    weights, noise = graph.weights.copy(), graph.noise.copy()
    weights[:, nodes] *= size
    weights[nodes] /= size[:, None]
    noise[: graph.latents] *= size**2
    return replace(graph, weights=weights, noise=noise)
