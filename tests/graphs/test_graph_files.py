import errno
import json
import os
import random
import re
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rinn.cli.results import check, export, score
from rinn.errors import InputError
from rinn.graphs import files as graphfiles
from rinn.graphs.export import EXPORTS
from rinn.graphs.files import encode_graphml, encode_json, load_acyclic, load_graph, write_graph
from rinn.graphs.formats.tables import edges_table
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
        "merged": ["a", "b"],
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
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="disk full"):
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
        ({"nodes": [{"role": "input"}], "edges": []}, "every node must have a text 'id', got \"{"),
        ({"nodes": ["a"], "edges": []}, "every node must have a text 'id', got 'a'"),
        ({"nodes": NODES, "edges": [["a", "b"]]}, "every edge must have a text 'source', got \"["),
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
            "the edge 'a' -> 'b' must have a finite number as weight, got 'big'; correct it",
        ),
        (
            {"nodes": NODES, "edges": [AB | {"weight": 10**309}]},
            "the edge 'a' -> 'b' must have a finite number as weight, got '1000",
        ),
        (
            {"nodes": NODES, "edges": [AB | {"weight": float("inf")}]},
            "the edge 'a' -> 'b' must have a finite number as weight, got 'inf'",
        ),
        (
            {"nodes": NODES, "edges": [AB | {"loss_error": [1]}]},
            "the edge 'a' -> 'b' must have a finite number as loss_error, got '[1]'",
        ),
        (
            {"nodes": NODES, "edges": [AB | {"frequency": 1.5}]},
            "the edge 'a' -> 'b' must have a number from 0 to 1 as frequency, got '1.5'",
        ),
        (
            {"nodes": [NODES[0] | {"frequency": True}], "edges": []},
            "the node 'a' must have a number from 0 to 1 as frequency, got 'True'",
        ),
        (
            {"nodes": [NODES[0] | {"merged": None}], "edges": []},
            "the node 'a' must have a list of names as merged, got 'None'",
        ),
        (
            {"nodes": [NODES[0] | {"merged": ["b", 1]}], "edges": []},
            "the node 'a' must have a list of names as merged, got",
        ),
        (
            {"nodes": [NODES[0] | {"effects": {"y0": "much"}}], "edges": []},
            "the node 'a' must have a number for each output as effects, got",
        ),
        (
            {"nodes": [NODES[0] | {"effects": 3}], "edges": []},
            "the node 'a' must have a number for each output as effects, got '3'",
        ),
        (
            {"nodes": NODES, "edges": [AB, AB]},
            "every edge must be listed once, but 'a' -> 'b' is listed again; remove one",
        ),
        (
            f'{{"nodes": [{{"id": "a", "deep": {"[" * 900 + "]" * 900}}}], "edges": []}}',
            "must hold lists and objects nested at most 50 deep, but they are deeper",
        ),
        (
            {"nodes": [{"id": "n" * 10**6, "role": "n" * 10**6}], "edges": []},
            f"node '{'n' * 40}...{'n' * 17}' has the unknown role '{'n' * 60}'; known: ",
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
GROUP, GROUP_END = '<node id="#" yfiles.foldertype="group"><graph>', "</graph></node>"


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
        (graphml("<node/>"), "every node must have a text 'id', got '{}'"),
        (graphml(A_NODE * 2), "every node must be listed once, but 'a' is listed again"),
        (
            graphml(A_NODE + 2 * '<edge source="a" target="a"/>'),
            "every edge must be listed once, but 'a' -> 'a' is listed again",
        ),
        (
            graphml(A_NODE + '<node id="b"><graph><node id="c"/></graph></node>'),
            "must hold one graph, but has nodes in another graph too; remove",
        ),
        (
            graphml("".join(GROUP.replace("#", str(i)) for i in range(2000)) + GROUP_END * 2000),
            "must hold GraphML, but cannot be parsed (maximum recursion depth exceeded",
        ),
        (
            graphml(A_NODE.replace("latent", "latent</data><data key='m'>3")).replace(
                "<graph ", '<key id="m" for="node" attr.name="merged" attr.type="int"/><graph '
            ),
            "the node 'a' must have a list of names as merged, got '3'",
        ),
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


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">',
        '<!ENTITY c SYSTEM "file:///etc/hostname">',
        '<!ENTITY % c SYSTEM "http://localhost:9/">%c;',
    ],
    ids=["expansion", "file", "network"],
)
def test_entities_are_refused_unread(tmp_path, entities):
    path = tmp_path / "bad.graphml"
    path.write_text(f"<!DOCTYPE g [{entities}]>" + graphml(A_NODE.replace("latent", "&c;")))
    with pytest.raises(InputError, match="must have no DOCTYPE"):
        load_graph(path)


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


def test_load_refuses_what_is_too_large(tmp_path, monkeypatch):
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"nodes": NODES, "edges": [AB]}))
    load_graph(path)
    monkeypatch.setattr(graphfiles, "MAX_EDGES", 0)
    with pytest.raises(InputError, match="must have at most 0 edges, but has 1; leave out"):
        load_graph(path)
    monkeypatch.setattr(graphfiles, "MAX_BYTES", 1 << 5)
    with pytest.raises(InputError, match=r"large\.json must have at most 0 MiB, but it has more"):
        load_graph(path)


def test_missing_numbers_are_left_out(tmp_path):
    path = tmp_path / "graph.json"
    edge = AB | {"weight": float("nan"), "frequency": None, "q": 1}
    path.write_text(json.dumps({"nodes": NODES, "edges": [edge]}))
    assert load_graph(path).edges["a", "b"] == {"q": 1.0}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_json_in_any_unicode_is_read(tmp_path, encoding):
    path = tmp_path / "graph.json"
    path.write_bytes(json.dumps({"nodes": NODES, "edges": [AB]}).encode(encoding))
    assert list(load_graph(path).edges) == [("a", "b")]


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_lists_and_effects_survive(tmp_path, suffix):
    graph = make_graph([("x0", "h"), ("h", "y0")])
    graph.nodes["h"].update(merged=["h", "k"], effects={"y0": -0.5}, frequency=0.75)
    write_graph(graph, tmp_path / f"graph{suffix}")
    assert same(load_graph(tmp_path / f"graph{suffix}"), graph)


@pytest.mark.parametrize("name", ["node_default", "edge_default"])
def test_graphml_of_names_that_networkx_keeps_for_itself(tmp_path, name):
    graph = make_graph([("h", "y0")])
    graph.graph.update({name: "mine", "note": "kept"})
    write_graph(graph, tmp_path / "graph.graphml")
    assert load_graph(tmp_path / "graph.graphml").graph == {"note": "kept"}


def test_acyclic_graphs_may_lead_into_inputs_and_out_of_outputs(tmp_path):
    graph = make_graph([("h", "x0"), ("x0", "y0"), ("y0", "k")])
    (tmp_path / "graph.json").write_bytes(encode_json(graph))
    assert same(load_acyclic(tmp_path / "graph.json"), graph)
    with pytest.raises(InputError, match="input 'x0' must not have parents"):
        load_graph(tmp_path / "graph.json")


def mutable():
    """A graph with two latents of the same outputs, and all attributes that a run writes."""
    graph = make_graph([("x0", "a"), ("x1", "b"), ("a", "b"), ("b", "y0"), ("b", "y1")])
    graph.add_edge("x1", "y1")
    graph.nodes["a"].update(merged=["a", "c"], frequency=0.5, effects={"y0": 1.5})
    graph.nodes["b"].update(merged=["b", "d"], loss_without=0.5)
    for edge in graph.edges:
        graph.edges[edge].update(weight=0.5, frequency=0.75, q=0.125, origin="data")
    return graph


def list_places(value, place=()):
    """Every place in JSON, as the keys on the way to it."""
    within = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in within:
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from list_places(item, (*place, key))


WRONG = [
    None, True, -1, 0.5, 2.5, float("nan"), float("inf"), 10**309, "", "a", "x0", "n" * 140_000,
    "\ud800", "\0", [], ["a"], [None], {}, {"a": 1}, {"a": [{}]},
]  # fmt: skip


def spoil_json(rng):
    data = json.loads(encode_json(mutable()))
    *way, last = rng.choice(list(list_places(data)))
    where = data
    for key in way:
        where = where[key]
    action = rng.choice(["replace", "replace", "replace", "add", "repeat", "remove"])
    if action == "add" and isinstance(where, dict):
        name = rng.choice(["merged", "effects", "role", "weight", "q", "node_default", ""])
        where[name] = rng.choice(WRONG)
    elif action == "repeat" and isinstance(where, list):
        where.append(where[last])
    elif action == "remove":
        del where[last]
    else:
        where[last] = rng.choice(WRONG)
    return json.dumps(data).encode()


def spoil_graphml(rng):
    text = encode_graphml(mutable()).decode()
    action = rng.choice(["cut", "line", "word", "word", "word", "insert"])
    start = rng.randrange(len(text))
    if action == "cut":
        text = text[:start] + text[start + rng.randrange(1, 40) :]
    elif action == "line":
        lines = text.splitlines()
        lines[rng.randrange(len(lines))] = rng.choice(lines)
        text = "\n".join(lines)
    elif action == "word":
        word = rng.choice(list(re.finditer(r'"[^"]*"|>[^<]+<', text)))
        new = rng.choice(
            ["", "nan", "inf", "1e999", "9" * 5000, "x0", "int", "string", "d1", "&b;"]
        )
        text = text[: word.start() + 1] + new + text[word.end() - 1 :]
    else:
        new = rng.choice(["<node id='q'/>", "<port name='p'/>", "<graph>", "\0", "<!--", "&amp;"])
        text = text[:start] + new + text[start:]
    return text.encode()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spoil", [spoil_json, spoil_graphml])
def test_spoiled_files_are_read_or_refused_in_one_sentence(tmp_path, spoil, seed):
    rng = random.Random(seed)
    suffix = ".json" if spoil is spoil_json else ".graphml"
    truth, path, out = tmp_path / "truth.json", tmp_path / f"spoiled{suffix}", tmp_path / "out"
    write_graph(mutable(), truth)
    refused = []
    for _ in range(40):
        path.write_bytes(spoil(rng))
        kind = rng.choice(list(EXPORTS))
        for command in (
            partial(check, path, as_json=True),
            partial(score, path, truth, as_json=True),
            partial(score, truth, path, as_json=True),
            partial(export, path, kind, out, force=True),
        ):
            try:
                command()
            except InputError as error:
                refused.append(str(error))
    assert refused
    assert all(re.fullmatch(r".{1,600}", sentence) for sentence in refused)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n\0\xff", b"\xff\xfe\x00", b"\0" * 99])
@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_junk_is_refused(tmp_path, suffix, content):
    path = tmp_path / f"junk{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"must hold (JSON|GraphML), but .*; write the file again"):
        load_graph(path)


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
    table = edges_table(graph, reported=drawn)
    assert table.columns.tolist()[4:] == ["weight", "frequency", "q", "reported"]
    assert table["q"].iloc[0] == 0.25
    assert np.isnan(table["q"].iloc[1])
    assert table["reported"].tolist() == [False, True]


def test_an_edge_that_could_be_exchanged_names_the_other_in_the_table_and_in_files(tmp_path):
    graph = nx.DiGraph()
    graph.add_nodes_from([("a", {"role": "input"}), ("L1", {"role": "latent"})])
    graph.add_nodes_from((name, {"role": "output"}) for name in "uv")
    graph.add_edge("a", "L1", exchangeable="a -> L2", support="effects")
    graph.add_edges_from([("L1", "u"), ("L1", "v")])
    table = edges_table(graph)
    assert table.exchangeable.fillna("").tolist() == ["a -> L2", "", ""]
    write_graph(graph, tmp_path / "graph.json")
    assert load_graph(tmp_path / "graph.json").edges["a", "L1"]["exchangeable"] == "a -> L2"
    graph.edges["a", "L1"].pop("exchangeable")
    assert "exchangeable" not in edges_table(graph)
