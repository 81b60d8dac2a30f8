"""Text on a terminal: nothing in data or paths moves the cursor or turns a line around."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text


def make_visible(text: str) -> str:
    """Spell out the characters that a terminal does not show, or that it would obey."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _spell(each) for each in text)


class Terminal(Console):
    """A console that makes all text visible; only its own newlines end a line."""

    def __init__(self, **how: Any) -> None:
        super().__init__(emoji=False, **how)  # a name may be called :dna:

    def render_str(self, text: str, **how: Any) -> Text:
        """Make rich text of a string that is printed, or is a cell of a table."""
        return super().render_str("\n".join(map(make_visible, text.split("\n"))), **how)


def _spell(letter: str) -> str:
    number = ord(letter)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
