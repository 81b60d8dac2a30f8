"""Which inputs and outputs are kept: by frequency and spread, or by TCI."""

from __future__ import annotations

import pandas as pd

from rinn.data.log import LogEntry
from rinn.errors import InputError
from rinn.genomics.prepare.alterations import Alterations
from rinn.genomics.prepare.expression import Outputs
from rinn.genomics.prepare.settings import AUTO_OUTPUTS, AUTO_SAMPLES_PER_INPUT, PrepareSettings
from rinn.genomics.tci.calls import find_drivers
from rinn.genomics.tci.events import as_events
from rinn.genomics.tci.settings import TciSettings

Chosen = tuple[list[str], list[str]]


def select_columns(
    x: Alterations, y: Outputs, tissues: pd.Series, settings: PrepareSettings
) -> tuple[Chosen, list[LogEntry]]:
    """Choose the inputs and outputs.

    `auto` keeps the most frequent inputs, one for each four tumours, and the 100 outputs with the
    largest spread. TCI keeps the drivers it calls and their targets.
    """
    inputs, outputs = list(x.table.columns), list(y.table.columns)
    entries: list[LogEntry] = []
    for step, number in settings.steps:
        if step == "variance":
            outputs, cut = _cut(outputs, number, "outputs", "with less spread")
        else:
            (inputs, outputs), cut = _select_by_tci(x, y, inputs, outputs, tissues, settings)
        entries += cut
    auto = settings.select == "auto"
    max_inputs = settings.max_inputs
    if max_inputs is None and auto:
        max_inputs = max(1, len(x.table) // AUTO_SAMPLES_PER_INPUT)
    max_outputs = settings.max_outputs or (AUTO_OUTPUTS if auto else None)
    inputs, fewer = _cut(inputs, max_inputs, "inputs", "less frequent")
    outputs, less = _cut(outputs, max_outputs, "outputs", "with less spread")
    return (inputs, outputs), entries + fewer + less


def _cut(
    names: list[str], maximum: int | None, what: str, why: str
) -> tuple[list[str], list[LogEntry]]:
    """Keep the first ones, at most `maximum`."""
    if maximum is None or len(names) <= maximum:
        return names, []
    reason = f"{why} than the {maximum:,} that are kept"
    return names[:maximum], [LogEntry("dropped", what, len(names) - maximum, reason)]


def _select_by_tci(
    x: Alterations,
    y: Outputs,
    inputs: list[str],
    outputs: list[str],
    tissues: pd.Series,
    settings: PrepareSettings,
) -> tuple[Chosen, list[LogEntry]]:
    """Keep the drivers that TCI calls, and their targets."""
    rules = TciSettings(
        permutations=settings.permutations,
        min_degs=settings.min_degs,
        min_tumours=settings.min_tumours,
        seed=settings.seed,
    )
    labels = tissues if len(set(tissues)) > 1 else None
    result = find_drivers(as_events(x.table[inputs], y.calls[outputs], labels), rules)
    drivers = [inputs[number] for number in result.features.sgas]
    targets = [outputs[number] for number in result.features.degs]
    if not drivers or not targets:
        raise InputError(
            f"--select must leave inputs and outputs, but TCI calls {len(drivers)} drivers with "
            f"{len(targets)} targets among {len(inputs)} x {len(outputs)} columns of "
            f"{len(tissues)} tumours; lower --min-tumours and --min-degs, or pass --select "
            f"variance:{AUTO_OUTPUTS}"
        )
    entries = [
        LogEntry("dropped", "inputs", len(inputs) - len(drivers), "not called as drivers by TCI"),
        LogEntry("dropped", "outputs", len(outputs) - len(targets), "not called as targets by TCI"),
    ]
    return (drivers, targets), [entry for entry in entries if entry.count]
