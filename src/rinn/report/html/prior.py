"""What prior knowledge the graph was read with, and what it changed."""

from __future__ import annotations

from rinn.errors import clip
from rinn.graphs.files import ORIGIN
from rinn.report.html.markup import Markup, element, join, list_names, paragraph, table
from rinn.runs.manifest import PriorSummary
from rinn.runs.read import RunContents
from rinn.structure.records import FORCED, PRIOR

MEANING = (
    "Frequencies are those of searches that all used this. In edges.csv origin says what an edge "
    "owes its place to: data (the graph without prior knowledge has it too), prior, or forced (it "
    "is there because the prior says so, and for nothing else); frequency_without is the share of "
    "bootstrap resamples that found it without prior knowledge. In the graph, edges of the last "
    "two kinds are dotted."
)
DISAGREE = (
    "The log odds that the input reaches the output are those of the data alone: above 0 they "
    "speak for it, below 0 against it. Found without: in how many bootstrap resamples, searched "
    "without the prior."
)
COLUMNS = ("input", "output", "prior says", "log odds by the data", "found without", "reported")


def say_knowledge(contents: RunContents) -> Markup:
    """Say what was known, what it did, and where the data disagree."""
    about = contents.manifest.prior
    if about is None:
        return Markup("")
    parts = [paragraph(about.sentence), paragraph(MEANING)]
    lists = {
        "Owe their place to prior knowledge: ": _list_edges(contents, PRIOR),
        "Drawn only because the prior says so: ": _list_edges(contents, FORCED),
        "Inputs that have an edge only without the prior: ": list(about.dropped_inputs),
    }
    items = [element("li", line) for line in about.account]
    items += [element("li", words, list_names(names)) for words, names in lists.items() if names]
    return join([*parts, element("ul", *items), *_say_contradictions(about)])


def _list_edges(contents: RunContents, origin: str) -> list[str]:
    return [
        f"{clip(source)} \N{RIGHTWARDS ARROW} {clip(target)}"
        for source, target, values in contents.graph.edges(data=True)
        if values.get(ORIGIN) == origin
    ]


def _say_contradictions(about: PriorSummary) -> list[Markup]:
    """List the pairs of which the data say the opposite; the manifest has the clearest."""
    rows = [
        (
            clip(one.input),
            clip(one.output),
            one.says,
            f"{one.evidence:+.1f}",
            f"{100 * one.without:.0f} %",
            "yes" if one.reported else "no",
        )
        for one in about.contradictions
    ]
    if not rows:
        return [paragraph("Nowhere do the data clearly say the opposite of the prior.")]
    parts = [element("h3", "Where data and prior disagree"), paragraph(DISAGREE)]
    parts.append(table(COLUMNS, rows, "Where data and prior disagree"))
    more = about.counts.get("contradictions", len(rows)) - len(rows)
    if more > 0:
        parts.append(paragraph(f"{more} more are less clear; prior.json lists them."))
    return parts
