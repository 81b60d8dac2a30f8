"""Weights to what each node does to the outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from rinn.nets.redundant import Weights


@dataclass(frozen=True)
class NetMaps:
    """The maps of one network in its units; `inputs` of a decoder is [0, output]."""

    hidden: Float[np.ndarray, "layer hidden output"]
    inputs: Float[np.ndarray, "input output"]
    by_layer: Float[np.ndarray, "reader input output"]

    @property
    def nodes(self) -> Float[np.ndarray, "node output"]:
        """Every hidden node of every layer, first layer first."""
        return self.hidden.reshape(-1, self.hidden.shape[2])


def map_net(weights: Weights, *, decoder: bool = False) -> NetMaps:
    """Compute M_j = W_j W_(j+1) ... W_h for every hidden layer, and the maps of the inputs.

    An input's map is the sum over the layers it enters.

    Args:
        weights: of one network.
        decoder: the network is an autoencoder, of which only the half from the middle layer on
            is mapped.

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
    if decoder:
        none = np.zeros((0, maps.shape[2]))
        return NetMaps(maps[len(maps) // 2 :], none, none[None])
    by_layer = np.einsum("lhi,lho->lio", inputs, maps[: len(inputs)])
    return NetMaps(maps, by_layer.sum(axis=0), by_layer)
