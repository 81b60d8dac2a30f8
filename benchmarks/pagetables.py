"""Tables of the documentation, written from records of benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

OPEN = "open"  # a cell that no record fills


def write_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def replace_table(page: Path, name: str, table: str) -> None:
    """Put a table between the two marks of its name, in place of what stands there.

    Raises:
        ValueError: the page has no such marks.
    """
    text = page.read_text(encoding="utf-8")
    begin, end = (f"<!-- {word} {name} -->" for word in ("begin", "end"))
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"{page} must have the line '{begin}' and then '{end}', once each")
    head, rest = text.split(begin)
    page.write_text(f"{head}{begin}\n{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")
