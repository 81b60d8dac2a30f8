"""Does the graph fit the data? A network with exactly its edges, fitted without penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.data.problem import Problem, add_offset
from rinn.errors import InputError
from rinn.refit.effects import (
    EdgeEffect,
    LatentEffect,
    find_losses,
    measure_edges,
    measure_latents,
    orient,
)
from rinn.refit.fit import refit_models
from rinn.refit.model import FORMULA, GraphModel, find_latents, find_parents


@dataclass(frozen=True)
class Refit:
    """A graph as a network, one model per split: parameters, losses in its units, effects.

    Latents have mean 0, standard deviation 1 and the same sign in all models; `latent_values` are
    means over the models.
    """

    loss: str
    models: tuple[GraphModel, ...]
    validation_loss: tuple[float, ...]
    test_losses: Float[np.ndarray, "split sample"]
    edges: tuple[EdgeEffect, ...]
    latents: tuple[LatentEffect, ...]
    latent_values: Float[np.ndarray, "sample latent"]

    @property
    def test_loss(self) -> float | None:
        """Mean over the test samples and models; None where none was held out."""
        return float(self.test_losses.mean()) if self.test_losses.size else None

    def to_json(self) -> dict[str, Any]:
        """Everything but the samples, ready for `json.dumps`."""
        return {
            "loss": self.loss,
            "validation_loss": list(self.validation_loss),
            "test_loss": self.test_loss,
            "edges": [_list_finite(edge) for edge in self.edges],
            "latents": [_list_finite(latent) for latent in self.latents],
            "formula": FORMULA,
            "models": [model.to_json() for model in self.models],
        }


def _list_finite(record: EdgeEffect | LatentEffect) -> dict[str, Any]:
    """The fields of a record; the error of a single sample is infinite."""
    return {name: value for name, value in vars(record).items() if value != np.inf}


def refit_graph(
    graph: nx.DiGraph,
    problem: Problem,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    device: jax.Device | None = None,
) -> Refit:
    """Fit a network with exactly the edges of a graph, without penalty, and measure its parts.

    Every latent is one number, a smooth function of its parents; every output is one of its
    parents. Several starts are trained on each split, and of each split the one that validates
    best is kept.

    Args:
        graph: nodes with roles; an output that it lacks, or that has no parents, is a constant.
        problem: the data.
        inputs: names, in the order of the rows of `problem.x`.
        outputs: names, in the order of the rows of `problem.y`.
        seed: decides the starting parameters and the order of the samples.
        device: where to train; None for the CPU, which is fast enough for such small functions.

    Returns:
        The parameters, losses and effects.

    Raises:
        InputError: the graph is not a causal graph, or names and tables do not fit.

    Example:
        >>> from rinn.data.problem import make_problem
        >>> from rinn.data.records import Data
        >>> x = np.random.default_rng(0).normal(size=(200, 1))
        >>> problem = make_problem(Data(x, np.hstack([x, -x]), ("x",), ("y", "z")))
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y"), ("h", "z")])
        >>> roles = {"x": "input", "h": "latent", "y": "output", "z": "output"}
        >>> nx.set_node_attributes(graph, roles, "role")
        >>> refit = refit_graph(graph, problem, ["x"], ["y", "z"])
        >>> refit.test_loss < 0.01, [edge.target for edge in refit.edges]
        (True, ['h', 'y', 'z'])
    """
    for name, names, rows in (("inputs", inputs, problem.x), ("outputs", outputs, problem.y)):
        if len(names) != len(rows):
            raise InputError(f"{name} must name the {len(rows)} columns, got {len(names)} names")
    parents = find_parents(graph, inputs, outputs)
    fitted = refit_models(parents, problem, inputs, outputs, seed=seed, device=device)
    models = orient(fitted, problem)

    def score(split: int, rows: np.ndarray) -> Float[np.ndarray, " sample"]:
        return find_losses(problem, split, rows, models[split].predict(problem.x[:, rows]))

    return Refit(
        loss=problem.loss,
        models=models,
        validation_loss=tuple(
            float(score(s, split.validation).mean()) for s, split in enumerate(problem.splits)
        ),
        test_losses=np.stack([score(s, problem.test) for s in range(len(models))]),
        edges=measure_edges(models, problem),
        latents=measure_latents(models, problem),
        latent_values=find_latents(models, problem.x),
    )


def predict_test(refit: Refit, problem: Problem) -> list[Float[np.ndarray, "output sample"]]:
    """Predict the test samples with the model of each split, in the networks' units."""
    rows = problem.test
    return [
        add_offset(problem, split, rows, model.predict(problem.x[:, rows]))
        for split, model in enumerate(refit.models)
    ]
