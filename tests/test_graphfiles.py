import json
import os

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rinn.errors import InputError
from rinn.graphfiles import edges_table, load_graph, write_graph
from tiny_graphs import graphs, make_graph, paper_truth, same

HOSTILE = ["<script>alert(1)</script>", "\"quoted\" 'twice' & more", "a\nb\tc", "🧬é", "n" * 300]
XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20
)
folder_per_test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
@given(graphs(), st.permutations(HOSTILE), st.floats(-5, 5))
@folder_per_test
def test_hostile_names_survive(tmp_path, suffix, graph, names, weight):
    latents = [node for node in graph if node.startswith("h")]
    graph = nx.relabel_nodes(graph, dict(zip(latents, names, strict=False)))
    nx.set_edge_attributes(graph, weight, "weight")
    write_graph(graph, tmp_path / f"graph{suffix}")
    assert same(load_graph(tmp_path / f"graph{suffix}"), graph)


@pytest.mark.parametrize(
    ("suffix", "text"), [(".json", st.text(max_size=20)), (".graphml", XML_TEXT)]
)
def test_any_name_survives(tmp_path, suffix, text):
    @given(st.lists(text, min_size=1, max_size=4, unique=True), text.filter(bool))
    def check(names, note):
        graph = nx.DiGraph()
        graph.add_nodes_from(names, role="latent", note=note)
        write_graph(graph, tmp_path / f"graph{suffix}")
        assert same(load_graph(tmp_path / f"graph{suffix}"), graph)

    check()


def test_json_is_node_link_with_edges(tmp_path):
    graph = make_graph([("x0", "a"), ("a", "y0")])
    graph.graph["strategy"] = "rinn"
    graph.edges["x0", "a"].update(weight=np.float32(0.5), frequency=float("nan"))
    graph.nodes["a"]["merged"] = ("b", "a")
    write_graph(graph, tmp_path / "graph.json")
    data = json.loads((tmp_path / "graph.json").read_text())
    assert data["graph"] == {"strategy": "rinn"}
    assert data["nodes"][1] == {"role": "latent", "merged": ["b", "a"], "id": "a"}
    assert data["edges"][0] == {"weight": 0.5, "source": "x0", "target": "a"}
    assert data["directed"] is True
    assert data["multigraph"] is False
    assert same(nx.node_link_graph(data, edges="edges"), load_graph(tmp_path / "graph.json"))


def test_graphml_spells_out_what_xml_cannot_hold(tmp_path):
    graph = nx.DiGraph()
    names = ["bell\x07", "bell\\u0007", "line\r"]
    graph.add_nodes_from(names, role="latent", merged=["a", "b"], note="nul\x00", gone=None)
    graph.add_edge(*names[:2], kept=True, count=np.int64(3), weight=np.inf)
    write_graph(graph, tmp_path / "graph.graphml")
    read = load_graph(tmp_path / "graph.graphml")
    assert list(read) == ["bell\\u0007_", "bell\\u0007", "line\\u000d"]
    assert read.nodes["bell\\u0007"] == {
        "role": "latent",
        "merged": '["a", "b"]',
        "note": "nul\\u0000",
    }
    assert read.edges["bell\\u0007_", "bell\\u0007"] == {"kept": True, "count": 3}


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_writing_changes_nothing_and_leaves_one_file(tmp_path, suffix):
    graph = paper_truth()
    write_graph(graph, tmp_path / f"graph{suffix}")
    write_graph(graph, tmp_path / f"graph{suffix}")
    assert same(graph, paper_truth())
    assert os.listdir(tmp_path) == [f"graph{suffix}"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "graph.json"
    write_graph(make_graph([("a", "y0")]), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_graph(paper_truth(), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["graph.json"]


def test_write_refuses(tmp_path):
    graph = make_graph([("a", "y0")])
    with pytest.raises(InputError, match=r"graph\.dot must end in \.json or \.graphml"):
        write_graph(graph, tmp_path / "graph.dot")
    with pytest.raises(InputError, match=r"cannot write .*: the folder .*gone does not exist"):
        write_graph(graph, tmp_path / "gone" / "graph.json")
    with pytest.raises(InputError, match="must have no cycle"):
        write_graph(make_graph([("a", "b"), ("b", "a")]), tmp_path / "graph.json")
    assert os.listdir(tmp_path) == []


def test_load_accepts_links_and_numbers_as_ids(tmp_path):
    path = tmp_path / "old.json"
    nodes = [{"id": 16, "role": "latent"}, {"id": "y0", "role": "output"}]
    path.write_text(json.dumps({"nodes": nodes, "links": [{"source": 16, "target": "y0"}]}))
    assert list(load_graph(path).edges) == [("16", "y0")]


NODES = [{"id": "a", "role": "latent"}, {"id": "b", "role": "latent"}]
AB, BA = {"source": "a", "target": "b"}, {"source": "b", "target": "a"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "must hold JSON, but cannot be parsed (Expecting property name"),
        ("[" * 100_000, "must hold JSON, but cannot be parsed ("),
        ("[]", "must be a JSON object with a non-empty list under 'nodes'"),
        ({"nodes": [], "edges": []}, "must be a JSON object with a non-empty list under 'nodes'"),
        ({"nodes": NODES}, "must be a JSON object with a list under 'edges'"),
        (
            {"nodes": NODES, "edges": [], "directed": False},
            "must be a directed graph, but says 'directed': false",
        ),
        ({"nodes": [{"role": "input"}], "edges": []}, "every node must have a text 'id', got {'ro"),
        ({"nodes": ["a"], "edges": []}, "every node must have a text 'id', got a"),
        ({"nodes": NODES, "edges": [["a", "b"]]}, "every edge must have a text 'source', got ["),
        (
            {"nodes": [*NODES, NODES[0]], "edges": []},
            "every node must be listed once, but 'a' is listed again",
        ),
        (
            {"nodes": NODES[:1], "edges": [AB]},
            "the edge 'a' -> 'b' names the unknown node 'b'; add it to the nodes or remove",
        ),
        ({"nodes": [{"id": "a"}], "edges": []}, "node 'a' has no role; it must be one of: input"),
        (
            {"nodes": [{"id": "a", "role": "latnt"}], "edges": []},
            "node 'a' has the unknown role 'latnt'; did you mean 'latent'?",
        ),
        (
            {"nodes": NODES, "edges": [AB, BA]},
            "graph must have no cycle, but has 'a' -> 'b' -> 'a'",
        ),
        (
            {"nodes": NODES, "edges": [AB | {"weight": "big"}]},
            "the edge 'a' -> 'b' must have a number as weight, got 'big'",
        ),
    ],
)
def test_load_refuses_json(tmp_path, content, message):
    path = tmp_path / "bad.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError) as caught:
        load_graph(path)
    assert str(caught.value).startswith(f"graph file {path}: {message}")


def graphml(body, direction="directed"):
    return (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="r" for="node" attr.name="role" attr.type="string"/>'
        f'<graph edgedefault="{direction}">{body}</graph></graphml>'
    )


A_NODE = '<node id="a"><data key="r">latent</data></node>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("graph", "must hold GraphML, but is not XML (syntax error"),
        ('<?xml version="1.0" encoding="shift_jis"?><a/>', "must hold GraphML, but is not XML ("),
        ("<a/>", "must hold GraphML with at least one node"),
        (
            '<!DOCTYPE a [<!ENTITY b "boom">]>' + graphml(A_NODE),
            "must have no DOCTYPE, because it can define entities; remove that line",
        ),
        ('<a><node id="a"/></a>', "must hold GraphML, but cannot be parsed ("),
        (graphml(A_NODE, "undirected"), "must be a directed graph, but says edgedefault="),
        (graphml("<node/>"), "every node must have a text 'id', got {}"),
        (
            graphml(A_NODE + '<edge source="a" target="b"/>'),
            "the edge 'a' -> 'b' names the unknown node 'b'",
        ),
        (graphml('<node id="a"/>'), "node 'a' has no role"),
    ],
)
def test_load_refuses_graphml(tmp_path, content, message):
    path = tmp_path / "bad.graphml"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        load_graph(path)
    assert str(caught.value).startswith(f"graph file {path}: {message}")


def test_a_doctype_in_another_encoding_is_seen(tmp_path):
    path = tmp_path / "bad.graphml"
    path.write_bytes(("<!DOCTYPE a>" + graphml(A_NODE)).encode("utf-16"))
    with pytest.raises(InputError, match="must have no DOCTYPE"):
        load_graph(path)


def test_load_refuses_what_it_cannot_read(tmp_path):
    with pytest.raises(InputError, match=r"graph file .*gone\.json must be an existing file"):
        load_graph(tmp_path / "gone.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(
        InputError, match=r"graph file .*folder\.json must be a file, but it is a folder"
    ):
        load_graph(tmp_path / "folder.json")


def test_edges_table_is_in_counting_order():
    graph = make_graph([("a", "y0"), ("x10", "a"), ("x2", "a"), ("x2", "y0")])
    graph.edges["x2", "a"].update(weight=2, frequency=0.5)
    expected = pd.DataFrame(
        [
            ("x2", "a", "input", "latent", 2.0, 0.5),
            ("x2", "y0", "input", "output", np.nan, np.nan),
            ("x10", "a", "input", "latent", np.nan, np.nan),
            ("a", "y0", "latent", "output", np.nan, np.nan),
        ],
        columns=["source", "target", "source_role", "target_role", "weight", "frequency"],
    )
    pd.testing.assert_frame_equal(edges_table(graph), expected)


def test_edges_table_of_no_edges():
    table = edges_table(make_graph([], latents=["a"]))
    assert table.empty
    assert table["weight"].dtype == float


@given(graphs(), st.randoms())
def test_edges_table_does_not_depend_on_node_order(graph, random):
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges)
    random.shuffle(nodes)
    random.shuffle(edges)
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from(nodes)
    shuffled.add_edges_from(edges)
    pd.testing.assert_frame_equal(edges_table(shuffled), edges_table(graph))


def test_edges_table_has_further_numbers_but_no_text():
    graph = nx.DiGraph()
    graph.add_node("x0", role="input")
    graph.add_nodes_from(["y0", "y1"], role="output")
    graph.add_edge("x0", "y0", q=0.25, loss_error="a lot")
    graph.add_edge("x0", "y1", weight=2.0)
    drawn = nx.DiGraph([("x0", "y1")])
    table = edges_table(graph, drawn=drawn)
    assert table.columns.tolist()[4:] == ["weight", "frequency", "q", "drawn"]
    assert table["q"].iloc[0] == 0.25
    assert np.isnan(table["q"].iloc[1])
    assert table["drawn"].tolist() == [False, True]
