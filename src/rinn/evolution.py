"""Many populations at once: the constrained evolutionary strategy (ES-C) as one program.

Young, Andrews, Cooper, Lu 2020, Algorithm 2: the weights of a redundant-input network are drawn
from a few legal values and evolve; no gradient is needed. A gene is a whole number of steps (0.1
or 0.2), so that it fits one byte and no table stands between a gene and its weight.

The genes of an individual lie node by node, in the order in which they are read: for each node of
the first hidden layer its inputs and its bias; for each node of every later one the hidden nodes
before it, the inputs and the bias; then all output weights and the output biases.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8, UInt32

from rinn.evolution_kernel import fits, measure_costs, pack_genes
from rinn.nets.activations import ACTIVATIONS
from rinn.nets.redundant import Weights

STEPS = {"even": 0.2, "uneven": 0.1}
LEGAL = {
    "even": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "uneven": (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25),
}
ZEROS = 5
WORD = 32
CACHE_BYTES = 512 * 1024  # what networks that run together may keep in a core's cache
TOGETHER = 4
LANES = 32
CHUNK_BYTES = 4e9  # what the values of one layer may take where populations are batched
FACTORS = 64  # each lies between 1 and 2, and their product must not overflow


@dataclass(frozen=True)
class EvolutionProgram:
    """What is fixed when populations are compiled.

    `kernel` is how fitness is computed: `cached` takes a few networks at a time, their layers in
    the cache of a CPU; `batched` takes whole populations at a time; `pallas` keeps a network's
    layers in the registers of a GPU (`interpreted`: the same without a GPU, to test it).
    `mutations` and `elites` are the most that any population has; `elites` may be 0 for as many as
    the traits say.
    """

    loss: str
    activation: str
    layers: int
    width: int
    population: int
    mutations: int
    kernel: str = "cached"
    elites: int = 0


class EvolutionTraits(NamedTuple):
    """The settings of one population that may differ within a batch, as numbers."""

    elites: Int[Any, ""]
    mutations: Int[Any, ""]
    l1: Float[Any, ""]
    step: Float[Any, ""]
    legal: Int8[Any, " value"]
    legal_count: Int[Any, ""]
    seed: UInt32[Any, ""]


class Samples(NamedTuple):
    """What fitness is measured on: distinct inputs, the mean outputs seen with them, their share.

    `floor` is the part of the squared error that no network can avoid: outputs that differ though
    their inputs are the same.
    """

    x: Float[Any, "input sample"]
    y: Float[Any, "output sample"]
    share: Float[Any, " sample"]
    floor: Float[Any, ""]


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
    places: Int[Any, "mutation individual"]
    values: Int8[Any, "mutation individual"]


def count_genes(program: EvolutionProgram, inputs: int, outputs: int) -> int:
    """How many weights and biases an individual has."""
    width, later = program.width, program.layers - 1
    return width * (inputs + 1) + later * width * (width + inputs + 1) + outputs * (width + 1)


def choose_kernel(platform: str, layers: int, width: int, inputs: int, outputs: int) -> str:
    """How fitness is computed fastest on a CPU or a GPU, and works for networks of this shape."""
    if platform == "cpu":
        return "cached"
    return "pallas" if fits(layers, width, inputs, outputs) else "batched"


def make_traits(
    program: EvolutionProgram,
    inputs: int,
    outputs: int,
    *,
    elite_ratio: Sequence[float],
    mutation_rate: Sequence[float],
    l1: Sequence[float],
    legal: Sequence[str],
    seed: Sequence[int],
) -> EvolutionTraits:
    """Turn the settings of some populations into numbers.

    Args:
        program: what is compiled; its `mutations` must not be less than any population needs.
        inputs: number of inputs.
        outputs: number of outputs.
        elite_ratio: of each population, the share that mates; two individuals at the least.
        mutation_rate: the share of genes that mutates in each child; one at the least.
        l1: the price of a mean |weight| of one.
        legal: even or uneven, see `LEGAL`.
        seed: decides all that is random in a population.

    Returns:
        Traits whose leaves are [set, ...].

    Example:
        >>> program = EvolutionProgram("mse", "relu", 8, 8, 201, mutations=10)
        >>> settings = {"elite_ratio": [0.4], "mutation_rate": [0.006], "l1": [12.5]}
        >>> traits = make_traits(program, 16, 16, **settings, legal=["even"], seed=[0])
        >>> int(traits.elites[0]), int(traits.mutations[0]), int(traits.legal_count[0])
        (80, 10, 25)
    """
    genes = count_genes(program, inputs, outputs)
    tables = [[0] * ZEROS + [s * v for v in LEGAL[name] for s in (1, -1)] for name in legal]
    longest = max(len(table) for table in tables)
    elites = [count_elites(ratio, program.population) for ratio in elite_ratio]
    return EvolutionTraits(
        elites=np.array(elites, np.int32),
        mutations=np.array([count_mutations(rate, genes) for rate in mutation_rate], np.int32),
        l1=np.array(l1, np.float32),
        step=np.array([STEPS[name] for name in legal], np.float32),
        legal=np.array([table + [0] * (longest - len(table)) for table in tables], np.int8),
        legal_count=np.array([len(table) for table in tables], np.int32),
        seed=np.array(seed, np.uint32),
    )


def count_elites(ratio: float, population: int) -> int:
    """How many individuals mate; at least two."""
    return max(2, round(ratio * population))


def count_mutations(rate: float, genes: int) -> int:
    """How many genes mutate in each child; at least one."""
    return max(1, round(rate * genes))


def group_samples(x: np.ndarray, y: np.ndarray, loss: str) -> Samples:
    """Merge samples that have the same inputs: every network gives them the same outputs.

    The loss of a group is that of its mean output, times its size; for squared errors the spread
    around the mean is added, which no network changes. With binary inputs this leaves half of the
    work or less.

    Args:
        x: inputs, samples last.
        y: outputs, samples last.
        loss: mse or bce.

    Returns:
        The groups as samples.

    Example:
        >>> x, y = np.array([[0.0, 1.0, 0.0]]), np.array([[1.0, 5.0, 3.0]])
        >>> found = group_samples(x, y, "mse")
        >>> found.x.tolist(), found.y.tolist(), (3 * found.share).tolist(), f"{found.floor:.3f}"
        ([[0.0, 1.0]], [[2.0, 5.0]], [2.0, 1.0], '0.667')
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
        share=(sizes / x.shape[1]).astype(np.float32),
        floor=np.float32(spread),
    )


def start_populations(
    program: EvolutionProgram, traits: EvolutionTraits, inputs: int, outputs: int
) -> Populations:
    """Populations before their first generation: every gene is zero, nobody is elite."""
    sets, most = len(traits.seed), program.elites or int(np.max(traits.elites))
    genes = count_genes(program, inputs, outputs)
    return Populations(
        children=np.zeros((sets, program.population, genes), np.int8),
        elites=np.zeros((sets, most, genes), np.int8),
        elite_fitness=np.full((sets, most), -np.inf, np.float32),
        generation=np.int32(0),
    )


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def evolve_segment(
    program: EvolutionProgram,
    populations: Populations,
    traits: EvolutionTraits,
    samples: Samples,
    generations: int | Int[Array, ""],
) -> Populations:
    """Let every population live through some generations.

    What becomes of a population depends on its traits and the samples only: not on the other
    populations, nor on how its generations are cut into segments.

    Args:
        program: what is compiled.
        populations: leaves are [set, ...]; they are used up.
        traits: leaves are [set, ...].
        samples: what fitness is measured on.
        generations: how many.

    Returns:
        The populations after them.
    """
    sizes = (samples.x.shape[0], samples.y.shape[0])

    def live(_: Array, populations: Populations) -> Populations:
        children, elites, elite_fitness, generation = populations
        fitness = measure_fitness(program, children, traits, samples)
        draw = functools.partial(draw_breeding, program, sizes, generation)
        choose = jax.vmap(_choose_elites)
        elites, elite_fitness = choose(children, fitness, elites, elite_fitness, traits.elites)
        children = jax.vmap(_breed)(elites, jax.vmap(draw)(traits))
        return Populations(children, elites, elite_fitness, generation + 1)

    return jax.lax.fori_loop(0, generations, live, populations)


def measure_fitness(
    program: EvolutionProgram,
    genes: Int8[Array, "set individual gene"],
    traits: EvolutionTraits,
    samples: Samples,
) -> Float[Array, "set individual"]:
    """Compute -(loss summed over outputs, mean over samples) - l1 * mean |w|; biases go free."""
    cost = KERNELS[program.kernel](program, genes, traits.step, samples)
    weighs = mark_weights(program, samples.x.shape[0], samples.y.shape[0])
    steps = jnp.sum(jnp.abs(genes) * weighs, axis=2, dtype=jnp.int32)  # [set, individual]
    size = steps * traits.step[:, None] / weighs.sum()
    fitness = -(cost + samples.floor) - traits.l1[:, None] * size
    return jnp.where(jnp.isnan(fitness), -jnp.inf, fitness)


def mark_weights(program: EvolutionProgram, inputs: int, outputs: int) -> np.ndarray:
    """Which genes are weights and which biases: ones and zeros."""
    ones = np.ones(count_genes(program, inputs, outputs), np.int8)
    first, later, _, output_bias = cut_genes(program, ones, inputs, outputs)
    first[:, -1] = later[..., -1] = output_bias[:] = 0
    return ones


def cut_genes(program: EvolutionProgram, genes: Any, inputs: int, outputs: int) -> tuple[Any, ...]:
    """Cut [..., gene] into the rows of the first layer, of the later ones, output and its bias."""
    layers, width, lead = program.layers, program.width, genes.shape[:-1]
    ends = np.cumsum(
        [
            width * (inputs + 1),
            (layers - 1) * width * (width + inputs + 1),
            outputs * width,
        ]
    )
    first, later = genes[..., : ends[0]], genes[..., ends[0] : ends[1]]
    return (
        first.reshape(*lead, width, inputs + 1),
        later.reshape(*lead, layers - 1, width, width + inputs + 1),
        genes[..., ends[1] : ends[2]].reshape(*lead, outputs, width),
        genes[..., ends[2] :],
    )


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
    program: EvolutionProgram,
    sizes: tuple[int, int],
    generation: Int[Array, ""],
    traits: EvolutionTraits,
) -> Draws:
    """Draw how one population is bred: by its seed and the generation's number, no matter where."""
    genes, born = count_genes(program, *sizes), program.population
    key = jax.random.fold_in(jax.random.key(traits.seed, impl="threefry2x32"), generation)
    for_parents, for_first, for_places, for_values = jax.random.split(key, 4)
    # Mutation by mutation: the draws must not depend on how many another population needs.
    number = jnp.arange(program.mutations)
    drawn = jax.vmap(lambda j: jax.random.uniform(jax.random.fold_in(for_places, j), (born,)))(
        number
    )
    places = jnp.minimum(jnp.floor(drawn * genes).astype(jnp.int32), genes - 1)
    # A gene drawn twice must get one value, or it would depend on which was written last.
    mixed = _mix(jax.random.bits(for_values, (born,)) ^ _mix(places.astype(jnp.uint32)))
    share = (mixed >> 8).astype(jnp.float32) / 2**24  # [mutation, individual]
    value = jnp.floor(share * traits.legal_count).astype(jnp.int32)
    parents = jnp.floor(jax.random.uniform(for_parents, (2, born)) * traits.elites)
    words = jnp.arange(-(-genes // WORD), dtype=jnp.uint32)
    return Draws(
        parents=jnp.minimum(parents.astype(jnp.int32), traits.elites - 1),
        # A word of threefry per child is enough, and stirred for all its genes.
        first=_mix(jax.random.bits(for_first, (born, 1)) ^ _mix(words + 1)),
        places=jnp.where(number[:, None] < traits.mutations, places, genes),
        values=traits.legal[jnp.minimum(value, traits.legal_count - 1)],
    )


def _mix(word: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """Stir the bits of a word (the finaliser of MurmurHash3)."""
    word = (word ^ (word >> 16)) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * jnp.uint32(0xC2B2AE35)
    return word ^ (word >> 16)


def _breed(elites: Int8[Array, "elite gene"], draws: Draws) -> Int8[Array, "individual gene"]:
    """MATE and MUTATE of Algorithm 2; places past the last gene change nothing."""
    born, genes = draws.parents.shape[1], elites.shape[1]
    bits = (draws.first[:, :, None] >> jnp.arange(WORD, dtype=jnp.uint32)) & 1
    from_first = bits.reshape(born, -1)[:, :genes] == 1
    children = jnp.where(from_first, elites[draws.parents[0]], elites[draws.parents[1]])
    return children.at[jnp.arange(born), draws.places].set(draws.values, mode="drop")


def _cost_cached(
    program: EvolutionProgram,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
) -> Float[Array, "set individual"]:
    """A few networks at a time through all layers, each layer one product with [hidden; inputs].

    What they read stays in one place, where each layer overwrites the hidden nodes before it.
    Measured on a CPU this takes half the time of whole populations.
    """
    samples = _fill_samples(samples)
    inputs, count = samples.x.shape
    width, activation = program.width, ACTIVATIONS[program.activation]
    each = int(np.clip(CACHE_BYTES // (4 * (width + inputs) * count), 1, TOGETHER))
    start = jnp.concatenate([jnp.zeros((width, count)), samples.x])

    def run_some(read: Array, some: tuple[Array, Array]) -> tuple[Array, Array]:
        rows = some[0].astype(jnp.float32) * some[1][:, None]  # [net, gene]
        first, later, output, bias = cut_genes(program, rows, inputs, len(samples.y))
        z = first[..., :-1].reshape(-1, inputs) @ samples.x  # [net * hidden, sample]
        h = activation(z.reshape(each, width, count) + first[..., -1:])
        for layer in range(program.layers - 1):
            read = jax.lax.dynamic_update_slice(read, h, (0, 0, 0))
            h = activation(later[:, layer, :, :-1] @ read + later[:, layer, :, -1:])
        return read, _cost(program.loss, output @ h, bias, samples)

    every = genes.shape[0] * genes.shape[1]
    idle = -every % each
    rows = jnp.pad(genes.reshape(every, -1), ((0, idle), (0, 0)))
    steps = jnp.pad(jnp.repeat(step, genes.shape[1]), (0, idle))
    some = (rows.reshape(-1, each, genes.shape[2]), steps.reshape(-1, each))
    read = jnp.broadcast_to(start, (each, *start.shape))
    return jax.lax.scan(run_some, read, some)[1].ravel()[:every].reshape(genes.shape[:2])


def _fill_samples(samples: Samples) -> Samples:
    """Add samples that count nothing: products of a multiple of `LANES` take a fifth less time."""
    more = (0, -samples.share.shape[0] % LANES)
    return Samples(
        x=jnp.pad(samples.x, ((0, 0), more)),
        y=jnp.pad(samples.y, ((0, 0), more)),
        share=jnp.pad(samples.share, more),
        floor=samples.floor,
    )


def _cost_batched(
    program: EvolutionProgram,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
) -> Float[Array, "set individual"]:
    """Whole populations at a time, as many as memory allows."""
    inputs, outputs = samples.x.shape[0], samples.y.shape[0]
    width, activation = program.width, ACTIVATIONS[program.activation]
    values = program.population * max(width, outputs) * samples.x.shape[1]
    sets = max(1, int(CHUNK_BYTES // (4 * values)))

    def run_set(of_set: tuple[Array, Array]) -> Array:
        rows = of_set[0].astype(jnp.float32) * of_set[1]  # [net, gene]
        first, later, output, bias = cut_genes(program, rows, inputs, outputs)
        h = activation(first[..., :-1] @ samples.x + first[..., -1:])  # [net, hidden, sample]
        for layer in range(program.layers - 1):
            z = later[:, layer, :, :width] @ h + later[:, layer, :, width:-1] @ samples.x
            h = activation(z + later[:, layer, :, -1:])
        return _cost(program.loss, output @ h, bias, samples)

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
    return total @ samples.share


def _cost_fused(
    program: EvolutionProgram,
    genes: Int8[Array, "set individual gene"],
    step: Float[Array, " set"],
    samples: Samples,
    *,
    interpret: bool = False,
) -> Float[Array, "set individual"]:
    """A network or two in the registers of a GPU."""
    first, later, output, bias = cut_genes(program, genes, len(samples.x), len(samples.y))
    costs = measure_costs(
        pack_genes(first, later, output, bias, step),
        samples.x,
        samples.y,
        samples.share,
        loss=program.loss,
        activation=program.activation,
        interpret=interpret,
    )
    return costs.reshape(len(genes), -1)[:, : genes.shape[1]]


KERNELS: dict[str, Callable[..., Array]] = {
    "cached": _cost_cached,
    "batched": _cost_batched,
    "pallas": _cost_fused,
    "interpreted": functools.partial(_cost_fused, interpret=True),
}


def best_weights(
    program: EvolutionProgram,
    populations: Populations,
    traits: EvolutionTraits,
    inputs: int,
    outputs: int,
) -> tuple[list[Weights], np.ndarray]:
    """The fittest individual that each population ever had, and its fitness."""
    genes = np.asarray(populations.elites)[:, 0].astype(np.float32)  # [set, gene]
    weights = genes * np.asarray(traits.step)[:, None]
    found = [read_weights(program, row, inputs, outputs) for row in weights]
    return found, np.asarray(populations.elite_fitness)[:, 0]


def read_weights(program: EvolutionProgram, row: np.ndarray, inputs: int, outputs: int) -> Weights:
    """The weights of one individual, from its genes times their step."""
    width = program.width
    first, later, output, output_bias = cut_genes(program, row, inputs, outputs)
    return Weights(
        inputs=np.concatenate([first[None, :, :-1], later[..., width:-1]]),
        hidden=later[..., :width].copy(),
        output=output.copy(),
        bias=np.concatenate([first[None, :, -1], later[..., -1]]),
        output_bias=output_bias.copy(),
    )
