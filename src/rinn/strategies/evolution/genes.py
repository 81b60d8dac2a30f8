"""The genes of an individual, their legal values, and the weights that they encode.

A gene is a whole number of steps (0.1 or 0.2), so that it fits one byte. Genes are stored node by
node, in the order in which they are read: for each node of
the first hidden layer its inputs and its bias; for each node of every later one the hidden nodes
before it, the inputs and the bias; then all output weights and the output biases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int8, UInt32

from rinn.config import EvolutionSettings
from rinn.nets.redundant import Weights

STEPS = {"even": 0.2, "uneven": 0.1}
LEGAL = {
    "even": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "uneven": (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25),
}
ZEROS = 5


@dataclass(frozen=True)
class EvolutionSpec:
    """What is fixed when populations are compiled.

    `kernel` is how fitness is computed: `cached` takes a few networks at a time, their layers in
    the cache of a CPU; `batched` takes populations at a time; `pallas` keeps a network's layers in
    the registers of a GPU (`interpreted`: the same without a GPU). `mutations` and `elites` are the
    most that any population has.
    """

    loss: str
    activation: str
    layers: int
    width: int
    population: int
    mutations: int
    kernel: str = "cached"
    elites: int = 0


class EvolutionHyperparameters(NamedTuple):
    """The settings of one population that may differ within a batch, as numbers."""

    elites: Int[Any, ""]
    mutations: Int[Any, ""]
    l1: Float[Any, ""]
    step: Float[Any, ""]
    legal: Int8[Any, " value"]
    legal_count: Int[Any, ""]
    seed: UInt32[Any, ""]


def count_genes(spec: EvolutionSpec, inputs: int, outputs: int) -> int:
    """How many weights and biases an individual has."""
    width, later = spec.width, spec.layers - 1
    return width * (inputs + 1) + later * width * (width + inputs + 1) + outputs * (width + 1)


def make_hyper(
    spec: EvolutionSpec, inputs: int, outputs: int, nets: Sequence[EvolutionSettings]
) -> EvolutionHyperparameters:
    """Turn the settings of populations into numbers."""
    genes = count_genes(spec, inputs, outputs)
    tables = [[0] * ZEROS + [s * v for v in LEGAL[net.legal] for s in (1, -1)] for net in nets]
    longest = max(len(table) for table in tables)
    elites = [count_elites(net.elite_ratio, spec.population) for net in nets]
    mutations = [count_mutations(net.mutation_rate, genes) for net in nets]
    return EvolutionHyperparameters(
        elites=np.array(elites, np.int32),
        mutations=np.array(mutations, np.int32),
        l1=np.array([net.l1 for net in nets], np.float32),
        step=np.array([STEPS[net.legal] for net in nets], np.float32),
        legal=np.array([table + [0] * (longest - len(table)) for table in tables], np.int8),
        legal_count=np.array([len(table) for table in tables], np.int32),
        seed=np.array([net.seed for net in nets], np.uint32),
    )


def count_elites(ratio: float, population: int) -> int:
    """How many individuals mate; at least two."""
    return max(2, round(ratio * population))


def count_mutations(rate: float, genes: int) -> int:
    """How many genes mutate in each child; at least one."""
    return max(1, round(rate * genes))


def mark_weights(spec: EvolutionSpec, inputs: int, outputs: int) -> np.ndarray:
    """Which genes are weights and which biases: ones and zeros."""
    ones = np.ones(count_genes(spec, inputs, outputs), np.int8)
    first, later, _, output_bias = cut_genes(spec, ones, inputs, outputs)
    first[:, -1] = later[..., -1] = output_bias[:] = 0
    return ones


def cut_genes(spec: EvolutionSpec, genes: Any, inputs: int, outputs: int) -> tuple[Any, ...]:
    """Cut [..., gene] into the rows of the first layer, of the later ones, output and its bias."""
    layers, width, lead = spec.layers, spec.width, genes.shape[:-1]
    shapes = (width, inputs + 1), (layers - 1, width, width + inputs + 1), (outputs, width)
    ends = np.cumsum([0, *(math.prod(shape) for shape in shapes)])
    parts = [
        genes[..., start:end].reshape(*lead, *shape)
        for start, end, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
    ]
    return *parts, genes[..., ends[-1] :]


def read_weights(spec: EvolutionSpec, row: np.ndarray, inputs: int, outputs: int) -> Weights:
    """The weights of one individual, from its genes times their step."""
    width = spec.width
    first, later, output, output_bias = cut_genes(spec, row, inputs, outputs)
    return Weights(
        inputs=np.concatenate([first[None, :, :-1], later[..., width:-1]]),
        hidden=later[..., :width].copy(),
        output=output.copy(),
        bias=np.concatenate([first[None, :, -1], later[..., -1]]),
        output_bias=output_bias.copy(),
    )
