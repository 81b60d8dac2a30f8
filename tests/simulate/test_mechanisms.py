"""What every mechanism owes: tests that run over the registry by themselves."""

import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.simulate.datasets import MECHANISMS, defaults_of, fill_parameters
from rinn.simulate.graphs import make_random_graph, paper_graph

each = pytest.mark.parametrize("name", MECHANISMS)


def draw(name, samples, graph=None, **more):
    rng = np.random.default_rng(7)
    return MECHANISMS[name](rng, paper_graph() if graph is None else graph, samples, **more)


@each
@pytest.mark.parametrize("block", [1, 7, 100, 1000])
def test_rows_do_not_depend_on_the_block(name, block):
    whole, parts = draw(name, 300), draw(name, 300, block=block)
    np.testing.assert_array_equal(whole.x, parts.x)
    np.testing.assert_array_equal(whole.y, parts.y)


@each
def test_fewer_samples_are_the_first_rows_of_more(name):
    few, many = draw(name, 50), draw(name, 80)
    np.testing.assert_array_equal(few.x, many.x[:50])
    np.testing.assert_array_equal(few.y, many.y[:50])


@each
def test_the_graph_is_left_as_it_was(name):
    graph, same = paper_graph(), paper_graph()
    sampled = draw(name, 3, graph)
    assert nx.utils.graphs_equal(graph, same)
    assert list(sampled.graph.edges) == list(graph.edges)


@each
def test_other_graphs_and_other_depths(name):
    graph = make_random_graph(np.random.default_rng(0), 30, 25, levels=4, latents=8)
    sampled = draw(name, 40, graph)
    assert sampled.x.shape == (40, 30)
    assert sampled.y.shape == (40, 25)


@each
def test_parameters_are_recorded(name):
    assert draw(name, 2).parameters == defaults_of(MECHANISMS[name])


def test_given_parameters_replace_defaults_and_keep_their_order():
    assert list(fill_parameters("or", {"b": 3}, {"a": 1, "b": 2}).items()) == [("a", 1), ("b", 3)]


def test_unknown_parameter_names_the_closest():
    with pytest.raises(InputError, match=r"'nois' is not a parameter of .*'or'.*mean 'noise'"):
        fill_parameters("or", {"nois": 1}, {"noise": 0.1})
