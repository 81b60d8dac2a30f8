"""What every dataset owes: tests that run over the registry by themselves."""

import json
import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.simulate.datasets import ALIASES, DATASETS, make_dataset
from rinn.simulate.graphs import paper_graph

each = pytest.mark.parametrize("name", DATASETS)


@each
def test_tables_match_the_truth(name):
    simulation = make_dataset(name, samples=20)
    roles = nx.get_node_attributes(simulation.truth, "role")
    for table, kind in ((simulation.x, "input"), (simulation.y, "output")):
        known = [node for node, role in roles.items() if role == kind]
        assert list(table.columns[-len(known) :]) == known
        assert len(table.columns) == len(known) or name.startswith("tcga")
        assert len(table) == 20
        assert table.index.name is None
        assert table.columns.name is None
        letter = "f" if name == "gaussian" or (name, kind) == ("cross", "output") else "i"
        assert {dtype.kind for dtype in table.dtypes} == {letter}


@each
def test_same_seed_same_rows(name):
    one, two, other = (make_dataset(name, samples=50, seed=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.x, two.x)
    pd.testing.assert_frame_equal(one.y, two.y)
    assert not np.array_equal(one.x, other.x)


@each
def test_truth_documents_itself(name):
    simulation = make_dataset(name, samples=2, seed=9)
    told = json.loads(json.dumps(nx.node_link_data(simulation.truth, edges="edges")))["graph"]
    assert (told["dataset"], told["seed"]) == (name, 9)
    assert set(told["parameters"]) == set(simulation.parameters)


@each
def test_recorded_parameters_make_the_same_rows(name):
    one = make_dataset(name, samples=10)
    two = make_dataset(name, samples=10, **one.parameters)
    pd.testing.assert_frame_equal(one.y, two.y)


@each
def test_unknown_parameter(name):
    with pytest.raises(InputError, match=f"'nois' is not a parameter of the dataset '{name}'"):
        make_dataset(name, nois=1)


def test_numbers_are_names_too():
    assert list(ALIASES) == ["1", "2", "3", "4", "5", "6"]
    pd.testing.assert_frame_equal(make_dataset(2).x, make_dataset("gaussian").x)
    assert make_dataset("4", samples=2).name == "logic"


def test_datasets_on_the_ground_truth():
    for name in ALIASES.values():
        assert list(make_dataset(name, samples=2).truth.edges) == list(paper_graph().edges)


def test_random_takes_the_parameters_of_its_mechanism():
    simulation = make_dataset("random", samples=9, inputs=20, mechanism="gaussian", noise=(1, 1))
    assert simulation.x.shape == (9, 20)
    assert simulation.parameters["noise"] == (1, 1)
    assert simulation.parameters["mechanism"] == "gaussian"
    with pytest.raises(InputError, match=r"'p' is not a parameter of the dataset 'random'"):
        make_dataset("random", p=0.1)
    with pytest.raises(InputError, match=r"mechanism must be .* got 'orr'; did you mean"):
        make_dataset("random", mechanism="orr")


def test_unknown_name():
    with pytest.raises(InputError, match=r"dataset must be .* got 'gausian'; did you mean"):
        make_dataset("gausian")


def test_samples_and_seed_are_checked():
    with pytest.raises(InputError, match=r"samples must be .* from 1 to \d+, got 0"):
        make_dataset("or", samples=0)
    with pytest.raises(InputError, match=r"seed must be .* of at least 0, got -1"):
        make_dataset("or", seed=-1)


@pytest.mark.parametrize(("name", "limit"), [("matrix", 100), ("logic", 100), ("gaussian", 600)])
def test_a_million_rows_in_bounded_memory(name, limit):
    tracemalloc.start()
    try:
        simulation = make_dataset(name, samples=1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(simulation.y) == 1_000_000
    assert peak < limit * 2**20
