"""SIF with its table of nodes, and the edges as CSV."""

from __future__ import annotations

import re

import networkx as nx
import pandas as pd

from rinn.files import encode_table
from rinn.graphs.attributes import (
    avoid_reserved,
    flat_values,
    name_interaction,
    spell_names,
    spell_out,
)
from rinn.graphs.files import edges_table

# SIF has no quotes: no tabs or line ends, nothing at the ends that a reader would strip, and no
# line that looks like a comment.
_NOT_SIF = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\A[\s#]|\s\Z")
_NOT_CSV = re.compile(r"[\x00\r\ud800-\udfff]")


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
    safe = _spell_cells(pd.DataFrame(rows, dtype=object))
    return safe.to_csv(sep="\t", index=False, lineterminator="\n").encode()


def encode_csv(graph: nx.DiGraph) -> bytes:
    """List the edges as in `edges_table`, with all their attributes, in columns between commas."""
    names = spell_names(graph, lambda name: spell_out(name, _NOT_CSV))
    safe: nx.DiGraph = nx.relabel_nodes(graph, names)
    table = edges_table(safe)
    columns = list(table.columns)
    ends = zip(table["source"], table["target"], strict=True)
    rows = [avoid_reserved(flat_values(safe.edges[edge]), columns[:4]) for edge in ends]
    more = dict.fromkeys(name for row in rows for name in row if name not in columns)
    extra = pd.DataFrame({name: [row.get(name) for row in rows] for name in more}, dtype=object)
    return encode_table(_spell_cells(pd.concat([table, extra], axis=1)))


def _sif_names(graph: nx.DiGraph) -> dict[str, str]:
    return spell_names(graph, lambda name: spell_out(name, _NOT_SIF) or "_")


def _spell_cells(table: pd.DataFrame) -> pd.DataFrame:
    def spell(value: object) -> object:
        return spell_out(value, _NOT_CSV) if isinstance(value, str) else value

    return table.map(spell).rename(columns=spell)
