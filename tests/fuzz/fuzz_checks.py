"""Run one case and say what is wrong with how it ended.

`python tests/fuzz/fuzz_checks.py FAMILY FIRST [LAST]` runs cases and lists the failures by cause.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import http.server
import io
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import webbrowser
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz_cases import FAMILIES, fill_data, fill_nothing, make_base, take

from rinn.cli import run

SECONDS = {"fits": 180}
MAX_SECONDS = 20
MAX_MEMORY = 2 << 30
MAX_LETTERS = 2000  # of a sentence, beside the words of the command itself
SENTENCE = re.compile(r"rinn: [^\n]+[.?]\n")
UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ENDS = {"SIGINT": (130, -2), "SIGTERM": (143, -15), "SIGKILL": (-9,)}
MAIN = "import sys; from rinn.cli import main; print(flush=True); main()"


class Hang(BaseException):
    """The time is over; no handler of the program takes it for its own."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended; `cause` is the place of an exception that reached the top."""

    code: int | None
    out: str
    err: str
    cause: str = ""


def run_case(family, seed, root):
    """Make a case in an empty folder and run it.

    Args:
        family: one of `FAMILIES`.
        seed: which of its cases.
        root: an empty folder.

    Returns:
        Each thing that is wrong, and the command.
    """
    folder = root / "case"
    folder.mkdir()
    with contextlib.chdir(folder):
        case = FAMILIES[family](random.Random(f"{family}-{seed}"), seed)
        before = take_snapshot(root)
        if case.signal:
            problems = _interrupt(case)
        else:
            outcome = call(case.words, SECONDS.get(family, MAX_SECONDS))
            problems = check_outcome(outcome, sum(map(len, case.words)))
            if outcome.code == 2:
                case = type(case)(case.words)
                problems += [
                    f"left {path!a}" for path in take_snapshot(root).keys() - before.keys()
                ]
        after = take_snapshot(root)
    may_change = {f"case/{path}" for path in case.may_change}
    changed = (path for path in before if after.get(path) != before[path])
    problems += [f"changed {path!a}" for path in changed if path not in may_change]
    new = after.keys() - before.keys()
    problems += [f"left {path!a}" for path in new if path.endswith(".part")]
    return sorted(set(problems)), case.words


def check_outcome(outcome, letters):
    """Compare the exit code and the words with what the command promises."""
    if outcome.code is None:
        return [f"hangs {outcome.cause}"]
    if outcome.code not in (0, 2):
        return [f"exit {outcome.code} {outcome.cause or outcome.err.strip()}"]
    problems = []
    unsafe = sorted({f"{found!a}" for found in UNSAFE.findall(outcome.out + outcome.err)})
    if unsafe:
        where = UNSAFE.search(outcome.out + outcome.err)
        text = (outcome.out + outcome.err)[max(0, where.start() - 60) : where.end() + 20]
        problems.append(f"prints {' '.join(unsafe)} in {text!a}")
    if outcome.code == 2 and not SENTENCE.fullmatch(outcome.err):
        problems.append(f"not one sentence: {outcome.err[:300]!a}")
    if outcome.code == 2 and len(outcome.err) > MAX_LETTERS + 2 * letters:
        problems.append(f"a sentence of {len(outcome.err)} characters: {outcome.err[:100]!a}")
    return problems


def take_snapshot(root):
    """The kind and content of everything below a folder; nothing is followed."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            key = str(path.relative_to(root))
            if path.is_symlink():
                found[key] = ("link", os.readlink(path))
            elif path.is_file():
                found[key] = ("file", path.read_bytes())
            else:
                found[key] = ("folder" if path.is_dir() else "other", "")
    return found


def call(words, seconds):
    """Run a command in this process, within limits of time and memory."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2)
    )
    code, cause = None, ""
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, RINN_DEBUG="1"),
        mock.patch.object(http.server.ThreadingHTTPServer, "serve_forever"),
        mock.patch.object(webbrowser, "open"),
        warnings.catch_warnings(),
        _limit_memory(),
    ):
        warnings.simplefilter("error")
        try:
            with _limit_time(seconds):
                code = run(words)
        except Hang as error:
            cause = _find_cause(error)
        except Exception as error:
            code, cause = 1, _find_cause(error)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Outcome(code, *texts, cause)


def _find_cause(error):
    """The type of an exception, and the last line of rinn that it passed."""
    if isinstance(error, Hang) and error.__context__:
        error = error.__context__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/rinn/" in frame.filename] or frames
    place = f"{own[-1].filename.rpartition('/src/')[2]}:{own[-1].lineno}"
    return f"{place} {type(error).__name__}: {str(error)[:120]!a}"


@contextlib.contextmanager
def _limit_time(seconds):
    def stop(*_):
        raise Hang

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    # Where compiled code never returns to Python, only the end of the process helps.
    faulthandler.dump_traceback_later(10 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def _limit_memory():
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MAX_MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _interrupt(case):
    """Send the signal; then the same command must finish, with the graph of a quiet run."""
    process = _start(case.words)
    process.stdout.readline()  # the program has begun
    time.sleep(case.delay)
    process.send_signal(getattr(signal, case.signal))
    code, err = _finish(process)
    problems = []
    if code not in (0, *ENDS[case.signal]):
        problems.append(f"{case.signal} gives exit {code} {err.strip()[-300:]!a}")
    if "Traceback" in err:
        problems.append(f"{case.signal} shows a traceback: {err.strip()[-200:]!a}")
    code, err = _finish(_start(case.words))
    if code:
        problems.append(f"after {case.signal} exit {code} {err.strip()[-300:]!a}")
    elif Path("new/graph.json").read_bytes() != _find_graph(tuple(case.words)):
        problems.append(f"after {case.signal} another graph")
    return problems


@functools.cache
def _find_graph(words):
    """The graph of a run that nothing interrupts."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        take(fill_data, ".")
        assert _finish(_start(words))[0] == 0
        return Path("new/graph.json").read_bytes()


def _start(words):
    env = {"JAX_COMPILATION_CACHE_DIR": make_base(fill_nothing).name}
    env |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "RINN_DEBUG": ""}
    command = [sys.executable, "-c", MAIN, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=os.environ | env, text=True)


def _finish(process):
    try:
        _, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
        return None, err
    return process.returncode, err


def describe(family, seed, problems, words):
    """What failed, and how to run it again."""
    again = f"python tests/fuzz/fuzz_checks.py {family} {seed}"
    shown = " ".join(word if len(word) < 80 else f"{word[:60]}..." for word in words)
    return f"{family}-{seed}: {'; '.join(problems)}\ncommand: rinn {shown!a}\nagain: {again}"


def main(family, first, last=None):
    causes = defaultdict(list)
    for seed in range(int(first), int(last or first) + 1):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as root:
            problems, words = run_case(family, seed, Path(root))
        if problems:
            print(describe(family, seed, problems, words))
        took = time.monotonic() - begin
        if took > 3:
            print(f"{family}-{seed} took {took:.1f} s: {words!a}"[:300])
        for problem in problems:
            causes[problem].append(seed)
    return causes


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
