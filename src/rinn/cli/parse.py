"""Interventions on the command line: NAME=VALUE and SOURCE:TARGET."""

from __future__ import annotations

from collections.abc import Iterable

from rinn.data.text import parse_cell
from rinn.errors import InputError, quote, suggest
from rinn.refit.intervene import LEVELS, Value
from rinn.refit.samples import MAX_LISTED, RunModel


def read_settings(
    model: RunModel, assignments: Iterable[str]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """The values of inputs and of latents, from NAME=VALUE; a name may itself contain a "="."""
    inputs: dict[str, Value] = {}
    latents: dict[str, Value] = {}
    for text in assignments:
        name, sign, value = (part.strip() for part in text.rpartition("="))
        if not sign or not name:
            raise InputError(f"--do must be NAME=VALUE, got {quote(text)}; such as --do TP53=1")
        _check_node(model, name)
        if name in inputs or name in latents:
            raise InputError(f"--do must set each name once, got {quote(name)} twice")
        (inputs if name in model.inputs else latents)[name] = _read_value(name, value)
    return inputs, latents


def read_edges(model: RunModel, names: Iterable[str]) -> list[tuple[str, str]]:
    """The edges to cut, from SOURCE:TARGET; names may contain a ":" if only one edge fits."""
    spelt: dict[str, list[tuple[str, str]]] = {}
    for source, target in model.edges:
        spelt.setdefault(f"{source}:{target}", []).append((source, target))
    edges = []
    for name in names:
        fitting = spelt.get(name.strip(), [])
        if len(fitting) > 1:
            raise InputError(
                f"--without must name one edge, but {quote(name)} fits {len(fitting)}; call "
                f"predict_do in Python, which takes the two names apart"
            )
        if not fitting:
            nearest = suggest(name, spelt, listed=len(spelt) <= MAX_LISTED)
            raise InputError(
                f"--without must be SOURCE:TARGET, an edge of the graph, got {quote(name)}{nearest}"
            )
        edges += fitting
    return list(dict.fromkeys(edges))


def _check_node(model: RunModel, name: str) -> None:
    nodes = (*model.latents, *model.inputs)
    if name in model.outputs and name not in nodes:
        raise InputError(
            f"--do must set an input or a latent, but {quote(name)} is an output; outputs are what "
            f"changes"
        )
    if name not in nodes:
        raise InputError(
            f"--do must set an input or a latent of the run, got {quote(name)}"
            f"{suggest(name, nodes, listed=len(nodes) <= MAX_LISTED)}"
        )


def _read_value(name: str, text: str) -> Value:
    if text.lower() in LEVELS:
        return text.lower()
    value = parse_cell(text)
    if value is None or value != value:  # text, or a missing value
        raise InputError(
            f"--do must give {quote(name)} a number, or low, mean or high, got {quote(text)}"
        )
    return value
