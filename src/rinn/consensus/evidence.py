"""How likely an effect is: from effects in units of their error to log odds."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

LEAST_NOISE, MOST_NOISE = 1.0, 3.0
QUIET = 0.25  # the share of effects that are none, at least
SHARES = (QUIET, 0.975)
USUAL = 8.0  # where the search for the usual size of effects starts
SPREADS = (0.3, 1.2)
SMALLEST = 0.01
FITTINGS = 100
MIXED = 0.05  # four times the mean variance of being none: from here on the two are one heap
CLEAR = 2.5  # in units of the noise: above it an effect counts for its input's usual strength
WEAKEST = 3.0  # the usual strength of an input whose effects are all unclear
FAINTEST = 0.3  # below it smaller is no less likely
SPREAD = 0.7  # of the logarithm of effects around their input's usual strength
ODD = 0.02  # share of effects whatever their size
ODD_SCALE = 5.0
WILD = 0.005  # share of noise with a long tail
WILD_SCALE = 2.0
MOST = 15.0  # log odds


def find_noise(effects: Float[np.ndarray, "input output"]) -> float:
    """Find the size of effects that are none, in units of the sampling error.

    Networks that predict well may still use inputs that do nothing, so that what is no effect is
    larger than the sampling error. Sizes are taken for a mixture: half a normal for those that are
    none, and a normal of the logarithm for the others. Where the two cannot be told apart, as with
    few samples, weak effects would count as noise: the lowest quarter of the sizes says it then.

    Args:
        effects: in units of their sampling error.

    Returns:
        The noise, between 1 and 3.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> nothing, strong = 1.6 * rng.normal(size=(10, 30)), 20 + rng.normal(size=(10, 10))
        >>> round(find_noise(np.hstack([nothing, strong])), 1)
        1.6
    """
    size = np.maximum(np.abs(effects).ravel(), SMALLEST)
    if not size.size:
        return LEAST_NOISE
    noise, odds = _fit_mixture(size)
    lowest, noise = np.clip([np.quantile(size, QUIET), noise], LEAST_NOISE, MOST_NOISE)
    trust = max(0.0, 1 - float((4 * odds * (1 - odds)).mean()) / MIXED)
    return float(lowest + trust * (noise - lowest))


def _fit_mixture(size: Float[np.ndarray, " pair"]) -> tuple[float, Float[np.ndarray, " pair"]]:
    """Fit the two kinds of effects by turns: the noise, and how likely each effect is none."""
    logs, odds = np.log(size), np.full(len(size), 0.5)
    noise, share, usual, spread = 1.0, 0.5, float(np.log(USUAL)), SPREAD
    for _ in range(FITTINGS):
        none = share / noise * np.sqrt(2 / np.pi) * np.exp(-((size / noise) ** 2) / 2)
        far = (logs - usual) / spread
        some = (1 - share) / (size * spread * np.sqrt(2 * np.pi)) * np.exp(-(far**2) / 2)
        odds = none / np.maximum(none + some, 1e-300)
        rest = np.maximum(1 - odds, 1e-9)
        share = float(np.clip(odds.mean(), *SHARES))
        noise = float(np.sqrt((odds * size**2).sum() / max(odds.sum(), 1e-9)))
        noise = float(np.clip(noise, SMALLEST, MOST_NOISE))
        usual = max(float(np.log(WEAKEST)), float(np.average(logs, weights=rest)))
        spread = float(np.sqrt(np.average((logs - usual) ** 2, weights=rest)))
        spread = float(np.clip(spread, *SPREADS))
    return noise, odds


def weigh_effects(
    effects: Float[np.ndarray, "input output"], noise: float
) -> Float[np.ndarray, "input output"]:
    """Weigh for each pair of input and output whether there is an effect.

    An effect is held to be about as large as the others of its input, within a factor of two or
    so; the lack of one is a normal error of the size `noise`. An input with strong effects thus
    has a higher threshold than one with weak ones.

    Args:
        effects: in units of their sampling error; signs are not looked at.
        noise: see `find_noise`.

    Returns:
        Log odds between -15 and 15, at even prior odds.

    Example:
        >>> weigh_effects(np.array([[9.0, 8.0, 0.5]]), 1.0).round(0)
        array([[ 8.,  7., -5.]])
    """
    size = np.abs(effects) / noise
    clear = size > CLEAR
    logs = np.log(np.maximum(size, FAINTEST))
    count = clear.sum(axis=1)
    usual = np.where(clear, logs, 0.0).sum(axis=1) / np.maximum(count, 1)
    usual = np.maximum(np.where(count > 0, usual, np.log(WEAKEST)), np.log(WEAKEST))
    far = (logs - usual[:, None]) / SPREAD
    alike = np.exp(-(far**2) / 2) / (SPREAD * np.exp(logs) * np.sqrt(2 * np.pi))
    odd = np.exp(-size / ODD_SCALE) / ODD_SCALE
    there = np.log((1 - 5 * ODD) * alike + ODD * odd)
    normal = -(size**2) / 2 + 0.5 * np.log(2 / np.pi)
    wild = -size / WILD_SCALE - np.log(WILD_SCALE)
    none = np.logaddexp(np.log(1 - WILD) + normal, np.log(WILD) + wild)
    return np.asarray(np.clip(there - none, -MOST, MOST))


def pool_effects(
    effects: Float[np.ndarray, "input output"], noise: float
) -> Float[np.ndarray, " output"]:
    """Weigh the effects of inputs that act on the same latent together.

    Their effects are those of the latent, each times the input's own strength, so that their
    first singular vector says them best. What is sampling error evens out over the inputs; noise
    beyond that is the networks' own and is the same for all.

    Args:
        effects: of these inputs, in units of their sampling error, with their signs.
        noise: see `find_noise`.

    Returns:
        Log odds for each output.

    Example:
        >>> weak = np.array([[2.0, -2.0, 0.1], [2.0, -2.0, 0.0], [2.0, -2.0, 0.2]])
        >>> weigh_effects(weak, 1.0)[0].round(0), pool_effects(weak, 1.0).round(0)
        (array([ 1.,  1., -4.]), array([ 4.,  4., -5.]))
    """
    if len(effects) == 1:
        return weigh_effects(effects, noise)[0]
    left = np.linalg.svd(effects, full_matrices=False)[0][:, 0]
    common = (left @ effects)[None]  # [1, output]
    return weigh_effects(common, float(np.sqrt(1 + (noise**2 - 1) * len(effects))))[0]
