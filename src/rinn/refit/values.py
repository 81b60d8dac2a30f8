"""The values that a what-if sets: words to numbers, and which of them the data never had."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rinn.errors import InputError, quote
from rinn.refit.samples import Range, RunModel

WORDS = ("low", "mean", "high")

Value = float | str


def find_values(
    model: RunModel, inputs: Mapping[str, Value], latents: Mapping[str, Value]
) -> tuple[dict[str, float], list[str]]:
    """Turn words into numbers, and say which values the data never had.

    Args:
        model: knows the ranges of the run's data.
        inputs: numbers, or one of `WORDS`.
        latents: the same.

    Returns:
        Values in the user's units by name, and sentences of caution.

    Raises:
        InputError: a value is neither a finite number nor a word that the run can fill in.
    """
    values, cautions = {}, []
    for name, wanted in {**inputs, **latents}.items():
        known = model.ranges.get(name)
        value = values[name] = _read_value(name, wanted, known)
        if known is None:
            continue
        if not known.holds(value):
            cautions.append(
                f"{quote(name)} = {value:g} lies outside the run's data, where it goes from "
                f"{known.least:.4g} to {known.most:.4g}: the networks only guess there"
            )
        elif known.binary and value not in (0, 1):
            cautions.append(f"{quote(name)} = {value:g}, but in the run's data it is 0 or 1 only")
    return values, cautions


def _read_value(name: str, wanted: Value, known: Range | None) -> float:
    if isinstance(wanted, str):
        if wanted not in WORDS:
            raise InputError(
                f"the value of {quote(name)} must be a number, or low, mean or high, got "
                f"{quote(wanted)}"
            )
        if known is None:
            raise InputError(
                f"the value of {quote(name)} must be a number, got {wanted!r}: this run folder "
                f"does not hold its range; make the run again, or give a number"
            )
        return {"low": known.low, "mean": known.mean, "high": known.high}[wanted]
    value = float(wanted)
    if not np.isfinite(value):
        raise InputError(f"the value of {quote(name)} must be finite, got {value}")
    return value
