"""X, Y and covariates of the same tumours, in memory: which columns are kept, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from rinn.data.align import MIN_SAMPLES
from rinn.data.log import LogEntry, ReadLog, log_count
from rinn.data.text import check_names
from rinn.data.warnings import warn_of_size
from rinn.errors import InputError, quote_some
from rinn.genomics.prepare.changes import (
    Columns,
    find_alterations,
    find_usable,
    make_outputs,
    score_expression,
)
from rinn.genomics.prepare.clinical import make_covariates
from rinn.genomics.prepare.settings import AUTO_OUTPUTS, AUTO_SAMPLES_PER_INPUT, PrepareSettings
from rinn.genomics.prepare.sources import Readings
from rinn.genomics.prepare.tumours import Tumours, choose_columns, find_reference, match_tumours
from rinn.genomics.tci.calls import find_drivers
from rinn.genomics.tci.events import as_events
from rinn.genomics.tci.settings import TciSettings

# Genes on the Y chromosome, and those that silence an X: their expression depends on sex.
SEX_LINKED = frozenset(
    {"DDX3Y", "EIF1AY", "KDM5D", "NLGN4Y", "RPS4Y1", "RPS4Y2", "TMSB4Y", "TSIX", "TXLNGY", "USP9Y"}
    | {"UTY", "XIST", "ZFY", "JARID1D", "CYORF15A", "CYORF15B", "SMCY"}
)


@dataclass(frozen=True)
class Tables:
    """X, Y and covariates of the same samples, and how they were made.

    `inputs` and `outputs` have a row for every column that was looked at.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    covariates: pd.DataFrame | None
    inputs: pd.DataFrame
    outputs: pd.DataFrame
    logs: tuple[ReadLog, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Prepared(Tables):
    """Tables of tumours; `tissues` is the tissue of each.

    `inputs` and `outputs` have counts for every gene, `kept`, and `why` where it is not.
    """

    tissues: pd.Series


def prepare_tables(readings: Readings, settings: PrepareSettings) -> Prepared:
    """Make X, Y and covariates."""
    if readings.expression.scale == "z-score" and settings.reference != "none":
        raise InputError(
            f"--reference must be none where expression is z-scores already, but it is "
            f"{settings.reference!r} ({readings.expression.log.source}); pass --reference none, or "
            f"name measured values"
        )
    annotation = choose_columns(readings.annotation, settings)
    tumours, matching = match_tumours(readings, annotation, settings)
    _check_size(tumours, matching.entries)
    reference, lost = find_reference(readings, annotation, tumours, settings)
    usable, unserved = find_usable(tumours.tissues, reference, settings)
    if not usable.all():
        tumours = tumours.take(usable)
        _check_size(tumours, unserved)
    x = find_alterations(tumours.mutations, tumours.levels, settings)
    reference = replace(reference, levels=tumours.levels)
    scores = score_expression(tumours.expression, tumours.tissues, reference, settings)
    y = make_outputs(scores, settings)
    (inputs, outputs), chosen = select_columns(x, y, tumours.tissues, settings)
    covariates, notes = make_covariates(tumours.annotation, settings.max_missing)
    steps = (
        ("tumours", (*lost, *unserved)),
        ("X: alterations", x.entries),
        ("Y: expression", (*scores.entries, *y.entries)),
        ("selection", tuple(chosen)),
        ("covariates", tuple(notes)),
    )
    check_names(map(str, x.table.index), "the prepared tables", "sample")
    for label, names in (("X", inputs), ("Y", outputs), ("covariates", covariates)):
        check_names(map(str, () if names is None else names), label, "column")
    logs = [ReadLog("prepared tables", name, tuple(each)) for name, each in steps if each]
    every = (*readings.logs, matching, *logs)
    return Prepared(
        x.table[inputs],
        y.table[outputs],
        covariates,
        _mark_kept(x.genes, inputs),
        _mark_kept(y.genes, outputs),
        every,
        list_warnings(
            x.table[inputs], y.table[outputs], tumours.tissues, every, readings, settings
        ),
        tumours.tissues,
    )


def _check_size(tumours: Tumours, entries: Sequence[LogEntry]) -> None:
    if len(tumours.expression) >= MIN_SAMPLES:
        return
    lost = [entry for entry in entries if entry.action == "dropped" and entry.what == "samples"]
    advice = "add tumours"
    if lost:
        largest = max(lost, key=lambda entry: entry.count)
        advice = "correct that, or add tumours"
        if "no list of sequenced" in largest.reason:
            advice = "name the list with --sequenced, or pass --unsequenced copy-number"
        advice = f"most are lost here: {largest.count:,} samples {largest.reason}; {advice}"
    raise InputError(
        f"there must be at least {MIN_SAMPLES} tumours to learn from, but "
        f"{len(tumours.expression)} are left; {advice}"
    )


def select_columns(
    x: Columns, y: Columns, tissues: pd.Series, settings: PrepareSettings
) -> tuple[tuple[list[str], list[str]], list[LogEntry]]:
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
    limits: tuple[int | None, int | None] = (None, None)
    if settings.select == "auto":
        limits = max(1, len(x.table) // AUTO_SAMPLES_PER_INPUT), AUTO_OUTPUTS
    inputs, fewer = _cut(inputs, settings.max_inputs or limits[0], "inputs", "less frequent")
    most = settings.max_outputs or limits[1]
    outputs, less = _cut(outputs, most, "outputs", "with less spread")
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
    x: Columns,
    y: Columns,
    inputs: list[str],
    outputs: list[str],
    tissues: pd.Series,
    settings: PrepareSettings,
) -> tuple[tuple[list[str], list[str]], list[LogEntry]]:
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
    less = len(outputs) - len(targets)
    return (drivers, targets), [
        *log_count("dropped", "inputs", len(inputs) - len(drivers), "not called as drivers by TCI"),
        *log_count("dropped", "outputs", less, "not called as targets by TCI"),
    ]


def _mark_kept(genes: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    kept = genes["gene"].isin(names)
    why = genes["why"].where(kept | (genes["why"] != ""), "not selected")
    return genes.assign(kept=kept, why=why)[[*genes.columns.drop("why"), "kept", "why"]]


def list_warnings(
    x: pd.DataFrame,
    y: pd.DataFrame,
    tissues: pd.Series,
    logs: Sequence[ReadLog],
    readings: Readings,
    settings: PrepareSettings,
) -> tuple[str, ...]:
    """What the user must know before believing a graph of these tables."""
    warnings = [warn_of_size(*x.shape)]
    if settings.tissue_column is None:
        warnings.append(
            "No tissue was given: if the tumours are of several tissues, most of the graph will "
            "reflect the tissue; pass --tissue-column."
        )
    if readings.mutations is None:
        warnings.append("There are no mutations: X is copy number alone.")
    elif readings.mutations.sequenced is None and settings.unsequenced == "drop":
        warnings.append(
            "No list of sequenced samples: tumours without any mutation in the file are left out, "
            "which makes alterations look more frequent than they are; pass --sequenced."
        )
    if readings.copy_number is None:
        warnings.append(
            "There is no copy number: amplified and deleted genes are not in X, and what the copy "
            "number of a gene does to its own expression stays in Y."
        )
    if any(step == "tci" for step, _ in settings.steps):
        warnings.append(
            "TCI chose the columns by looking at X and Y together, including samples "
            "that a fit holds back: test errors and --null of rinn fit are then too optimistic."
        )
    entries = [entry for log in logs for entry in log.entries]
    replaced = [entry for entry in entries if entry.what == "tissues" and entry.action == "noted"]
    if replaced:
        warnings.append(
            f"In {replaced[0].count} of {tissues.nunique()} tissues the reference has too few "
            f"samples for some or all genes, and the tumours themselves were used: a change that "
            f"most of them share is not seen there."
        )
    copies = [str(name) for name in x.columns[x.T.duplicated(keep=False)]]
    if copies:
        warnings.append(
            f"{len(copies)} inputs have the same tumours as another ({quote_some(copies)}), as "
            f"genes of one amplified region do: the data cannot show which of them acts."
        )
    names = sorted(SEX_LINKED & set(map(str, y.columns)))
    if names and not {"sex", "gender"} & {name.lower() for name in settings.covariate_columns}:
        warnings.append(
            f"{len(names)} outputs depend on sex ({quote_some(names)}): give sex with "
            f"--covariate-columns, or leave them out with --exclude {','.join(names)}."
        )
    if settings.unsequenced == "copy-number":
        warnings.append("Tumours that were not sequenced count as without mutation.")
    return tuple(text for text in warnings if text is not None)
