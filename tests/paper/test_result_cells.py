import json

import pytest
from fake_cells import RINN, make_cell, make_scores

from rinn.graphs.protocol import Score, TableScores
from rinn.paper.cells import Cell, GraphF1, Job, MapScores, Setup, Spread, load_cell, save_cell

FAILED = {"hidden": None, "input": None, "status": "failed", "words": "it went wrong"}
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
        save_cell(path, CELLS[name])
        assert load_cell(path) == CELLS[name]
        assert [entry.name for entry in tmp_path.iterdir()] == ["cell.json"]

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
        save_cell(path, make_cell())
        whole = path.read_bytes()
        for length in range(0, len(whole) - 2, 37):
            path.write_bytes(whole[:length])
            assert load_cell(path) is None

    @pytest.mark.parametrize("field", sorted(make_cell().to_json()))
    @pytest.mark.parametrize("value", [[], {"a": 1}, -1, "??", float("nan")])
    def test_every_wrong_field_counts_as_missing_or_is_read(self, field, value, tmp_path):
        path = tmp_path / "cell.json"
        path.write_text(json.dumps(make_cell().to_json() | {field: value}))
        cell = load_cell(path)
        free = field in ("budget", "device", "words") and value == "??"
        assert (cell is not None) == (free or (field == "chosen" and value == {"a": 1}))


class TestChecks:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"dataset": "random"}, "dataset must be one of matrix, gaussian, .*, got 'random'"),
            ({"strategy": "es"}, "strategy must be one of rinn, .*, dm, got 'es'"),
            ({"status": "lost"}, "status must be done or failed, got 'lost'"),
            ({"budget": 3}, "budget must be text, got 3"),
            ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
            ({"networks": True}, "networks must be a whole number of at least 0, got True"),
            ({"trials": 0.5}, "trials must be None or a whole number of at least 0, got 0.5"),
            ({"seconds": float("inf")}, "seconds must be a finite number of at least 0, got inf"),
            ({"versions": {}}, "versions must be the packages' versions, rinn's among them"),
            ({"chosen": 3}, "chosen must be None or settings by name, got 3"),
            ({"auroc": 0.5}, "auroc must be None or a Spread, got 0.5"),
            ({"hidden": None}, "hidden must be there in a cell that is done, got None"),
        ],
    )
    def test_cell(self, changes, words):
        with pytest.raises(ValueError, match=words):
            make_cell(**changes)

    def test_spread(self):
        with pytest.raises(ValueError, match="mean must be a finite number, got nan"):
            Spread(float("nan"))
        with pytest.raises(ValueError, match="sd must be None or a finite number of at least 0"):
            Spread(0.5, -0.1)

    def test_scores(self):
        with pytest.raises(ValueError, match="f1 must be a Spread whose mean lies between 0 and 1"):
            MapScores(Spread(1.0), Spread(1.0), Spread(1.1))
        with pytest.raises(ValueError, match="threshold must be None or a finite number"):
            make_scores(0.5, threshold="low")

    def test_graph(self):
        with pytest.raises(ValueError, match="edges must be a number between 0 and 1, got 2"):
            GraphF1(1.0, 2)

    def test_fields_from_json(self):
        found = make_cell().to_json()
        del found["seed"]
        with pytest.raises(ValueError, match=r"a Cell must have \['auroc', .*\], got"):
            Cell.from_json(found)
        with pytest.raises(ValueError, match="a Spread must have"):
            Cell.from_json(make_cell().to_json() | {"test_error": {"mean": 1.0}})


def test_spread_of_values():
    assert Spread.of([1.0, 3.0]) == Spread(2.0, 2**0.5)
    assert Spread.of([2.0]) == Spread(2.0, 0.0)


def test_from_scores():
    table = TableScores((Score.from_counts(7, 0, 0), Score.from_counts(0, 7, 7)), 0.3)
    found = MapScores.from_scores(table)
    assert found.f1 == Spread(0.5, table.sd["f1"])
    assert found.threshold == 0.3


def test_identity():
    cell = make_cell("tcga-or", "dnn", 2, trials=8)
    assert cell.job == Job("tcga-or", "dnn", 2)
    assert cell.job.name == "tcga-or-dnn-2"
    assert cell.setup == Setup("quick", 5000, 8, RINN)
