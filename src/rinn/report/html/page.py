"""A finished run folder as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rinn.errors import clip
from rinn.files import replace_file
from rinn.report.html.answer import render_answer
from rinn.report.html.caveats import render_assumptions, render_caveats
from rinn.report.html.document import (
    REPORT_STYLES,
    read_resource,
    render_document,
    render_header,
    render_section,
)
from rinn.report.html.edges import render_edges
from rinn.report.html.graph import make_layouts, render_fit, render_graph
from rinn.report.html.heatmap import HeatmapInfo, heatmap_info, render_heatmap
from rinn.report.html.latents import render_latents
from rinn.report.html.markup import Markup, element, join
from rinn.report.html.methods import render_methods
from rinn.report.html.networks import render_selection, render_settings
from rinn.report.html.null import render_null
from rinn.report.html.origin import render_data, render_downloads, render_origin
from rinn.report.html.payload import write_payload
from rinn.report.html.prior import render_prior
from rinn.report.html.truth import render_scores
from rinn.runs.read import RunContents, load_run

REPORT = "report.html"
MAX_TITLE = 200
SCRIPTS = (
    "page.js",
    "tables.js",
    "pictures.js",
    "graph.js",
    "card.js",
    "heatmap.js",
    "networks.js",
)
SHORT = {  # names of sections in the list at the top of the page
    "Prior knowledge": "Prior",
    "How much is chance": "Chance",
    "Scores against the truth": "Truth",
    "Net effects": "Heatmap",
    "Which networks were kept": "Networks",
    "Which graph was chosen": "Choice",
    "How to read this page": "How to read it",
    "Files for other programs": "Files",
    "Methods and citation": "Methods",
    "How it was made": "Origin",
}

Section = Callable[[RunContents], Markup]


def write_report(
    folder: Path, contents: RunContents | None = None, *, title: str | None = None
) -> Path:
    """Write report.html into a finished run folder, in place of an older one."""
    contents = contents or load_run(folder)
    path = folder / REPORT
    replace_file(path, render_page(contents, title).encode("utf-8", "replace"))
    return path


def render_page(contents: RunContents, title: str | None = None) -> Markup:
    """Write the whole page; the title is by default that of the run, or from its files."""
    heat, layouts = heatmap_info(contents), make_layouts(contents)
    tables, sections = contents.manifest.tables, list_sections(contents, heat)
    title = title or contents.manifest.title
    title = clip(title or f"Latent graph between {clip(tables.x)} and {clip(tables.y)}", MAX_TITLE)
    theme = element("button", "Theme: auto", type="button", id_="theme", class_="with-script",
                    hidden=True)  # fmt: skip
    links = {heading: SHORT.get(heading, heading) for heading in sections}
    parts = (render_answer(contents), render_graph(contents, layouts), render_fit(contents))
    answer = element("section", *parts, id_="answer", aria_label="The answer")
    others = (render_section(heading, render(contents)) for heading, render in sections.items())
    version = contents.manifest.versions.get("rinn", "")
    script = "\n".join(['"use strict";', *(read_resource("rinn.report.html", n) for n in SCRIPTS)])
    return render_document(
        title,
        render_header("rinn report", title, links, theme),
        element("main", join([answer, *others], "\n")),
        element(
            "footer",
            element("p", f"Written by rinn {version}. This page loads nothing from the network."),
        ),
        element("div", id_="tip", class_="tip", role="tooltip", hidden=True),
        write_payload(contents, layouts, heat),
        styles=REPORT_STYLES,
        script=f"(() => {{\n{script}\nstart();\n}})();",
    )


def list_sections(contents: RunContents, heat: HeatmapInfo | None = None) -> dict[str, Section]:
    """The sections of the report of a run, in their order."""
    is_chosen = not contents.nets and contents.strategy.choice
    has_truth = contents.truth is not None or contents.scores is not None
    return {
        "Latents": render_latents,
        "Edges": render_edges,
        **({"Net effects": lambda _: render_heatmap(heat)} if heat else {}),
        **({"Prior knowledge": render_prior} if contents.manifest.prior else {}),
        "How much is chance": render_null,
        **({"Scores against the truth": render_scores} if has_truth else {}),
        **({"Which networks were kept": render_selection} if contents.nets else {}),
        **({"Which graph was chosen": render_settings} if is_chosen else {}),
        "How to read this page": render_caveats,
        "Assumptions": render_assumptions,
        "Data": render_data,
        "Files for other programs": render_downloads,
        "Methods and citation": render_methods,
        "How it was made": render_origin,
    }
