"""What a reader read, dropped, merged and mended, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import pandas as pd

from rinn.errors import InputError, quote_some

Action = Literal["read", "dropped", "merged", "renamed", "repaired", "noted"]
Kind = Literal["mutation", "copy number", "expression", "other"]


@dataclass(frozen=True)
class Entry:
    """One thing that was done: `count` of `what`, and the reason.

    `names` holds which samples or genes they were. It is empty where they have no names, as rows
    of a file, and where there is nothing to look up, as with names cut at a `|`.
    """

    action: Action
    what: str
    count: int
    reason: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f" ({quote_some(self.names)})" if self.names else ""
        return f"{self.action:<8} {self.count:>9,} {self.what}: {self.reason}{shown}"


@dataclass(frozen=True)
class Account:
    """Everything that was done to one source on its way to a table.

    `tallies` holds counts by name, such as the mutations of each class in the file.
    """

    source: str
    format: str
    entries: tuple[Entry, ...] = ()
    tallies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def count(self, action: Action, what: str | None = None) -> int:
        """Add up the entries of one action.

        Example:
            >>> entries = (Entry("dropped", "genes", 2, "a"), Entry("dropped", "samples", 1, "b"))
            >>> account = Account("x.maf", "MAF", entries)
            >>> account.count("dropped"), account.count("dropped", "genes")
            (3, 2)
        """
        return sum(
            entry.count
            for entry in self.entries
            if entry.action == action and what in (None, entry.what)
        )

    def as_dict(self) -> dict[str, Any]:
        """Write the account as plain lists and numbers, fit for JSON.

        Example:
            >>> Account("x.maf", "MAF", (Entry("read", "rows", 2, "all"),)).as_dict()["entries"]
            [{'action': 'read', 'what': 'rows', 'count': 2, 'reason': 'all'}]
        """
        entries = []
        for entry in self.entries:
            plain: dict[str, Any] = {
                "action": entry.action,
                "what": entry.what,
                "count": entry.count,
                "reason": entry.reason,
            }
            entries.append(plain | ({"names": list(entry.names)} if entry.names else {}))
        tallies = {name: dict(counts) for name, counts in self.tallies.items()}
        return {
            "source": self.source,
            "format": self.format,
            "entries": entries,
            "tallies": tallies,
        }

    def __str__(self) -> str:
        lines = [f"{self.format}: {self.source}"]
        lines += [f"  {entry}" for entry in self.entries]
        for name, counts in self.tallies.items():
            listing = ", ".join(f"{key} {count:,}" for key, count in counts.items())
            lines.append(f"  {name}: {listing or 'none'}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reading:
    """A table of samples by genes, and the account of how it was made.

    `table` has one row per sample and one column per gene. A cell is missing (NaN) where the file
    says nothing of that gene in that sample. `sequenced` lists the samples that are known to have
    been looked at for mutations, and is None where nobody said; then a sample that is not in the
    table may or may not have mutations. `annotation` holds what the file says of each sample
    beside its genes, in the order of the table. `scale` says what the values are.
    """

    table: pd.DataFrame
    account: Account
    kind: Kind
    scale: str = "as written"
    sequenced: tuple[str, ...] | None = None
    annotation: pd.DataFrame | None = None

    def __str__(self) -> str:
        samples, genes = self.table.shape
        return (
            f"{self.kind} of {samples:,} samples x {genes:,} genes ({self.scale})\n{self.account}"
        )


def account_from_dict(plain: Mapping[str, Any]) -> Account:
    """Take back what `Account.as_dict` wrote.

    Example:
        >>> account = Account("x.maf", "MAF", (Entry("read", "rows", 2, "all", ("a", "b")),))
        >>> account_from_dict(account.as_dict()) == account
        True
    """
    try:
        return Account(
            str(plain["source"]),
            str(plain["format"]),
            tuple(_read_entry(entry) for entry in plain["entries"]),
            {str(name): dict(counts) for name, counts in plain["tallies"].items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the account must be what Account.as_dict wrote, but it is not ({error!r}); read the "
            f"file again"
        ) from error


def note_some(
    action: Action, what: str, reason: str, names: Iterable[str], *, keep: bool = True
) -> list[Entry]:
    """Make an entry for these names, or none where there are no names.

    Example:
        >>> [str(entry) for entry in note_some("dropped", "genes", "no symbol", ["?"])]
        ["dropped          1 genes: no symbol ('?')"]
    """
    all_names = tuple(names)
    if not all_names:
        return []
    return [Entry(action, what, len(all_names), reason, all_names if keep else ())]


def _read_entry(plain: Mapping[str, Any]) -> Entry:
    action = plain["action"]
    if action not in get_args(Action):
        raise ValueError(f"unknown action {action!r}")
    names = tuple(str(name) for name in plain.get("names", ()))
    return Entry(
        cast(Action, action), str(plain["what"]), int(plain["count"]), str(plain["reason"]), names
    )
