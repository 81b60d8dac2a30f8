"""Ordinary least squares, and how uneven noise changes the standard errors of its slopes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

RCOND = 1e-9  # below it columns count as collinear


def regress(
    x: Float[np.ndarray, "sample column"],
    y: Float[np.ndarray, "sample output"],
    weights: Float[np.ndarray, " sample"] | None = None,
) -> tuple[Float[np.ndarray, "column output"], Float[np.ndarray, "column column"]]:
    """The slopes (X'WX)^-1 X'Wy of centred columns, and the inverse.

    Example:
        >>> x = np.array([[-1.0], [0.0], [1.0]])
        >>> regress(x, 2 * x)[0]
        array([[2.]])
    """
    weighted = x.T if weights is None else x.T * weights
    inverse = np.linalg.pinv(weighted @ x, rcond=RCOND, hermitian=True)
    return inverse @ (weighted @ y), inverse


def weigh_variances(
    squares: Float[np.ndarray, "sample column"], variances: Float[np.ndarray, "sample output"]
) -> Float[np.ndarray, "column output"]:
    """Mean variance of the samples that determine each slope (White 1980).

    The squares are those of the rows of (X'X)^-1 X', by which samples enter a slope.
    """
    weights = squares / np.maximum(squares.sum(axis=0), 1e-300)
    return np.asarray(weights.T @ variances)
