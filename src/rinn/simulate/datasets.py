"""The mechanisms and the datasets by name: one line each in a registry."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from rinn.config import MAX_SAMPLES, check_choice, check_integer
from rinn.errors import InputError, suggest
from rinn.simulate.crosses import STRAINS, make_cross
from rinn.simulate.equations import sample_curved, sample_gaussian, sample_mixed
from rinn.simulate.graphs import make_random_graph, paper_graph
from rinn.simulate.logic import sample_logic, sample_or
from rinn.simulate.matrix import sample_matrix
from rinn.simulate.samples import SAMPLES, Sampled, Simulation
from rinn.simulate.tumours import load_tumours, sample_tumours
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
# How often a random graph is drawn again if it has no room for twins.
GRAPH_TRIES = 50
TUMOUR_OPTIONS = ("parents", "strength", "x_block", "y_block")


def on_paper_graph(mechanism: str) -> Maker:
    """The maker of a mechanism's dataset on the ground-truth graph."""
    sample = MECHANISMS[mechanism]

    def make(rng: np.random.Generator, samples: int = SAMPLES, **given: Any) -> Sampled:
        parameters = fill_parameters(mechanism, given, defaults_of(sample))
        return sample(rng, paper_graph(), samples, **parameters)

    return make


def with_tumours(mechanism: str) -> Maker:
    """The maker of a dataset that hides a simulated block behind the columns of tumours.

    The block is the mechanism's dataset on the ground-truth graph, row by row the same as alone
    with the same seed. Its 16 inputs and 16 outputs are the last columns. The columns before them
    are those of `sample_tumours`, which takes `parents` and `strength`, or the tables `x_block`
    and `y_block`, as `load_tumours` reads them. With tables there are as many rows as the two
    have in common, or the first of them if fewer samples are asked for.
    """
    sample = MECHANISMS[mechanism]

    def make(rng: np.random.Generator, samples: int | None = None, **given: Any) -> Sampled:
        defaults = defaults_of(sample)
        accepted = {**defaults, **dict.fromkeys(TUMOUR_OPTIONS)}
        filled = fill_parameters(f"tcga-{mechanism}", given, accepted)
        options = {name: filled[name] for name in TUMOUR_OPTIONS if filled[name] is not None}
        of_tumours = rng.spawn(1)[0]
        if "x_block" in options or "y_block" in options:
            tumours = load_tumours(samples=samples, taken=set(paper_graph()), **options)
        else:
            tumours = sample_tumours(of_tumours, SAMPLES if samples is None else samples, **options)
        simulated = sample(rng, paper_graph(), len(tumours.x), **{n: filled[n] for n in defaults})
        parameters = {**simulated.parameters, **tumours.parameters}
        return replace(simulated, parameters=parameters, tumours=tumours)

    return make


def make_random(rng: np.random.Generator, samples: int = SAMPLES, **given: Any) -> Sampled:
    """Draw a random graph and rows from it."""
    mechanism = check_choice("mechanism", str(given.get("mechanism", "or")), MECHANISMS)
    sample = MECHANISMS[mechanism]
    shape, own = _arguments_of(make_random_graph, 1), defaults_of(sample)
    graphs, rows = _arguments_of(vary_graph, 2), _arguments_of(vary_rows, 2)
    extra = {**graphs, "correlated": 0.0, **rows}
    parameters = fill_parameters("random", given, {**shape, "mechanism": mechanism, **own, **extra})
    for name, none in (("correlated", 0), ("unequal", 1)):
        if mechanism == "matrix" and parameters[name] != none:
            raise InputError(
                f"{name} must come with another mechanism than matrix, got {parameters[name]!r} "
                f"with it; choose for example or"
            )

    def take(names: Iterable[str]) -> dict[str, Any]:
        return {name: parameters[name] for name in names}

    common = take(["correlated"]) if parameters["correlated"] else {}
    before, after = rng.spawn(2)
    graph = _draw_graph(rng, before, take(shape), take(graphs))
    sampled = sample(rng, graph, samples, **take(own), **common)
    drawn = {**take(shape), "mechanism": mechanism, **sampled.parameters}
    drawn |= {name: parameters[name] for name in extra if name in given}
    return replace(vary_rows(after, sampled, **take(rows)), parameters=drawn)


def make_cross_of(rng: np.random.Generator, samples: int = STRAINS, **given: Any) -> Sampled:
    """Draw a cross, whose parameters are those of `make_cross`."""
    return make_cross(rng, samples, **fill_parameters("cross", given, _arguments_of(make_cross, 2)))


DATASETS: dict[str, Maker] = {
    "matrix": on_paper_graph("matrix"),
    "gaussian": on_paper_graph("gaussian"),
    "or": on_paper_graph("or"),
    "logic": on_paper_graph("logic"),
    "tcga-or": with_tumours("or"),
    "tcga-logic": with_tumours("logic"),
    "random": make_random,
    "cross": make_cross_of,
}

ALIASES = {
    "1": "matrix",
    "2": "gaussian",
    "3": "or",
    "4": "logic",
    "5": "tcga-or",
    "6": "tcga-logic",
}


def make_dataset(
    name: str | int, *, samples: int | None = None, seed: int = 0, **parameters: Any
) -> Simulation:
    """Simulate a dataset whose causal graph is known.

    The same name, seed and parameters give the same rows, and fewer samples give the first rows
    of more.

    Args:
        name: a name in `DATASETS`, or its number in `ALIASES`.
        samples: how many rows to draw; 5000 by default (cross: 1000), or as many as the tables of
            the user have if there are any (`x_block` and `y_block`).
        seed: where the random numbers start.
        **parameters: what the dataset's mechanism takes, such as `prevalence` or `noise`.

    Returns:
        The rows as tables, with the graph they come from.

    Raises:
        InputError: the name or a parameter is unknown, or a value is out of range.

    Example:
        >>> simulation = make_dataset("matrix", samples=3, p=0.5)
        >>> simulation.x.shape, simulation.y.columns[0], simulation.parameters
        ((3, 16), 'y0', {'p': 0.5})
    """
    key = ALIASES.get(str(name), str(name))
    check_choice("dataset", key, DATASETS)
    rows = {}
    if samples is not None:
        rows["samples"] = check_integer("samples", samples, maximum=MAX_SAMPLES)
    start = check_integer("seed", seed, minimum=0)
    sampled = DATASETS[key](np.random.default_rng(start), **rows, **parameters)
    truth = sampled.graph
    count = len(sampled.x)
    truth.graph.update(dataset=key, seed=start, samples=count, parameters=sampled.parameters)
    x, y = (
        pd.DataFrame(values, columns=[n for n, kind in truth.nodes(data="role") if kind == role])
        for values, role in ((sampled.x, "input"), (sampled.y, "output"))
    )
    simulation = Simulation(x, y, truth, key, start, dict(sampled.parameters))
    if (tumours := sampled.tumours) is None:
        return simulation
    return replace(
        simulation,
        x=pd.concat([tumours.x, x.set_axis(tumours.x.index)], axis=1),
        y=pd.concat([tumours.y, y.set_axis(tumours.y.index)], axis=1),
        labels=tumours.labels,
        parents=tumours.parents,
        dropped=tumours.dropped,
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
        extra = each * twins
        shape = {**shape, name: check_integer(name, shape[name], extra + 1) - extra}
    for _ in range(GRAPH_TRIES):
        with contextlib.suppress(InputError):
            return vary_graph(varying, make_random_graph(rng, **shape), **variations)
    return vary_graph(varying, make_random_graph(rng, **shape), **variations)


def defaults_of(sample: Maker) -> dict[str, Any]:
    """The parameters of a mechanism and their defaults, from its signature."""
    arguments = _arguments_of(sample, 3)
    return {k: v for k, v in arguments.items() if k not in ("block", "correlated", "kind")}


def _arguments_of(function: Callable[..., Any], skip: int) -> dict[str, Any]:
    arguments = list(inspect.signature(function).parameters.values())[skip:]
    return {each.name: each.default for each in arguments if each.kind != each.VAR_KEYWORD}


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
