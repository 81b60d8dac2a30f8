"""A comparison as files: one HTML page that needs nothing else, a CSV table and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from rinn.compare.rows import Row, find_agreement
from rinn.data.records import Data
from rinn.errors import count
from rinn.files import replace_file
from rinn.report.html.document import BASIC_STYLE, render_document, render_section
from rinn.report.html.markup import Markup, element, paragraph, table
from rinn.runs.folder import OutputFolder
from rinn.runs.progress import format_time
from rinn.strategies import STRATEGIES

STYLES = (BASIC_STYLE, ("rinn.compare", "style.css"))
TITLE = "The same tables by every method"
PAGE, TABLE, RECORDS = "comparison.html", "table.csv", "table.json"
SIZES = ("latents", "edges drawn", "held-out R²", "time")
SCORES = ("latents F1", "precision", "recall", "edges F1", "pairs F1", "SHD")
NOTES = (
    "Latents: a found latent is a true one if it reaches the same outputs, with at most one "
    "more or less. Pairs: which input acts on which output, by any path. SHD: the number of "
    "edges to add, remove or turn.",
    "Held-out R²: of a linear regression of each output on the inputs that reach it, on the test "
    "samples, mean over the outputs. Its slopes have not seen these samples; the graphs of "
    "methods without networks have. It does not say whether latents are right.",
)


def write_comparison(
    folder: OutputFolder, rows: Sequence[Row], tables: str, data: Data, limit: float
) -> None:
    """Write the page, the table and the records, in place of older ones."""
    agreement = find_agreement(rows)
    records = [row.to_json() for row in rows]
    folder.write_table(TABLE, pd.DataFrame(records))
    summary = list(summarise(rows))
    shared = {"summary": summary, "methods": records, "agreement": agreement.to_dict()}
    folder.write_json(RECORDS, shared)
    size = (
        f"{tables}: {count(len(data.x), 'sample')}, {count(len(data.inputs), 'input')}, "
        f"{count(len(data.outputs), 'output')}. Time limit of each method: {format_time(limit)}."
    )
    page = render_page(rows, agreement, summary, size)
    replace_file(folder.path / PAGE, page.encode("utf-8", "replace"))


def summarise(rows: Sequence[Row]) -> Iterator[str]:
    """What the table says, in sentences."""
    scored = [row for row in rows if row.scores]
    if scored:
        best = max((row.scores.latents.f1, row.scores.edges.f1) for row in scored if row.scores)
        first = [
            row.method
            for row in scored
            if row.scores and (row.scores.latents.f1, row.scores.edges.f1) == best
        ]
        are = "is" if len(first) == 1 else "are"
        yield (
            f"{' and '.join(first)} {are} closest to the truth: latents F1 {best[0]:.2f}, edges F1 "
            f"{best[1]:.2f}."
        )
    else:
        found = sum(row.graph is not None for row in rows)
        yield f"{found} of {count(len(rows), 'method')} gave a graph; there is no truth to score."
    for row in rows:
        if row.graph is None:
            yield f"{row.method} gave no graph ({row.result})."


def list_headers(rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the columns, with scores where there are some."""
    scores = SCORES if any(row.scores for row in rows) else ()
    return ("method", *scores, *SIZES)


def list_cells(row: Row, headers: Sequence[str]) -> list[str]:
    """The cells of a row; only its status where it has no graph."""
    values, seconds = row.to_json(), row.outcome.seconds
    names = {
        "latents F1": "latents_f1",
        "precision": "latents_precision",
        "recall": "latents_recall",
        "edges F1": "edges_f1",
        "pairs F1": "pairs_f1",
        "held-out R²": "held_out_r2",
    }
    cells = {header: f"{values[key]:.2f}" for header, key in names.items()
             if values.get(key) is not None}  # fmt: skip
    counted = {"SHD": "shd", "latents": "latents", "edges drawn": "edges"}
    cells |= {header: str(values[key]) for header, key in counted.items()
              if values.get(key) is not None}  # fmt: skip
    cells["time"] = format_time(seconds) if seconds is not None else row.outcome.status
    return [row.method, *(cells.get(header, "") for header in headers[1:])]


def render_page(
    rows: Sequence[Row], agreement: pd.DataFrame, summary: Sequence[str], size: str
) -> Markup:
    """Write the HTML page."""
    lead = [paragraph(summary[0], class_="lead"), *map(paragraph, summary[1:]), paragraph(size)]
    headers = list_headers(rows)
    notes = NOTES if "SHD" in headers else NOTES[1:]
    results = table(headers, (_link(row, list_cells(row, headers)) for row in rows), "Results")
    about = table(
        (
            "method",
            "what it is",
            "settings",
            "assumes",
            "cannot take",
            "use it instead of rinn for",
        ),
        (
            (row.method, one.title, one.setup, one.assumes, ", ".join(one.refuses), one.suits)
            for row in rows
            for one in [STRATEGIES[row.method]]
        ),
        "Methods",
    )
    overlap = table(
        ("method", *agreement.columns),
        ((str(name), *(f"{value:.2f}" for value in line)) for name, line in
         zip(agreement.index, agreement.to_numpy(), strict=True)),
        "Agreement",
    )  # fmt: skip
    meaning = "Jaccard overlap of the pairs of input and output that two methods connect."
    body = element(
        "main",
        element("section", element("h1", TITLE), *lead),
        render_section("Results", results, *(paragraph(note, class_="note") for note in notes)),
        render_section("Agreement", paragraph(meaning, class_="note"), overlap),
        render_section("Methods", about),
    )
    return render_document(TITLE, body, styles=STYLES)


def _link(row: Row, cells: list[str]) -> list[str]:
    """The cells with a link from the method to its own report."""
    if row.graph is None:
        return cells
    return [element("a", row.method, href=f"runs/{row.method}/report.html"), *cells[1:]]
