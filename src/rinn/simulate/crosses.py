"""A cross of two strains: linked loci, hotspots that act on many transcripts, loci of one.

Haploid offspring have at each marker the allele of one parent. Along a chromosome it changes from a
marker to the next with the probability r = (1 - exp(-2d)) / 2, where d is their distance in Morgan
(Haldane 1919). Chromosomes and recombination are those of yeast. A hotspot is a locus that acts on
many transcripts through a latent, its product: transcript t = sum_h w_h z_h + w_l x_l + noise.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number
from rinn.errors import InputError
from rinn.simulate.samples import BLOCK_NUMBERS, Sampled

# Saccharomyces cerevisiae: lengths of the 16 chromosomes, and what two strains recombine.
CHROMOSOMES = (
    230, 813, 317, 1532, 577, 270, 1091, 563, 440, 746, 667, 1078, 924, 784, 1091, 948,
)  # kb  # fmt: skip
CM_PER_KB = 0.37
STRAINS = 1000
TARGETS = (0.1, 0.25)  # fraction of the transcripts that a hotspot acts on
UNLINKED = 150  # kb at least between loci that act: closer ones cannot be told apart
SPREAD = (0.5, 1.5)  # of the effect of a latent, or of a locus, relative to its mean


def make_cross(
    rng: np.random.Generator,
    samples: int = STRAINS,
    *,
    markers: int = 3000,
    outputs: int = 200,
    hotspots: int = 6,
    shared: int = 2,
    local: int = 60,
    explained: float = 0.2,
) -> Sampled:
    """Draw offspring of a cross, with its graph.

    Args:
        rng: the random numbers.
        samples: the number of offspring.
        markers: genotyped loci, evenly spaced.
        outputs: transcripts.
        hotspots: latents; each acts on 10 to 25 % of the transcripts.
        shared: how many hotspots have a second locus, elsewhere.
        local: transcripts with a locus of their own.
        explained: the fraction of a transcript's variance that a single mean effect explains.
    """
    sizes = {"markers": markers, "outputs": outputs, "hotspots": hotspots}
    for name, value in sizes.items():
        check_integer(name, value, minimum=16 if name == "markers" else 1, maximum=100_000)
    check_integer("shared", shared, minimum=0, maximum=hotspots)
    check_integer("local", local, minimum=0, maximum=outputs)
    check_number("explained", explained, above=True, maximum=0.9, example=0.2)
    of_graph, of_rows, of_noise = rng.spawn(3)
    chromosome, place = place_markers(markers)
    graph = _draw_graph(of_graph, chromosome, place, outputs, hotspots, shared, local)
    x = draw_genotypes(of_rows, chromosome, place, samples)
    y = _draw_outputs(of_noise, graph, x, explained)
    about = {"markers": markers, "outputs": outputs, "hotspots": hotspots, "shared": shared}
    return Sampled(x, y, graph, about | {"local": local, "explained": explained})


def place_markers(markers: int) -> tuple[np.ndarray, np.ndarray]:
    """The chromosome of each marker, from 0, and its position in kb; all are evenly spaced."""
    ends = np.cumsum(CHROMOSOMES)
    where = (np.arange(markers) + 0.5) * ends[-1] / markers
    chromosome = np.searchsorted(ends, where, side="right")
    return chromosome, where - np.concatenate([[0], ends])[chromosome]


def draw_genotypes(
    rng: np.random.Generator, chromosome: np.ndarray, place: np.ndarray, samples: int
) -> np.ndarray:
    """Alleles, 0 and 1, of each offspring [sample, marker]; more offspring begin with the same."""
    distance = np.diff(place) * CM_PER_KB / 100  # Morgan
    crossing = np.where(np.diff(chromosome) == 0, -np.expm1(-2 * distance) / 2, 0.5)
    changes = np.concatenate([[0.5], crossing]).astype(np.float32)
    x = np.empty((samples, len(place)), np.int8)
    step = max(1, BLOCK_NUMBERS // len(place))
    for start in range(0, samples, step):
        rows = slice(start, min(start + step, samples))
        lots = rng.random((rows.stop - start, len(place)), dtype=np.float32)
        x[rows] = np.cumsum(lots < changes, axis=1) % 2
    return x


def _draw_graph(
    rng: np.random.Generator,
    chromosome: np.ndarray,
    place: np.ndarray,
    outputs: int,
    hotspots: int,
    shared: int,
    local: int,
) -> nx.DiGraph:
    """Loci that act, far enough apart, their latents and transcripts, and all effects."""
    width = len(str(int(max(CHROMOSOMES))))
    names = [
        f"chr{number + 1:02}_{round(kb):0{width}}"
        for number, kb in zip(chromosome, place, strict=True)
    ]
    if len(set(names)) < len(names):
        raise InputError(
            f"markers must be at least 1 kb apart, but {len(names)} are not; choose 10000 or less"
        )
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(names, role="input")
    graph.add_nodes_from((f"h{number}" for number in range(hotspots)), role="latent", level=1)
    transcripts = [f"t{number}" for number in range(outputs)]
    graph.add_nodes_from(transcripts, role="output")
    loci = _choose_loci(rng, chromosome, place, hotspots + shared)
    for number, locus in enumerate(loci):
        graph.add_edge(names[locus], f"h{number % hotspots}", weight=_draw_effect(rng))
    for number in range(hotspots):
        size = max(2, round(rng.uniform(*TARGETS) * outputs))
        for target in np.sort(rng.choice(outputs, min(size, outputs), replace=False)):
            graph.add_edge(f"h{number}", transcripts[target], weight=_draw_effect(rng))
    for target in np.sort(rng.choice(outputs, local, replace=False)):
        own = names[rng.integers(len(names))]
        graph.add_edge(own, transcripts[target], weight=_draw_effect(rng))
    return graph


def _draw_effect(rng: np.random.Generator) -> float:
    return float(rng.uniform(*SPREAD) * rng.choice([-1, 1]))


def _choose_loci(
    rng: np.random.Generator, chromosome: np.ndarray, place: np.ndarray, count: int
) -> list[int]:
    """Loci of hotspots, no two of them close."""
    chosen: list[int] = []
    for locus in rng.permutation(len(place)).tolist():
        near = (chromosome[chosen] == chromosome[locus]) & (
            np.abs(place[chosen] - place[locus]) < UNLINKED
        )
        if not near.any():
            chosen.append(locus)
        if len(chosen) == count:
            return chosen
    raise InputError(
        f"hotspots and shared must leave {UNLINKED} kb between their loci, but there is no room "
        f"for {count}; choose fewer"
    )


def _draw_outputs(
    rng: np.random.Generator, graph: nx.DiGraph, x: np.ndarray, explained: float
) -> np.ndarray:
    """Transcripts [sample, output]; a mean effect explains this fraction beside the noise."""
    nodes = list(graph)
    column = {name: number for number, name in enumerate(nodes)}
    outputs = [name for name, role in graph.nodes(data="role") if role == "output"]
    scale = 2 * np.sqrt(explained / (1 - explained))  # an allele has the standard deviation 1/2
    values = {name: x[:, column[name]] - 0.5 for name in nodes[: x.shape[1]]}
    y = rng.standard_normal((len(x), len(outputs)))
    for latent in (name for name, role in graph.nodes(data="role") if role == "latent"):
        parents = graph.pred[latent].items()
        values[latent] = sum(edge["weight"] * values[name] for name, edge in parents)
    for place, output in enumerate(outputs):
        for name, edge in graph.pred[output].items():
            y[:, place] += scale * edge["weight"] * values[name]
    return y
