"""The index of runs as one HTML page: what each folder holds, whatever state it is in."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import networkx as nx

from rinn.errors import InputError, count
from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.files import load_graph
from rinn.graphs.layout import Edge, Point, layer_nodes
from rinn.report.folders import MANIFEST, REPORT, Parts, open_file, write_address
from rinn.report.html.document import read_resource, render_document
from rinn.report.html.markup import Markup, element, key, paragraph
from rinn.report.info import edges_info, graph_info, should_fold
from rinn.runs.manifest import Manifest
from rinn.runs.sentences import LOSS_LABELS

MAX_BYTES = 64_000_000

WIDTH, HEIGHT, MARGIN = 280.0, 170.0, 12.0
MAX_EDGES = 400
LARGEST_DOT, SMALLEST_DOT = 9.0, 1.5
SIGNS = {0: "unknown", -1: "minus", 1: "plus"}

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
    thumbnail: Markup | None = None


def read_card(root: Path, parts: Parts) -> Card:
    """Sum up the run folder at `parts` beneath `root`; never fails."""
    card = Card(parts, "/".join(parts) or root.name)
    try:
        run = Manifest.from_json(json.loads(_read(root, (*parts, MANIFEST)) or b""))
    except (ValueError, RecursionError):
        return replace(card, problem=f"Damaged: {MANIFEST} is missing or cannot be read.")
    card = _describe_manifest(card, run)
    if not run.is_complete:
        table = _read(root, (*parts, "trials.csv")) or b""
        trained = max(0, table.count(b"\n") - 1)
        noun = "network" if trained == 1 else "networks"
        state = f"{trained or 'no'} {noun} trained so far; its command resumes it."
        return replace(card, problem=f"Not finished: {state}")
    try:
        if _read(root, (*parts, "graph.json")) is None:
            raise InputError("graph.json must be a plain file")
        graph = load_graph(root.joinpath(*parts, "graph.json"))
    except InputError:
        return replace(card, problem="Damaged: graph.json is missing or cannot be read.")
    card = replace(card, latents=len(by_role(graph, "latent")), edges=graph.number_of_edges(),
                   thumbnail=draw_thumbnail(graph))  # fmt: skip
    if _read(root, (*parts, REPORT)) is None:
        return replace(card, problem=f"{REPORT} is missing; 'rinn report' writes it again.")
    return replace(card, has_report=True)


def _describe_manifest(card: Card, run: Manifest) -> Card:
    tables, test = run.tables, run.test
    # The command may name the table with its folders.
    named = (word for word in run.command if Path(word).name == tables.x)
    error = ""
    if test:
        loss = LOSS_LABELS.get(test.loss, "error").removeprefix("mean ")
        error = f"{loss} {test.error.mean:.4g}"
    scores = run.scores["graph"] if run.scores else None
    sizes = f"{len(tables.inputs)} inputs, {len(tables.outputs)} outputs"
    return replace(
        card,
        dataset=next(named, tables.x),
        size=f"{tables.samples} samples, {sizes}",
        strategy=run.settings.strategy,
        created=run.created[:16],
        seconds=run.seconds,
        networks=run.networks.trained if run.networks else None,
        latents_f1=scores["latents"]["f1"] if scores else None,
        edges_f1=scores["edges"]["f1"] if scores else None,
        test=error,
    )


def _read(root: Path, parts: Parts) -> bytes | None:
    """All of a file; None where it is not there, no plain file, or too large to be a run's."""
    file = open_file(root, parts)
    if file is None:
        return None
    with file, contextlib.suppress(OSError):
        content = file.read(MAX_BYTES + 1)
        return content if len(content) <= MAX_BYTES else None
    return None


class CardBox:
    """Cards by run, read again only where the run's files have changed."""

    def __init__(self, root: Path, read: Callable[[Path, Parts], Card] = read_card) -> None:
        self._root, self._read = root, read
        self._cards: dict[Parts, tuple[tuple[object, ...], Card]] = {}

    def get(self, parts: Parts) -> Card:
        """The card of a run as its folder is now."""
        names = (MANIFEST, "graph.json", REPORT, "trials.csv")
        state = tuple(self._find_state((*parts, name)) for name in names)
        if parts not in self._cards or self._cards[parts][0] != state:
            self._cards[parts] = state, self._read(self._root, parts)
        return self._cards[parts][1]

    def _find_state(self, parts: Parts) -> object:
        try:
            state = os.lstat(self._root.joinpath(*parts))
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_mode


def draw_thumbnail(whole: nx.DiGraph) -> Markup:
    """Draw a graph as inline SVG without names, as the report does; of many edges the frequent."""
    graph = graph_info(whole, folded=should_fold(whole)).graph
    layers = layer_nodes(graph)
    wide = (WIDTH - 2 * MARGIN) / max(len(layers.columns) - 1, 1)
    high = (HEIGHT - 2 * MARGIN) / layers.rows
    points = {
        node: (round(MARGIN + column * wide, 1), round(MARGIN + row * high, 1))
        for node, (column, row) in layers.positions.items()
    }
    counts = {role: len(by_role(graph, role)) for role in ROLES}
    dot = HEIGHT / max(1, *counts.values()) * 0.6
    dot = round(min(LARGEST_DOT, max(SMALLEST_DOT, dot)), 1)
    nodes = [
        # Lines without length: their caps are the dots.
        element("path", class_=role, stroke_width=dot, d="".join(
            f"M{points[node][0]:g} {points[node][1]:g}h0" for node in by_role(graph, role)))
        for role in ROLES
        if counts[role]
    ]  # fmt: skip
    edges = whole.number_of_edges()
    more = f", of which the {MAX_EDGES} most frequent are drawn" if edges > MAX_EDGES else ""
    nouns = ", ".join(count(len(by_role(whole, role)), role) for role in ROLES)
    routes = {
        edge: [(round(MARGIN + c * wide, 1), round(MARGIN + row * high, 1)) for c, row in route]
        for edge, route in layers.routes.items()
    }
    return element(
        "svg", *_draw_edges(graph, routes), *nodes, viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img",
        aria_label=f"Graph of {nouns} and {count(edges, 'edge')}{more}",
    )  # fmt: skip


def _draw_edges(graph: nx.DiGraph, routes: dict[Edge, list[Point]]) -> list[Markup]:
    """One path for each sign; the more edges, the thinner."""
    edges = edges_info(graph)
    ranked = sorted(edges, key=lambda edge: -(1 if edge.frequency is None else edge.frequency))
    drawn = ranked[:MAX_EDGES]
    width = round(min(1.4, max(0.3, 60 / max(1, len(drawn)))), 2)
    lines: dict[int, list[str]] = {sign: [] for sign in SIGNS}
    for edge in drawn:
        route = routes[edge.source, edge.target]
        lines[edge.sign].append("M" + "L".join(f"{x:g} {y:g}" for x, y in route))
    return [
        element("path", class_=SIGNS[sign], stroke_width=width, d="".join(parts))
        for sign, parts in lines.items()
        if parts
    ]


def render_index(title: str, cards: Sequence[Card]) -> Markup:
    """Write the page that shows many runs side by side."""
    ordered = sorted(cards, key=lambda card: (card.created, card.name), reverse=True)
    heading = f"Runs in {title}"
    header = element(
        "header",
        element("h1", "Runs in ", element("bdi", title)),
        _render_tools(cards) if cards else None,
        element("p", count(len(cards), "run"), id_="count", role="status"),
        _render_legend() if cards else None,
    )
    empty = paragraph("No run here yet: ", element("code", "rinn fit"), " writes them with --out.")
    runs = element("ul", *map(_render_card, ordered), id_="runs")
    return render_document(
        heading,
        header,
        element("main", None if cards else empty, runs),
        styles=[("rinn.report", "index.css")],
        script=read_resource("rinn.report", "index.js"),
    )


def _render_legend() -> Markup:
    keys = (key("plus", "raises "), key("minus", "lowers "), key("unknown", "sign not known. "))
    shapes = "Squares are inputs (left) and outputs (right), dots are latents. "
    return paragraph(shapes, *keys, "F1 is against a known truth.", class_="note")


def _render_tools(cards: Sequence[Card]) -> Markup:
    """The controls, which need the script; without it they stay hidden."""
    strategies = sorted({card.strategy for card in cards if card.strategy})
    search = element("input", id_="filter", type="search", autocomplete="off",
                     placeholder="name, dataset, strategy")  # fmt: skip
    options = [element("option", "all", value=""), *(element("option", one) for one in strategies)]
    sorts = [element("option", label, value=value, data_order=order)
             for value, label, order in SORTS]  # fmt: skip
    return element(
        "form",
        element("label", "Filter ", search),
        element("label", "Strategy ", element("select", *options, id_="strategy")),
        element("label", "Sort by ", element("select", *sorts, id_="sort")),
        element("button", "Compare two runs", type="button", id_="compare", hidden=True),
        id_="tools",
        hidden=True,
    )


def _render_card(card: Card) -> Markup:
    name = element("bdi", card.name)
    if card.has_report:
        name = element("a", name, href=write_address((*card.parts, REPORT)))
    facts = list_facts(card)
    items = [
        element("div", element("dt", term), element("dd", element("bdi", str(value))),
                class_="wide" if term in WIDE else "narrow")
        for term, value in facts.items()
    ]  # fmt: skip
    pick = element(
        "label", element("input", type="checkbox", class_="pick", value="/".join(card.parts)),
        " compare", class_="picker", hidden=True,
    )  # fmt: skip
    article = element(
        "article",
        element("h2", name),
        paragraph(card.problem, class_="problem") if card.problem else None,
        element("div", card.thumbnail, class_="picture") if card.thumbnail else None,
        element("dl", *items),
        pick if card.thumbnail else None,
    )
    # What the script sorts and filters by.
    keys = ("name", "dataset", "strategy", "created", "latents", "edges", "latents_f1", "edges_f1")
    values = {f"data_{name}": getattr(card, name) for name in keys}
    return element("li", article, **{k: "" if v is None else str(v) for k, v in values.items()})


def list_facts(card: Card) -> dict[str, object]:
    """What is known of a run, by name."""
    facts = {
        "latents": card.latents,
        "edges": card.edges,
        "latents F1": None if card.latents_f1 is None else f"{card.latents_f1:.2f}",
        "edges F1": None if card.edges_f1 is None else f"{card.edges_f1:.2f}",
        "test": card.test,
        "dataset": card.dataset,
        "size": card.size,
        "strategy": card.strategy,
        "networks": card.networks or None,
        "date": card.created.replace("T", " "),
        "time": None if card.seconds is None else f"{card.seconds:.0f} s",
    }
    return {term: value for term, value in facts.items() if value not in (None, "")}
