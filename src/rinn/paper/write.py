"""The tables as files: Markdown, CSV, JSON, and one HTML page that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from rinn.files import replace_file
from rinn.paper import tables
from rinn.paper.cells import DATASETS, STRATEGIES
from rinn.paper.tables import Comparison, Figure, Row, Table, list_figures
from rinn.report.html.document import BASIC_STYLE, render_document
from rinn.report.html.markup import Markup, element, join, paragraph, scroll_box
from rinn.report.html.markup import table as write_table

STYLES = (BASIC_STYLE, ("rinn.paper", "style.css"))
MARKS = re.compile(r"([\\`*_|\[\]#])")


def write_tables(folder: Path, comparison: Comparison) -> None:
    """Write the tables in every format, in place of older ones."""
    for name, write in FORMATS.items():
        replace_file(folder / name, write(comparison).encode("utf-8", "replace"))


def write_csv(comparison: Comparison) -> str:
    """Write every figure as one row of a table; empty where there is none."""
    return pd.DataFrame(list_figures(comparison)).to_csv(index=False, lineterminator="\n")


def write_json(comparison: Comparison) -> str:
    """Write every figure, and the cells behind them."""
    values = {
        "title": tables.TITLE,
        "reference": tables.REFERENCE,
        "protocol": list(tables.PROTOCOL),
        "spreads": tables.describe_spreads(comparison),
        "setup": comparison.setup.to_json(),
        "state": comparison.state,
        "summary": list(comparison.summary),
        "figures": list_figures(comparison),
        "cells": [cell.to_json() for cell in comparison.cells],
    }
    return json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_markdown(comparison: Comparison) -> str:
    """Write the tables as Markdown."""
    failures = [f"{cell.job.name} failed: {cell.message}" for cell in comparison.failed]
    results = [*comparison.summary, comparison.state, tables.describe_setup(comparison), *failures]
    lines = [f"# {tables.TITLE}", "", f"{tables.REFERENCE}.", "", *_write_items(results), ""]
    lines += ["## Protocol", "", *_write_items(tables.PROTOCOL), ""]
    for table in comparison.tables:
        notes = [tables.NOTES[table.key]]
        if table.key in ("input", "hidden"):
            notes = [tables.describe_spreads(comparison), tables.DIFFERENCE, *notes]
        rows = (_list_cells(comparison, row) for row in table.rows)
        lines += [f"## {table.title}", "", *(f"{note}\n" for note in notes if note)]
        lines += [*_write_rows(_list_headers(comparison, table), rows), ""]
    costs = _write_rows(tables.COST_HEADERS, tables.list_costs(comparison))
    return "\n".join([*lines, f"## {tables.COST_TITLE}", "", *costs, ""])


def _list_headers(comparison: Comparison, table: Table) -> list[str]:
    names = ["data", "strategy"]
    names += ["data seeds"] if comparison.has_several_seeds else []
    ours = tables.label_ours(comparison) if table.key in ("input", "hidden") else "ours"
    for measure in table.measures:
        names.append(f"{measure.label}, {ours}")
        names += [f"{measure.label}, paper", "difference"] if measure.is_published else []
    return names


def _list_cells(comparison: Comparison, row: Row) -> list[str]:
    cells = [DATASETS[row.dataset], STRATEGIES[row.strategy]]
    cells += [row.seeds] if comparison.has_several_seeds else []
    for figure in row.figures:
        published = [figure.format_paper(), figure.format_difference()]
        cells += [figure.format_ours(), *(published if figure.measure.is_published else [])]
    return cells


def _write_items(texts: Iterable[str]) -> list[str]:
    return [f"- {_escape(text)}" for text in texts]


def _write_rows(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [headers, ["---"] * len(headers), *rows]
    return [f"| {' | '.join(map(_escape, line))} |" for line in lines]


def _escape(text: str) -> str:
    """Keep text from becoming markup or from breaking out of its line."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return MARKS.sub(r"\\\1", line)


def write_page(comparison: Comparison) -> Markup:
    """Write the HTML page."""
    protocol = element("ul", *(element("li", text) for text in tables.PROTOCOL))
    sections = [
        _render_answer(comparison),
        *(_render_table(comparison, table) for table in comparison.tables),
        element("section", element("h2", "Protocol"), protocol),
        _render_costs(comparison),
    ]
    return render_document(tables.TITLE, element("main", join(sections, "\n")), styles=STYLES)


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "tables.md": write_markdown,
    "tables.csv": write_csv,
    "tables.json": write_json,
    "tables.html": write_page,
}


def _render_answer(comparison: Comparison) -> Markup:
    first, others = comparison.summary[:1], comparison.summary[1:]
    parts = [paragraph(f"{line}.", class_="lead") for line in first]
    parts += [paragraph("; ".join(others) + ".")] if others else []
    parts += [
        paragraph(element("strong", "Oracle: "), tables.ORACLE, class_="oracle"),
        paragraph(f"{comparison.state}. {tables.describe_setup(comparison)}"),
    ]
    if comparison.failed:
        failures = (f"{cell.job.name}: {cell.message}" for cell in comparison.failed)
        parts += [paragraph("Failed:"), element("ul", *(element("li", f) for f in failures))]
    source = paragraph(f"{tables.REFERENCE}.", class_="note")
    return element("section", element("h1", tables.TITLE), source, *parts)


def _render_table(comparison: Comparison, table: Table) -> Markup:
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
            *(_render_row(comparison, row, stacked) for row in rows),
        )
        for dataset, rows in groupby(table.rows, key=lambda row: row.dataset)
    ]  # fmt: skip
    kind = "figures wide" if len(table.measures) > 2 else "figures"
    grid = element("table", element("thead", head), *bodies, class_=kind)
    parts = [element("h2", table.title), *_render_notes(comparison, table)]
    return element("section", *parts, scroll_box(grid, table.title))


def _render_notes(comparison: Comparison, table: Table) -> Iterator[Markup]:
    if table.key in ("input", "hidden"):
        verdicts = (tables.BETTER, tables.WORSE, tables.SAME)
        chips = join((_render_chip(verdict, verdict) for verdict in verdicts), " ")
        ours = tables.label_ours(comparison)
        yield paragraph(f"Each field: {ours}; the paper's; the difference: ", chips)
        yield paragraph(tables.describe_spreads(comparison), " ", tables.DIFFERENCE, class_="note")
    if tables.NOTES[table.key]:
        yield paragraph(tables.NOTES[table.key], class_="note")


def _render_row(comparison: Comparison, row: Row, stacked: bool) -> Markup:
    noun, seeds = "seed" if row.asked == 1 else "seeds", None
    if comparison.has_several_seeds:
        seeds = element("span", f"{row.seeds} {noun}", class_="seeds")
    cells = [element("th", STRATEGIES[row.strategy], seeds, scope="row")]
    if stacked:
        cells += [element("td", *_render_figure(figure)) for figure in row.figures]
    else:
        figure = row.figures[0]
        texts = (figure.format_ours(), figure.format_paper(), _widen(figure.format_difference()))
        cells += [element("td", text) for text in texts]
    return element("tr", *cells)


def _render_figure(figure: Figure) -> list[Markup]:
    """Ours, the paper's and the difference; one NA where neither has a figure."""
    if figure.ours is None:
        ours = element("span", figure.missing, class_="none")
    else:
        mean, space, spread = figure.format_ours().partition(" ")
        ours = element("span", element("b", mean), space, spread)
    if not figure.measure.is_published or (figure.paper is None and figure.ours is None):
        return [ours]
    paper = element("span", "paper ", figure.format_paper(), class_="paper")
    if figure.verdict is None:
        return [ours, paper]
    text = f"{_widen(figure.format_difference())} {figure.verdict}"
    return [ours, paper, _render_chip(figure.verdict, text)]


def _widen(difference: str) -> str:
    """Use a minus sign as wide as a plus."""
    return difference.replace("-", "\N{MINUS SIGN}")


def _render_chip(verdict: str, text: str) -> Markup:
    return element("span", text, class_=f"chip {verdict}")


def _render_costs(comparison: Comparison) -> Markup:
    rows, title = tables.list_costs(comparison), tables.COST_TITLE
    listing = paragraph("Nothing yet.")
    if rows:
        listing = write_table(tables.COST_HEADERS, rows, title)
    note = paragraph(
        "Thresholds, and DM's settings, were chosen with knowledge of the truth.", class_="note"
    )
    return element("section", element("h2", title), note, listing)
