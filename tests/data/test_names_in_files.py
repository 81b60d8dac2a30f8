"""Any name that a table may have comes back from every file that holds it.

Other programs see the same text, but for one rule in .csv files: text that a spreadsheet would
take for a formula has one ' before it (`guard_formula`). pandas must be told that NA is a name.
"""

import csv
import io
import json
import unicodedata
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from linear_graphs import make_effects
from rinn.data.covariates import load_covariates, make_covariates
from rinn.data.records import Data
from rinn.data.tables import load_table, make_table
from rinn.errors import InputError
from rinn.files import encode_table, guard_formula, read_table, unguard_formula
from rinn.graphs.files import load_graph, write_graph
from rinn.graphs.formats.cytoscape import encode_cyjs
from rinn.graphs.formats.tables import edges_table, encode_csv
from rinn.runs.write import tabulate_effects

AS_TEXT = {"dtype": str, "keep_default_na": False}
UNUSUAL = (
    *("NA", "nan", "None", "null", "-", "+1", "-1.5", "1e5", "007", "true", "sample", "Unnamed: 0"),
    *("=1+1", "@cmd", "-b", "'-b", "''=x", "+1 2", "'", "\uff1d1", "a'", "\ta", "a\tb", "a\nb"),
    *('"', 'a"b', "a,b", "a;b", "#a", "<a>&", "\u2028", "\u202eab", "\xa0", "\u00e9", "e\u0301"),
    *("\U0001f9ec", "{x}", "[red]", "\\u0041", " a "),
)


@st.composite
def pairs(draw):
    """Two names that make_table accepts."""
    text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(UNUSUAL)
    names = draw(st.lists(text, min_size=2, max_size=2, unique_by=str.strip))
    try:
        return make_table(pd.DataFrame(np.eye(2), ["r", "s"], names), "X").columns
    except InputError:
        return ("TP53", "EGFR")


def make_graph(source, target):
    graph = nx.DiGraph()
    graph.add_node(source, role="input")
    graph.add_node(target, role="output")
    graph.add_edge(source, target, weight=-1.5)
    return graph


@given(names=pairs())
@example(names=("=1+1", "NA"))
@example(names=("e\u0301", "\u00e9"))
@settings(max_examples=60, deadline=None)
def test_names_come_back_from_graphs(tmp_path_factory, names):
    folder, graph = tmp_path_factory.mktemp("graph"), make_graph(*names)
    for suffix in (".json", ".graphml"):
        write_graph(graph, folder / f"graph{suffix}")
        assert list(load_graph(folder / f"graph{suffix}").edges) == [names]
    assert list(nx.read_graphml(folder / "graph.graphml").edges) == [names]
    plain = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    assert list(nx.node_link_graph(plain, edges="edges").edges) == [names]
    shown = json.loads(encode_cyjs(graph))
    assert {node["data"]["name"] for node in shown["elements"]["nodes"]} == set(names)


@given(names=pairs())
@example(names=("=1+1", "NA"))
@example(names=("-b", "'-b"))
@settings(max_examples=60, deadline=None)
def test_names_come_back_from_tables_of_edges(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("table") / "edges.csv"
    graph = make_graph(*names)
    for content in (encode_table(edges_table(graph)), encode_csv(graph)):
        path.write_bytes(content)
        ours = read_table(path, dtype={"source": str, "target": str})
        assert tuple(ours.loc[0, ["source", "target"]]) == names
        assert ours["weight"].tolist() == [-1.5]
        seen = tuple(map(guard_formula, names))
        assert tuple(pd.read_csv(path, **AS_TEXT).loc[0, ["source", "target"]]) == seen
        with path.open(newline="", encoding="utf-8") as file:
            assert tuple(list(csv.reader(file))[1][:2]) == seen


@given(names=pairs())
@example(names=("=1+1", "NA"))
@example(names=("-b", "'-b"))
@example(names=("sample", "1"))
@settings(max_examples=60, deadline=None)
def test_names_come_back_from_columns_and_samples(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("table") / "effects.csv"
    values = np.array([[0.5, -1.5], [2.0, 0.0]])
    effects = replace(make_effects(np.eye(9)[:, :2], np.eye(9)[:, 2:4]), z=values)
    path.write_bytes(encode_table(tabulate_effects(Data(values, values, names, names), effects)))
    ours = load_table(path, "effects")
    assert (ours.columns, ours.samples) == (names, names)
    np.testing.assert_array_equal(ours.values, values)
    seen = list(map(guard_formula, names))
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert rows[0][1:] == seen
    assert [row[0] for row in rows[1:]] == seen
    assert list(pd.read_csv(path, index_col=0, header=0, **AS_TEXT).index) == seen


@given(names=pairs())
@settings(max_examples=60, deadline=None)
def test_words_of_covariates_come_back(tmp_path_factory, names):
    assume(names[0] != "sample")
    path = tmp_path_factory.mktemp("table") / "covariates.csv"
    frame = pd.DataFrame({"sample": ["a", "b", "c"], names[0]: [names[1], "x", "y"]})
    path.write_bytes(encode_table(frame))
    table = load_covariates(path)
    assert list(table.columns) == [names[0]]
    expected = make_covariates(frame.set_index("sample")).columns[names[0]]
    np.testing.assert_array_equal(table.columns[names[0]], expected)


@pytest.mark.parametrize("what", ["column", "sample"])
@pytest.mark.parametrize("code", [0, 7, 13, 27, 0x7F, 0x9B, 0xDCFF, 0xFEFF, 0xFFFF], ids=hex)
def test_names_that_files_cannot_hold_are_refused(what, code):
    name = f"a{chr(code)}b"
    index, columns = ([name, "s"], ["p"]) if what == "sample" else (["r", "s"], [name])
    labels = {"index": pd.Index(index, dtype=object), "columns": pd.Index(columns, dtype=object)}
    frame = pd.DataFrame(np.zeros((2, 1)), **labels)
    sentence = f"must have names without control characters, but a {what} is called 'a"
    with pytest.raises(InputError, match=f"^X {sentence}"):
        make_table(frame, "X")
    with pytest.raises(InputError, match=f"^covariates {sentence}"):
        make_covariates(frame)


def test_levels_that_files_cannot_hold_are_refused():
    with pytest.raises(InputError, match=r"but a level of 'z0' is called 'a\\rb'; rename it"):
        make_covariates(np.array(["a\rb", "c"]))


@given(st.text(st.sampled_from("'=-+@1a.\t "), max_size=6))
def test_guards_come_off_again_and_leave_no_formula(text):
    guarded = guard_formula(text)
    assert unguard_formula(guarded) == text
    is_number = guarded.strip("+-").replace(".", "", 1).replace("1", "") == ""
    assert guarded[:1] not in tuple("=+-@\t") or len(guarded) == 1 or is_number


def test_names_that_differ_only_in_normalisation_stay_apart():
    names = ("\u00e9", unicodedata.normalize("NFD", "\u00e9"))
    assert make_table(pd.DataFrame(np.eye(2), columns=names), "X").columns == names
