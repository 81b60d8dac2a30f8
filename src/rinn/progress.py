"""What a run shows while it trains: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from rinn.cohorts import TrainedNet

SECONDS_BETWEEN_LINES = 10.0


class TrainingProgress:
    """Counts networks; use as a context, call with what the search reports."""

    def __init__(self, total: int, console: Console, quiet: bool = False) -> None:
        self.total, self.console, self.quiet = total, console, quiet
        self.done, self.share, self.best = 0, 0.0, math.inf
        self._printed = time.monotonic()
        self._first: tuple[float, float] | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> TrainingProgress:
        if not self.quiet and self.console.is_terminal:
            columns = (
                TextColumn("training"),
                BarColumn(),
                TextColumn("{task.fields[words]}"),
                TimeRemainingColumn(compact=True),
            )
            self._bar = Progress(*columns, console=self.console)
            self._task = self._bar.add_task("training", total=1.0, words=self._words())
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
        elif not self.quiet:
            self.console.print(self._words(), soft_wrap=True)

    def __call__(self, nets: Sequence[TrainedNet], share: float) -> None:
        """Take note of newly finished networks and of the share of the work just done."""
        self.done += len(nets)
        self.share += share
        # The first report holds what was compiled, or trained by an earlier run: no pace of ours.
        self._first = self._first or (time.monotonic(), self.share)
        losses = [net.validation_loss for net in nets if math.isfinite(net.validation_loss)]
        self.best = min([self.best, *losses])
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self.share, words=self._words())
        elif not self.quiet and time.monotonic() - self._printed > SECONDS_BETWEEN_LINES:
            self.console.print(f"{self._words()}{self._left()}", soft_wrap=True)
            self._printed = time.monotonic()

    def _words(self) -> str:
        best = f", best validation loss {self.best:.4g}" if math.isfinite(self.best) else ""
        return f"{self.done}/{self.total} networks{best}"

    def _left(self) -> str:
        if self._first is None or self.share <= self._first[1]:
            return ""
        pace = (time.monotonic() - self._first[0]) / (self.share - self._first[1])
        return f", about {pace * (1 - self.share):.0f} s left"
