"""What a reproduction shows while it runs: the whole grid between the bars of its cells.

A cell draws its own bar while it trains, so the grid's is drawn once before each cell and stays
still above it: two moving bars on one terminal would be in each other's way.
"""

from __future__ import annotations

import time

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from rinn.paper.cells import DATASETS, FAILED, STRATEGIES, Cell, Job
from rinn.paper.notes import say_time
from rinn.paper.published import find_published


class GridProgress:
    """Counts cells; `begin` and `end` each of them, `close` at the end."""

    def __init__(self, total: int, done: int, console: Console, quiet: bool = False) -> None:
        self.total, self.done, self.console, self.quiet = total, done, console, quiet
        self.failed = 0
        self._started = time.monotonic()

    def begin(self, job: Job) -> None:
        """Show how far the grid is, and which cell is next."""
        self._show(f"now {_name(job)}")

    def end(self, cell: Cell) -> None:
        """Show what a cell found."""
        self.done += cell.status != FAILED
        self.failed += cell.status == FAILED
        self._print(f"{_name(cell.job)}: {_say_result(cell)}")

    def close(self) -> None:
        """Show how the grid ended."""
        self._show("finished" if not self.failed else f"{self.failed} failed")

    def _show(self, words: str) -> None:
        elapsed = say_time(time.monotonic() - self._started)
        text = f"{self.done}/{self.total} cells, {words}, {elapsed} elapsed"
        if self.quiet or not self.console.is_terminal:
            self._print(text)
            return
        columns = (BarColumn(bar_width=30), TextColumn("{task.fields[words]}"))
        bar = Progress(*columns, console=self.console)
        bar.add_task("cells", total=self.total, completed=self.done, words=escape(text))
        self.console.print(bar.get_renderable())

    def _print(self, words: str) -> None:
        if not self.quiet:
            self.console.print(words, soft_wrap=True, highlight=False, markup=False)


def _name(job: Job) -> str:
    return f"data {DATASETS[job.dataset]}, {STRATEGIES[job.strategy]}, data seed {job.seed}"


def _say_result(cell: Cell) -> str:
    if cell.hidden is None:
        return f"failed ({cell.words})"
    published = find_published(cell.dataset, cell.strategy).hidden
    paper = "" if published is None else f" (paper {published.f1.mean:.2f})"
    return f"hidden F1 {cell.hidden.f1.mean:.2f}{paper}, {say_time(cell.seconds)}"
