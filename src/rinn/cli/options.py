"""What the commands share: options from fields of records, lists in the help, files, printing."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from rinn.errors import InputError
from rinn.runs.terminal import Terminal, make_visible

if TYPE_CHECKING:
    import pandas as pd

Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
MACHINE = "Machine"  # heading in the help
Device = Annotated[
    str, typer.Option(help="auto (a GPU if there is one), cpu or gpu.", rich_help_panel=MACHINE)
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Train and resample on a Dask cluster: local:N (N processes on this machine), "
        "local:gpus, tcp://host:8786 (a scheduler) or a YAML file (SLURM, PBS, Kubernetes ...). "
        "The result is the same.",
        rich_help_panel=MACHINE,
    ),
]
Cores = Annotated[
    int | None,
    typer.Option(help="Cores of this machine to use; all by default.", rich_help_panel=MACHINE),
]
Run = Annotated[
    Path, typer.Argument(metavar="RUN", help="Run folder that 'rinn fit' has finished.")
]
RunOrGraph = Annotated[
    Path, typer.Argument(metavar="RUN", help="Run folder, or a graph as .json or .graphml.")
]


def print_line(text: str) -> None:
    """Print a sentence as it is, without line breaks in long paths."""
    Terminal().print(text, soft_wrap=True, highlight=False, markup=False)


def check_target_file(out: Path | None, force: bool) -> None:
    """Refuse a file that cannot be written or exists, before anything is computed."""
    from rinn.files import check_target

    if out is None:
        return
    check_target(out)
    if os.path.lexists(out) and not force:
        raise InputError(f"{out} exists; pass --force to replace it, or name another with --out")


def write_csv(table: pd.DataFrame, out: Path | None) -> None:
    """Write a table, where a file is named."""
    from rinn.files import encode_table, replace_file

    if out is not None:
        replace_file(out, encode_table(table))


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to stderr."""
    for warning in warnings:
        print_note(f"warning: {warning}")


def print_note(text: str) -> None:
    """Print a line to stderr, apart from the result."""
    sys.stderr.write(f"{clip_line(text)}\n")


def clip_line(text: str) -> str:
    """A name that may come from anywhere, for one line of a terminal."""
    visible = make_visible(text)
    return visible if len(visible) <= 400 else f"{visible[:380]}...{visible[-17:]}"


def split_commas(text: str) -> tuple[str, ...]:
    """The words of a list that is separated by commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def with_settings(
    *only: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make options of the fields of each record among a command's parameters.

    Only fields with a help text are options, or those named in `only`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        records: dict[str, tuple[Any, dict[str, inspect.Parameter]]] = {}
        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            if is_dataclass(parameter.annotation):
                hints = get_type_hints(parameter.annotation)
                options = {
                    field.name: _make_option(field, hints[field.name])
                    for field in fields(parameter.annotation)
                    if "help" in field.metadata and (not only or field.name in only)
                }
                records[parameter.name] = parameter.annotation, options
                parameters += options.values()
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @functools.wraps(command)
        def run(**given: Any) -> None:
            for name, (record, options) in records.items():
                values = {option: given.pop(option) for option in options}
                given[name] = record(**values)
            command(**given)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _make_option(field: Field[Any], kind: Any) -> inspect.Parameter:
    default = None if field.default is MISSING else field.default
    about: dict[str, Any] = {"help": field.metadata["help"]}
    about["rich_help_panel"] = field.metadata.get("group")
    names = [f"--{field.name.replace('_', '-')}"]
    if kind is bool and default:
        names = [f"{names[0]}/--no-{names[0][2:]}"]
    if default == ():
        kind, default, about["parser"] = str, "", split_commas
        about |= {"metavar": "NAMES", "show_default": False}
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*names, **about)],
    )


@dataclass(frozen=True)
class Listing:
    """A registry at the end of a command's help, loaded when the help is asked for."""

    title: str
    module: str
    registry: str
    about: str = "about"

    def rows(self) -> list[tuple[str, str]]:
        """Names and descriptions."""
        items = getattr(importlib.import_module(self.module), self.registry).items()
        return [(n, getattr(one, self.about)) for n, one in items if getattr(one, "holds", True)]


def make_command(*examples: str, listing: Listing | None = None) -> type[TyperCommand]:
    """A command whose help has options under headings, then a registry, then examples."""

    class Command(TyperCommand):
        def collect_usage_pieces(self, ctx: Any) -> list[str]:
            # Newer releases of typer put required arguments into braces.
            return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

        def format_options(self, ctx: Any, formatter: Any) -> None:
            groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
            for parameter in self.get_params(ctx):
                record = parameter.get_help_record(ctx)
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                title = "Arguments" if parameter.param_type_name == "argument" else title
                if record is not None:
                    groups.setdefault(title, []).append(record)
            for title, records in groups.items():
                if records:
                    with formatter.section(title):
                        formatter.write_dl(records)

        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            if listing:
                with formatter.section(listing.title):
                    formatter.write_dl(listing.rows())
            if examples:
                with formatter.section("Examples"):
                    for line in examples:
                        formatter.write(f"  {line}\n")

    return Command


class Overview(TyperGroup):
    """The help of `rinn`: every command with its whole first sentence, under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                title = getattr(command, "rich_help_panel", None) or "Commands"
                groups.setdefault(title, []).append((name, command.get_short_help_str(1000)))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
