"""The tables as files: Markdown, CSV, JSON and one HTML page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from rinn.files import replace_file
from rinn.paper.cells import DATASETS, STRATEGIES
from rinn.paper.notes import (
    COST_HEADERS,
    COST_TITLE,
    NOTES,
    PROTOCOL,
    REFERENCE,
    TITLE,
    list_costs,
    say_difference,
    say_ours,
    say_setup,
    say_spreads,
)
from rinn.paper.page import write_page
from rinn.paper.tables import Comparison, Figure, Row, Table, list_figures

PAGE = "tables.html"
MARKS = re.compile(r"([\\`*_|\[\]#])")


def write_tables(folder: Path, comparison: Comparison) -> None:
    """Write the tables in every format, in place of older ones."""
    for name, write in FORMATS.items():
        replace_file(folder / name, write(comparison).encode("utf-8", "replace"))


def write_markdown(comparison: Comparison) -> str:
    """Write the tables as Markdown."""
    lines = [f"# {TITLE}", "", f"{REFERENCE}.", "", *_items(_say_results(comparison)), ""]
    lines += ["## Protocol", "", *_items(PROTOCOL), ""]
    for table in comparison.tables:
        lines += [f"## {table.title}", ""]
        lines += [text + "\n" for text in _say_notes(comparison, table)]
        lines += [*_table(_headers(comparison, table), map(_cells(comparison), table.rows)), ""]
    costs = _table(COST_HEADERS, list_costs(comparison))
    lines += [f"## {COST_TITLE}", "", *costs, ""]
    return "\n".join(lines)


def write_csv(comparison: Comparison) -> str:
    """Write every figure as one row of a table; empty where there is none."""
    return pd.DataFrame(list_figures(comparison)).to_csv(index=False, lineterminator="\n")


def write_json(comparison: Comparison) -> str:
    """Write every figure, and the cells behind them."""
    found = {
        "title": TITLE,
        "reference": REFERENCE,
        "protocol": list(PROTOCOL),
        "spreads": say_spreads(comparison),
        "setup": comparison.setup.to_json(),
        "state": comparison.state,
        "summary": list(comparison.summary),
        "figures": list_figures(comparison),
        "cells": [cell.to_json() for cell in comparison.cells],
    }
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "tables.md": write_markdown,
    "tables.csv": write_csv,
    "tables.json": write_json,
    PAGE: write_page,
}


def _say_results(comparison: Comparison) -> list[str]:
    failures = [f"{cell.job.name} failed: {cell.words}" for cell in comparison.failed]
    return [*comparison.summary, comparison.state, say_setup(comparison), *failures]


def _say_notes(comparison: Comparison, table: Table) -> list[str]:
    texts = [NOTES[table.key]]
    if table.key in ("input", "hidden"):
        texts = [say_spreads(comparison), say_difference(), *texts]
    return [text for text in texts if text]


def _headers(comparison: Comparison, table: Table) -> list[str]:
    names = ["data", "strategy"]
    names += ["data seeds"] if comparison.several else []
    for measure in table.measures:
        spread = say_ours(comparison) if table.key in ("input", "hidden") else "ours"
        names.append(f"{measure.label}, {spread}")
        names += [f"{measure.label}, paper", "difference"] if measure.paper else []
    return names


def _cells(comparison: Comparison) -> Callable[[Row], list[str]]:
    def write(row: Row) -> list[str]:
        words = [DATASETS[row.dataset], STRATEGIES[row.strategy]]
        words += [row.seeds] if comparison.several else []
        return words + [text for figure in row.figures for text in _say_figure(figure)]

    return write


def _say_figure(figure: Figure) -> list[str]:
    if figure.measure.paper is None:
        return [figure.say_ours()]
    return [figure.say_ours(), figure.say_paper(), figure.say_difference()]


def _items(texts: Iterable[str]) -> list[str]:
    return [f"- {_plain(text)}" for text in texts]


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [headers, ["---"] * len(headers), *rows]
    return [f"| {' | '.join(map(_plain, line))} |" for line in lines]


def _plain(text: str) -> str:
    """Keep text from becoming markup or from breaking out of its line."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return MARKS.sub(r"\\\1", line)
