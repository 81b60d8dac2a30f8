"""A what-if in the words of the command line: NAME=VALUE and SOURCE:TARGET."""

from __future__ import annotations

from collections.abc import Sequence

from rinn.data.text import parse_cell
from rinn.errors import InputError, quote, suggest
from rinn.refit.intervene import WORDS, Value
from rinn.refit.samples import MAX_LISTED, RunModel


def read_settings(
    model: RunModel, words: Sequence[str]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """Read which inputs and latents are set to which values.

    Args:
        model: knows the names.
        words: such as "TP53=1" or "L2=high"; a name may itself hold a "=".

    Returns:
        The values of inputs, and of latents.

    Raises:
        InputError: a word has no value, or names no input or latent, or sets one twice.
    """
    inputs: dict[str, Value] = {}
    latents: dict[str, Value] = {}
    for word in words:
        name, sign, text = (part.strip() for part in word.rpartition("="))
        if not sign or not name:
            raise InputError(f"--do must be NAME=VALUE, got {quote(word)}; such as --do TP53=1")
        _check_node(model, name)
        if name in inputs or name in latents:
            raise InputError(f"--do must set each name once, got {quote(name)} twice")
        (inputs if name in model.inputs else latents)[name] = _read_value(name, text)
    return inputs, latents


def read_edges(model: RunModel, words: Sequence[str]) -> list[tuple[str, str]]:
    """Read which edges are cut.

    Args:
        model: knows the edges.
        words: such as "L1:y3"; names may hold a ":" themselves, if only one edge fits.

    Returns:
        The ends of each edge.

    Raises:
        InputError: a word is not an edge of the graph.
    """
    edges = model.edges
    spelt: dict[str, list[tuple[str, str]]] = {}
    for source, target in edges:
        spelt.setdefault(f"{source}:{target}", []).append((source, target))
    found = []
    for word in words:
        fitting = spelt.get(word.strip(), [])
        if len(fitting) > 1:
            raise InputError(
                f"--without must name one edge, but {quote(word)} fits {len(fitting)}; call "
                f"predict_do in Python, which takes the two names apart"
            )
        if not fitting:
            nearest = suggest(word, spelt, listed=len(spelt) <= MAX_LISTED)
            raise InputError(
                f"--without must be SOURCE:TARGET, an edge of the graph, got {quote(word)}{nearest}"
            )
        found += fitting
    return list(dict.fromkeys(found))


def _check_node(model: RunModel, name: str) -> None:
    if name in model.inputs or name in model.latents:
        return
    if name in model.outputs:
        raise InputError(
            f"--do must set an input or a latent, but {quote(name)} is an output; outputs are what "
            f"changes"
        )
    known = (*model.latents, *model.inputs)
    raise InputError(
        f"--do must set an input or a latent of the run, got {quote(name)}"
        f"{suggest(name, known, listed=len(known) <= MAX_LISTED)}"
    )


def _read_value(name: str, text: str) -> Value:
    if text.lower() in WORDS:
        return text.lower()
    value = parse_cell(text)
    if value is None or value != value:  # a word, or a missing value
        raise InputError(
            f"--do must give {quote(name)} a number, or low, mean or high, got {quote(text)}"
        )
    return value
