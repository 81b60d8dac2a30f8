"""The likelihood of each output, a number, 0 or 1, or a count, and the loss and units it implies.

Raw network outputs are numbers around 0. For a number that is its distance from the mean in
standard deviations; 0 and 1 have a logistic link, counts a log link (Nelder, Wedderburn 1972:
Generalized Linear Models). Where outputs of several kinds are learned together, each is scaled so
that close to its mean one unit moves it by one standard deviation and its loss has the curvature
of a number's: one range of L1 rates then fits all. A count's loss is divided by its dispersion,
the variance over the mean, so that overdispersed counts weigh no more than others (Wedderburn
1974: Quasi-likelihood functions).
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
BEYOND = 1.0  # in logs: how far above the largest count the exponential becomes its tangent


class Units(NamedTuple):
    """Units of the outputs for compiled programs.

    `std` alone is needed where all of them are numbers, or all 0 or 1. `kind` is an index into
    `KINDS`; `mean` and `std` are in the user's units; `top` is the log of the largest predicted
    count over its mean.
    """

    std: Float[Any, " output"]
    kind: Any = None  # [output], as the others
    mean: Any = None
    top: Any = None


@dataclass(frozen=True)
class Likelihood:
    """Loss ("mse" for numbers, "bce" for 0 and 1, else "mixed"), kinds and units of the outputs.

    `scale` brings the user's units into those of the losses; `top` is as in `Units`, 0 without
    counts.
    """

    loss: str
    kinds: tuple[str, ...]
    scale: Standardizer
    top: Float[np.ndarray, " output"]

    @property
    def link(self) -> Standardizer:
        """From raw outputs to the linear scale of an output: its units, log odds, log counts."""
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
        """A mask of the outputs of a kind."""
        return np.array([each == kind for each in self.kinds], bool)

    def make_units(self) -> Units:
        """The units in single precision."""
        std = self.scale.std.astype(np.float32)
        if self.loss != MIXED:
            return Units(std)
        mean, top = self.scale.mean.astype(np.float32), self.top.astype(np.float32)
        return Units(std, self._codes, mean, top)

    def measure(
        self, raw: Float[np.ndarray, "output sample"], y: Float[np.ndarray, "output sample"]
    ) -> Float[np.ndarray, "output sample"]:
        """The loss of each output and sample."""
        if self.loss == "mse":
            return (raw - y) ** 2
        if self.loss == "bce":
            return np.logaddexp(0, raw) - y * raw
        units = Units(self.scale.std, self._codes, self.scale.mean, self.top)
        return np.asarray(measure_mixed(np, raw, y, units))

    def expect(
        self, raw: Float[np.ndarray, "*any output sample"]
    ) -> Float[np.ndarray, "*any output sample"]:
        """The mean of each output at raw network outputs, in the units of `scale`."""
        if self.loss == "mse":
            return raw
        mean = np.swapaxes(self.to_units(np.swapaxes(raw, -1, -2)), -1, -2)
        if self.loss == "bce":
            return mean
        return (mean - self.scale.mean[:, None]) / self.scale.std[:, None]

    def to_units(
        self, raw: Float[np.ndarray, "*any sample output"]
    ) -> Float[np.ndarray, "*any sample output"]:
        """The mean of each output in the user's units: value, probability of 1, or mean count."""
        mean = np.array(self.link.undo(raw))
        binary, counted = self.find(BINARY), self.find(COUNT)
        if binary.any():
            mean[..., binary] = expit(mean[..., binary])
        if counted.any():
            most = np.log(self.scale.mean[counted]) + self.top[counted]
            mean[..., counted] = _bend(np, mean[..., counted], most)
        return mean

    @property
    def _codes(self) -> np.ndarray:
        return np.array([KINDS.index(kind) for kind in self.kinds], np.int32)


def make_likelihood(
    kinds: Sequence[str], y: Float[np.ndarray, "sample output"], scale: Standardizer
) -> Likelihood:
    """The likelihood of outputs of these kinds, from the samples outside the test set."""
    none = np.zeros(len(kinds))
    if set(kinds) == {NUMBER}:
        return Likelihood("mse", tuple(kinds), scale, none)
    if set(kinds) == {BINARY}:
        return Likelihood("bce", tuple(kinds), Standardizer(none, np.ones(len(kinds))), none)
    binary, counted = (np.array([each == kind for each in kinds]) for kind in (BINARY, COUNT))
    # An output may show a single value outside the test set: keep its probability and mean inside.
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
    """Deviances of outputs of several kinds; all are computed, and each output takes its kind's.

    With d = c o, where o is the raw output and c the std over the mean, a count of r times its
    mean has the deviance 2 (exp(d) - r d - r + r log r) mean; the dispersion is c^2 mean.
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
