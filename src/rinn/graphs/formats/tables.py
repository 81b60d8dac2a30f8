"""Edges as a table, as CSV, and as SIF with its table of nodes."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import pandas as pd

from rinn.files import encode_table, map_text
from rinn.graphs.attributes import (
    avoid_reserved,
    flat_values,
    name_interaction,
    spell_names,
    spell_out,
)
from rinn.graphs.basics import ROLES
from rinn.graphs.files import EDGE_NUMBERS, EXCHANGEABLE, MORE_NUMBERS, ORIGIN, SUPPORT, is_number

# SIF has no quotes: no tabs or line ends, nothing at the ends that a reader would strip, and no
# line that looks like a comment.
_NOT_SIF = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\A[\s#]|\s\Z")
_NOT_CSV = re.compile(r"[\x00\r\ud800-\udfff]")


def edges_table(graph: nx.DiGraph, reported: nx.DiGraph | None = None) -> pd.DataFrame:
    """List the edges as a table, causes first and names in counting order (x2 before x10)."""
    role = dict(graph.nodes(data="role"))

    def rank(node: str) -> tuple[int, str, str]:
        counted = re.sub(r"[0-9]+", lambda digits: digits.group().zfill(12), node)
        return ROLES.index(role[node]), counted, node

    edges = sorted(graph.edges(data=True), key=lambda edge: (rank(edge[0]), rank(edge[1])))
    columns: dict[str, list[Any]] = {
        "source": [source for source, *_ in edges],
        "target": [target for _, target, _ in edges],
        "source_role": [role[source] for source, *_ in edges],
        "target_role": [role[target] for _, target, _ in edges],
    }
    numbers, texts = list[str](), (SUPPORT, EXCHANGEABLE, ORIGIN)
    for name in (*EDGE_NUMBERS, *MORE_NUMBERS, *texts):
        values = [about.get(name) for *_, about in edges]
        given = [value for value in values if value is not None]
        if name in texts:
            is_shown = any(values) and all(isinstance(value, str) for value in given)
            is_shown &= name != ORIGIN or None not in values
        else:
            is_shown = name in EDGE_NUMBERS or (bool(given) and all(map(is_number, given)))
            numbers += [name] * is_shown
        columns |= {name: values} if is_shown else {}
    if reported is not None:
        columns["reported"] = [reported.has_edge(source, target) for source, target, _ in edges]
    table = pd.DataFrame(columns, columns=list(columns))
    return table.astype(dict.fromkeys(numbers, float))


def encode_sif(graph: nx.DiGraph) -> bytes:
    """Write source, interaction (roles of both ends) and target; lone nodes have own lines."""
    names = _sif_names(graph)
    lines = [
        f"{names[source]}\t{name_interaction(graph, source, target)}\t{names[target]}"
        for source, target in graph.edges
    ]
    # Cytoscape looks for a tab in the first line, and without one takes spaces for separators.
    end = "" if lines else "\t"
    lines += [f"{names[node]}{end}" for node in graph if not graph.degree(node)]
    return "".join(f"{line}\n" for line in lines).encode()


def encode_nodes(graph: nx.DiGraph) -> bytes:
    r"""List the nodes as in SIF with all their attributes, in columns between tabs."""
    names = _sif_names(graph)
    rows = [
        {"name": names[node]} | avoid_reserved(flat_values(values), ("name",))
        for node, values in graph.nodes(data=True)
    ]
    # Names stay as in the SIF file, which Cytoscape joins them with: no guard before formulas.
    safe = map_text(pd.DataFrame(rows, dtype=object), _spell)
    return safe.to_csv(sep="\t", index=False, lineterminator="\n").encode()


def encode_csv(graph: nx.DiGraph) -> bytes:
    """List the edges as in `edges_table`, with all their attributes, in columns between commas."""
    names = spell_names(graph, _spell)
    safe: nx.DiGraph = nx.relabel_nodes(graph, names)
    table = edges_table(safe)
    columns = list(table.columns)
    ends = zip(table["source"], table["target"], strict=True)
    rows = [avoid_reserved(flat_values(safe.edges[edge]), columns[:4]) for edge in ends]
    more = dict.fromkeys(name for row in rows for name in row if name not in columns)
    extra = pd.DataFrame({name: [row.get(name) for row in rows] for name in more}, dtype=object)
    return encode_table(map_text(pd.concat([table, extra], axis=1), _spell))


def _sif_names(graph: nx.DiGraph) -> dict[str, str]:
    return spell_names(graph, lambda name: spell_out(name, _NOT_SIF) or "_")


def _spell(text: str) -> str:
    return spell_out(text, _NOT_CSV)
