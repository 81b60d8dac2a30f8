import re

import pytest
from fake_cells import RINN, FakeRuns

from rinn.cli import run
from rinn.paper.cells import Setup


@pytest.fixture
def runs(monkeypatch):
    """Cells that take no time, in place of the real ones."""
    runs = FakeRuns()
    monkeypatch.setattr("rinn.paper.reproduce.run_cell", runs)
    return runs


def call(*words):
    return run(["reproduce", "--device", "cpu", *map(str, words)])


def test_defaults(runs, tmp_path, capsys):
    out = tmp_path / "out"
    assert call("--out", out) == 0
    assert len(runs.calls) == 20
    setup = Setup("quick", 5000, None, RINN)
    assert runs.arguments[0] == (setup, out / "runs" / "matrix-rinn-0", "cpu", False)
    shown = capsys.readouterr()
    assert "Table 1. Input mapping" in shown.out
    assert "RINN: at or above the paper in" in shown.out
    assert shown.out.endswith(f"open {out / 'tables.html'}\n")
    assert "20/20 cells, finished" in shown.err
    assert (out / "tables.html").exists()


def test_choices(runs, tmp_path):
    words = ("--datasets", "5, or,", "--strategies", "dm,rinn", "--seeds", 2, "--trials", 4)
    assert call("--out", tmp_path, *words, "--budget", "paper") == 0
    assert runs.calls[:4] == ["tcga-or-dm-0", "tcga-or-rinn-0", "tcga-or-dm-1", "tcga-or-rinn-1"]
    assert runs.arguments[0][0] == Setup("paper", 5000, 4, RINN)


def test_tumours_by_default(runs, tmp_path):
    assert call("--out", tmp_path, "--datasets", "tcga-logic", "--quiet") == 0
    assert runs.calls == ["tcga-logic-rinn-0", "tcga-logic-dnn-0", "tcga-logic-dbn-0"]


def test_quiet(runs, tmp_path, capsys):
    assert call("--out", tmp_path, "--quiet") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_failed_cells_end_with_1(runs, tmp_path, capsys):
    runs.failing.add("or-dbn-0")
    assert call("--out", tmp_path, "--datasets", "3") == 1
    shown = capsys.readouterr()
    assert "failed" in shown.out
    words = "rinn: training failed in or-dbn-0; the same command tries again.\n"
    assert shown.err.endswith(words)


def test_interrupted(runs, tmp_path, capsys):
    runs.stopping.add("or-dnn-0")
    assert call("--out", tmp_path, "--datasets", "3", "--quiet") == 130
    assert capsys.readouterr().err == "rinn: stopped; the same command resumes.\n"
    runs.stopping.clear()
    assert call("--out", tmp_path, "--datasets", "3", "--quiet") == 0
    assert runs.calls.count("or-rinn-0") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--datasets", "1,gausian"), "datasets must be .* 'gausian'; did you mean 'gaussian'"),
        (("--datasets", ","), "datasets must name at least one of"),
        (("--strategies", "es"), "strategies must be .* got 'es'; did you mean 'esc'"),
        (("--budget", "default"), "budget must be one of quick, paper, got 'default'"),
        (("--seeds", "0"), "seeds must be a whole number from 1 to 1000, got 0"),
        (("--seeds", "0,1"), "Invalid value for '--seeds'"),
        (("--trials", "1"), "trials must be a whole number from 2 to 100000, got 1"),
        (("--device", "cup"), "device must be one of"),
    ],
)
def test_wrong_words(words, message, runs, tmp_path, capsys):
    out = tmp_path / "out"
    assert call("--out", out, *words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(rf"rinn: .*{message}.*[.?]\n", shown.err)
    assert not out.exists()
    assert runs.calls == []


def test_another_budget_in_the_same_folder(runs, tmp_path, capsys):
    assert call("--out", tmp_path, "--datasets", "1", "--quiet") == 0
    assert call("--out", tmp_path, "--datasets", "1", "--budget", "paper") == 2
    assert "was made with other budget (quick, now paper)" in capsys.readouterr().err


def test_out_is_needed(runs, capsys):
    assert call() == 2
    assert "--out" in capsys.readouterr().err
