"""The ablation trains once for each case, searches six times, and goes on where it was stopped."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_ablation as bench
from bench_recovery import append_record, load_records

PAGE = Path(__file__).parents[2] / "docs" / "method.md"
WORDS = "--data or --sizes 250 --seeds 100 --trials 16 --epochs 2 --device cpu --out"


def make_record(dataset="or", n=250, seed=100, f1=0.5):
    score = {part: {"f1": f1} for part in ("latents", "edges")}
    graphs = {f"{source}, {by}": score for source in bench.SOURCES for by in bench.SCORES}
    case = bench.Case(bench.SUITE, dataset, n, seed, trials=16, epochs=2)
    return bench.describe_case(case, 1) | {"graphs": graphs, "seconds": 1.0}


def find_rows(table, start):
    return [line for line in table.splitlines() if line.startswith(f"| {start}")]


def test_cases_are_those_of_development():
    cases = bench.plan_cases()
    assert len(cases) == len(set(cases)) == 4 * 3 * 3 + 4 * 4 + 6 * 4
    assert {case.seed for case in cases} == {*range(100, 104), *range(500, 506)}
    assert {case.suite for case in cases} == {"ablation"}


@pytest.mark.slow
def test_a_case_has_six_graphs(tmp_path, capsys):
    out = tmp_path / "cases.jsonl"
    bench.main([*WORDS.split(), str(out)])
    (record,) = load_records(out).values()
    assert "error" not in record, record["traceback"]
    assert len(record["graphs"]) == 6
    for scores in record["graphs"].values():
        assert 0 <= scores["latents"]["f1"] <= 1
    lines = find_rows(capsys.readouterr().out, "or | 250 | 1")
    assert len(lines) == 2
    assert not any("open" in line for line in lines)


def test_what_is_there_is_not_run_again(tmp_path, capsys, monkeypatch):
    out = tmp_path / "cases.jsonl"
    append_record(out, make_record())
    monkeypatch.setattr(bench, "measure", lambda *_, **__: pytest.fail("it was run again"))
    bench.main([*WORDS.split(), str(out)])
    said = capsys.readouterr().out
    assert "0 of 1 cases to run" in said
    assert find_rows(said, "or | 250 | 1 | effects only | 0.50 (0.50)")


def test_the_table_goes_into_the_page(tmp_path):
    out, page = tmp_path / "cases.jsonl", tmp_path / "method.md"
    page.write_text(PAGE.read_text())
    append_record(out, make_record(f1=0.5))
    append_record(out, make_record(seed=101, f1=1.0))
    failed = make_record("logic") | {"error": "it broke"}
    append_record(out, failed)
    bench.main(["--report", "--out", str(out), "--into", str(page)])
    rows = find_rows(page.read_text(), "or | 250 | 2")
    assert len(rows) == 2
    assert all(row.endswith("| 0.75 (0.75) | 0.75 (0.75) | 0.75 (0.75) |") for row in rows)
    assert find_rows(page.read_text(), "logic | 250 | 0 | with covariance | open | open | open |")


def test_unknown_data_and_missing_files_are_refused(tmp_path, capsys):
    for words, message in (
        (["--data", "nothing"], "--data must be of or, logic"),
        (["--report"], "there is no"),
    ):
        with pytest.raises(SystemExit):
            bench.main([*words, "--out", str(tmp_path / "none.jsonl")])
        assert message in capsys.readouterr().err
