"""The precision and recall of causal structure of Young, Andrews, Cooper and Lu (2020).

A node is the set of outputs it acts on; two nodes match when these differ in at most one output.
An empty set matches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from jaxtyping import Bool, Float, Int

from rinn.errors import InputError
from rinn.graphs.basics import latents_in_order, reach

PROTOCOL = (
    "paper (oracle): one threshold per table for all models, chosen with knowledge of the truth "
    "by the best mean F1"
)
FIELDS = ("precision", "recall", "f1")

_MAX_THRESHOLDS = 300
TOLERANCE = 1  # outputs in which matching vectors may differ

_MAX_PAIRS = 4_000_000  # threshold x node x node held at once: 16 MB of float32

Counts = tuple[Int[np.ndarray, " t"], Int[np.ndarray, " t"], Int[np.ndarray, " t"]]


@dataclass(frozen=True)
class Patterns:
    """The truth's vectors; `columns` and `rows` are the outputs and inputs of the maps it has."""

    hidden: Bool[np.ndarray, "pattern output"]
    input: Bool[np.ndarray, "input output"]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    columns: Int[np.ndarray, " output"]
    rows: Int[np.ndarray, " input"]
    width: int
    height: int


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 with the counts behind them."""

    precision: float
    recall: float
    f1: float
    tp: int
    fp: int
    fn: int

    @classmethod
    def from_counts(cls, tp: int, fp: int, fn: int) -> Score:
        """Compute the score from its counts; a ratio of nothing to nothing is 0."""
        precision, recall, f1 = (float(value) for value in _ratios(tp, fp, fn))
        return cls(precision, recall, f1, int(tp), int(fp), int(fn))

    def to_json(self) -> dict[str, float]:
        """Give precision, recall and F1 by name."""
        return {name: getattr(self, name) for name in FIELDS}


@dataclass(frozen=True)
class TableScores:
    """The scores of several models under one threshold, chosen with knowledge of the truth."""

    scores: tuple[Score, ...]
    threshold: float

    @property
    def mean(self) -> dict[str, float]:
        """The mean over models."""
        return {name: float(np.mean([getattr(s, name) for s in self.scores])) for name in FIELDS}

    @property
    def sd(self) -> dict[str, float]:
        """The sample standard deviation over models; 0 for one model."""
        columns = {name: [getattr(score, name) for score in self.scores] for name in FIELDS}
        ddof = 1 if len(self.scores) > 1 else 0
        return {name: float(np.std(column, ddof=ddof)) for name, column in columns.items()}

    def to_json(self) -> dict[str, object]:
        """Give the means, their spread and the oracle threshold by name."""
        return {**self.mean, "sd": self.sd, "threshold": self.threshold}


@dataclass(frozen=True)
class PaperScores:
    """Both tables of the paper's protocol, each with a threshold that the truth has chosen."""

    hidden: TableScores
    input: TableScores | None
    protocol: str = PROTOCOL

    def to_json(self) -> dict[str, object]:
        """Give both tables, the hidden table's oracle threshold and the protocol by name."""
        return {
            "hidden": self.hidden.to_json(),
            "input": None if self.input is None else self.input.to_json(),
            "threshold": self.hidden.threshold,
            "models": len(self.hidden.scores),
            "protocol": self.protocol,
        }


def truth_patterns(truth: nx.DiGraph, outputs: Sequence[str], inputs: Sequence[str]) -> Patterns:
    """Turn a true graph into the vectors that maps are scored against, over shared columns."""
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


def score_hidden(nodes: Bool[np.ndarray, "node output"], patterns: Patterns) -> Score:
    """Score hidden nodes by the paper's rule for hidden mapping.

    TP are patterns that some node matches; FP nodes that match none, near neither zero nor an
    FP counted before.
    """
    bits = _shared(nodes, patterns, "nodes", rows=None) > 0
    tp, fp, fn = count_hidden(bits[None], patterns)
    return Score.from_counts(int(tp[0]), int(fp[0]), int(fn[0]))


def score_inputs(maps: Bool[np.ndarray, "input output"], patterns: Patterns) -> Score:
    """Score inputs by the paper's rule for input mapping.

    TP are inputs within one output of their pattern, FP others that act, FN those that do not.
    """
    bits = _shared(maps, patterns, "maps", rows=patterns.rows) > 0
    tp, fp, fn = count_inputs(bits[None], patterns)
    return Score.from_counts(int(tp[0]), int(fp[0]), int(fn[0]))


def score_protocol(
    hidden_maps: Sequence[Float[np.ndarray, "_ output"]],
    input_maps: Sequence[Float[np.ndarray, "input output"]] | None,
    patterns: Patterns,
) -> PaperScores:
    """Score models by the paper's protocol, with an oracle threshold.

    A node acts on an output where |map| > threshold. Each table has one threshold for all models,
    the one with the best mean F1: it is chosen with knowledge of the truth, so the result says what
    the maps contain, not what a user gets. Of equally good thresholds the middle of their longest
    run is taken.

    Args:
        hidden_maps: for each model the maps of its hidden nodes, all layers together.
        input_maps: for each model the maps of its inputs, summed over layers; None leaves the
            input table out.
        patterns: the truth.

    Returns:
        Both tables.

    Raises:
        InputError: there is no model, or a map has another size than named or is not finite.

    Example:
        >>> import networkx as nx
        >>> truth = nx.DiGraph([("h", "y0"), ("h", "y1")])
        >>> nx.set_node_attributes(truth, dict(h="latent", y0="output", y1="output"), "role")
        >>> patterns = truth_patterns(truth, ["y0", "y1", "y2"], [])
        >>> score_protocol([np.array([[0.9, -0.8, 0.1]])], None, patterns).hidden.mean["f1"]
        1.0
    """
    hidden = [_shared(maps, patterns, "hidden_maps", rows=None) for maps in hidden_maps]
    table = _best_threshold(hidden, patterns, count_hidden, "hidden_maps")
    if input_maps is None:
        return PaperScores(table, None)
    inputs = [_shared(maps, patterns, "input_maps", rows=patterns.rows) for maps in input_maps]
    return PaperScores(table, _best_threshold(inputs, patterns, count_inputs, "input_maps"))


def _shared(
    maps: np.ndarray, patterns: Patterns, name: str, rows: Int[np.ndarray, " row"] | None
) -> Float[np.ndarray, "node output"]:
    """Take the absolute values of the rows and columns of maps that the truth has too."""
    maps = np.asarray(maps)
    height = "any" if rows is None else patterns.height
    if maps.ndim != 2 or maps.shape[1] != patterns.width or height not in ("any", len(maps)):
        raise InputError(
            f"{name} must be [{height}, {patterns.width}] as named to truth_patterns, "
            f"got {list(maps.shape)}; give maps of the same outputs and inputs"
        )
    shared = np.abs(maps[:, patterns.columns].astype(float))
    if not np.isfinite(shared).all():
        raise InputError(f"{name} must be finite, but hold NaN or infinity; leave that model out")
    return shared if rows is None else shared[rows]


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


def _best_threshold(
    models: Sequence[Float[np.ndarray, "_ output"]],
    patterns: Patterns,
    count: Callable[[Bool[np.ndarray, "t _ output"], Patterns], Counts],
    name: str,
) -> TableScores:
    """Find the threshold with the best mean F1 over the models."""
    if not models:
        raise InputError(f"{name} must hold the maps of at least one model, got none; give one")
    levels = np.union1d(np.concatenate([maps.ravel() for maps in models]), 0.0)
    thresholds = _candidates(levels)
    counts, best = _try_thresholds(thresholds, models, patterns, count)
    if len(thresholds) < len(levels) - 1:  # once more, between the neighbours of the best
        low, high = thresholds[[max(best - 3, 0), min(best + 3, len(thresholds) - 1)]]
        near = levels[(levels >= low) & (levels <= high)]
        thresholds = np.union1d(thresholds[best], _candidates(near))
        counts, best = _try_thresholds(thresholds, models, patterns, count)
    scores = tuple(Score.from_counts(*(int(n[best]) for n in table)) for table in counts)
    return TableScores(scores, float(thresholds[best]))


def _try_thresholds(
    thresholds: Float[np.ndarray, " t"],
    models: Sequence[Float[np.ndarray, "_ output"]],
    patterns: Patterns,
    count: Callable[[Bool[np.ndarray, "t _ output"], Patterns], Counts],
) -> tuple[list[Counts], int]:
    """Count at every threshold, and find the one with the best mean F1."""
    counts = [count(maps > thresholds[:, None, None], patterns) for maps in models]
    mean_f1 = np.mean([_ratios(*table)[2] for table in counts], axis=0)  # [threshold]
    return counts, _middle_of_longest_run(mean_f1 >= mean_f1.max() - 1e-12)


def _candidates(levels: Float[np.ndarray, " value"]) -> Float[np.ndarray, " t"]:
    """List thresholds: between all neighbouring levels, or by quantile and by logarithm if many."""
    if len(levels) <= 1:
        return np.zeros(1)
    if len(levels) <= _MAX_THRESHOLDS:
        return (levels[1:] + levels[:-1]) / 2
    half = _MAX_THRESHOLDS // 2
    even = np.quantile(levels, np.linspace(0, 1, half, endpoint=False))
    return np.union1d(even, np.geomspace(levels[1], levels[-1], half, endpoint=False))


def _middle_of_longest_run(good: Bool[np.ndarray, " t"]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(int), [0]])))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int((starts[longest] + ends[longest] - 1) // 2)


def _ratios(tp: Any, fp: Any, fn: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute precision, recall and F1, with 0 where a denominator is 0."""
    tp, fp, fn = (np.asarray(n, dtype=float) for n in (tp, fp, fn))
    precision = tp / np.maximum(tp + fp, 1)
    recall = tp / np.maximum(tp + fn, 1)
    f1 = 2 * tp / np.maximum(2 * tp + fp + fn, 1)
    return precision, recall, f1
