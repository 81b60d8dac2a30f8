"""A page about prepared tables: what was read, what was dropped and why, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from rinn.data.log import ReadLog
from rinn.errors import count
from rinn.genomics.prepare.prepare import Prepared
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.report.html.charts import draw_bar, draw_histogram
from rinn.report.html.document import (
    REPORT_STYLES,
    render_document,
    render_header,
    render_section,
)
from rinn.report.html.markup import Markup, element, join, list_names, paragraph, table

MAX_GENES = 25
VERBS = {
    "read": "read",
    "dropped": "dropped",
    "merged": "merged",
    "renamed": "renamed",
    "repaired": "changed",
    "noted": "note",
}
REFERENCES = {
    "tissue": "the median of all tumours of the same tissue, in units of their MAD",
    "normals": "the normal samples of the same tissue",
    "diploid": "the tumours of the same tissue in which the gene itself is diploid",
    "none": "nothing: the values were z-scores already",
}


def write_summary(prepared: Prepared, settings: PrepareSettings, manifest: dict[str, Any]) -> str:
    """Write the page."""
    title = (
        f"{count(len(prepared.x), 'tumour')}, {count(prepared.x.shape[1], 'input')}, "
        f"{count(prepared.y.shape[1], 'output')}"
    )
    sections = {
        "What was read": list_sources(prepared.logs),
        "What was dropped, and why": list_changes(prepared.logs),
        "Inputs": _show_inputs(prepared),
        "Outputs": _show_outputs(prepared, settings),
        "Tissues and covariates": _list_tissues(prepared),
        "How it was made": show_origin(manifest),
    }
    return render_page(title, "rinn prepare", _show_result(prepared, settings), sections, manifest)


def render_page(
    title: str, command: str, result: Markup, sections: dict[str, Markup], manifest: dict[str, Any]
) -> str:
    """A page of prepared tables: the result, then the sections."""
    parts = [render_section(heading, content) for heading, content in sections.items()]
    version = manifest["versions"]["rinn"]
    return render_document(
        f"Prepared: {title}",
        render_header(command, title, {heading: heading for heading in sections}),
        element("main", result, *parts),
        element(
            "footer",
            element("p", f"Written by rinn {version}. This page loads nothing from the network."),
        ),
        styles=REPORT_STYLES,
    )


def _show_result(prepared: Prepared, settings: PrepareSettings) -> Markup:
    """The result, the warnings and the next command."""
    x, y = prepared.x, prepared.y
    altered = x.to_numpy().sum(axis=1)
    first = (
        f"X has {count(x.shape[1], 'gene')} that are altered (mutated, or copy number of 2 or -2) "
        f"in {x.mean().min():.0%} to {x.mean().max():.0%} of the tumours; the "
        f"median tumour has {np.median(altered):g} of them, and {int((altered == 0).sum())} "
        f"tumours have none."
    )
    kind = (
        "1 where" if settings.y_kind == "binary" else "the number z; a gene counts as changed where"
    )
    second = (
        f"Y is how far the expression of {count(y.shape[1], 'gene')} is from "
        f"{REFERENCES[settings.reference]}: {kind} |z| is at least {settings.z_cutoff:g}."
    )
    has_covariates = prepared.covariates is not None
    return render_result((first, second), prepared.warnings, has_covariates=has_covariates)


def render_result(
    sentences: Sequence[str], warnings: Sequence[str], *, has_covariates: bool
) -> Markup:
    """The first sentences of a page, the warnings and the next command."""
    lead = element("div", *map(paragraph, sentences), class_="lead")
    covariates = " --covariates covariates.csv" if has_covariates else ""
    command = f"rinn fit x.csv y.csv{covariates} --null 5 --out run"
    warned = [paragraph(text, class_="careful") for text in warnings]
    following = paragraph("Next, in this folder: ", element("code", command))
    return element("section", lead, *warned, following, aria_label="The result")


def list_sources(logs: Sequence[ReadLog]) -> Markup:
    """One row for each file: what was read of it."""
    rows = []
    for log in logs:
        read = [entry for entry in log.entries if entry.action == "read"]
        if log.format == "match" or not read:
            continue
        text = "; ".join(f"{entry.count:,} {entry.what} ({entry.reason})" for entry in read)
        rows.append((element("code", PurePath(log.source).name), log.format, text))
    tallies = []
    for log in logs:
        for name, counts in log.tallies.items():
            listed = ", ".join(f"{each} {number:,}" for each, number in counts.items())
            if counts:
                tallies.append(paragraph(f"{name} in {log.format}: ", listed, class_="note"))
    return join([table(("file", "format", "read"), rows, "Files"), *tallies])


def list_changes(logs: Sequence[ReadLog]) -> Markup:
    """Everything that was done to the tables, in its order."""
    rows = []
    for log in logs:
        where = "matching" if log.format == "match" else PurePath(log.source).name
        where = log.format if log.source == "prepared tables" else where
        for entry in log.entries:
            if entry.action != "read" or log.format == "match":
                names = list_names(entry.names) if entry.names else Markup("")
                number = f"{entry.count:,} {entry.what}"
                rows.append((where, VERBS[entry.action], number, entry.reason, names))
    text = "In order. log.json has every name; inputs.csv and outputs.csv describe each column."
    headers = ("where", "what", "how many", "why", "which")
    return join([paragraph(text), table(headers, rows, "What was done to the tables")])


def _show_inputs(prepared: Prepared) -> Markup:
    kept = prepared.inputs[prepared.inputs["kept"]]
    looked = int((prepared.inputs["carriers"] > 0).sum())
    text = (
        f"Of {count(looked, 'gene')} altered in at least one tumour, {len(kept):,} are kept. The "
        f"chart shows how frequent these are."
    )
    values = kept["frequency"].to_numpy()
    chart = draw_histogram(values, "fraction of tumours with the alteration", "inputs")
    headers = ("gene", "tumours", "fraction", "", "mutated", "amplified", "deleted")
    first = kept.sort_values(["carriers", "gene"], ascending=[False, True]).head(MAX_GENES)
    rows = [
        (
            str(row["gene"]), f"{row['carriers']:,}", f"{row['frequency']:.1%}",
            draw_bar(row["frequency"]), f"{row['mutated']:,}", f"{row['amplified']:,}",
            f"{row['deleted']:,}",
        )
        for row in first.to_dict("records")
    ]  # fmt: skip
    more = note_more(len(kept), "inputs.csv")
    return join([paragraph(text), chart, table(headers, rows, "Inputs"), more])


def _show_outputs(prepared: Prepared, settings: PrepareSettings) -> Markup:
    kept = prepared.outputs[prepared.outputs["kept"]]
    text = (
        f"Of {count(len(prepared.outputs), 'gene')} with expression, {len(kept):,} are kept. The "
        f"chart shows in how many tumours they are changed, |z| of at least "
        f"{settings.z_cutoff:g}. Spread is the standard deviation of the expression within "
        f"tissues."
    )
    values = kept["prevalence"].to_numpy()
    chart = draw_histogram(values, "fraction of tumours in which the gene is changed", "outputs")
    headers = ("gene", "changed in", "fraction", "", "spread", "own copy number altered in")
    first = kept.sort_values(["spread", "gene"], ascending=[False, True]).head(MAX_GENES)
    rows = [
        (
            str(row["gene"]), f"{row['changed']:,}", f"{row['prevalence']:.1%}",
            draw_bar(row["prevalence"]), f"{row['spread']:.3g}", f"{row['own_copy_number']:,}",
        )
        for row in first.to_dict("records")
    ]  # fmt: skip
    more = note_more(len(kept), "outputs.csv")
    return join([paragraph(text), chart, table(headers, rows, "Outputs"), more])


def note_more(number: int, name: str) -> Markup | None:
    """Where the columns are that a table does not show."""
    more = paragraph(f"and {number - MAX_GENES:,} more in {name}", class_="note")
    return more if number > MAX_GENES else None


def _list_tissues(prepared: Prepared) -> Markup:
    counts = (
        prepared.tissues.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    )
    rows = [
        (str(name), f"{number:,}", draw_bar(number / len(prepared.x)))
        for name, number in counts.items()
    ]
    tissues = table(("tissue", "tumours", ""), rows, "Tissues")
    return join([tissues, list_covariates(prepared.covariates)])


def list_covariates(covariates: pd.DataFrame | None) -> Markup:
    """One row for each covariate: its values."""
    if covariates is None:
        return paragraph("There are no covariates.", class_="note")
    listed = [(str(name), _describe_values(values)) for name, values in covariates.items()]
    return table(("covariate", "values"), listed, "Covariates")


def _describe_values(values: pd.Series) -> str:
    if pd.api.types.is_numeric_dtype(values):
        return f"numbers from {values.min():g} to {values.max():g}, median {values.median():g}"
    counts = values.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    shown = ", ".join(f"{name} {number:,}" for name, number in counts.head(12).items())
    return shown + (f" and {len(counts) - 12} more" if len(counts) > 12 else "")


def show_origin(manifest: dict[str, Any]) -> Markup:
    """The files with their fingerprints, the settings and the versions."""
    settings = []
    for name, value in manifest["settings"].items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        settings.append((name, element("code", "not given" if value is None else text)))
    files = [
        (name, about["name"], element("code", about["sha256"]))
        for name, about in manifest["sources"].items()
    ]
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    return join(
        [
            table(("option", "file", "SHA-256"), files, "Files"),
            element(
                "details",
                element("summary", "settings"),
                table(("setting", "value"), settings, "Settings"),
            ),
            paragraph(versions, class_="note"),
        ]
    )
