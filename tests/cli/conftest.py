"""Fixtures of tests of commands: a run written by hand, and calls that must work or be refused."""

from __future__ import annotations

import re

import pytest

from linear_run import make_table, write_linear_run
from rinn.cli import run as run_words

SETS = "PATH A\td\tA\tB\nPATH B\td\ty0\ty1\ty2\nP53\td\tTP53\tidle\n"


@pytest.fixture
def place(tmp_path):
    """A folder with a run, a table and gene sets."""
    write_linear_run(tmp_path / "run")
    make_table().to_csv(tmp_path / "x.csv", index_label="sample")
    (tmp_path / "sets.gmt").write_text(SETS)
    return tmp_path


@pytest.fixture
def call(capsys):
    def do(*words):
        capsys.readouterr()
        code = run_words([str(word) for word in words])
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown

    return do


@pytest.fixture
def refuse(capsys):
    """Run a command that must end with one sentence and exit code 2."""

    def do(*words):
        capsys.readouterr()
        assert run_words([str(word) for word in words]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"rinn: .+[.?]\n", shown.err)
        return shown.err

    return do
