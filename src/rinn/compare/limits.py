"""A program in a child process, which ends at its time limit and with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

MAX_ERROR = 300  # characters of a child's last words


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, None where it was killed here, and its last error.

    It is stopped where it was killed here, or where it or one of its workers exceeded a limit of
    processor time; that a worker did is read from the child's errors.
    """

    code: int | None
    seconds: float
    error: str = ""
    is_stopped: bool = False


def run_limited(command: Sequence[str], limit: float) -> Ended:
    """Run a command and kill it, with all that it started, once the limit is over.

    The child's standard input stays open as long as this process lives: see `end_with_parent`.

    Example:
        >>> import sys
        >>> run_limited([sys.executable, "-c", "import time; time.sleep(60)"], 0.2).code is None
        True
    """
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(  # noqa: S603, the command is our own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # a group of its own, which can be killed whole
        )
        code: int | None = None
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if child.poll() is None:
                _kill(child)
                child.wait()
            if child.stdin:
                child.stdin.close()
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip()
    seconds, error = time.monotonic() - started, words.rpartition("\n")[2][-MAX_ERROR:]
    is_stopped = code in (None, -getattr(signal, "SIGXCPU", 1)) or (code > 0 and "SIGXCPU" in words)
    return Ended(code, seconds, error, is_stopped)


def _kill(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


def end_with_parent() -> None:
    """In a child of `run_limited`: end this process and its children when the parent has ended."""

    def watch() -> None:
        while os.read(0, 1):  # until the other end is closed
            pass
        if hasattr(os, "killpg"):
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
