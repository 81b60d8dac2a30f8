"""The command `rinn`: words to settings to one call; errors to one line."""

from __future__ import annotations

import importlib.metadata
import io
import os
import sys
from typing import Annotated

import typer

from rinn.cli.datasets import simulate
from rinn.cli.drawing import ListFigures, draw
from rinn.cli.findings import ListFormats, check, export, report, score
from rinn.cli.learning import demo, fit, reproduce
from rinn.cli.preparing import prepare
from rinn.cli.tumours import tci
from rinn.cli.using import activity, name, similar, whatif
from rinn.cli.viewing import view
from rinn.errors import InputError, TrainingError
from rinn.terminal import make_visible

INTERRUPTED = 130

app = typer.Typer(
    help="Learn the hidden causal graph between known causes (X) and known effects (Y).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# In the order of the help.
app.command()(simulate)
app.command()(prepare)
app.command()(fit)
app.command()(score)
app.command()(check)
app.command(cls=ListFormats)(export)
app.command()(report)
app.command(cls=ListFigures)(draw)
app.command()(view)
app.command()(name)
app.command()(activity)
app.command()(whatif)
app.command()(similar)
app.command()(demo)
app.command()(reproduce)
app.command()(tci)


def main() -> None:
    """Run the command; exit code 0 done, 2 the user's input is wrong, 1 anything else."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal cannot show is spelled out; it is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with these arguments.

    Args:
        arguments: the words after `rinn`.

    Returns:
        The exit code.
    """
    try:
        code = app(arguments or ["--help"], standalone_mode=False, obj=["rinn", *arguments])
    except InputError as error:
        return _complain(f"{error}", 2)
    except TrainingError as error:
        return _complain(f"{error}", 1)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        # Wrong words on the command line: typer's own errors, whose class has moved between
        # releases, tell a message from a traceback by this method.
        if hasattr(error, "format_message"):
            return _complain(error.format_message().rstrip("."), 2)
        if os.environ.get("RINN_DEBUG"):
            raise
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return _complain(f"something went wrong ({words}); RINN_DEBUG=1 shows where", 1)
    if code == INTERRUPTED:  # newer releases of typer return this in place of the exception
        return _complain("stopped; the same command goes on where it was", 1)
    return code if isinstance(code, int) else 0


@app.callback(invoke_without_command=True)
def _describe_self(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if version:
        sys.stdout.write(f"rinn {importlib.metadata.version('rinn')}\n")
        raise typer.Exit()


def _complain(message: str, code: int) -> int:
    stop = "" if message.endswith(("?", ".")) else "."
    sys.stderr.write(f"rinn: {make_visible(message)}{stop}\n")
    return code
