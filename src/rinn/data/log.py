"""What a reader read, dropped, merged and repaired, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rinn.errors import InputError, quote_some

Action = Literal["read", "dropped", "merged", "renamed", "repaired", "noted"]


@dataclass(frozen=True)
class LogEntry:
    """One step: `count` of `what`, and the reason; `names` lists the samples or genes, if named."""

    action: Action
    what: str
    count: int
    reason: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f" ({quote_some(self.names)})" if self.names else ""
        return f"{self.action:<8} {self.count:>9,} {self.what}: {self.reason}{shown}"


@dataclass(frozen=True)
class ReadLog:
    """The steps from one source to a table; `tallies` holds counts by name, as of mutation classes.

    Example:
        >>> print(ReadLog("x.maf", "MAF", (LogEntry("read", "rows", 2, "all"),)))
        MAF: x.maf
          read             2 rows: all
    """

    source: str
    format: str
    entries: tuple[LogEntry, ...] = ()
    tallies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def count(self, action: Action, what: str | None = None) -> int:
        """Add up the entries of one action."""
        return sum(
            entry.count
            for entry in self.entries
            if entry.action == action and what in (None, entry.what)
        )

    def as_dict(self) -> dict[str, Any]:
        """The log as lists and numbers, for JSON."""
        record = dataclasses.asdict(self)
        for entry in record["entries"]:
            entry["names"] = list(entry["names"])
            if not entry["names"]:
                del entry["names"]
        return record | {"entries": list(record["entries"])}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ReadLog:
        """Read what `as_dict` wrote."""
        try:
            entries = tuple(
                LogEntry(**entry | {"names": tuple(entry.get("names", ()))})
                for entry in record["entries"]
            )
            return cls(record["source"], record["format"], entries, record["tallies"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"the log must be what ReadLog.as_dict wrote, but it is not ({error!r}); read the "
                f"file again"
            ) from error

    def __str__(self) -> str:
        lines = [f"{self.format}: {self.source}"]
        lines += [f"  {entry}" for entry in self.entries]
        for name, counts in self.tallies.items():
            listing = ", ".join(f"{key} {count:,}" for key, count in counts.items())
            lines.append(f"  {name}: {listing or 'none'}")
        return "\n".join(lines)


def log_count(action: Action, what: str, number: int, reason: str) -> list[LogEntry]:
    """One entry for this number, or none where it is 0."""
    return [LogEntry(action, what, number, reason)] if number else []


def log_names(
    action: Action, what: str, reason: str, names: Iterable[str], *, keep: bool = True
) -> list[LogEntry]:
    """One entry for these names, or none where there are no names."""
    listed = tuple(names)
    if not listed:
        return []
    return [LogEntry(action, what, len(listed), reason, listed if keep else ())]
