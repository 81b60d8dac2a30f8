import re
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

from rinn.report.index import HEIGHT, MAX_EDGES, WIDTH, draw_thumbnail
from run_folders import fork_graph


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
                f"x{i}", f"h{j}", frequency=1.0 if i == 0 else 0.1, weight=1 - 2 * (i == 0)
            )
    svg, paths = draw(graph)
    assert paths["minus"].count("L") == 60
    assert paths["plus"].count("L") == MAX_EDGES - 60
    assert f"the {MAX_EDGES} most frequent are drawn" in svg.get("aria-label")
    assert len(draw_thumbnail(graph)) < 30_000
