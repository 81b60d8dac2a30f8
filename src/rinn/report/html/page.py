"""A finished run folder as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from rinn.files import replace_file
from rinn.report.html.answer import say_answer, say_title
from rinn.report.html.caveats import say_assumptions, say_caveats
from rinn.report.html.chance import say_chance
from rinn.report.html.graph import say_carries, say_graph
from rinn.report.html.latents import say_latents
from rinn.report.html.markup import Markup, element, join
from rinn.report.html.networks import say_selection, say_settings
from rinn.report.html.origin import say_data, say_downloads, say_origin
from rinn.report.html.payload import write_payload
from rinn.report.html.prior import say_knowledge
from rinn.report.html.truth import say_scores
from rinn.runs.read import RunContents, load_run

REPORT = "report.html"
STYLES = ("style.css", "page.css")
SCRIPTS = ("page.js", "graph.js", "card.js", "networks.js")
# Names come from the user's tables: should one ever get through as markup, it may load nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

Section = Callable[[RunContents], Markup]

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


def write_report(folder: Path, contents: RunContents | None = None) -> Path:
    """Write report.html into a finished run folder, in place of an older one."""
    contents = contents or load_run(folder)
    path = folder / REPORT
    replace_file(path, write_page(contents).encode("utf-8", "replace"))
    return path


def write_page(contents: RunContents) -> Markup:
    """Write the whole page."""
    title = say_title(contents)
    style = "\n".join(_read(name) for name in STYLES)
    script = "\n".join(['"use strict";', *(_read(name) for name in SCRIPTS)])
    script = f"(() => {{\n{script}\nstart();\n}})();"
    head = join(
        [
            element("meta", charset="utf-8"),
            element(
                "meta", http_equiv="Content-Security-Policy", content=write_policy(style, script)
            ),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", Markup(style)),
        ],
        "\n",
    )
    answer = element(
        "section", say_answer(contents), say_graph(contents), say_carries(contents), id_="answer",
        aria_label="The answer",
    )  # fmt: skip
    sections = list_sections(contents)
    rest = (
        element("section", element("h2", heading), write(contents), id_=_anchor(heading))
        for heading, write in sections.items()
    )
    main = element("main", join([answer, *rest], "\n"))
    body = [_write_header(title, list(sections)), main, _write_footer(contents)]
    tail = [element("div", id_="tip", class_="tip", role="tooltip", hidden=True)]
    tail += [write_payload(contents), element("script", Markup(script))]
    page = element("html", element("head", head), "\n", element("body", *body, *tail), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")


def write_policy(style: str, script: str) -> str:
    """Say what the page may do: run this very style and script, and ask for nothing.

    Example:
        >>> write_policy("", "").split("; ")[:2]
        ["default-src 'none'", "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    rules = ["default-src 'none'"]
    rules += [f"style-src 'sha256-{_sum_up(style)}'", f"script-src 'sha256-{_sum_up(script)}'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _sum_up(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _read(name: str) -> str:
    return resources.files("rinn.report.html").joinpath(name).read_text(encoding="utf-8")


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z]+", "-", heading.lower())


def _write_header(title: str, headings: list[str]) -> Markup:
    links = [
        element("a", SHORT.get(heading, heading), href=f"#{_anchor(heading)}")
        for heading in headings
    ]
    theme = element("button", "Theme: auto", type="button", id_="theme", class_="with-script",
                    hidden=True)  # fmt: skip
    top = element("div", element("p", "rinn report", class_="brand"), theme, class_="top")
    nav = element("nav", *links, aria_label="On this page")
    return element("header", top, element("h1", title), nav)


def _write_footer(contents: RunContents) -> Markup:
    version = contents.manifest.versions.get("rinn", "")
    words = (
        f"Written by rinn {version}. This page holds all it shows and asks no server for anything."
    )
    return element("footer", element("p", words))


def list_sections(contents: RunContents) -> dict[str, Section]:
    """What the report says of a run, in its order."""
    chosen: dict[str, Section] = {}
    if contents.nets:
        chosen = {"Which networks were kept": say_selection}
    elif contents.strategy.choice:
        chosen = {"Which graph was chosen": say_settings}
    known: dict[str, Section] = {}
    if contents.manifest.prior:
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
