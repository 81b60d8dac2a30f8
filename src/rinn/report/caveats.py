"""What the page cannot show, in plain words: assumptions, and latents that cannot be known."""

from __future__ import annotations

import networkx as nx

from rinn.causal.assumptions import SAYS
from rinn.causal.latents import LatentFinding, explain_latents
from rinn.report.contents import Contents
from rinn.report.markup import Markup, clip, element, join, paragraph, table

CAVEATS = (
    "The inputs must be causes of the outputs, and not the other way round. This is taken for "
    "granted; nothing in the tables can show it.",
    "A cause of both inputs and outputs that was not measured can make an input look as if it "
    "acted where it does not.",
    "Effects run one way only, from inputs through latents to outputs. Feedback is not looked "
    "for and would be misread.",
    "A latent is drawn where it explains with few edges what inputs do to at least two outputs. "
    "One without inputs of its own, with two parents and two or three children, saves too little "
    "to be told from chance, and may be missed.",
    "What an input does to outputs that no latent explains is not drawn. An input without an edge "
    "may still act on single outputs.",
    "Two latents that act on the same outputs cannot be told apart and appear as one.",
    "A frequency is the share of searches, with networks drawn anew and effects shaken by their "
    "sampling error, that found a latent or an edge. It says how firm the finding is, not how "
    "probable it is that it is true: all searches see the same samples. 'rinn fit --null' says how "
    "much is chance. edges.csv lists what was found too seldom to be drawn.",
)
DM_CAVEATS = (
    *CAVEATS[:3],
    "Detect MIMIC takes an input for a cause of an output wherever the two are correlated, and "
    "treats every column as continuous. It says nothing of how strong an effect is.",
    "Small changes of the data or of the two alphas can change the graph. Latents that would act "
    "on one another in a circle are shown as one.",
)
GRANTED = "taken for granted: the search looks for no other graphs"
UNSEEN = "not checked: no table can show it; you must know it of your data"
WITH_TABLES = "not checked here: 'rinn check RUN --x X --y Y' compares the graph with the tables"
STANDING = {
    "A2": GRANTED,
    "A3": UNSEEN,
    "A4": GRANTED,
    "A5": UNSEEN,
    "A6": WITH_TABLES,
    "A7": WITH_TABLES,
    "A8": "not proved: 'rinn check RUN' tries changes that might make the graph smaller",
    "A9": "not proved: compare the test error with that of other models",
    "A10": "not proved: another seed or a larger budget that finds the same graph speaks for it",
}
MOST_UNKNOWN = 40
MOST_DIRECT = 5


def say_caveats(contents: Contents) -> Markup:
    """Say what the page cannot show."""
    words = list(CAVEATS if contents.nets else DM_CAVEATS)
    if any(net.trial.net.kind == "belief" for net in contents.nets):
        words.append(
            "Deep belief networks look at the outputs alone: which inputs act on a latent, and "
            "whether any does, is not known."
        )
    return element("ul", *(element("li", one) for one in words), class_="caveats")


def say_assumptions(contents: Contents) -> Markup:
    """List the assumptions that make the graph the true one, and which latents could be known."""
    findings = explain_latents(contents.graph)
    lost = [finding for finding in findings if not finding.identifiable or finding.spare]
    own = {"A1": _say_first(findings), "A2": _say_second(contents.graph)}
    rows = [(name, says, own.get(name) or STANDING[name]) for name, says in SAYS.items()]
    intro = (
        "The graph is the true one if all ten of these hold. Most of them nobody can check from "
        "two tables."
    )
    return join(
        [
            paragraph(intro),
            table(("name", "assumes that", "here"), rows, "The ten assumptions"),
            _list_unknown(lost, len(findings)),
        ]
    )


def _say_first(findings: tuple[LatentFinding, ...]) -> str:
    lost = [finding for finding in findings if not finding.identifiable]
    if not findings:
        return "there is no latent"
    if lost:
        return f"broken: {len(lost)} of {len(findings)} latents are not identifiable (below)"
    return f"holds in this graph: all {len(findings)} latents are identifiable"


def _say_second(graph: nx.DiGraph) -> str | None:
    """Name edges past all latents, which prior knowledge alone can draw."""
    roles = graph.nodes(data="role")
    direct = [
        f"{clip(source)} → {clip(target)}"
        for source, target in graph.edges
        if roles[source] == "input" and roles[target] == "output"
    ]
    if not direct:
        return None
    more = f" and {len(direct) - MOST_DIRECT} more" if len(direct) > MOST_DIRECT else ""
    return f"broken in this graph: no latent between {', '.join(direct[:MOST_DIRECT])}{more}"


def _list_unknown(lost: list[LatentFinding], total: int) -> Markup | None:
    """Name the latents that data could not show even if the graph were true."""
    if not lost:
        return None
    items = [
        element("li", element("strong", clip(one.name)), ": " if one.spare else " ", one.reason)
        for one in lost[:MOST_UNKNOWN]
    ]
    more = len(lost) - MOST_UNKNOWN
    items += [element("li", f"and {more} more")] if more > 0 else []
    words = (
        f"Latents to be careful with ({len(lost)} of {total}): even if this graph were the truth, "
        "data alone could not settle that they exist as drawn."
    )
    return join([paragraph(words), element("ul", *items)])
