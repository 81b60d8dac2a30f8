"""The mechanisms by name, and the datasets they make on the ground-truth and on random graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rinn.simulation.checks import check_choices, fill_parameters
from rinn.simulation.gaussian import sample_gaussian
from rinn.simulation.layered import make_random_graph
from rinn.simulation.logic import sample_logic, sample_or
from rinn.simulation.matrix import sample_matrix
from rinn.simulation.paper import paper_graph
from rinn.simulation.samples import SAMPLES, Sampled

Maker = Callable[..., Sampled]

MECHANISMS: dict[str, Maker] = {
    "matrix": sample_matrix,
    "gaussian": sample_gaussian,
    "or": sample_or,
    "logic": sample_logic,
}


def on_paper_graph(mechanism: str) -> Maker:
    """Build the maker of a mechanism's dataset on the ground-truth graph.

    Args:
        mechanism: a name in `MECHANISMS`.

    Returns:
        A function of the random generator, the number of samples and the parameters.

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

    Args:
        rng: where the random numbers come from.
        samples: how many rows to draw.
        **given: the numbers of `make_random_graph`, `mechanism` and that mechanism's parameters.

    Returns:
        The rows, the graph and all parameters.

    Raises:
        InputError: a parameter is unknown or out of range.

    Example:
        >>> make_random(np.random.default_rng(0), 5, inputs=9, latents=3).x.shape
        (5, 9)
    """
    (mechanism,) = check_choices("mechanism", str(given.get("mechanism", "or")), MECHANISMS)
    sample = MECHANISMS[mechanism]
    shape = {**_arguments_of(make_random_graph, 1), "mechanism": mechanism}
    parameters = fill_parameters("random", given, {**shape, **defaults_of(sample)})
    numbers = {name: parameters[name] for name in shape if name != "mechanism"}
    graph = make_random_graph(rng, **numbers)
    own = {name: parameters[name] for name in defaults_of(sample)}
    sampled = sample(rng, graph, samples, **own)
    return replace(sampled, parameters={**numbers, "mechanism": mechanism, **sampled.parameters})


def defaults_of(sample: Maker) -> dict[str, Any]:
    """Read a mechanism's own parameters and their defaults from its signature.

    Args:
        sample: a function of generator, graph, samples, its parameters, and `block`.

    Returns:
        The defaults by name, without `block`, which does not change the rows.

    Example:
        >>> defaults_of(sample_or)
        {'prevalence': 0.08, 'noise': 0.1}
    """
    arguments = _arguments_of(sample, 3)
    return {name: default for name, default in arguments.items() if name != "block"}


def _arguments_of(function: Callable[..., Any], skip: int) -> dict[str, Any]:
    arguments = list(inspect.signature(function).parameters.values())[skip:]
    return {argument.name: argument.default for argument in arguments}
