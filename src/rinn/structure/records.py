"""What the score reads of the data, the graph that it scores, and the graph that is reported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float

from rinn.structure.constants import BOOTSTRAPS

DATA, PRIOR, FORCED = "data", "prior", "forced"  # what an edge owes its place to


@dataclass(frozen=True)
class GraphSettings:
    """How a graph is searched for."""

    bootstraps: int = BOOTSTRAPS  # how many resamples of the rows
    direct: bool = True  # whether inputs may act on outputs directly
    effects_only: bool = False  # whether the residual covariance of the outputs plays no part
    output_edges: bool = False  # whether outputs may act on outputs; see `add_output_edges`


@dataclass(frozen=True)
class Moments:
    """Sufficient statistics of Y given X for linear effects; all columns have variance 1."""

    samples: float  # n
    inputs: Float[np.ndarray, "input input"]  # covariance of the inputs
    effects: Float[np.ndarray, "input output"]  # the other inputs held fixed
    residual: Float[np.ndarray, "output output"]  # covariance of the outputs given the inputs
    tested: int = 0  # effects that were tested where the columns were screened
    has_few_samples: bool = False  # too few for a test set
    # the residual covariance, each sample as a precision without it weighs it; not of resamples
    left_out: Float[np.ndarray, "output output"] | None = None

    @cached_property
    def precision(self) -> Float[np.ndarray, "output output"]:
        """Inverse of the residual covariance."""
        return np.linalg.inv(self.residual)

    @cached_property
    def log_determinant(self) -> float:
        """Of the residual covariance."""
        return float(np.linalg.slogdet(self.residual)[1])

    @cached_property
    def errors(self) -> Float[np.ndarray, "input output"]:
        """Standard errors of the effects."""
        variance = np.diag(np.linalg.pinv(self.inputs, rcond=1e-9, hermitian=True))
        return np.sqrt(np.outer(variance, np.diag(self.residual)) / self.samples)

    @property
    def z(self) -> Float[np.ndarray, "input output"]:
        """Effects in units of their standard error."""
        return self.effects / np.maximum(self.errors, 1e-300)

    def find_inflation(
        self, loadings: Float[np.ndarray, "latent output"]
    ) -> Float[np.ndarray, " latent"]:
        """How many times the variance that the score takes effects pooled by loadings to have.

        The precision that weighs the outputs is fitted to the same noise; 1 at least.
        """
        if self.left_out is None:
            return np.ones(len(loadings))
        pooled = loadings @ self.precision
        said = np.maximum((pooled * loadings).sum(axis=1), 1e-300)
        return np.maximum(((pooled @ self.left_out) * pooled).sum(axis=1) / said, 1.0)

    def take(self, inputs: int) -> Moments:
        """The moments of the first inputs, without products."""
        covariance = self.inputs[:inputs, :inputs]
        return replace(self, inputs=covariance, effects=self.effects[:inputs])


@dataclass(frozen=True)
class Structure:
    """A graph over inputs, latents and outputs, in this order, with linear weights."""

    inputs: int
    latents: int
    outputs: int
    edges: Bool[np.ndarray, "node node"]  # acyclic
    weights: Float[np.ndarray, "node node"]  # 0 where there is no edge
    noise: Float[np.ndarray, " latent_and_output"]  # variance given the parents

    @property
    def first_output(self) -> int:
        """The index of the first output among the nodes."""
        return self.inputs + self.latents

    @property
    def latent_nodes(self) -> range:
        """The indices of the latents among the nodes."""
        return range(self.inputs, self.first_output)

    @cached_property
    def reach(self) -> Bool[np.ndarray, "node node"]:
        """Which node is, or leads to, which, block by block."""
        first, last = self.inputs, self.first_output
        edges = self.edges.astype(np.float32)
        inner = np.eye(self.latents, dtype=np.float32) + edges[first:last, first:last]
        for _ in range(max(1, int(self.latents).bit_length())):
            inner = np.minimum(inner @ inner, 1)
        result = np.eye(len(edges), dtype=np.float32)
        result[first:last, first:last] = inner
        result[:first, first:last] = edges[:first, first:last] @ inner
        result[first:last, last:] = inner @ edges[first:last, last:]
        result[:first, last:] = (
            edges[:first, last:] + edges[:first, first:last] @ result[first:last, last:]
        )
        return result > 0

    @property
    def latent_outputs(self) -> Bool[np.ndarray, "latent output"]:
        """Which outputs each latent reaches."""
        return self.reach[self.inputs : self.first_output, self.first_output :]

    @property
    def latent_inputs(self) -> Bool[np.ndarray, "latent input"]:
        """Which inputs reach each latent."""
        return self.reach[: self.inputs, self.inputs : self.first_output].T

    @property
    def loadings(self) -> Float[np.ndarray, "latent output"]:
        """The total effect of each latent on each output."""
        return self.totals[self.inputs : self.first_output, self.first_output :]

    @cached_property
    def totals(self) -> Float[np.ndarray, "node node"]:
        """The total effect of each node on each: (I - weights)^-1, block by block."""
        first, last = self.inputs, self.first_output
        inner = np.linalg.inv(np.eye(self.latents) - self.weights[first:last, first:last])
        result = np.eye(len(self.weights))
        result[first:last, first:last] = inner
        result[:first, first:last] = self.weights[:first, first:last] @ inner
        below = self.weights[first:last, last:]
        result[first:last, last:] = inner @ below
        result[:first, last:] = self.weights[:first, last:] + result[:first, first:last] @ below
        return result

    @property
    def is_direct(self) -> Bool[np.ndarray, "node node"]:
        """Which edges lead from an input to an output."""
        result = np.zeros_like(self.edges)
        result[: self.inputs, self.first_output :] = self.edges[: self.inputs, self.first_output :]
        return result


@dataclass(frozen=True)
class LatentGraph:
    """The reported graph, and all candidates."""

    graph: nx.DiGraph  # what is reported
    # includes the reported graph; its other latents are named U1, U2 ... Its edges come from
    # several resamples, which may contradict each other: it may have cycles
    candidates: nx.DiGraph
    # a test of whether the graph explains the effects: chi2, df and p
    fit: dict[str, float] | None = None
    # those of each latent, reported or not
    outputs: dict[str, frozenset[int]] = field(default_factory=dict)
    # the fraction of resamples in which one node leads to another
    paths: dict[tuple[str, str], float] = field(default_factory=dict)


def make_structure(
    edges: Bool[np.ndarray, "node node"],
    inputs: int,
    outputs: int,
    weights: Float[np.ndarray, "node node"] | None = None,
) -> Structure:
    """Make a structure from its edges; weights are 0 until they are fitted."""
    latents = len(edges) - inputs - outputs
    weights = np.zeros(edges.shape) if weights is None else weights
    return Structure(inputs, latents, outputs, edges, weights, np.full(latents + outputs, 0.5))
