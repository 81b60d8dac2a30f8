"""What a run folder knows of its graph: the networks, their units, and the range of its data."""

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
from rinn.errors import InputError, quote
from rinn.nets.groups import TrainedNet
from rinn.refit.model import GraphModel, NodeFunction
from rinn.refit.samples import Range, RunModel, read_offsets
from rinn.runs.folder import WEIGHTS, load_kept, load_manifest, read_columns

ACTIVITY = "activity.csv"
LOSSES = ("mse", "bce", MIXED)

REFIT = "refit.json"


def load_model(run: str | os.PathLike[str]) -> RunModel:
    """Read what a finished run folder knows of its graph.

    Args:
        run: the folder.

    Returns:
        The model, to be asked by `predict_do` and `find_activity`.

    Raises:
        InputError: the folder is not a finished run's, its graph has no network of its own, or a
            file is damaged.
    """
    folder = Path(run)
    manifest = load_manifest(folder)
    if manifest.get("status") != "complete":
        raise InputError(
            f"RUN must be finished, but {folder} is not; repeat the 'rinn fit' that began it"
        )
    inputs, outputs = read_columns(manifest, folder)
    models = load_models(folder / REFIT, inputs, outputs)
    nets, notes = load_kept(folder / WEIGHTS)
    try:
        kept = {int(number) for number in manifest["networks"]["kept"]}
        x_scale = _read_scale(notes, "x", inputs)
        likelihood = _read_likelihood(notes, outputs)
        offsets = read_offsets(notes, len(models), len(outputs))
        ranges = _read_ranges(notes, inputs, x_scale)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"RUN must say how its tables were scaled, but {WEIGHTS} in {folder} does not "
            f"({error!r:.80}); make the run again"
        ) from error
    ranges |= _measure_latents(folder / ACTIVITY, models[0].latents)
    return RunModel(
        inputs=inputs,
        outputs=outputs,
        likelihood=likelihood,
        models=models,
        nets=tuple(
            net
            for net in nets
            if net.trial.number in kept
            and _fits(net, inputs, outputs)
            and (offsets is None or net.trial.split < len(models))
        ),
        x_scale=x_scale,
        ranges=ranges,
        carries=(manifest.get("comparison") or {}).get("carries"),
        offsets=offsets,
    )


def _fits(net: TrainedNet, inputs: Sequence[str], outputs: Sequence[str]) -> bool:
    weights = net.weights
    return weights.inputs.shape[-1] == len(inputs) and weights.output.shape[0] == len(outputs)


def _read_likelihood(notes: Mapping[str, Any], outputs: Sequence[str]) -> Likelihood:
    """How the outputs are modelled; runs of earlier releases kept the loss alone."""
    loss, scale = str(notes["loss"]), _read_scale(notes, "y", outputs)
    none = np.zeros(len(outputs))
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    if loss == "mse":
        return Likelihood(loss, (NUMBER,) * len(outputs), scale, none)
    if loss == "bce":
        return Likelihood(loss, (BINARY,) * len(outputs), Standardizer(none, none + 1), none)
    kinds = tuple(map(str, notes["kinds"]))
    if len(kinds) != len(outputs) or not set(kinds) <= set(KINDS):
        raise ValueError(f"kinds must hold {len(outputs)} of {', '.join(KINDS)}")
    return Likelihood(loss, kinds, scale, _read_column(notes, "y_top", outputs))


def _read_scale(notes: Mapping[str, Any], table: str, names: Sequence[str]) -> Standardizer:
    mean, std = (_read_column(notes, f"{table}_scaling_{part}", names) for part in ("mean", "std"))
    if not (std > 0).all():
        raise ValueError(f"{table}_scaling_std must be above zero")
    return Standardizer(mean, std)


def _read_column(notes: Mapping[str, Any], key: str, names: Sequence[str]) -> np.ndarray:
    values = np.array(notes[key], np.float64)
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise ValueError(f"{key} must hold {len(names)} numbers")
    return values


def _read_ranges(
    notes: Mapping[str, Any], inputs: Sequence[str], scale: Standardizer
) -> dict[str, Range]:
    """The ranges of the inputs; runs of earlier releases did not keep them."""
    if "x_least" not in notes:
        return {}
    least, most, mean = (_read_column(notes, f"x_{p}", inputs) for p in ("least", "most", "mean"))
    found = {}
    for i, name in enumerate(inputs):
        ends = float(least[i]), float(most[i])
        # Only columns of zeros and ones are left as they are.
        binary = ends == (0.0, 1.0) and scale.mean[i] == 0 and scale.std[i] == 1
        low, high = float(mean[i] - scale.std[i]), float(mean[i] + scale.std[i])
        low, high = ends if binary else (max(low, ends[0]), min(high, ends[1]))
        found[name] = Range(*ends, float(mean[i]), low, high, binary)
    return found


def _measure_latents(path: Path, latents: Sequence[str]) -> dict[str, Range]:
    """The ranges of the latents, from their activity in the run's own samples."""
    if not latents or not path.exists():
        return {}
    table = load_table(path, "activity")
    if set(table.columns) != set(latents):
        raise InputError(
            f"RUN must hold the activity of its own latents, but {path} has other columns; make "
            f"the run again"
        )
    found = {}
    for name, values in zip(table.columns, table.values.T, strict=True):
        least, most = float(values.min()), float(values.max())
        mean, spread = float(values.mean()), float(values.std())
        found[name] = Range(least, most, mean, max(least, mean - spread), min(most, mean + spread))
    return found


def load_models(
    path: Path, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[GraphModel, ...]:
    """Read the graph's networks, one for each split."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"RUN must hold a graph with a network of its own, but {path} does not exist; the "
            f"strategies rinn, dnn and esc write it at the end of 'rinn fit'"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _reject(path, f"it cannot be read ({type(error).__name__})") from error
    try:
        found = content["models"]
        models = tuple(read_model(model, inputs, outputs) for model in found)
    except InputError as error:
        raise _reject(path, str(error)) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise _reject(path, f"its models cannot be read ({error!r:.80})") from error
    if not models or len({model.latents for model in models}) > 1:
        raise _reject(path, "it must hold models with the same latents")
    return models


def read_model(
    plain: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
) -> GraphModel:
    """Make a model of what `GraphModel.to_json` wrote.

    Example:
        >>> none = {"curve": [], "hidden": [], "hidden_bias": []}
        >>> double = {"parents": ["x"], "bias": 1.0, "weights": [2.0]} | none
        >>> read_model({"y": double}, ["x"], ["y"]).predict(np.array([[3.0]]))
        array([[7.]])
    """
    missing = [name for name in outputs if name not in plain]
    if missing:
        raise InputError(f"it has no function for the output {quote(missing[0])}")
    if taken := [name for name in plain if name in set(inputs)]:
        raise InputError(f"it has a function for the input {quote(taken[0])}")
    known = set(inputs)
    functions = {}
    for name, own in plain.items():
        function = _read_function(name, own)
        strange = [parent for parent in function.parents if parent not in known]
        if strange:
            raise InputError(f"{quote(name)} has the parent {quote(strange[0])}, not known above")
        functions[name] = function
        known.add(name)
    return GraphModel(tuple(inputs), tuple(outputs), functions)


def _read_function(name: str, plain: Mapping[str, Any]) -> NodeFunction:
    parents = plain["parents"]
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise InputError(f"the parents of {quote(name)} must be a list of names")
    if len(set(parents)) < len(parents):
        raise InputError(f"{quote(name)} has a parent twice")
    curve = _read_array(name, plain, "curve", (None,))
    return NodeFunction(
        parents=tuple(parents),
        bias=float(_read_array(name, plain, "bias", ())),
        weights=_read_array(name, plain, "weights", (len(parents),)),
        curve=curve,
        hidden=_read_array(name, plain, "hidden", (len(curve), len(parents))),
        hidden_bias=_read_array(name, plain, "hidden_bias", (len(curve),)),
    )


def _read_array(
    name: str, plain: Mapping[str, Any], part: str, shape: tuple[int | None, ...]
) -> np.ndarray:
    """One array of finite numbers; None in the shape stands for any length."""
    try:
        values = np.array(plain[part])
    except ValueError:  # rows of different lengths
        values = np.array("")
    if values.size == 0:
        values = np.zeros([size or 0 for size in shape]) if 0 in shape or None in shape else values
    fits = len(shape) == values.ndim and all(
        size in (None, own) for size, own in zip(shape, values.shape, strict=True)
    )
    if not fits or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise InputError(f"{part} of {quote(name)} must be finite numbers of the shape it needs")
    return values.astype(np.float64)


def _reject(path: Path, reason: str) -> InputError:
    return InputError(
        f"RUN must hold the graph's network as 'rinn fit' wrote it, but of {path.name} in "
        f"{path.parent} can be said: {reason}; make the run again"
    )
