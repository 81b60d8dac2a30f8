"""The truth as vectors over the outputs, and how many of them given vectors match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float, Int

from rinn.errors import InputError
from rinn.graphs.basics import latents_in_order, reach

TOLERANCE = 1  # outputs in which matching vectors may differ

_MAX_PAIRS = 4_000_000  # threshold x node x node held at once: 16 MB of float32

Counts = tuple[Int[np.ndarray, " t"], Int[np.ndarray, " t"], Int[np.ndarray, " t"]]


@dataclass(frozen=True)
class Patterns:
    """The truth's vectors over the outputs that the truth and the maps share.

    `columns` and `rows` say which columns (outputs) and rows (inputs) of the maps take part.
    """

    hidden: Bool[np.ndarray, "pattern output"]
    input: Bool[np.ndarray, "input output"]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    columns: Int[np.ndarray, " output"]
    rows: Int[np.ndarray, " input"]
    width: int
    height: int


def truth_patterns(truth: nx.DiGraph, outputs: Sequence[str], inputs: Sequence[str]) -> Patterns:
    """Turn a true graph into the vectors that maps are scored against.

    Outputs and inputs that the truth lacks are left out, and so are those of the truth that are
    not named.
    """
    role = dict(truth.nodes(data="role"))
    columns = [i for i, name in enumerate(outputs) if role.get(name) == "output"]
    rows = [i for i, name in enumerate(inputs) if role.get(name) == "input"]
    if not columns:
        raise InputError(
            "outputs must name at least one output of the truth, but none is in it; give the truth "
            "that belongs to these tables"
        )
    shared_outputs = tuple(outputs[i] for i in columns)
    shared_inputs = tuple(inputs[i] for i in rows)
    vectors = reach_vectors(truth, latents_in_order(truth), shared_outputs)
    distinct = list(dict.fromkeys(tuple(vector) for vector in vectors.tolist() if any(vector)))
    return Patterns(
        hidden=np.array(distinct, dtype=bool).reshape(-1, len(columns)),
        input=reach_vectors(truth, shared_inputs, shared_outputs),
        outputs=shared_outputs,
        inputs=shared_inputs,
        columns=np.array(columns, dtype=int),
        rows=np.array(rows, dtype=int),
        width=len(outputs),
        height=len(inputs),
    )


def reach_vectors(
    graph: nx.DiGraph, nodes: Sequence[str], outputs: Sequence[str]
) -> Bool[np.ndarray, "node output"]:
    """Write the outputs that nodes reach as rows of truth values, so that a graph can be scored."""
    reached, index = reach(graph), {output: column for column, output in enumerate(outputs)}
    vectors = np.zeros((len(nodes), len(outputs)), dtype=bool)
    for vector, node in zip(vectors, nodes, strict=True):
        vector[[index[output] for output in reached.get(node, ()) if output in index]] = True
    return vectors


def count_hidden(bits: Bool[np.ndarray, "t node output"], patterns: Patterns) -> Counts:
    """Count TP, FP, FN of hidden nodes at every threshold."""
    size = bits.sum(axis=2)  # [threshold, node]
    match = (_hamming(bits, patterns.hidden[None]) <= TOLERANCE) & (size > 0)[..., None]
    matched = match.any(axis=1)  # [threshold, pattern]
    wrong = ~match.any(axis=2) & (size > TOLERANCE)  # [threshold, node]
    step = max(1, _MAX_PAIRS // max(1, bits.shape[1] ** 2))
    parts = [slice(start, start + step) for start in range(0, len(bits), step)]
    fp = np.concatenate([_count_distinct(bits[part], wrong[part]) for part in parts])
    return matched.sum(axis=1), fp, (~matched).sum(axis=1)


def count_inputs(bits: Bool[np.ndarray, "t input output"], patterns: Patterns) -> Counts:
    """Count TP, FP, FN of inputs at every threshold."""
    active = bits.any(axis=2)  # [threshold, input]
    near = (bits != patterns.input).sum(axis=2) <= TOLERANCE
    real = patterns.input.any(axis=1)  # [input]
    tp = active & near & real
    fp = active & ~near
    fn = ~active & real
    return tp.sum(axis=1), fp.sum(axis=1), fn.sum(axis=1)


def _count_distinct(
    bits: Bool[np.ndarray, "t node output"], wrong: Bool[np.ndarray, "t node"]
) -> Int[np.ndarray, " t"]:
    """Count wrong nodes in node order, passing over those close to one counted before."""
    near = _hamming(bits, bits) <= TOLERANCE  # [threshold, node, node]
    counted = np.zeros_like(wrong)
    for node in np.flatnonzero(wrong.any(axis=0)):
        seen = (near[:, node] & counted).any(axis=1)
        counted[:, node] = wrong[:, node] & ~seen
    return counted.sum(axis=1)


def _hamming(
    left: Bool[np.ndarray, "t node output"], right: Bool[np.ndarray, "_ other output"]
) -> Float[np.ndarray, "t node other"]:
    a, b = left.astype(np.float32), right.astype(np.float32)
    return a.sum(axis=2)[:, :, None] + b.sum(axis=2)[:, None, :] - 2 * (a @ b.swapaxes(1, 2))
