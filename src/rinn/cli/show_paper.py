"""The tables on a terminal, one line for each dataset and strategy."""

from __future__ import annotations

from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from rinn.paper.cells import DATASETS, STRATEGIES
from rinn.paper.notes import say_setup, say_time
from rinn.paper.tables import BETTER, WORSE, Comparison, Figure, Table

STYLES = {BETTER: "bold blue", WORSE: "yellow"}
KEY = (
    "Ours, then the difference from the paper's figure; with spreads and the paper's own figures "
    "in the files. Tables 1 and 2: thresholds chosen with sight of the truth, as in the paper, so "
    "not what a user gets."
)


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print every table, and below them what they come to."""
    for table in comparison.tables:
        console.print(_draw_table(table))
    console.print(KEY, style="dim", highlight=False)
    lines = [_say_cost(comparison), say_setup(comparison), f"{comparison.state}."]
    for line in (*lines, *(f"{line}." for line in comparison.summary)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _draw_table(table: Table) -> Grid:
    grid = Grid(
        title=table.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        collapse_padding=True,
    )  # fmt: skip
    grid.add_column("data", no_wrap=True)
    for measure in table.measures:
        grid.add_column(measure.label, no_wrap=True)
    for dataset, rows in groupby(table.rows, key=lambda row: row.dataset):
        grid.add_row(DATASETS[dataset], style="dim")
        for row in rows:
            grid.add_row(f"  {STRATEGIES[row.strategy]}", *map(_write_figure, row.figures))
    return grid


def _write_figure(figure: Figure) -> str:
    if figure.ours is None:
        return figure.missing
    ours = f"{figure.ours:,.{figure.measure.digits}f}"
    if figure.difference is None:
        return ours
    style = STYLES.get(figure.verdict or "", "default")
    return f"{ours} [{style}]{figure.say_difference()}[/]"


def _say_cost(comparison: Comparison) -> str:
    seconds = sum(cell.seconds for cell in comparison.cells)
    networks = sum(cell.networks for cell in comparison.cells)
    devices = ", ".join(dict.fromkeys(cell.device for cell in comparison.cells)) or "no device"
    return f"{networks:,} networks in {say_time(seconds)} on {devices}."
