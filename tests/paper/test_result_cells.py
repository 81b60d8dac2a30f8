import json

import pytest
from fake_cells import RINN, make_cell

from rinn.paper.cells import Job, Setup, load_cell

FAILED = {"hidden": None, "input": None, "status": "failed", "message": "it went wrong"}
CELLS = {
    "rinn": make_cell(),
    "dbn": make_cell(strategy="dbn", dataset="or"),
    "dm": make_cell(strategy="dm"),
    "failed": make_cell(**FAILED),
    "trials": make_cell(trials=4, seed=3, budget="paper"),
}


class TestFiles:
    @pytest.mark.parametrize("name", CELLS)
    def test_saved_is_loaded(self, name, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(CELLS[name].to_json()))
        assert load_cell(path) == CELLS[name]

    def test_missing(self, tmp_path):
        assert load_cell(tmp_path / "cell.json") is None

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null", "3", "[" * 100_000, "{}", "\x00", '{"dataset": "matrix"}'],
        ids=["empty", "cut", "list", "null", "number", "deep", "nothing", "zero", "other"],
    )
    def test_damaged_counts_as_missing(self, text, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(text)
        assert load_cell(path) is None

    def test_not_text(self, tmp_path):
        path = tmp_path / "cell.json"
        path.write_bytes(b"\xff\xfe\x80")
        assert load_cell(path) is None

    def test_every_cut_counts_as_missing(self, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(make_cell().to_json()))
        whole = path.read_bytes()
        for length in range(0, len(whole) - 2, 37):
            path.write_bytes(whole[:length])
            assert load_cell(path) is None

    @pytest.mark.parametrize("field", sorted(make_cell().to_json()))
    @pytest.mark.parametrize("value", [[], "??", float("nan")])
    def test_every_wrong_field_counts_as_missing_or_is_read(self, field, value, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(make_cell().to_json() | {field: value}))
        is_text = field in ("budget", "device", "message") and value == "??"
        assert (load_cell(path) is not None) == is_text

    @pytest.mark.parametrize("field", ["seed", "hidden", "versions"])
    def test_a_missing_field(self, field, tmp_path):
        path = tmp_path / "cell.json"
        values = make_cell().to_json()
        del values[field]
        path.write_text(json.dumps(values))
        assert load_cell(path) is None

    @pytest.mark.parametrize(
        "changes",
        [{"dataset": "random"}, {"strategy": "es"}, {"status": "lost"}, {"versions": {}},
         {"hidden": None}],
    )  # fmt: skip
    def test_values_that_mean_nothing(self, changes, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(make_cell().to_json() | changes))
        assert load_cell(path) is None


def test_identity():
    cell = make_cell("tcga-or", "dnn", 2, trials=8)
    assert cell.job == Job("tcga-or", "dnn", 2)
    assert cell.job.name == "tcga-or-dnn-2"
    assert cell.setup == Setup("quick", 5000, 8, RINN)
