"""All reported edges as a table, with what is known of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rinn.errors import count
from rinn.graphs.files import SUPPORT
from rinn.report.html.latents import FREQUENCY, MAX_ROWS
from rinn.report.html.markup import Markup, element, join, list_names, paragraph, table
from rinn.runs.read import RunContents

MAX_EDGES = 3000

COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "weight": lambda edge: _write(edge.get("weight"), "{:.3g}"),
    "spread": lambda edge: _write(edge.get("weight_spread"), "{:.2g}"),
    FREQUENCY: lambda edge: _write(edge.get("frequency"), "{:.0%}"),
    "loss without it": lambda edge: _write(edge.get("loss_without"), "{:.2g}"),
    "q-value": lambda edge: _write(edge.get("q"), "{:.2g}"),
    "support": lambda edge: str(edge.get(SUPPORT) or ""),
}


def render_edges(contents: RunContents) -> Markup:
    """List the reported edges; columns of which nothing is known are left out."""
    edges = list(contents.graph.edges(data=True))
    if not edges:
        return paragraph("There is no edge to list.")
    measured = contents.candidates.edges if contents.is_measured else {}
    rows = [
        (list_names([source]), list_names([target]),
         *(write(dict(measured.get((source, target), {}))) for write in COLUMNS.values()))
        for source, target, _ in edges[:MAX_EDGES]
    ]  # fmt: skip
    known = [i for i in range(2 + len(COLUMNS)) if i < 2 or any(row[i] for row in rows)]
    heads = ("from", "to", *COLUMNS)
    listed = table([heads[i] for i in known], [[row[i] for i in known] for row in rows],
                   f"List of {count(len(rows), 'edge')}")  # fmt: skip
    parts = [element("div", listed, class_="long" if len(rows) > MAX_ROWS else None)]
    if len(edges) > MAX_EDGES:
        parts.append(paragraph(f"The other {len(edges) - MAX_EDGES} are in edges.csv."))
    if contents.is_measured:
        parts.append(paragraph(
            "Weight: the change of the target as the source goes from one standard deviation below "
            "its mean to one above, or from 0 to 1; spread: its standard deviation over refits. "
            f"Bootstrap frequency: the fraction of {contents.repeats} whose graph has the edge, "
            "a measure of stability and not the probability that it is true. Loss without it: "
            "the rise of the loss on validation samples when the edge is cut.",
            class_="note",
        ))  # fmt: skip
    return join(parts)


def _write(value: Any, form: str) -> str:
    return form.format(value) if isinstance(value, int | float) and math.isfinite(value) else ""
