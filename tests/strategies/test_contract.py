"""What every strategy of the registry keeps, whoever adds one."""

import functools
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import rinn
from networks import small_data, small_problem
from rinn.config import RunSettings
from rinn.errors import InputError
from rinn.fit import fit_run
from rinn.graphs.basics import ROLES, by_role
from rinn.graphs.files import load_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.runs.score import score_path
from rinn.simulate.datasets import make_dataset
from rinn.simulate.writing import write_simulation
from rinn.strategies import STRATEGIES as REGISTERED
from rinn.strategies import find_strategy, plan_trials
from rinn.strategies.base import Networks

STRATEGIES = {name: one for name, one in REGISTERED.items() if one.is_installed}
NETWORKS = [name for name, strategy in STRATEGIES.items() if isinstance(strategy, Networks)]
OTHERS = [name for name in STRATEGIES if name not in NETWORKS]
AUTOENCODERS = [name for name in NETWORKS if STRATEGIES[name].is_autoencoder]
ESTIMATORS = (rinn.RINN, rinn.DNN, rinn.DBN, rinn.ESC, rinn.DM, rinn.Regression)


def make_small(strategy):
    """Settings that train a few networks, where the strategy has any."""
    small = {"trials": 4, "epochs": 3, "bootstraps": 3} if strategy in NETWORKS else {}
    is_optional = strategy in NETWORKS and STRATEGIES[strategy].is_optional
    return small | ({"effects": "corrected"} if is_optional else {})


def tiny(strategy, **changes):
    return RunSettings(strategy=strategy, **make_small(strategy) | changes)


def small_simulation():
    return make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)


@functools.cache
def fit_small(strategy, binary):
    """A small fit, made once."""
    return fit_data(small_data(binary=binary), tiny(strategy), find_devices("cpu"))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_simulation(small_simulation(), folder)
    return folder


@pytest.mark.parametrize("strategy", NETWORKS)
def test_trials_are_numbered_and_keep_the_splits_of_a_setting_together(strategy):
    trials = plan_trials(tiny(strategy, trials=6), small_problem())
    assert [trial.number for trial in trials] == list(range(6))
    splits = len({trial.split for trial in trials})
    assert [trial.setting for trial in trials] == [number // splits for number in range(6)]
    assert {trial.net.epochs for trial in trials} == {3}


@pytest.mark.parametrize("strategy", NETWORKS)
@pytest.mark.parametrize("budget", ["default", "paper"])
def test_the_seed_decides_the_plan(strategy, budget):
    problem = small_problem()
    plans = [
        plan_trials(RunSettings(strategy=strategy, budget=budget, seed=seed), problem)
        for seed in (0, 0, 1)
    ]
    assert plans[0] == plans[1] != plans[2]


@pytest.mark.parametrize("strategy", NETWORKS)
def test_fewer_trials_are_the_first_of_more(strategy):
    few, more = (plan_trials(tiny(strategy, trials=n), small_problem()) for n in (4, 7))
    assert more[:4] == few


@pytest.mark.parametrize("strategy", NETWORKS)
def test_more_trials_than_the_paper_has(strategy):
    settings = RunSettings(strategy=strategy, budget="paper", trials=5000)
    with pytest.raises(InputError, match=r"trials must be at most \d+ for the budget 'paper'"):
        plan_trials(settings, small_problem())


@pytest.mark.parametrize(
    ("strategy", "few", "many"),
    [("rinn", 440, 540), ("dnn", 732, 832), ("dbn", 940, 1040), ("esc", 500, 500)],
)
def test_the_paper_s_numbers_of_settings(strategy, few, many):
    settings = RunSettings(strategy=strategy, budget="paper")
    for inputs, number in ((4, few), (101, many)):
        problem = small_problem(inputs=inputs)
        trials = plan_trials(settings, problem)
        assert len({trial.setting for trial in trials}) == number


@pytest.mark.parametrize("strategy", ["rinn", "dnn", "dbn"])
def test_the_paper_s_rates_follow_the_number_of_outputs(strategy):
    settings = RunSettings(strategy=strategy, budget="paper", trials=40)
    few, many = (plan_trials(settings, small_problem(outputs=n)) for n in (16, 64))
    for one, other in zip(few, many, strict=True):
        assert other.net.l1 == pytest.approx(one.net.l1 / 4)


@pytest.mark.parametrize("binary", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_a_graph_comes_out_of_the_data_s_columns(strategy, binary):
    data, fit = small_data(binary=binary), fit_small(strategy, binary)
    graph = fit.latent.graph
    assert tuple(by_role(graph, "input")) == data.inputs
    assert tuple(by_role(graph, "output")) == data.outputs
    assert set(nx.get_node_attributes(graph, "role").values()) <= set(ROLES)
    assert all({"weight", "frequency"} <= set(about) for _, _, about in graph.edges(data=True))
    assert fit.trials["kept"].any()


@pytest.mark.parametrize("strategy", NETWORKS)
def test_networks_are_measured_alike(strategy):
    fit = fit_small(strategy, True)
    for net in fit.nets:
        assert net.l1_norm == pytest.approx(sum(np.abs(part).sum() for part in net.weights[:3]))
        assert net.validation_loss > 0
        assert net.epochs <= 3
    assert len(fit.test.error) == len(fit.kept)
    assert len(fit.paper_test.error) == len(fit.paper_nets)
    assert (fit.refit is None) == (fit.comparison is None) == (strategy in AUTOENCODERS)


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_the_same_run_twice(strategy):
    data = small_data(binary=True)
    before = data.x.copy(), data.y.copy()
    first, second = fit_small(strategy, True), fit_data(data, tiny(strategy), find_devices("cpu"))
    np.testing.assert_array_equal(data.x, before[0])
    np.testing.assert_array_equal(data.y, before[1])
    pd.testing.assert_frame_equal(first.trials, second.trials)
    assert nx.utils.graphs_equal(first.latent.graph, second.latent.graph)


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_a_run_folder_is_complete_and_can_be_scored(strategy, dataset, tmp_path):
    x, y, truth = (dataset / name for name in ("x.csv", "y.csv", "truth.json"))
    out = tmp_path / "run"
    fit_run(x, y, out, tiny(strategy), device="cpu", truth_path=truth, quiet=True)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    names = {"trials.csv", "weights.safetensors", "graph.json", "graph.graphml", "edges.csv"}
    assert names | {"report.html", "scores.json"} <= {path.name for path in out.iterdir()}
    load_graph(out / "graph.json")
    scores = score_path(out, truth)
    assert scores == manifest["scores"]
    assert (scores["paper"]["input"] is None) == (strategy in AUTOENCODERS)
    assert ("test" not in manifest) == (strategy in OTHERS)
    page = (out / "report.html").read_text()
    assert "How to read this page" in page
    before = (out / "manifest.json").read_bytes()
    fit_run(x, y, out, tiny(strategy), device="cpu", truth_path=truth, quiet=True)
    assert (out / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "dm"])
def test_alphas_belong_to_dm(strategy):
    with pytest.raises(InputError, match="alpha_pc must be given with the strategy dm only"):
        find_strategy(RunSettings(strategy=strategy, alpha_pc=0.01))


@pytest.mark.parametrize("strategy", list(REGISTERED))
def test_a_comparison_can_say_what_it_assumes(strategy):
    about = REGISTERED[strategy]
    assert about.assumes
    assert about.setup
    assert about.suits or strategy == "rinn"
    assert not about.refuses or strategy != "rinn"


@pytest.mark.parametrize("strategy", OTHERS)
def test_strategy_without_networks_trains_nothing(strategy):
    with pytest.raises(InputError, match=f"epochs must not be given with the strategy {strategy}"):
        fit_data(small_data(), RunSettings(strategy=strategy, epochs=3), ())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_fit_by_their_strategy(estimator):
    strategy = estimator.__name__.lower()
    data = small_simulation()
    small = make_small(strategy) | ({"device": "cpu"} if strategy in NETWORKS else {})
    model = estimator(**small)
    assert model.get_params().items() >= small.items()
    assert model.fit(data.x, data.y) is model
    assert tuple(by_role(model.graph_, "input")) == tuple(data.x.columns)
    assert model.latents_ == by_role(model.graph_, "latent")
    assert model.trials_["kept"].any()
    if strategy in (*AUTOENCODERS, *OTHERS):
        for ask in (model.predict, model.transform):
            with pytest.raises(InputError, match="must be called on RINN, DNN or ESC"):
                ask(data.x)
    else:
        assert model.predict(data.x).shape == (200, 6)
        assert model.transform(data.x).shape == (200, len(model.latents_))
