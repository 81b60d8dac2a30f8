"""A model of a graph as padded arrays, level by level.

Every node of a level has room for as many parents as the one with the most, in powers of two:
graphs of about the same size share one compiled program, and memory follows the number of edges,
not of pairs of nodes.
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
    """Where the nodes of one level read; the last input and latent 0 are empty room.

    Outputs that act on others are among the latents here.
    """

    inputs: Int[Any, "node slot"]
    latents: Int[Any, "node place"]


class LevelWeights(NamedTuple):
    """The parameters of one level, as in `NodeFunction`; a parent is a slot, then a place."""

    bias: Float[Any, " node"]
    weights: Float[Any, "node parent"]
    curve: Float[Any, "node hidden"]
    hidden: Float[Any, "node hidden parent"]
    hidden_bias: Float[Any, "node hidden"]


Weights = tuple[LevelWeights, ...]


@dataclass(frozen=True)
class Layout:
    """Which node is where: the nodes of each level, and where they read.

    Outputs that act on no other are the last level; `outputs` are the places of all of them among
    the values of all levels, the empty room first.
    """

    levels: tuple[tuple[str, ...], ...]
    sources: tuple[Sources, ...]
    outputs: Int[np.ndarray, " output"]


def lay_out(
    parents: Mapping[str, tuple[str, ...]], inputs: Sequence[str], outputs: Sequence[str]
) -> Layout:
    """Put all nodes into levels, below all their parents, and pad what each node reads.

    Example:
        >>> layout = lay_out({"h": ("x",), "y": ("h",)}, ["x"], ["y"])
        >>> layout.levels, layout.sources[1].latents.tolist()
        ((('h',), ('y',)), [[1]])
    """
    depth: dict[str, int] = {}
    causes = {parent for own in parents.values() for parent in own}
    ends = [name for name in outputs if name not in causes]
    last_level = set(ends)
    for name in parents:
        if name not in last_level:
            depth[name] = 1 + max((depth.get(parent, -1) for parent in parents[name]), default=-1)
    count = 1 + max(depth.values(), default=-1)
    levels = [tuple(name for name in depth if depth[name] == level) for level in range(count)]
    columns = {name: row for row, name in enumerate(inputs)}
    places: dict[str, int] = {}
    found, used = [], 1
    for names in levels:
        room = ROOM * -(-len(names) // ROOM)
        found.append(_find_sources([parents[name] for name in names], room, columns, places))
        places |= {name: used + row for row, name in enumerate(names)}
        used += room
    last = _find_sources([parents[name] for name in ends], len(ends), columns, places)
    places |= {name: used + row for row, name in enumerate(ends)}
    at = np.array([places[name] for name in outputs], np.int32)
    return Layout((*levels, tuple(ends)), (*found, last), at)


def _find_sources(
    parents: Sequence[tuple[str, ...]], room: int, columns: dict[str, int], places: dict[str, int]
) -> Sources:
    def pad(known: dict[str, int], nothing: int) -> np.ndarray:
        read = [[known[name] for name in names if name in known] for names in parents]
        most = max((len(row) for row in read), default=0)
        slots = 1 << (most - 1).bit_length() if most else 0
        rows = [row + [nothing] * (slots - len(row)) for row in read]
        rows += [[nothing] * slots] * (room - len(rows))
        return np.array(rows, np.int32).reshape(room, slots)

    return Sources(pad(columns, len(columns)), pad(places, 0))


def pack(layout: Layout, model: GraphModel) -> Weights:
    """Write the parameters of a model into padded arrays; padding is zero."""
    packed = []
    for names, sources in zip(layout.levels, layout.sources, strict=True):
        nodes, slots = sources.inputs.shape
        level = _empty_level(nodes, slots + sources.latents.shape[1])
        for row, name in enumerate(names):
            function = model.functions[name]
            at = _find_slots(function.parents, model.inputs, slots)
            level.bias[row] = function.bias
            level.weights[row, at] = function.weights
            level.curve[row] = function.curve
            level.hidden[row][:, at] = function.hidden
            level.hidden_bias[row] = function.hidden_bias
        packed.append(level)
    return tuple(packed)


def unpack(
    layout: Layout,
    weights: Weights,
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
                curve=level.curve[row],
                hidden=level.hidden[row][:, at],
                hidden_bias=level.hidden_bias[row],
            )
    ordered = {name: functions[name] for name in parents}
    return GraphModel(tuple(inputs), tuple(outputs), ordered)


def _empty_level(nodes: int, parents: int) -> LevelWeights:
    shapes = (), (parents,), (HIDDEN,), (HIDDEN, parents), (HIDDEN,)
    return LevelWeights(*(np.zeros((nodes, *shape), np.float32) for shape in shapes))


def _find_slots(parents: tuple[str, ...], inputs: Sequence[str], slots: int) -> list[int]:
    """Where a node's parents are among its level's slots: inputs first, then latents."""
    known = set(inputs)
    read = sum(name in known for name in parents)
    return [*range(read), *range(slots, slots + len(parents) - read)]
