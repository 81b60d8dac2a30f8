"""The graph's networks as refit.json holds them, checked number by number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rinn.errors import InputError, quote
from rinn.refit.model import GraphModel, NodeFunction

REFIT = "refit.json"


def load_models(
    path: Path, inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[GraphModel, ...]:
    """Read the graph's networks, one for each split.

    Args:
        path: refit.json of a run folder.
        inputs: the run's inputs.
        outputs: the run's outputs.

    Returns:
        The models, whose functions are in causal order.

    Raises:
        InputError: the file is missing, damaged, or speaks of other inputs and outputs.
    """
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

    Args:
        plain: the functions by the name of their node, causes before effects.
        inputs: names.
        outputs: names.

    Returns:
        The model.

    Raises:
        InputError: a parameter has the wrong shape or is not finite, a parent is not known
            before its child, or an output is missing.

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
