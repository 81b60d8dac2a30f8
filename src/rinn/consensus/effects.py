"""What each input does to each output in trained networks, measured by moving it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rinn.cohorts import TrainedNet
from rinn.config import EvolutionSettings
from rinn.consensus.adjusted import find_adjusted_errors
from rinn.evaluation import on_cpu
from rinn.nets.activations import ACTIVATIONS
from rinn.nets.redundant import Weights
from rinn.problem import Problem

NETWORKS, REGRESSION = "networks", "regression"  # what effects are measured in
ROWS = 256  # samples at which effects are measured
TOGETHER = 64  # inputs that are moved at a time


class Test(Protocol):
    """Tells the effects of one input on some outputs from chance."""

    def find_p(self, row: int, outputs: Sequence[int], level: float = 0.0) -> float:
        """The p-value; it need not be exact below `level`."""


@dataclass(frozen=True)
class Effects:
    """Effects in units of their sampling error: one per pair of input and output.

    `all` is that of the mean network: the root mean square over samples of what moving the input
    does, with the sign of its mean, so that effects which depend on other inputs do not cancel.
    `each` is the mean over samples in each network, `error` the sampling error in the networks'
    units, of a pair of its own where there are covariates. `test` tells effects from chance, where
    the samples are at hand; `source` says what they were measured in.
    """

    all: Float[np.ndarray, "input output"]
    each: Float[np.ndarray, "net input output"]
    error: Float[np.ndarray, "*input output"]
    splits: tuple[int, ...]
    test: Test | None = field(default=None, repr=False, compare=False)
    source: str = NETWORKS


def measure_effects(nets: Sequence[TrainedNet], problem: Problem) -> Effects:
    """Measure what moving each input does to the outputs of networks.

    An input that is 0 or 1 is moved from 0 to 1, and the effect is weighted by its standard
    deviation; any other from one standard deviation below its mean to one above, and the effect is
    halved. Effects are thus for one standard deviation of the input, and their sampling error in a
    regression would be 1 / sqrt(n) for standardised outputs, and 1 / sqrt(n p (1 - p)) in logits;
    n counts the samples in which the output is known.
    Nothing is assumed of the activation. Covariates shift the outputs whatever the inputs are: they
    change the errors (`find_adjusted_errors`), not the effects.

    Args:
        nets: trained networks, all with the problem's inputs.
        problem: the data; test samples are not looked at.

    Returns:
        The effects.
    """
    seen = np.sort(problem.seen)
    rows = np.random.default_rng([len(seen), 23]).permutation(seen)[:ROWS]
    x = problem.x[:, rows]
    low, high, weight = _find_moves(problem.x[:, seen])
    error = _find_errors(problem, seen, nets)
    count, outputs = len(x), len(problem.y)
    signed = np.zeros((count, outputs))
    each = np.zeros((len(nets), count, outputs))
    with on_cpu():
        for first in range(0, count, TOGETHER):
            part = slice(first, min(count, first + TOGETHER))
            # Always as many, so that the last part needs no program of its own.
            which = np.minimum(np.arange(first, first + TOGETHER), count - 1)
            total = np.zeros((len(which), outputs, len(rows)))
            for number, net in enumerate(nets):
                moved = np.asarray(
                    _move(net.trial.net.activation, net.weights, x, which, low[which], high[which])
                )  # [input, output, sample]
                moved = moved * weight[which][:, None, None]
                each[number, part] = moved.mean(axis=2)[: part.stop - first]
                total += moved
            total = total[: part.stop - first] / len(nets)
            sign = np.where(total.mean(axis=2) < 0, -1.0, 1.0)
            signed[part] = sign * np.sqrt((total**2).mean(axis=2))
    splits = tuple(net.trial.split for net in nets)
    return Effects(signed / error, each / error, error, splits)


def move_inputs(
    nets: Sequence[TrainedNet],
    x: Float[np.ndarray, "input sample"],
    which: np.ndarray,
    low: Float[np.ndarray, "*move"],
    high: Float[np.ndarray, "*move"],
) -> Float[np.ndarray, "move output sample"]:
    """What the mean network gives with an input at `high` less with it at `low`, move by move."""
    low, high = (np.broadcast_to(end, which.shape).astype(np.float32) for end in (low, high))
    total: np.ndarray | float = 0.0
    with on_cpu():
        for net in nets:
            moved = np.asarray(_move(net.trial.net.activation, net.weights, x, which, low, high))
            total = total + moved.astype(np.float64)
    return np.asarray(total / len(nets))


def _find_moves(
    x: Float[np.ndarray, "input sample"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From where to where each input is moved, and the weight of what that does."""
    centre, spread = x.mean(axis=1), x.std(axis=1)
    binary = np.isin(x, (0, 1)).all(axis=1)
    low = np.where(binary, 0.0, centre - spread).astype(np.float32)
    high = np.where(binary, 1.0, centre + spread).astype(np.float32)
    return low, high, np.where(binary, spread, 0.5)


def _find_errors(
    problem: Problem, seen: np.ndarray, nets: Sequence[TrainedNet]
) -> Float[np.ndarray, "*input output"]:
    """The sampling error of an effect on each output, in the networks' units."""
    if problem.adjustment is not None:
        return find_adjusted_errors(problem, problem.adjustment, seen)
    rows = [net.trial.net.rows for net in nets if isinstance(net.trial.net, EvolutionSettings)]
    samples = min([len(seen), *rows])
    known = np.full(len(problem.y), len(seen))  # [output]
    if problem.known is not None:
        known = np.maximum(problem.known[:, seen].sum(axis=1), 1)
    counts = np.minimum(known, samples)
    if problem.loss != "bce":
        return np.asarray(1 / np.sqrt(counts))
    share = problem.y[:, seen].sum(axis=1, dtype=np.float64) / known
    least = 1 / known  # an output that is constant outside the test set tells nothing
    return np.asarray(1 / np.sqrt(counts * np.maximum(share * (1 - share), least)))


@functools.partial(jax.jit, static_argnums=0)
def _move(
    activation: str,
    weights: Weights,
    x: Float[Array, "input sample"],
    which: Array,
    low: Float[Array, " move"],
    high: Float[Array, " move"],
) -> Float[Array, "move output sample"]:
    """The outputs with an input at `high` less those with it at `low`, for each of `which`."""
    readers = weights.inputs.shape[0]
    at_rest = jnp.einsum("lhi,is->lhs", weights.inputs, x)
    phi = ACTIVATIONS[activation]

    def run(i: Array, value: Array) -> Float[Array, "output sample"]:
        change = value - x[i]  # [sample]
        h = jnp.zeros(())
        for layer in range(weights.bias.shape[0]):
            z = weights.bias[layer][:, None]
            if layer < readers:
                z = z + at_rest[layer] + weights.inputs[layer, :, i][:, None] * change
            if layer:
                z = z + weights.hidden[layer - 1] @ h
            h = phi(z)
        return weights.output @ h  # the bias is the same on both sides

    return jax.vmap(lambda i, a, b: run(i, b) - run(i, a))(which, low, high)
