"""Tasks: pure functions of their arguments, run here or on the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rinn.data.stages import count_parts

Argument = TypeVar("Argument")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Done:
    """A finished task: its name, its result, and the worker that has computed it."""

    name: Any
    result: Any
    worker: str


class Tasks(Protocol):
    """Calls of one function: iterate to get them as they finish; more may be added meanwhile."""

    def add(self, name: Any, *arguments: Any, near: str | None = None) -> None:
        """Call the function with these arguments and the shared ones, on `near` if it is free."""

    def __iter__(self) -> Iterator[Done]:
        """The tasks as they finish; ClusterError where the cluster fails."""


class Workers(Protocol):
    """Where tasks run."""

    device: str  # auto, cpu or gpu: what workers compute on
    min_seconds: float  # work that takes less is not worth sending

    def open(self, function: Callable[..., Any], *shared: Any) -> AbstractContextManager[Tasks]:
        """Send what all calls of a function share once to each worker; no task is left behind."""

    def count_networks(self, worker: str, networks: int) -> None:
        """Note that a worker has trained networks."""


def run_tasks(
    workers: Workers | None,
    function: Callable[..., Result],
    arguments: Sequence[Argument],
    *shared: Any,
) -> Iterator[tuple[Argument, Result]]:
    """Call `function(argument, *shared)` for each argument; results come as they finish.

    The first call is made here. Its time tells whether the others are worth sending to workers.

    Example:
        >>> dict(run_tasks(None, pow, [1, 2, 3], 2))
        {1: 1, 2: 4, 3: 9}
    """
    rest = list(arguments)
    started = time.monotonic()
    if rest and workers is not None:
        first = rest.pop(0)
        yield first, function(first, *shared)
        seconds = (time.monotonic() - started) * len(rest)
        if rest and seconds >= workers.min_seconds:
            yield from _run_remotely(workers, function, rest, shared)
            return
    for argument in count_parts(rest, len(rest)):
        yield argument, function(argument, *shared)


def _run_remotely(
    workers: Workers,
    function: Callable[..., Result],
    arguments: Sequence[Argument],
    shared: tuple[Any, ...],
) -> Iterator[tuple[Argument, Result]]:
    with workers.open(function, *shared) as tasks:
        for number, argument in enumerate(arguments):
            tasks.add(number, argument)
        for done in count_parts(tasks, len(arguments)):
            yield arguments[done.name], done.result
