"""A network's architecture with its living edges: those that carry an input to an output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from rinn.errors import InputError
from rinn.nets.redundant import Weights

SHARE = 0.05


@dataclass(frozen=True)
class NetEdge:
    """A weight from one row of the network to the next.

    `row` is where it begins: 0 below the first hidden layer, which only inputs are in; l beside
    hidden layer l. `redundant` edges come from an input, the others from a hidden node.
    """

    row: int
    source: int
    target: int
    weight: float
    redundant: bool


@dataclass(frozen=True)
class ArchitectureInfo:
    """The living part of a network.

    An edge lives if its |weight| is above `floor` and it lies on a path of such edges from an
    input to an output. `inputs` and `hidden` say which inputs of each row, and which nodes of
    each hidden layer, have a living edge.
    """

    edges: tuple[NetEdge, ...]
    inputs: Bool[np.ndarray, "reader input"]
    hidden: Bool[np.ndarray, "layer hidden"]
    outputs: Bool[np.ndarray, " output"]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    floor: float
    weights: int

    @property
    def strongest(self) -> float:
        """The largest |weight| of a living edge; 1 where there is none."""
        return max((abs(edge.weight) for edge in self.edges), default=1.0)

    @property
    def note(self) -> str:
        """Say how much of the network lives."""
        return (
            f"{len(self.edges):,} of {self.weights:,} weights live: |w| > {self.floor:.2g}, on a "
            f"way from an input to an output. {int(self.hidden.sum())} of {self.hidden.size} "
            f"hidden nodes have such edges."
        )


def architecture_info(
    weights: Weights, inputs: Sequence[str], outputs: Sequence[str], *, share: float = SHARE
) -> ArchitectureInfo:
    """Find the edges of a network that carry an input to an output.

    Args:
        weights: of one network; every hidden layer may read the inputs (RINN) or the first alone.
        inputs: names, in order.
        outputs: names, in order.
        share: of the largest |weight|; smaller ones count as zero.

    Returns:
        The living part.

    Raises:
        InputError: the names do not fit the weights, or `share` is not between 0 and 1.

    Example:
        >>> weights = Weights(np.array([[[1.0, 0.0]]]), np.zeros((0, 1, 1)), np.array([[2.0]]),
        ...                   np.zeros((1, 1)), np.zeros(1))
        >>> len(architecture_info(weights, ["a", "b"], ["c"]).edges)
        2
    """
    into, between, out = (np.asarray(part, np.float64) for part in weights[:3])
    if into.shape[2] != len(inputs) or out.shape[0] != len(outputs):
        raise InputError(
            f"inputs and outputs must name the {into.shape[2]} inputs and {out.shape[0]} outputs "
            f"of the network, got {len(inputs)} and {len(outputs)} names"
        )
    if not 0 <= share < 1:
        raise InputError(f"share must be at least 0 and below 1, got {share}")
    floor = share * max(np.abs(part).max(initial=0.0) for part in (into, between, out))
    edges = _living_edges(into, between, out, floor)
    layers = len(weights.bias)
    read = np.zeros(into.shape[::2], bool)
    hidden = np.zeros((layers, out.shape[1]), bool)
    reached = np.zeros(len(outputs), bool)
    for edge in edges:
        if edge.redundant:
            read[edge.row, edge.source] = True
        else:
            hidden[edge.row - 1, edge.source] = True
        if edge.row == layers and not edge.redundant:
            reached[edge.target] = True
    size = into.size + between.size + out.size
    return ArchitectureInfo(
        tuple(edges), read, hidden, reached, tuple(inputs), tuple(outputs), floor, size
    )


def _living_edges(
    into: np.ndarray, between: np.ndarray, out: np.ndarray, floor: float
) -> list[NetEdge]:
    """List the edges above the floor whose source an input reaches and whose target an output."""
    steps = [*between, out]  # step l leads from hidden layer l + 1
    started, ends = _find_ways(into, steps, floor)
    edges = [
        NetEdge(row, int(source), int(target), float(w[target, source]), True)
        for row, w in enumerate(into)
        for target, source in np.argwhere(np.abs(w) > floor)
        if ends[row][target]
    ]
    edges += [
        NetEdge(row, int(source), int(target), float(w[target, source]), False)
        for row, w in enumerate(steps, 1)
        for target, source in np.argwhere(np.abs(w) > floor)
        if started[row - 1][source] and (row == len(steps) or ends[row][target])
    ]
    return edges


def _find_ways(
    into: np.ndarray, steps: Sequence[np.ndarray], floor: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each hidden layer, which nodes an input reaches and which reach an output."""
    nothing = np.zeros(into.shape[1], bool)
    started: list[np.ndarray] = []
    for layer in range(len(steps)):
        read = (np.abs(into[layer]) > floor).any(axis=1) if layer < len(into) else nothing
        if layer:
            read = read | ((np.abs(steps[layer - 1]) > floor) & started[-1]).any(axis=1)
        started.append(read)
    ends = [(np.abs(steps[-1]) > floor).any(axis=0)]
    for step in reversed(steps[:-1]):
        ends.append(((np.abs(step) > floor) & ends[-1][:, None]).any(axis=0))
    return started, ends[::-1]
