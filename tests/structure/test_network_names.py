"""Known nodes between inputs and outputs: hand-worked scores, chance, and what is left out."""

import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.structure.network_map import MappedNodes, match_names
from rinn.structure.network_names import DECAY, find_known_nodes, permute_edges
from rinn.structure.prior.network import Network


def make_network(text):
    edges = [pair.split(">") for pair in text.split()]
    names = tuple(dict.fromkeys(name for pair in edges for name in pair))
    index = {name: number for number, name in enumerate(names)}
    sources, targets = ([index[pair[end]] for pair in edges] for end in (0, 1))
    return Network(names, np.array(sources), np.array(targets), index)


def make_graph(*edges, extra=""):
    """Names in lower case a..m are inputs, n..z outputs, L1 and so on latents."""
    graph = nx.DiGraph()
    graph.add_nodes_from(extra)
    for edge in edges:
        above, below = edge.split(">")
        graph.add_edges_from((one, two) for one in above.split(",") for two in below.split(","))
    for node in graph:
        role = "latent" if node[0] == "L" else "input" if node < "n" else "output"
        graph.nodes[node]["role"] = role
    return graph


CHAINS = make_network("a>H b>H H>I I>p I>q c>J J>r J>s")


def test_scores_by_hand():
    graph = make_graph("a,b>L1", "L1>p,q", "c>L2", "L2>r,p")
    found = find_known_nodes(graph, CHAINS, permutations=19)
    nodes = {(row.latent, row.node): row.score for row in found.table.itertuples()}
    # H and I are close to exactly the inputs and outputs of L1, at whatever distance.
    assert nodes["L1", "H"] == pytest.approx(1)
    assert nodes["L1", "I"] == pytest.approx(1)
    # J reaches r, one of L2's two outputs, and s, which is no output here.
    assert nodes["L2", "J"] == pytest.approx(np.sqrt(0.5))
    assert ("L2", "H") not in nodes  # it is not below c
    rows = found.list_nodes(next(arm for arm in found.arms if arm.name == "L1"))
    assert rows["rank"].tolist() == [1, 1]
    assert rows["inputs"].tolist() == ["a 1;b 1", "a 2;b 2"]
    assert rows["outputs"].tolist() == ["p 2;q 2", "p 1;q 1"]


def test_closeness_falls_with_distance():
    network = make_network("a>H b>I I>H H>p")
    found = find_known_nodes(make_graph("a,b>L1", "L1>p"), network, permutations=1)
    near = np.array([DECAY, DECAY**2])
    expected = near.sum() / np.sqrt(2) / np.linalg.norm(near)
    assert found.table.set_index("node")["score"]["H"] == pytest.approx(expected)


def test_measured_nodes_are_no_candidates_unless_an_input_acts_on_them():
    network = make_network("a>p p>q")
    graph = make_graph("a,b>L1", "L1>p,q")
    plain = find_known_nodes(graph, network, permutations=1)
    assert plain.table.empty
    matches = match_names(graph, network.names, {"b": MappedNodes(("p",), "inhibits")})
    found = find_known_nodes(graph, network, matches, permutations=1)
    assert found.table["node"].tolist() == ["p"]
    assert found.table["inputs"].tolist() == ["a 1;b 0"]
    assert found.table["outputs"].tolist() == ["p 0;q 1"]


def test_a_latent_without_inputs_has_those_above_and_strangers_are_left_out():
    graph = make_graph("a,b>L1", "L1>L2", "L2>p,q", "d>L3", "L3>r", extra="c")
    found = find_known_nodes(graph, CHAINS, permutations=1)
    assert [(arm.name, sorted(arm.inputs)) for arm in found.arms] == [
        ("L1", ["a", "b"]),
        ("L2", ["a", "b"]),
    ]
    assert found.skipped == ("L3",)  # d is not in the network


def test_direct_edges_of_one_input_to_several_outputs():
    found = find_known_nodes(make_graph("c>r,s", "a>p"), CHAINS, permutations=1)
    assert [(arm.name, arm.kind) for arm in found.arms] == [("c", "direct edges")]
    assert found.table["node"].tolist() == ["J"]


def test_fisher_counts_pairs_with_a_path_through_the_node():
    found = find_known_nodes(make_graph("a,b>L1", "L1>p,q", extra="crs"), CHAINS, permutations=1)
    row = found.table.set_index("node").loc["H"]
    # All four pairs of 3 x 4, and no other: one way in 12 over 4.
    assert row["fisher_p"] == pytest.approx(1 / 495)


def test_permuted_edges_keep_degrees():
    rng = np.random.default_rng(0)
    graph = nx.gnp_random_graph(40, 0.06, seed=1, directed=True)
    edges = np.array(graph.edges).T
    before = edges.copy()
    other = permute_edges(rng, edges)
    np.testing.assert_array_equal(edges, before)
    for end in (0, 1):
        np.testing.assert_array_equal(np.bincount(edges[end]), np.bincount(other[end]))
    pairs = {*map(tuple, other.T.tolist())}
    assert len(pairs) == edges.shape[1]
    assert all(a != b for a, b in pairs)
    assert len(pairs & {*graph.edges}) < 0.2 * len(pairs)


def make_modules(rng, modules=4):
    """Modules of two inputs, a hidden node and three outputs, with a few edges between them."""
    edges = []
    for m in range(modules):
        edges += [(f"a{m}", f"h{m}"), (f"b{m}", f"g{m}"), (f"g{m}", f"h{m}")]
        edges += [(f"h{m}", f"z{m}{i}") for i in range(3)]
        edges.append((f"h{m}", f"g{rng.integers(modules)}"))
    return make_network(" ".join(f"{a}>{b}" for a, b in edges if a != b))


def make_module_graph(modules=4):
    return make_graph(
        *(f"a{m},b{m}>L{m}" for m in range(modules)),
        *(f"L{m}>z{m}0,z{m}1,z{m}2" for m in range(modules)),
    )


def test_the_right_nodes_are_named_and_none_in_a_permuted_network():
    rng = np.random.default_rng(3)
    network, graph = make_modules(rng), make_module_graph()
    found = find_known_nodes(graph, network, permutations=199)
    assert [rows["node"].tolist() for rows in found.best()] == [["h0"], ["h1"], ["h2"], ["h3"]]
    edges = np.stack([network.sources, network.targets])
    for _ in range(3):
        other = Network(network.names, *permute_edges(rng, edges), network.index)
        found = find_known_nodes(graph, other, permutations=199)
        assert all(rows.empty for rows in found.best())


def test_p_is_that_of_the_seed_and_holds_the_level():
    rng = np.random.default_rng(5)
    network, graph = make_modules(rng), make_module_graph()
    edges = np.stack([network.sources, network.targets])
    smallest = []
    for seed in range(20):
        other = Network(network.names, *permute_edges(rng, edges), network.index)
        found = find_known_nodes(graph, other, permutations=39, seed=seed)
        smallest.append(found.table.loc[found.table["latent"] == "L0", "p"].min())
    assert np.mean(np.array(smallest) <= 0.2) < 0.5
    again = find_known_nodes(graph, other, permutations=39, seed=19)
    assert again.table.equals(found.table)


def test_a_network_without_the_inputs_is_refused():
    with pytest.raises(InputError, match=r"none of the inputs \(such as 'd'; its nodes are 'a', "):
        find_known_nodes(make_graph("d>L1", "L1>p"), CHAINS)
    with pytest.raises(InputError, match=r"none of the outputs \(such as 't'"):
        find_known_nodes(make_graph("a>L1", "L1>t"), CHAINS)


def test_a_graph_without_latents():
    found = find_known_nodes(make_graph(extra="ap"), CHAINS)
    assert found.table.empty
    assert found.best() == []
