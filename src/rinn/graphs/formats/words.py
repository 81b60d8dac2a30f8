"""Formats whose names are plain words: models for lavaan and semopy, and graphs for Tetrad.

A table beside the file lists what each word stands for.
"""

from __future__ import annotations

import re

import networkx as nx
import pandas as pd

from rinn.graphs.attributes import spell_names, spell_out
from rinn.graphs.basics import by_role, latents_in_order

# Words that R does not take for names.
_RESERVED = (
    *("if", "else", "repeat", "while", "function", "for", "in", "next", "break", "TRUE", "FALSE"),
    *("NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_"),
)
_NOT_WORD = re.compile(r"[^0-9A-Za-z_]")
_NOT_TETRAD = re.compile(r"[\s,;()\[\]\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_TABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def encode_lavaan(graph: nx.DiGraph) -> bytes:
    """Write a graph as a structural equation model.

    Measurement part (`=~`): each latent by the outputs that it acts on; by the latents it acts on
    where it acts on no output. Structural part (`~`): each remaining edge as a regression of its
    target, also those from inputs to outputs and between outputs. A latent that acts on no output,
    not even through others, cannot be measured, and is left out with its edges.
    """
    names, role = _name_words(graph), dict(graph.nodes(data="role"))
    lines = ["# Latent variable model, for lavaan (R) and semopy (Python)."]
    measured: dict[str, list[str]] = {}
    for latent in reversed(latents_in_order(graph)):
        children = list(graph.successors(latent))
        outputs = [child for child in children if role[child] == "output"]
        measured[latent] = outputs or [child for child in children if measured[child]]
    kept = [latent for latent in reversed(measured) if measured[latent]]
    left_out = sorted(names[latent] for latent in measured if not measured[latent])
    lines += [f"# {name} acts on no output and is left out." for name in left_out]
    lines += ["", "# Measurement part"] if kept else []
    lines += [_write_line(names, latent, "=~", measured[latent]) for latent in kept]
    structural = []
    for node in (*kept, *by_role(graph, "output")):
        parents = [one for one in graph.predecessors(node) if node not in measured.get(one, ())]
        structural += [_write_line(names, node, "~", parents)] if parents else []
    lines += ["", "# Structural part", *structural] if structural else []
    return "\n".join([*lines, ""]).encode()


def encode_words(graph: nx.DiGraph) -> bytes:
    """List the variables of the model: its word, the name in the tables, and the role."""
    return _tabulate(graph, _name_words(graph))


def encode_tetrad(graph: nx.DiGraph) -> bytes:
    """Write a graph as Tetrad's text; a latent is in parentheses."""
    names = _name_tetrad(graph)
    latents = set(by_role(graph, "latent"))
    nodes = [f"({names[node]})" if node in latents else names[node] for node in graph]
    edges = [
        f"{number}. {names[source]} --> {names[target]}"
        for number, (source, target) in enumerate(graph.edges, start=1)
    ]
    return "\n".join(["Graph Nodes:", ";".join(nodes), "", "Graph Edges:", *edges, ""]).encode()


def encode_tetrad_names(graph: nx.DiGraph) -> bytes:
    """List the nodes of Tetrad's text with their names in the tables, and the roles."""
    return _tabulate(graph, _name_tetrad(graph))


def _name_words(graph: nx.DiGraph) -> dict[str, str]:
    def spell(name: str) -> str:
        word = _NOT_WORD.sub("_", name)
        if not word[:1].isalpha():
            word = f"v{word}"
        return f"{word}_" if word in _RESERVED else word

    return spell_names(graph, spell)


def _name_tetrad(graph: nx.DiGraph) -> dict[str, str]:
    return spell_names(graph, lambda name: _NOT_TETRAD.sub("_", name) or "_")


def _tabulate(graph: nx.DiGraph, names: dict[str, str]) -> bytes:
    shown = spell_names(graph, lambda name: spell_out(name, _NOT_TABLE))
    rows = [
        {"variable": names[node], "name": shown[node], "role": role}
        for node, role in graph.nodes(data="role")
    ]
    table = pd.DataFrame(rows, columns=["variable", "name", "role"])
    return table.to_csv(sep="\t", index=False, lineterminator="\n").encode()


def _write_line(names: dict[str, str], left: str, sign: str, right: list[str]) -> str:
    return f"{names[left]} {sign} {' + '.join(names[node] for node in right)}"
