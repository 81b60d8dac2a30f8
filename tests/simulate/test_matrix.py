import numpy as np
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import lay_out
from rinn.simulate.graphs import paper_graph
from rinn.simulate.matrix import propagate_interventions, sample_matrix

RESTING = np.array([2, 1, 3, 3, 1, 2, 2, 3, 2, 1, 2, 1, 1, 2, 1, 2])
SQUARE = [2, 3, 6, 7]


def outputs_with(*active):
    layout = lay_out(paper_graph())
    row = np.zeros((1, 16), bool)
    row[0, list(active)] = True
    return propagate_interventions(layout, row, np.dtype("int8"))[list(layout.outputs), 0]


def test_resting_outputs():
    np.testing.assert_array_equal(outputs_with(), RESTING)


@pytest.mark.parametrize(("name", "drop"), [(10, 2), (3, 1)])
def test_one_input_lowers_the_little_square(name, drop):
    expected = RESTING.copy()
    expected[SQUARE] -= drop
    np.testing.assert_array_equal(outputs_with(name), expected)


def test_two_inputs_of_one_latent_do_no_more_than_one():
    np.testing.assert_array_equal(outputs_with(1, 2), outputs_with(8))


def test_every_input_active_leaves_nothing():
    sampled = sample_matrix(np.random.default_rng(0), paper_graph(), 2, p=1.0)
    assert not sampled.y.any()


def test_share_of_active_inputs():
    sampled = sample_matrix(np.random.default_rng(1), paper_graph(), 20_000, p=0.17)
    assert sampled.x.mean() == pytest.approx(0.17, abs=0.004)


def test_large_path_counts_do_not_overflow():
    graph = paper_graph()
    graph.remove_nodes_from([node for node in graph if node.startswith("h")])
    above = [f"a{i}" for i in range(16)]
    below = [f"b{i}" for i in range(16)]
    graph.add_nodes_from(above + below, role="latent")
    graph.add_edges_from((a, b) for a in above for b in below)
    graph.add_edges_from((b, f"y{i}") for b in below for i in range(16))
    sampled = sample_matrix(np.random.default_rng(0), graph, 3)
    np.testing.assert_array_equal(sampled.y, 256)


def test_probability_out_of_range():
    with pytest.raises(InputError, match=r"p must be a number .* got 1\.5"):
        sample_matrix(np.random.default_rng(0), paper_graph(), 3, p=1.5)
