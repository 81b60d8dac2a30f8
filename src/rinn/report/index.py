"""The index of runs as one HTML page: what each folder holds, whatever state it is in."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import networkx as nx

from rinn.errors import InputError
from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.files import load_graph
from rinn.graphs.layout import place_nodes
from rinn.report.places import MANIFEST, REPORT, Parts, open_file, write_address
from rinn.runs.sentences import LOSS_WORDS

MAX_BYTES = 64_000_000
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)

WIDTH, HEIGHT, MARGIN = 280.0, 170.0, 12.0
MAX_EDGES = 400
LARGEST_DOT, SMALLEST_DOT = 9.0, 1.5

SORTS = (
    ("created", "date, newest first", "descending"),
    ("name", "name", "ascending"),
    ("dataset", "dataset", "ascending"),
    ("strategy", "strategy", "ascending"),
    ("latents", "latents, most first", "descending"),
    ("edges", "edges, most first", "descending"),
    ("latents-f1", "latents F1, best first", "descending"),
    ("edges-f1", "edges F1, best first", "descending"),
)
WIDE = ("test", "dataset", "size")
LEGEND = (
    '<p class="note">Squares are inputs (left) and outputs (right), dots are latents. '
    '<span class="key plus"></span>raises <span class="key minus"></span>lowers '
    '<span class="key plain"></span>sign not known. F1 is against a known truth.</p>'
)


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
            content = file.read(MAX_BYTES + 1)
        except OSError:
            return None
    return content if len(content) <= MAX_BYTES else None


def _is_file(root: Path, parts: Parts) -> bool:
    """Whether a run has this file, and it is small enough to be read."""
    file = open_file(root, parts)
    if file is None:
        return False
    with file:
        return os.fstat(file.fileno()).st_size <= MAX_BYTES


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


def draw_thumbnail(graph: nx.DiGraph) -> str:
    """Draw a graph as inline SVG without names.

    Inputs and outputs are squares, latents dots; edges are drawn in the classes `plus`, `minus`
    and `plain` (no weight). Of very many edges the most frequent are drawn.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, {"x": "input", "h": "latent", "y": "output"}, "role")
        >>> '<path class="latent" stroke-width="9" d="M140 85h0"/>' in draw_thumbnail(graph)
        True
    """
    places = _fit(place_nodes(graph))
    counts = {role: len(by_role(graph, role)) for role in ROLES}
    dot = HEIGHT / max(1, *counts.values()) * 0.6
    dot = round(min(LARGEST_DOT, max(SMALLEST_DOT, dot)), 1)
    edges = _draw_edges(graph, places)
    nodes = "".join(
        f'<path class="{role}" stroke-width="{dot:g}" d="{_dots(by_role(graph, role), places)}"/>'
        for role in ROLES
        if counts[role]
    )
    label = escape(_label(counts, graph.number_of_edges()))
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{label}">'
        f"{edges}{nodes}</svg>"
    )


def _fit(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Spread the columns over the width, and the nodes of each over the height."""
    columns: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for node, (x, y) in places.items():
        columns[x].append((y, node))
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    found = {}
    for number, x in enumerate(sorted(columns)):
        share = number / (len(columns) - 1) if len(columns) > 1 else 0.5
        for place, (_, node) in enumerate(sorted(columns[x])):
            down = (place + 0.5) / len(columns[x])
            found[node] = round(MARGIN + share * wide, 1), round(MARGIN + down * high, 1)
    return found


def _draw_edges(graph: nx.DiGraph, places: dict[str, tuple[float, float]]) -> str:
    """One path for each sign; the thinner, the more edges there are."""
    ranked = sorted(graph.edges(data=True), key=lambda edge: -_number(edge[2].get("frequency"), 1))
    drawn = ranked[:MAX_EDGES]
    width = round(min(1.4, max(0.3, 60 / max(1, len(drawn)))), 2)
    lines: dict[str, list[str]] = {"plain": [], "minus": [], "plus": []}
    for source, target, about in drawn:
        weight = _number(about.get("weight"), 0)
        kind = "plus" if weight > 0 else "minus" if weight < 0 else "plain"
        (x, y), (to_x, to_y) = places[source], places[target]
        lines[kind].append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
    return "".join(
        f'<path class="{kind}" stroke-width="{width:g}" d="{"".join(parts)}"/>'
        for kind, parts in lines.items()
        if parts
    )


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise


def _dots(nodes: Iterable[str], places: dict[str, tuple[float, float]]) -> str:
    """Lines without length: their caps are the dots."""
    return "".join(f"M{places[node][0]:g} {places[node][1]:g}h0" for node in nodes)


def _label(counts: dict[str, int], edges: int) -> str:
    words = [f"{number} {role}{'' if number == 1 else 's'}" for role, number in counts.items()]
    more = f", of which the {MAX_EDGES} most frequent are drawn" if edges > MAX_EDGES else ""
    return f"Graph of {', '.join(words)} and {edges} edge{'' if edges == 1 else 's'}{more}"


def write_index(title: str, cards: Sequence[Card]) -> str:
    """Write the page that shows many runs side by side."""
    body = "".join(_write_card(card) for card in sorted(cards, key=_by_date, reverse=True))
    count = f"{len(cards)} run{'' if len(cards) == 1 else 's'}"
    empty = "" if cards else "<p>No run here yet: <code>rinn fit</code> writes them with --out.</p>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Runs in {escape(title)}</title>"
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/asset/style.css">'
        '<script src="/asset/index.js" defer></script></head><body>'
        f"<header><h1>Runs in <bdi>{escape(title)}</bdi></h1>"
        f"{_write_tools(cards) if cards else ''}"
        f'<p id="count" role="status">{count}</p>{LEGEND if cards else ""}</header>'
        f'<main>{empty}<ul id="runs">{body}</ul></main>'
        "</body></html>\n"
    )


def _by_date(card: Card) -> tuple[str, str]:
    return card.created, card.name


def _write_tools(cards: Sequence[Card]) -> str:
    """The controls, which only the script brings to life; without it they stay hidden."""
    strategies = sorted({card.strategy for card in cards if card.strategy})
    options = "".join(f"<option>{escape(name)}</option>" for name in strategies)
    sorts = "".join(
        f'<option value="{key}" data-way="{way}">{words}</option>' for key, words, way in SORTS
    )
    return (
        '<form id="tools" hidden>'
        '<label>Filter <input id="filter" type="search" autocomplete="off" '
        'placeholder="name, dataset, strategy"></label>'
        f'<label>Strategy <select id="strategy"><option value="">all</option>{options}</select>'
        f'</label><label>Sort by <select id="sort">{sorts}</select></label></form>'
    )


def _write_card(card: Card) -> str:
    name = f"<bdi>{escape(card.name)}</bdi>"
    if card.has_report:
        name = f'<a href="{escape(write_address((*card.parts, REPORT)))}">{name}</a>'
    picture = f'<div class="picture">{card.thumbnail}</div>' if card.thumbnail else ""
    problem = f'<p class="problem">{escape(card.problem)}</p>' if card.problem else ""
    facts = "".join(
        f'<div class="{"wide" if word in WIDE else "narrow"}"><dt>{word}</dt>'
        f"<dd><bdi>{escape(value)}</bdi></dd></div>"
        for word, value in _facts(card)
        if value
    )
    return (
        f"<li {_write_keys(card)}><article><h2>{name}</h2>{problem}{picture}"
        f"<dl>{facts}</dl></article></li>"
    )


def _facts(card: Card) -> list[tuple[str, str]]:
    return [
        ("latents", _count(card.latents)),
        ("edges", _count(card.edges)),
        ("latents F1", _share(card.latents_f1)),
        ("edges F1", _share(card.edges_f1)),
        ("test", card.test),
        ("dataset", card.dataset),
        ("size", card.size),
        ("strategy", card.strategy),
        ("networks", _count(card.networks or None)),
        ("date", card.created.replace("T", " ")),
        ("time", "" if card.seconds is None else f"{card.seconds:.0f} s"),
    ]


def _write_keys(card: Card) -> str:
    """What the script sorts and filters by."""
    keys: dict[str, object] = {
        "name": card.name,
        "dataset": card.dataset,
        "strategy": card.strategy,
        "created": card.created,
        "latents": card.latents,
        "edges": card.edges,
        "latents-f1": card.latents_f1,
        "edges-f1": card.edges_f1,
    }
    return " ".join(
        f'data-{key}="{escape("" if value is None else str(value))}"' for key, value in keys.items()
    )


def _count(number: int | None) -> str:
    return "" if number is None else str(number)


def _share(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"
