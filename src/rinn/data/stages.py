"""The stages of a run: a listener learns where it is, and what each stage took."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

T = TypeVar("T")


class Follower(Protocol):
    """Listens to what a run does."""

    def begin(self, name: str) -> None:
        """A stage begins."""

    def advance(self, done: int, total: int) -> None:
        """So many parts of the stage are done."""

    def end(self, name: str, seconds: float) -> None:
        """A stage ends; the seconds of stages within it are not counted."""


@dataclass
class _Open:
    """The stages that are under way, and the seconds of those within each."""

    followers: tuple[Follower, ...]
    inner: list[float] = field(default_factory=list)


_OPEN: ContextVar[_Open | None] = ContextVar("stages", default=None)


@contextlib.contextmanager
def follow(follower: Follower) -> Iterator[None]:
    """Tell a follower of every stage within the context, beside those who follow already."""
    now = _OPEN.get()
    token = _OPEN.set(_Open((*(now.followers if now else ()), follower)))
    try:
        yield
    finally:
        _OPEN.reset(token)


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Mark a stage.

    Example:
        >>> with stage("search"):
        ...     pass
    """
    now = _OPEN.get()
    if now is None:
        yield
        return
    for follower in now.followers:
        follower.begin(name)
    now.inner.append(0.0)
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - started
        own = seconds - now.inner.pop()
        for follower in now.followers:
            follower.end(name, own)
        if now.inner:
            now.inner[-1] += seconds


def count_parts(parts: Iterable[T], total: int) -> Iterator[T]:
    """Pass the parts of a stage on, and tell how many are done."""
    now = _OPEN.get()
    for done, part in enumerate(parts):
        for follower in now.followers if now else ():
            follower.advance(done, total)
        yield part
