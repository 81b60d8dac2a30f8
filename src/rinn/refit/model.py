"""A network with exactly the edges of a graph: one small function for each latent and output.

Plain numpy: these are the parameters that a user reads and exports. `rinn.refit.fit`
packs many such models into one compiled program.
"""

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
BENDS = 6  # hidden nodes with tanh, enough for an exclusive or of three parents
FORMULA = (
    "value = bias + weights . v + curve . phi(hidden v + hidden_bias), where v are the parents' "
    f"values and phi is tanh for the first {BENDS} hidden nodes and the square for the others"
)

Values = dict[str, np.ndarray]
Scales = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class NodeFunction:
    """The value of one node given its parents v: b + w.v + c.phi(A v + a).

    phi is tanh for the first `BENDS` hidden nodes, which are good at steps and logic, and the
    square for the others, which are good at products.

    Attributes:
        parents: names, in the order of w and of A's columns.
        bias: b.
        weights: w, the straight part.
        curve: c.
        hidden: A.
        hidden_bias: a.
    """

    parents: tuple[str, ...]
    bias: float
    weights: Float[np.ndarray, " parent"]
    curve: Float[np.ndarray, " hidden"]
    hidden: Float[np.ndarray, "hidden parent"]
    hidden_bias: Float[np.ndarray, " hidden"]

    def __call__(self, values: Float[np.ndarray, "parent sample"]) -> Float[np.ndarray, " sample"]:
        """Compute the node's value for every sample."""
        mixed = self.hidden @ values + self.hidden_bias[:, None]  # [hidden, sample]
        bent = np.concatenate([np.tanh(mixed[:BENDS]), mixed[BENDS:] ** 2])
        return self.bias + self.weights @ values + self.curve @ bent

    def to_json(self) -> dict[str, Any]:
        """The parameters as plain lists."""
        arrays = ("weights", "curve", "hidden", "hidden_bias")
        found = {name: getattr(self, name).tolist() for name in arrays}
        return {"parents": list(self.parents), "bias": self.bias} | found


@dataclass(frozen=True)
class GraphModel:
    """A function for each latent and output of a graph, causes before effects.

    Outputs are in the networks' units: logits, or standardised values.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    functions: dict[str, NodeFunction]

    @property
    def latents(self) -> tuple[str, ...]:
        """The latents from causes to effects."""
        known = set(self.outputs)
        return tuple(name for name in self.functions if name not in known)

    def predict(self, x: Float[np.ndarray, "input sample"]) -> Float[np.ndarray, "output sample"]:
        """Compute the outputs in the networks' units."""
        values = run_model(self, x)
        return np.stack([values[name] for name in self.outputs])

    def to_json(self) -> dict[str, Any]:
        """The parameters of every function, by the name of its node."""
        return {name: function.to_json() for name, function in self.functions.items()}


def find_parents(
    graph: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """List the parents of each latent and output: inputs in their order, then others in causal.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, {"x": "input", "h": "latent", "y": "output"}, "role")
        >>> find_parents(graph, ["x"], ["y", "z"])
        {'h': ('x',), 'y': ('h',), 'z': ()}
    """
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
    place = {name: column for column, name in enumerate(outputs)}
    ordered = list(nx.lexicographical_topological_sort(between, key=place.__getitem__))
    sources = (*inputs, *latents, *ordered)
    return {
        node: tuple(name for name in sources if graph.has_edge(name, node))
        for node in (*latents, *ordered)
    }


def run_model(model: GraphModel, x: Float[np.ndarray, "input sample"]) -> Values:
    """Compute the value of every node for every sample.

    Example:
        >>> none = np.zeros(0)
        >>> double = NodeFunction(("x",), 0.0, np.array([2.0]), none, np.zeros((0, 1)), none)
        >>> run_model(GraphModel(("x",), ("y",), {"y": double}), np.array([[1.0, 3.0]]))["y"]
        array([2., 6.])
    """
    values: Values = dict(zip(model.inputs, np.asarray(x, np.float64), strict=True))
    for name, function in model.functions.items():
        values[name] = function(stack_parents(function.parents, values, x.shape[1]))
    return values


def run_changed(model: GraphModel, values: Values, changed: Values) -> Values:
    """Compute what every node would be, had some nodes other values."""
    new, dirty = values | changed, set(changed)
    for name, function in model.functions.items():
        if name not in changed and not dirty.isdisjoint(function.parents):
            new[name] = function(stack_parents(function.parents, new, len(values[name])))
            dirty.add(name)
    return new


def stack_parents(
    parents: tuple[str, ...], values: Values, samples: int
) -> Float[np.ndarray, "parent sample"]:
    """The values of some nodes, in this order."""
    return np.stack([values[name] for name in parents]) if parents else np.zeros((0, samples))


def rescale(model: GraphModel, scales: Scales) -> GraphModel:
    """State the same model in other units: value = centre + spread * new value.

    Example:
        >>> none = np.zeros(0)
        >>> double = NodeFunction(("x",), 0.0, np.array([2.0]), none, np.zeros((0, 1)), none)
        >>> halved = rescale(GraphModel(("x",), ("y",), {"y": double}), {"x": (0.0, 0.5)})
        >>> halved.functions["y"].weights
        array([1.])
    """
    functions = {}
    for name, function in model.functions.items():
        theirs = [scales.get(parent, (0.0, 1.0)) for parent in function.parents]
        centre, spread = np.array(theirs).reshape(-1, 2).T  # [parent] each
        bias = function.bias + float(function.weights @ centre)
        own_centre, own_spread = scales.get(name, (0.0, 1.0))
        functions[name] = replace(
            function,
            bias=(bias - own_centre) / own_spread,
            weights=function.weights * spread / own_spread,
            curve=function.curve / own_spread,
            hidden=function.hidden * spread,
            hidden_bias=function.hidden_bias + function.hidden @ centre,
        )
    return replace(model, functions=functions)


def standardise(model: GraphModel, x: Float[np.ndarray, "input sample"]) -> GraphModel:
    """Bring every latent to mean 0 and standard deviation 1 over these samples.

    A latent that does not vary is left with a spread of its own.
    """
    values = run_model(model, x)
    return rescale(model, {name: find_scale(values[name]) for name in model.latents})


def find_scale(values: Float[np.ndarray, " sample"]) -> tuple[float, float]:
    """Mean and standard deviation; 1 for what does not vary."""
    spread = float(values.std())
    return float(values.mean()), spread if spread > 1e-9 else 1.0
