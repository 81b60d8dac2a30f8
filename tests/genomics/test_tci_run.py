import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import rinn.genomics.tci.calls
from rinn.cli import run
from rinn.data.align import load_data
from rinn.genomics.tci.run import ScoringProgress, pack_causes

FILES = {
    ".rinn.lock",
    "calls.csv",
    "causes.parquet",
    "degs.csv",
    "drivers.csv",
    "manifest.json",
    "targets.csv",
    "x.csv",
    "y.csv",
}


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    x = (rng.random((300, 6)) < 0.25).astype(int)
    y = (rng.random((300, 8)) < 0.2).astype(int)
    y[:, :7] |= x[:, :1] & (rng.random((300, 7)) < 0.9)
    ids = pd.Index([f"s{row}" for row in range(300)], name="sample")
    names = ["<b>TP53</b>", "KRAS", "a,b", "NA", "ü", "[red]x"]
    pd.DataFrame(x, ids, names).to_csv(tmp_path / "x.csv")
    pd.DataFrame(y, ids, [f"g{i}" for i in range(8)]).to_csv(tmp_path / "y.csv")
    labels = pd.DataFrame({"tissue": rng.choice(["lung", "skin"], 300)}, ids)
    labels.to_csv(tmp_path / "tissue.csv")
    return tmp_path


def call(folder, *words, out="run"):
    paths = [str(folder / "x.csv"), str(folder / "y.csv")]
    return run(["tci", *paths, "--out", str(folder / out), "--permutations", "3", *words])


def read(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".json"}


def test_command_writes_everything(tables, capsys):
    assert call(tables) == 0
    out = tables / "run"
    assert {path.name for path in out.iterdir()} == FILES
    words = " ".join(capsys.readouterr().out.split())
    assert "300 tumours, 6 SGAs, 8 DEGs" in words
    assert "kept 1 SGAs and 7 DEGs" in words
    assert "<b>TP53</b>" in words
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["settings"]["method"] == "tci"
    assert manifest["summary"]["drivers"] == 1


def test_tables_agree_with_each_other(tables):
    call(tables, "--quiet", "--top", "2")
    out = tables / "run"
    causes = pd.read_parquet(out / "causes.parquet")
    x, y = (pd.read_csv(tables / f"{name}.csv", index_col=0) for name in "xy")
    best = causes[causes["rank"] == 1]
    assert len(best) == y.to_numpy().sum()
    assert all(y.loc[row.sample, row.deg] == 1 for row in best.itertuples())
    measured = causes[causes["cause"] != "A0"]
    assert all(x.loc[row.sample, row.cause] == 1 for row in measured.itertuples())
    assert (causes.groupby(["sample", "deg"], observed=True)["posterior"].sum() <= 1 + 1e-9).all()
    drivers = pd.read_csv(out / "drivers.csv", keep_default_na=False)
    assert drivers["driver"].tolist() == [True] + [False] * 5
    assert sorted(drivers["sga"]) == sorted(x.columns)
    linked = best.merge(drivers[["sga", "cutoff"]], left_on="cause", right_on="sga")
    linked = linked[linked["posterior"] >= linked["cutoff"]]
    counts = linked.groupby(["sample", "sga"], observed=True).size()
    calls = pd.read_csv(out / "calls.csv", keep_default_na=False)
    assert len(calls) == (counts >= 5).sum()
    targets = pd.read_csv(out / "targets.csv")
    assert targets["deg"].tolist() == [f"g{i}" for i in range(7)]
    kept = load_data(out / "x.csv", out / "y.csv")  # what 'rinn fit' reads
    assert (kept.inputs, kept.outputs) == (("<b>TP53</b>",), tuple(f"g{i}" for i in range(7)))
    assert kept.samples == tuple(x.index)


def test_again_changes_nothing_and_other_settings_are_refused(tables, capsys):
    assert call(tables, "--quiet") == 0
    before = (tables / "run" / "manifest.json").read_bytes()
    assert call(tables, "--quiet") == 0
    assert (tables / "run" / "manifest.json").read_bytes() == before
    assert call(tables, "--seed", "1") == 2
    assert "was made with other seed (0, now 1)" in capsys.readouterr().err
    assert call(tables, "--prior", "uniform") == 2
    tissue = str(tables / "tissue.csv")
    assert call(tables, "--tissue", tissue) == 2
    assert "data (tissues)" in capsys.readouterr().err
    assert (tables / "run" / "manifest.json").read_bytes() == before


def test_folder_of_others_is_refused(tables, capsys):
    (tables / "run").mkdir()
    (tables / "run" / "mine.txt").write_text("mine")
    assert call(tables) == 2
    assert "holds other files" in capsys.readouterr().err
    assert (tables / "run" / "mine.txt").read_text() == "mine"


def test_interrupted_run_goes_on(tables, monkeypatch, capsys):
    assert call(tables, "--quiet", out="whole") == 0
    infer, rounds = rinn.genomics.tci.calls.infer_causes, []

    def stop_in_second(*arguments, **options):  # the data come first
        rounds.append(1)
        if len(rounds) == 3:
            raise KeyboardInterrupt
        return infer(*arguments, **options)

    monkeypatch.setattr(rinn.genomics.tci.calls, "infer_causes", stop_in_second)
    for session in (1, 2):  # each makes one permutation
        rounds.clear()
        assert call(tables, "--quiet") == 130
        assert "the same command resumes" in capsys.readouterr().err
        assert len(list((tables / "run" / "work").iterdir())) == session
    rounds.clear()
    assert call(tables, "--quiet") == 0
    assert len(rounds) == 2  # the third alone was left
    assert read(tables / "run") == read(tables / "whole")


def test_damaged_round_is_made_again(tables, monkeypatch):
    assert call(tables, "--quiet", out="whole") == 0
    monkeypatch.setattr("rinn.genomics.tci.run.pack_causes", _interrupt)
    assert call(tables, "--quiet") == 130
    (tables / "run" / "work" / "null00001.npy").write_bytes(b"damaged")
    monkeypatch.setattr("rinn.genomics.tci.run.pack_causes", pack_causes)
    assert call(tables, "--quiet") == 0
    assert read(tables / "run") == read(tables / "whole")


def _interrupt(*_):
    raise KeyboardInterrupt


def test_cores_change_nothing(tables):
    tissue = ["--tissue", str(tables / "tissue.csv"), "--tissue-model", "strata", "--quiet"]
    assert call(tables, *tissue, "--cores", "1", out="one") == 0
    assert call(tables, *tissue, "--cores", "3", out="three") == 0
    assert read(tables / "one") == read(tables / "three")


def test_nothing_kept_writes_no_tables(tables, capsys):
    assert call(tables, "--min-tumours", "1000") == 0
    assert {path.name for path in (tables / "run").iterdir()} == FILES - {"x.csv", "y.csv"}
    assert "0 SGAs are overall drivers" in " ".join(capsys.readouterr().out.split())


def test_cutoff_of_one_is_told(tables, capsys):
    assert call(tables, "--min-cutoff", "1") == 0
    assert "6 SGAs that are not rare have the cut-off 1" in capsys.readouterr().out
    manifest = json.loads((tables / "run" / "manifest.json").read_text())
    assert manifest["summary"]["drivers"] == 0


def test_wrong_words_are_named(tables, capsys):
    assert call(tables, "--permute", "rws") == 2
    assert "did you mean 'rows'" in capsys.readouterr().err
    assert call(tables, "--prior", "unifrom") == 2
    assert "did you mean 'uniform'" in capsys.readouterr().err
    assert not (tables / "run").exists()


def test_progress_counts_what_this_session_scores():
    file = io.StringIO()
    with ScoringProgress(10, 2, 5, Console(file=file, force_terminal=True, width=100)) as report:
        report(4)
        report(6)
        report(12)
    shown = file.getvalue()
    assert "3/5 permutations, 2/10 DEGs of the next" in shown


def test_without_pyarrow_nothing_is_written(tables, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert call(tables, out="out") == 2
    assert "causes.parquet, a file of the result, needs the package pyarrow" in (
        capsys.readouterr().err
    )
    assert not (tables / "out").exists()
