"""What a run folder knows of its graph: the networks, their units, and the range of its data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rinn.data.likelihoods import BINARY, KINDS, MIXED, NUMBER, Likelihood
from rinn.data.scaling import Scale
from rinn.data.tables import load_table
from rinn.errors import InputError
from rinn.nets.cohorts import TrainedNet
from rinn.refit.offsets import read_offsets
from rinn.refit.samples import Range, RunModel
from rinn.runs.folder import WEIGHTS, load_kept, load_manifest, read_columns
from rinn.runs.parameters import REFIT, load_models

ACTIVITY = "activity.csv"
LOSSES = ("mse", "bce", MIXED)


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
        return Likelihood(loss, (BINARY,) * len(outputs), Scale(none, none + 1), none)
    kinds = tuple(map(str, notes["kinds"]))
    if len(kinds) != len(outputs) or not set(kinds) <= set(KINDS):
        raise ValueError(f"kinds must hold {len(outputs)} of {', '.join(KINDS)}")
    return Likelihood(loss, kinds, scale, _read_column(notes, "y_top", outputs))


def _read_scale(notes: Mapping[str, Any], table: str, names: Sequence[str]) -> Scale:
    centre, spread = (
        _read_column(notes, f"{table}_{part}", names) for part in ("centre", "spread")
    )
    if not (spread > 0).all():
        raise ValueError(f"{table}_spread must be above zero")
    return Scale(centre, spread)


def _read_column(notes: Mapping[str, Any], key: str, names: Sequence[str]) -> np.ndarray:
    values = np.array(notes[key], np.float64)
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise ValueError(f"{key} must hold {len(names)} numbers")
    return values


def _read_ranges(notes: Mapping[str, Any], inputs: Sequence[str], scale: Scale) -> dict[str, Range]:
    """The ranges of the inputs; runs of earlier releases did not keep them."""
    if "x_least" not in notes:
        return {}
    least, most, mean = (_read_column(notes, f"x_{p}", inputs) for p in ("least", "most", "mean"))
    found = {}
    for i, name in enumerate(inputs):
        ends = float(least[i]), float(most[i])
        # Only columns of zeros and ones are left as they are.
        binary = ends == (0.0, 1.0) and scale.centre[i] == 0 and scale.spread[i] == 1
        low, high = float(mean[i] - scale.spread[i]), float(mean[i] + scale.spread[i])
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
