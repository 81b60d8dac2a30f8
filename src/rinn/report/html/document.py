"""The skeleton of every page: one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib import resources

from rinn.report.html.markup import Markup, element, join

BASIC_STYLE = ("rinn.report.html", "style.css")
REPORT_STYLES = (BASIC_STYLE, ("rinn.report.html", "page.css"))


def render_document(
    title: str, *body: str | None, styles: Iterable[tuple[str, str]], script: str = ""
) -> Markup:
    """Write a page; `styles` are files of packages, and the script goes to the end of the body."""
    style = "\n".join(read_resource(*file) for file in styles)
    head = join(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy",
                    content=write_policy(style, script)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", Markup(style)),
        ],
        "\n",
    )  # fmt: skip
    run = element("script", Markup(script)) if script else None
    page = element("html", element("head", head), "\n", element("body", *body, run), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")


def read_resource(package: str, name: str) -> str:
    """Read a text file of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def write_policy(style: str, script: str) -> str:
    """Allow this very style and script, and nothing else, should a name get through as markup."""
    rules = ["default-src 'none'"]
    for kind, text in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
        rules.append(f"{kind}-src 'sha256-{digest}'")
    # A picture is drawn from its own data into a canvas, to save it as PNG.
    return "; ".join([*rules, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def render_header(brand: str, title: str, links: Mapping[str, str], *tools: str) -> Markup:
    """Write the top of a page, with links to its sections: their headings and short names."""
    top = element("div", element("p", brand, class_="brand"), *tools, class_="top")
    anchors = [element("a", name, href=f"#{_anchor(heading)}") for heading, name in links.items()]
    nav = element("nav", *anchors, aria_label="On this page")
    return element("header", top, element("h1", title), nav)


def render_section(heading: str, *content: str | None) -> Markup:
    """Write a section that the header can link to."""
    return element("section", element("h2", heading), *content, id_=_anchor(heading))


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z]+", "-", heading.lower())
