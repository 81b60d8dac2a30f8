"""Weights to what each node does to the outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from rinn.nets.redundant import Weights


@dataclass(frozen=True)
class NetMaps:
    """The maps of one network in the networks' units."""

    hidden: Float[np.ndarray, "layer hidden output"]
    inputs: Float[np.ndarray, "input output"]
    by_layer: Float[np.ndarray, "layer input output"]

    @property
    def nodes(self) -> Float[np.ndarray, "node output"]:
        """Every hidden node of every layer, first layer first."""
        return self.hidden.reshape(-1, self.hidden.shape[2])


def map_net(weights: Weights) -> NetMaps:
    """Compute M_j = W_j W_(j+1) ... W_h for every hidden layer, and the maps of the inputs.

    An input's map is the sum over the layers it enters.

    Args:
        weights: of one network.

    Returns:
        Maps in float64.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> w = Weights(rng.normal(size=(2, 3, 4)), rng.normal(size=(1, 3, 3)),
        ...             rng.normal(size=(5, 3)), np.zeros((2, 3)), np.zeros(5))
        >>> map_net(w).inputs.shape
        (4, 5)
    """
    inputs, hidden, output = (np.asarray(part, np.float64) for part in weights[:3])
    layers = [output.T]  # [hidden, output]
    for w in hidden[::-1]:
        layers.append(w.T @ layers[-1])
    maps = np.stack(layers[::-1])  # [layer, hidden, output]
    by_layer = np.einsum("lhi,lho->lio", inputs, maps)
    return NetMaps(maps, by_layer.sum(axis=0), by_layer)
