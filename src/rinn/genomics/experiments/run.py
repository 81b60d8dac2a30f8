"""An experiment from start to end: files in, a folder for `rinn fit` out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rinn.errors import count
from rinn.files import within_memory
from rinn.genomics.experiments.arrange import arrange
from rinn.genomics.experiments.design import read_design
from rinn.genomics.experiments.midas import read_midas
from rinn.genomics.experiments.perturb_seq import read_perturb_seq
from rinn.genomics.experiments.records import Experiment
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.prepare.prepare import Tables
from rinn.genomics.prepare.run import (
    PREPARATION,
    Preparation,
    count_columns,
    describe,
    write_tables,
)
from rinn.genomics.prepare.summary import (
    MAX_GENES,
    list_changes,
    list_covariates,
    list_sources,
    note_more,
    render_page,
    render_result,
    show_origin,
)
from rinn.report.html.charts import draw_bar
from rinn.report.html.markup import Markup, join, table
from rinn.runs.folder import find_output


def prepare_experiment(
    sources: ExperimentSources, out: Path, settings: ExperimentSettings | None = None
) -> Preparation:
    """Make X, Y and covariates of an experiment, and write them with their log into a folder.

    The same call again returns at once. A folder of other files or settings is refused.

    Args:
        sources: the files: a design with measurements, a MIDAS file, or Perturb-seq.
        out: the folder.
        settings: by default those of `ExperimentSettings`.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
    """
    settings = settings or ExperimentSettings()
    manifest = describe(sources, settings)
    stored = find_output(out, manifest, PREPARATION)
    if stored and stored.get("status") == "complete":
        return Preparation(out, stored)
    with within_memory("the tables of the experiment"):
        arranged = arrange(read_experiment(sources, settings), settings)
    summary = {"samples": len(arranged.x), **count_columns(arranged)}
    summary["warnings"] = list(arranged.warnings)
    complete = manifest | {"status": "complete", "summary": summary}
    write_tables(out, arranged, _write_summary(arranged, complete), manifest, complete)
    return Preparation(out, complete, arranged)


def read_experiment(sources: ExperimentSources, settings: ExperimentSettings) -> Experiment:
    """Read the files in their format."""
    if sources.midas is not None:
        return read_midas(sources.midas, settings)
    if sources.perturb_seq is not None:
        return read_perturb_seq(sources.perturb_seq, settings)
    return read_design(sources, settings)


def _write_summary(arranged: Tables, manifest: dict[str, Any]) -> str:
    """The page about the tables."""
    x, y = arranged.x, arranged.y
    sizes = [count(len(x), "sample"), count(x.shape[1], "input"), count(y.shape[1], "output")]
    given = (x != 0).sum(axis=1)
    sentence = (
        f"{int((given == 0).sum()):,} samples are without treatment, {int((given == 1).sum()):,} "
        f"have one and {int((given > 1).sum()):,} several. {int(y.isna().to_numpy().sum()):,} "
        f"cells of Y are empty."
    )
    has_covariates = arranged.covariates is not None
    result = render_result([sentence], arranged.warnings, has_covariates=has_covariates)
    sections = {
        "What was read": list_sources(arranged.logs),
        "What was dropped, and why": list_changes(arranged.logs),
        "Inputs": _list_inputs(arranged),
        "Covariates": list_covariates(arranged.covariates),
        "How it was made": show_origin(manifest),
    }
    return render_page(", ".join(sizes), "rinn experiment", result, sections, manifest)


def _list_inputs(arranged: Tables) -> Markup:
    rows = [
        (
            str(row["input"]), f"{row['samples']:,}", draw_bar(row["samples"] / len(arranged.x)),
            f"{row['levels']:,}", f"{row['lowest']:g}", f"{row['highest']:g}",
        )
        for row in arranged.inputs.head(MAX_GENES).to_dict("records")
    ]  # fmt: skip
    headers = ("input", "samples that got it", "", "levels", "lowest", "highest")
    more = note_more(len(arranged.inputs), "inputs.csv")
    return join([table(headers, rows, "Inputs"), more])
