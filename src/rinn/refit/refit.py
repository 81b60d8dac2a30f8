"""Does the graph carry the data? A network with exactly its edges, fitted without penalty."""

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
    find_error,
    find_losses,
    measure_edges,
    measure_latents,
    orient,
)
from rinn.refit.fit import refit_models
from rinn.refit.model import FORMULA, GraphModel, find_parents, run_model

NEGLIGIBLE = 1e-3  # of the outputs' variance, or of a bit or so


@dataclass(frozen=True)
class Refit:
    """A graph as a network: its parameters, how well it predicts, what each part is worth.

    Attributes:
        loss: mse, bce or mixed, in the networks' units.
        models: the parameters, one model for each split. Latents have mean 0 and standard
            deviation 1 over the training samples and are turned alike in all models.
        validation_loss: of each model on its own split.
        test_losses: of each model for each test sample.
        edges: what each edge does and is worth.
        latents: what each latent is worth.
        latent_values: of all samples, a mean over the models; columns as `latents`.
    """

    loss: str
    models: tuple[GraphModel, ...]
    validation_loss: tuple[float, ...]
    test_losses: Float[np.ndarray, "split sample"]
    edges: tuple[EdgeEffect, ...]
    latents: tuple[LatentEffect, ...]
    latent_values: Float[np.ndarray, "sample latent"]

    @property
    def test_loss(self) -> float:
        """Mean over the test samples and models."""
        return float(self.test_losses.mean())

    def to_json(self) -> dict[str, Any]:
        """Everything but the samples, as a plain dictionary."""
        return {
            "loss": self.loss,
            "validation_loss": list(self.validation_loss),
            "test_loss": self.test_loss,
            "edges": [dict(vars(edge)) for edge in self.edges],
            "latents": [dict(vars(latent)) for latent in self.latents],
            "formula": FORMULA,
            "models": [model.to_json() for model in self.models],
        }


@dataclass(frozen=True)
class Comparison:
    """A graph's network beside free ones, or a regression, on the same test samples.

    Attributes:
        graph_loss: mean test loss of the graph's network.
        free_loss: mean test loss of the other.
        difference: the first less the second.
        error: standard error of the difference, paired over the samples.
        other: what stands beside the graph's network, in words.
        mean_loss: mean test loss of each output's mean, where that is a third.
        max_errors: standard errors by which the graph's network may be worse.
    """

    graph_loss: float
    free_loss: float
    difference: float
    error: float
    other: str = "the best free network"
    mean_loss: float | None = None
    max_errors: float = 1.0

    @property
    def carries(self) -> bool:
        """Whether the graph's network is at most `max_errors` standard errors worse.

        A difference below a thousandth never counts: on data without noise the error is as
        small as the rest of the training.
        """
        return self.difference <= max(self.max_errors * self.error, NEGLIGIBLE)

    def to_json(self) -> dict[str, Any]:
        """The numbers, the verdict and the sentence."""
        return dict(vars(self)) | {"carries": self.carries, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        numbers = (
            f"(loss {self.graph_loss:.4f} against {self.free_loss:.4f}, "
            f"difference {self.difference:.4f} ± {self.error:.4f}"
        )
        numbers += ")" if self.mean_loss is None else f"; with no input {self.mean_loss:.4f})"
        how = "worse than" if not self.carries else "as well as"
        how = "better than" if self.difference < -max(self.error, NEGLIGIBLE) else how
        rest = "" if self.carries else ": the graph leaves out something that the data hold"
        return f"The graph's network predicts held-out samples {how} {self.other} {numbers}{rest}."


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
    runs = [run_model(model, problem.x) for model in models]
    values = np.zeros((problem.x.shape[1], len(models[0].latents)))  # [sample, latent]
    for column, name in enumerate(models[0].latents):
        values[:, column] = np.mean([run[name] for run in runs], axis=0)
    return Refit(
        loss=problem.loss,
        models=models,
        validation_loss=tuple(
            float(_score(model, problem, s, split.validation).mean())
            for s, (model, split) in enumerate(zip(models, problem.splits, strict=True))
        ),
        test_losses=np.stack(
            [_score(model, problem, s, problem.test) for s, model in enumerate(models)]
        ),
        edges=measure_edges(models, problem),
        latents=measure_latents(models, problem),
        latent_values=values,
    )


def predict_test(refit: Refit, problem: Problem) -> list[Float[np.ndarray, "output sample"]]:
    """Predict the test samples with the model of each split, in the networks' units."""
    rows = problem.test
    return [
        add_offset(problem, split, rows, model.predict(problem.x[:, rows]))
        for split, model in enumerate(refit.models)
    ]


def compare_losses(refit: Refit, free: Float[np.ndarray, "*net sample"]) -> Comparison:
    """Set the graph's network beside free ones that predicted the same test samples.

    Args:
        refit: from `refit_graph`.
        free: the loss of each test sample, in the same order and units; of several networks the
            mean is taken, as it is over the graph's models.

    Returns:
        The difference of the mean losses, its standard error, and a sentence.

    Raises:
        InputError: the number of samples differs.

    Example:
        >>> refit = Refit("mse", (), (), np.array([[1.0, 2.0, 3.0]]), (), (), np.zeros((9, 0)))
        >>> found = compare_losses(refit, np.array([1.0, 1.9, 2.5]))
        >>> round(found.difference, 6), found.carries
        (0.2, False)
    """
    samples = refit.test_losses.shape[1]
    theirs = np.asarray(free, np.float64).reshape(-1, np.shape(free)[-1]).mean(axis=0)  # [sample]
    if len(theirs) != samples:
        raise InputError(
            f"free must hold one loss for each of the {samples} test samples, got {len(theirs)}"
        )
    ours = refit.test_losses.mean(axis=0)  # [sample]
    difference = ours - theirs
    return Comparison(
        graph_loss=float(ours.mean()),
        free_loss=float(theirs.mean()),
        difference=float(difference.mean()),
        error=find_error(difference),
    )


def _score(
    model: GraphModel, problem: Problem, split: int, rows: np.ndarray
) -> Float[np.ndarray, " sample"]:
    return find_losses(problem, split, rows, model.predict(problem.x[:, rows]))
