"""The sections of the report below the answer, in their order."""

from __future__ import annotations

from collections.abc import Callable

from rinn.report.html.caveats import say_assumptions, say_caveats
from rinn.report.html.chance import say_chance
from rinn.report.html.latents import say_latents
from rinn.report.html.markup import Markup
from rinn.report.html.networks import say_selection, say_settings
from rinn.report.html.origin import say_data, say_downloads, say_origin
from rinn.report.html.prior import say_knowledge
from rinn.report.html.truth import say_scores
from rinn.runs.read import Contents

Section = Callable[[Contents], Markup]

# How the list at the top of the page calls a section.
SHORT = {
    "Prior knowledge": "Prior",
    "How much is chance": "Chance",
    "Scores against the truth": "Truth",
    "Which networks were kept": "Networks",
    "Which graph was chosen": "Choice",
    "How to read this page": "How to read it",
    "Files for other programs": "Files",
    "How it was made": "Origin",
}


def list_sections(contents: Contents) -> dict[str, Section]:
    """What the report says of a run, in its order."""
    chosen: dict[str, Section] = {}
    if contents.nets:
        chosen = {"Which networks were kept": say_selection}
    elif contents.manifest["settings"].get("strategy") == "dm":
        chosen = {"Which graph was chosen": say_settings}
    known: dict[str, Section] = {}
    if "prior" in contents.manifest:
        known = {"Prior knowledge": say_knowledge}
    return {
        "Latents": say_latents,
        **known,
        "How much is chance": say_chance,
        "Scores against the truth": say_scores,
        **chosen,
        "How to read this page": say_caveats,
        "Assumptions": say_assumptions,
        "Data": say_data,
        "Files for other programs": say_downloads,
        "How it was made": say_origin,
    }
