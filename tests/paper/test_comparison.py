import math
from itertools import product

import pytest
from fake_cells import make_cell, make_cells, make_scores

from rinn.paper.cells import DATASETS, STRATEGIES, Job
from rinn.paper.tables import compare, list_figures
from rinn.runs.manifest import Spread

SETUP = make_cell().setup


def find(comparison, dataset, strategy, key):
    figures = [
        figure
        for table in (*comparison.tables, comparison.cost)
        for row in table.rows
        if (row.dataset, row.strategy) == (dataset, strategy)
        for figure in row.figures
        if figure.measure.key == key
    ]
    assert len(figures) == 1
    return figures[0]


def compare_cells(*cells, jobs=()):
    return compare(SETUP, jobs, make_cells(*cells))


class TestOneSeed:
    def test_beside_the_paper(self):
        found = compare_cells(make_cell(hidden=make_scores(0.98, 0.03)))
        figure = find(found, "matrix", "rinn", "hidden_f1")
        assert figure.format_ours() == "0.98 ± 0.03"
        assert figure.format_paper() == "0.96 ± 0.04"
        assert figure.format_difference() == "+0.02"
        assert figure.difference == pytest.approx(0.02)
        assert figure.verdict == "better"
        assert (figure.sd_data, figure.seeds) == (None, 1)

    def test_table_1_is_printed_as_in_the_paper(self):
        figure = find(compare_cells(make_cell("or", "esc")), "or", "esc", "input_precision")
        assert figure.format_paper() == "0.81 ± 0.2"

    @pytest.mark.parametrize(
        ("ours", "words", "verdict"),
        [
            (0.9649, "0.00", "same"),
            (0.9551, "0.00", "same"),
            (0.9549, "-0.01", "worse"),
            (0.9651, "+0.01", "better"),
        ],
    )
    def test_differences_are_those_of_the_printed_figures(self, ours, words, verdict):
        found = compare_cells(make_cell(hidden=make_scores(ours)))
        figure = find(found, "matrix", "rinn", "hidden_f1")
        assert (figure.format_difference(), figure.verdict) == (words, verdict)
        assert figure.difference == pytest.approx(ours - 0.96)

    def test_a_smaller_error_is_better(self):
        cell = make_cell("gaussian", test_error=Spread(9.0, 0.1))
        figure = find(compare_cells(cell), "gaussian", "rinn", "test_error")
        assert (figure.format_difference(), figure.verdict) == ("-0.19", "better")

    def test_sets_are_neither_better_nor_worse(self):
        figure = find(compare_cells(make_cell()), "matrix", "rinn", "sets")
        assert [figure.format_ours(), figure.format_paper()] == ["48", "440"]
        assert (figure.format_difference(), figure.verdict) == ("-392", None)


class TestMissing:
    def test_dbn_has_no_inputs(self):
        found = compare_cells(make_cell("or", "dbn"))
        figure = find(found, "or", "dbn", "input_f1")
        assert [figure.format_ours(), figure.format_paper(), figure.format_difference()] == [
            "NA"
        ] * 3
        assert find(found, "or", "dbn", "test_error").format_ours() == "0.50 ± 0.01"

    def test_dm_predicts_nothing_and_is_one_answer(self):
        found = compare_cells(make_cell("or", "dm"))
        assert find(found, "or", "dm", "auroc").format_ours() == "NA"
        assert find(found, "or", "dm", "test_error").verdict is None
        assert find(found, "or", "dm", "hidden_f1").format_ours() == "0.90"
        assert find(found, "or", "dm", "hidden_f1").format_paper() == "0.31"
        assert find(found, "or", "dm", "graph_latents_f1").format_ours() == "NA"

    def test_what_the_paper_did_not_run(self):
        figure = find(compare_cells(make_cell("tcga-or", "esc")), "tcga-or", "esc", "hidden_f1")
        assert figure.format_ours() == "0.90 ± 0.05"
        assert [figure.format_paper(), figure.format_difference()] == ["NA", "NA"]
        assert (figure.difference, figure.verdict) == (None, None)

    def test_not_run_yet(self):
        found = compare(SETUP, [Job("matrix", "rinn", 0)], {})
        figure = find(found, "matrix", "rinn", "hidden_f1")
        assert [figure.format_ours(), figure.format_paper()] == ["not run", "0.96 ± 0.04"]
        assert found.state == "0 of 1 cells done"
        assert found.summary == ()

    def test_failed(self):
        found = compare_cells(make_cell(hidden=None, input=None, status="failed", message="why"))
        for key in ("hidden_f1", "input_f1", "sets", "seconds"):
            assert find(found, "matrix", "rinn", key).format_ours() == "failed"
        assert found.state == "0 of 1 cells done, 1 failed"


class TestSeveralSeeds:
    @pytest.fixture
    def found(self):
        scores = [make_scores(mean, sd) for mean, sd in ((0.8, 0.1), (0.9, 0.2), (1.0, 0.3))]
        return compare_cells(*(make_cell(seed=i, hidden=s) for i, s in enumerate(scores)))

    def test_both_spreads(self, found):
        figure = find(found, "matrix", "rinn", "hidden_f1")
        assert figure.ours == pytest.approx(0.9)
        assert figure.sd_models == pytest.approx(0.2)
        assert figure.sd_data == pytest.approx(0.1)
        assert figure.seeds == 3
        assert figure.format_ours() == "0.90 ± 0.20 (± 0.10)"
        assert found.has_several_seeds

    def test_one_answer_has_only_the_spread_over_data(self):
        cells = [
            make_cell(strategy="dm", seed=i, hidden=make_scores(mean, None, None))
            for i, mean in enumerate((0.2, 0.4))
        ]
        figure = find(compare_cells(*cells), "matrix", "dm", "hidden_f1")
        assert figure.sd_models is None
        assert figure.sd_data == pytest.approx(math.sqrt(0.02))
        assert figure.format_ours() == "0.30 (± 0.14)"

    def test_sets_are_a_count(self, found):
        assert find(found, "matrix", "rinn", "sets").format_ours() == "48"

    def test_failed_and_missing_draws_are_left_out(self):
        bad = make_cell(seed=1, hidden=None, input=None, status="failed", message="why")
        jobs = [Job("matrix", "rinn", i) for i in range(4)]
        found = compare_cells(make_cell(), bad, make_cell(seed=2), jobs=jobs)
        assert find(found, "matrix", "rinn", "hidden_f1").seeds == 2
        assert found.tables[0].rows[0].seeds == "2 of 4"
        assert found.state == "2 of 4 cells done, 1 failed"


def test_order_is_the_papers():
    cells = [make_cell(d, s) for d, s in product(DATASETS, STRATEGIES)]
    found = compare_cells(*reversed(cells))
    order = [(row.dataset, row.strategy) for row in found.tables[0].rows]
    assert order == list(product(DATASETS, STRATEGIES))


def test_summary_counts_f1_figures_at_the_printed_digits():
    cells = [
        make_cell("matrix", hidden=make_scores(0.956), input=make_scores(0.99)),  # same, worse
        make_cell("gaussian", hidden=make_scores(0.8), input=make_scores(1.0)),  # both better
        make_cell("matrix", "dbn", hidden=make_scores(0.1)),
        make_cell("tcga-or", "dm"),
    ]
    assert compare_cells(*cells).summary == (
        "RINN: at or above the paper in 3 of 4 F1 cells",
        "DBN: at or above the paper in 0 of 1 F1 cells",
    )


def test_list_of_figures():
    found = list_figures(compare_cells(make_cell("or", "dbn")))
    assert len(found) == len({row["measure"] for row in found}) == 13
    rows = {row["measure"]: row for row in found}
    assert rows["hidden_f1"]["paper_mean"] == 0.17
    assert rows["hidden_f1"]["difference"] == pytest.approx(0.73)
    assert rows["input_f1"]["ours_mean"] is None
    assert rows["input_f1"]["seeds"] == 0
    assert rows["networks"]["ours_mean"] == 96
    assert {row["status"] for row in found} == {"done"}
