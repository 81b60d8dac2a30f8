"""Which node of a network an input or output is."""

import networkx as nx
import pytest

from rinn.errors import InputError
from rinn.structure.network_map import (
    MappedNodes,
    find_hints,
    load_map,
    match_names,
    tabulate_matches,
)

NODES = ("ins", "pi3k", "akt", "p38", "MAPK1", "MAPK3", "il-6", "il6", "TP53")


def make_graph(inputs, outputs):
    graph = nx.DiGraph()
    graph.add_nodes_from(inputs, role="input")
    graph.add_nodes_from(outputs, role="output")
    return graph


def match(name, role="output", given=None):
    graph = make_graph([name], []) if role == "input" else make_graph([], [name])
    return match_names(graph, NODES, given)[0]


@pytest.mark.parametrize(
    ("name", "node", "how"),
    [
        ("akt", "akt", "same name"),
        ("AKT", "akt", "but for case"),
        ("p_AKT", "akt", "without prefix"),
        ("phospho-Akt", "akt", "without prefix"),
        ("phosphoAKT", "akt", "without prefix"),
        ("p_p38", "p38", "without prefix"),
        ("p38", "p38", "same name"),
        ("il6", "il6", "same name"),
    ],
)
def test_spellings(name, node, how):
    found = match(name)
    assert (found.nodes, found.match, found.action) == ((node,), how, "")


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("IL6", "several nodes fit"),  # il-6 or il6
        ("PI3Ki", "not in the network"),  # an inhibitor is never guessed
        ("pakt", "not in the network"),
        ("p_", "not in the network"),
    ],
)
def test_what_is_not_matched(name, how):
    found = match(name, "input")
    assert (found.nodes, found.match) == ((), how)


def test_a_column_of_both_tables_is_one_gene():
    graph = make_graph(["TP53_x"], ["TP53_y"])
    assert [one.nodes for one in match_names(graph, NODES)] == [("TP53",), ("TP53",)]
    given = {"TP53": MappedNodes(("akt",), "inhibits")}
    assert match_names(graph, NODES, given)[0].action == "inhibits"


def test_a_map_comes_before_spelling_and_may_be_read_again(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text(
        "name,node,action\nPI3Ki,pi3k,Inhibits\nERK12,MAPK1\nERK12,MAPK3\nakt,\n# end\n"
    )
    given = load_map(path)
    graph = make_graph(["PI3Ki"], ["ERK12", "akt", "p_p38"])
    found = match_names(graph, NODES, given)
    assert [one.nodes for one in found] == [("pi3k",), ("MAPK1", "MAPK3"), (), ("p38",)]
    assert found[0].action == "inhibits"
    assert [one.match for one in found] == ["map", "map", "left out by the map", "without prefix"]
    tabulate_matches(found).to_csv(path, index=False)
    assert [one.nodes for one in match_names(graph, NODES, load_map(path))] == [
        one.nodes for one in found
    ]


def test_hints():
    graph = make_graph(["PI3Ki", "INS"], ["akt"])
    given = {"AKTT": MappedNodes(("akt",))}
    first, second = find_hints(match_names(graph, NODES, given), NODES, given)
    assert first.startswith("--map names 'AKTT', which is no input or output of the graph")
    assert "did you mean 'akt'?" in first
    assert second.endswith("write 'PI3Ki,pi3k,inhibits' into the file of --map")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("INS,ins\n", "begin with the column names name, node"),
        ("name,node,name\n", "begin with the column names name, node"),
        ("name,node\na,b,c\n", "have 2 fields, but line 2 has 3"),
        ("name,node\n,ins\n", "have a name on each line, but line 2 has none"),
        ("name,node,action\nINS,ins,blocks\n", "have inhibits or activates as action, or nothing"),
        ("name,node,action\nI,ins,inhibits\nI,akt,\n", "give each name one action"),
    ],
)
def test_wrong_maps(tmp_path, text, words):
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(InputError, match=f"--map .*{words}"):
        load_map(tmp_path / "map.csv")


def test_a_map_names_nodes_of_the_network():
    with pytest.raises(InputError, match=r"--map must name nodes .* 'aktt' \(for 'AKT'\).*'akt'"):
        match("AKT", given={"AKT": MappedNodes(("aktt",))})
