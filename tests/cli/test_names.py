"""The command `name`, by gene sets and by a network, on a run written by hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest


class TestName:
    def test_the_table(self, place, call):
        shown = call("name", place / "run", "--gmt", place / "sets.gmt")
        table = pd.read_csv(place / "run" / "names.csv")
        assert table.columns.tolist() == [
            "latent", "side", "set", "overlap", "latent_genes", "set_genes", "background", "genes",
            "p", "q",
        ]  # fmt: skip
        row = table[(table["latent"] == "L1") & (table["side"] == "inputs")].iloc[0]
        assert (row["set"], row["genes"], row["background"]) == ("PATH A", "A;B", 4)
        assert row["p"] == pytest.approx(1 / 6)
        assert "L1: no set below q = 0.05\nL2: no set below q = 0.05\n" in shown.out
        assert f"wrote {place / 'run' / 'names.csv'}" in shown.out

    def test_a_name(self, place, call):
        (place / "sets.gmt").write_text("PATH A\td\tA\tB\nP53\td\tTP53\tidle\n")
        shown = call(
            "name", place / "run", "--gmt", place / "sets.gmt", "--alpha", "1", "--out",
            place / "n.csv",
        )  # fmt: skip
        # One way in six, and four tests: q = 4/6.
        assert "L1: PATH A (inputs: 2 of 2 genes, set 2 of 4; q = 0.67)\n" in shown.out
        assert "L2: no set below q = 1\n" in shown.out
        assert (place / "n.csv").exists()
        assert not (place / "run" / "names.csv").exists()

    def test_json(self, place, call):
        shown = call("name", place / "run", "--gmt", place / "sets.gmt", "--alpha", "1", "--json")
        assert json.loads(shown.out)["gene_sets"].keys() == {"L1", "L2"}

    def test_nothing_is_overwritten(self, place, call, refuse):
        words = "name", place / "run", "--gmt", place / "sets.gmt"
        (place / "run" / "names.csv").write_text("mine")
        assert "--force" in refuse(*words)
        assert (place / "run" / "names.csv").read_text() == "mine"
        call(*words, "--force")
        assert (place / "run" / "names.csv").read_text() != "mine"

    def test_a_bad_file_leaves_the_old_names(self, place, refuse):
        (place / "run" / "names.csv").write_text("mine")
        (place / "sets.gmt").write_text("no tabs here\n")
        words = "name", place / "run", "--gmt", place / "sets.gmt", "--force"
        assert "line 1" in refuse(*words)
        assert (place / "run" / "names.csv").read_text() == "mine"

    def test_a_graph_file(self, place, call):
        call("name", place / "run" / "graph.json", "--gmt", place / "sets.gmt")
        assert (place / "run" / "graph.names.csv").exists()

    def test_names_cannot_move_the_cursor(self, place, call):
        (place / "sets.gmt").write_text("\x1b[2Jgone\td\tA\tB\nQ\td\tTP53\tidle\ty0\ty1\n")
        shown = call("name", place / "run", "--gmt", place / "sets.gmt", "--alpha", "1")
        assert "\x1b" not in shown.out + shown.err
        assert "\\u001b[2Jgone" in shown.out

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--alpha", "0"), "--alpha must be a number above 0"),
            (("--alpha", "nan"), "--alpha must be a number above 0"),
            (("--min-overlap", "0"), "at least 1"),
            (("--background", "every"), "background must be one of"),
            (("--out", "nowhere/names.csv"), "does not exist"),
            (("--out", "."), "it is a folder"),
        ],
    )
    def test_wrong_words(self, place, refuse, words, said):
        before = sorted((place / "run").iterdir())
        assert said in refuse("name", place / "run", "--gmt", place / "sets.gmt", *words)
        assert sorted((place / "run").iterdir()) == before

    def test_no_run(self, place, refuse):
        assert "manifest.json" in refuse("name", place, "--gmt", place / "sets.gmt")


SIF = """\
a up H
b up H
H up y0
H up y1
tp53 up M
M up y2
idle up far
"""


class TestNetwork:
    @pytest.fixture
    def words(self, place):
        (place / "known.sif").write_text(SIF)
        return "name", place / "run", "--network", place / "known.sif", "--permutations", "99"

    def test_names_and_what_was_matched(self, place, words, call):
        shown = call(*words, "--alpha", "1")
        assert "A = a (but for case), B = b (but for case)" in shown.out
        assert "L1: H (score 1.00, p = " in shown.out
        table = pd.read_csv(place / "run" / "network_names.csv")
        assert table["node"].iloc[0] == "H"
        own = pd.read_csv(place / "run" / "network_map.csv")
        assert own.columns.tolist() == ["name", "node", "action", "role", "match"]
        again = call(*words, "--map", place / "run" / "network_map.csv", "--force")
        assert "A = a (map)" in again.out
        assert pd.read_csv(place / "run" / "network_names.csv").equals(table)

    def test_json(self, place, words, call):
        shown = json.loads(call(*words, "--alpha", "1", "--json").out)["network"]
        first = next(one for one in shown["names"] if one["latent"] == "L1")
        assert first["nodes"][0]["node"] == "H"
        assert {"name": "A", "role": "input", "nodes": ["a"], "action": ""}.items() <= (
            shown["map"][0].items()
        )
        assert (place / "run" / "network_names.csv").exists()

    def test_no_name(self, words, call):
        shown = call(*words, "--alpha", "0.0001")
        assert "L1: no node below q = 0.0001 (nearest: H, score 1.00, p = " in shown.out

    def test_both_kinds_or_one_file(self, place, words, call, refuse):
        call(*words, "--gmt", place / "sets.gmt")
        assert (place / "run" / "names.csv").exists()
        assert (place / "run" / "network_names.csv").exists()
        call(*words, "--out", place / "mine.csv")
        assert (place / "mine.map.csv").exists()
        both = *words, "--gmt", place / "sets.gmt", "--out", place / "other.csv"
        assert "--out must come with either --gmt or --network" in refuse(*both)

    def test_nothing_is_written_where_a_file_is_wrong(self, place, words, refuse):
        (place / "known.sif").write_text("a up\n")
        assert "--network" in refuse(*words, "--gmt", place / "sets.gmt")
        assert not (place / "run" / "names.csv").exists()

    def test_names_cannot_move_the_cursor(self, place, words, call):
        (place / "known.sif").write_text(SIF.replace("H", "\x1b[2JH"))
        shown = call(*words, "--alpha", "1")
        assert "\x1b" not in shown.out + shown.err

    def test_wrong_words(self, place, words, refuse):
        run = place / "run"
        assert "name needs --gmt FILE or --network FILE" in refuse("name", run)
        assert "--map needs --network" in refuse(
            "name", run, "--gmt", place / "sets.gmt", "--map", place / "map.csv"
        )
        assert "--permutations must be" in refuse(*words[:4], "--permutations", "0")
        assert "--seed must be" in refuse(*words, "--seed", "-1")
        (run / "network_map.csv").write_text("mine")
        assert "--force" in refuse(*words)
        assert (run / "network_map.csv").read_text() == "mine"
