"""How much of the graph is chance, where the search was repeated on permuted outputs."""

from __future__ import annotations

import numpy as np

from rinn.errors import count
from rinn.report.html.charts import BOTTOM, LEFT, RIGHT, TOP, draw_chart, make_axis
from rinn.report.html.markup import Markup, element, join, key, paragraph, scroll_box, table
from rinn.runs.read import RunContents
from rinn.structure.qvalues import Null

Steps = list[tuple[float, float]]
MAX_ABOVE = 1.4


def say_chance(contents: RunContents) -> Markup:
    """Set the edges that were found beside those found where there was nothing to find."""
    null = contents.null
    if null is None:
        return paragraph(
            "Not measured. ", element("code", "rinn fit … --null 5"), " searches five times more "
            "with the rows of Y permuted, so that nothing can be found, and says how many edges "
            "arise from nothing."
        )  # fmt: skip
    rows = [
        ("this graph", count(contents.graph.number_of_edges(), "edge"), _say_inputs(contents)),
        *(
            (
                f"rows of Y permuted, {place}",
                count(found.reported, "edge"),
                f"{found.connected_inputs} of {found.inputs}",
            )
            for place, found in enumerate(null.permuted, start=1)
        ),
        ("decoys among the inputs", "", f"{null.decoyed.connected_decoys} of {null.decoyed.decoys} "
                                        f"decoys, {null.decoyed.connected_inputs} of "
                                        f"{null.decoyed.inputs} real ones"),
    ]  # fmt: skip
    said = contents.manifest.null
    parts = [paragraph(said.sentence) if said else None]
    parts.append(table(("search", "edges reported", "inputs connected"), rows, "Searches"))
    known = [values.get("frequency") for _, _, values in contents.candidates.edges(data=True)]
    shares = [share for share in known if share is not None]
    if shares:
        parts.append(_draw_steps(null, shares))
    return join(parts)


def steps_info(shares: list[float], rounds: int = 1) -> Steps:
    """Count the edges found at least so often, for every frequency, falling from left to right.

    Example:
        >>> steps_info([1.0, 1.0, 0.25])
        [(0.0, 3.0), (0.25, 3.0), (0.25, 2.0), (1.0, 2.0)]
    """
    levels, counts = np.unique(np.asarray(shares, float), return_counts=True)
    left, steps = len(shares), [(0.0, len(shares) / rounds)]
    for level, number in zip(levels, counts, strict=True):
        steps.append((float(level), left / rounds))
        left -= int(number)
        if level < 1:
            steps.append((float(level), left / rounds))
    return steps if steps[-1][0] == 1 else [*steps, (1.0, left / rounds)]


def _say_inputs(contents: RunContents) -> str:
    inputs = [node for node, role in contents.graph.nodes(data="role") if role == "input"]
    return f"{sum(contents.graph.out_degree(node) > 0 for node in inputs)} of {len(inputs)}"


def _draw_steps(null: Null, shares: list[float]) -> Markup:
    own = steps_info(shares)
    chance = steps_info([s for found in null.permuted for s in found.frequencies], null.rounds)
    # What chance finds once or twice may be many times what matters: it leaves the frame.
    top = MAX_ABOVE * max(own[0][1], 1.0)
    x = make_axis(np.array([0.0, 1.0]), LEFT, RIGHT)
    y = make_axis(np.array([0.0, min(top, max(own[0][1], chance[0][1]))]), BOTTOM, TOP)
    chance = [(share, min(number, top)) for share, number in chance]
    lines = [
        element("path", class_=f"steps {kind}",
                d="M" + "L".join(f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in steps))
        for kind, steps in (("chance", chance), ("own", own))
    ]  # fmt: skip
    label = "Edges found at least so often, in this search and where there was nothing to find."
    chart = draw_chart(x, y, ("frequency", "edges found at least so often"), label, *lines)
    seen = sum(len(found.frequencies) for found in null.permuted) / null.rounds
    beside = f"rows of Y permuted, mean of {null.rounds}"
    beside += f" (at the left {seen:.0f}, beyond the frame)" if seen > top else ""
    keys = [element("span", key(kind, words)) for kind, words in
            (("own", "these tables"), ("chance", beside))]  # fmt: skip
    caption = element("figcaption", element("p", *keys, class_="legend"))
    return element("figure", scroll_box(chart, label), caption)
