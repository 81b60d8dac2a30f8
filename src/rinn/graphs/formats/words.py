"""Words that a format keeps for itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import networkx as nx


def step_aside(values: Mapping[str, Any], reserved: Collection[str]) -> dict[str, Any]:
    """Rename the attributes whose names a format keeps for itself: an underscore more.

    A reserved name that already ends in underscores gets one more too, so that no two coincide.

    Example:
        >>> step_aside({"label": 1, "label_": 2, "weight": 3}, {"label"})
        {'label_': 1, 'label__': 2, 'weight': 3}
    """
    return {
        f"{name}_" if name.rstrip("_") in reserved else name: value
        for name, value in values.items()
    }


def name_interaction(graph: nx.DiGraph, source: str, target: str) -> str:
    """Name an edge by the roles of its ends.

    Example:
        >>> graph = nx.DiGraph([("x", "h")])
        >>> nx.set_node_attributes(graph, {"x": "input", "h": "latent"}, "role")
        >>> name_interaction(graph, "x", "h")
        'input-latent'
    """
    return f"{graph.nodes[source]['role']}-{graph.nodes[target]['role']}"
