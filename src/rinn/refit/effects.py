"""What each edge and latent of a refitted graph does: effects, and the loss without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from rinn.data.problem import Problem, add_offset, weigh_observed
from rinn.refit.model import GraphModel, Values, rescale, run_changed, run_model, stack_parents


@dataclass(frozen=True)
class LatentEffect:
    """What a latent does, and by how much the held-out loss rises when children see its mean.

    `effects` are the changes of the outputs that it reaches, from one standard deviation below its
    mean to one above.
    """

    latent: str
    loss_without: float
    error: float
    effects: dict[str, float]


@dataclass(frozen=True)
class EdgeEffect:
    """What an edge does, and by how much the held-out loss rises without it, for its target.

    `effect` is the target's mean change as the source goes from one standard deviation below its
    mean to one above, or from 0 to 1; `effect_spread` is its standard deviation between models.
    """

    source: str
    target: str
    loss_without: float
    error: float
    effect: float
    effect_spread: float


def find_losses(
    problem: Problem, split: int, rows: np.ndarray, predicted: Float[np.ndarray, "output sample"]
) -> Float[np.ndarray, " sample"]:
    """The loss of each of these samples, a mean over the outputs."""
    y = problem.y[:, rows].astype(np.float64)
    each = problem.likelihood.measure(add_offset(problem, split, rows, predicted), y)
    return np.mean(each * weigh_observed(problem, rows), axis=0)


def orient(models: Sequence[GraphModel], problem: Problem) -> tuple[GraphModel, ...]:
    """Give the latents the same sign in all models, such that their effects sum above zero."""
    x = problem.x[:, problem.seen]
    first = run_model(models[0], x)
    aligned = []
    for model in models:
        values = run_model(model, x)
        against = [name for name in model.latents if values[name] @ first[name] < 0]
        aligned.append(rescale(model, dict.fromkeys(against, (0.0, -1.0))))
    runs = [run_model(model, x) for model in aligned]
    turned = [
        name for name in models[0].latents if sum(_find_effects(aligned, runs, name).values()) < 0
    ]
    return tuple(rescale(model, dict.fromkeys(turned, (0.0, -1.0))) for model in aligned)


def measure_edges(models: Sequence[GraphModel], problem: Problem) -> tuple[EdgeEffect, ...]:
    """Measure every edge in the model of each split, on the validation samples of that split."""
    functions = models[0].functions.items()
    edges = [(parent, name) for name, function in functions for parent in function.parents]
    rises = _measure_rises(models, problem, [partial(_cut_edge, *edge) for edge in edges])
    x = problem.x[:, problem.seen]
    runs = [run_model(model, x) for model in models]
    results = []
    for (source, target), rise in zip(edges, rises, strict=True):
        pairs = zip(models, runs, strict=True)
        effects = [_find_effect(model, values, source, target) for model, values in pairs]
        spread = float(np.std(effects, ddof=1)) if len(effects) > 1 else 0.0
        results.append(EdgeEffect(source, target, *rise, float(np.mean(effects)), spread))
    return tuple(results)


def measure_latents(models: Sequence[GraphModel], problem: Problem) -> tuple[LatentEffect, ...]:
    """Measure every latent in the model of each split, on the validation samples of that split."""
    latents = models[0].latents
    rises = _measure_rises(models, problem, [partial(_hold_latent, name) for name in latents])
    runs = [run_model(model, problem.x[:, problem.seen]) for model in models]
    return tuple(
        LatentEffect(name, *rise, _find_effects(models, runs, name))
        for name, rise in zip(latents, rises, strict=True)
    )


Change = Callable[[GraphModel, Values, dict[str, float]], Values]


def _cut_edge(
    source: str, target: str, model: GraphModel, values: Values, means: dict[str, float]
) -> Values:
    return {target: _hold_parent(model, values, source, target, means[source])}


def _hold_parent(
    model: GraphModel, values: Values, source: str, target: str, value: float
) -> Float[np.ndarray, " sample"]:
    """The values of a node if one of its parents had the same value in every sample."""
    function, samples = model.functions[target], len(values[target])
    held = values | {source: np.full(samples, value)}
    return function(stack_parents(function.parents, held, samples))


def _hold_latent(name: str, _: GraphModel, values: Values, means: dict[str, float]) -> Values:
    return {name: np.full(len(values[name]), means[name])}


def _measure_rises(
    models: Sequence[GraphModel], problem: Problem, changes: Sequence[Change]
) -> list[tuple[float, float]]:
    """Rise of the validation loss by each change, a mean over the splits, with standard error."""
    means = np.empty((len(changes), len(models)))
    errors = np.empty_like(means)
    for s, (model, split) in enumerate(zip(models, problem.splits, strict=True)):
        values = run_model(model, problem.x[:, split.validation])
        trained = run_model(model, problem.x[:, split.train])
        averages = {name: float(value.mean()) for name, value in trained.items()}
        rows = split.validation
        base = find_losses(problem, s, rows, model.stack_outputs(values))
        for c, change in enumerate(changes):
            changed = run_changed(model, values, change(model, values, averages))
            rise = find_losses(problem, s, rows, model.stack_outputs(changed)) - base
            means[c, s], errors[c, s] = rise.mean(), find_error(rise)
    error = np.sqrt(np.sum(errors**2, axis=1)) / len(models)
    return list(zip(means.mean(axis=1).tolist(), error.tolist(), strict=True))


def find_error(values: Float[np.ndarray, " sample"]) -> float:
    """Standard error of a mean; infinite for a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def _find_effect(model: GraphModel, values: Values, source: str, target: str) -> float:
    ends = _find_ends(values[source])
    low, high = (_hold_parent(model, values, source, target, end) for end in ends)
    return float(np.mean(high - low))


def _find_effects(
    models: Sequence[GraphModel], runs: Sequence[Values], latent: str
) -> dict[str, float]:
    """A latent's effect on each output that it reaches, by all paths, a mean over the models."""
    each: dict[str, list[float]] = {}
    for model, values in zip(models, runs, strict=True):
        low, high = (
            run_changed(model, values, {latent: np.full(len(values[latent]), end)})
            for end in _find_ends(values[latent])
        )
        for name in model.outputs:
            if high[name] is not values[name]:  # the latent reaches it
                each.setdefault(name, []).append(float(np.mean(high[name] - low[name])))
    return {name: float(np.mean(effects)) for name, effects in each.items()}


def _find_ends(values: Float[np.ndarray, " sample"]) -> tuple[float, float]:
    """One standard deviation to either side of the mean, within the values; 0 and 1 if binary."""
    low, high = float(values.min()), float(values.max())
    if np.isin(values, (0, 1)).all():
        return low, high
    mean, std = float(values.mean()), float(values.std())
    return max(low, mean - std), min(high, mean + std)
