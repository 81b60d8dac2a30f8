"""The table of methods is made of records alone."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from test_bench_recovery import make_record

import bench_recovery as bench
import table_comparison as tables
from rinn.strategies import STRATEGIES

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"


def make_case(suite, seed, f1, strategy):
    return make_record(suite, suite, seed, f1=f1, case={"strategy": strategy})


def stop(record):
    return {name: record[name] for name in ("case", "versions")} | {
        "error": "stopped",
        "stopped": 60,
    }


def test_means_over_what_was_finished_and_the_best_is_bold():
    records = [make_case("logic20", seed, f1, name) for seed in range(5)
               for name, f1 in (("rinn", 1.0), ("nem", 0.5), ("regression", 1.0))]  # fmt: skip
    records += [make_case("logic20", 0, 1.0, "fci"), stop(make_case("logic20", 1, 1.0, "fci"))]
    records += [stop(make_case("logic20", 0, 1.0, "gin")), make_case("logic20", 0, 0.2, "dnn")]
    column = tables.HEADERS.index("logic")
    rows = {row[0]: row for row in tables.list_rows(records)}
    assert list(rows) == list(tables.METHODS)
    assert rows["rinn"][column] == rows["regression"][column] == "**1.00** (1.00)"
    assert rows["nem"][column] == "0.50 (0.50)"
    assert rows["fci"][column] == "1.00 (1.00), 1 of 2"
    assert rows["gin"][column] == "0 of 1 finished"
    assert rows["dnn"][column] == "0.20 (0.20), of 1"
    assert rows["rlcd"][1:] == ["open"] * 6
    assert rows["rinn"][-1] == "2.0"


def test_methods_and_families_are_those_of_the_registries():
    assert set(tables.METHODS) <= set(STRATEGIES)
    assert set(tables.FAMILIES) <= set(bench.WORLDS)


def test_the_table_goes_into_the_page(tmp_path):
    page, records = tmp_path / "page.md", tmp_path / "records.jsonl"
    page.write_text(PAGE.read_text())
    bench.append_record(records, make_case("logic20", 0, 0.25, "nem"))
    tables.main(["--records", str(records), "--page", str(page)])
    assert "| nem | open | open | 0.25 (0.25), of 1 | open |" in page.read_text()
