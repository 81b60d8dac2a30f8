"""The directions in which covariates vary."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

SMALLEST = 1e-9  # of the largest direction: what is below is a repetition, and rounding


def find_basis(design: Float[np.ndarray, "column sample"]) -> Float[np.ndarray, "sample rank"]:
    """Find orthonormal directions of centred covariates; repetitions of others add none.

    Args:
        design: one row for each column of numbers that stands for covariates.

    Returns:
        One column for each direction, of mean 0 and length 1.

    Example:
        >>> tissue = np.array([0.0, 0.0, 1.0, 1.0])
        >>> np.abs(find_basis(np.stack([tissue, 1 - tissue]))).ravel()
        array([0.5, 0.5, 0.5, 0.5])
    """
    centred = design - design.mean(axis=1, keepdims=True)
    directions, sizes, _ = np.linalg.svd(centred.T, full_matrices=False)
    return directions[:, sizes > SMALLEST * max(sizes.max(initial=0.0), 1e-300)]


def project(
    design: Float[np.ndarray, "column sample"], values: Float[np.ndarray, "row sample"]
) -> Float[np.ndarray, "row sample"]:
    """What straight lines in the covariates say of centred values.

    Example:
        >>> project(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[-3.0, -1.0, 1.0, 3.0]]))
        array([[-2., -2.,  2.,  2.]])
    """
    basis = find_basis(design)
    return values @ basis @ basis.T
