"""The command that shows runs in a browser: `view`."""

from __future__ import annotations

import signal
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from rinn.cli.options import say


def view(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|DIR", help="Run folder, or a folder that holds several.")
    ],
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes any free port.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Show the report of a run, or an index of many runs, in a browser on this machine.

    Nothing is written, and nothing outside the folder is read. Every user of this machine can
    look while it runs; Ctrl-C ends it.
    """
    from rinn.report.serve import open_server

    server = open_server(run, port)
    before = signal.getsignal(signal.SIGINT)
    if before != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        say(f"showing {run} at {server.url} (Ctrl-C ends it)")
        if open_browser:
            webbrowser.open(server.url)
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        signal.signal(signal.SIGINT, before)
