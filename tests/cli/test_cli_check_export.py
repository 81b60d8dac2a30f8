import json
import os
import re
import subprocess
import sys

import networkx as nx
import pytest

from rinn.cli import run
from rinn.graphs.export import EXPORTS, Export
from rinn.graphs.files import load_graph, write_graph
from tiny_graphs import make_graph, same

CYCLE = {
    "nodes": [{"id": "a", "role": "latent"}, {"id": "b", "role": "latent"}],
    "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}],
}
LONG = "n" * 300 + ".json"


def call(*words):
    return run([str(word) for word in words])


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A simulated dataset; tests only look at it."""
    folder = tmp_path_factory.mktemp("simulated") / "or"
    assert call("simulate", "or", "--samples", 500, "--out", folder) == 0
    return folder


@pytest.fixture
def truth(simulated, tmp_path):
    """A copy of the truth in a folder of its own."""
    path = tmp_path / "truth.json"
    path.write_bytes((simulated / "truth.json").read_bytes())
    return path


@pytest.fixture
def run_folder(truth, tmp_path):
    """What check and export need of a run folder."""
    folder = tmp_path / "run"
    folder.mkdir()
    truth.rename(folder / "graph.json")
    return folder


@pytest.fixture
def refuse(capsys):
    """Run a command that must end with one sentence and exit code 2."""

    def check(*words):
        capsys.readouterr()
        assert call(*words) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"rinn: .+[.?]\n", shown.err)
        return shown.err

    return check


@pytest.fixture
def said(capsys):
    """Run a command that must succeed; what it prints."""

    def check(*words):
        capsys.readouterr()
        assert call(*words) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return check


@pytest.mark.parametrize(
    ("command", "options"),
    [("check", ("--x", "--y", "--json")), ("export", ("--format", "--out", "--force"))],
)
def test_help(command, options, said):
    shown = said(command, "--help")
    assert all(option in shown for option in options)
    assert command in said("--help")


@pytest.mark.parametrize("words", [("check",), ("export", "--format", "dot")])
class TestUnreadableGraph:
    """Both commands read graphs, and refuse in the same way."""

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"\x83\xff\x00", b'{"nodes": []}', json.dumps(CYCLE).encode()],
        ids=["empty", "cut", "list", "bytes", "no nodes", "cycle"],
    )
    @pytest.mark.parametrize("name", ["bad.json", "bad.graphml"])
    def test_hostile_file(self, words, content, name, tmp_path, refuse):
        (tmp_path / name).write_bytes(content)
        before = snapshot(tmp_path)
        assert f"graph file {tmp_path / name}: " in refuse(*words, tmp_path / name)
        assert snapshot(tmp_path) == before

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("none.json", "none.json must be an existing file"),
            ("none", "must end in .json or .graphml"),
            (LONG, "File name too long"),
            ("", "graph.json"),
        ],
    )
    def test_missing_file(self, words, name, why, tmp_path, refuse):
        assert why in refuse(*words, tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_not_a_graph_file(self, words, simulated, refuse):
        assert "must end in .json or .graphml" in refuse(*words, simulated / "x.csv")

    def test_no_graph_named(self, words, refuse):
        assert "Missing argument" in refuse(*words)


class TestCheck:
    def test_text(self, simulated, said):
        shown = said("check", simulated / "truth.json")
        assert "16 inputs, 9 latents, 16 outputs, 47 edges" in shown
        assert "h16" in shown
        assert "A10" in shown
        assert "Data:" not in shown

    def test_json_is_one_object(self, simulated, said):
        shown = said("check", simulated / "truth.json", "--json")
        assert shown.count("\n") == 1
        found = json.loads(shown)
        assert found["graph"] == {"inputs": 16, "latents": 9, "outputs": 16, "edges": 47}
        hidden = [one["name"] for one in found["latents"] if not one["identifiable"]]
        assert hidden == ["h16", "h18", "h20", "h23"]
        assert found["data"] is None

    def test_beside_tables(self, simulated, said):
        tables = ("--x", simulated / "x.csv", "--y", simulated / "y.csv")
        assert "Data: 500 samples, 256 pairs" in said("check", simulated / "truth.json", *tables)
        found = json.loads(said("check", simulated / "truth.json", *tables, "--json"))
        assert (found["data"]["samples"], found["data"]["pairs"]) == (500, 256)

    def test_run_folder(self, run_folder, simulated, said):
        shown = said("check", run_folder, "--json")
        assert shown == said("check", simulated / "truth.json", "--json")

    def test_one_table_alone(self, simulated, refuse):
        truth = simulated / "truth.json"
        alone = "x and y must be given together, but {} is missing"
        assert alone.format("y") in refuse("check", truth, "--x", simulated / "x.csv")
        assert alone.format("x") in refuse("check", truth, "--y", simulated / "y.csv")

    @pytest.mark.parametrize(
        ("x", "y", "why"),
        [
            ("none.csv", "y.csv", "must be an existing file"),
            ("y.csv", "x.csv", "X must have columns named as the inputs of the graph"),
            ("x.csv", "truth.json", "truth.json"),
        ],
    )
    def test_wrong_tables(self, simulated, x, y, why, refuse):
        words = ("--x", simulated / x, "--y", simulated / y)
        assert why in refuse("check", simulated / "truth.json", *words)

    def test_nothing_is_written(self, simulated, said):
        before = snapshot(simulated)
        said(
            "check",
            simulated / "truth.json",
            "--x",
            simulated / "x.csv",
            "--y",
            simulated / "y.csv",
        )
        assert snapshot(simulated) == before

    def test_a_name_no_terminal_can_show(self, tmp_path):
        write_graph(make_graph([("x0", "h\ud83e"), ("h\ud83e", "y0")]), tmp_path / "graph.json")
        code = "from rinn.cli import main; main()"
        words = [sys.executable, "-c", code, "check", str(tmp_path)]
        shown = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
        assert "h\\ud83e" in shown.stdout
        assert shown.stderr == ""


class TestExport:
    @pytest.mark.parametrize("kind", EXPORTS)
    def test_every_format(self, kind, run_folder, tmp_path, said):
        out = tmp_path / f"out{EXPORTS[kind].suffix}"
        *others, file = EXPORTS[kind].files(out)
        before = snapshot(run_folder)
        names = " and ".join(map(str, [file, *others]))
        assert said("export", run_folder, "--format", kind, "--out", out) == f"wrote {names}\n"
        assert {path for path in tmp_path.iterdir() if path.is_file()} == {file, *others}
        assert snapshot(run_folder) == before

    def test_beside_the_graph(self, run_folder, said):
        assert said("export", run_folder, "--format", "cx2") == f"wrote {run_folder}/graph.cx2\n"
        assert json.loads((run_folder / "graph.cx2").read_bytes())

    def test_companion_is_named(self, truth, said):
        shown = said("export", truth, "--format", "sif")
        folder = truth.parent
        assert shown == f"wrote {folder / 'truth.sif'} and {folder / 'truth.nodes.tsv'}\n"

    def test_there_and_back(self, truth, said):
        said("export", truth, "--format", "graphml")
        said("export", truth.with_suffix(".graphml"), "--format", "json", "--out", f"{truth}.json")
        assert nx.utils.graphs_equal(
            nx.DiGraph(load_graph(f"{truth}.json").edges), nx.DiGraph(load_graph(truth).edges)
        )

    def test_a_new_format_shows_up_by_itself(self, truth, said, monkeypatch):
        new = Export(
            "list",
            ".list",
            "names, one in a line",
            lambda graph: b"\n".join(name.encode() for name in graph),
        )
        monkeypatch.setitem(EXPORTS, "list", new)
        shown = said("export", "--help")
        assert all(name in shown for name in EXPORTS)
        assert "names, one in a line" in shown
        assert said("export", truth, "--format", "list").endswith("truth.list\n")

    @pytest.mark.parametrize(
        ("kind", "why"),
        [
            ("pdf", "format must be one of graphml, dot"),
            ("CX2", "did you mean 'cx2'?"),
            ("", "got ''"),
        ],
    )
    def test_wrong_format(self, truth, kind, why, refuse):
        before = snapshot(truth.parent)
        assert why in refuse("export", truth, "--format", kind)
        assert snapshot(truth.parent) == before

    def test_no_format(self, truth, refuse):
        assert "--format" in refuse("export", truth)


class TestExportReplacesNothing:
    @pytest.mark.parametrize("name", ["truth.sif", "truth.nodes.tsv"])
    def test_files_that_exist(self, truth, name, refuse, said):
        (truth.parent / name).write_text("mine")
        before = snapshot(truth.parent)
        shown = refuse("export", truth, "--format", "sif")
        assert f"{name}: it exists; name another file with --out" in shown
        assert snapshot(truth.parent) == before
        said("export", truth, "--format", "sif", "--force")
        assert (truth.parent / name).read_text() != "mine"

    def test_the_graph_itself(self, run_folder, refuse):
        before = snapshot(run_folder)
        assert "graph.json: it exists" in refuse("export", run_folder, "--format", "json")
        assert snapshot(run_folder) == before

    @pytest.mark.parametrize("kind", ["dot", "sif"])
    @pytest.mark.parametrize("more", [(), ("--force",)])
    def test_a_folder(self, truth, tmp_path, kind, more, refuse, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()
        for out in ("folder", ""):
            shown = refuse("export", truth, "--format", kind, "--out", out, *more)
            assert "it is a folder; name a file in it" in shown
        assert not list((tmp_path / "folder").iterdir())

    # As /dev/stdout is; a test that fails must not take that away from the machine.
    @pytest.mark.parametrize("more", [(), ("--force",)])
    def test_pipes_and_links(self, truth, tmp_path, more, refuse):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "link").symlink_to(truth)
        (tmp_path / "nowhere").symlink_to("none")
        graph = load_graph(truth)
        for name in ("pipe", "link", "nowhere"):
            words = ("export", truth, "--format", "dot", "--out", tmp_path / name)
            assert f"{name}: it is a link or a device" in refuse(*words, *more)
        assert (tmp_path / "pipe").is_fifo()
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "nowhere").is_symlink()
        assert not (tmp_path / "none").exists()
        assert same(load_graph(truth), graph)

    @pytest.mark.parametrize(
        ("out", "why"),
        [
            ("none/graph.dot", "none does not exist"),
            ("truth.json/graph.dot", "truth.json does not exist"),
            (LONG, "File name too long"),
        ],
    )
    def test_no_place_to_write(self, truth, out, why, refuse):
        before = snapshot(truth.parent)
        place = truth.parent / out
        assert why in refuse("export", truth, "--format", "dot", "--out", place)
        assert snapshot(truth.parent) == before


def test_help_waits_for_nothing():
    code = (
        "import sys, rinn.cli; rinn.cli.run(['--help']); "
        "names = ('jax', 'pandas', 'networkx', 'rinn.graphs.export'); "
        "print([m for m in names if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
