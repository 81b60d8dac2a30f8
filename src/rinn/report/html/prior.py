"""The prior knowledge that the graph was learned with, and what it changed."""

from __future__ import annotations

from rinn.errors import clip
from rinn.graphs.files import ORIGIN
from rinn.report.html.markup import Markup, element, join, list_names, paragraph, table
from rinn.runs.manifest import PriorSummary
from rinn.runs.read import RunContents
from rinn.structure.records import FORCED, PRIOR

MEANING = (
    "Frequencies are those of searches that all used this prior. In edges.csv, origin says why an "
    "edge is there: data (the graph without the prior has it too), prior, or forced (only because "
    "the prior says so); frequency_without is the fraction of bootstrap resamples that found it "
    "without the prior. In the graph, edges of the last two kinds are dotted."
)
DISAGREE = (
    "Log odds from the data alone that the input reaches the output: above 0 the data support it, "
    "below 0 they oppose it. Found without: in how many bootstrap resamples, searched "
    "without the prior."
)
COLUMNS = ("input", "output", "prior says", "log odds by the data", "found without", "reported")


def render_prior(contents: RunContents) -> Markup:
    """Describe the prior, what it changed, and where the data disagree."""
    about = contents.manifest.prior
    if about is None:
        return Markup("")
    parts = [paragraph(about.sentence), paragraph(MEANING)]
    lists = {
        "There because of the prior: ": _list_edges(contents, PRIOR),
        "There only because the prior says so: ": _list_edges(contents, FORCED),
        "Inputs that have an edge only without the prior: ": list(about.dropped_inputs),
    }
    items = [element("li", line) for line in about.notes]
    items += [element("li", head, list_names(names)) for head, names in lists.items() if names]
    return join([*parts, element("ul", *items), *_list_contradictions(about)])


def _list_edges(contents: RunContents, origin: str) -> list[str]:
    return [
        f"{clip(source)} \N{RIGHTWARDS ARROW} {clip(target)}"
        for source, target, values in contents.graph.edges(data=True)
        if values.get(ORIGIN) == origin
    ]


def _list_contradictions(about: PriorSummary) -> list[Markup]:
    """List the pairs where the data contradict the prior; the manifest has the clearest."""
    rows = [
        (clip(one.input), clip(one.output), one.says, f"{one.evidence:+.1f}",
         f"{100 * one.without:.0f}%", "yes" if one.reported else "no")
        for one in about.contradictions
    ]  # fmt: skip
    if not rows:
        return [paragraph("Nowhere do the data clearly contradict the prior.")]
    parts = [element("h3", "Where data and prior disagree"), paragraph(DISAGREE)]
    parts.append(table(COLUMNS, rows, "Where data and prior disagree"))
    more = about.counts.get("contradictions", len(rows)) - len(rows)
    if more > 0:
        parts.append(paragraph(f"{more} more are less clear; prior.json lists them."))
    return parts
