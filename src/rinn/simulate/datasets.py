"""The datasets by name: one line each in the registry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rinn.config import MAX_SAMPLES, check_integer
from rinn.errors import InputError, suggest
from rinn.simulate.mechanisms import Maker, make_random, on_paper_graph
from rinn.simulate.samples import Simulation, Tumours
from rinn.simulate.tumours import beside_tumours

DATASETS: dict[str, Maker] = {
    "matrix": on_paper_graph("matrix"),
    "gaussian": on_paper_graph("gaussian"),
    "or": on_paper_graph("or"),
    "logic": on_paper_graph("logic"),
    "tcga-or": beside_tumours("or"),
    "tcga-logic": beside_tumours("logic"),
    "random": make_random,
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
        samples: how many rows to draw; 5000 by default, or as many as the tables of the user have
            where the block is placed beside some (`x_block` and `y_block`).
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
    if key not in DATASETS:
        raise InputError(
            f"dataset must be a known name, but {name!r} was given{suggest(key, DATASETS)}"
        )
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
    return simulation if sampled.tumours is None else _put_beside(sampled.tumours, simulation)


def _put_beside(tumours: Tumours, simulation: Simulation) -> Simulation:
    """Put the columns of tumours before the simulated ones."""
    x, y = (
        pd.concat([before, after.set_axis(before.index)], axis=1)
        for before, after in ((tumours.x, simulation.x), (tumours.y, simulation.y))
    )
    return replace(
        simulation,
        x=x,
        y=y,
        labels=tumours.labels,
        parents=tumours.parents,
        dropped=tumours.dropped,
    )
