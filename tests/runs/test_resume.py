import json
import os
import random
import shutil
import signal
import time

import jax
import numpy as np
import pytest

import rinn.graphs.files
import rinn.nets.search
import rinn.report.html.page
import rinn.runs.checkpoint
import rinn.runs.folder
from networks import make_trials, small_problem
from processes import STOPPED, start_command, stop, wait_until_it_answers
from rinn.cli import run
from rinn.config import RunSettings
from rinn.errors import InputError
from rinn.fit import fit_run
from rinn.nets.groups import BatchState, CompileGroup
from rinn.nets.search import Engine, run_search
from rinn.runs.folder import RUN, open_output
from rinn.runs.manifest import load_manifest

RESULTS = ("trials.csv", "curves.csv", "graph.json", "edges.csv", "weights.safetensors")
# Saves often enough for every interruption to find something; networks are soon compiled.
SAVE_OFTEN = """
run = rinn.cli.run
def run_saving(arguments):
    import functools
    import rinn.nets.search
    import rinn.strategies.rinn
    rinn.nets.search.SECONDS_BETWEEN_SAVES = 0.2
    draw = functools.partial(rinn.strategies.rinn.draw_default, layers=2)
    rinn.strategies.rinn.draw_default = draw
    return run(arguments)
rinn.cli.run = run_saving
"""
# The signals of an interruption, and the exit code that follows.
INTERRUPTIONS = {
    "kill": ((signal.SIGKILL,), -signal.SIGKILL),
    "SIGTERM": ((signal.SIGTERM,), 143),
    "Ctrl-C": ((signal.SIGINT,), 130),
    "Ctrl-C twice": ((signal.SIGINT, signal.SIGINT), 130),
}
MOMENTS = 20
KILLS = 2


class Killed(BaseException):
    """Stands for the end of the process."""


def results(folder):
    return {name: (folder / name).read_bytes() for name in RESULTS}


def saved_files(folder):
    """What the run has written so far, so that a change shows."""
    paths = [folder / "trials.csv", *folder.glob("work/*.npz"), *folder.glob("nets/*.npz")]
    found = set()
    for path in paths:
        try:
            found.add((path.name, path.stat().st_mtime_ns))
        except FileNotFoundError:  # a group moved on between listing and looking
            continue
    return found


def start(data, out, *more):
    words = ["fit", data / "x.csv", data / "y.csv", "--out", out, "--trials", "8"]
    words += ["--epochs", "140", "--effects", "corrected", "--bootstraps", "5"]
    words += ["--device", "cpu", *more]
    as_users_have_it = os.environ | {"XLA_FLAGS": ""}
    return start_command(*words, change=SAVE_OFTEN, env=as_users_have_it)


def finish(process):
    _, words = process.communicate(timeout=300)
    assert process.returncode == 0, words


def wait_until_it_saves(process, out):
    """Returns False where the run ended before it was seen to write."""
    before = saved_files(out)
    while saved_files(out) == before:
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return True


def simulate(folder):
    words = "random --samples 160 --inputs 5 --outputs 5 --levels 1 --latents 2"
    assert run(["simulate", *words.split(), "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The data, what a run without interruption finds, and how long it went on saving."""
    base = tmp_path_factory.mktemp("uninterrupted")
    data = simulate(base / "data")
    process = start(data, base / "run")
    assert wait_until_it_saves(process, base / "run")
    began = time.monotonic()
    finish(process)
    return data, results(base / "run"), time.monotonic() - began


def test_killed_run_ends_as_uninterrupted(uninterrupted, tmp_path):
    data, expected, seconds = uninterrupted
    out, rng, landed = tmp_path / "run", random.Random(0), 0
    for kill in range(KILLS):
        process = start(data, out)
        saves = wait_until_it_saves(process, out)
        # The work that is left shrinks with every start, and `seconds` may be of a busier minute:
        # the first kill comes at once, so that one is sure to land.
        time.sleep(rng.uniform(0, seconds / (2 * KILLS)) if kill else 0)
        process.kill()
        process.communicate()
        if not saves or load_manifest(out).status != "running":
            break  # on a busy machine the run may be over before a later kill
        assert process.returncode == -signal.SIGKILL
        landed += 1
    assert landed, "no kill came in time"
    finish(start(data, out))
    assert results(out) == expected
    assert load_manifest(out).status == "complete"
    assert not list(out.glob("**/*.part"))
    assert not (out / "work").exists()
    assert not (out / "nets").exists()


def check_interruption(kind, process):
    """Send the signals of this kind; False where the run was complete before they came."""
    signals, code = INTERRUPTIONS[kind]
    found, shown, said = stop(process, *signals)
    if found == 0:
        return False
    assert (found, shown if found > 0 else "") == (code, "")
    lines = said.splitlines(keepends=True)
    assert lines[-1:] == ([STOPPED] if code > 0 else lines[-1:])
    assert all(" networks" in line for line in lines if line != STOPPED), said
    return True


@pytest.mark.slow
def test_signals_stop_and_resume(uninterrupted, tmp_path):
    """One after the other in the same run, each in the middle of its training."""
    data, expected, _ = uninterrupted
    out = tmp_path / "run"
    for kind in ("SIGTERM", "Ctrl-C", "Ctrl-C twice"):
        process = start(data, out)
        assert wait_until_it_saves(process, out)
        assert check_interruption(kind, process), f"the run was complete before {kind}"
        assert load_manifest(out).status == "running"
        assert list(out.glob("work/*.npz")) or list(out.glob("nets/*.npz"))
    finish(start(data, out))
    assert results(out) == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTERRUPTIONS)
def test_interrupted_at_random_moments(kind, tmp_path):
    """From the start to the end of the process, and in resumed runs as in new ones."""
    data, rng, landed = simulate(tmp_path / "data"), random.Random(kind), 0
    few = ("--trials", "4", "--epochs", "60")
    began = time.monotonic()
    finish(start(data, tmp_path / "whole", *few))
    seconds, expected = time.monotonic() - began, results(tmp_path / "whole")
    while landed < MOMENTS:
        out = tmp_path / f"{landed}"
        for _ in range(5):
            process = start(data, out, *few)
            wait_until_it_answers(process)
            time.sleep(rng.uniform(0, seconds))
            if not check_interruption(kind, process):
                break
            landed += 1
        finish(start(data, out, *few))
        assert results(out) == expected
        assert load_manifest(out).status == "complete"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A search of a second, and what it finds."""
    base = tmp_path_factory.mktemp("small")
    data = simulate(base / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rinn.nets.search, "SECONDS_BETWEEN_SAVES", 0.0)
        fit_small(data, base / "run")
    return data, results(base / "run")


def fit_small(data, out):
    settings = RunSettings(trials=6, epochs=45, bootstraps=5, effects="corrected")
    truth = data / "truth.json"
    return fit_run(
        data / "x.csv",
        data / "y.csv",
        out,
        settings,
        device="cpu",
        truth_path=truth,
        quiet=True,
    )


@pytest.mark.slow
def test_killed_at_any_write(small, tmp_path, monkeypatch):
    """The process ends at its first write; another at its second; and so on to the last."""
    data, expected = small
    monkeypatch.setattr(rinn.nets.search, "SECONDS_BETWEEN_SAVES", 0.0)
    replace_file = rinn.runs.folder.replace_file

    def end_at(number):
        left = number

        def write(path, content):
            nonlocal left
            if left <= 0:
                half = content[: len(content) // 2]
                path.with_name(".rinn-0123456789abcdef.part").write_bytes(half)
                raise Killed
            left -= 1
            replace_file(path, content)

        return write

    for number in range(60):
        out = tmp_path / f"{number}"
        with monkeypatch.context() as patch:
            end = end_at(number)
            runs = rinn.runs
            for module in (runs.folder, runs.checkpoint, rinn.graphs.files, rinn.report.html.page):
                patch.setattr(module, "replace_file", end)
            try:
                fit_small(data, out)
                break
            except Killed:
                pass
        fit_small(data, out)
        assert results(out) == expected
        assert load_manifest(out).status == "complete"
        assert {"scores.json", "report.html"} <= {path.name for path in out.iterdir()}
        assert not list(out.glob("**/*.part"))
    assert 10 < number < 59


def interrupt(data, out, monkeypatch, after):
    """Run until so many files of networks are written, then stop as Ctrl-C does."""
    save, count = rinn.runs.checkpoint.Checkpoints.save_batch, 0

    def save_and_stop(self, *args):
        nonlocal count
        save(self, *args)
        count += 1
        if count >= after:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rinn.nets.search, "SECONDS_BETWEEN_SAVES", 0.0)
        patch.setattr(rinn.runs.checkpoint.Checkpoints, "save_batch", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            fit_small(data, out)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"garbage",
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-200] + bytes(200),
        lambda content: content[:300] + b"\xff" * 200 + content[500:],
    ],
    ids=["garbage", "empty", "half", "no end", "bits"],
)
@pytest.mark.parametrize("kind", ["work", "nets"])
def test_damaged_networks_are_trained_again(small, tmp_path, monkeypatch, kind, damage):
    data, expected = small
    out = tmp_path / "run"
    interrupt(data, out, monkeypatch, after=1)
    there = sorted((out / "work").iterdir())
    assert there
    path = out / kind / there[0].name
    path.write_bytes(damage(there[0].read_bytes()))
    fit_small(data, out)
    assert results(out) == expected


def test_stopping_starts_no_further_cohort():
    started = []

    class Trainer:
        def __init__(self, group, problem, seed, device):
            started.append(group.number)
            self.group = group

        def start(self):
            return BatchState(np.zeros((1, 1), int), None, None, 0)

        def advance(self, batch):
            if self.group.number == 0:
                raise KeyboardInterrupt
            time.sleep(0.01)
            return batch, []

    trials = make_trials(settings=8)
    engine = Engine(
        lambda trials, *_: [CompileGroup(t.number, (t,), None) for t in trials], Trainer
    )
    with pytest.raises(KeyboardInterrupt):
        run_search(small_problem(), trials, jax.devices("cpu")[:1] * 2, engine=engine)
    assert len(started) <= 2


def test_run_in_use_is_refused(tmp_path):
    manifest = {"format": 1, "settings": {}, "data": {}}
    with open_output(tmp_path / "run", manifest, RUN):
        with (
            pytest.raises(InputError, match="is in use; wait for it"),
            open_output(tmp_path / "run", manifest, RUN),
        ):
            raise AssertionError("opened twice")
        assert json.loads((tmp_path / "run" / "manifest.json").read_text()) == manifest
    with open_output(tmp_path / "run", manifest, RUN) as run:
        assert run.path == tmp_path / "run"


def test_begun_on_another_platform(small, tmp_path, monkeypatch):
    data, _ = small
    out = tmp_path / "run"
    interrupt(data, out, monkeypatch, after=1)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["device"]["platform"] = "gpu"
    (out / "manifest.json").write_text(json.dumps(manifest))
    before = saved_files(out)
    with pytest.raises(InputError, match=r"started on the gpu.*pass --device gpu"):
        fit_small(data, out)
    assert saved_files(out) == before


def test_complete_run_stays_as_it_is(small, tmp_path):
    data, expected = small
    out = tmp_path / "run"
    fit_small(data, out)
    shutil.move(out, tmp_path / "moved")
    before = saved_files(tmp_path / "moved")
    found = fit_small(data, tmp_path / "moved")
    assert saved_files(tmp_path / "moved") == before
    assert results(tmp_path / "moved") == expected
    assert found.scores["graph"]["shd"] >= 0
