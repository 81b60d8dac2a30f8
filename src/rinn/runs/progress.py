"""The progress of a long job: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn

if TYPE_CHECKING:
    from rinn.nets.groups import TrainedNet

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BEFORE_ESTIMATE = 5.0  # while some devices still compile, the pace is that of the others


class WorkProgress:
    """A bar or lines for work of `total` parts; use as a context, and call `show`.

    The time that is left is estimated from what was done since the command was given: what an
    interrupted run finished says nothing about the pace.
    """

    def __init__(self, name: str, total: float, console: Console, quiet: bool) -> None:
        self.console, self.quiet = console, quiet
        self._name, self._total = name, total
        self._printed = time.monotonic()
        self._completed = self._resumed = 0.0
        self._first: tuple[float, float] | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if not self.quiet and self.console.is_terminal:
            columns = TextColumn(self._name), BarColumn(), TextColumn("{task.fields[text]}")
            self._bar = Progress(*columns, console=self.console)
            self._task = self._bar.add_task(self._name, total=self._total, text=self._describe())
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, completed: float, resumed: float = 0.0) -> None:
        """Show how much is done, of it `resumed` earlier: in a bar, or now and then in lines."""
        self._completed, self._resumed = completed, resumed
        if self._first is None and completed > resumed:
            # The first part includes compilation, which says nothing about the pace.
            self._first = time.monotonic(), completed - resumed
        text = f"{self._describe()}{self._describe_rest()}"
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=completed, text=text)
        elif not self.quiet and time.monotonic() - self._printed > SECONDS_BETWEEN_LINES:
            self._print(text)
            self._printed = time.monotonic()

    def _print(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)

    def _describe(self) -> str:
        raise NotImplementedError

    def _describe_rest(self) -> str:
        rest = self._total - self._completed
        if self._first is None or rest <= 0:
            return ""
        started, done = self._first
        seconds, new = time.monotonic() - started, self._completed - self._resumed - done
        if new <= 0 or seconds < SECONDS_BEFORE_ESTIMATE:
            return ""
        pace = seconds / new
        return f", about {format_time(pace * rest)} left"


class TrainingProgress(WorkProgress):
    """Counts networks and epochs; use as a context, call with what the search reports."""

    def __init__(self, total: int, console: Console, quiet: bool = False) -> None:
        super().__init__("training", 1.0, console, quiet)
        self.total, self.done, self.best = total, 0, math.inf
        self.fraction = self.resumed = 0.0
        self._is_over = False

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._finish()

    def __call__(
        self, nets: Sequence[TrainedNet], fraction: float, is_resumed: bool = False
    ) -> None:
        """Add networks that are finished, and the fraction of all epochs that is done with them."""
        self.done += len(nets)
        self.fraction += fraction
        self.resumed += fraction if is_resumed else 0.0
        losses = [net.validation_loss for net in nets if math.isfinite(net.validation_loss)]
        self.best = min([self.best, *losses])
        if self.done == self.total and not self._bar:
            self._finish()
        else:
            self.show(self.fraction, self.resumed)

    def _finish(self) -> None:
        """Print the last line, before those of later stages."""
        if not (self._bar or self.quiet or self._is_over):
            self._print(self._describe())
        self._is_over = True

    def _describe(self) -> str:
        best = f", best validation loss {self.best:.4g}" if math.isfinite(self.best) else ""
        epochs = f"{math.floor(100 * self.fraction + 1e-6)}% of the epochs"
        return f"{self.done}/{self.total} networks, {epochs}{best}"


class StepProgress:
    """Counts long steps with bars of their own: a bar that stays still, or a line, before each."""

    def __init__(self, noun: str, total: int, console: Console, quiet: bool = False) -> None:
        self.noun, self.total, self.console, self.quiet = noun, total, console, quiet
        self._started = time.monotonic()

    def show(self, done: int, message: str) -> None:
        """Show how many steps are done, and a message."""
        elapsed = format_time(time.monotonic() - self._started)
        text = f"{done}/{self.total} {self.noun}, {message}, {elapsed} elapsed"
        if self.quiet or not self.console.is_terminal:
            self.say(text)
            return
        bar = Progress(
            BarColumn(bar_width=30), TextColumn("{task.fields[text]}"), console=self.console
        )
        bar.add_task(self.noun, total=self.total, completed=done, text=escape(text))
        self.console.print(bar.get_renderable())

    def say(self, text: str) -> None:
        """Print a line."""
        if not self.quiet:
            self.console.print(text, soft_wrap=True, highlight=False, markup=False)


def format_time(seconds: float) -> str:
    """Write a time in seconds, minutes or hours: 4.2 s, 4 min 12 s, 1 h 05 min."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    if round(seconds) < 3600:
        return f"{round(seconds) // 60} min {round(seconds) % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"
