"""The graph of a run folder as a model: its networks, their units, and the range of its data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rinn.data.likelihoods import BINARY, KINDS, MIXED, NUMBER, Likelihood
from rinn.data.scaling import Standardizer
from rinn.data.tables import load_table
from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.refit.model import GraphModel, NodeFunction
from rinn.refit.samples import Range, RunModel, read_offsets
from rinn.runs.checkpoint import WEIGHTS
from rinn.runs.read import REFIT, RunContents, TableScales, load_run, reject_file

ACTIVITY = "activity.csv"


def load_model(run: str | os.PathLike[str]) -> RunModel:
    """Read the model of a finished run folder.

    Args:
        run: the folder.

    Returns:
        The model, for `predict_do` and `find_activity`.

    Raises:
        InputError: the folder is not a finished run's, its graph has no network of its own, or a
            file is damaged.

    Example:
        >>> import tempfile
        >>> from rinn import RINN, make_dataset
        >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
        >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
        >>> load_model(model.save(tempfile.mkdtemp())).latents == model.model_.latents
        True
    """
    return make_model(load_run(run))


def make_model(contents: RunContents) -> RunModel:
    """The model of a finished run; see `load_model`."""
    inputs, outputs, scales = contents.inputs, contents.outputs, contents.scales
    models = load_models(contents.folder / REFIT, inputs, outputs)
    try:
        x_scale = _make_scale(scales.x_scaling_mean, scales.x_scaling_std, len(inputs))
        likelihood = _make_likelihood(scales, len(outputs))
        offsets = read_offsets(scales.covariates, len(models), len(outputs))
        ranges = _find_ranges(scales, inputs, x_scale)
        low, high = scales.coding
    except (LookupError, TypeError, ValueError):
        raise contents.reject(WEIGHTS) from None
    comparison = contents.manifest.comparison
    return RunModel(
        inputs=inputs,
        outputs=outputs,
        likelihood=likelihood,
        models=models,
        nets=tuple(
            net
            for net in contents.find_nets("kept")
            if offsets is None or net.trial.split < len(models)
        ),
        x_scale=x_scale,
        ranges=ranges | _measure_latents(contents.folder / ACTIVITY, models[0].latents),
        is_adequate=None if comparison is None else comparison.is_adequate,
        offsets=offsets,
        columns=tuple(by_role(contents.full_graph, "output")),
        coding=(low, high),
    )


def load_models(
    path: Path, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[GraphModel, ...]:
    """Read the graph's networks, one for each split."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        models = tuple(read_model(values, inputs, outputs) for values in content["models"])
        (_,) = {model.latents for model in models}  # the same in all of them
    except FileNotFoundError:
        raise InputError(
            f"RUN must hold a graph with its own network, but {path} does not exist; the "
            f"strategies rinn, dnn and esc write it at the end of 'rinn fit'"
        ) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
            RecursionError):  # fmt: skip
        raise reject_file(path) from None
    return models


def read_model(
    values: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
) -> GraphModel:
    """Make a model of what `GraphModel.to_json` wrote; ValueError or KeyError if it is none."""
    functions = {name: _read_function(function) for name, function in values.items()}
    model = GraphModel(tuple(inputs), tuple(outputs), functions)
    # One sample tells whether all shapes fit, causes come before effects, and numbers are finite.
    if (
        set(inputs) & set(functions)
        or not np.isfinite(model.predict(np.zeros((len(inputs), 1)))).all()
    ):
        raise ValueError("a model must have finite functions of latents and outputs")
    return model


def _read_function(values: Mapping[str, Any]) -> NodeFunction:
    parents, units = tuple(values["parents"]), len(values["output_weights"])
    shapes = {
        "weights": (len(parents),),
        "output_weights": (units,),
        "hidden": (units, len(parents)),
        "hidden_bias": (units,),
    }
    arrays = {
        name: np.array(values[name], np.float64).reshape(shape) for name, shape in shapes.items()
    }
    return NodeFunction(parents=parents, bias=float(values["bias"]), **arrays)


def _make_likelihood(scales: TableScales, outputs: int) -> Likelihood:
    scale, zeros = (
        _make_scale(scales.y_scaling_mean, scales.y_scaling_std, outputs),
        np.zeros(outputs),
    )
    if scales.loss == "mse":
        return Likelihood(scales.loss, (NUMBER,) * outputs, scale, zeros)
    if scales.loss == "bce":
        return Likelihood(scales.loss, (BINARY,) * outputs, Standardizer(zeros, zeros + 1), zeros)
    kinds, top = scales.kinds or (), np.array(scales.y_top)
    if scales.loss != MIXED or len(kinds) != outputs or not set(kinds) <= set(KINDS):
        raise ValueError("loss must be mse, bce or mixed, with the kinds of the outputs")
    return Likelihood(scales.loss, kinds, scale, top.reshape(outputs))


def _make_scale(mean: Sequence[float], std: Sequence[float], size: int) -> Standardizer:
    scale = Standardizer(*(np.array(values, np.float64).reshape(size) for values in (mean, std)))
    if not (scale.std > 0).all():
        raise ValueError("standard deviations must be above zero")
    return scale


def _find_ranges(
    scales: TableScales, inputs: Sequence[str], scale: Standardizer
) -> dict[str, Range]:
    ranges = {}
    columns = zip(inputs, scales.x_min, scales.x_max, scales.x_mean, strict=True)
    for i, (name, min_, max_, mean) in enumerate(columns):
        # Only columns of zeros and ones are left as they are.
        if (min_, max_, scale.mean[i], scale.std[i]) == (0, 1, 0, 1):
            ranges[name] = Range(min_, max_, mean, min_, max_, binary=True)
        else:
            ranges[name] = _span(min_, max_, mean, float(scale.std[i]))
    return ranges


def _measure_latents(path: Path, latents: Sequence[str]) -> dict[str, Range]:
    """The ranges of the latents, from their activity in the run's own samples."""
    if not latents:
        return {}
    table = load_table(path, "activity")
    if set(table.columns) != set(latents):
        raise reject_file(path)
    columns = zip(table.columns, table.values.T, strict=True)
    return {
        name: _span(*(float(find(column)) for find in (np.min, np.max, np.mean, np.std)))
        for name, column in columns
    }


def _span(min_: float, max_: float, mean: float, std: float) -> Range:
    return Range(min_, max_, mean, max(mean - std, min_), min(mean + std, max_))
