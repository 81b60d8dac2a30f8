"""How fit individuals are: the loss of many small networks, as fast as each device computes it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8

from rinn.nets.redundant import ACTIVATIONS
from rinn.strategies.evolution.genes import (
    EvolutionHyperparameters,
    EvolutionSpec,
    cut_genes,
    mark_weights,
)
from rinn.strategies.evolution.kernel import fits, is_available, measure_costs, pack_genes

CACHE_BYTES = 512 * 1024  # what networks that run together may keep in a core's cache
TOGETHER = 4
LANES = 32
CHUNK_BYTES = 4e9  # what the values of one layer may take where populations are batched
FACTORS = 64  # each lies between 1 and 2, and their product must not overflow


class Samples(NamedTuple):
    """Distinct inputs, the mean outputs with them, and their weights.

    `floor` is the squared error of outputs that differ though their inputs are the same.
    """

    x: Float[Any, "input sample"]
    y: Float[Any, "output sample"]
    sample_weight: Float[Any, " sample"]
    floor: Float[Any, ""]


def choose_kernel(platform: str, layers: int, width: int, inputs: int, outputs: int) -> str:
    """How fitness is computed fastest on a CPU or a GPU, and works for networks of this shape."""
    if platform == "cpu":
        return "cached"
    can_fuse = is_available() and fits(layers, width, inputs, outputs)
    return "pallas" if can_fuse else "batched"


def group_samples(x: np.ndarray, y: np.ndarray, loss: str) -> Samples:
    """Merge samples that have the same inputs: every network gives them the same outputs.

    The loss of a group is that of its mean output, times its size; for squared errors the variance
    around the mean is added, which no network changes.
    """
    groups, which, sizes = np.unique(x, axis=1, return_inverse=True, return_counts=True)
    mean = np.zeros((len(y), len(sizes)))
    which = which.ravel()
    for output, values in enumerate(y):
        mean[output] = np.bincount(which, values) / sizes
    spread = float(((y - mean[:, which]) ** 2).sum() / x.shape[1]) if loss == "mse" else 0.0
    return Samples(
        x=np.ascontiguousarray(groups, np.float32),
        y=mean.astype(np.float32),
        sample_weight=(sizes / x.shape[1]).astype(np.float32),
        floor=np.float32(spread),
    )


def measure_fitness(
    spec: EvolutionSpec,
    genes: Int8[Array, "set individual gene"],
    hyper: EvolutionHyperparameters,
    samples: Samples,
) -> Float[Array, "set individual"]:
    """Compute -(loss summed over outputs, mean over samples) - l1 * mean |w|; biases go free."""
    cost = KERNELS[spec.kernel](spec, genes, hyper.step, samples)
    weighs = mark_weights(spec, samples.x.shape[0], samples.y.shape[0])
    steps = jnp.sum(jnp.abs(genes) * weighs, axis=2, dtype=jnp.int32)  # [set, individual]
    size = steps * hyper.step[:, None] / weighs.sum()
    fitness = -(cost + samples.floor) - hyper.l1[:, None] * size
    return jnp.where(jnp.isnan(fitness), -jnp.inf, fitness)


def _cost_cached(
    spec: EvolutionSpec,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
) -> Float[Array, "set individual"]:
    """A few networks at a time through all layers, each layer one product with [hidden; inputs].

    Measured on a CPU this takes half the time of populations at a time.
    """
    samples = _fill_samples(samples)
    inputs, count = samples.x.shape
    width, activation = spec.width, ACTIVATIONS[spec.activation]
    each = int(np.clip(CACHE_BYTES // (4 * (width + inputs) * count), 1, TOGETHER))
    start = jnp.concatenate([jnp.zeros((width, count)), samples.x])

    def run_batch(read: Array, batch: tuple[Array, Array]) -> tuple[Array, Array]:
        rows = batch[0].astype(jnp.float32) * batch[1][:, None]  # [net, gene]
        first, later, output, bias = cut_genes(spec, rows, inputs, len(samples.y))
        z = first[..., :-1].reshape(-1, inputs) @ samples.x  # [net * hidden, sample]
        h = activation(z.reshape(each, width, count) + first[..., -1:])
        for layer in range(spec.layers - 1):
            read = jax.lax.dynamic_update_slice(read, h, (0, 0, 0))
            h = activation(later[:, layer, :, :-1] @ read + later[:, layer, :, -1:])
        return read, _cost(spec.loss, output @ h, bias, samples)

    every = genes.shape[0] * genes.shape[1]
    idle = -every % each
    rows = jnp.pad(genes.reshape(every, -1), ((0, idle), (0, 0)))
    steps = jnp.pad(jnp.repeat(step, genes.shape[1]), (0, idle))
    batch = (rows.reshape(-1, each, genes.shape[2]), steps.reshape(-1, each))
    read = jnp.broadcast_to(start, (each, *start.shape))
    return jax.lax.scan(run_batch, read, batch)[1].ravel()[:every].reshape(genes.shape[:2])


def _fill_samples(samples: Samples) -> Samples:
    """Add samples of weight 0: products of a multiple of `LANES` take a fifth less time."""
    more = (0, -samples.sample_weight.shape[0] % LANES)
    return Samples(
        x=jnp.pad(samples.x, ((0, 0), more)),
        y=jnp.pad(samples.y, ((0, 0), more)),
        sample_weight=jnp.pad(samples.sample_weight, more),
        floor=samples.floor,
    )


def _cost_batched(
    spec: EvolutionSpec,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
) -> Float[Array, "set individual"]:
    """Populations at a time, as many as memory allows."""
    inputs, outputs = samples.x.shape[0], samples.y.shape[0]
    width, activation = spec.width, ACTIVATIONS[spec.activation]
    values = spec.population * max(width, outputs) * samples.x.shape[1]
    sets = max(1, int(CHUNK_BYTES // (4 * values)))

    def run_set(of_set: tuple[Array, Array]) -> Array:
        rows = of_set[0].astype(jnp.float32) * of_set[1]  # [net, gene]
        first, later, output, bias = cut_genes(spec, rows, inputs, outputs)
        h = activation(first[..., :-1] @ samples.x + first[..., -1:])  # [net, hidden, sample]
        for layer in range(spec.layers - 1):
            z = later[:, layer, :, :width] @ h + later[:, layer, :, width:-1] @ samples.x
            h = activation(z + later[:, layer, :, -1:])
        return _cost(spec.loss, output @ h, bias, samples)

    return jax.lax.map(run_set, (genes, step), batch_size=sets)


def _cost(
    loss: str,
    product: Float[Array, "net output sample"],
    bias: Float[Array, "net output"],
    samples: Samples,
) -> Float[Array, " net"]:
    """Sum the loss over outputs, one after the other: a fifth less time than one reduction."""
    total = jnp.zeros(())
    for first in range(0, len(samples.y), FACTORS):
        factors = jnp.ones(())
        for output in range(first, min(first + FACTORS, len(samples.y))):
            predicted, y = product[:, output] + bias[:, output, None], samples.y[output]
            if loss == "mse":
                total = total + (predicted - y) ** 2  # [net, sample]
            else:
                # softplus(p) = max(p, 0) + log(1 + exp(-|p|)): one logarithm serves many outputs.
                total = total + (jnp.maximum(predicted, 0) - y * predicted)
                factors = factors * (1 + jnp.exp(-jnp.abs(predicted)))
        if loss == "bce":
            total = total + jnp.log(factors)
    return total @ samples.sample_weight


def _cost_fused(
    spec: EvolutionSpec,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
    *,
    interpret: bool = False,
) -> Float[Array, "set individual"]:
    """A network or two in the registers of a GPU."""
    first, later, output, bias = cut_genes(spec, genes, len(samples.x), len(samples.y))
    costs = measure_costs(
        pack_genes(first, later, output, bias, step),
        samples.x,
        samples.y,
        samples.sample_weight,
        loss=spec.loss,
        activation=spec.activation,
        interpret=interpret,
    )
    return costs.reshape(len(genes), -1)[:, : genes.shape[1]]


KERNELS: dict[str, Callable[..., Array]] = {
    "cached": _cost_cached,
    "batched": _cost_batched,
    "pallas": _cost_fused,
    "interpreted": functools.partial(_cost_fused, interpret=True),
}
