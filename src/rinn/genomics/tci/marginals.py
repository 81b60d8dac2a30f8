"""Beta-binomial marginal likelihoods, by formula and by tables for whole numbers."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

# Beta parameters for DEG = 1 and DEG = 0: where the cause is present, where it is absent, and for
# A0, all that is not measured.
PRESENT, ABSENT, UNKNOWN = (2.0, 1.0), (1.0, 2.0), (1.0, 1.0)


def log_marginal(
    n: np.ndarray | int, k: np.ndarray | int, ones: float, zeros: float
) -> np.ndarray | float:
    """Log probability of k ones in n tries in a given order, the rate drawn from a Beta.

    ln [ B(k + a, n - k + b) / B(a, b) ] with a = `ones` and b = `zeros`.

    Args:
        n: how many tries.
        k: how many of them are ones.
        ones: Beta parameter of ones.
        zeros: Beta parameter of zeros.

    Example:
        >>> round(float(np.exp(log_marginal(1, 1, 2, 1))), 6)
        0.666667
        >>> float(log_marginal(0, 0, 1, 2))
        0.0
    """
    return (
        gammaln(ones + zeros)
        - gammaln(n + ones + zeros)
        + (gammaln(k + ones) - gammaln(ones))
        + (gammaln(n - k + zeros) - gammaln(zeros))
    )


class MarginalTable:
    """`log_marginal` for one Beta, looked up: logarithms of the gamma function are slow."""

    def __init__(self, most: int, beta: tuple[float, float]) -> None:
        ones, zeros = beta
        numbers = np.arange(most + 1)
        self._tries = gammaln(ones + zeros) - gammaln(numbers + ones + zeros)
        self._ones = gammaln(numbers + ones) - gammaln(ones)
        self._zeros = gammaln(numbers + zeros) - gammaln(zeros)

    def __call__(self, n: np.ndarray, k: np.ndarray) -> np.ndarray:
        """The log marginal likelihood of k ones in n tries; the arrays are broadcast."""
        return self._tries.take(n) + self._ones.take(k) + self._zeros.take(n - k)


class MarginalTables:
    """The three tables of TCI, for up to `most` tumours."""

    def __init__(self, most: int) -> None:
        self.present = MarginalTable(most, PRESENT)
        self.absent = MarginalTable(most, ABSENT)
        self.unknown = MarginalTable(most, UNKNOWN)
