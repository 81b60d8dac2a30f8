"""What the index says of a run: read from its folder, whatever state that is in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.graphs.files import load_graph
from rinn.report.places import MANIFEST, REPORT, Parts, open_file
from rinn.report.thumbnail import draw_thumbnail
from rinn.runs.sentences import LOSS_WORDS

MOST_BYTES = 64_000_000
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


@dataclass(frozen=True)
class Card:
    """One run in the index; `problem` is a line where it is not finished, or damaged."""

    parts: Parts
    name: str
    problem: str = ""
    has_report: bool = False
    dataset: str = ""
    size: str = ""
    strategy: str = ""
    created: str = ""
    seconds: float | None = None
    networks: int | None = None
    latents: int | None = None
    edges: int | None = None
    latents_f1: float | None = None
    edges_f1: float | None = None
    test: str = ""
    thumbnail: str = ""


def read_card(root: Path, parts: Parts) -> Card:
    """Sum up the run folder at `parts` beneath `root`; never fails."""
    card = Card(parts, "/".join(parts) or root.name)
    manifest = _read(root, (*parts, MANIFEST))
    if manifest is None:
        return _mark(card, f"Damaged: {MANIFEST} is missing or cannot be read.")
    try:
        found = json.loads(manifest)
        card = _describe(card, found)
    except DAMAGE:
        return _mark(card, f"Damaged: {MANIFEST} does not say what a run's does.")
    if found.get("status") != "complete":
        return _mark(card, _say_progress(root, parts))
    return _look(root, card)


def _look(root: Path, card: Card) -> Card:
    """Add what lies beside the manifest of a finished run: the graph and the report."""
    graph = (*card.parts, "graph.json")
    try:
        if not _is_file(root, graph):
            raise InputError("graph.json must be a plain file")
        card = _draw(card, load_graph(root.joinpath(*graph)))
    except (InputError, *DAMAGE):
        return _mark(card, "Damaged: graph.json is missing or cannot be read.")
    if not _is_file(root, (*card.parts, REPORT)):
        return _mark(card, f"{REPORT} is missing; 'rinn report' writes it anew.")
    return _change(card, has_report=True)


def _describe(card: Card, manifest: dict[str, Any]) -> Card:
    tables, settings = manifest["tables"], manifest["settings"]
    inputs, outputs = len(tables["inputs"]), len(tables["outputs"])
    scores = (manifest.get("scores") or {}).get("graph")
    return _change(
        card,
        dataset=_find_table(manifest.get("command") or [], str(tables["x"])),
        size=f"{int(tables['samples'])} samples, {inputs} inputs, {outputs} outputs",
        strategy=str(settings.get("strategy", "rinn")),
        created=str(manifest["created"])[:16],
        seconds=float(manifest["seconds"]) if "seconds" in manifest else None,
        networks=int(manifest["networks"]["trained"]) if "networks" in manifest else None,
        latents_f1=float(scores["latents"]["f1"]) if scores else None,
        edges_f1=float(scores["edges"]["f1"]) if scores else None,
        test=_say_test(manifest.get("test")),
    )


def _find_table(command: list[str], name: str) -> str:
    """The table of the inputs as the command named it, which may say more than its name."""
    return next((str(word) for word in command if Path(str(word)).name == name), name)


def _say_test(test: dict[str, Any] | None) -> str:
    if not test:
        return ""
    words = LOSS_WORDS.get(test["loss"], "error").removeprefix("mean ")
    return f"{words} {float(test['error']['mean']):.4g}"


def _draw(card: Card, graph: nx.DiGraph) -> Card:
    return _change(
        card,
        latents=len(by_role(graph, "latent")),
        edges=graph.number_of_edges(),
        thumbnail=draw_thumbnail(graph),
    )


def _say_progress(root: Path, parts: Parts) -> str:
    table = _read(root, (*parts, "trials.csv"))
    trained = max(0, table.count(b"\n") - 1) if table else 0
    noun = "network" if trained == 1 else "networks"
    return f"Not finished: {trained or 'no'} {noun} trained so far; its command goes on with it."


def _read(root: Path, parts: Parts) -> bytes | None:
    """All of a file; None where it is not there, no plain file, or too large to be a run's."""
    file = open_file(root, parts)
    if file is None:
        return None
    with file:
        try:
            content = file.read(MOST_BYTES + 1)
        except OSError:
            return None
    return content if len(content) <= MOST_BYTES else None


def _is_file(root: Path, parts: Parts) -> bool:
    """Whether a run has this file, and it is small enough to be read."""
    file = open_file(root, parts)
    if file is None:
        return False
    with file:
        return os.fstat(file.fileno()).st_size <= MOST_BYTES


def _mark(card: Card, problem: str) -> Card:
    return _change(card, problem=problem)


def _change(card: Card, **changes: Any) -> Card:
    return Card(**(card.__dict__ | changes))


class CardBox:
    """Cards by run, read again only where the run's files have changed."""

    def __init__(self, root: Path, read: Callable[[Path, Parts], Card] = read_card) -> None:
        self._root, self._read = root, read
        self._cards: dict[Parts, tuple[tuple[object, ...], Card]] = {}

    def get(self, parts: Parts) -> Card:
        """The card of a run as its folder is now."""
        state = tuple(
            self._look((*parts, name)) for name in (MANIFEST, "graph.json", REPORT, "trials.csv")
        )
        known = self._cards.get(parts)
        if known is not None and known[0] == state:
            return known[1]
        card = self._read(self._root, parts)
        self._cards[parts] = state, card
        return card

    def _look(self, parts: Parts) -> object:
        try:
            found = os.lstat(self._root.joinpath(*parts))
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_mode
