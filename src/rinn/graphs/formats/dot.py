"""DOT, the language of Graphviz."""

from __future__ import annotations

import re

import networkx as nx

from rinn.graphs.attributes import avoid_reserved, flat_values, spell_names, spell_out
from rinn.graphs.basics import by_role

SHAPES = {
    "input": {"shape": "box"},
    "latent": {"shape": "ellipse", "style": "dashed"},
    "output": {"shape": "box", "style": "rounded"},
}

# Graphviz would draw these. Its `weight` is not among them, since readers of DOT look for an
# edge's weight there; Graphviz takes it as a wish about lengths and never refuses it.
_DRAWN = (
    "URL area arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate "
    "dir distortion edgeURL edgehref edgetarget edgetooltip fillcolor fixedsize fontcolor fontname "
    "fontsize gradientangle group headURL head_lp headclip headhref headlabel headport headtarget "
    "headtooltip height href id image imagepos imagescale key label labelURL labelangle "
    "labeldistance labelfloat labelfontcolor labelfontname labelfontsize labelhref labeljust "
    "labelloc labeltarget labeltooltip layer len lhead lp ltail margin minlen nojustify ordering "
    "orientation penwidth peripheries pin pos rects regular root samehead samepoints sametail "
    "samplepoints shape shapefile showboxes sides skew sortv style tailURL tail_lp tailclip "
    "tailhref taillabel tailport tailtarget tailtooltip target tooltip vertices width xlabel xlp "
    "z"
)
_NOT_DOT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def encode_dot(graph: nx.DiGraph) -> bytes:
    """Write a graph as DOT: latents are dashed ellipses; names and values are quoted."""
    names = spell_names(graph, lambda name: spell_out(name, _NOT_DOT))
    lines = ["digraph {", '  rankdir="LR";']
    for node, values in graph.nodes(data=True):
        look = dict(SHAPES[values["role"]])
        if "&" in names[node]:  # a label, unlike a name, is read for entities
            look["label"] = names[node].replace("&", "&amp;")
        lines.append(f"  {_quote(names[node])}{_attributes(look, values)};")
    for source, target, values in graph.edges(data=True):
        ends = f"{_quote(names[source])} -> {_quote(names[target])}"
        lines.append(f"  {ends}{_attributes({}, values)};")
    if inputs := by_role(graph, "input"):
        row = " ".join(f"{_quote(names[node])};" for node in inputs)
        lines.append(f'  {{ rank="source"; {row} }}')
    return "\n".join([*lines, "}", ""]).encode()


def _attributes(look: dict[str, str], values: dict[str, object]) -> str:
    pairs = look | avoid_reserved(flat_values(values), _DRAWN.split())
    if not pairs:
        return ""
    texts = (f"{_quote(name)}={_quote(_text(value))}" for name, value in pairs.items())
    return f" [{', '.join(texts)}]"


def _text(value: str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quote(text: str) -> str:
    safe = spell_out(text, _NOT_DOT).replace("\\", "\\\\")
    return '"' + safe.replace('"', '\\"').replace("\n", "\\n") + '"'
