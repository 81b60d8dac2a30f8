"""What prior knowledge the graph was read with, and what it changed."""

from __future__ import annotations

from rinn.report.contents import Contents
from rinn.report.markup import Markup, clip, element, join, paragraph, table

MEANING = (
    "Frequencies are those of searches that all knew this. In edges.csv origin says what an edge "
    "owes its place to: data (the graph without prior knowledge has it too), prior, or stated (it "
    "is there because the prior says so, and for nothing else); frequency_without is the share of "
    "searches without prior knowledge that found it."
)


def say_knowledge(contents: Contents) -> Markup:
    """Say what was known, what it did, and where the data disagree."""
    about = contents.manifest["prior"]
    parts = [paragraph(about.get("sentence", "")), paragraph(MEANING)]
    parts.append(element("ul", *(element("li", line) for line in about.get("account", ()))))
    stated = [
        f"{clip(source)} to {clip(target)}"
        for source, target, values in contents.graph.edges(data=True)
        if values.get("origin") == "stated"
    ]
    if stated:
        parts.append(paragraph("Drawn only because the prior says so: ", ", ".join(stated), "."))
    silenced = [clip(name) for name in about.get("silenced", ())]
    if silenced:
        words = "Inputs that have an edge only without the prior: "
        parts.append(paragraph(words, ", ".join(silenced), "."))
    rows = [
        (
            clip(one["input"]),
            clip(one["output"]),
            one["says"],
            f"{one['evidence']:+.1f}",
            f"{100 * one['without']:.0f} %",
            "yes" if one["drawn"] else "no",
        )
        for one in about.get("contradictions", ())
    ]
    if rows:
        top = ("input", "output", "prior says", "log odds by the data", "found without", "drawn")
        parts.append(table(top, rows, "Where data and prior disagree"))
    return join(parts)
