"""Data, settings, versions, and files for download."""

from __future__ import annotations

import base64
import shlex

from rinn.cluster.dask_workers import WorkerSummary
from rinn.errors import InputError, clip, count
from rinn.graphs.export import EXPORTS
from rinn.report.html.markup import Markup, element, join, paragraph, table
from rinn.report.html.methods import copy_box
from rinn.runs.read import RunContents

MAX_DROPPED = 200
MAX_WORKERS = 100
MAX_EMBEDDED = 400_000  # bytes of a file within the page; a list of graphs may have a hundred


def render_data(contents: RunContents) -> Markup:
    """List what was read and what was left out."""
    tables = contents.manifest.tables
    x, y = (element("code", clip(name)) for name in (tables.x, tables.y))
    samples, inputs = count(tables.samples, "sample"), count(len(tables.inputs), "input")
    outputs = count(len(tables.outputs), "output")
    parts = [paragraph(f"{samples}, {inputs} from ", x, f", {outputs} from ", y, ".")]
    dropped = tables.dropped
    if not dropped:
        return join([*parts, paragraph("Every row and column was used.")])
    rows = [(entry.table, clip(entry.name), entry.reason) for entry in dropped]
    parts.append(paragraph(f"Rows and columns that are not used: {len(dropped)}."))
    parts.append(table(("table", "name", "why"), rows[:MAX_DROPPED], "Rows and columns not used"))
    if len(rows) > MAX_DROPPED:
        parts.append(paragraph(f"The other {len(rows) - MAX_DROPPED} are in manifest.json."))
    return join(parts)


def render_origin(contents: RunContents) -> Markup:
    """List how the run was made, so that it can be repeated."""
    manifest = contents.manifest
    values = manifest.settings.to_json()
    settings = {key: "default" if v is None else str(v) for key, v in values.items()}
    command = shlex.join(manifest.command)
    again = [element("h3", "To repeat it"), copy_box(command, "Copy the command", prose=False)]
    rows = [
        ("settings", ", ".join(f"{key} {v}" for key, v in settings.items() if key != "seed")),
        ("seed", settings["seed"]),
        ("started", manifest.created),
        ("the run took", _format_time(manifest.seconds or 0.0)),
        ("device", f"{manifest.device} ({manifest.device.platform})"),
        *(
            (f"worker {worker.name}", _describe_worker(worker))
            for worker in (manifest.workers or ())[:MAX_WORKERS]
        ),
        ("versions", ", ".join(f"{name} {v}" for name, v in manifest.versions.items())),
        *((f"data, {name}", element("code", sha)) for name, sha in manifest.data.items()),
    ]
    listed = table(("what", "value"), rows, "How the run was made")
    return join([*(again if command else []), listed])


def _describe_worker(worker: WorkerSummary) -> str:
    trained = ""
    if worker.networks:
        pace = 3600 * worker.networks / max(worker.seconds, 1e-9)
        trained = f"{count(worker.networks, 'network')} ({pace:,.0f} an hour), "
    return (
        f"{trained}{count(worker.tasks, 'task')} in {_format_time(worker.seconds)} on {worker.cpu}"
    )


def render_downloads(contents: RunContents) -> Markup:
    """Offer the graph for other programs, each file within the page itself."""
    links, large = [], []
    for export in EXPORTS.values():
        for ending, encode in ((export.suffix, export.encode), *export.companions.items()):
            try:
                content = encode(contents.graph)
            except InputError:
                continue
            if len(content) > MAX_EMBEDDED:
                large.append(f"'rinn export RUN --format {export.name}'")
                continue
            name, size = f"graph{ending}", max(1, round(len(content) / 1000))
            about = export.about if ending == export.suffix else f"goes with graph{export.suffix}"
            data = base64.b64encode(content).decode("ascii")
            address = f"data:application/octet-stream;base64,{data}"
            link = element("a", name, download=name, href=address)
            about = element("span", f"{about} ({size} kB)", class_="note")
            links.append(element("li", link, about))
    note = (
        "The files are part of this page; nothing is fetched. Weaker edges are in edges.csv of the "
        "run folder."
    )
    if large:
        note += f" Files that are too large for this page: use {', '.join(large)}."
    return join([paragraph(note, class_="note"), element("ul", *links, class_="downloads")])


def _format_time(seconds: float) -> str:
    """Write a duration: 42 s, 6 min 12 s."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"
