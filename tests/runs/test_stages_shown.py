"""The stages of a run on a terminal and in a log, and the table of `--profile`."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import rinn
from rinn.data.stages import count_parts, stage
from rinn.runs import stages
from rinn.runs.stages import TITLES, WITH_A_BAR, StageProgress, find_peak, show_stages


def run(console, *, quiet=False, profile=False):
    with show_stages(console, quiet=quiet, profile=profile):
        with stage("training"):
            pass
        with stage("bootstrap"):
            list(count_parts("abc", 3))


def read(*, terminal, **how):
    file = io.StringIO()
    run(Console(file=file, force_terminal=terminal, width=100), **how)
    return file.getvalue()


def test_a_terminal_shows_the_stage_and_its_parts():
    shown = read(terminal=True)
    assert "repeating the search on bootstrap resamples 2/3" in shown
    assert "training" not in shown  # it has a bar


def test_a_log_has_lines_of_long_stages(monkeypatch):
    assert read(terminal=False) == ""
    monkeypatch.setattr(stages, "SECONDS_BETWEEN_LINES", -1.0)
    lines = read(terminal=False).splitlines()
    assert lines == [f"{TITLES['bootstrap']}{n} ..." for n in ("", " 0/3", " 1/3", " 2/3")]


def test_every_stage_of_the_source_has_a_title():
    source = Path(rinn.__file__).parent
    stages = {
        name
        for path in source.rglob("*.py")
        if path.name != "stages.py"
        for name in re.findall(r"\bstage\(\"([^\"]+)\"\)", path.read_text())
    }
    assert stages == {WITH_A_BAR, *TITLES}


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(stages, "SECONDS_BETWEEN_LINES", -1.0)
    assert read(terminal=terminal, quiet=True) == ""


def test_a_profile_has_every_stage():
    lines = read(terminal=False, profile=True).splitlines()
    assert lines[0].split() == ["stage", "seconds", "peak_gb"]
    for name in ("training", "bootstrap", "all stages", "of these compiling"):
        assert any(line.strip().startswith(name) for line in lines)


def test_seconds_and_memory_are_kept():
    progress = StageProgress(Console(quiet=True), quiet=True)
    progress.begin("search")
    progress.end("search", 1.5)
    progress.begin("search")
    progress.end("search", 0.5)
    progress.close()
    assert progress.seconds == {"search": 2.0}
    assert progress.peak["search"] == find_peak() > 1e6
