"""Every exit of the command is clean: an exit code, one sentence, no traceback, no abort."""

import os
import pty
import random
import signal
import time

import pytest

from processes import STOPPED, start_command, stop, wait_until_it_answers
from rinn.cli import run
from rinn.runs.manifest import MANIFEST

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")

REPEATS = int(os.environ.get("RINN_REPEATS", "200"))  # of each exit in the slow tests
INT, TERM = signal.SIGINT, signal.SIGTERM
ENDS = [
    pytest.param((INT,), 130, id="Ctrl-C"),
    pytest.param((INT, INT), 130, id="Ctrl-C twice"),
    pytest.param((TERM,), 143, id="SIGTERM"),
]
# Inside native code that neither ends nor returns to the interpreter when a signal comes, as a
# compiler does: it waits for a lock that it holds.
HANG = """
def hang(arguments):
    import ctypes
    lock = ctypes.create_string_buffer(256)
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(lock)
rinn.cli.run = hang
"""


def end_after(process, seconds, *signals):
    wait_until_it_answers(process)
    time.sleep(seconds)
    return stop(process, *signals)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exits") / "data"
    words = "random --samples 60 --inputs 4 --outputs 4 --levels 1 --latents 1"
    assert run(["simulate", *words.split(), "--out", str(folder)]) == 0
    return folder


def start_fit(data, out, x="x.csv"):
    words = "--trials 2 --epochs 2 --device cpu --quiet --out"
    return start_command("fit", data / x, data / "y.csv", *words.split(), out)


def check_wrong_name(data, out):
    code, shown, said = stop(start_fit(data, out, x="nope.csv"))
    assert (code, shown) == (2, "")
    assert said.startswith("rinn: X (")
    assert said.endswith("check the spelling and the folder.\n")
    assert said.count("\n") == 1
    assert not out.exists()


def check_compiling(data, out, seconds, signals, code):
    """Stop a fit so many seconds after its folder is there, from when on it compiles."""
    process = start_fit(data, out)
    while not (out / MANIFEST).exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    time.sleep(seconds)
    began = time.monotonic()
    assert stop(process, *signals) == (code, "", STOPPED)
    return time.monotonic() - began


@pytest.mark.parametrize(("signals", "code"), ENDS)
def test_signal_inside_native_code(signals, code):
    assert end_after(start_command(change=HANG), 0.1, *signals) == (code, "", STOPPED)


@pytest.mark.parametrize(("signals", "code"), ENDS)
def test_signal_as_the_first_imports_begin(signals, code):
    assert end_after(start_command("--help"), 0.0, *signals) == (code, "", STOPPED)


def test_ctrl_c_twice_while_a_fit_compiles(data, tmp_path):
    check_compiling(data, tmp_path / "run", 0.2, (INT, INT), 130)


def test_ctrl_c_that_the_parent_ignores_stays_ignored():
    """As under nohup, or in the background of a shell that is no terminal's."""
    change = "signal.signal(signal.SIGINT, signal.SIG_IGN)" + HANG
    process = start_command(change=change)
    assert end_after(process, 0.1, INT, TERM) == (143, "", STOPPED)


def test_signal_shows_the_cursor_that_a_bar_has_hidden():
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        process = start_command(change=HANG, stderr=theirs)
        os.close(theirs)
        assert end_after(process, 0.1, INT)[0] == 130
        assert screen.read(200).replace(b"\r", b"") == b"\x1b[?25h\n" + STOPPED.encode()


def test_signal_without_standard_error():
    """There is nowhere to write the sentence to; the process ends all the same."""
    process = start_command(change="import os; os.close(2)" + HANG)
    assert end_after(process, 0.1, INT)[0] == 130


def test_process_ends_before_the_interpreter_goes_down():
    """What the libraries left to the exit runs; native threads meet no half-dead interpreter."""
    change = """
import atexit, os, sys
class Last:
    def __del__(self, write=os.write):
        write(1, b"gone down")
sys.last = Last()
def work(arguments):
    atexit.register(print, "cleaned up")
    print("done")
    return 3
rinn.cli.run = work
"""
    assert stop(start_command(change=change)) == (3, "done\ncleaned up\n", "")


def test_error_that_is_shown_ends_with_1():
    code, _, said = stop(start_command(change="rinn.cli.run = lambda arguments: 1 / 0"))
    assert code == 1
    assert said.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("case", ["full", "reader gone", "closed"])
def test_output_that_cannot_be_written(case):
    """What is left in the buffer at the end is lost, and the exit code says so."""
    change = "rinn.cli.run = lambda arguments: print('done') or 0"
    if case == "closed":
        change += "\nimport sys; sys.stdout = None"
    reader, writer = os.pipe()
    os.close(reader)
    output = os.open("/dev/full", os.O_WRONLY) if case == "full" else os.dup(writer)
    env = {**os.environ, "PYTHONUNBUFFERED": ""}
    assert stop(start_command(change=change, stdout=output, env=env)) == (1, None, "")
    os.close(output)
    os.close(writer)


@pytest.mark.slow
def test_wrong_name_of_a_file_many_times(data, tmp_path):
    for _ in range(REPEATS):
        check_wrong_name(data, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(("signals", "code"), ENDS)
def test_signal_in_the_first_moments_many_times(signals, code, data, tmp_path):
    """From the first line of `main` on: what comes before is Python's own start."""
    rng = random.Random(0)
    for number in range(REPEATS):
        process = start_fit(data, tmp_path / f"{number}")
        assert end_after(process, rng.uniform(0, 0.3), *signals) == (code, "", STOPPED)


@pytest.mark.slow
@pytest.mark.parametrize(("signals", "code"), ENDS)
def test_signal_while_a_fit_compiles_many_times(signals, code, data, tmp_path):
    rng = random.Random(0)
    took = [
        check_compiling(data, tmp_path / f"{number}", rng.uniform(0, 0.8), signals, code)
        for number in range(REPEATS)
    ]
    assert max(took) < 5


@pytest.mark.parametrize("words", [["view", "{}"], ["report", "{}"]])
def test_a_name_that_is_too_long_is_one_sentence(words, capsys):
    long = "x" * 5000
    assert run([word.format(long) for word in words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "cannot be used (File name too long); check its name and permissions." in said
