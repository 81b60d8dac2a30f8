"""A methods paragraph with this run's numbers, and what to cite, ready to paste."""

from __future__ import annotations

from rinn.report.html.markup import Markup, element, join, paragraph
from rinn.runs.read import RunContents
from rinn.runs.sentences import PAPER, describe_methods, describe_software, write_bibtex


def render_methods(contents: RunContents) -> Markup:
    """Offer the paragraph and the references, each with a button that copies it."""
    version = contents.manifest.versions.get("rinn", "")
    text = describe_methods(contents.manifest, contents.graph)
    return join([
        paragraph("What was done in this run, in sentences for a paper. Check them, and add what "
                  "the tables are and where they come from.", class_="note"),
        copy_box(text, "Copy the methods"),
        element("h3", "How to cite"),
        copy_box(f"{PAPER}\n{describe_software(version)}", "Copy the references"),
        element("details", element("summary", "BibTeX"),
                copy_box(write_bibtex(version), "Copy the BibTeX entries", prose=False)),
    ])  # fmt: skip


def copy_box(text: str, label: str, *, prose: bool = True) -> Markup:
    """Text with a button that copies it."""
    copy = element("button", "Copy", type="button", class_="copy with-script", hidden=True,
                   aria_label=label)  # fmt: skip
    body = element("pre", element("code", text), tabindex=0, class_="prose" if prose else None)
    return element("div", body, copy, class_="command")
