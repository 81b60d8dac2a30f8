"""Every format is read back by a reader that is not ours, except DAGitty's (see `read_dagitty`)."""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ndex2.cx2 import RawCX2NetworkFactory, SIFToCX2NetworkFactory

from rinn.errors import InputError
from rinn.files import unguard_formula
from rinn.graphs.export import EXPORTS, export_graph, export_path
from rinn.graphs.files import load_graph, write_graph
from tiny_graphs import graphs, make_graph, paper_truth, same

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pydot's grammar calls pyparsing by its old names
    import pydot.dot_parser

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "quotes": "\"quoted\" 'twice' & &amp; more, all; of it",
    "backslashes": r"\n C:\path \N \"x\" end\\",
    "lines": "a\nb\tc",
    "unicode": "🧬é 基因 \u202e \u2028 x",
    "digit": "1st gene",
    "arrow": "a -> b -- c",
    "braces": "} [latent] { = :",
    "long": "n" * 3000,
    "spaces": "  wide  ",
    "hash": "# // /* */",
    "empty": "",
    "node": "node",
    "graph": "graph",
    "edge": "edge",
    "subgraph": "subgraph",
    "bb": "bb",
    "missing": "NA",
    "control": "bell\x07 nul\x00 return\r escape\x1b",
    "spelled": "bell\\u0007 nul\\u0000 return\\u000d escape\\u001b",
    "surrogate": "half \ud83e",
}
CONTROL = "bell\\u0007 nul\\u0000 return\\u000d escape\\u001b_"
SURROGATE = {"surrogate": "half \\ud83e"}
LINES = {"lines": "a\\u000ab\\u0009c", "unicode": "🧬é 基因 \u202e \\u2028 x"}
SPELLED = {
    "graphml": SURROGATE | {"control": CONTROL},
    "dot": SURROGATE | {"control": CONTROL},
    "cyjs": {},
    "cx2": {},
    "json": {},
    "csv": SURROGATE | {"control": "bell\x07 nul\\u0000 return\\u000d escape\x1b"},
    "sif": SURROGATE
    | {
        "lines": "a\\u000ab\\u0009c",
        "unicode": "🧬é 基因 \u202e \\u2028 x",
        "spaces": "\\u0020 wide \\u0020",
        "hash": "\\u0023 // /* */",
        "empty": "_",
        "control": CONTROL,
    },
    "gml": SURROGATE | {"control": CONTROL},
    "equivalents": {},
    "lavaan": SURROGATE | LINES | {"control": CONTROL},
    "tetrad": SURROGATE | LINES | {"control": CONTROL},
    "dagitty": SURROGATE
    | {
        "backslashes": r"\n C:\path \N \u005c" + r'"x\u005c" end\\u005c',
        "lines": "a\\u000ab\\u0009c",
        "node": "node_",
        "graph": "graph_",
        "control": CONTROL,
    },
}
HELD_BY_CSV = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
folder_per_test = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20
)


def read_graphml(path):
    return nx.read_graphml(path)


def read_json(path):
    return nx.node_link_graph(json.loads(path.read_text()), edges="edges")


def read_cyjs(path):
    read = nx.cytoscape_graph(json.loads(path.read_text()))
    names = {node: read.nodes[node]["name"] for node in read}
    return nx.relabel_nodes(read, names)


def read_cx2(path):
    network = RawCX2NetworkFactory().get_cx2network(str(path))
    names = {number: node["v"]["name"] for number, node in network.get_nodes().items()}
    graph = nx.DiGraph()
    for number, node in network.get_nodes().items():
        graph.add_node(names[number], **without(node["v"], "name"), place=(node["x"], node["y"]))
    for edge in network.get_edges().values():
        graph.add_edge(names[edge["s"]], names[edge["t"]], **edge["v"])
    return graph


def read_dot(path):
    (dot,) = pydot.graph_from_dot_data(path.read_text(encoding="utf-8"))
    graph = nx.DiGraph()
    for node in dot.get_nodes():
        graph.add_node(unquote(node.get_name()), **unquote_all(node.get_attributes()))
    for edge in dot.get_edges():
        ends = unquote(edge.get_source()), unquote(edge.get_destination())
        graph.add_edge(*ends, **unquote_all(edge.get_attributes()))
    return graph


def unquote(text):
    """Undo DOT's quotes, which pydot keeps: a backslash hides one character."""
    assert text[0] == text[-1] == '"'
    plain, rest = "", iter(text[1:-1])
    for letter in rest:
        hidden = next(rest) if letter == "\\" else ""
        plain += {"n": "\n"}.get(hidden, hidden) if hidden else letter
    return plain


def unquote_all(values):
    return {unquote(name): unquote(value) for name, value in values.items()}


def read_sif(path):
    table = read_nodes(path.with_name(path.name.replace(".sif", ".nodes.tsv")))
    graph = nx.DiGraph()
    for row in table.to_dict("records"):
        graph.add_node(row["name"], **without(row, "name"))
    network = SIFToCX2NetworkFactory().get_cx2network(str(path), use_tabs_as_delimiters=True)
    names = {number: node["v"]["name"] for number, node in network.get_nodes().items()}
    assert set(names.values()) == set(graph)
    for edge in network.get_edges().values():
        graph.add_edge(names[edge["s"]], names[edge["t"]], **edge["v"])
    return graph


def read_nodes(path):
    return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, encoding="utf-8")


def read_csv(path):
    names = dict.fromkeys(["source", "target"], str)
    table = pd.read_csv(path, dtype=names, keep_default_na=False, na_values={"weight": ""})
    table = table.map(lambda cell: unguard_formula(cell) if isinstance(cell, str) else cell)
    graph = nx.DiGraph()
    for row in table.to_dict("records"):
        graph.add_node(row["source"], role=row["source_role"])
        graph.add_node(row["target"], role=row["target_role"])
        about = without(row, "source", "target", "source_role", "target_role")
        graph.add_edge(row["source"], row["target"], **about)
    return graph


def read_dagitty(path):
    """Read as dagitty.net's grammar does: no light reader in Python unhides quotes in names."""
    text = path.read_text(encoding="utf-8")
    words, at = [], 0
    while at < len(text):
        if text[at] == '"':
            word, at = "", at + 1
            while text[at] != '"':
                assert text[at].isprintable() or ord(text[at]) > 0x9F
                at += text[at : at + 2] == '\\"'
                word, at = word + text[at], at + 1
            words.append(("name", word))
            at += 1
        elif text[at].isspace():
            at += 1
        elif text[at].isascii() and (text[at].isalnum() or text[at] in "_."):
            end = at
            while text[end].isascii() and (text[end].isalnum() or text[end] in "_."):
                end += 1
            words.append(("name", text[at:end]))
            at = end
        else:
            mark = "->" if text[at : at + 2] == "->" else text[at]
            assert mark in ("->", "{", "}", "[", "]", ",", "=")
            words.append(("mark", mark))
            at += len(mark)
    return parse_dagitty(words)


def parse_dagitty(words):
    assert words[:4] == [("name", "dag"), ("mark", "{"), ("name", "bb"), ("mark", "=")]
    assert words.pop() == ("mark", "}")
    graph, rest = nx.DiGraph(), words[5:]
    while rest:
        kind, name = rest.pop(0)
        assert kind == "name"
        assert name not in ("graph", "node")
        target = None
        if rest and rest[0] == ("mark", "->"):
            target, rest = rest[1][1], rest[2:]
        about = {}
        if rest and rest[0] == ("mark", "["):
            end = rest.index(("mark", "]"))
            about, rest = parse_about(rest[1:end]), rest[end + 1 :]
        if target is not None:
            graph.add_edge(name, target, **about)
        else:
            roles = {"exposure": "input", "latent": "latent", "outcome": "output"}
            (role,) = [roles[word] for word in about if word in roles]
            graph.add_node(name, role=role, pos=about["pos"])
    return graph


def parse_about(words):
    about, rest = {}, words
    while rest:
        name, rest = rest[0][1], rest[1:]
        about[name] = True
        if rest and rest[0] == ("mark", "="):
            about[name], rest = rest[1][1], rest[2:]
        if rest:
            assert rest.pop(0) == ("mark", ",")
    return about


def read_gml(path):
    return nx.read_gml(path)


def read_variables(path):
    """The nodes of a format whose names are words: their names and roles."""
    graph, names = nx.DiGraph(), {}
    for row in read_nodes(path).to_dict("records"):
        graph.add_node(row["name"], role=row["role"])
        assert names.setdefault(row["variable"], row["name"]) == row["name"]
    return graph, names


def read_lavaan(path):
    """Read the two operators that are written, with the precedence that lavaan gives them."""
    graph, names = read_variables(
        path.with_name(path.name.replace(".lavaan.txt", ".variables.tsv"))
    )
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        left, sign, right = re.fullmatch(r"(\w+) (=~|~) (\w+(?: \+ \w+)*)", line).groups()
        for word in right.split(" + "):
            edge = (left, word) if sign == "=~" else (word, left)
            assert not graph.has_edge(*(names[end] for end in edge))
            graph.add_edge(*(names[end] for end in edge))
    return graph


def read_tetrad(path):
    """Read as Tetrad does: nodes between semicolons, edges with a number, latents in brackets."""
    graph, names = read_variables(path.with_name(path.name.replace(".txt", ".tsv")))
    head, nodes, empty, middle, *edges = path.read_text().splitlines()
    assert (head, empty, middle) == ("Graph Nodes:", "", "Graph Edges:")
    words = re.split("[,;]", nodes) if nodes else []
    is_latent = {word.strip("()"): word.startswith("(") for word in words}
    assert {names[word]: latent for word, latent in is_latent.items()} == {
        node: role == "latent" for node, role in graph.nodes(data="role")
    }
    for line in edges:
        source, arrow, target = re.split(r"\s+", re.sub(r"^\d+.\s?", "", line))
        assert arrow == "-->"
        graph.add_edge(names[source], names[target])
    return graph


def read_equivalents(path):
    content = json.loads(path.read_text())
    assert content["count"] == content["listed"] == len(content["graphs"])
    return nx.node_link_graph(content["graphs"][0], edges="edges")


READERS = {
    "graphml": read_graphml,
    "dot": read_dot,
    "cyjs": read_cyjs,
    "cx2": read_cx2,
    "sif": read_sif,
    "csv": read_csv,
    "json": read_json,
    "dagitty": read_dagitty,
    "gml": read_gml,
    "lavaan": read_lavaan,
    "tetrad": read_tetrad,
    "equivalents": read_equivalents,
}
# What a format leaves out: SIF, models and Tetrad have no place for an edge's numbers, an edge list
# none for a node without edges, a model none for a latent that acts on nothing.
NO_WEIGHTS, NO_LONE_NODES, NO_LAST_LATENTS = ("sif", "lavaan", "tetrad"), ("csv",), ("lavaan",)
every_format = pytest.mark.parametrize("kind", EXPORTS)


def without(values, *names):
    return {name: value for name, value in values.items() if name not in names}


def round_trip(folder, graph, kind):
    path = folder / f"graph{EXPORTS[kind].suffix}"
    export_graph(graph, path, kind)
    return READERS[kind](path)


def skeleton(graph, kind):
    """Names in order, roles, edges and weights, as far as a format carries them."""
    nodes = [
        (node, role)
        for node, role in graph.nodes(data="role")
        if kind not in NO_LONE_NODES or graph.degree(node)
    ]
    edges = {
        (source, target): None if kind in NO_WEIGHTS or math.isnan(float(weight)) else float(weight)
        for source, target, weight in graph.edges(data="weight", default=math.nan)
    }
    if kind in NO_LAST_LATENTS:
        edges = {edge: None for edge in edges if not is_last_latent(graph, edge[1])}
    return (sorted(nodes) if kind in NO_LONE_NODES else nodes), edges


def is_last_latent(graph, node):
    """Whether a latent leads to no output."""
    below = {graph.nodes[one]["role"] for one in nx.descendants(graph, node)}
    return graph.nodes[node]["role"] == "latent" and "output" not in below


def typical():
    graph = make_graph(
        [("x0", "L1"), ("x1", "L2"), ("L1", "L2"), ("L1", "y0"), ("L2", "y1"), ("x0", "y1")],
        latents=["L1", "L2", "L3"],
        inputs=["x0", "x1", "x2"],
        outputs=["y0", "y1"],
    )
    for number, edge in enumerate(graph.edges):
        graph.edges[edge].update(
            weight=(-1) ** number * (0.1 + number), frequency=0.5, sign="+-"[number % 2]
        )
    graph.nodes["L1"].update(frequency=np.float32(0.75), effects={"y0": -1.5, "y1": 0.25})
    graph.nodes["L2"].update(frequency=1.0, effects={"y1": 2.0}, merged=["L2", "L4"])
    graph.graph["strategy"] = "rinn"
    return graph


def test_every_format_has_a_reader():
    assert set(READERS) == set(EXPORTS) == set(SPELLED)
    assert all(name == export.name for name, export in EXPORTS.items())
    assert len({export.suffix for export in EXPORTS.values()}) == len(EXPORTS)


@every_format
@pytest.mark.parametrize("graph", [typical(), paper_truth(), make_graph([], latents=["a b"])])
def test_read_back(tmp_path, kind, graph):
    before = nx.DiGraph(graph)
    assert skeleton(round_trip(tmp_path, graph, kind), kind) == skeleton(graph, kind)
    assert same(graph, before)
    assert not list(tmp_path.glob(".*"))


@every_format
def test_hostile_names(tmp_path, kind):
    graph = nx.DiGraph()
    graph.add_node("hub", role="latent")
    for number, name in enumerate(HOSTILE.values()):
        graph.add_node(name, role=("input", "latent", "output")[number % 3])
        edge = ("hub", name) if number % 3 else (name, "hub")
        graph.add_edge(*edge, weight=number / 7)
    new = {HOSTILE[key]: spelled for key, spelled in SPELLED[kind].items()}
    read = round_trip(tmp_path, graph, kind)
    assert skeleton(read, kind) == skeleton(nx.relabel_nodes(graph, new), kind)


@pytest.mark.parametrize("kind", [kind for kind in EXPORTS if kind != "csv"])
@given(graphs(), st.data())
@folder_per_test
def test_any_names_stay_distinct(tmp_path, kind, graph, data):
    wild = st.text(max_size=8) | st.sampled_from([*HOSTILE.values(), "\\u0000", "\x00", "\\", '"'])
    size = len(graph)
    names = data.draw(st.lists(wild, min_size=size, max_size=size, unique=True))
    graph = nx.relabel_nodes(graph, dict(zip(list(graph), names, strict=True)))
    nx.set_edge_attributes(graph, {edge: i - 0.5 for i, edge in enumerate(graph.edges)}, "weight")
    read = round_trip(tmp_path, graph, kind)
    assert len(read) == size
    back = nx.relabel_nodes(read, dict(zip(list(read), list(graph), strict=True)))
    assert skeleton(back, kind) == skeleton(graph, kind)


@given(st.lists(st.text(HELD_BY_CSV), min_size=2, unique=True))
@folder_per_test
def test_any_names_in_csv(tmp_path, names):
    graph = nx.DiGraph()
    graph.add_nodes_from(names, role="latent")
    nx.add_path(graph, names, weight=0.25)
    assert skeleton(round_trip(tmp_path, graph, "csv"), "csv") == skeleton(graph, "csv")


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.text(max_size=8),
    lambda within: st.lists(within, max_size=3) | st.dictionaries(st.text(max_size=3), within),
    max_leaves=5,
)


@every_format
@given(st.text(min_size=1, max_size=8), JSON_VALUES)
@folder_per_test
def test_any_attribute_is_harmless(tmp_path, kind, name, value):
    graph = typical()
    graph.nodes["L1"][name if name != "role" else "note"] = value
    graph.edges["x0", "L1"][name if name not in ("weight", "frequency") else "note"] = value
    graph.graph[name] = value
    read = round_trip(tmp_path, graph, kind)
    assert skeleton(read, kind) == skeleton(graph, kind)


@every_format
@pytest.mark.parametrize(
    "name", ["id", "name", "label", "pos", "source", "target", "value", "parent", "latent", "shape"]
)
def test_reserved_attributes_get_an_underscore(tmp_path, kind, name):
    graph = typical()
    for values in (graph.nodes["L1"], graph.edges["x0", "L1"]):
        values.update({name: "mine", f"{name}_": "too"})
    read = round_trip(tmp_path, graph, kind)
    assert skeleton(read, kind) == skeleton(graph, kind)


@pytest.mark.parametrize("kind", ["graphml", "dot", "cyjs", "cx2", "sif", "json"])
def test_latents_keep_their_attributes(tmp_path, kind):
    read = round_trip(tmp_path, typical(), kind)
    effects = read.nodes["L1"]["effects"]
    effects = json.loads(effects) if isinstance(effects, str) else effects
    assert effects == {"y0": -1.5, "y1": 0.25}
    assert float(read.nodes["L1"]["frequency"]) == 0.75


@pytest.mark.parametrize("kind", ["graphml", "dot", "cyjs", "cx2", "csv", "json", "dagitty"])
def test_edges_keep_their_attributes(tmp_path, kind):
    graph = typical()
    read = round_trip(tmp_path, graph, kind)
    for edge in graph.edges:
        assert float(read.edges[edge]["frequency"]) == 0.5
        assert read.edges[edge]["sign"] == graph.edges[edge]["sign"]


def test_dot_shows_roles(tmp_path):
    graph = typical()
    graph.add_node("A&amp;B", role="input")
    read = round_trip(tmp_path, graph, "dot")
    shapes = {
        read.nodes[n]["role"]: (read.nodes[n]["shape"], read.nodes[n].get("style")) for n in read
    }
    assert shapes["latent"] == ("ellipse", "dashed")
    assert len(set(shapes.values())) == 3
    assert read.nodes["A&amp;B"]["label"] == "A&amp;amp;B"


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_hostile_names(tmp_path):
    graph = nx.DiGraph()
    graph.add_nodes_from(HOSTILE.values(), role="latent", weight=-0.5)
    export_graph(graph, tmp_path / "graph.dot", "dot")
    command = ["dot", "-Tsvg", str(tmp_path / "graph.dot")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert b"<script>" not in done.stdout
    assert done.stdout.count(b'class="node"') == len(HOSTILE)


def test_cyjs_has_no_blank_ids(tmp_path):
    names = ["", " ", "\ufeff", "_", "a"]
    export_graph(make_graph([("a", "y")], latents=names), tmp_path / "graph.cyjs", "cyjs")
    nodes = json.loads((tmp_path / "graph.cyjs").read_text())["elements"]["nodes"]
    assert [n["data"]["name"] for n in nodes] == [*names, "y"]
    assert [n["data"]["id"] for n in nodes] == ["__", "___", "____", "_", "a", "y"]


@pytest.mark.parametrize("kind", ["cx2", "cyjs"])
def test_places_follow_causes(tmp_path, kind):
    graph = typical()
    path = tmp_path / f"graph.{kind}"
    export_graph(graph, path, kind)
    if kind == "cx2":
        places = dict(read_cx2(path).nodes(data="place"))
    else:
        nodes = json.loads(path.read_text())["elements"]["nodes"]
        places = {n["data"]["name"]: (n["position"]["x"], n["position"]["y"]) for n in nodes}
    assert len(set(places.values())) == len(graph)
    assert all(places[source][0] < places[target][0] for source, target in graph.edges)
    columns = {role: {places[n][0] for n in graph if graph.nodes[n]["role"] == role}
               for role in ("input", "latent", "output")}  # fmt: skip
    assert len(columns["input"]) == len(columns["output"]) == 1
    assert max(columns["input"]) < min(columns["latent"])
    assert max(columns["latent"]) < min(columns["output"])


def test_cx2_is_as_specified(tmp_path):
    graph = typical()
    graph.nodes["x0"].update(
        mixed=1, whole=3, big=2**40, huge=2**70, seen=True, none=[None], id="a"
    )
    graph.nodes["x1"].update(mixed="one", whole=2.5, big=1, seen=False, few=[], none=[1.0])
    export_graph(graph, tmp_path / "graph.cx2", "cx2")
    aspects = json.loads((tmp_path / "graph.cx2").read_text())
    assert all(len(aspect) == 1 for aspect in aspects[1:])
    assert aspects[0] == {"CXVersion": "2.0", "hasFragments": False}
    assert aspects[-1] == {"status": [{"error": "", "success": True}]}
    found = {name: items for aspect in aspects[1:] for name, items in aspect.items()}
    order = list(found)
    assert order[:2] == ["metaData", "attributeDeclarations"]
    counts = {entry["name"]: entry["elementCount"] for entry in found["metaData"]}
    assert counts == {name: len(found[name]) for name in order[1:-1]}
    (declared,) = found["attributeDeclarations"]
    types = {name: entry["d"] for name, entry in declared["nodes"].items()}
    assert types == {
        "name": "string", "role": "string", "mixed": "string", "whole": "double", "big": "long",
        "huge": "string", "seen": "boolean", "none": "string", "id_": "string",
        "few": "list_of_string", "frequency": "double", "effects": "string",
        "merged": "list_of_string",
    }  # fmt: skip
    assert all(set(node["v"]) <= set(types) for node in found["nodes"])
    assert [node["id"] for node in found["nodes"]] == list(range(len(graph)))
    assert found["networkAttributes"] == [{"name": "latent graph", "strategy": "rinn"}]
    read = read_cx2(tmp_path / "graph.cx2")
    assert read.nodes["x0"]["mixed"] == "1"
    assert read.nodes["x0"]["whole"] == 3.0
    assert read.nodes["x0"]["huge"] == str(2**70)
    assert read.nodes["x0"]["none"] == "[null]"
    assert read.nodes["L2"]["merged"] == ["L2", "L4"]
    assert read.edges["x0", "L1"]["interaction"] == "input-latent"


def test_cx2_style_tells_roles_apart(tmp_path):
    export_graph(typical(), tmp_path / "graph.cx2", "cx2")
    network = RawCX2NetworkFactory().get_cx2network(str(tmp_path / "graph.cx2"))
    mapping = network.get_visual_properties()["nodeMapping"]
    for look in ("NODE_SHAPE", "NODE_BACKGROUND_COLOR"):
        assert mapping[look]["definition"]["attribute"] == "role"
        pairs = {entry["v"]: entry["vp"] for entry in mapping[look]["definition"]["map"]}
        assert set(pairs) == {"input", "latent", "output"}
        assert len(set(pairs.values())) == 3
    assert mapping["NODE_LABEL"]["definition"]["attribute"] == "name"


def test_sif_names_roles_and_lists_lone_nodes(tmp_path):
    export_graph(typical(), tmp_path / "graph.sif", "sif")
    table = pd.read_csv(
        tmp_path / "graph.sif", sep="\t", names=["a", "kind", "b"], quoting=csv.QUOTE_NONE
    )
    assert table.iloc[0].tolist() == ["x0", "input-latent", "L1"]
    assert set(table["kind"].dropna()) == {
        "input-latent", "latent-latent", "latent-output", "input-output",
    }  # fmt: skip
    assert table["a"][table["kind"].isna()].tolist() == ["x2", "L3"]


def test_sif_without_edges_still_has_tabs(tmp_path):
    export_graph(make_graph([], latents=["a b"]), tmp_path / "graph.sif", "sif")
    assert (tmp_path / "graph.sif").read_bytes() == b"a b\t\n"


def test_export_path_of_a_run_folder(tmp_path):
    write_graph(typical(), tmp_path / "graph.json")
    assert export_path(tmp_path, "sif") == tmp_path / "graph.sif"
    assert set(os.listdir(tmp_path)) == {"graph.json", "graph.sif", "graph.nodes.tsv"}
    assert export_path(tmp_path, "csv") == tmp_path / "graph.edges.csv"


def test_export_path_of_a_graph_file(tmp_path):
    write_graph(typical(), tmp_path / "truth.graphml")
    assert export_path(tmp_path / "truth.graphml", "dagitty") == tmp_path / "truth.dagitty.txt"
    out = tmp_path / "other.txt"
    assert export_path(str(tmp_path / "truth.graphml"), "sif", str(out)) == out
    assert (tmp_path / "other.nodes.tsv").is_file()


def test_export_path_replaces_nothing_unless_forced(tmp_path):
    graph = typical()
    write_graph(graph, tmp_path / "graph.json")
    (tmp_path / "graph.nodes.tsv").write_text("mine")
    (tmp_path / "graph.dot").write_text("mine")
    for kind, name in {"dot": "graph.dot", "sif": "graph.nodes.tsv", "json": "graph.json"}.items():
        with pytest.raises(InputError, match=rf"{name}: it exists; .* --out, .* --force"):
            export_path(tmp_path, kind)
    assert (tmp_path / "graph.nodes.tsv").read_text() == "mine"
    assert (tmp_path / "graph.dot").read_text() == "mine"
    assert not (tmp_path / "graph.sif").exists()
    for kind in ("dot", "sif", "json"):
        export_path(tmp_path, kind, force=True)
    assert "mine" not in (tmp_path / "graph.nodes.tsv").read_text()
    assert skeleton(load_graph(tmp_path / "graph.json"), "json") == skeleton(graph, "json")


def test_export_refuses(tmp_path):
    graph = typical()
    with pytest.raises(InputError, match=r"one of graphml, .* got 'cytoscape'"):
        export_graph(graph, tmp_path / "graph.dot", "cytoscape")
    with pytest.raises(InputError, match=r"cannot write .*: the folder .*gone does not exist"):
        export_graph(graph, tmp_path / "gone" / "graph.dot", "dot")
    with pytest.raises(InputError, match=r"cannot write .*: it is a folder; name a file in it"):
        export_graph(graph, tmp_path, "dot")
    with pytest.raises(InputError, match="must have no cycle"):
        export_graph(make_graph([("a", "b"), ("b", "a")]), tmp_path / "graph.dot", "dot")
    with pytest.raises(InputError, match=r"RUN must be a run folder .* has no graph\.json"):
        export_path(tmp_path, "dot")
    with pytest.raises(InputError, match=r"gone\.json must be an existing file"):
        export_path(tmp_path / "gone.json", "dot")
    assert os.listdir(tmp_path) == []


def test_a_model_is_written_as_lavaan_writes_it(tmp_path):
    graph = make_graph(
        [("x0", "L1"), ("x1", "L2"), ("L1", "L2"), ("L2", "y0"), ("L2", "y1"), ("x0", "y1"),
         ("y0", "y2"), ("x1", "L3"), ("L4", "y2"), ("L4", "L2")],
        latents=["L1", "L2", "L3", "L4"],
    )  # fmt: skip
    export_graph(graph, tmp_path / "graph.lavaan.txt", "lavaan")
    assert (tmp_path / "graph.lavaan.txt").read_text().splitlines() == [
        "# Latent variable model, for lavaan (R) and semopy (Python).",
        "# L3 acts on no output and is left out.",
        "",
        "# Measurement part",
        "L4 =~ y2",
        "L1 =~ L2",
        "L2 =~ y0 + y1",
        "",
        "# Structural part",
        "L1 ~ x0",
        "L2 ~ x1 + L4",
        "y1 ~ x0",
        "y2 ~ y0",
    ]


def test_words_of_a_model_are_names_in_r(tmp_path):
    graph = make_graph([("HLA-A", "h"), ("h", "1st"), ("h", "if"), ("h", "HLA.A")])
    export_graph(graph, tmp_path / "graph.lavaan.txt", "lavaan")
    table = read_nodes(tmp_path / "graph.variables.tsv").set_index("name")["variable"].to_dict()
    assert table == {"HLA-A": "HLA_A", "h": "h", "1st": "v1st", "if": "if_", "HLA.A": "HLA_A_"}


def test_equivalents_are_the_graphs_with_one_edge_exchanged(tmp_path):
    graph = make_graph([("x", "a -> b"), ("a -> b", "y"), ("a -> b", "z"), ("x", "w")])
    graph.edges["x", "w"]["exchangeable"] = "a -> b -> w"
    graph.edges["a -> b", "z"]["exchangeable"] = "x -> y -> gone"
    graph.edges["x", "a -> b"]["exchangeable"] = "a -> b -> y"  # is there already
    export_graph(graph, tmp_path / "graph.equivalents.json", "equivalents")
    content = json.loads((tmp_path / "graph.equivalents.json").read_text())
    first, second = (nx.node_link_graph(one, edges="edges") for one in content["graphs"])
    assert (content["count"], content["listed"]) == (2, 2)
    assert set(first.edges) == set(graph.edges)
    assert set(second.edges) == {*graph.edges, ("a -> b", "w")} - {("x", "w")}
    assert second.graph["exchanged"] == {"without": ["x", "w"], "with": ["a -> b", "w"]}


def test_of_many_equivalents_the_number_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("rinn.graphs.formats.equivalents.MAX_GRAPHS", 3)
    graph = make_graph([("x", "h"), *(("h", f"y{number}") for number in range(5))])
    for number in range(5):
        graph.edges["h", f"y{number}"]["exchangeable"] = f"x -> y{number}"
    export_graph(graph, tmp_path / "graph.equivalents.json", "equivalents")
    content = json.loads((tmp_path / "graph.equivalents.json").read_text())
    assert (content["count"], content["listed"], len(content["graphs"])) == (6, 3, 3)
