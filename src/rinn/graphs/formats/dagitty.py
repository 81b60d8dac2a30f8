"""The text of DAGitty (Textor et al. 2016), which dagitty.net and the R package read."""

from __future__ import annotations

import re

import networkx as nx

from rinn.graphs.attributes import avoid_reserved, flat_values, spell_names, spell_out
from rinn.graphs.layout import layer_nodes

MARKS = {"input": "exposure", "latent": "latent", "output": "outcome"}

_BARE = re.compile(r"[0-9A-Za-z_.]+")
# Of its quoted text: no control characters, and a backslash before the quote would hide it.
_NOT_DAGITTY = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff]|\\(?="|\Z)')
_NEVER_NAMES = ("graph", "node")


def encode_dagitty(graph: nx.DiGraph) -> bytes:
    """Write a graph for DAGitty: inputs are exposures, outputs outcomes; edges keep attributes."""
    names = spell_names(
        graph, lambda n: f"{n}_" if n in _NEVER_NAMES else spell_out(n, _NOT_DAGITTY)
    )
    layers = layer_nodes(graph)
    half = layers.rows / 2
    box = f"-0.500,{-half:.3f},{len(layers.columns) - 0.5:.3f},{half:.3f}"
    lines = ["dag {", f'bb="{box}"']
    for node, values in graph.nodes(data=True):
        x, y = layers.positions[node]
        position = f"{x:.3f},{y - half:.3f}"
        lines.append(f'{_word(names[node])} [{MARKS[values["role"]]},pos="{position}"]')
    for source, target, values in graph.edges(data=True):
        pairs = avoid_reserved(flat_values(values), ("pos", "label"))
        texts = [f"{_word(name)}={_quote(str(value))}" for name, value in pairs.items()]
        about = f" [{','.join(texts)}]" if texts else ""
        lines.append(f"{_word(names[source])} -> {_word(names[target])}{about}")
    return "\n".join([*lines, "}", ""]).encode()


def _word(text: str) -> str:
    return text if _BARE.fullmatch(text) else _quote(text)


def _quote(text: str) -> str:
    return '"' + spell_out(text, _NOT_DAGITTY).replace('"', '\\"') + '"'
