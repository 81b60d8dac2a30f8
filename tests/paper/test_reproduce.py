import io
import json

import pytest
from fake_cells import RINN, FakeRuns, make_cell, vary_cell
from rich.console import Console

from rinn.errors import InputError
from rinn.paper.cells import Job, Setup, load_cell
from rinn.paper.reproduce import plan_jobs, reproduce

FILES = {"tables.md", "tables.csv", "tables.json", "tables.html", "reproduction.json", ".rinn.lock"}


def run(out, runs, **changes):
    arguments = {"datasets": ["1", "or"], "strategies": ["rinn", "dm"], "device": "cpu"}
    return reproduce(out, **arguments | changes, runner=runs, quiet=True)


def cells_in(out):
    return sorted(path.stem for path in (out / "cells").iterdir())


class TestPlan:
    def test_order_and_names(self):
        jobs = plan_jobs(["2", "matrix"], ["dm", "rinn"], 2)
        assert [job.name for job in jobs] == [
            "gaussian-dm-0",
            "gaussian-rinn-0",
            "gaussian-dm-1",
            "gaussian-rinn-1",
            "matrix-dm-0",
            "matrix-rinn-0",
            "matrix-dm-1",
            "matrix-rinn-1",
        ]

    def test_each_cell_once(self):
        assert len(plan_jobs(["1", "matrix", " 1 "], ["rinn", "rinn"])) == 1

    def test_defaults_are_what_the_paper_ran(self):
        assert len(plan_jobs(["4"])) == 5
        assert [job.strategy for job in plan_jobs(["6"])] == ["rinn", "dnn", "dbn"]

    def test_asked_for_by_name(self):
        assert plan_jobs(["5"], ["esc", "dm"]) == [Job("tcga-or", s, 0) for s in ("esc", "dm")]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((["gausian"],), "datasets must be one of .*'gausian'; did you mean 'gaussian'"),
            ((["7"],), "datasets must be one of matrix, .*, got '7'; choose one"),
            ((["random"],), "datasets must be one of"),
            (([],), r"datasets must name at least one of matrix, .*, got \[\]"),
            ((["1"], ["es"]), "strategies must be one of .* got 'es'; did you mean 'esc'"),
            ((["1"], []), r"strategies must name at least one of rinn, .*, got \[\]"),
            ((["1"], None, 0), "seeds must be a whole number from 1 to 1000, got 0"),
            ((["1"], None, 10**20), "seeds must be a whole number from 1 to 1000, got 1000"),
        ],
    )
    def test_refused(self, arguments, words):
        with pytest.raises(InputError, match=words):
            plan_jobs(*arguments)


class TestGrid:
    def test_every_cell_in_order(self, tmp_path):
        runs, out = FakeRuns(), tmp_path / "new" / "out"
        found = run(out, runs, seeds=2)
        names = [f"{d}-{s}-{i}" for d in ("matrix", "or") for i in (0, 1) for s in ("rinn", "dm")]
        assert runs.calls == names
        assert cells_in(out) == sorted(names)
        assert {path.name for path in out.iterdir()} == FILES | {"cells", "runs"}
        setup = Setup("quick", 5000, None, RINN)
        assert runs.arguments[0] == (setup, out / "runs" / names[0], "cpu", True)
        assert found.state == "8 of 8 cells done"
        assert load_cell(out / "cells" / "or-dm-1.json") == vary_cell(Job("or", "dm", 1))

    def test_what_a_cell_is_told(self, tmp_path):
        runs = FakeRuns()
        run(tmp_path, runs, budget="paper", samples=100, trials=4)
        assert runs.arguments[0][0] == Setup("paper", 100, 4, RINN)
        setup = json.loads((tmp_path / "reproduction.json").read_text())
        expected = {"format": 1, "budget": "paper", "samples": 100, "trials": 4, "rinn": RINN}
        assert setup == expected

    def test_done_cells_are_not_run_again(self, tmp_path):
        run(tmp_path, FakeRuns())
        before = {path: path.read_bytes() for path in tmp_path.glob("tables.*")}
        again = FakeRuns()
        run(tmp_path, again)
        assert again.calls == []
        assert {path: path.read_bytes() for path in tmp_path.glob("tables.*")} == before

    def test_a_stopped_grid_goes_on(self, tmp_path):
        stopped, whole = tmp_path / "stopped", tmp_path / "whole"
        runs = FakeRuns(stopping=["or-rinn-0"])
        with pytest.raises(KeyboardInterrupt):
            run(stopped, runs)
        assert cells_in(stopped) == ["matrix-dm-0", "matrix-rinn-0"]
        assert "not run" in (stopped / "tables.md").read_text()
        again = FakeRuns()
        run(stopped, again)
        assert again.calls == ["or-rinn-0", "or-dm-0"]
        run(whole, FakeRuns())
        for name in ("tables.md", "tables.csv", "tables.json", "tables.html"):
            assert (stopped / name).read_bytes() == (whole / name).read_bytes()

    def test_tables_are_written_after_every_cell(self, tmp_path):
        states = []

        def note(*arguments, **named):
            states.append(json.loads((tmp_path / "tables.json").read_text())["state"])
            return FakeRuns()(*arguments, **named)

        run(tmp_path, note)
        assert states == [f"{done} of 4 cells done" for done in range(4)]

    def test_the_folder_can_grow(self, tmp_path):
        run(tmp_path, FakeRuns(), datasets=["1"])
        runs = FakeRuns()
        found = run(tmp_path, runs, datasets=["3"], seeds=2)
        assert all(name.startswith("or-") for name in runs.calls)
        assert found.state == "6 of 6 cells done"

    def test_failed_cells_are_recorded_and_the_others_go_on(self, tmp_path):
        runs = FakeRuns(failing=["matrix-rinn-0"])
        found = run(tmp_path, runs)
        assert len(runs.calls) == 4
        assert found.state == "3 of 4 cells done, 1 failed"
        cell = load_cell(tmp_path / "cells" / "matrix-rinn-0.json")
        assert (cell.status, cell.message, cell.hidden) == (
            "failed",
            "every network diverged",
            None,
        )
        for name in ("tables.md", "tables.html"):
            text = (tmp_path / name).read_text()
            assert "failed" in text
            assert "every network diverged" in text

    def test_failed_cells_are_tried_again(self, tmp_path):
        run(tmp_path, FakeRuns(failing=["matrix-rinn-0"]))
        again = FakeRuns()
        assert run(tmp_path, again).state == "4 of 4 cells done"
        assert again.calls == ["matrix-rinn-0"]

    @pytest.mark.parametrize("error", [InputError("wrong"), RuntimeError("broken")])
    def test_other_errors_pass_on(self, error, tmp_path):
        def fail(*arguments, **named):
            raise error

        with pytest.raises(type(error), match=str(error)):
            run(tmp_path, fail)

    def test_damaged_cells_are_run_again(self, tmp_path):
        run(tmp_path, FakeRuns())
        (tmp_path / "cells" / "or-dm-0.json").write_text("{")
        again = FakeRuns()
        run(tmp_path, again)
        assert again.calls == ["or-dm-0"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"budget": "paper"},
            {"samples": 100},
            {"trials": 4},
            {"versions": {"rinn": "0.0.1"}},
            {"seed": 1},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_foreign_cells_are_run_again(self, changes, tmp_path):
        run(tmp_path, FakeRuns())
        other = make_cell("or", "dm", **changes)
        (tmp_path / "cells" / "or-dm-0.json").write_text(json.dumps(other.to_json()))
        again = FakeRuns()
        run(tmp_path, again)
        assert again.calls == ["or-dm-0"]


class TestRefused:
    """Nothing is written where the input is wrong."""

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            (
                {"budget": "papr"},
                "budget must be one of quick, paper, got 'papr'; did you mean 'paper'",
            ),
            ({"trials": 1}, "trials must be a whole number from 2 to 100000, got 1"),
            ({"trials": 10**20}, "trials must be a whole number from 2 to 100000, got 1000"),
            ({"samples": 0}, "samples must be a whole number from 1 to 1000000, got 0"),
            ({"device": "cup"}, "device must be one of"),
            ({"datasets": ["9"]}, "datasets must be one of"),
        ],
    )
    def test_arguments(self, changes, words, tmp_path):
        out = tmp_path / "out"
        with pytest.raises(InputError, match=words):
            run(out, FakeRuns(), **changes)
        assert not out.exists()

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"budget": "paper"}, r"with other budget \(quick, now paper\); choose another folder"),
            ({"samples": 7, "trials": 4}, r"samples \(5000, now 7\), trials \(None, now 4\)"),
        ],
    )
    def test_another_reproduction(self, changes, words, tmp_path):
        run(tmp_path, FakeRuns())
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        with pytest.raises(InputError, match=words):
            run(tmp_path, FakeRuns(), **changes)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before

    def test_another_release(self, tmp_path):
        run(tmp_path, FakeRuns())
        path = tmp_path / "reproduction.json"
        path.write_text(path.read_text().replace(RINN, "0.0.1"))
        with pytest.raises(InputError, match=rf"with other rinn \(0.0.1, now {RINN}\)"):
            run(tmp_path, FakeRuns())

    @pytest.mark.parametrize("text", ["{", "3", "\x00"])
    def test_damaged_setup(self, text, tmp_path):
        (tmp_path / "reproduction.json").write_text(text)
        with pytest.raises(InputError, match=r"has no readable reproduction\.json; choose another"):
            run(tmp_path, FakeRuns())

    @pytest.mark.parametrize("name", ["notes.txt", "cells/mine.json", "manifest.json"])
    def test_a_folder_with_other_files(self, name, tmp_path):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        words = rf"--out must be new, empty or .* \(such as '{name.split('/')[0]}'\)"
        with pytest.raises(InputError, match=words):
            run(tmp_path, FakeRuns())
        assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]

    def test_a_file(self, tmp_path):
        path = tmp_path / "out"
        path.write_text("mine")
        with pytest.raises(InputError, match=r"--out must be a folder, but .* is a file"):
            run(path, FakeRuns())

    def test_a_place_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="--out must be a folder that can be written, but"):
            run(tmp_path / "file" / "out", FakeRuns())

    def test_two_at_a_time(self, tmp_path):
        def run_inside(*arguments, **named):
            with pytest.raises(InputError, match=r"no other process writes to, but .* is in use"):
                run(tmp_path, FakeRuns())
            return FakeRuns()(*arguments, **named)

        run(tmp_path, run_inside, datasets=["1"], strategies=["rinn"])

    def test_begun_but_empty_is_fine(self, tmp_path):
        (tmp_path / ".rinn.lock").touch()
        (tmp_path / ".rinn-0123456789abcdef.part").touch()
        run(tmp_path, FakeRuns())
        assert {path.name for path in tmp_path.iterdir()} == FILES | {"cells", "runs"}

    def test_half_written_files_are_removed(self, tmp_path):
        run(tmp_path, FakeRuns())
        part = tmp_path / "cells" / ".rinn-0123456789abcdef.part"
        part.touch()
        run(tmp_path, FakeRuns())
        assert not part.exists()


class TestProgress:
    def run(self, tmp_path, terminal, **changes):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=120, color_system=None)
        arguments = {"datasets": ["1"], "strategies": ["rinn", "dm"], "device": "cpu"}
        runs = FakeRuns(failing=["matrix-dm-0"])
        reproduce(tmp_path, **arguments | changes, runner=runs, console=console)
        return console.file.getvalue()

    def test_plain_lines(self, tmp_path):
        lines = self.run(tmp_path, terminal=False).splitlines()
        assert lines[0].startswith("0/2 cells, now data (1) matrix, RINN, data seed 0, 0.0 s")
        assert lines[1].startswith("data (1) matrix, RINN, data seed 0: hidden F1 0.")
        assert lines[1].endswith(" (paper 0.96), 42.0 s")
        assert lines[2].startswith("1/2 cells, now data (1) matrix, DM, data seed 0")
        assert lines[3] == "data (1) matrix, DM, data seed 0: failed (every network diverged)"
        assert lines[4].startswith("1/2 cells, 1 failed, ")
        assert len(lines) == 5

    def test_bars(self, tmp_path):
        shown = self.run(tmp_path, terminal=True)
        assert "━" in shown
        assert "1/2 cells, now data (1) matrix, DM" in shown

    def test_where_the_paper_has_no_figure(self, tmp_path):
        shown = self.run(tmp_path, terminal=False, datasets=["5"], strategies=["dm"])
        assert "DM, data seed 0: hidden F1 0." in shown
        assert "(paper" not in shown
        assert "1/1 cells, finished" in shown

    def test_quiet(self, tmp_path):
        assert self.run(tmp_path, terminal=True, quiet=True) == ""
