"""The table of worlds is made of records alone, and goes where it belongs."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from test_bench_recovery import make_record

import table_worlds as tables
from bench_recovery import WORLDS, Case

PAGE = Path(__file__).parents[2] / "docs" / "worlds.md"


def make_case(suite, seed, f1, strategy="rinn"):
    return make_record(suite, suite, seed, f1=f1, case={"strategy": strategy})


def find_cells(table, start):
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {start}")]
    return line.strip("| ").split(" | ")


def test_every_world_has_a_row_for_each_mechanism():
    assert tables.THEORY.keys() == WORLDS.keys()
    lines = tables.make_table([]).splitlines()
    assert len(lines) == 2 + sum(len(world.mechanisms) for world in WORLDS.values())
    assert all(line.endswith("| 0 | open | open | open | open |") for line in lines[2:])


def test_means_stand_beside_those_of_the_baseline():
    records = [make_case("levels10", 0, 1.0), make_case("levels10", 2, 0.5)]
    records += [make_case("levels10", 0, 0.4, "regression"), make_case("levels10", 1, 0.9)]
    failed = {"case": {**records[0]["case"], "seed": 4}, "error": "it broke"}
    table = tables.make_table([*records, failed])
    count, *cells = find_cells(table, "four levels, OR")[2:]
    assert (count, cells) == ("3", ["0.40 (0.40)", "0.40", "0.50 (0.50)", "0.50 (0.50)"])
    count, *cells = find_cells(table, "four levels, linear")[2:]
    assert (count, cells) == ("1", ["open", "open", "0.90 (0.90)", "0.90 (0.90)"])


def test_development_graphs_are_left_out_unless_asked_for():
    records = [make_case("and10", 500, 1.0)]
    assert find_cells(tables.make_table(records), "AND alone")[2] == "0"
    assert find_cells(tables.make_table(records, 500), "AND alone")[2] == "1"


def test_the_table_is_written_into_the_page(tmp_path, capsys):
    page, out = tmp_path / "worlds.md", tmp_path / "cases.jsonl"
    page.write_text(PAGE.read_text())
    out.write_text(json.dumps(make_case("and10", 0, 0.75)) + "\n")
    for _ in range(2):  # what stands there is replaced
        tables.main([str(out), "--into", str(page)])
        assert page.read_text().count("0.75 (0.75)") == 2
    head, rest = PAGE.read_text().split("<!-- begin worlds -->")
    assert page.read_text().startswith(head)
    assert page.read_text().endswith(rest.split("<!-- end worlds -->")[1])
    tables.main([str(out)])
    assert "| 0.75 (0.75) |" in capsys.readouterr().out
    assert Case(**json.loads(out.read_text())["case"]).suite == "and10"


def test_what_is_missing_is_named(tmp_path, capsys):
    out = tmp_path / "cases.jsonl"
    with pytest.raises(SystemExit):
        tables.main([str(out)])
    assert "there is no" in capsys.readouterr().err
    out.write_text("")
    (tmp_path / "page.md").write_text("no marks")
    with pytest.raises(SystemExit):
        tables.main([str(out), "--into", str(tmp_path / "page.md")])
    assert "must have the line '<!-- begin worlds -->'" in capsys.readouterr().err
