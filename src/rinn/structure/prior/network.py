"""Networks of named nodes from a SIF file or a table of interactions, and the paths in them."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from rinn.data.text import Lines, read_records
from rinn.errors import InputError, quote

EXTENDED = "PARTICIPANT_A"  # the first column of the extended form
BATCH = 256  # names whose paths are followed at a time
COLUMNS = (
    ("source_genesymbol", "target_genesymbol"),
    ("source", "target"),
)  # the first are preferred
DIRECTED = "is_directed"
NO = ("0", "false", "no")


@dataclass(frozen=True)
class Network:
    """Names, and edges between their indices."""

    names: tuple[str, ...]
    sources: Int[np.ndarray, " edge"]
    targets: Int[np.ndarray, " edge"]
    index: dict[str, int] = field(repr=False, compare=False)

    def find_paths(
        self, sources: Sequence[str], targets: Sequence[str], steps: int, *, directed: bool = False
    ) -> Bool[np.ndarray, "source target"]:
        """Which sources have a path of at most `steps` edges to which targets.

        Example:
            >>> index = {"a": 0, "b": 1, "c": 2}
            >>> chain = Network(("a", "b", "c"), np.array([0, 1]), np.array([1, 2]), index)
            >>> chain.find_paths("ac", "bc", 1, directed=True)
            array([[ True, False],
                   [False,  True]])
        """
        edges = (np.ones(len(self.sources)), (self.sources, self.targets))
        graph = sparse.csr_array(edges, shape=(len(self.names),) * 2)
        ends = [self.index[name] for name in targets]
        reached = np.zeros((len(sources), len(ends)), bool)
        for first in range(0, len(sources), BATCH):
            part = slice(first, first + BATCH)
            starts = [self.index[name] for name in sources[part]]
            length = dijkstra(graph, directed, starts, unweighted=True, limit=steps)
            reached[part] = np.isfinite(length[:, ends])
        return reached


def load_network(path: str | os.PathLike[str]) -> Network:
    r"""Read a network, line by line, plain or gzip.

    SIF: a line is a name, a relation, and the names that the first is joined to; or a name alone.
    Fields are separated by tabs where the line has any, else by spaces. In the extended form
    (PARTICIPANT_A) the third column is the only other name; a table after an empty line is skipped.

    A table, such as those of OmniPath, has the columns source and target, or source_genesymbol and
    target_genesymbol, which are preferred. An edge whose is_directed is 0 is read both ways.

    Args:
        path: the file.

    Returns:
        The nodes and edges.

    Raises:
        InputError: the file cannot be read, a line lacks a name, or there is no edge.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "known.sif"
        >>> _ = path.write_text("INS activates PI3K\nPI3K activates AKT\n")
        >>> load_network(path).names
        ('INS', 'PI3K', 'AKT')
    """
    lines = Lines(path, "--network")
    top = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    names = [name.strip(' "').lower() for name in re.split("[\t,;]", top)]
    ends = next((pair for pair in COLUMNS if {*pair} <= {*names}), None)
    lines = Lines(path, "--network")
    index: dict[str, int] = {}
    sources, targets = array("q"), array("q")
    for source, others in _read_edges(lines) if ends is None else _read_rows(lines, names, ends):
        first = index.setdefault(source, len(index))
        for other in others:
            sources.append(first)
            targets.append(index.setdefault(other, len(index)))
    if not sources:
        raise InputError(
            f"{lines.source} must hold at least one edge, but it has none; each line is a name, a "
            f"relation and another name"
        )
    start, end = (np.frombuffer(side, np.int64) for side in (sources, targets))
    return Network(tuple(index), start, end, index)


def _read_rows(
    lines: Lines, names: list[str], ends: tuple[str, str]
) -> Iterator[tuple[str, list[str]]]:
    """The edges of a table of interactions; one without a direction is there both ways."""
    at = [names.index(name) for name in ends]
    direction = names.index(DIRECTED) if DIRECTED in names else None
    records = read_records(lines, comments=True)
    next(records)
    for fields in records:
        if len(fields) != len(names):
            raise lines.reject(
                f"have {len(names)} fields on each line, as its first line has",
                f"has {len(fields)}",
                "mend or remove it",
            )
        source, target = (fields[place].strip() for place in at)
        if not source or not target:
            raise lines.reject(
                f"name both {ends[0]} and {ends[1]} on each line", "lacks one", "mend or remove it"
            )
        yield source, [target]
        if direction is not None and fields[direction].strip().lower() in NO:
            yield target, [source]


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
