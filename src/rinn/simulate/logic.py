"""Noisy logical operators: binary inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np

from rinn.config import check_choices, check_integer, check_number
from rinn.graphs.basics import Layout, lay_out
from rinn.simulate.samples import Sampled, draw_rows, draw_uniforms

OPERATORS = ("and", "or", "xor")
# Beta(90, 10) and Beta(95, 5) both add up to this.
CONCENTRATION = 100
# A table of 4,096 probabilities for a node is still cheap; one for 30 parents would not be.
TABLE_PARENTS = 12
# Rows that tell an effect of 0.05 from none, and how often gates may be drawn again.
EFFECT_ROWS = 4000
MAX_ROUNDS = 300


@dataclass(frozen=True)
class Gate:
    """How one node depends on its parents.

    `table` has the probability of a 1 for each combination of parent values (the first parent is
    the lowest bit), or for a node of many parents two: operator false and operator true.
    """

    operator: str
    parents: tuple[int, ...]
    table: np.ndarray


@dataclass(frozen=True)
class Passing:
    """The edges (parent, child) that transmit a 1 with a probability below 1."""

    edges: tuple[tuple[int, int], ...]
    chances: np.ndarray  # [edge]


def sample_or(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    prevalence: float = 0.08,
    noise: float = 0.10,
    **more: Any,
) -> Sampled:
    """As `sample_logic`, with the operator OR at every node and more noise."""
    more |= {"operators": ("or",), "min_effect": 0.0, "prevalence": prevalence, "noise": noise}
    sampled = sample_logic(rng, graph, samples, **more)
    drawn = {name: sampled.parameters[name] for name in ("prevalence", "noise")}
    return replace(sampled, parameters=drawn)


def sample_logic(
    rng: np.random.Generator,
    graph: nx.DiGraph,
    samples: int,
    *,
    prevalence: float = 0.155,
    noise: float = 0.05,
    operators: Sequence[str] = OPERATORS,
    min_effect: float = 0.05,
    correlated: float = 0.0,
    block: int | None = None,
) -> Sampled:
    """Draw rows in which each node is a noisy AND, OR or XOR of its parents.

    P(node = 1 | parents) is drawn once for each combination of parent values, from
    Beta(100 (1 - noise), 100 noise) where the operator is true and the mirrored Beta where it is
    false. A node with more than 12 parents has two such probabilities only. XOR is true for an
    odd number of ones; for one parent the three operators are the same. Where an edge has a
    `strength`, the operator sees the parent's 1 with this probability, else a 0.

    Operators are drawn for each node evenly and independently. An AND of several rare inputs, or
    an XOR with a coin, hides its causes from any finite table, against the paper's faithfulness
    assumption (A7): operators on the paths from an input to an output are therefore drawn again
    until the input changes the probability of the output by `min_effect`, at most 300 times; on
    deep graphs, where effects fade, the draw that hides the fewest pairs is taken.
    """
    prevalence = check_number("prevalence", prevalence, maximum=1)
    noise = check_number("noise", noise, maximum=0.5, below=True)
    operators = check_choices("operators", operators, OPERATORS)
    min_effect = check_number("min_effect", min_effect, maximum=1)
    correlated = check_number("correlated", correlated, maximum=1, below=True)
    check_integer("samples", samples)
    layout = lay_out(graph)
    gates = _draw_gates(rng, layout, noise, operators)
    passing = _find_passing(graph, layout)
    if min_effect > 0:
        gates = _show_inputs(rng, layout, gates, passing, prevalence, min_effect, noise, operators)
    truth = graph.copy()
    for node, gate in gates.items():
        truth.nodes[layout.nodes[node]]["operator"] = gate.operator

    def draw_block(rows: int) -> np.ndarray:
        return _draw_values(rng, layout, gates, passing, prevalence, rows, correlated)

    x, y = draw_rows(layout, samples, draw_block, (np.int8, np.int8), block)
    drawn = {
        "prevalence": prevalence,
        "noise": noise,
        "operators": operators,
        "min_effect": min_effect,
    }
    return Sampled(x, y, truth, drawn)


def evaluate(operator: str, values: np.ndarray) -> np.ndarray:
    """Apply a logical operator over the parents [parent, ...]."""
    ones = values.sum(axis=0)
    if operator == "and":
        return (ones == len(values)) & (ones > 0)
    return ones > 0 if operator == "or" else ones % 2 == 1


def _find_passing(graph: nx.DiGraph, layout: Layout) -> Passing:
    """Collect the edges that have a strength below 1."""
    index = {node: number for number, node in enumerate(layout.nodes)}
    edges = graph.edges(data="strength", default=1.0)
    weak = {(index[parent], index[child]): size for parent, child, size in edges if size < 1}
    return Passing(tuple(weak), np.array(list(weak.values()), np.float32))


def _show_inputs(
    rng: np.random.Generator,
    layout: Layout,
    gates: dict[int, Gate],
    passing: Passing,
    prevalence: float,
    min_effect: float,
    noise: float,
    operators: tuple[str, ...],
) -> dict[int, Gate]:
    """Draw gates on the paths of hidden effects again, until as many effects as possible show."""
    above = np.zeros((len(layout.nodes), len(layout.nodes)), bool)  # columns above rows
    for node, parents in enumerate(layout.parents):
        for parent in parents:
            above[node] |= above[parent]
            above[node, parent] = True
    reached = above[np.ix_(layout.outputs, layout.inputs)].T  # [input, output]
    best, fewest = gates, reached.size + 1
    for _ in range(MAX_ROUNDS):
        values = _draw_values(rng, layout, gates, passing, prevalence, EFFECT_ROWS)
        # |P(output | input = 1) - P(output | input = 0)| of each pair [input, output]
        x, y = (values[list(part)].astype(float) for part in (layout.inputs, layout.outputs))
        x -= x.mean(axis=1, keepdims=True)
        effects = np.abs(x @ y.T) / np.maximum((x * x).sum(axis=1), 1e-9)[:, None]
        weak = reached & (effects < min_effect)
        if weak.sum() < fewest:
            best, fewest = gates, weak.sum()
        if fewest == 0:
            break
        i, o = (int(part) for part in np.argwhere(weak)[rng.integers(weak.sum())])
        source, target = layout.inputs[i], layout.outputs[o]
        between = above[target] & above[:, source]
        between[target] = True
        gates = gates | _draw_gates(rng, layout, noise, operators, np.flatnonzero(between))
    return best


def _draw_values(
    rng: np.random.Generator,
    layout: Layout,
    gates: dict[int, Gate],
    passing: Passing,
    prevalence: float,
    rows: int,
    correlated: float = 0.0,
) -> np.ndarray:
    """Draw the values [node, row] of the next rows."""
    uniforms = draw_uniforms(rng, layout, rows, correlated, len(passing.edges))
    values = np.empty((len(layout.nodes), rows), np.int8)
    passed = (uniforms[:, len(layout.nodes) :] < passing.chances).T  # [edge, row]
    taken = dict(zip(passing.edges, passed, strict=True))
    for node in range(len(layout.nodes)):
        chance: np.ndarray | np.float32 = np.float32(prevalence)
        if node in gates:
            parents = gates[node].parents
            seen = [
                values[p] & taken[p, node] if (p, node) in taken else values[p] for p in parents
            ]
            chance = _chance(gates[node], np.array(seen).reshape(len(parents), rows))
        values[node] = uniforms[:, node] < chance
    return values


def _draw_gates(
    rng: np.random.Generator,
    layout: Layout,
    noise: float,
    operators: tuple[str, ...],
    nodes: Sequence[int] | np.ndarray | None = None,
) -> dict[int, Gate]:
    """Draw an operator and a table for each node that is not an input, or for those named."""
    if nodes is None:
        nodes = [node for node, role in enumerate(layout.roles) if role != "input"]
    picks = rng.integers(len(operators), size=len(nodes))
    gates = {}
    for node, pick in zip(map(int, nodes), picks, strict=True):
        operator, parents = operators[pick], layout.parents[node]
        truths = np.array([False, True])
        if len(parents) <= TABLE_PARENTS:
            codes = np.arange(2 ** len(parents))
            bits = codes >> np.arange(len(parents))[:, None] & 1  # [parent, combination]
            truths = evaluate(operator, bits)  # [combination]
        gates[node] = Gate(operator, parents, _draw_table(rng, truths, noise))
    return gates


def _draw_table(rng: np.random.Generator, truths: np.ndarray, noise: float) -> np.ndarray:
    """Draw P(node = 1) for each combination; without noise it is the operator itself."""
    if noise == 0:
        return truths.astype(np.float32)
    slips = rng.beta(CONCENTRATION * noise, CONCENTRATION * (1 - noise), len(truths))
    return np.where(truths, 1 - slips, slips).astype(np.float32)


def _chance(gate: Gate, values: np.ndarray) -> np.ndarray:
    """P(node = 1) in each row, given what the gate sees of its parents [parent, row]."""
    if len(values) > TABLE_PARENTS:
        return gate.table[evaluate(gate.operator, values).astype(np.int8)]
    codes = np.zeros(values.shape[1], np.int16)
    for bit, seen in enumerate(values):
        codes |= seen.astype(np.int16) << bit
    return gate.table[codes]
