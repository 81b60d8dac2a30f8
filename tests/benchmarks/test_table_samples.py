"""The table of sample sizes on its page is that of the records."""

from pathlib import Path

import table_samples as tables
from bench_recovery import load_records

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "benchmarks" / "records" / "2026-11-16" / "recovery_h200.jsonl"


def test_the_page_has_the_table_of_the_records():
    table = tables.make_table(list(load_records(RECORDS).values()))
    assert table in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert len(table.splitlines()) == 7


def test_it_is_printed_or_written_into_a_page(tmp_path, capsys):
    tables.main([str(RECORDS)])
    printed = capsys.readouterr().out
    page = tmp_path / "settings.md"
    page.write_text("a\n<!-- begin samples -->\n<!-- end samples -->\nb\n")
    tables.main([str(RECORDS), "--into", str(page)])
    assert page.read_text() == f"a\n<!-- begin samples -->\n{printed}<!-- end samples -->\nb\n"
