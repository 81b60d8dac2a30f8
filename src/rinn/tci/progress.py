"""What TCI shows while it works: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 10.0


class ScoringProgress:
    """Counts the DEGs that are scored, of the data and of each permutation; use as a context."""

    def __init__(self, degs: int, permutations: int, console: Console, quiet: bool = False) -> None:
        self._degs, self._permutations, self._console, self._quiet = (
            degs,
            permutations,
            console,
            quiet,
        )
        self._done = 0
        self._printed = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ScoringProgress:
        if not self._quiet and self._console.is_terminal:
            columns = (
                TextColumn("scoring"),
                BarColumn(),
                TextColumn("{task.fields[words]}"),
                TimeRemainingColumn(compact=True),
            )
            self._bar = Progress(*columns, console=self._console)
            total = self._degs * (1 + self._permutations)
            self._task = self._bar.add_task("scoring", total=total, words=self._words())
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, degs: int) -> None:
        """Take note of DEGs that are newly done."""
        self._done += degs
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._done, words=self._words())
        elif not self._quiet and time.monotonic() - self._printed > SECONDS_BETWEEN_LINES:
            self._console.print(self._words(), soft_wrap=True, highlight=False)
            self._printed = time.monotonic()

    def _words(self) -> str:
        passes, degs = divmod(self._done, self._degs)
        if passes == 0:
            return f"{degs}/{self._degs} DEGs"
        within = f", {degs}/{self._degs} DEGs of the next" if degs else ""
        return f"{passes - 1}/{self._permutations} permutations{within}"
