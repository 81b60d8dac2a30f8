"""Many populations at once: the constrained evolutionary strategy (ES-C) as one program.

Young, Andrews, Cooper, Lu 2020, Algorithm 2: the weights of a redundant-input network are drawn
from a few legal values and evolve; no gradient is needed.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8, UInt32

from rinn.nets.redundant import Weights
from rinn.strategies.evolution.fitness import Samples, measure_fitness
from rinn.strategies.evolution.genes import (
    EvolutionHyperparameters,
    EvolutionSpec,
    count_genes,
    read_weights,
)

WORD = 32


class Populations(NamedTuple):
    """Populations between two generations; elites are sorted, beyond their number -inf."""

    children: Int8[Any, "set individual gene"]
    elites: Int8[Any, "set elite gene"]
    elite_fitness: Float[Any, "set elite"]
    generation: Int[Any, ""]


class Draws(NamedTuple):
    """All that is random in how one population is bred."""

    parents: Int[Any, "2 individual"]
    first: UInt32[Any, "individual word"]
    indices: Int[Any, "mutation individual"]
    values: Int8[Any, "mutation individual"]


def start_populations(
    spec: EvolutionSpec, hyper: EvolutionHyperparameters, inputs: int, outputs: int
) -> Populations:
    """Populations before their first generation: every gene is zero, nobody is elite."""
    sets, most = len(hyper.seed), spec.elites or int(np.max(hyper.elites))
    genes = count_genes(spec, inputs, outputs)
    return Populations(
        children=np.zeros((sets, spec.population, genes), np.int8),
        elites=np.zeros((sets, most, genes), np.int8),
        elite_fitness=np.full((sets, most), -np.inf, np.float32),
        generation=np.int32(0),
    )


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def evolve_segment(
    spec: EvolutionSpec,
    populations: Populations,
    hyper: EvolutionHyperparameters,
    samples: Samples,
    generations: int | Int[Array, ""],
) -> Populations:
    """Evolve every population for some generations, whatever the others and the segments are."""
    sizes = (samples.x.shape[0], samples.y.shape[0])

    def live(_: Array, populations: Populations) -> Populations:
        children, elites, elite_fitness, generation = populations
        fitness = measure_fitness(spec, children, hyper, samples)
        draw = functools.partial(draw_breeding, spec, sizes, generation)
        choose = jax.vmap(_choose_elites)
        elites, elite_fitness = choose(children, fitness, elites, elite_fitness, hyper.elites)
        children = jax.vmap(_breed)(elites, jax.vmap(draw)(hyper))
        return Populations(children, elites, elite_fitness, generation + 1)

    return jax.lax.fori_loop(0, generations, live, populations)


def _choose_elites(
    children: Int8[Array, "individual gene"],
    fitness: Float[Array, " individual"],
    elites: Int8[Array, "elite gene"],
    elite_fitness: Float[Array, " elite"],
    count: Int[Array, ""],
) -> tuple[Int8[Array, "elite gene"], Float[Array, " elite"]]:
    """The fittest of children and old elites; of equals a child goes first."""
    everyone = jnp.concatenate([children, elites])
    everyones = jnp.concatenate([fitness, elite_fitness])
    order = jnp.argsort(-everyones, stable=True)[: len(elites)]
    chosen = jnp.arange(len(elites)) < count
    return everyone[order], jnp.where(chosen, everyones[order], -jnp.inf)


def draw_breeding(
    spec: EvolutionSpec,
    sizes: tuple[int, int],
    generation: Int[Array, ""],
    hyper: EvolutionHyperparameters,
) -> Draws:
    """Draw how one population is bred, by its seed and the number of the generation."""
    genes, born = count_genes(spec, *sizes), spec.population
    key = jax.random.fold_in(jax.random.key(hyper.seed, impl="threefry2x32"), generation)
    for_parents, for_first, for_places, for_values = jax.random.split(key, 4)
    # Mutation by mutation: the draws must not depend on how many another population needs.
    number = jnp.arange(spec.mutations)
    drawn = jax.vmap(lambda j: jax.random.uniform(jax.random.fold_in(for_places, j), (born,)))(
        number
    )
    indices = jnp.minimum(jnp.floor(drawn * genes).astype(jnp.int32), genes - 1)
    # A gene drawn twice must get one value, or it would depend on which was written last.
    mixed = _mix(jax.random.bits(for_values, (born,)) ^ _mix(indices.astype(jnp.uint32)))
    uniform = (mixed >> 8).astype(jnp.float32) / 2**24  # [mutation, individual]
    value = jnp.floor(uniform * hyper.legal_count).astype(jnp.int32)
    parents = jnp.floor(jax.random.uniform(for_parents, (2, born)) * hyper.elites)
    words = jnp.arange(-(-genes // WORD), dtype=jnp.uint32)
    return Draws(
        parents=jnp.minimum(parents.astype(jnp.int32), hyper.elites - 1),
        # A word of threefry per child is enough, and stirred for all its genes.
        first=_mix(jax.random.bits(for_first, (born, 1)) ^ _mix(words + 1)),
        indices=jnp.where(number[:, None] < hyper.mutations, indices, genes),
        values=hyper.legal[jnp.minimum(value, hyper.legal_count - 1)],
    )


def _mix(word: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """Stir the bits of a word (the finaliser of MurmurHash3)."""
    word = (word ^ (word >> 16)) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * jnp.uint32(0xC2B2AE35)
    return word ^ (word >> 16)


def _breed(elites: Int8[Array, "elite gene"], draws: Draws) -> Int8[Array, "individual gene"]:
    """MATE and MUTATE of Algorithm 2; indices past the last gene change nothing."""
    born, genes = draws.parents.shape[1], elites.shape[1]
    bits = (draws.first[:, :, None] >> jnp.arange(WORD, dtype=jnp.uint32)) & 1
    from_first = bits.reshape(born, -1)[:, :genes] == 1
    children = jnp.where(from_first, elites[draws.parents[0]], elites[draws.parents[1]])
    return children.at[jnp.arange(born), draws.indices].set(draws.values, mode="drop")


def best_weights(
    spec: EvolutionSpec,
    populations: Populations,
    hyper: EvolutionHyperparameters,
    inputs: int,
    outputs: int,
) -> tuple[list[Weights], np.ndarray]:
    """The fittest individual that each population ever had, and its fitness."""
    genes = np.asarray(populations.elites)[:, 0].astype(np.float32)  # [set, gene]
    weights = genes * np.asarray(hyper.step)[:, None]
    result = [read_weights(spec, row, inputs, outputs) for row in weights]
    return result, np.asarray(populations.elite_fitness)[:, 0]
