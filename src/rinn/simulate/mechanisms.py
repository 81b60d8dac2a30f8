"""The mechanisms by name, and the datasets they make on the ground-truth and on random graphs."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from rinn.config import check_choices, check_integer
from rinn.errors import InputError, suggest
from rinn.simulate.curved import sample_curved, sample_mixed
from rinn.simulate.gaussian import sample_gaussian
from rinn.simulate.graphs import make_random_graph, paper_graph
from rinn.simulate.logic import sample_logic, sample_or
from rinn.simulate.matrix import sample_matrix
from rinn.simulate.samples import SAMPLES, Sampled
from rinn.simulate.variations import TWIN_INPUTS, vary_graph, vary_rows

Maker = Callable[..., Sampled]

MECHANISMS: dict[str, Maker] = {
    "matrix": sample_matrix,
    "gaussian": sample_gaussian,
    "or": sample_or,
    "logic": sample_logic,
    "curved": sample_curved,
    "mixed": sample_mixed,
}
# Of a random graph: how often it is drawn again where it has no room for twins.
GRAPH_TRIES = 50


def on_paper_graph(mechanism: str) -> Maker:
    """Build the maker of a mechanism's dataset on the ground-truth graph.

    Example:
        >>> on_paper_graph("matrix")(np.random.default_rng(0), 3).parameters
        {'p': 0.1}
    """
    sample = MECHANISMS[mechanism]

    def make(rng: np.random.Generator, samples: int = SAMPLES, **given: Any) -> Sampled:
        parameters = fill_parameters(mechanism, given, defaults_of(sample))
        return sample(rng, paper_graph(), samples, **parameters)

    return make


def make_random(rng: np.random.Generator, samples: int = SAMPLES, **given: Any) -> Sampled:
    """Draw a random graph and rows from it.

    Example:
        >>> make_random(np.random.default_rng(0), 5, inputs=9, latents=3).x.shape
        (5, 9)
    """
    (mechanism,) = check_choices("mechanism", str(given.get("mechanism", "or")), MECHANISMS)
    sample = MECHANISMS[mechanism]
    shape, own = _arguments_of(make_random_graph, 1), defaults_of(sample)
    graphs, rows = _arguments_of(vary_graph, 2), _arguments_of(vary_rows, 2)
    extra = {**graphs, "correlated": 0.0, **rows}
    known = {**shape, "mechanism": mechanism, **own, **extra}
    parameters = fill_parameters("random", given, known)
    _check_variations(parameters, mechanism)

    def take(names: Iterable[str]) -> dict[str, Any]:
        return {name: parameters[name] for name in names}

    common = take(["correlated"]) if parameters["correlated"] else {}
    before, after = rng.spawn(2)
    graph = _draw_graph(rng, before, take(shape), take(graphs))
    sampled = sample(rng, graph, samples, **take(own), **common)
    drawn = {**take(shape), "mechanism": mechanism, **sampled.parameters}
    drawn |= {name: parameters[name] for name in extra if name in given}
    return replace(vary_rows(after, sampled, **take(rows)), parameters=drawn)


def _check_variations(parameters: dict[str, Any], mechanism: str) -> None:
    """Refuse what interventions without strengths and with independent inputs cannot show."""
    for name, none in (("correlated", 0), ("unequal", 1)):
        if mechanism == "matrix" and parameters[name] != none:
            raise InputError(
                f"{name} must come with another mechanism than matrix, but {parameters[name]!r} "
                f"was given with it; choose for example or"
            )


def _draw_graph(
    rng: np.random.Generator,
    varying: np.random.Generator,
    shape: dict[str, Any],
    variations: dict[str, Any],
) -> nx.DiGraph:
    """Draw a graph with room for the twins, which are inputs and latents too, and vary it."""
    twins = check_integer("twins", variations["twins"], minimum=0)
    if twins == 0:
        return vary_graph(varying, make_random_graph(rng, **shape), **variations)
    for name, each in (("inputs", TWIN_INPUTS), ("latents", 1)):
        least = each * twins + 1
        shape = {**shape, name: check_integer(name, shape[name], least) - each * twins}
    for _ in range(GRAPH_TRIES):
        with contextlib.suppress(InputError):
            return vary_graph(varying, make_random_graph(rng, **shape), **variations)
    return vary_graph(varying, make_random_graph(rng, **shape), **variations)


def defaults_of(sample: Maker) -> dict[str, Any]:
    """Read a mechanism's own parameters and their defaults from its signature.

    Example:
        >>> defaults_of(sample_or)
        {'prevalence': 0.08, 'noise': 0.1}
    """
    arguments = _arguments_of(sample, 3)
    return {
        name: default for name, default in arguments.items() if name not in ("block", "correlated")
    }


def _arguments_of(function: Callable[..., Any], skip: int) -> dict[str, Any]:
    arguments = list(inspect.signature(function).parameters.values())[skip:]
    return {argument.name: argument.default for argument in arguments}


def fill_parameters(
    dataset: str, given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Complete the given parameters with the defaults of a dataset."""
    for name in given:
        if name not in defaults:
            raise InputError(
                f"{name!r} is not a parameter of the dataset {dataset!r}{suggest(name, defaults)}"
            )
    return {**defaults, **given}
