import networkx as nx
import numpy as np
import pytest

from networks import small_data
from rinn.config import RunSettings
from rinn.strategies.detect_mimic import ALPHAS_PC, ALPHAS_SOBER, Correlations
from rinn.strategies.dm import detect_dm, find_bic


def make_graph(edges, inputs, outputs):
    graph = nx.DiGraph()
    graph.add_nodes_from(inputs, role="input")
    graph.add_nodes_from(outputs, role="output")
    graph.add_edges_from(edges)
    roles = {node: "latent" for node in graph if "role" not in graph.nodes[node]}
    nx.set_node_attributes(graph, roles, "role")
    return graph


def test_every_pair_of_the_published_grid_is_tried():
    found = detect_dm(small_data(), RunSettings(strategy="dm"))
    pairs = list(zip(found.trials["alpha_pc"], found.trials["alpha_sober"], strict=True))
    assert pairs == [(a, b) for a in ALPHAS_PC for b in ALPHAS_SOBER]
    assert len(found.graphs) == 12
    assert found.trials["kept"].tolist() == [i == found.chosen for i in range(12)]
    assert found.trials["bic"].idxmin() == found.chosen


@pytest.mark.parametrize(
    ("given", "tried"), [({"alpha_pc": 0.2}, 3), ({"alpha_sober": 0.2}, 4), ({"trials": 2}, 2)]
)
def test_what_is_given_is_not_searched(given, tried):
    found = detect_dm(small_data(), RunSettings(strategy="dm", **given))
    assert len(found.trials) == tried
    for name in ("alpha_pc", "alpha_sober"):
        if name in given:
            assert set(found.trials[name]) == {given[name]}


def test_bic_is_that_of_linear_regressions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = np.stack([x[:, 0] + x[:, 1], x[:, 2]], axis=1) + rng.normal(size=(300, 2))
    known = Correlations(np.corrcoef(np.hstack([x, y]).T), 300, ("a", "b", "c"), ("d", "e"))
    graph = make_graph(
        [("a", "L1"), ("b", "L1"), ("L1", "d"), ("c", "L2"), ("L2", "e")], "abc", "de"
    )
    expected = 0.0
    for causes, effect in (([0, 1], 0), ([2], 1)):
        centred = x[:, causes] - x[:, causes].mean(axis=0)
        target = y[:, effect] - y[:, effect].mean()
        left = target - centred @ np.linalg.lstsq(centred, target, rcond=None)[0]
        expected += 300 * np.log(left.var() / target.var())
    assert find_bic(graph, known) == pytest.approx(expected + 5 * np.log(300))


def test_bic_of_a_graph_without_edges_is_zero():
    known = Correlations(np.eye(2), 50, ("a",), ("b",))
    assert find_bic(make_graph([], "a", "b"), known) == 0


def test_copies_of_an_input_do_no_harm():
    matrix = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    known = Correlations(matrix, 100, ("a", "b"), ("c",))
    both = make_graph([("a", "L1"), ("b", "L1"), ("L1", "c")], "ab", "c")
    one = make_graph([("a", "L1"), ("L1", "c")], "ab", "c")
    assert find_bic(one, known) == pytest.approx(find_bic(both, known) - np.log(100))
