"""What makes a random world harder: changes of its graph before, and of its rows after sampling.

One function for each change. Each has its own random generator, so that a world without a change
is the same world.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
from scipy.special import ndtr

from rinn.config import check_integer, check_number
from rinn.errors import InputError
from rinn.graphs.basics import ROLES, by_role, reach
from rinn.simulate.samples import Sampled

TWIN_INPUTS = 2  # that a latent and its twin have at least
MAX_UNEQUAL = 1000.0
MAX_NOISE = 100.0  # variance of the inputs' error, and of the factor, in units of the signal
# Sizes of the unmeasured factor's loadings, and of the effects between outputs.
LOADINGS = (0.5, 1.5)
OUTPUT_WEIGHTS = (0.5, 1.0)
# Chance that a binary output is flipped by the factor, and that an output's 1 is passed on.
FLIPS = (0.5, 1.0)
PASSED = (0.5, 0.9)


def vary_graph(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    *,
    twins: int = 0,
    two_latents: float = 0.0,
    direct: int = 0,
    unequal: float = 1.0,
) -> nx.DiGraph:
    """Add twins, second latents of inputs, direct edges and strengths to a latent graph."""
    first, second, third, fourth = rng.spawn(4)
    graph = add_twins(first, graph, twins)
    graph = share_inputs(second, graph, two_latents)
    graph = add_direct(third, graph, direct)
    return spread_effects(fourth, graph, unequal)


def vary_rows(
    rng: np.random.Generator,
    sampled: Sampled,
    *,
    factor: float = 0.0,
    output_edges: int = 0,
    input_noise: float = 0.0,
) -> Sampled:
    """Change rows by what the truth does not show: a common cause, output edges, input errors."""
    first, second, third = rng.spawn(3)
    sampled = add_factor(first, sampled, factor)
    sampled = add_output_edges(second, sampled, output_edges)
    return blur_inputs(third, sampled, input_noise)


def add_twins(rng: np.random.Generator, graph: nx.DiGraph, count: int) -> nx.DiGraph:
    """Give latents a twin: a latent with the same child outputs and two new inputs of its own.

    Latents that get a twin have no latent child and at least two inputs of their own.
    """
    count = check_integer("twins", count, minimum=0)
    if count == 0:
        return graph
    inputs, latents = by_role(graph, "input"), by_role(graph, "latent")
    free = [
        latent
        for latent in latents
        if not set(graph.successors(latent)) & set(latents)
        and len(set(graph.predecessors(latent)) & set(inputs)) >= TWIN_INPUTS
    ]
    if len(free) < count:
        raise InputError(
            f"twins must be at most the number of latents with two inputs of their own and no "
            f"latent child, which is {len(free)}, got {count}; raise inputs, or "
            f"lower twins"
        )
    result = graph.copy()
    for number, index in enumerate(sorted(rng.choice(len(free), count, replace=False))):
        twin = f"h{len(latents) + number}"
        result.add_node(twin, **graph.nodes[free[index]])
        result.add_edges_from((twin, child) for child in graph.successors(free[index]))
        for more in range(TWIN_INPUTS):
            name = f"x{len(inputs) + TWIN_INPUTS * number + more}"
            result.add_node(name, role="input")
            result.add_edge(name, twin)
    return _order_nodes(result)


def share_inputs(rng: np.random.Generator, graph: nx.DiGraph, fraction: float) -> nx.DiGraph:
    """Let a fraction of the inputs act on a second latent that is not above or below the first.

    Inputs without such a latent keep their one latent.
    """
    fraction = check_number("two_latents", fraction, maximum=1)
    result, reached = graph.copy(), reach(graph)
    inputs, latents = by_role(graph, "input"), by_role(graph, "latent")
    left = round(fraction * len(inputs))
    for node in rng.permutation(inputs).tolist():
        first = reached[node]
        fit = [one for one in latents if not (reached[one] <= first or first <= reached[one])]
        if left and fit:
            result.add_edge(node, str(rng.choice(fit)))
            left -= 1
    return result


def add_direct(rng: np.random.Generator, graph: nx.DiGraph, count: int) -> nx.DiGraph:
    """Add edges from inputs to outputs that they do not reach."""
    count = check_integer("direct", count, minimum=0)
    reached, outputs = reach(graph), by_role(graph, "output")
    pairs = [(i, o) for i in by_role(graph, "input") for o in outputs if o not in reached[i]]
    if count > len(pairs):
        raise InputError(
            f"direct must be at most the number of pairs of an input and an output that it does "
            f"not reach, which is {len(pairs)}, got {count}; lower direct"
        )
    result = graph.copy()
    result.add_edges_from(pairs[i] for i in rng.choice(len(pairs), count, replace=False))
    return result


def spread_effects(rng: np.random.Generator, graph: nx.DiGraph, factor: float) -> nx.DiGraph:
    """Put a `strength` on each edge, log-uniform from 1 / factor to 1.

    A binary mechanism passes a parent's 1 on with this probability; the others multiply weights by
    it, relative to the geometric mean of all strengths.
    """
    check_number("unequal", factor, 1, MAX_UNEQUAL, example=10)
    if factor == 1:
        return graph
    result = graph.copy()
    sizes = factor ** -rng.random(result.number_of_edges())
    for edge, size in zip(result.edges, sizes, strict=True):
        result.edges[edge]["strength"] = float(size)
    return result


def add_factor(rng: np.random.Generator, sampled: Sampled, strength: float) -> Sampled:
    """Let one unmeasured factor act on all outputs, and not through the inputs.

    It adds its loading times a standard normal to a number: strength * ±U(0.5, 1.5). Binary outputs
    are disturbed in the fraction `strength` of the rows, the same rows for all: there each output
    is flipped with its own probability from U(0.5, 1).
    """
    binary = _find_binary(sampled)
    strength = check_number("factor", strength, maximum=1.0 if binary.any() else MAX_NOISE)
    if strength == 0:
        return sampled
    count = sampled.y.shape[1]
    loadings = strength * rng.uniform(*LOADINGS, count) * rng.choice((-1.0, 1.0), count)
    flips = rng.uniform(*FLIPS, count)
    rows, lots = rng.spawn(2)
    common = rows.standard_normal((len(sampled.y), 2))  # [sample, normal and disturbance]
    disturbed = ndtr(common[:, 1:]) < strength
    flipped = disturbed & (lots.random(sampled.y.shape) < flips)
    y = sampled.y if binary.all() else sampled.y + common[:, :1] * np.where(binary, 0.0, loadings)
    return replace(sampled, y=np.where(binary & flipped, 1 - y, y).astype(y.dtype))


def add_output_edges(rng: np.random.Generator, sampled: Sampled, count: int) -> Sampled:
    """Let outputs act on other outputs, without a cycle.

    A number gets ±U(0.5, 1) times the other output; a binary output becomes 1 where the other is
    above 0, with a probability from U(0.5, 0.9). The graph has these edges.
    """
    names = by_role(sampled.graph, "output")
    pairs = [(a, b) for b in range(len(names)) for a in range(b)]
    count = check_integer("output_edges", count, minimum=0, maximum=max(len(pairs), 0))
    if count == 0:
        return sampled
    order = rng.permutation(len(names))  # causes first
    chosen = sorted((pairs[i] for i in rng.choice(len(pairs), count, replace=False)), key=max)
    weights = rng.uniform(*OUTPUT_WEIGHTS, count) * rng.choice((-1.0, 1.0), count)
    chances = rng.uniform(*PASSED, count)
    binary = _find_binary(sampled)
    y = sampled.y.copy() if binary.all() else sampled.y.astype(float)
    lots = rng.random((len(y), count))  # [sample, edge]
    for edge, (a, b) in enumerate(chosen):
        cause, effect = order[a], order[b]
        if binary[effect]:
            y[:, effect] = np.maximum(
                y[:, effect], (y[:, cause] > 0) & (lots[:, edge] < chances[edge])
            )
        else:
            y[:, effect] += weights[edge] * y[:, cause]
    graph = sampled.graph.copy()
    graph.add_edges_from((names[order[a]], names[order[b]]) for a, b in chosen)
    return replace(sampled, y=y, graph=graph)


def blur_inputs(rng: np.random.Generator, sampled: Sampled, noise: float) -> Sampled:
    """Measure the inputs with errors that do not act on the outputs.

    A binary input is flipped with the probability `noise`; a number gets gaussian noise whose
    variance is `noise` times that of the input.
    """
    inputs = by_role(sampled.graph, "input")
    binary = sampled.x.dtype == np.int8
    noise = check_number("input_noise", noise, maximum=1.0 if binary else MAX_NOISE)
    if noise == 0:
        return sampled
    if binary:
        flipped = rng.random(sampled.x.shape) < noise
        return replace(sampled, x=np.where(flipped, 1 - sampled.x, sampled.x).astype(np.int8))
    variances = np.array([sampled.graph.nodes[node]["variance"] for node in inputs])
    errors = rng.standard_normal(sampled.x.shape) * np.sqrt(noise * variances)
    return replace(sampled, x=sampled.x + errors)


def _find_binary(sampled: Sampled) -> np.ndarray:
    """Which outputs hold zeros and ones [output]; no chance draw makes a number one of these."""
    if sampled.y.dtype == np.int8:
        return np.asarray(np.isin(sampled.y, (0, 1)).all(axis=0))
    outputs = by_role(sampled.graph, "output")
    return np.array(["threshold" in sampled.graph.nodes[node] for node in outputs])


def _order_nodes(graph: nx.DiGraph) -> nx.DiGraph:
    """Write a graph with its inputs first, then latents, then outputs."""
    result: nx.DiGraph = nx.DiGraph()
    result.graph.update(graph.graph)
    for role in ROLES:
        result.add_nodes_from((node, graph.nodes[node]) for node in by_role(graph, role))
    result.add_edges_from(graph.edges(data=True))
    return result
