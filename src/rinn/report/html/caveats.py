"""What the page cannot show, in plain words: assumptions, and latents that cannot be known."""

from __future__ import annotations

from rinn.errors import clip
from rinn.graphs.assumptions import check_assumptions
from rinn.graphs.theory import LatentFinding, explain_latents
from rinn.report.html.markup import Markup, element, join, paragraph, table
from rinn.runs.read import RunContents

CAVEATS = (
    "The inputs must be causes of the outputs, and not the other way round. This is taken for "
    "granted; nothing in the tables can show it.",
    "A cause of both inputs and outputs that was not measured can make an input look as if it "
    "acted where it does not.",
    "Effects run one way only, from inputs through latents to outputs. Feedback is not looked "
    "for and would be misread.",
    "A latent is drawn where it explains with fewer edges what inputs do to outputs, and what "
    "outputs have in common beyond that. One without inputs of its own, with two parents and two "
    "or three children, saves too little to be told from chance, and may be missed.",
    "An edge from an input straight to an output is drawn where no latent explains its effect with "
    "fewer edges. A latent with a single child could stand on it unseen.",
    "Two latents that act on the same outputs can be told apart only if they do so in different "
    "proportions; otherwise they appear as one.",
    "An edge that the covariance of the outputs alone supports (the tooltip says so) may also come "
    "from a cause that was not measured, or from outputs that are not linear in their latents. "
    "'rinn fit --effects-only' leaves covariance out.",
    "The test of fit asks whether the effects that the graph does not have could be chance. A "
    "rejected graph may still be right in most of its edges: with many samples small effects are "
    "enough. A graph that is not rejected need not be the true one.",
    "A frequency is the share of bootstrap resamples of the rows that found a latent or an edge; "
    "a latent is drawn if at least half of them find it. It says how firm the finding is, not how "
    "probable it is that it is true. 'rinn fit --null' says how much is chance. edges.csv lists "
    "what was found too seldom to be drawn.",
)
GENERAL = 3  # of these hold for every strategy
MAX_UNKNOWN = 40
MAX_DETAIL = 400


def say_caveats(contents: RunContents) -> Markup:
    """Say what the page cannot show."""
    own = contents.strategy.caveats
    caveats = (*CAVEATS[:GENERAL], *own) if own else CAVEATS
    return element("ul", *(element("li", one) for one in caveats), class_="caveats")


def say_assumptions(contents: RunContents) -> Markup:
    """List the assumptions that make the graph the true one, and which latents could be known."""
    findings = explain_latents(contents.graph)
    lost = [finding for finding in findings if not finding.identifiable or finding.spare]
    rows = [
        (one.name, one.says, one.status, clip(one.detail, MAX_DETAIL))
        for one in check_assumptions(contents.graph)
    ]
    intro = (
        "The graph is the true one if all ten of these hold. Most of them nobody can check from "
        "two tables."
    )
    return join(
        [
            paragraph(intro),
            table(("name", "assumes that", "here", "why"), rows, "The ten assumptions"),
            _list_unknown(lost, len(findings)),
        ]
    )


def _list_unknown(lost: list[LatentFinding], total: int) -> Markup | None:
    """Name the latents that data could not show even if the graph were true."""
    if not lost:
        return None
    items = [
        element("li", element("strong", clip(one.name)), ": " if one.spare else " ", one.reason)
        for one in lost[:MAX_UNKNOWN]
    ]
    more = len(lost) - MAX_UNKNOWN
    items += [element("li", f"and {more} more")] if more > 0 else []
    words = (
        f"Latents to be careful with ({len(lost)} of {total}): even if this graph were the truth, "
        "data alone could not settle that they exist as drawn."
    )
    return join([paragraph(words), element("ul", *items)])
