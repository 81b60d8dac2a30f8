"""Starting values of a graph's models: regressions, and small random hidden units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.refit.model import (
    HIDDEN,
    TANH_UNITS,
    GraphModel,
    NodeFunction,
    Values,
    find_scale,
    stack_parents,
)

FEATURE_SIZE = 1.5
BIAS_SIZE = 0.7
OUTPUT_SIZE = 0.3
JITTER = 0.2
RIDGE = 0.01  # of the variance
MAX_CROSSED = 8  # parents whose products of two are looked at


def fit_quadratics(
    parents: Mapping[str, tuple[str, ...]],
    x: Float[np.ndarray, "input sample"],
    y: Float[np.ndarray, "output sample"],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> GraphModel:
    """Fit each node by a regression on its parents and their products.

    A latent starts as the first principal component of its outputs as its inputs predict them; from
    a random start training finds codes that only its children read, and may miss products.
    """
    columns = {name: row for row, name in enumerate(outputs)}
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, name) for name, names in parents.items() for parent in names)
    values: Values = dict(zip(inputs, np.asarray(x, np.float64), strict=True))
    functions: dict[str, NodeFunction] = {}
    for name, names in parents.items():
        v = stack_parents(names, values, x.shape[1])
        if name in columns:
            functions[name] = _fit_function(names, v, y[columns[name]].astype(np.float64))
        else:
            above, below = nx.ancestors(graph, name), nx.descendants(graph, name)
            rows = sorted(columns[output] for output in below & columns.keys())
            guess = _guess_latent(values, [one for one in inputs if one in above], y[rows])
            fitted = _fit_function(names, v, guess)
            mean, std = find_scale(fitted(v))
            functions[name] = replace(
                fitted,
                bias=(fitted.bias - mean) / std,
                weights=fitted.weights / std,
                output_weights=fitted.output_weights / std,
            )
        values[name] = functions[name](v)
    return GraphModel(tuple(inputs), tuple(outputs), functions)


def perturb(rng: np.random.Generator, model: GraphModel) -> GraphModel:
    """Jitter the functions of a model, and add small random tanh units."""

    def draw(function: NodeFunction) -> NodeFunction:
        if not function.parents:
            return function  # a constant needs no hidden unit, and training gives it none
        count = len(function.parents)
        scale = 1 / np.sqrt(count)
        noise = rng.standard_normal((HIDDEN, count + 2))
        hidden = np.full((HIDDEN, 1), JITTER * scale)
        hidden[:TANH_UNITS] = FEATURE_SIZE * scale
        output = np.zeros(HIDDEN)
        output[:TANH_UNITS] = OUTPUT_SIZE / np.sqrt(TANH_UNITS) * noise[:TANH_UNITS, -1]
        bias = np.zeros(HIDDEN)
        bias[:TANH_UNITS] = BIAS_SIZE * noise[:TANH_UNITS, -2]
        return replace(
            function,
            weights=function.weights + JITTER * scale * rng.standard_normal(count),
            output_weights=function.output_weights + output,
            hidden=function.hidden + hidden * noise[:, :count],
            hidden_bias=function.hidden_bias + bias,
        )

    return replace(
        model, functions={name: draw(function) for name, function in model.functions.items()}
    )


def _guess_latent(
    values: Values, above: list[str], y: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, " sample"]:
    """First principal component of the predictions of y from the inputs above."""
    if not above or not len(y):
        return np.zeros(y.shape[1])
    features = _cross(np.stack([values[name] for name in above]))
    predicted = _regress(features, y) @ (features - features.mean(axis=1, keepdims=True))
    _, directions = np.linalg.eigh(predicted @ predicted.T)
    return directions[:, -1] @ predicted


def _fit_function(
    parents: tuple[str, ...],
    v: Float[np.ndarray, "parent sample"],
    target: Float[np.ndarray, " sample"],
) -> NodeFunction:
    """A linear part, and the products of parents as a difference of squares."""
    count, squares = len(parents), HIDDEN - TANH_UNITS
    slopes = _regress(_cross(v), target[None])[0]
    hidden, output = np.zeros((HIDDEN, count)), np.zeros(HIDDEN)
    if count:
        output[TANH_UNITS:] = np.where(np.arange(squares) % 2, -1.0, 1.0)
    if len(slopes) > count:
        form = np.zeros((count, count))
        form[np.triu_indices(count, 1)] = slopes[count:]
        sizes, directions = np.linalg.eigh((form + form.T) / 2)
        largest = np.argsort(-np.abs(sizes))[:squares]  # [square]
        at = TANH_UNITS + np.arange(len(largest))
        hidden[at] = np.sqrt(np.abs(sizes[largest]))[:, None] * directions[:, largest].T
        output[at] = np.sign(sizes[largest])
    fitted = NodeFunction(parents, 0.0, slopes[:count], output, hidden, np.zeros(HIDDEN))
    return replace(fitted, bias=float(np.mean(target - fitted(v))))


def _cross(v: Float[np.ndarray, "parent sample"]) -> Float[np.ndarray, "feature sample"]:
    """The values, and their products of two where they are few."""
    if not 1 < len(v) <= MAX_CROSSED:
        return v
    first, second = np.triu_indices(len(v), 1)
    return np.concatenate([v, v[first] * v[second]])


def _regress(
    x: Float[np.ndarray, "input sample"], y: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, "output input"]:
    """Slopes of a ridge regression, barely shrunk."""
    centred = x - x.mean(axis=1, keepdims=True)
    square = centred @ centred.T
    ridge = RIDGE * (np.trace(square) / max(len(x), 1) + 1e-9) * np.eye(len(x))
    return np.linalg.solve(square + ridge, centred @ (y - y.mean(axis=1, keepdims=True)).T).T
