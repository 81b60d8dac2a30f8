"""Edges taken out of a graph's network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rinn.refit.model import GraphModel, NodeFunction


def cut_edges(
    model: GraphModel, edges: Sequence[tuple[str, str]], means: Mapping[str, float]
) -> GraphModel:
    """Take edges out of a model: their targets see their sources at a mean for good.

    Args:
        model: the functions.
        edges: which.
        means: of sources, in the model's units; 0 where there is none, the mean of every latent.

    Returns:
        A model without these edges.

    Example:
        >>> none = np.zeros(0)
        >>> double = NodeFunction(("x",), 0.0, np.array([2.0]), none, np.zeros((0, 1)), none)
        >>> model = GraphModel(("x",), ("y",), {"y": double})
        >>> cut_edges(model, [("x", "y")], {"x": 0.5}).predict(np.array([[1.0, 3.0]]))
        array([[1., 1.]])
    """
    functions = dict(model.functions)
    for source, target in edges:
        own = functions[target]
        place, mean = own.parents.index(source), means.get(source, 0.0)
        functions[target] = NodeFunction(
            parents=(*own.parents[:place], *own.parents[place + 1 :]),
            bias=own.bias + float(own.weights[place]) * mean,
            weights=np.delete(own.weights, place),
            curve=own.curve,
            hidden=np.delete(own.hidden, place, axis=1),
            hidden_bias=own.hidden_bias + own.hidden[:, place] * mean,
        )
    return replace(model, functions=functions)
