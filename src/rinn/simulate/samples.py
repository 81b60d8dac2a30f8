"""Graph and rows of a simulation: the records, and the walk over the rows in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy.special import ndtr

from rinn.data.records import Dropped
from rinn.graphs.basics import Layout

# Rows of a dataset unless the user asks for another number.
SAMPLES = 5000

# Numbers held at once while rows are drawn: 8 MiB of doubles, small enough to stay in the cache.
BLOCK_NUMBERS = 2**20


@dataclass(frozen=True)
class Simulation:
    """Rows drawn from a known graph; `truth` is that graph, `parameters` how the rows were made.

    `x` and `y` have one row for each sample and one column for each input or output of `truth`;
    other columns come before them. `labels` holds further labels of the samples, such as their
    tissue. `parents` lists which of the other columns cause which; they are no part of `truth`.
    `dropped` lists samples of the user's tables that are left out.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    truth: nx.DiGraph
    name: str
    seed: int
    parameters: dict[str, Any]
    labels: pd.DataFrame | None = None
    parents: pd.DataFrame | None = None
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True)
class Tumours:
    """Columns before those of a simulated block, generated or from the user's tables.

    The rows of `x` and `y` are the same samples; an index other than 0, 1, 2 and so on holds their
    ids. The other fields are as in `Simulation`.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    labels: pd.DataFrame | None = None
    parents: pd.DataFrame | None = None
    dropped: tuple[Dropped, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sampled:
    """Rows of a mechanism, the graph with what was drawn for it, and columns to put before them."""

    x: np.ndarray  # [sample, input]
    y: np.ndarray  # [sample, output]
    graph: nx.DiGraph
    parameters: dict[str, Any]
    tumours: Tumours | None = None


def draw_normals(
    rng: np.random.Generator, layout: Layout, rows: int, correlated: float = 0.0, more: int = 0
) -> np.ndarray:
    """Standard normals [row, node and `more`]; those of each two inputs have this correlation.

    The inputs' normals are sqrt(1 - r) e_i + sqrt(r) f.
    """
    columns = len(layout.nodes) + more
    if not correlated:
        return rng.standard_normal((rows, columns))
    drawn = rng.standard_normal((rows, columns + 1))
    normals, common = drawn[:, :-1], drawn[:, -1:]
    inputs = list(layout.inputs)
    normals[:, inputs] = np.sqrt(1 - correlated) * normals[:, inputs]
    normals[:, inputs] += np.sqrt(correlated) * common
    return normals


def draw_uniforms(
    rng: np.random.Generator, layout: Layout, rows: int, correlated: float = 0.0, more: int = 0
) -> np.ndarray:
    """Numbers from 0 to 1 [row, node and `more`], those of inputs from a gaussian copula."""
    if not correlated:
        return rng.random((rows, len(layout.nodes) + more), dtype=np.float32)
    return ndtr(draw_normals(rng, layout, rows, correlated, more)).astype(np.float32)


def draw_rows(
    layout: Layout,
    samples: int,
    draw_block: Callable[[int], np.ndarray],
    dtypes: tuple[Any, Any],
    block: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows block by block and keep the inputs and outputs only.

    Rows are the same for every block size if `draw_block` takes its random numbers row by row.
    """
    rows = block or max(1, BLOCK_NUMBERS // max(1, len(layout.nodes)))
    x = np.empty((samples, len(layout.inputs)), dtypes[0], order="F")
    y = np.empty((samples, len(layout.outputs)), dtypes[1], order="F")
    for start in range(0, samples, rows):
        stop = min(start + rows, samples)
        values = draw_block(stop - start)  # [node, row]
        x[start:stop] = values[list(layout.inputs)].T  # [row, input]
        y[start:stop] = values[list(layout.outputs)].T  # [row, output]
    return x, y
