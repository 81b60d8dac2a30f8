"""A model of a graph as padded arrays, level by level.

Room for parents grows in powers of two, so that graphs of about the same size share one program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from rinn.refit.model import HIDDEN, GraphModel, NodeFunction

ROOM = 4  # latents of a level are padded to a multiple of this


class Sources(NamedTuple):
    """Indices of the parents of one level's nodes; the last input and latent 0 are padding.

    Outputs that act on others are among the latents here.
    """

    inputs: Int[Any, "node slot"]
    latents: Int[Any, "node latent_slot"]


class LevelWeights(NamedTuple):
    """The parameters of one level, as in `NodeFunction`; parents are inputs, then latents."""

    bias: Float[Any, " node"]
    weights: Float[Any, "node parent"]
    output_weights: Float[Any, "node hidden"]
    hidden: Float[Any, "node hidden parent"]
    hidden_bias: Float[Any, "node hidden"]


PackedWeights = tuple[LevelWeights, ...]


@dataclass(frozen=True)
class Layout:
    """The nodes of each level and the indices of their parents; outputs without children are last.

    `outputs` are the indices of all outputs among the values of all levels, the padding first.
    """

    levels: tuple[tuple[str, ...], ...]
    sources: tuple[Sources, ...]
    outputs: Int[np.ndarray, " output"]


def lay_out(
    parents: Mapping[str, tuple[str, ...]], inputs: Sequence[str], outputs: Sequence[str]
) -> Layout:
    """Put all nodes into levels, below all their parents, and pad the lists of parents."""
    depth: dict[str, int] = {}
    causes = {parent for names in parents.values() for parent in names}
    ends = [name for name in outputs if name not in causes]
    last_level = set(ends)
    for name in parents:
        if name not in last_level:
            depth[name] = 1 + max((depth.get(parent, -1) for parent in parents[name]), default=-1)
    count = 1 + max(depth.values(), default=-1)
    levels = [tuple(name for name in depth if depth[name] == level) for level in range(count)]
    columns = {name: row for row, name in enumerate(inputs)}
    rows: dict[str, int] = {}
    sources, used = [], 1
    for names in levels:
        room = ROOM * -(-len(names) // ROOM)
        sources.append(_find_sources([parents[name] for name in names], room, columns, rows))
        rows |= {name: used + row for row, name in enumerate(names)}
        used += room
    last = _find_sources([parents[name] for name in ends], len(ends), columns, rows)
    rows |= {name: used + row for row, name in enumerate(ends)}
    indices = np.array([rows[name] for name in outputs], np.int32)
    return Layout((*levels, tuple(ends)), (*sources, last), indices)


def _find_sources(
    parents: Sequence[tuple[str, ...]], room: int, columns: dict[str, int], rows: dict[str, int]
) -> Sources:
    def pad(indices: dict[str, int], empty: int) -> np.ndarray:
        read = [[indices[name] for name in names if name in indices] for names in parents]
        longest = max((len(row) for row in read), default=0)
        slots = 1 << (longest - 1).bit_length() if longest else 0
        padded = np.full((room, slots), empty, np.int32)
        for row, values in enumerate(read):
            padded[row, : len(values)] = values
        return padded

    return Sources(pad(columns, len(columns)), pad(rows, 0))


def pack(layout: Layout, model: GraphModel) -> PackedWeights:
    """Write the parameters of a model into padded arrays; padding is zero."""
    packed = []
    for names, sources in zip(layout.levels, layout.sources, strict=True):
        nodes, slots = sources.inputs.shape
        parents = slots + sources.latents.shape[1]
        shapes = (), (parents,), (HIDDEN,), (HIDDEN, parents), (HIDDEN,)
        level = LevelWeights(*(np.zeros((nodes, *shape), np.float32) for shape in shapes))
        for row, name in enumerate(names):
            function = model.functions[name]
            at = _find_slots(function.parents, model.inputs, slots)
            level.bias[row] = function.bias
            level.weights[row, at] = function.weights
            level.output_weights[row] = function.output_weights
            level.hidden[row][:, at] = function.hidden
            level.hidden_bias[row] = function.hidden_bias
        packed.append(level)
    return tuple(packed)


def unpack(
    layout: Layout,
    weights: PackedWeights,
    parents: Mapping[str, tuple[str, ...]],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> GraphModel:
    """Read a model out of padded arrays."""
    functions = {}
    for names, sources, packed in zip(layout.levels, layout.sources, weights, strict=True):
        level = LevelWeights(*(np.asarray(part, np.float64) for part in packed))
        for row, name in enumerate(names):
            at = _find_slots(parents[name], inputs, sources.inputs.shape[1])
            functions[name] = NodeFunction(
                parents=parents[name],
                bias=float(level.bias[row]),
                weights=level.weights[row, at],
                output_weights=level.output_weights[row],
                hidden=level.hidden[row][:, at],
                hidden_bias=level.hidden_bias[row],
            )
    ordered = {name: functions[name] for name in parents}
    return GraphModel(tuple(inputs), tuple(outputs), ordered)


def _find_slots(parents: tuple[str, ...], inputs: Sequence[str], slots: int) -> list[int]:
    """The slots of a node's parents in its level: inputs first, then latents."""
    count = len(set(inputs) & set(parents))
    return [*range(count), *range(slots, slots + len(parents) - count)]
