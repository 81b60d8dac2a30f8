"""What the page cannot show: assumptions, and latents that are not identifiable."""

from __future__ import annotations

from rinn.errors import clip
from rinn.graphs.assumptions import check_assumptions
from rinn.graphs.theory import LatentFinding, explain_latents
from rinn.report.html.markup import Markup, element, join, paragraph, table
from rinn.runs.read import RunContents

CAVEATS = (
    "The inputs must be causes of the outputs, and not the other way round. This is assumed; "
    "nothing in the tables can show it.",
    "A cause of both inputs and outputs that was not measured can make an input "
    "seem to act where it does not.",
    "Effects run one way only, from inputs through latents to outputs. Feedback is not "
    "modelled and would be misread.",
    "A latent is drawn where it explains with fewer edges what inputs do to outputs, and what "
    "outputs have in common beyond that. One without inputs of its own, with two parents and two "
    "or three children, saves too little to be distinguished from chance, and may be missed.",
    "An edge from an input straight to an output is drawn where no latent explains its effect with "
    "fewer edges. A latent with a single child on that edge could not be seen.",
    "Two latents that act on the same outputs can be distinguished only if they do so in different "
    "proportions; otherwise they appear as one.",
    "An edge that the covariance of the outputs alone supports (the tooltip says so) may also come "
    "from a cause that was not measured, or from outputs that are not linear in their latents. "
    "'rinn fit --effects-only' leaves covariance out.",
    "The test of fit asks whether the effects that the graph does not have could be chance. A "
    "rejected graph may still be right in most of its edges: with many samples small effects are "
    "enough. A graph that is not rejected need not be the true one.",
    "A frequency is the fraction of bootstrap resamples of the rows that found a latent or edge; a "
    "latent is reported if at least half of them find it. It measures stability, not the "
    "probability that the finding is true. 'rinn fit --null' estimates how much is chance. "
    "edges.csv lists what was found too rarely to be reported.",
)
GENERAL = 3  # of these hold for every strategy
MAX_LOST = 40
MAX_DETAIL = 400


def render_caveats(contents: RunContents) -> Markup:
    """List what the page cannot show."""
    special = contents.strategy.caveats
    caveats = (*CAVEATS[:GENERAL], *special) if special else CAVEATS
    return element("ul", *(element("li", one) for one in caveats), class_="caveats")


def render_assumptions(contents: RunContents) -> Markup:
    """List the assumptions that make the graph the true one, and latents not identifiable in it."""
    findings = explain_latents(contents.graph)
    lost = [finding for finding in findings if not finding.identifiable or finding.spare]
    rows = [
        (one.name, one.says, one.status, clip(one.detail, MAX_DETAIL))
        for one in check_assumptions(contents.graph)
    ]
    intro = (
        "The graph is the true one if all ten of these hold. Most of them cannot be checked from "
        "two tables."
    )
    return join(
        [
            paragraph(intro),
            table(("name", "assumes that", "here", "why"), rows, "The ten assumptions"),
            _list_lost(lost, len(findings)),
        ]
    )


def _list_lost(lost: list[LatentFinding], total: int) -> Markup | None:
    """Name the latents that data could not identify even if the graph were true."""
    if not lost:
        return None
    items = [
        element("li", element("strong", clip(one.name)), ": " if one.spare else " ", one.reason)
        for one in lost[:MAX_LOST]
    ]
    more = len(lost) - MAX_LOST
    items += [element("li", f"and {more} more")] if more > 0 else []
    intro = (
        f"Latents to be careful with ({len(lost)} of {total}): even if this graph were the truth, "
        "data alone could not confirm that they exist as drawn."
    )
    return join([paragraph(intro), element("ul", *items)])
