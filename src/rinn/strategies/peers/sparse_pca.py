"""Sparse PCA of the effects, grouped: each sparse component is a latent.

z = U V + noise of variance 1, where z_io is the effect of input i on output o in standard errors:

    min ||z - U V||^2 / 2 + alpha ||V||_1,  ||U_k|| <= 1

(Zou, Hastie and Tibshirani 2006, in the form of Mairal et al. 2009). There are as many components
as singular values of z above what noise has. The outputs of a latent are the loadings that are not
0 and stay significant when fitted without penalty; its inputs have a significant part in it.
"""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Float

from rinn.config import RunSettings
from rinn.data.least_squares import regress
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import finish_graph, start_graph
from rinn.strategies.regression import find_significant, find_z

# In standard errors of an effect: the best of 2, 4, 8, 16 and the choice by BIC on 15 graphs for
# development (numbers from 500 of the recovery benchmark, five families).
ALPHA = 2.0


def detect_sparse_pca(data: Data, settings: RunSettings) -> Detected:
    """Find sparse components of the effects, and test which columns have a part in each."""
    z = find_z(data.x, data.y)
    loadings = decompose(z, count_components(z), settings.seed)
    parts = _find_parts(loadings, z.T)[0]
    refitted, tests = _find_parts(parts, z)  # the penalty shrinks loadings
    is_loaded = (loadings != 0) & find_significant(tests)
    acting = find_significant(_find_parts(np.where(is_loaded, refitted, 0.0), z.T)[1])
    graph, names = start_graph(data, len(loadings))
    for name, inputs, outputs in zip(names, acting, is_loaded, strict=True):
        graph.add_edges_from((data.inputs[i], name) for i in np.flatnonzero(inputs))
        graph.add_edges_from((name, data.outputs[o]) for o in np.flatnonzero(outputs))
    return finish_graph(graph, data, z, alpha=ALPHA)


def count_components(z: Float[np.ndarray, "input output"]) -> int:
    """How many singular values are above those of noise, sqrt(inputs) + sqrt(outputs).

    Example:
        >>> count_components(np.outer([9.0, 9, 0], [9, 9, 9, 0]))
        1
    """
    values = np.linalg.svd(z, compute_uv=False)
    return int((values > sum(np.sqrt(z.shape))).sum())


def decompose(
    z: Float[np.ndarray, "input output"], components: int, seed: int
) -> Float[np.ndarray, "component output"]:
    """The loadings of sparse components, without those that are 0."""
    from sklearn.decomposition import dict_learning
    from sklearn.exceptions import ConvergenceWarning

    if not components:
        return np.zeros((0, z.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        loadings = dict_learning(z.T, components, alpha=ALPHA, method="cd", random_state=seed)[0]
    return np.asarray(loadings.T[np.abs(loadings).max(axis=0) > 0])


def _find_parts(
    rows: Float[np.ndarray, "component column"], values: Float[np.ndarray, "column other"]
) -> tuple[Float[np.ndarray, "component other"], Float[np.ndarray, "component other"]]:
    """Regress values of variance 1 on components; give slopes and tests."""
    slopes, inverse = regress(rows.T, values)
    return slopes, slopes / np.sqrt(np.maximum(np.diag(inverse), 1e-12))[:, None]


SPARSE_PCA = Detection(
    title="sparse PCA of the effects, a latent for each component",
    detect=detect_sparse_pca,
    takes_mixed=True,
    summary="The effects of all inputs on all outputs were decomposed into sparse components, and "
    "each component became a latent.",
    caveats=(
        "Latents do not act on latents: a component's outputs are all that it reaches.",
        "Components are ordered by size and need not be causes: a rotation of the true latents "
        "fits as well where it is as sparse.",
    ),
    setup="penalty of 2 standard errors; columns tested at q < 0.05",
    assumes="linear effects; few latents, each on few outputs; no latent acts on a latent",
    suits="a quick overview of many effects, without an order of the latents",
)
