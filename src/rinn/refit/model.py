"""A network with exactly the edges of a graph, in NumPy: a small function per latent and output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.errors import InputError
from rinn.graphs.basics import by_role, check_graph, latents_in_order

HIDDEN = 8
TANH_UNITS = 6  # of the hidden units, enough for an exclusive or of three parents
FORMULA = (
    "value = bias + weights . v + output_weights . phi(hidden v + hidden_bias), where v are the "
    f"parents' values and phi is tanh for the first {TANH_UNITS} hidden units and the square for "
    "the others"
)

Values = dict[str, np.ndarray]
Scales = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class NodeFunction:
    """The value of one node given its parents v: b + w.v + c.phi(A v + a).

    phi is tanh for the first `TANH_UNITS` hidden units, good at steps and logic, and the square for
    the others, good at products. The fields are the parents, b, w, c, A and a.
    """

    parents: tuple[str, ...]
    bias: float
    weights: Float[np.ndarray, " parent"]
    output_weights: Float[np.ndarray, " hidden"]
    hidden: Float[np.ndarray, "hidden parent"]
    hidden_bias: Float[np.ndarray, " hidden"]

    def __call__(self, values: Float[np.ndarray, "parent sample"]) -> Float[np.ndarray, " sample"]:
        """The node's value in every sample."""
        mixed = self.hidden @ values + self.hidden_bias[:, None]  # [hidden, sample]
        phi = np.concatenate([np.tanh(mixed[:TANH_UNITS]), mixed[TANH_UNITS:] ** 2])
        return self.bias + self.weights @ values + self.output_weights @ phi

    def to_json(self) -> dict[str, Any]:
        """The parameters as lists."""
        arrays = ("weights", "output_weights", "hidden", "hidden_bias")
        values = {name: getattr(self, name).tolist() for name in arrays}
        return {"parents": list(self.parents), "bias": self.bias} | values


@dataclass(frozen=True)
class GraphModel:
    """A function for each latent and output, causes first; outputs are logits or standardised."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    functions: dict[str, NodeFunction]

    @property
    def latents(self) -> tuple[str, ...]:
        """The latents from causes to effects."""
        outputs = set(self.outputs)
        return tuple(name for name in self.functions if name not in outputs)

    def predict(self, x: Float[np.ndarray, "input sample"]) -> Float[np.ndarray, "output sample"]:
        """Compute the outputs in the networks' units."""
        return self.stack_outputs(run_model(self, x))

    def stack_outputs(self, values: Values) -> Float[np.ndarray, "output sample"]:
        """The values of the outputs among those of all nodes."""
        return np.stack([values[name] for name in self.outputs])

    def to_json(self) -> dict[str, Any]:
        """The parameters of every function, by the name of its node."""
        return {name: function.to_json() for name, function in self.functions.items()}


def find_parents(
    graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """List the parents of each latent and output: inputs in their order, then others in causal."""
    check_graph(graph)
    for role, names in (("input", inputs), ("output", outputs)):
        for node in by_role(graph, role):
            if node not in names:
                raise InputError(
                    f"every {role} of the graph must be a column of the tables, got {node!r}; "
                    f"give the tables that the graph was learned from"
                )
    latents = latents_in_order(graph)
    if taken := sorted(set(latents) & {*inputs, *outputs}):
        raise InputError(f"a latent must not have the name of a column, got {taken[0]!r}")
    between: nx.DiGraph = nx.DiGraph()
    between.add_nodes_from(outputs)
    between.add_edges_from((a, b) for a, b in graph.edges if a in between)
    index = {name: column for column, name in enumerate(outputs)}
    ordered = list(nx.lexicographical_topological_sort(between, key=index.__getitem__))
    sources = (*inputs, *latents, *ordered)
    return {
        node: tuple(name for name in sources if graph.has_edge(name, node))
        for node in (*latents, *ordered)
    }


def run_model(model: GraphModel, x: Float[np.ndarray, "input sample"]) -> Values:
    """Compute the value of every node for every sample."""
    values: Values = dict(zip(model.inputs, np.asarray(x, np.float64), strict=True))
    for name, function in model.functions.items():
        values[name] = function(stack_parents(function.parents, values, x.shape[1]))
    return values


def find_latents(
    models: Sequence[GraphModel], x: Float[np.ndarray, "input sample"]
) -> Float[np.ndarray, "sample latent"]:
    """The value of each latent in each sample, a mean over the models."""
    runs, latents = [run_model(model, x) for model in models], models[0].latents
    columns = [np.mean([run[name] for run in runs], axis=0) for name in latents]
    return np.array(columns).reshape(len(latents), x.shape[1]).T.copy()


def run_changed(model: GraphModel, values: Values, changed: Values) -> Values:
    """Compute what every node would be if these nodes had other values."""
    new, dirty = values | changed, set(changed)
    for name, function in model.functions.items():
        if name not in changed and not dirty.isdisjoint(function.parents):
            new[name] = function(stack_parents(function.parents, new, len(values[name])))
            dirty.add(name)
    return new


def stack_parents(
    parents: tuple[str, ...], values: Values, samples: int
) -> Float[np.ndarray, "parent sample"]:
    """The values of nodes, in this order."""
    return np.stack([values[name] for name in parents]) if parents else np.zeros((0, samples))


def rescale(model: GraphModel, scales: Scales) -> GraphModel:
    """State the same model in other units: value = mean + std * new value."""
    functions = {}
    for name, function in model.functions.items():
        of_parents = [scales.get(parent, (0.0, 1.0)) for parent in function.parents]
        mean, std = np.array(of_parents).reshape(-1, 2).T  # [parent] each
        bias = function.bias + float(function.weights @ mean)
        own_mean, own_std = scales.get(name, (0.0, 1.0))
        functions[name] = replace(
            function,
            bias=(bias - own_mean) / own_std,
            weights=function.weights * std / own_std,
            output_weights=function.output_weights / own_std,
            hidden=function.hidden * std,
            hidden_bias=function.hidden_bias + function.hidden @ mean,
        )
    return replace(model, functions=functions)


def standardise(model: GraphModel, x: Float[np.ndarray, "input sample"]) -> GraphModel:
    """Bring every latent that varies to mean 0 and standard deviation 1 over these samples."""
    values = run_model(model, x)
    return rescale(model, {name: find_scale(values[name]) for name in model.latents})


def find_scale(values: Float[np.ndarray, " sample"]) -> tuple[float, float]:
    """Mean and standard deviation; 1 for what does not vary."""
    std = float(values.std())
    return float(values.mean()), std if std > 1e-9 else 1.0
