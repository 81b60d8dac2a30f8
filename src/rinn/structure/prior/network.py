"""Networks of named things from a SIF file, and how far they lead."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse

from rinn.data.text import Lines
from rinn.errors import InputError, quote

EXTENDED = "PARTICIPANT_A"  # the first column of the extended form
TOGETHER = 256  # names whose ways are followed at a time


@dataclass(frozen=True)
class Network:
    """Names, and edges between their places."""

    names: tuple[str, ...]
    sources: Int[np.ndarray, " edge"]
    targets: Int[np.ndarray, " edge"]
    place: dict[str, int] = field(repr=False, compare=False)

    def find_ways(
        self, sources: Sequence[str], targets: Sequence[str], steps: int, *, directed: bool = False
    ) -> Bool[np.ndarray, "source target"]:
        """Find from where to where there is a way of at most so many steps.

        Example:
            >>> place = {"a": 0, "b": 1, "c": 2}
            >>> chain = Network(("a", "b", "c"), np.array([0, 1]), np.array([1, 2]), place)
            >>> chain.find_ways("ac", "bc", 1, directed=True)
            array([[ True, False],
                   [False,  True]])
        """
        count = len(self.names)
        edges = (np.ones(len(self.sources), bool), (self.sources, self.targets))
        step = sparse.csr_matrix(edges, shape=(count, count))
        step = step if directed else step + step.T
        ends = [self.place[name] for name in targets]
        parts = []
        for first in range(0, len(sources), TOGETHER):
            starts = [self.place[name] for name in sources[first : first + TOGETHER]]
            each = np.arange(len(starts))
            reached = sparse.csr_matrix(
                (np.ones(len(starts), bool), (each, starts)), shape=(len(starts), count)
            )
            for _ in range(steps):
                further = reached + reached @ step
                if further.nnz == reached.nnz:
                    break
                reached = further
            parts.append(reached[:, ends].toarray().astype(bool))
        return np.concatenate(parts) if parts else np.zeros((0, len(ends)), bool)


def load_sif(path: str | os.PathLike[str]) -> Network:
    """Read a network, line by line, plain or gzip.

    A line is a name, a relation, and the names that the first is joined to; or a name alone. Fields
    are separated by tabs where the line has any, else by spaces. In the extended form
    (PARTICIPANT_A) the third column is the only other name; a table after an empty line is skipped.
    """
    lines = Lines(path, "--network")
    place: dict[str, int] = {}
    sources, targets = array("q"), array("q")
    for source, others in _read_edges(lines):
        own = place.setdefault(source, len(place))
        for other in others:
            sources.append(own)
            targets.append(place.setdefault(other, len(place)))
    if not sources:
        raise InputError(
            f"{lines.source} must hold at least one edge, but it has none; each line is a name, a "
            f"relation and another name"
        )
    start, end = (np.frombuffer(side, np.int64) for side in (sources, targets))
    return Network(tuple(place), start, end, place)


def _read_edges(lines: Lines) -> Iterator[tuple[str, list[str]]]:
    is_extended = False
    for line in lines:
        if not line.strip():
            if is_extended:
                return
            continue
        if line.startswith("#"):
            continue
        fields = line.split("\t") if "\t" in line else line.split()
        fields = [name.strip() for name in fields]
        if fields[0] == EXTENDED:
            is_extended = True
            continue
        others = fields[2:3] if is_extended else fields[2:]
        others = [name for name in others if name]
        if not fields[0] or (len(fields) > 1 and not others):
            raise lines.reject(
                "have a name, a relation and at least one other name on each line",
                f"has {quote(line)}",
                "mend or remove it",
            )
        yield fields[0], others
