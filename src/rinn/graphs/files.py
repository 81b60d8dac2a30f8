"""Graphs to and from files: node-link JSON, GraphML, and a table of edges."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx
import numpy as np

from rinn.errors import InputError, clip, find_repeated, quote
from rinn.files import read_file, replace_file
from rinn.graphs.attributes import flat_values, spell_names, spell_out, to_json_values
from rinn.graphs.basics import check_acyclic, check_graph

EDGE_NUMBERS = ("weight", "frequency")
MORE_NUMBERS = ("q", "frequency_without", "weight_spread", "loss_without", "loss_error")
FRACTIONS = ("frequency", "frequency_without", "q")  # numbers from 0 to 1
EXCHANGEABLE = "exchangeable"  # another edge that the data cannot distinguish from this one
SUPPORT = "support"  # what supports an edge: effects, covariance, both or neither
ORIGIN = "origin"  # why an edge is there, where there was prior knowledge

# Larger files are refused before they fill the memory; no run writes one.
MAX_BYTES = 1 << 28
MAX_EDGES = 1_000_000
MAX_DEPTH = 50  # of lists and objects within each other

# Attributes of a graph that networkx adds to what it reads, and expects in what it writes.
_ADDED_BY_READER = ("node_default", "edge_default")

# XML 1.0 cannot hold these at all; a carriage return it would silently turn into a newline.
_NOT_XML = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def write_graph(graph: nx.DiGraph, path: str | os.PathLike[str]) -> None:
    r"""Write a graph as .json (networkx node-link) or .graphml; the suffix decides.

    The file appears whole or not at all. Numbers that are not finite are left out. In GraphML,
    attributes other than text, numbers and truth values become JSON text, and characters that
    XML cannot hold (control characters other than tab and newline) are spelled out, so that a
    bell becomes the six characters `\u0007`. JSON keeps every name as it is.

    Args:
        graph: the graph; it is not changed.
        path: the file, replaced if it exists.

    Raises:
        InputError: the graph is not a causal graph (see `check_graph`), the suffix is unknown, or
            the folder does not exist.

    Example:
        >>> import tempfile
        >>> graph = nx.DiGraph()
        >>> graph.add_node("x0", role="input")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_graph(graph, f"{folder}/graph.json")
        ...     list(load_graph(f"{folder}/graph.json"))
        ['x0']
    """
    path = Path(path)
    encode = _by_suffix(path, {".json": encode_json, ".graphml": encode_graphml})
    check_graph(graph)
    replace_file(path, encode(graph))


def load_graph(path: str | os.PathLike[str]) -> nx.DiGraph:
    """Read a graph from .json (node-link, edges under `edges` or `links`) or .graphml.

    Args:
        path: the file.

    Returns:
        A checked graph (see `check_graph`), ids as text. Numbers that are missing (null or NaN)
        are left out.

    Raises:
        InputError: the file is missing, unreadable or too large, or does not hold such a graph.

    Example:
        >>> load_graph("truth.txt")
        Traceback (most recent call last):
        rinn.errors.InputError: graph file truth.txt must end in .json or .graphml; rename it, or \
name another file
    """
    return _load(path, check_graph)


def load_acyclic(path: str | os.PathLike[str]) -> nx.DiGraph:
    """Read a graph as `load_graph` does, where inputs may have parents and outputs children."""
    return _load(path, check_acyclic)


def _load(path: str | os.PathLike[str], check: Callable[[nx.DiGraph], None]) -> nx.DiGraph:
    path = Path(path)
    decode = _by_suffix(path, {".json": _from_json, ".graphml": _from_graphml})
    content = read_file(path, f"graph file {path}")
    if len(content) > MAX_BYTES:
        raise InputError(
            f"graph file {path} must have at most {MAX_BYTES >> 20} MiB, but it has more; leave "
            "out edges or attributes"
        )
    try:
        graph: nx.DiGraph = decode(content)
        for node, values in graph.nodes(data=True):
            _check_values(values, "node", node)
        for source, target, values in graph.edges(data=True):
            _check_values(values, "edge", source, target)
        check(graph)
    except InputError as error:
        raise InputError(f"graph file {path}: {error}") from error
    return graph


def is_number(value: object) -> bool:
    """Whether a value is a number, and no truth value."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def encode_json(graph: nx.DiGraph) -> bytes:
    """Write a graph as node-link JSON; see `write_graph`."""
    data = nx.node_link_data(graph, edges="edges")
    return (json.dumps(to_json_values(data), indent=1) + "\n").encode()


def encode_graphml(graph: nx.DiGraph) -> bytes:
    """Write a graph as GraphML; see `write_graph`."""
    names = spell_names(graph, _xml_text)
    safe: nx.DiGraph = nx.DiGraph()
    safe.graph.update(_without(_xml_values(graph.graph), *_ADDED_BY_READER))
    safe.add_nodes_from((names[node], _xml_values(about)) for node, about in graph.nodes(data=True))
    edges = graph.edges(data=True)
    safe.add_edges_from((names[a], names[b], _xml_values(about)) for a, b, about in edges)
    file = BytesIO()
    nx.write_graphml_xml(safe, file)
    return file.getvalue()


def _by_suffix(path: Path, codecs: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    if path.suffix.lower() not in codecs:
        raise InputError(
            f"graph file {path} must end in {' or '.join(codecs)}; rename it, or name another file"
        )
    return codecs[path.suffix.lower()]


def _xml_text(text: str) -> str:
    return spell_out(text, _NOT_XML)


def _xml_values(values: dict[str, Any]) -> dict[str, Any]:
    return {
        _xml_text(name): _xml_text(value) if isinstance(value, str) else value
        for name, value in flat_values(values).items()
    }


def _from_json(content: bytes) -> nx.DiGraph:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"must hold JSON, but cannot be parsed ({clip(str(error), 120)}); write the file again"
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list) or not data["nodes"]:
        raise InputError(
            "must be a JSON object with a non-empty list under 'nodes', but has none; write it as "
            "networkx.node_link_data does"
        )
    edges = data.get("edges", data.get("links"))
    if not isinstance(edges, list):
        raise InputError(
            "must be a JSON object with a list under 'edges', but has none; add an empty list if "
            "there is no edge"
        )
    if data.get("directed") is False:
        raise InputError(
            "must be a directed graph, but says 'directed': false; make each edge lead from cause "
            "to effect and write true"
        )
    _check_depth(data)
    nodes = [(_name(entry, "id", "node"), entry) for entry in data["nodes"]]
    ends = [(_name(e, "source", "edge"), _name(e, "target", "edge")) for e in edges]
    _check_ends([node for node, _ in nodes], ends)
    graph: nx.DiGraph = nx.DiGraph()
    graph.graph.update(data["graph"] if isinstance(data.get("graph"), dict) else {})
    graph.add_nodes_from((node, _without(entry, "id")) for node, entry in nodes)
    pairs = zip(ends, edges, strict=True)
    graph.add_edges_from((*two, _without(entry, "source", "target")) for two, entry in pairs)
    return graph


def _check_depth(data: Any) -> None:
    """Refuse lists nested so deeply that recursion over them would fail."""
    level = [data]
    for _ in range(MAX_DEPTH):
        within = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in within for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise InputError(
        f"must hold lists and objects nested at most {MAX_DEPTH} deep, but they are deeper;"
        " leave out what is not part of the graph"
    )


def _without(entry: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: item for key, item in entry.items() if key not in keys}


def _name(entry: Any, key: str, kind: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(
            f"every {kind} must have a text {key!r}, got {quote(str(entry))}; write one"
        )
    return str(value)


def _check_ends(nodes: list[str], edges: Sequence[tuple[str, str]]) -> None:
    listed = set(nodes)
    if len(listed) < len(nodes):
        twice = quote(find_repeated(nodes)[0])
        raise InputError(
            f"every node must be listed once, but {twice} is listed again; remove or rename one"
        )
    if len(edges) > MAX_EDGES:
        raise InputError(
            f"must have at most {MAX_EDGES:,} edges, but has {len(edges):,}; leave out weak edges"
        )
    for edge in edges:
        for node in edge:
            if node not in listed:
                raise InputError(
                    f"the edge {_join(edge)} names the unknown node {quote(node)}; "
                    "add it to the nodes or remove the edge"
                )
    if len(set(edges)) < len(edges):
        twice = _join(next(edge for edge, count in Counter(edges).items() if count > 1))
        raise InputError(
            f"every edge must be listed once, but {twice} is listed again; remove one of the two"
        )


def _join(names: Sequence[str]) -> str:
    return " -> ".join(map(quote, names))


def _check_values(values: dict[str, Any], *owner: str) -> None:
    for name in (name for name in (*EDGE_NUMBERS, *MORE_NUMBERS) if name in values):
        value = values[name]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            del values[name]
            continue
        number = _read_number(value)
        if number is None or (name in FRACTIONS and not 0 <= number <= 1):
            must = "a number from 0 to 1" if name in FRACTIONS else "a finite number"
            raise _reject_value(owner, must, name, value)
        values[name] = number
    if "merged" in values:
        names = _unpack(values["merged"])
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise _reject_value(owner, "a list of names", "merged", values["merged"])
        values["merged"] = names
    if "effects" in values:
        effects = _unpack(values["effects"])
        about = effects.items() if isinstance(effects, dict) else [("", None)]
        numbers = {output: _read_number(effect) for output, effect in about}
        if None in numbers.values():
            raise _reject_value(owner, "a number for each output", "effects", values["effects"])
        values["effects"] = numbers


def _read_number(value: Any) -> float | None:
    """A finite number as float; None for anything else."""
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _unpack(value: Any) -> Any:
    """A list or object that GraphML holds as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _reject_value(owner: Sequence[str], must: str, name: str, value: Any) -> InputError:
    kind, *names = owner
    return InputError(
        f"the {kind} {_join(names)} must have {must} as {name}, got {quote(str(value))}; "
        "correct it or leave it out"
    )


def _from_graphml(content: bytes) -> nx.DiGraph:
    nodes = _check_xml(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what it takes for text, and ports
            graph = nx.read_graphml(BytesIO(content))
    except (
        nx.NetworkXError, ValueError, KeyError, TypeError, AttributeError, RecursionError,
    ) as error:  # fmt: skip
        reason = clip(str(error), 120)
        raise InputError(
            f"must hold GraphML, but cannot be parsed ({reason}); write the file again"
        ) from error
    if not isinstance(graph, nx.DiGraph):
        raise InputError(
            "must be a directed graph, but says edgedefault='undirected'; make each edge lead from "
            "cause to effect and write 'directed'"
        )
    if len(graph) != nodes:
        raise InputError(
            "must hold one graph, but has nodes in another graph too; remove the other graph"
        )
    for name in _ADDED_BY_READER:
        graph.graph.pop(name, None)
    return graph


def _check_xml(content: bytes) -> int:
    """Refuse entity definitions and edges between unlisted nodes before the XML is read."""
    nodes: list[str] = []
    ends: list[tuple[str, str]] = []

    def refuse(*_: object) -> None:
        raise InputError("must have no DOCTYPE, because it can define entities; remove that line")

    def start(tag: str, values: dict[str, str]) -> None:
        if tag.endswith("}node") or tag == "node":
            nodes.append(_name(values, "id", "node"))
        elif tag.endswith("}edge") or tag == "edge":
            ends.append((_name(values, "source", "edge"), _name(values, "target", "edge")))

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    try:
        parser.Parse(content, True)
    except InputError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InputError(
            f"must hold GraphML, but is not XML ({clip(str(error), 120)}); write the file again"
        ) from error
    if not nodes:
        raise InputError("must hold GraphML with at least one node, but has none; add the nodes")
    _check_ends(nodes, ends)
    return len(nodes)
