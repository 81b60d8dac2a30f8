"""The command `rinn`: options to settings to one call; errors to one line.

The commands and their libraries are imported by `run`, when `main` already answers signals.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import threading

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
STOPPED = "stopped; the same command resumes"


def main() -> None:
    """Run the command and end the process.

    The exit code is 0 done, 2 the user's input is wrong, 1 anything else; 130 after Ctrl-C and
    143 after SIGTERM.
    """
    _answer_signals()
    code = 1  # of an error that RINN_DEBUG shows
    atexit.register(lambda: _end(code))  # the first to register runs last
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal cannot show is spelled out; it is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command with the arguments after `rinn`; return the exit code."""
    import typer

    from rinn.cli.commands import app
    from rinn.errors import ClusterError, InputError, TrainingError

    try:
        how = {"prog_name": "rinn", "standalone_mode": False, "obj": ["rinn", *arguments]}
        code = app(arguments or ["--help"], **how)
    except InputError as error:
        return _complain(f"{error}", 2)
    except (ClusterError, TrainingError) as error:
        return _complain(f"{error}", 1)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and isinstance(error.filename, str):
            # Readers and writers have better messages, but a name that is too long fails anywhere.
            name = f"{error.filename[:200]} cannot be used ({error.strerror})"
            return _complain(f"{name}; check its name and permissions", 2)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _complain(f"nothing more can be written ({error.strerror}); free some space", 2)
        # Wrong options: typer's errors, whose class has moved between releases, have this method.
        if hasattr(error, "format_message"):
            command = getattr(getattr(error, "ctx", None), "command_path", "rinn")
            message = error.format_message().rstrip(".")
            return _complain(
                message if message.endswith("?") else f"{message}; see '{command} --help'", 2
            )
        if os.environ.get("RINN_DEBUG"):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return _complain(f"something went wrong ({reason}); RINN_DEBUG=1 shows where", 1)
    if code == INTERRUPTED:  # newer releases of typer return this instead of raising
        return _complain(STOPPED, INTERRUPTED)
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    from rinn.runs.terminal import make_visible

    stop = "" if message.endswith(("?", ".")) else "."
    sys.stderr.write(f"rinn: {make_visible(message)}{stop}\n")
    return code


def _answer_signals() -> None:
    """Let Ctrl-C and SIGTERM end the process at once, whatever it does.

    Python calls a signal handler in the main thread, between two of its instructions: while XLA
    compiles in that thread, not for many seconds. An exception that a handler raises may end up in
    a callback of a native library, which loses it or aborts. So the interpreter writes the
    signal's number to a pipe, and a thread that reads it ends the process. Any moment is safe:
    files of a run are replaced atomically.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_on_signal, args=(reader,), daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, _wait_for_end)


def _wait_for_end(number: int, frame: FrameType | None) -> None:
    """Keep the main thread from going on, and from ending in another way."""
    threading.Event().wait()


def _end_on_signal(reader: int) -> None:
    number = os.read(reader, 1)[0]
    while signal.getsignal(number) is not _wait_for_end:  # a command ends in its own way
        number = os.read(reader, 1)[0]
    try:
        show_cursor = "\x1b[?25h\n" if os.isatty(2) else ""  # a progress bar hides it
        # Not by sys.stderr, whose lock the main thread may hold.
        os.write(2, f"{show_cursor}rinn: {STOPPED}.\n".encode())
    finally:
        os._exit(128 + number)


def _end(code: int) -> None:
    """End the process before the interpreter finalizes.

    Native threads outlive the command. A worker of Arrow's pool may release the last reference to
    a table's bytes after the table was read, for which it takes the interpreter's lock. During
    finalization a thread that takes the lock is ended by unwinding its stack, through a destructor
    that must not be unwound: `terminate called without an active exception`, exit code 134.
    """
    try:
        sys.stdout.flush()
    except Exception:  # it is closed, full, or nobody reads it
        code = code or 1
    os._exit(code)
