"""How much of the graph is chance, where the search was repeated on permuted outputs."""

from __future__ import annotations

import numpy as np

from rinn.errors import count
from rinn.graphs.basics import by_role
from rinn.report.html.charts import BOTTOM, LEFT, RIGHT, TOP, draw_chart, make_axis
from rinn.report.html.markup import Markup, element, join, key, paragraph, scroll_box, table
from rinn.runs.read import RunContents
from rinn.structure.qvalues import Null

Steps = list[tuple[float, float]]
MAX_ABOVE = 1.4


def render_null(contents: RunContents) -> Markup:
    """Compare the edges found with those found in permuted data."""
    null = contents.null
    if null is None:
        return paragraph(
            "Not measured. ", element("code", "rinn fit … --null 5"), " repeats the search five "
            "times with the rows of Y permuted, so that there is nothing to find, and counts the "
            "edges that arise by chance."
        )  # fmt: skip
    inputs = by_role(contents.graph, "input")
    rows = [
        ("this graph", count(contents.graph.number_of_edges(), "edge"),
         f"{sum(contents.graph.out_degree(node) > 0 for node in inputs)} of {len(inputs)}"),
        *((f"rows of Y permuted, {number}", count(one.reported, "edge"),
           f"{one.connected_inputs} of {one.inputs}")
          for number, one in enumerate(null.permuted, start=1)),
        ("decoys among the inputs", "", f"{null.decoyed.connected_decoys} of {null.decoyed.decoys} "
                                        f"decoys, {null.decoyed.connected_inputs} of "
                                        f"{null.decoyed.inputs} real ones"),
    ]  # fmt: skip
    summary = contents.manifest.null
    listed = table(("search", "edges reported", "inputs connected"), rows, "Searches")
    parts = [paragraph(summary.sentence) if summary else None, listed]
    edges = contents.candidates.edges(data=True)
    frequencies = [about["frequency"] for *_, about in edges if "frequency" in about]
    if frequencies:
        parts.append(_draw_steps(null, frequencies))
    return join(parts)


def steps_info(frequencies: list[float], rounds: int = 1) -> Steps:
    """Count the edges with at least each frequency, falling from left to right."""
    levels, counts = np.unique(np.asarray(frequencies, float), return_counts=True)
    left, steps = len(frequencies), [(0.0, len(frequencies) / rounds)]
    for level, number in zip(levels, counts, strict=True):
        steps.append((float(level), left / rounds))
        left -= int(number)
        if level < 1:
            steps.append((float(level), left / rounds))
    return steps if steps[-1][0] == 1 else [*steps, (1.0, left / rounds)]


def _draw_steps(null: Null, frequencies: list[float]) -> Markup:
    real = steps_info(frequencies)
    chance = steps_info([f for one in null.permuted for f in one.frequencies], null.rounds)
    # At low frequencies chance may find many times as many edges: that part is cut off.
    top = MAX_ABOVE * max(real[0][1], 1.0)
    x = make_axis(np.array([0.0, 1.0]), LEFT, RIGHT)
    y = make_axis(np.array([0.0, min(top, max(real[0][1], chance[0][1]))]), BOTTOM, TOP)
    chance = [(frequency, min(number, top)) for frequency, number in chance]
    lines = [
        element("path", class_=f"steps {kind}",
                d="M" + "L".join(f"{x.position(a):.1f} {y.position(b):.1f}" for a, b in steps))
        for kind, steps in (("chance", chance), ("real", real))
    ]  # fmt: skip
    label = "Edges with at least a frequency, in this search and in permuted data."
    chart = draw_chart(x, y, ("frequency", "edges with at least this frequency"), label, *lines)
    mean = sum(len(one.frequencies) for one in null.permuted) / null.rounds
    permuted = f"rows of Y permuted, mean of {null.rounds}"
    permuted += f" (at the left {mean:.0f}, beyond the frame)" if mean > top else ""
    keys = [element("span", key(kind, meaning)) for kind, meaning in
            (("real", "these tables"), ("chance", permuted))]  # fmt: skip
    caption = element("figcaption", element("p", *keys, class_="legend"))
    return element("figure", scroll_box(chart, label), caption)
