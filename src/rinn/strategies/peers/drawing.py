"""What the peers share: the graph of their latents, and which inputs act on a latent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.data.records import Data
from rinn.graphs.basics import by_role, name_latents, reach
from rinn.strategies.base import Detected
from rinn.strategies.regression import find_significant

MIN_OUTPUTS = 2  # a latent with one output only renames edges from inputs to it


def start_graph(data: Data, latents: int) -> tuple[nx.DiGraph, list[str]]:
    """A graph of all columns and some latents without edges, and the names of the latents."""
    names = name_latents(latents, {*data.inputs, *data.outputs})
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(data.inputs, role="input")
    graph.add_nodes_from(names, role="latent", frequency=1.0)
    graph.add_nodes_from(data.outputs, role="output")
    return graph, names


def finish_graph(
    graph: nx.DiGraph, data: Data, z: Float[np.ndarray, "input output"], **about: Any
) -> Detected:
    """Leave out latents with too few outputs, and give each edge its weight.

    The parents of such a latent act on its output. A weight is the mean effect of the inputs above
    an edge on the outputs below it.
    """
    graph, reached = nx.DiGraph(graph), reach(graph)
    for latent in by_role(graph, "latent"):
        if len(reached[latent]) < MIN_OUTPUTS:
            ends = [(parent, o) for parent in graph.pred[latent] for o in reached[latent]]
            graph.remove_node(latent)
            graph.add_edges_from(ends)
    effects = pd.DataFrame(z / np.sqrt(len(data.x)), data.inputs, data.outputs)
    for source, target in graph.edges:
        above = (nx.ancestors(graph, source) | {source}) & set(data.inputs)
        part = effects.loc[sorted(above), sorted(reached[target])].to_numpy()
        weight = float(part.mean()) if part.size else 0.0
        graph.edges[source, target].update(weight=weight, frequency=1.0)
    row = {"trial": 0, **about, "latents": len(by_role(graph, "latent"))}
    row |= {"edges": graph.number_of_edges(), "kept": True}
    return Detected((graph,), 0, pd.DataFrame([row]))


def attach_inputs(
    graph: nx.DiGraph, data: Data, z: Float[np.ndarray, "input output"], latents: Sequence[str]
) -> None:
    """Add edges from inputs to latents that were found among the outputs alone.

    An input acts on a latent if it has effects on most of its outputs, and on none of its parents.
    """
    significant = pd.DataFrame(find_significant(z), data.inputs, data.outputs)
    acting = {}
    for latent in latents:
        outputs = [node for node in graph.succ[latent] if node in significant]
        acting[latent] = significant[outputs].mean(axis=1) > 0.5 if outputs else None
    for latent, inputs in acting.items():
        if inputs is None:
            continue
        for name in inputs.index[inputs]:
            parents = [acting.get(parent) for parent in graph.pred[latent]]
            if not any(one is not None and one[name] for one in parents):
                graph.add_edge(name, latent)
