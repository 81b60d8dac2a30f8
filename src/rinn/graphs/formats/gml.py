"""GML, which networkx, igraph, Gephi and Cytoscape read."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx

from rinn.graphs.attributes import avoid_reserved, flat_values, spell_names, spell_out

_NOT_GML = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_KEY = re.compile(r"[^0-9A-Za-z_]")


def encode_gml(graph: nx.DiGraph) -> bytes:
    """Write a graph as GML; values that it has no type for are JSON text."""
    names = spell_names(graph, lambda name: spell_out(name, _NOT_GML))
    plain: nx.DiGraph = nx.DiGraph(**_flatten(graph.graph, ("directed", "node", "edge", "name")))
    for node, values in graph.nodes(data=True):
        plain.add_node(names[node], **_flatten(values, ("id", "label")))
    for source, target, values in graph.edges(data=True):
        plain.add_edge(names[source], names[target], **_flatten(values, ("source", "target")))
    return ("\n".join(nx.generate_gml(plain)) + "\n").encode()


def _flatten(values: dict[str, Any], reserved: tuple[str, ...]) -> dict[str, Any]:
    """Attributes with keys and values that GML can hold."""
    flat = avoid_reserved(flat_values(values), reserved)
    keys = ((_NOT_KEY.sub("_", name), value) for name, value in flat.items())
    return {
        key if key[:1].isalpha() else f"a{key}": spell_out(value, _NOT_GML)
        if isinstance(value, str)
        else value
        for key, value in keys
    }
