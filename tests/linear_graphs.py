"""Tiny graphs with linear effects, their data and their exact moments."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.structure.effects import Effects
from rinn.structure.records import Moments, make_structure
from rinn.structure.regression import Sample, estimate_moments

CHAIN = ["a h", "b h", "c k", "d k", "h k", "h u", "h v", "h w", "k x", "k y", "k z"]
FORK = ["a h", "b h", "e h", "h k", "h l", "c k", "d l", "k u", "k v", "k w", "l x", "l y", "l z"]
ORPHAN = ["a h", "b h", "c k", "d k", "h u", "h v", "h w", "k x", "k y", "k z"]
DIRECT = ["a h", "b h", "h u", "h v", "h w", "h x", "c y"]
UNEQUAL = ["a h", "b k", "c k", "d k", "e k", "h s", "h t", "h u", "h v", "h w", "k x", "k y"]
GRAPHS = {"chain": CHAIN, "fork": FORK, "direct": DIRECT, "unequal": UNEQUAL}


def split_edges(edges):
    return [tuple(edge.split()) for edge in edges]


def find_names(edges):
    """Inputs a to g, latents h to m, outputs n to z."""
    every = sorted({name for edge in split_edges(edges) for name in edge})
    return tuple(
        tuple(name for name in every if first <= name <= last) for first, last in ("ag", "hm", "nz")
    )


def draw_structure(edges, seed=0, extra_inputs=0, extra_outputs=0):
    """A structure with weights of size 0.6 to 1.2, of either sign, and its names."""
    inputs, latents, outputs = find_names(edges)
    inputs += tuple(f"i{n}" for n in range(extra_inputs))
    outputs += tuple(f"o{n}" for n in range(extra_outputs))
    nodes = [*inputs, *latents, *outputs]
    marks = np.zeros((len(nodes),) * 2, bool)
    for source, target in split_edges(edges):
        marks[nodes.index(source), nodes.index(target)] = True
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.6, 1.2, marks.shape) * rng.choice([-1, 1], marks.shape)
    found = make_structure(marks, len(inputs), len(outputs), np.where(marks, weights, 0.0))
    return found, inputs, outputs


def draw_rows(structure, samples, seed=0):
    """Rows of X and Y of a structure."""
    rng = np.random.default_rng([seed, 1])
    x = rng.normal(size=(samples, structure.inputs))
    own = rng.normal(size=(samples, len(structure.noise))) * np.sqrt(structure.noise)
    totals = structure.totals
    first, last = structure.inputs, structure.first_output
    return x, x @ totals[:first, last:] + own @ totals[first:, last:]


def make_sample(x, y, observed=None):
    x = x - x.mean(axis=0)
    if observed is None:
        y = y - y.mean(axis=0)
    return Sample(x, y, observed, 0, tuple((i,) for i in range(x.shape[1])))


def make_effects(x, y, test=None):
    sample = make_sample(x, y)
    moments = estimate_moments(sample)
    return Effects(moments.z, sample, moments, "regression", test)


def find_exact_moments(structure, samples=5000):
    """What endless data of a structure with independent inputs of variance 1 would give."""
    first, last = structure.inputs, structure.first_output
    totals = structure.totals
    effects, below = totals[:first, last:], totals[first:, last:]
    residual = (below.T * structure.noise) @ below
    spread = np.sqrt(np.diag(effects.T @ effects + residual))
    return Moments(
        float(samples), np.eye(first), effects / spread, residual / np.outer(spread, spread)
    )


def describe(structure, inputs, outputs):
    """The edges of a structure with its latents called by the outputs they reach."""
    below = structure.reach[:, structure.first_output :]
    latents = ["".join(sorted(np.array(outputs)[below[n]])) for n in structure.latent_nodes]
    nodes = [*inputs, *latents, *outputs]
    return sorted((nodes[u], nodes[v]) for u, v in np.argwhere(structure.edges))


def describe_named(graph):
    """The same of a graph of named nodes."""
    role = nx.get_node_attributes(graph, "role")

    def call(node):
        if role[node] != "latent":
            return node
        return "".join(sorted(n for n in nx.descendants(graph, node) if role[n] == "output"))

    return sorted((call(u), call(v)) for u, v in graph.edges)
