"""Attributes and names of graphs as file formats need them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import networkx as nx
import numpy as np


def to_json_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the attributes of a node or edge to what JSON can hold."""
    simple: dict[str, Any] = _simplify(dict(values))
    return simple


def flat_values(values: Mapping[str, Any]) -> dict[str, str | int | float]:
    """Convert the attributes of a node or edge to text, numbers and booleans; others to JSON."""
    return {
        name: value if isinstance(value, str | int | float) else json.dumps(value)
        for name, value in to_json_values(values).items()
    }


def spell_out(text: str, characters: re.Pattern[str]) -> str:
    r"""Write the characters that a format cannot hold as their numbers, a newline as `\u000a`."""
    return characters.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def spell_names(graph: nx.DiGraph, spell: Callable[[str], str]) -> dict[str, str]:
    """Spell every id as a format needs it, so that no two become the same."""
    names: dict[str, str] = {}
    taken = set(graph)
    for node in graph:
        name = spell(node)
        while name != node and name in taken:
            name += "_"
        taken.add(name)
        names[node] = name
    return names


def avoid_reserved(values: Mapping[str, Any], reserved: Collection[str]) -> dict[str, Any]:
    """Add an underscore to the names of attributes that a format reserves, with or without one."""
    return {
        f"{name}_" if name.rstrip("_") in reserved else name: value
        for name, value in values.items()
    }


def name_interaction(graph: nx.DiGraph, source: str, target: str) -> str:
    """Name an edge by the roles of its ends."""
    return f"{graph.nodes[source]['role']}-{graph.nodes[target]['role']}"


def _simplify(value: Any) -> Any:
    """Turn numpy values, tuples and sets into what JSON has; drop numbers that are not finite."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _simplify(item) for key, item in value.items() if not _missing(item)}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [None if _missing(item) else _simplify(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and not math.isfinite(value))
