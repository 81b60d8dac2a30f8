import json
import os
import re
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

from rinn.report.index import HEIGHT, MAX_EDGES, WIDTH, CardBox, draw_thumbnail, read_card
from run_folders import fork_graph, make_manifest, write_run


def card_of(folder):
    return read_card(folder.resolve().parent, (folder.name,))


def test_a_finished_run(tmp_path):
    card = card_of(write_run(tmp_path / "first"))
    assert (card.name, card.problem, card.has_report) == ("first", "", True)
    assert (card.dataset, card.strategy) == ("data/or/x.csv", "rinn")
    assert card.size == "500 samples, 2 inputs, 2 outputs"
    assert (card.latents, card.edges, card.networks) == (1, 4, 8)
    assert (card.latents_f1, card.edges_f1) == (0.875, 0.5)
    assert card.test == "cross-entropy 0.25"
    assert card.created == "2026-03-01T10:20"
    assert card.thumbnail.startswith("<svg")


def test_a_run_without_truth_test_or_command(tmp_path):
    folder = write_run(tmp_path / "dm", scores=None, test=None, command=[])
    card = card_of(folder)
    assert (card.latents_f1, card.edges_f1, card.test) == (None, None, "")
    assert card.dataset == "x.csv"


def test_an_unfinished_run(tmp_path):
    folder = write_run(tmp_path / "run", status="running")
    assert card_of(folder).problem.startswith("Not finished: 2 networks trained so far")
    (folder / "trials.csv").unlink()
    assert card_of(folder).problem.startswith("Not finished: no networks trained so far")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        json.dumps(make_manifest(tables=3)).encode(),
        json.dumps(make_manifest(settings=[])).encode(),
        json.dumps(make_manifest(scores={"graph": {"latents": "x"}})).encode(),
        json.dumps(make_manifest(test={"loss": "bce"})).encode(),
        json.dumps(make_manifest(networks=4)).encode(),
    ],
)
def test_a_damaged_manifest(tmp_path, content):
    folder = write_run(tmp_path / "run")
    (folder / "manifest.json").write_bytes(content)
    assert card_of(folder).problem.startswith("Damaged: manifest.json")


@pytest.mark.parametrize(
    "content", [None, b"", b"{}", b'{"nodes": [1], "edges": []}', b"[" * 99999]
)
def test_a_damaged_graph(tmp_path, content):
    folder = write_run(tmp_path / "run")
    (folder / "graph.json").unlink()
    if content is not None:
        (folder / "graph.json").write_bytes(content)
    assert card_of(folder).problem == "Damaged: graph.json is missing or cannot be read."


def test_missing_files(tmp_path):
    folder = write_run(tmp_path / "run")
    (folder / "report.html").unlink()
    card = card_of(folder)
    assert "'rinn report' writes it again" in card.problem
    assert not card.has_report
    (folder / "manifest.json").unlink()
    assert card_of(folder).problem.startswith("Damaged: manifest.json is missing")


@pytest.mark.parametrize("name", ["manifest.json", "graph.json", "report.html"])
def test_linked_files_are_not_read(tmp_path, name):
    write_run(tmp_path / "outside")
    folder = write_run(tmp_path / "run")
    (folder / name).unlink()
    os.symlink(tmp_path / "outside" / name, folder / name)
    assert name in card_of(folder).problem


def test_cards_are_read_again_only_after_a_change(tmp_path):
    folder = write_run(tmp_path / "run")
    seen = []

    def read(root, parts):
        seen.append(parts)
        return read_card(root, parts)

    box = CardBox(tmp_path.resolve(), read)
    assert box.get(("run",)) == box.get(("run",))
    assert len(seen) == 1
    (folder / "graph.json").write_text("{}")
    assert "graph.json" in box.get(("run",)).problem
    assert len(seen) == 2


def draw(graph):
    """The picture as elements by class."""
    svg = ET.fromstring(draw_thumbnail(graph))
    return svg, {part.get("class"): part.get("d") for part in svg}


def test_a_line_for_every_edge_and_a_dot_for_every_node():
    svg, paths = draw(fork_graph())
    assert {kind: paths[kind].count("L") for kind in ("plus", "minus", "unknown")} == {
        "plus": 2,
        "minus": 1,
        "unknown": 1,
    }
    assert {kind: paths[kind].count("h0") for kind in ("input", "latent", "output")} == {
        "input": 2,
        "latent": 1,
        "output": 2,
    }
    assert svg.get("aria-label") == "Graph of 2 inputs, 1 latent, 2 outputs and 4 edges"


def test_everything_is_inside():
    _, paths = draw(fork_graph())
    for path in paths.values():
        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path):
            assert 0 < float(x) < WIDTH
            assert 0 < float(y) < HEIGHT


def test_names_do_not_appear():
    graph = nx.relabel_nodes(fork_graph(), {"h": "<script>alert(1)</script>", "y0": "secret"})
    assert "script" not in draw_thumbnail(graph)
    assert "secret" not in draw_thumbnail(graph)


@pytest.mark.parametrize("roles", [{"x": "input"}, {"x": "input", "y": "output"}])
def test_graphs_without_latents(roles):
    graph = nx.DiGraph()
    for name, role in roles.items():
        graph.add_node(name, role=role)
    _, paths = draw(graph)
    assert set(paths) == set(roles.values())


def test_of_many_edges_the_max_frequent():
    graph = nx.DiGraph()
    for i in range(60):
        graph.add_node(f"x{i}", role="input")
        graph.add_node(f"h{i}", role="latent")
    for i in range(60):
        for j in range(60):
            graph.add_edge(
                f"x{i}", f"h{j}", frequency=1.0 if i == 59 else 0.1, weight=1 - 2 * (i == j)
            )
    svg, paths = draw(graph)
    assert paths["minus"].count("L") == 1 + 6  # the last input, and the first ones
    assert paths["plus"].count("L") == MAX_EDGES - 7
    assert f"the {MAX_EDGES} most frequent are drawn" in svg.get("aria-label")
    assert len(draw_thumbnail(graph)) < 30_000


def test_a_large_graph_is_folded_and_only_what_has_edges_is_drawn():
    graph = nx.DiGraph()
    graph.add_nodes_from([f"x{i}" for i in range(650)], role="input")
    graph.add_nodes_from(["h0", "h1"], role="latent")
    graph.add_nodes_from([f"y{i}" for i in range(84)], role="output")
    graph.add_edges_from((f"x{i}", f"h{i % 2}") for i in range(100))
    graph.add_edges_from((f"h{i % 2}", f"y{i}") for i in range(84))
    svg, paths = draw(graph)
    assert {kind: paths[kind].count("h0") for kind in ("input", "latent", "output")} == {
        "input": 2,
        "latent": 2,
        "output": 2,
    }
    label = "Graph of 650 inputs, 2 latents, 84 outputs and 184 edges"
    assert svg.get("aria-label") == label
