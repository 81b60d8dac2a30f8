"""A finished run folder as one HTML page that needs nothing else."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rinn.files import replace_file
from rinn.report.answer import say_answer, say_title
from rinn.report.contents import Contents, load_contents
from rinn.report.markup import Markup, element, join
from rinn.report.sections import list_sections

REPORT = "report.html"
# Names come from the user's tables: should one ever get through as markup, it may load nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(folder: Path) -> Path:
    """Write report.html into a finished run folder, in place of an older one.

    Args:
        folder: with manifest.json, trials.csv, graph.json and weights.safetensors; truth.json
            and the manifest's scores may be there.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder is not a run's, the run is not complete, or a file is damaged.
    """
    contents = load_contents(folder)
    path = folder / REPORT
    replace_file(path, write_page(contents).encode("utf-8", "replace"))
    return path


def write_page(contents: Contents) -> Markup:
    """Write the whole page."""
    title = say_title(contents)
    style = resources.files("rinn.report").joinpath("style.css").read_text(encoding="utf-8")
    head = join(
        [
            Markup('<meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", title),
            element("style", Markup(style)),
        ],
        "\n",
    )
    answer = element("section", element("h1", title), say_answer(contents))
    rest = (
        element("section", element("h2", heading), write(contents))
        for heading, write in list_sections(contents).items()
    )
    main = element("main", join([answer, *rest], "\n"))
    page = element("html", element("head", head), "\n", element("body", main), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")
