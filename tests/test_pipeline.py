import dataclasses

import jax
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from networks import small_data, small_problem
from rinn.config import NetSettings, RunSettings, Trial
from rinn.data.align import as_data
from rinn.errors import InputError, TrainingError
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import find_activities, map_trained, predict_samples, score_test, view_net
from rinn.nets.redundant import draw_weights
from rinn.pipeline import conclude, fit_data, plan_run, tabulate_trials
from rinn.runs.score import check_truth, score_nets
from rinn.simulate.datasets import make_dataset


def a_net(problem, loss=0.5, number=0, seed=0):
    weights = draw_weights(np.random.default_rng(seed), "he", 3, 4, len(problem.x), len(problem.y))
    settings = NetSettings(width=4, layers=3, seed=seed)
    return TrainedNet(Trial(number, number, 0, settings), weights, "converged", 9, 0.1, loss, 0.3)


@pytest.mark.parametrize("binary", [False, True])
def test_test_scores_are_in_the_users_units(binary):
    data = small_data(binary=binary)
    problem = small_problem(binary=binary)
    net = a_net(problem)
    (predicted,) = predict_samples([net], problem.x[:, problem.test], problem.likelihood)
    y = data.y[problem.test]
    scores = score_test([net], problem)
    if binary:
        bce = -np.mean(y * np.log(predicted) + (1 - y) * np.log(1 - predicted))
        assert scores.error[0] == pytest.approx(bce, rel=1e-4)
        assert 0 <= scores.auroc[0] <= 1
    else:
        assert scores.error[0] == pytest.approx(np.mean((predicted - y) ** 2), rel=1e-4)
        assert scores.auroc is None


def test_spread_of_the_nodes_leaves_the_test_set_out():
    problem = small_problem()
    net = a_net(problem)
    rows = np.setdiff1d(np.arange(problem.x.shape[1]), problem.test)
    spread = find_activities(net, problem.x[:, rows]).std(axis=2)
    np.testing.assert_allclose(view_net(net, problem).spread, spread, rtol=1e-5)


def test_all_networks_diverged():
    problem = small_problem()
    with pytest.raises(TrainingError, match="none of the 2 networks can be kept"):
        conclude(plan_run(small_data(), RunSettings()), [a_net(problem, np.nan, n) for n in (0, 1)])


def test_truth_of_other_tables():
    truth = nx.DiGraph()
    truth.add_node("gene", role="input")
    truth.add_node("y0", role="output")
    with pytest.raises(InputError, match="none of its inputs \\('gene'\\) is a column"):
        check_truth(truth, ["x0"], ["y0"])


def test_table_of_trials():
    problem = small_problem()
    nets = [a_net(problem, 0.3, 1, seed=1), a_net(problem, 0.5, 0)]
    fit = conclude(plan_run(small_data(), RunSettings(keep=1)), nets)
    table = tabulate_trials(nets, fit.nearest, fit.chosen)
    pd.testing.assert_frame_equal(table, fit.trials)
    assert table["trial"].tolist() == [0, 1]
    assert table["kept"].tolist() == [False, True]
    assert table["nearest"].tolist() == [False, True]  # the other lies beyond a quantile
    fields = {field.name for field in dataclasses.fields(NetSettings)}
    assert fields - {"epochs"} <= set(table.columns)
    assert table["sum_abs_weights"].tolist() == [nets[1].l1_norm, nets[0].l1_norm]


@pytest.mark.usefixtures("deep_networks")
@pytest.mark.slow
def test_recovery_of_the_whole_graph_on_noise_free_data():
    """Thirty small networks find the seven latents of the paper's graph, and no other."""
    simulation = make_dataset("matrix", samples=1000, seed=5)
    data = as_data(simulation.x, simulation.y)
    settings = RunSettings(trials=32, epochs=150, effects="corrected", bootstraps=5)
    fit = fit_data(data, settings, jax.devices("cpu"))
    maps = [map_trained(net) for net in fit.paper_nets]
    paper, graph = score_nets(maps, fit.latent.graph, simulation.truth, data.inputs, data.outputs)
    assert paper.input.mean["f1"] >= 0.95
    assert paper.hidden.mean["f1"] >= 0.6
    assert graph.latents.f1 == 1.0
    assert graph.edges.f1 >= 0.95
    assert graph.order_errors == 0
    assert fit.comparison.is_adequate
