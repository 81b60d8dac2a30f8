"""Scores within linkage, worked out by hand, and one small cross from start to end."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_cross as bench


def test_pairs_are_right_within_the_window():
    true = [("chr01_0100", "t0"), ("chr02_0100", "t0"), ("chr01_0100", "t1")]
    found = [
        ("chr01_0150", "t0"), ("chr01_0060", "t0"), ("chr01_0151", "t1"), ("chr02_0100", "t1"),
    ]  # fmt: skip
    scores = bench.score_pairs(found, true)
    assert (scores["precision"], scores["recall"]) == (0.5, 1 / 3)
    assert bench.score_pairs([], true) == {"pairs": 0, "precision": 1.0, "recall": 0.0, "f1": 0.0}


def test_the_peak_of_a_chromosome_is_the_clearest_marker():
    tests = {("chr01_1", "t0"): 1e-3, ("chr01_9", "t0"): 1e-9, ("chr02_1", "t0"): 1e-4}
    assert set(bench.find_peaks(tests)) == {("chr01_9", "t0"), ("chr02_1", "t0")}


def test_markers_without_an_effect_are_not_significant():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 2, (100, 30)), columns=[f"chr01_{n}" for n in range(30)])
    y = pd.DataFrame(rng.normal(size=(100, 2)), columns=["t0", "t1"])
    assert bench.test_markers(x, y) == {}
    y["t1"] += 3.0 * x["chr01_7"]
    assert list(bench.test_markers(x, y)) == [("chr01_7", "t1")]


def test_a_hotspot_is_a_latent_near_its_locus_with_its_transcripts():
    truth, found = nx.DiGraph(), nx.DiGraph()
    for graph, locus in ((truth, "chr01_0100"), (found, "chr01_0120")):
        graph.add_node(locus, role="input")
        graph.add_node("chr05_0001", role="input")
        graph.add_nodes_from(["h", "other"], role="latent")
        graph.add_nodes_from(["a", "b", "c"], role="output")
        graph.add_edges_from([(locus, "h"), ("h", "a"), ("h", "b")])
    found.add_edges_from([("chr05_0001", "other"), ("other", "a")])
    truth.remove_node("other")
    assert bench.match_hotspots(found, truth) == (1, 1)
    assert bench.match_hotspots(truth, truth) == (1, 0)


def test_a_small_cross_is_measured_and_written(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin scores -->\n<!-- end scores -->\n")
    words = ["--strains", "1000", "--seeds", "1", "--markers", "60", "--outputs", "12"]
    words += ["--trials", "8", "--epochs", "2", "--device", "cpu", "--work", str(tmp_path / "work")]
    small = bench.functools.partial(bench.make_dataset, hotspots=2, shared=0, local=2)
    monkeypatch.setattr(bench, "make_dataset", small)
    bench.main([*words, "--page", str(page)])
    rows = [
        line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| 1000")
    ]
    assert [row[1] for row in rows] == list(bench.METHODS.values())
    assert rows[-1][6].endswith("of 2")
    peaks = float(rows[1][4].split(" ")[0])
    assert peaks > 0.3
