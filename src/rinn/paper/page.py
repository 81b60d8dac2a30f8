"""The tables as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from itertools import groupby

from rinn.paper.cells import DATASETS, STRATEGIES
from rinn.paper.notes import (
    COST_HEADERS,
    COST_TITLE,
    NOTES,
    ORACLE,
    PROTOCOL,
    REFERENCE,
    TITLE,
    list_costs,
    say_difference,
    say_ours,
    say_setup,
    say_spreads,
)
from rinn.paper.tables import BETTER, SAME, WORSE, Comparison, Figure, Row, Table
from rinn.report.html.markup import Markup, element, join, paragraph, scroll_box
from rinn.report.html.markup import table as write_table
from rinn.report.html.page import POLICY

STYLES = (("rinn.report.html", "style.css"), ("rinn.paper", "style.css"))


def write_page(comparison: Comparison) -> Markup:
    """Write the whole page."""
    style = "\n".join(
        resources.files(package).joinpath(name).read_text(encoding="utf-8")
        for package, name in STYLES
    )
    head = join(
        [
            Markup('<meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", TITLE),
            element("style", Markup(style)),
        ],
        "\n",
    )
    tables = [_say_table(comparison, table) for table in comparison.tables]
    sections = [_say_answer(comparison), *tables, _say_protocol(), _say_costs(comparison)]
    main = element("main", join(sections, "\n"))
    page = element("html", element("head", head), "\n", element("body", main), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")


def _say_answer(comparison: Comparison) -> Markup:
    first, rest = comparison.summary[:1], comparison.summary[1:]
    parts = [paragraph(f"{line}.", class_="lead") for line in first]
    parts += [paragraph("; ".join(rest) + ".")] if rest else []
    parts += [
        paragraph(element("strong", "Oracle: "), ORACLE, class_="oracle"),
        paragraph(f"{comparison.state}. {say_setup(comparison)}"),
    ]
    if comparison.failed:
        failures = (f"{cell.job.name}: {cell.words}" for cell in comparison.failed)
        parts += [paragraph("Failed:"), element("ul", *(element("li", f) for f in failures))]
    source = paragraph(f"{REFERENCE}.", class_="note")
    return element("section", element("h1", TITLE), source, *parts)


def _say_protocol() -> Markup:
    items = element("ul", *(element("li", words) for words in PROTOCOL))
    return element("section", element("h2", "Protocol"), items)


def _say_table(comparison: Comparison, table: Table) -> Markup:
    """Write a table, one body for each dataset."""
    stacked = len(table.measures) > 1
    names = [measure.label for measure in table.measures] if stacked else [
        f"{table.measures[0].label}, ours", "paper", "difference"
    ]  # fmt: skip
    head = element("tr", *(element("th", name, scope="col") for name in ["strategy", *names]))
    bodies = [
        element(
            "tbody",
            element("tr", element("th", DATASETS[dataset], colspan=len(names) + 1,
                                  scope="rowgroup", class_="data")),
            *(_write_row(comparison, row, stacked) for row in rows),
        )
        for dataset, rows in groupby(table.rows, key=lambda row: row.dataset)
    ]  # fmt: skip
    kind = "figures wide" if len(table.measures) > 2 else "figures"
    whole = element("table", element("thead", head), *bodies, class_=kind)
    parts = [element("h2", table.title), *_say_notes(comparison, table)]
    return element("section", *parts, scroll_box(whole, table.title))


def _say_notes(comparison: Comparison, table: Table) -> Iterator[Markup]:
    if table.key in ("input", "hidden"):
        chips = join((_chip(verdict, verdict) for verdict in (BETTER, WORSE, SAME)), " ")
        legend = (f"Each field: {say_ours(comparison)}; the paper's; the difference: ", chips)
        yield paragraph(*legend)
        yield paragraph(say_spreads(comparison), " ", say_difference(), class_="note")
    if NOTES[table.key]:
        yield paragraph(NOTES[table.key], class_="note")


def _write_row(comparison: Comparison, row: Row, stacked: bool) -> Markup:
    noun = "seed" if row.asked == 1 else "seeds"
    seeds = element("span", f"{row.seeds} {noun}", class_="seeds") if comparison.several else None
    cells = [element("th", STRATEGIES[row.strategy], seeds, scope="row")]
    if stacked:
        cells += [element("td", *_write_figure(figure)) for figure in row.figures]
    else:
        cells += [element("td", text) for text in _say_parts(row.figures[0])]
    return element("tr", *cells)


def _write_figure(figure: Figure) -> list[Markup]:
    """Ours, the paper's and the difference; one NA where neither has a figure."""
    if figure.ours is None:
        ours = element("span", figure.missing, class_="none")
    else:
        mean, space, spread = figure.say_ours().partition(" ")
        ours = element("span", element("b", mean), space, spread)
    if figure.measure.paper is None or (figure.paper is None and figure.ours is None):
        return [ours]
    paper = element("span", "paper ", figure.say_paper(), class_="paper")
    if figure.verdict is None:
        return [ours, paper]
    return [ours, paper, _chip(figure.verdict, f"{_say_parts(figure)[2]} {figure.verdict}")]


def _say_parts(figure: Figure) -> tuple[str, str, str]:
    """Ours, the paper's and the difference as words, its minus sign as wide as a plus."""
    difference = figure.say_difference().replace("-", "\N{MINUS SIGN}")
    return figure.say_ours(), figure.say_paper(), difference


def _chip(verdict: str, words: str) -> Markup:
    return element("span", words, class_=f"chip {verdict}")


def _say_costs(comparison: Comparison) -> Markup:
    rows = list_costs(comparison)
    listing = write_table(COST_HEADERS, rows, COST_TITLE) if rows else paragraph("Nothing yet.")
    note = paragraph(
        "Thresholds, and DM's settings, were chosen with sight of the truth.", class_="note"
    )
    return element("section", element("h2", COST_TITLE), note, listing)
