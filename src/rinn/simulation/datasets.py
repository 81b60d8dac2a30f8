"""The datasets by name: one line each in the registry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rinn.errors import InputError, suggest
from rinn.simulation.checks import check_count
from rinn.simulation.mechanisms import Maker, make_random, on_paper_graph
from rinn.simulation.samples import Simulation
from rinn.simulation.tcga import beside_tumours

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
    name: str | int, *, samples: int = 5000, seed: int = 0, **parameters: Any
) -> Simulation:
    """Simulate a dataset whose causal graph is known.

    The same name, seed and parameters give the same rows, and fewer samples give the first rows
    of more.

    Args:
        name: a name in `DATASETS`, or its number in `ALIASES`.
        samples: how many rows to draw.
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
    count = check_count("samples", samples)
    start = check_count("seed", seed, least=0)
    sampled = DATASETS[key](np.random.default_rng(start), count, **parameters)
    truth = sampled.graph
    truth.graph.update(dataset=key, seed=start, samples=count, parameters=sampled.parameters)
    columns = {
        role: [node for node, kind in truth.nodes(data="role") if kind == role]
        for role in ("input", "output")
    }
    return Simulation(
        x=pd.DataFrame(sampled.x, columns=sampled.inputs or columns["input"]),
        y=pd.DataFrame(sampled.y, columns=sampled.outputs or columns["output"]),
        truth=truth,
        name=key,
        seed=start,
        parameters=dict(sampled.parameters),
        labels=sampled.labels,
    )
