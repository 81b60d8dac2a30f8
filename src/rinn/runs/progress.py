"""What a long job shows while it works: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from rinn.nets.groups import TrainedNet

SECONDS_BETWEEN_LINES = 10.0


class WorkProgress:
    """A bar or lines for work of `whole` parts; use as a context, and call `show` as it goes on.

    A kind of work says by `_words` what is done, and by `_left` what a line adds to that.
    """

    def __init__(self, name: str, whole: float, console: Console, quiet: bool) -> None:
        self.console, self.quiet = console, quiet
        self._name, self._whole = name, whole
        self._printed = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if not self.quiet and self.console.is_terminal:
            columns = (
                TextColumn(self._name),
                BarColumn(),
                TextColumn("{task.fields[words]}"),
                TimeRemainingColumn(compact=True),
            )
            self._bar = Progress(*columns, console=self.console)
            self._task = self._bar.add_task(self._name, total=self._whole, words=self._words())
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

    def show(self, completed: float) -> None:
        """Show how much is done: at once in a bar, now and then in lines."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=completed, words=self._words())
        elif not self.quiet and time.monotonic() - self._printed > SECONDS_BETWEEN_LINES:
            self._say(f"{self._words()}{self._left()}")
            self._printed = time.monotonic()

    def _say(self, words: str) -> None:
        self.console.print(words, soft_wrap=True)

    def _words(self) -> str:
        raise NotImplementedError

    def _left(self) -> str:
        return ""


class TrainingProgress(WorkProgress):
    """Counts networks; use as a context, call with what the search reports."""

    def __init__(self, total: int, console: Console, quiet: bool = False) -> None:
        super().__init__("training", 1.0, console, quiet)
        self.total, self.done, self.share, self.best = total, 0, 0.0, math.inf
        self._first: tuple[float, float] | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if not self._bar and not self.quiet:
            self._say(self._words())

    def __call__(self, nets: Sequence[TrainedNet], share: float) -> None:
        """Take note of newly finished networks and of the share of the work just done."""
        self.done += len(nets)
        self.share += share
        # The first report holds what was compiled, or trained by an earlier run: no pace of ours.
        self._first = self._first or (time.monotonic(), self.share)
        losses = [net.validation_loss for net in nets if math.isfinite(net.validation_loss)]
        self.best = min([self.best, *losses])
        self.show(self.share)

    def _words(self) -> str:
        best = f", best validation loss {self.best:.4g}" if math.isfinite(self.best) else ""
        return f"{self.done}/{self.total} networks{best}"

    def _left(self) -> str:
        if self._first is None or self.share <= self._first[1]:
            return ""
        pace = (time.monotonic() - self._first[0]) / (self.share - self._first[1])
        return f", about {pace * (1 - self.share):.0f} s left"
