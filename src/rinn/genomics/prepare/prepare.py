"""From readings to X, Y and covariates of the same tumours, in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from rinn.data.align import MIN_SAMPLES
from rinn.data.log import LogEntry, ReadLog
from rinn.data.text import check_names
from rinn.errors import InputError
from rinn.genomics.prepare.alterations import find_alterations
from rinn.genomics.prepare.clinical import make_covariates
from rinn.genomics.prepare.expression import find_usable, make_outputs, score_expression
from rinn.genomics.prepare.select import select_columns
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.genomics.prepare.sources import Readings
from rinn.genomics.prepare.tumours import Tumours, choose_columns, find_reference, match_tumours
from rinn.genomics.prepare.warnings import list_warnings
from rinn.genomics.readers.matrices import GeneTable


@dataclass(frozen=True)
class Prepared:
    """X, Y and covariates of the same tumours, and how they came about.

    `inputs` and `outputs` have a row for every gene that was looked at: counts, `kept`, and `why`
    where it is not. `tissues` is the tissue of each tumour.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    covariates: pd.DataFrame | None
    inputs: pd.DataFrame
    outputs: pd.DataFrame
    tissues: pd.Series
    logs: tuple[ReadLog, ...]
    warnings: tuple[str, ...]


def prepare_tables(readings: Readings, settings: PrepareSettings | None = None) -> Prepared:
    """Make X, Y and covariates.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> names = [f"s{number}" for number in range(60)]
        >>> x = pd.DataFrame({"TP53": rng.integers(0, 2, 60)}, index=names)
        >>> y = pd.DataFrame({"MYC": rng.normal(size=60)}, index=names)
        >>> about = ReadLog("a table", "table")
        >>> readings = Readings(GeneTable(y, about, "expression"), GeneTable(x, about, "mutation"))
        >>> prepare_tables(readings).x.shape
        (60, 1)
    """
    settings = settings or PrepareSettings()
    _check_scale(readings.expression, settings)
    annotation = choose_columns(readings.annotation, settings)
    tumours, matching = match_tumours(readings, annotation, settings)
    _check_size(tumours, matching.entries)
    reference, lost = find_reference(readings, annotation, tumours, settings)
    usable, unserved = find_usable(tumours.tissues, reference, settings)
    if not usable.all():
        tumours = tumours.take(usable)
        _check_size(tumours, tuple(unserved))
    x = find_alterations(tumours.mutations, tumours.levels, settings)
    reference = replace(reference, levels=tumours.levels)
    scores = score_expression(tumours.expression, tumours.tissues, reference, settings)
    y = make_outputs(scores, settings)
    (inputs, outputs), chosen = select_columns(x, y, tumours.tissues, settings)
    covariates: pd.DataFrame | None = None
    notes: list[LogEntry] = []
    if tumours.annotation is not None:
        covariates, notes = make_covariates(tumours.annotation, settings.max_missing)
    steps = (
        ("tumours", (*lost, *unserved)),
        ("X: alterations", x.entries),
        ("Y: expression", (*scores.entries, *y.entries)),
        ("selection", tuple(chosen)),
        ("covariates", tuple(notes)),
    )
    _check_names(x.table[inputs], y.table[outputs], covariates)
    logs = [ReadLog("prepared tables", name, tuple(each)) for name, each in steps if each]
    every = (*readings.logs, matching, *logs)
    return Prepared(
        x.table[inputs],
        y.table[outputs],
        covariates,
        _mark_kept(x.genes, inputs),
        _mark_kept(y.genes, outputs),
        tumours.tissues,
        every,
        list_warnings(
            x.table[inputs], y.table[outputs], tumours.tissues, every, readings, settings
        ),
    )


def _check_scale(expression: GeneTable, settings: PrepareSettings) -> None:
    if expression.scale == "z-score" and settings.reference != "none":
        raise InputError(
            f"--reference must be none where expression is z-scores already, but it is "
            f"{settings.reference!r} ({expression.log.source}); pass --reference none, or name "
            f"measured values"
        )


def _check_names(x: pd.DataFrame, y: pd.DataFrame, covariates: pd.DataFrame | None) -> None:
    check_names(map(str, x.index), "the prepared tables", "sample")
    for label, table in (("X", x), ("Y", y), ("covariates", covariates)):
        if table is not None:
            check_names(map(str, table.columns), label, "column")


def _check_size(tumours: Tumours, entries: tuple[LogEntry, ...]) -> None:
    if len(tumours.expression) < MIN_SAMPLES:
        raise InputError(
            f"there must be at least {MIN_SAMPLES} tumours to learn from, but "
            f"{len(tumours.expression)} are left; {_say_losses(entries)}"
        )


def _say_losses(entries: tuple[LogEntry, ...]) -> str:
    lost = [entry for entry in entries if entry.action == "dropped" and entry.what == "samples"]
    if not lost:
        return "add tumours"
    most = max(lost, key=lambda entry: entry.count)
    advice = "mend that, or add tumours"
    if "no list of sequenced" in most.reason:
        advice = "name the list with --sequenced, or pass --unsequenced copy-number"
    return f"most are lost here: {most.count:,} samples {most.reason}; {advice}"


def _mark_kept(genes: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    kept = genes["gene"].isin(names)
    why = genes["why"].where(kept | (genes["why"] != ""), "not selected")
    return genes.assign(kept=kept, why=why)[[*genes.columns.drop("why"), "kept", "why"]]
