"""What would the outputs be, were inputs or latents set to a value, or edges not there?"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.errors import InputError, quote, quote_some, suggest
from rinn.nets.predict import predict_net
from rinn.refit.model import GraphModel, run_changed, run_model
from rinn.refit.samples import (
    MAX_LISTED,
    CovariateSource,
    RunModel,
    Samples,
    Source,
    take_samples,
)

Edge = tuple[str, str]

LEVELS = ("low", "mean", "high")

Value = float | str


@dataclass(frozen=True)
class Prediction:
    """What an intervention is predicted to do: numbers in the user's units, one for each output.

    Outputs that are 0 or 1 are probabilities of a 1, counted ones mean counts.

    Attributes:
        outputs: their names.
        before: mean over the samples of what is predicted without the intervention.
        after: the same with it.
        change: the second less the first, a mean over the models of the splits.
        spread: standard deviation of the change between these models; NaN if there is one only.
        size: root mean square over the samples of the change in each, a mean over the models: what
            raises an output in some samples and lowers it in others has a size, but no change.
        free_change: the change in the free networks, a mean over them; None where latents or
            edges are part of the question, of which free networks know nothing.
        free_spread: standard deviation of that over the networks.
        by_sample: the change in each sample, a mean over the models.
        samples: sample ids.
        warnings: what makes the prediction less sure, in sentences.
    """

    outputs: tuple[str, ...]
    before: Float[np.ndarray, " output"]
    after: Float[np.ndarray, " output"]
    change: Float[np.ndarray, " output"]
    spread: Float[np.ndarray, " output"]
    size: Float[np.ndarray, " output"]
    free_change: Float[np.ndarray, " output"] | None
    free_spread: Float[np.ndarray, " output"] | None
    by_sample: Float[np.ndarray, "sample output"]
    samples: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row for each output: before, after, change, spread, size, and the free networks'."""
        columns = {"before": self.before, "after": self.after, "change": self.change}
        columns |= {"spread": self.spread, "size": self.size}
        if self.free_change is not None and self.free_spread is not None:
            columns |= {"free_change": self.free_change, "free_spread": self.free_spread}
        return pd.DataFrame(columns, index=pd.Index(self.outputs, name="output"))


def predict_do(
    model: RunModel,
    x: Source,
    *,
    inputs: Mapping[str, Value] | None = None,
    latents: Mapping[str, Value] | None = None,
    without: Iterable[Edge] = (),
    covariates: CovariateSource | None = None,
) -> Prediction:
    """Predict how the outputs change when variables are set and edges are cut.

    A variable that is set has this value in every sample, regardless of its causes, and its
    descendants change accordingly. Where an edge is cut, its target gets the mean of its source. If
    variables are set, the comparison is with the same samples and the same cut edges without the
    setting: the change is then what the setting does along the edges that are left. With cut edges
    alone, the comparison is with the whole graph.

    Args:
        model: from `load_model`.
        x: the samples: a file, a DataFrame, or an array in the order of the run's inputs.
        inputs: values in the user's units, or "low", "mean" or "high" (see `Range`).
        latents: values in standard deviations around the mean 0, or one of these levels.
        without: edges to cut, as (source, target).
        covariates: of the same samples, where the run has any: a file, or a table, matched by
            sample ids where both have them. Changes of outputs that are numbers do not depend on
            them; without them, before and after are those of the reference levels. Changes of
            probabilities and counts do.

    Returns:
        The change of every output.

    Raises:
        InputError: a name, a value or an edge is unknown, nothing is asked, or a table is missing
            or does not fit.

    Warns:
        UserWarning: a value lies outside the range of the run's data, or the graph leaves out
            something that the data hold.

    Example:
        >>> from rinn import RINN, make_dataset
        >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2,
        ...     mechanism="gaussian")
        >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
        >>> found = predict_do(model.model_, data.x, inputs={"x0": "high"})
        >>> found.change.shape == (len(model.outputs_),)
        True
    """
    samples = take_samples(model, x, covariates=covariates)
    result = answer(model, samples, dict(inputs or {}), dict(latents or {}), list(without))
    for message in result.warnings:
        warnings.warn(message, stacklevel=2)
    return result


def answer(
    model: RunModel,
    samples: Samples,
    inputs: Mapping[str, Value],
    latents: Mapping[str, Value],
    without: Sequence[Edge],
) -> Prediction:
    """Answer the question of `predict_do` for samples that are already in the run's units."""
    if not inputs and not latents and not without:
        raise InputError(
            "a what-if must set an input or a latent, or cut an edge, but nothing was given; name "
            "one with --do NAME=VALUE or --without SOURCE:TARGET"
        )
    check_names(model, inputs, latents, without)
    values, messages = find_values(model, inputs, latents)
    offset = _find_offset(model, samples, messages)
    moved = values | {name: _scale(model, name, values[name]) for name in inputs}
    held = {source for source, _ in without if source in model.inputs}
    means = {name: _scale(model, name, model.ranges[name].mean) for name in held}
    pairs = [_run_both(each, samples.x, moved, without, means) for each in model.models]
    before, after = (
        _to_units(model, offset + np.stack([pair[side] for pair in pairs])) for side in (0, 1)
    )
    free = _ask_free(model, samples.x, offset, moved) if not latents and not without else None
    changes = after - before  # [model, output, sample]
    each = changes.mean(axis=2)
    sources = {source for source, _ in model.edges}
    if idle := [name for name in moved if name not in sources]:
        messages.append(
            f"{quote_some(idle)} has no edge in the graph: by the graph nothing changes"
        )
    if model.is_adequate is False:
        messages.append(
            "the graph's network predicts held-out samples worse than models without a graph: "
            "the graph misses something, and so does this prediction"
        )
    return Prediction(
        outputs=model.outputs,
        before=before.mean(axis=(0, 2)),
        after=after.mean(axis=(0, 2)),
        change=each.mean(axis=0),
        spread=_find_spread(each),
        size=np.sqrt((changes**2).mean(axis=2)).mean(axis=0),
        free_change=None if free is None else free.mean(axis=0),
        free_spread=None if free is None else _find_spread(free),
        by_sample=changes.mean(axis=0).T,
        samples=samples.names,
        warnings=(*samples.warnings, *messages),
    )


def _find_offset(
    model: RunModel, samples: Samples, messages: list[str]
) -> Float[np.ndarray, "split output sample"]:
    """What covariates add; where they were not given, that of the reference, if it may be."""
    if samples.offset is not None:
        return samples.offset
    if model.offsets is None:
        return np.zeros((len(model.models), len(model.outputs), len(samples.names)))
    if model.loss != "mse":
        raise InputError(
            f"--covariates must be given where outputs are not all numbers, as the run has "
            f"{model.offsets.names}: how far a probability or a count moves depends on them; name "
            f"a table with these columns for the same samples"
        )
    messages.append(
        f"before and after are those of {model.offsets.reference}, since no covariates were given; "
        f"the change does not depend on them"
    )
    return model.offsets.repeat_reference(len(samples.names))


def check_names(
    model: RunModel,
    inputs: Iterable[str],
    latents: Iterable[str],
    without: Iterable[Edge],
) -> None:
    """Raise InputError with suggestions unless the graph has all of them."""
    for role, names, choices in (
        ("input", inputs, model.inputs),
        ("latent", latents, model.latents),
    ):
        for name in names:
            if name not in choices:
                raise InputError(
                    f"{role}s to set must be {role}s of the run, got {quote(name)}"
                    f"{suggest(name, choices, listed=len(choices) <= MAX_LISTED)}"
                )
    edges, ends = set(model.edges), set(model.outputs)
    for source, target in without:
        if source in ends and (source, target) in edges:
            raise InputError(
                f"edges to cut must lead from an input or a latent, got "
                f"{quote(f'{source}:{target}')} from an output, whose mean the run does not hold; "
                f"cut the edges into {quote(source)}, or leave it out"
            )
        if (source, target) not in edges:
            shown = [f"{one}:{other}" for one, other in model.edges if source == one]
            nearest = suggest(f"{source}:{target}", shown) if shown else ""
            raise InputError(
                f"edges to cut must be edges of the graph, got {quote(f'{source}:{target}')}"
                f"{nearest}"
            )


def _scale(model: RunModel, name: str, value: float) -> float:
    """A value of an input in the networks' units."""
    row = model.inputs.index(name)
    return float((value - model.x_scale.mean[row]) / model.x_scale.std[row])


def _run_both(
    model: GraphModel,
    x: Float[np.ndarray, "input sample"],
    moved: Mapping[str, float],
    without: Sequence[Edge],
    means: Mapping[str, float],
) -> tuple[np.ndarray, np.ndarray]:
    """The outputs before and after, [output, sample] each, in the networks' units."""
    cut = cut_edges(model, without, means)
    values = run_model(cut, x)
    if not moved:
        return model.predict(x), model.stack_outputs(values)
    changed = {name: np.full(x.shape[1], value) for name, value in moved.items()}
    return model.stack_outputs(values), model.stack_outputs(run_changed(cut, values, changed))


def _to_units(
    model: RunModel, raw: Float[np.ndarray, "*any output sample"]
) -> Float[np.ndarray, "*any output sample"]:
    return np.swapaxes(model.likelihood.to_units(np.swapaxes(raw, -1, -2)), -1, -2)


def _ask_free(
    model: RunModel,
    x: Float[np.ndarray, "input sample"],
    offset: Float[np.ndarray, "split output sample"],
    moved: Mapping[str, float],
) -> Float[np.ndarray, "net output"] | None:
    """The mean change of each output in each free network."""
    if not model.nets:
        return None
    other = x.copy()
    for name, value in moved.items():
        other[model.inputs.index(name)] = value
    changes = []
    for net in model.nets:
        shift = 0.0 if model.offsets is None else offset[net.trial.split]
        old, new = (_to_units(model, predict_net(net, values) + shift) for values in (x, other))
        changes.append((new - old).mean(axis=1))
    return np.stack(changes).astype(np.float64)


def _find_spread(each: Float[np.ndarray, "model output"]) -> Float[np.ndarray, " output"]:
    return each.std(axis=0, ddof=1) if len(each) > 1 else np.full(each.shape[1], np.nan)


def cut_edges(
    model: GraphModel, edges: Sequence[tuple[str, str]], means: Mapping[str, float]
) -> GraphModel:
    """Take edges out of a model: their targets see their sources at a mean."""
    functions = dict(model.functions)
    for source, target in edges:
        old = functions[target]
        i, mean = old.parents.index(source), means.get(source, 0.0)
        functions[target] = replace(
            old,
            parents=(*old.parents[:i], *old.parents[i + 1 :]),
            bias=old.bias + float(old.weights[i]) * mean,
            weights=np.delete(old.weights, i),
            hidden=np.delete(old.hidden, i, axis=1),
            hidden_bias=old.hidden_bias + old.hidden[:, i] * mean,
        )
    return replace(model, functions=functions)


def find_values(
    model: RunModel, inputs: Mapping[str, Value], latents: Mapping[str, Value]
) -> tuple[dict[str, float], list[str]]:
    """Turn low, mean and high into numbers, and say which values the data never had."""
    values, messages = {}, []
    for name, wanted in {**inputs, **latents}.items():
        span = model.ranges[name]
        if isinstance(wanted, str) and wanted not in LEVELS:
            raise InputError(
                f"the value of {quote(name)} must be a number, or low, mean or high, got "
                f"{quote(wanted)}"
            )
        value = values[name] = float(getattr(span, wanted) if isinstance(wanted, str) else wanted)
        if not np.isfinite(value):
            raise InputError(f"the value of {quote(name)} must be finite, got {value}")
        if not span.contains(value):
            messages.append(
                f"{quote(name)} = {value:g} lies outside the run's data, where it goes from "
                f"{span.min:.4g} to {span.max:.4g}: the networks only guess there"
            )
        elif span.binary and value not in (0, 1):
            messages.append(f"{quote(name)} = {value:g}, but in the run's data it is 0 or 1 only")
    return values, messages
