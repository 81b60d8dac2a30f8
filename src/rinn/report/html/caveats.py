"""What the page cannot show: assumptions, and latents that are not identifiable."""

from __future__ import annotations

from rinn.errors import clip
from rinn.graphs.assumptions import check_assumptions
from rinn.graphs.theory import LatentFinding, explain_latents
from rinn.report.html.document import read_resource
from rinn.report.html.markup import Markup, element, join, paragraph, table
from rinn.runs.read import RunContents

CAVEATS = tuple(read_resource("rinn.report.html", "caveats.txt").splitlines())
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
    listed = table(("name", "assumes that", "here", "why"), rows, "The ten assumptions")
    intro = (
        "The graph is the true one if all ten of these hold. Most of them cannot be checked from "
        "two tables."
    )
    return join([paragraph(intro), listed, _list_lost(lost, len(findings))])


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
