import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.structure.prior.network import load_network


@pytest.fixture
def write(tmp_path):
    def save(text):
        path = tmp_path / "file.txt"
        path.write_text(text)
        return path

    return save


def list_edges(network):
    pairs = zip(network.sources.tolist(), network.targets.tolist(), strict=True)
    return [(network.names[a], network.names[b]) for a, b in pairs]


def test_tabs_let_names_have_spaces_and_lone_names_are_nodes(write):
    network = load_network(write("gene a\tpp\tb\tgene c\nd activates e f\nalone\n\n# a comment\n"))
    assert list_edges(network) == [("gene a", "b"), ("gene a", "gene c"), ("d", "e"), ("d", "f")]
    assert network.names[-1] == "alone"


def test_the_extended_form_has_one_target_and_ends_at_an_empty_line(write):
    top = "PARTICIPANT_A\tINTERACTION_TYPE\tPARTICIPANT_B\tINTERACTION_DATA_SOURCE\n"
    text = f"{top}TP53\tcontrols\tMDM2\tReactome;PID\n\nPARTICIPANT\tTYPE\nTP53\tprotein\tx\n"
    network = load_network(write(text))
    assert list_edges(network) == [("TP53", "MDM2")]
    assert network.names == ("TP53", "MDM2")


def test_a_table_of_interactions(write):
    top = "source,target,source_genesymbol,target_genesymbol,is_directed,is_stimulation\n"
    text = f"# from a database\n{top}P31749,P49841,AKT1,GSK3B,1,0\nP1,P2,EGFR,GRB2,False,1\n"
    network = load_network(write(text))
    assert list_edges(network) == [("AKT1", "GSK3B"), ("EGFR", "GRB2"), ("GRB2", "EGFR")]
    network = load_network(write("source\trelation\ttarget\na b\tpp\tc\n"))
    assert list_edges(network) == [("a b", "c")]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_ways_are_those_of_networkx(write, directed, steps):
    graph = nx.gnp_random_graph(300, 0.006, seed=3, directed=True)
    path = write(
        "".join(f"n{a} to n{b}\n" for a, b in graph.edges) + "".join(f"n{node}\n" for node in graph)
    )
    network = load_network(path)
    names = [f"n{node}" for node in range(300)]
    paths = network.find_paths(names, names[:40], steps, directed=directed)
    whole = graph if directed else graph.to_undirected()
    near = dict(nx.all_pairs_shortest_path_length(whole, cutoff=steps))
    expected = [[end in near[start] for end in range(40)] for start in range(300)]
    np.testing.assert_array_equal(paths, expected)
    assert 0 < paths.sum() < paths.size


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "at least one edge"),
        ("a\nb\n", "at least one edge"),
        ("a pp b\na pp\n", "line 2 has 'a pp'"),
        ("a\tpp\t\t\n", "line 1 has"),
        ("source,target\n", "at least one edge"),
        ("source,target\na\n", "have 2 fields on each line, .* line 2 has 1"),
        ("source,target\na,\n", "name both source and target on each line, but line 2 lacks one"),
    ],
)
def test_wrong_networks(write, text, words):
    with pytest.raises(InputError, match=f"--network .*{words}"):
        load_network(write(text))
