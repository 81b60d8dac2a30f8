"""The formats of Cytoscape: cyjs, which Cytoscape.js shares, and CX2, which NDEx shares."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import networkx as nx

from rinn.graphs.attributes import avoid_reserved, name_interaction, spell_names, to_json_values
from rinn.graphs.layout import position_nodes

RESERVED = (
    *("id", "name", "value", "parent", "source", "target", "interaction"),
    *("represents", "alias", "SUID", "shared name", "shared_name", "selected"),
)
_BLANK = re.compile(r"[\s\ufeff]*")


def encode_cyjs(graph: nx.DiGraph) -> bytes:
    """Write a graph as Cytoscape's JSON with positions; a blank name becomes `_`."""
    ids = spell_names(graph, lambda name: "_" if _BLANK.fullmatch(name) else name)
    positions = position_nodes(graph)
    _, about_nodes = _columns([values for _, values in graph.nodes(data=True)])
    _, about_edges = _columns([values for _, _, values in graph.edges(data=True)])
    nodes, edges = [], []
    for node, about in zip(graph, about_nodes, strict=True):
        names = {"id": ids[node], "value": ids[node], "name": node}  # networkx reads the value
        position = dict(zip("xy", positions[node], strict=True))
        nodes.append({"data": about | names, "position": position})
    for (source, target), about in zip(graph.edges, about_edges, strict=True):
        ends = {"source": ids[source], "target": ids[target]}
        about |= ends | {"interaction": name_interaction(graph, source, target)}
        edges.append({"data": about})
    return _write(
        {
            "format_version": "1.0",
            "generated_by": "rinn",
            "target_cytoscapejs_version": "~3",
            "directed": True,
            "multigraph": False,
            "data": _about(graph)[1],
            "elements": {"nodes": nodes, "edges": edges},
        }
    )


def encode_cx2(graph: nx.DiGraph) -> bytes:
    """Write a graph as CX2 (Cytoscape Exchange, version 2), with positions and a style by role.

    Each attribute is a column of one type; where values differ in type, or are objects, JSON text.
    """
    number = {node: i for i, node in enumerate(graph)}
    positions = position_nodes(graph)
    node_types, about_nodes = _columns([values for _, values in graph.nodes(data=True)])
    edge_types, about_edges = _columns([values for _, _, values in graph.edges(data=True)])
    graph_types, about_graph = _about(graph)
    style = resources.files("rinn.graphs.formats").joinpath("cytoscape_style.json")
    nodes, edges = [], []
    for node, about in zip(graph, about_nodes, strict=True):
        x, y = positions[node]
        nodes.append({"id": number[node], "x": x, "y": y, "v": {"name": node} | about})
    for i, ((source, target), about) in enumerate(zip(graph.edges, about_edges, strict=True)):
        about = {"interaction": name_interaction(graph, source, target)} | about
        edges.append({"id": i, "s": number[source], "t": number[target], "v": about})
    aspects: dict[str, list[dict[str, Any]]] = {
        "attributeDeclarations": [
            {
                "networkAttributes": _declare(graph_types),
                "nodes": _declare({"name": "string"} | node_types),
                "edges": _declare({"interaction": "string"} | edge_types),
            }
        ],
        "networkAttributes": [about_graph],
        "nodes": nodes,
        "edges": edges,
        "visualProperties": [json.loads(style.read_text(encoding="utf-8"))],
    }
    counts = [{"name": name, "elementCount": len(items)} for name, items in aspects.items()]
    return _write(
        [
            {"CXVersion": "2.0", "hasFragments": False},
            {"metaData": counts},
            *({name: items} for name, items in aspects.items()),
            {"status": [{"error": "", "success": True}]},
        ]
    )


def _about(graph: nx.DiGraph) -> tuple[dict[str, str], dict[str, Any]]:
    """The columns of the graph itself; Cytoscape shows its name."""
    name = graph.graph.get("name")
    types, (values,) = _columns([{key: graph.graph[key] for key in graph.graph if key != "name"}])
    title = name if isinstance(name, str) and name else "latent graph"
    return {"name": "string"} | types, {"name": title} | values


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Find one type for each attribute, and convert its values to it."""
    simple = [avoid_reserved(to_json_values(row), RESERVED) for row in rows]
    values: dict[str, list[Any]] = {}
    for row in simple:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    types = {name: _common_type(column) for name, column in values.items()}
    return types, [{n: _cast(value, types[n]) for n, value in row.items()} for row in simple]


def _common_type(values: Sequence[Any]) -> str:
    if all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        simple = not any(isinstance(item, list | dict | None) for item in items)
        return f"list_of_{_common_type(items) if items else 'string'}" if simple else "string"
    kinds = {_type(value) for value in values}
    for widest, narrower in (("double", {"integer", "long"}), ("long", {"integer"})):
        if widest in kinds:
            kinds -= narrower
    return kinds.pop() if len(kinds) == 1 else "string"


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return "integer" if -(2**31) <= value < 2**31 else "long"
    return "double" if isinstance(value, float) else "string"


def _cast(value: Any, its_type: str) -> Any:
    if its_type.startswith("list_of_"):
        return [_cast(item, its_type.removeprefix("list_of_")) for item in value]
    if its_type == "double":
        return float(value)
    return value if its_type != "string" or isinstance(value, str) else json.dumps(value)


def _declare(types: dict[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"d": its_type} for name, its_type in types.items()}


def _write(data: Any) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()
