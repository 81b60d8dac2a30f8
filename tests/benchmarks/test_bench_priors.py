import functools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.graphs.basics import reach
from rinn.simulate.datasets import make_dataset
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.records import GraphSettings

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_priors as bench


@pytest.fixture(scope="module")
def true():
    reached = reach(make_dataset("or", samples=50).truth)
    return np.array([[f"y{o}" in reached[f"x{i}"] for o in range(16)] for i in range(16)])


def make(variant, true):
    return bench.make_variant(variant, true, np.random.default_rng(1))


def test_right_knowledge_is_right_and_of_the_share_that_is_said(true):
    prior, told = make("firm", true)
    assert told.sum() == round(0.3 * true.size)
    np.testing.assert_array_equal(prior.order != 0, told)
    np.testing.assert_array_equal(prior.order[told] > 0, true[told])
    soft, same = make("soft", true)
    np.testing.assert_array_equal(same, told)
    np.testing.assert_array_equal(soft.odds, 2 * prior.order)
    pairs = np.argwhere(make("together", true)[0].input_pairs)
    assert len(pairs)
    assert all((true[a] == true[b]).all() for a, b in pairs)


def test_shuffled_knowledge_says_as_much_of_the_same_pairs(true):
    right, told = make("firm", true)
    wrong, same = make("firm, shuffled", true)
    np.testing.assert_array_equal(told, same)
    assert wrong.order.sum() == right.order.sum()
    assert (wrong.order != right.order).any()
    pairs = np.argwhere(make("together, shuffled", true)[0].input_pairs)
    assert len(pairs) == np.count_nonzero(make("together", true)[0].input_pairs)
    assert not any((true[a] == true[b]).all() for a, b in pairs)


@pytest.mark.slow
def test_effects_and_records_are_kept(monkeypatch, tmp_path):
    simulation = make_dataset("or", samples=300, seed=7)
    effects = estimate_effects(make_problem(as_data(simulation.x, simulation.y)))
    bench.save_effects(effects, tmp_path / "or-300-7.npz")
    again = bench.load_effects(tmp_path / "or-300-7.npz")
    np.testing.assert_array_equal(again.z, effects.z)
    np.testing.assert_array_equal(again.moments.effects, effects.moments.effects)
    assert again.sample.owners == effects.sample.owners
    monkeypatch.setattr(bench, "VARIANTS", ("none", "firm"))
    monkeypatch.setattr(bench, "fit_data", None)  # nothing is trained
    quick = functools.partial(learn_graph, settings=GraphSettings(bootstraps=2))
    monkeypatch.setattr(bench, "learn_graph", quick)
    record = bench.measure("or", 300, 7, RunSettings(), tmp_path)
    assert record["scores"]["none"]["latents"] > 0.5
    assert record["scores"]["firm"]["untold"] < 0.2
    assert json.loads((tmp_path / "or-300-7.json").read_text()) == record
    (tmp_path / "or-300-7.npz").unlink()
    assert bench.measure("or", 300, 7, RunSettings(), tmp_path) == record
    console = Console(record=True, width=120)
    bench.show([record], console)
    assert "300 samples, 1 cases" in console.export_text()
