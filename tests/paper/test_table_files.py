import io
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from fake_cells import RINN, FakeRuns, make_cell, make_cells, vary_cell
from rich.console import Console

from rinn.cli.show import show_comparison
from rinn.paper.cells import DATASETS, STRATEGIES, Cell, Job, Setup
from rinn.paper.reproduce import plan_jobs
from rinn.paper.tables import (
    ORACLE,
    PROTOCOL,
    compare,
    describe_setup,
    describe_spreads,
)
from rinn.paper.write import write_csv, write_json, write_markdown, write_page, write_tables
from rinn.runs.manifest import read_record
from rinn.runs.progress import format_time

HOSTILE = '<script>alert(1)</script> | [a](b) "quoted" & *it*\nnext `line` \x00\u202e</td>'
FILES = ["tables.csv", "tables.html", "tables.json", "tables.md"]
VOID = {"meta"}


class Reader(HTMLParser):
    """Collects what a browser would see, and notices elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self._open = [], [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def make_comparison(seeds=1, datasets=tuple(DATASETS), **changes):
    jobs = plan_jobs(datasets, None, seeds)
    cells = make_cells(*(vary_cell(job, **changes) for job in jobs))
    return compare(next(iter(cells.values())).setup, jobs, cells)


@pytest.fixture(scope="module")
def whole():
    return make_comparison()


@pytest.fixture(scope="module")
def several():
    return make_comparison(seeds=3)


@pytest.fixture(scope="module")
def hostile():
    cell = make_cell(device=HOSTILE, chosen={HOSTILE: HOSTILE}, budget=HOSTILE)
    failed = make_cell("or", hidden=None, input=None, status="failed", message=HOSTILE)
    return compare(cell.setup, [], make_cells(cell, failed))


@pytest.fixture(scope="module")
def empty():
    return compare(make_cell().setup, [Job("matrix", "rinn", 0)], {})


def test_every_format_is_written_whole(whole, tmp_path):
    for _ in range(2):
        write_tables(tmp_path, whole)
        assert sorted(path.name for path in tmp_path.iterdir()) == FILES


class TestCsv:
    def read(self, comparison):
        return pd.read_csv(io.StringIO(write_csv(comparison)))

    def test_columns(self, whole):
        assert list(self.read(whole)) == [
            "dataset",
            "strategy",
            "measure",
            "ours_mean",
            "ours_sd_models",
            "ours_sd_data",
            "paper_mean",
            "paper_sd",
            "difference",
            "seeds",
            "status",
        ]

    def test_values(self, several):
        table = self.read(several).set_index(["dataset", "strategy", "measure"])
        assert table.index.is_unique
        row = table.loc["matrix", "rinn", "hidden_f1"]
        assert (row.paper_mean, row.paper_sd, row.seeds) == (0.96, 0.04, 3)
        assert row.difference == pytest.approx(row.ours_mean - 0.96)
        assert row.ours_sd_data > 0
        row = table.loc["or", "dbn", "input_f1"]
        assert row[["ours_mean", "paper_mean", "difference"]].isna().all()

    def test_one_seed_has_no_spread_over_data(self, whole):
        table = self.read(whole)
        assert table.ours_sd_data.isna().all()
        assert table.ours_mean.dtype == table.paper_mean.dtype == "float64"

    def test_before_anything_is_done(self, empty):
        table = self.read(empty)
        assert table.ours_mean.isna().all()
        assert set(table.status) == {"not run"}


class TestJson:
    def test_contents(self, several):
        found = json.loads(write_json(several))
        assert found["setup"] == several.setup.to_json()
        assert found["summary"] == list(several.summary)
        assert found["protocol"] == list(PROTOCOL)
        assert tuple(read_record(Cell, cell) for cell in found["cells"]) == several.cells
        assert len(found["figures"]) == 13 * len(several.tables[0].rows)


class TestMarkdown:
    def rows(self, text):
        return [line for line in text.splitlines() if line.startswith("|")]

    def test_protocol_is_stated(self, whole):
        text = write_markdown(whole)
        for words in ("ten best", "d\\_x", "sight of the truth", "not what a user gets", "DM"):
            assert words in text

    def test_rows(self, whole):
        text = write_markdown(whole)
        row = next(line for line in self.rows(text) if line.startswith("| (4) logic | DM |"))
        assert "| 0.44 |" in row
        assert "| NA | NA | NA |" in row
        for dataset in DATASETS.values():
            assert dataset in text

    @pytest.mark.parametrize("name", ["whole", "several", "hostile", "empty"])
    def test_every_table_is_rectangular(self, name, request):
        text = write_markdown(request.getfixturevalue(name))
        for block in re.split(r"\n\n+", text):
            rows = self.rows(block)
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1

    def test_headers_name_the_spreads(self, whole, several):
        assert "F1, ours ± models |" in write_markdown(whole)
        text = write_markdown(several)
        assert "F1, ours ± models (± data seeds) |" in text
        assert "| data seeds |" in text

    def test_nothing_becomes_markup(self, hostile):
        text = write_markdown(hostile)
        assert "<script" not in text
        assert not re.search(r"(?<!\\)\[a", text)


class TestPage:
    @pytest.mark.parametrize("name", ["whole", "several", "hostile", "empty"])
    def test_needs_nothing_else(self, name, request):
        page = write_page(request.getfixturevalue(name))
        reader = Reader(page)
        tags = {tag for tag, _ in reader.tags}
        assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
        assert not {"src", "href", "srcset"} & {name for _, attrs in reader.tags for name in attrs}
        assert not [attrs for _, attrs in reader.tags if any(k.startswith("on") for k in attrs)]
        policies = [attrs["content"] for _, attrs in reader.tags if "http-equiv" in attrs]
        assert "default-src 'none'" in policies[0]
        style = page[page.index("<style>") : page.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style
        assert "prefers-color-scheme: dark" in style
        assert "@media print" in style

    def test_nothing_becomes_markup(self, hostile):
        page = write_page(hostile)
        assert "<script" not in page
        assert "\x00" not in page
        assert "\u202e" not in page
        assert "<script>alert(1)</script> | [a](b)" in Reader(page).words

    def test_protocol_is_stated(self, whole):
        words = Reader(write_page(whole)).words
        for text in (ORACLE, *PROTOCOL, describe_spreads(whole), describe_setup(whole)):
            assert text in words

    def test_summary_comes_first(self, whole):
        words = Reader(write_page(whole)).words
        assert words.index("RINN: at or above the paper in") < words.index("Table 1.")

    def test_verdicts_have_words_beside_the_colour(self, whole):
        page = write_page(whole)
        chips = re.findall(r'<span class="chip (\w+)">([^<]*)</span>', page)
        assert {kind for kind, _ in chips} == {"better", "worse", "same"}
        assert all(kind in words for kind, words in chips)

    def test_seeds(self, whole, several):
        assert "3 seeds" in write_page(several)
        assert "seeds</span>" not in write_page(whole)

    def test_smoke_runs_are_called_so(self):
        comparison = make_comparison(datasets=["1"], trials=4)
        assert "Smoke run of 4 networks for each cell, which is not a reproduction" in write_page(
            comparison
        )

    def test_before_anything_is_done(self, empty):
        words = Reader(write_page(empty)).words
        assert "0 of 1 cells done" in words
        assert "not run paper 0.96 ± 0.04" in words
        assert "Nothing yet." in words

    def test_costs(self, whole):
        words = Reader(write_page(whole)).words
        assert "logic RINN 0 96 42.0 s hidden 0.25, input 0.25 2 x cpu" in words
        assert "logic DM 0 0 42.0 s alpha_pc 0.01, alpha_sober 0.1 2 x cpu" in words


class TestTerminal:
    def show(self, comparison, width=80):
        console = Console(file=io.StringIO(), width=width, color_system=None)
        show_comparison(comparison, console)
        return console.file.getvalue()

    def test_fits_eighty_columns(self, several):
        lines = self.show(several).splitlines()
        tables = [line for line in lines if not line.startswith(("Budget", "DBN"))]
        assert max(map(len, tables)) <= 80
        assert not [line for line in lines if "…" in line]

    def test_contents(self, whole):
        shown = self.show(whole)
        for words in ("Table 1.", "Table 2.", "Table 3.", *DATASETS.values(), *STRATEGIES.values()):
            assert words in shown
        assert "RINN: at or above the paper in" in shown
        assert "users do not reach these scores" in " ".join(shown.split())
        assert "networks in 18 min 12 s on 2 x cpu." in shown

    def test_nothing_becomes_markup(self, hostile):
        assert "[a](b)" in self.show(hostile)

    def test_missing(self, hostile, empty):
        assert "failed" in self.show(hostile)
        assert "not run" in self.show(empty)
        assert "0 networks in 0.0 s on no device." in self.show(empty)


def test_format_time():
    assert [format_time(s) for s in (0, 59.96, 3599.6, 86399)] == [
        "0.0 s",
        "1 min 00 s",
        "1 h 00 min",
        "24 h 00 min",
    ]


def test_fake_runs_say_what_they_are_told(tmp_path):
    """The cells of these tests follow the contract that the real run must follow."""
    job, setup = Job("or", "dnn", 2), Setup("paper", 9, 3, RINN)
    cell = FakeRuns()(job, setup, tmp_path, "cpu", None, True)
    assert (cell.job, cell.setup) == (job, setup)
