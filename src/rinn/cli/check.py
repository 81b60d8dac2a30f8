"""The commands that take a graph or run further: `score`, `check`, `export` and `report`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from rinn.cli.options import Json, say
from rinn.errors import InputError
from rinn.runs.terminal import Terminal


def score(
    run: Annotated[Path, typer.Argument(help="Run folder, or a graph as .json or .graphml.")],
    truth: Annotated[Path, typer.Option(help="The graph that made the data.")],
    as_json: Json = False,
) -> None:
    """Compare what was found with a known truth: the paper's scores and the graph's."""
    from rinn.cli.show import show_scores
    from rinn.runs.score import score_path

    scores = score_path(run, truth)
    if as_json:
        sys.stdout.write(json.dumps(scores) + "\n")
    else:
        show_scores(scores, Terminal())


def check(
    graph: Annotated[Path, typer.Argument(help="A graph as .json or .graphml, or a run folder.")],
    x: Annotated[
        Path | None, typer.Option(help="Table of the inputs, to hold beside the graph; with --y.")
    ] = None,
    y: Annotated[
        Path | None, typer.Option(help="Table of the outputs, same samples; with --x.")
    ] = None,
    covariates: Annotated[
        Path | None,
        typer.Option(help="Table of tissue, batch and the like, to be held fixed; with --x."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which latents of a graph could be known if it were the truth, and what it assumes."""
    from rinn.cli.show import show_check
    from rinn.runs.check import check_file

    with _name_in_errors(f"cannot read {graph}"):
        result = check_file(graph, x, y, covariates)
    if as_json:
        sys.stdout.write(json.dumps(result.to_json()) + "\n")
    else:
        show_check(result, Terminal())


def export(
    run: Annotated[Path, typer.Argument(help="Run folder, or a graph as .json or .graphml.")],
    kind: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="One of the formats below.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default beside the graph.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write a graph for another program; the formats are below."""
    from rinn.graphs.export import EXPORTS, export_path

    with _name_in_errors(f"cannot export {run}" + (f" to {out}" if out else "")):
        path = export_path(run, kind, out, force=force)
    *others, file = EXPORTS[kind].files(path)
    say(f"wrote {' and '.join(map(str, [file, *others]))}")


class ListFormats(TyperCommand):
    """A command whose help ends with the formats, read when the help is asked for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the formats below the options."""
        from rinn.graphs.export import EXPORTS

        with formatter.section("Formats"):
            formatter.write_dl([(export.name, export.about) for export in EXPORTS.values()])


def report(
    run: Annotated[Path, typer.Argument(help="Run folder that 'rinn fit' has finished.")],
) -> None:
    """Write report.html of a finished run anew."""
    from rinn.report.html.page import write_report

    say(f"wrote {write_report(run)}")


@contextmanager
def _name_in_errors(what: str) -> Iterator[None]:
    """Turn what the disk refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {error.strerror}") from error
