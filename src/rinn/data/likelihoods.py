"""How each output is modelled: as a number, as 0 or 1, or as a count; losses and units follow.

Networks give numbers around 0. For a number that is its distance from the mean in standard
deviations; for 0 and 1 a logistic function follows, for counts the exponential (Nelder, Wedderburn
1972: Generalized Linear Models). Where outputs of several kinds are learnt together, each is
scaled so that close to its mean one unit moves it by one standard deviation and its loss bends as
that of a number does: one range of L1 rates then fits all. A count's loss is divided by its
dispersion, the variance over the mean, so that counts more scattered than Poisson's have no more
say than others (Wedderburn 1974: Quasi-likelihood functions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from rinn.data.scaling import Standardizer

NUMBER, BINARY, COUNT = "number", "binary", "count"
KINDS = (NUMBER, BINARY, COUNT)
MIXED = "mixed"
BEYOND = 1.0  # of the logarithm: how far above the largest count the exponential stays one


class Units(NamedTuple):
    """What a compiled program must know of the outputs.

    `std` alone is needed where all of them are numbers, or all 0 or 1. `kind` is a place in
    `KINDS`; `mean` and `std` are in the user's units; `top` is the logarithm of how far above
    its mean a count may be expected to lie.
    """

    std: Float[Any, " output"]
    kind: Any = None  # [output], as the others
    mean: Any = None
    top: Any = None


@dataclass(frozen=True)
class Likelihood:
    """How the outputs of a run are modelled.

    Attributes:
        loss: "mse" where all are numbers, "bce" where all are 0 or 1, else "mixed".
        kinds: of each output, one of `KINDS`.
        scale: from the user's units to those in which losses are measured.
        top: see `Units`; zeros where nothing is counted.
    """

    loss: str
    kinds: tuple[str, ...]
    scale: Standardizer
    top: Float[np.ndarray, " output"]

    @property
    def link(self) -> Standardizer:
        """From what networks give to the linear scale of an output: units, log odds, log counts."""
        if self.loss != MIXED:
            return self.scale
        mean, std = self.scale.mean, self.scale.std
        binary, counted = self.find(BINARY), self.find(COUNT)
        p = np.where(binary, mean, 0.5)
        count = np.where(counted, mean, 1.0)
        mean = np.where(binary, np.log(p / (1 - p)), np.where(counted, np.log(count), mean))
        std = np.where(binary, 1 / std, np.where(counted, std / count, std))
        return Standardizer(mean, std)

    def find(self, kind: str) -> np.ndarray:
        """Which outputs are of a kind."""
        return np.array([own == kind for own in self.kinds], bool)

    def make_units(self) -> Units:
        """What the compiled programs need, in single precision."""
        std = self.scale.std.astype(np.float32)
        if self.loss != MIXED:
            return Units(std)
        mean, top = self.scale.mean.astype(np.float32), self.top.astype(np.float32)
        return Units(std, self._codes, mean, top)

    def measure(
        self, raw: Float[np.ndarray, "output sample"], y: Float[np.ndarray, "output sample"]
    ) -> Float[np.ndarray, "output sample"]:
        """The loss of each output and sample.

        Example:
            >>> scale = Standardizer(np.array([4.0]), np.array([2.0]))
            >>> counts = Likelihood("mixed", ("count",), scale, np.array([1.0]))
            >>> counts.measure(np.zeros((1, 3)), np.array([[-2.0, 0.0, 1.0]])).round(3)
            array([[8.   , 0.   , 0.866]])
        """
        if self.loss == "mse":
            return (raw - y) ** 2
        if self.loss == "bce":
            return np.logaddexp(0, raw) - y * raw
        units = Units(self.scale.std, self._codes, self.scale.mean, self.top)
        return np.asarray(measure_mixed(np, raw, y, units))

    def expect(
        self, raw: Float[np.ndarray, "*any output sample"]
    ) -> Float[np.ndarray, "*any output sample"]:
        """The mean of each output by what networks give, in the units of `scale`."""
        if self.loss == "mse":
            return raw
        found = np.swapaxes(self.to_units(np.swapaxes(raw, -1, -2)), -1, -2)
        if self.loss == "bce":
            return found
        return (found - self.scale.mean[:, None]) / self.scale.std[:, None]

    def to_units(
        self, raw: Float[np.ndarray, "*any sample output"]
    ) -> Float[np.ndarray, "*any sample output"]:
        """The mean of each output in the user's units: values, probabilities of a 1, mean counts.

        Example:
            >>> scale = Standardizer(np.array([0.2, 5.0]), np.array([0.4, 2.0]))
            >>> two = Likelihood("mixed", ("binary", "number"), scale, np.zeros(2))
            >>> two.to_units(np.zeros((1, 2)))
            array([[0.2, 5. ]])
        """
        found = np.array(self.link.undo(raw))
        binary, counted = self.find(BINARY), self.find(COUNT)
        if binary.any():
            found[..., binary] = expit(found[..., binary])
        if counted.any():
            most = np.log(self.scale.mean[counted]) + self.top[counted]
            found[..., counted] = _bend(np, found[..., counted], most)
        return found

    @property
    def _codes(self) -> np.ndarray:
        return np.array([KINDS.index(own) for own in self.kinds], np.int32)


def make_likelihood(
    kinds: Sequence[str], y: Float[np.ndarray, "sample output"], scale: Standardizer
) -> Likelihood:
    """Choose how outputs are modelled."""
    none = np.zeros(len(kinds))
    if set(kinds) == {NUMBER}:
        return Likelihood("mse", tuple(kinds), scale, none)
    if set(kinds) == {BINARY}:
        return Likelihood("bce", tuple(kinds), Standardizer(none, np.ones(len(kinds))), none)
    binary, counted = (np.array([own == kind for own in kinds]) for kind in (BINARY, COUNT))
    # An output may show a single value outside the test set: keep its chance and mean inside.
    least = 1 / (2 * len(y))
    p = np.clip(scale.mean, least, 1 - least)
    mean = np.maximum(scale.mean, least)
    varies = np.nanmin(y, axis=0) < np.nanmax(y, axis=0)
    center = np.where(binary, p, np.where(counted, mean, scale.mean))
    std = np.where(varies, scale.std, np.sqrt(mean))
    std = np.where(binary, np.sqrt(p * (1 - p)), np.where(counted, std, scale.std))
    ratio = np.maximum(np.nanmax(y, axis=0) / np.where(counted, mean, 1.0), 1.0)
    top = np.where(counted, np.log(ratio) + BEYOND, 0.0)
    return Likelihood(MIXED, tuple(kinds), Standardizer(center, std), top)


def measure_mixed(xp: Any, raw: Any, y: Any, units: Units) -> Any:
    """Deviances of outputs of several kinds; all are computed, and each output has its own.

    With d = c o, where o is what the network gives and c the std over the mean, a count of r
    times its mean has the deviance 2 (exp(d) - r d - r + r log r) mean; the dispersion is c^2 mean.
    """
    kind, mean = units.kind[:, None], units.mean[:, None]
    std, top = units.std[:, None], units.top[:, None]
    binary, counted = kind == KINDS.index(BINARY), kind == KINDS.index(COUNT)
    p = xp.where(binary, mean, 0.5)
    odds = xp.log(p / (1 - p)) + raw / xp.where(binary, std, 1.0)
    entropy = xp.logaddexp(odds, 0.0) - (mean + std * y) * odds
    c = xp.where(counted, std / xp.where(counted, mean, 1.0), 1.0)
    r = xp.maximum(1 + c * y, 0.0)
    least = 1 - r + r * xp.log(xp.where(r > 0, r, 1.0))
    deviance = (_bend(xp, c * raw, top) - 1 - r * c * raw + least) / c**2
    squares = (raw - y) ** 2
    return xp.where(binary, 2 * entropy, xp.where(counted, 2 * deviance, squares))


def _bend(xp: Any, d: Any, top: Any) -> Any:
    """The exponential up to `top`, and from there on its tangent: slopes stay finite."""
    return xp.exp(xp.minimum(d, top)) * (1 + xp.maximum(d - top, 0.0))
