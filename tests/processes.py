"""The command `rinn` in a process of its own, to be stopped from outside."""

import signal
import subprocess
import sys
import time
from pathlib import Path

STOPPED = "rinn: stopped; the same command resumes.\n"
# As the installed script does; and Ctrl-C works even where a shell that started the tests in the
# background had it ignored.
START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import rinn.cli
{change}
rinn.cli.main()
"""


def start_command(*words, change="", **more):
    """Start the command; `change` is run before it, with `rinn.cli` imported."""
    command = [sys.executable, "-c", START.format(change=change), *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(command, text=True, **pipes)


def wait_until_it_answers(process):
    """Wait until the command handles signals: Python itself never handles SIGTERM."""
    status = Path(f"/proc/{process.pid}/status")
    until = time.monotonic() + 60
    while process.poll() is None:
        assert time.monotonic() < until, "it never handled SIGTERM"
        caught = status.read_text().partition("SigCgt:")[2].split(maxsplit=1)
        if caught and int(caught[0], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)


def stop(process, *signals):
    """Send signals; returns the exit code, standard output and standard error."""
    try:
        for number in signals:
            process.send_signal(number)
        shown, said = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, shown, said
