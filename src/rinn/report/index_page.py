"""The index of runs as one HTML page; its style and script are files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rinn.report.index import Card
from rinn.report.places import REPORT, write_address

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


def write_index(title: str, cards: Sequence[Card]) -> str:
    """Write the page that shows many runs side by side.

    Args:
        title: the name of the folder.
        cards: one for each run.

    Returns:
        HTML; every name is escaped.
    """
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
