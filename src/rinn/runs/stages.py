"""The stages of a run on the terminal, and how many seconds and how much memory each takes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

import jax
import pandas as pd
from rich.console import Console
from rich.status import Status

from rinn.data.stages import follow
from rinn.runs.progress import SECONDS_BETWEEN_LINES

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

COMPILING = "/jax/core/compile/backend_compile_duration"
WITH_A_BAR = "training"  # it shows its own progress; no line is shown beside it
# What the terminal says of each stage; `--profile` and benchmarks have the short names.
TITLES = {
    "reading": "reading the tables",
    "planning": "planning",
    "screening": "screening the columns for effects",
    "selection": "selecting networks",
    "detection": "looking for the graph",
    "effects": "estimating the effects of inputs on outputs",
    "search": "searching for the graph",
    "bootstrap": "repeating the search on bootstrap resamples",
    "tests": "testing latents and edges",
    "output edges": "searching for edges between outputs",
    "refit": "fitting the graph as a network",
    "null": "searching permuted tables",
    "writing": "writing the run folder",
    "scoring": "scoring against the truth",
    "report": "writing the report",
}


@contextlib.contextmanager
def show_stages(console: Console, *, quiet: bool, profile: bool) -> Iterator[None]:
    """Show the stages within the context, and in the end what each took."""
    progress = StageProgress(console, quiet)
    try:
        with follow(progress):
            yield
    finally:
        progress.close()
    if profile:
        console.print(progress.tabulate().to_string(index=False), highlight=False)


class StageProgress:
    """Shows the current stage, and keeps what each took; use with `follow`, and close it."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console, self._quiet = console, quiet
        self._names: list[str] = []
        self._status: Status | None = None
        self._printed = time.monotonic()
        self.seconds: dict[str, float] = {}
        self.peak: dict[str, int] = {}
        self.compiling = 0.0
        jax.monitoring.register_event_duration_secs_listener(self._hear)

    def begin(self, name: str) -> None:
        """Show the name of a stage."""
        self._names.append(name)
        self._show()

    def advance(self, done: int, total: int) -> None:
        """Show how many parts of the stage are done."""
        self._show(f" {done}/{total}")

    def end(self, name: str, seconds: float) -> None:
        """Keep what a stage took."""
        self._names.pop()
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.peak[name] = max(self.peak.get(name, 0), find_peak())
        self._show()

    def close(self) -> None:
        """Remove the line, and stop listening."""
        self._hide()
        jax.monitoring.unregister_event_duration_listener(self._hear)

    def tabulate(self) -> pd.DataFrame:
        """One row for each stage: its seconds, and the largest memory of the process so far."""
        rows = [
            (name, f"{s:.2f}", f"{self.peak[name] / 1e9:.2f}") for name, s in self.seconds.items()
        ]
        rows.append(("all stages", f"{sum(self.seconds.values()):.2f}", f"{find_peak() / 1e9:.2f}"))
        rows.append(("of these compiling", f"{self.compiling:.2f}", ""))
        return pd.DataFrame(rows, columns=["stage", "seconds", "peak_gb"])

    def _show(self, progress: str = "") -> None:
        name = self._names[-1] if self._names else WITH_A_BAR
        text = f"{TITLES.get(name, name)}{progress}"
        if self._quiet:
            return
        if name == WITH_A_BAR:
            self._hide()
        elif self._status:
            self._status.update(text)
        elif self._console.is_terminal:
            self._status = self._console.status(text)
            self._status.start()
        elif time.monotonic() - self._printed > SECONDS_BETWEEN_LINES:
            self._console.print(f"{text} ...", highlight=False)
            self._printed = time.monotonic()

    def _hide(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None

    def _hear(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        if event == COMPILING:
            self.compiling += duration_secs


def find_peak() -> int:
    """The largest resident memory of this process so far, in bytes; 0 where it is not known."""
    if resource is None:
        return 0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size
