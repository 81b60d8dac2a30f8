import json

import networkx as nx
import numpy as np
import pytest

from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.refit import packing
from rinn.refit.compare import compare_losses, compare_networks, compare_regression
from rinn.refit.effects import measure_edges, measure_latents, orient
from rinn.refit.fit import _train, run_levels
from rinn.refit.model import GraphModel, NodeFunction, find_parents, rescale, run_model, standardise
from rinn.refit.packing import lay_out, pack, unpack
from rinn.refit.refit import Refit, refit_graph
from rinn.refit.starts import fit_quadratics, perturb
from tiny_graphs import make_graph

INPUTS, OUTPUTS = ("x0", "x1", "x2", "x3"), ("y0", "y1", "y2", "y3")
LATENTS = ("h1", "h2")
EDGES = (
    *[("x0", "h1"), ("x1", "h1"), ("h1", "h2"), ("x2", "h2")],
    *[("h1", "y0"), ("h1", "y1"), ("h2", "y2"), ("h2", "y3")],
)
NOISE = 0.5


def linear_truth(samples=1200):
    """x0 and x1 lower h1, x2 raises h2 and h1 lowers it; x3 does nothing."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(samples, 4))
    h1 = -x[:, 0] - 0.8 * x[:, 1]
    h2 = x[:, 2] - 0.7 * h1
    mean = np.stack([h1, 0.9 * h1, h2, 1.1 * h2], axis=1)
    y = mean + NOISE * rng.normal(size=mean.shape)
    return Data(x, y, INPUTS, OUTPUTS), mean


def graph_of(*, add=(), drop=()):
    edges = [edge for edge in EDGES if edge not in drop]
    return make_graph([*edges, *add], LATENTS, INPUTS, OUTPUTS)


def refit(graph, problem, **changes):
    return refit_graph(graph, problem, INPUTS, OUTPUTS, **changes)


@pytest.fixture(scope="module")
def problem():
    return make_problem(linear_truth()[0])


@pytest.fixture(scope="module")
def found(problem):
    return refit(graph_of(add=[("x3", "h1")]), problem)


@pytest.fixture(scope="module")
def oracle(problem):
    """Losses of the test samples by a network that knows everything but the noise."""
    data, mean = linear_truth()
    errors = ((data.y - mean) / problem.y_scale.std) ** 2
    return errors.mean(axis=1)[problem.test]


def edge(found, source, target):
    return next(e for e in found.edges if (e.source, e.target) == (source, target))


def test_the_true_graph_carries_linear_data(problem, oracle):
    compared = compare_losses(refit(graph_of(), problem), oracle)
    assert compared.difference < 0.02
    assert compared.free_loss == pytest.approx(oracle.mean())


@pytest.mark.parametrize("gate", ["xor", "and", "product"])
def test_the_true_graph_carries_curved_data(gate):
    rng = np.random.default_rng(1)
    x = (rng.random((1500, 4)) < 0.4).astype(float)
    active = {"xor": x[:, 0] != x[:, 1], "and": (x[:, 0] * x[:, 1]) > 0}
    chance = 0.1 + 0.8 * active.get(gate, x[:, 0] > 0)[:, None] * np.ones(4)
    y = (rng.random((1500, 4)) < chance).astype(float)
    best = -np.mean(y * np.log(chance) + (1 - y) * np.log(1 - chance), axis=1)
    if gate == "product":
        x = rng.normal(size=(1500, 4))
        mean = (x[:, 0] * x[:, 1])[:, None] * np.array([1.0, -1.0, 2.0, 0.5])
        y = mean + NOISE * rng.normal(size=mean.shape)
        best = np.mean((NOISE / y.std(axis=0)) ** 2) * np.ones(1500)
    problem = make_problem(Data(x, y, INPUTS, OUTPUTS))
    edges = [("x0", "h"), ("x1", "h"), *(("h", name) for name in OUTPUTS)]
    found = refit(make_graph(edges, ["h"], INPUTS, OUTPUTS), problem)
    assert found.loss == ("mse" if gate == "product" else "bce")
    assert np.mean(found.validation_loss) < best.mean() + 0.05
    assert compare_losses(found, best[problem.test]).difference < 0.05


def test_a_missing_edge_is_reported(problem, found):
    poor = refit(graph_of(drop=[("x1", "h1")]), problem)
    compared = compare_losses(poor, found.test_losses)
    assert compared.difference > 5 * compared.error
    assert not compared.is_adequate
    assert "worse than the best free network" in compared.sentence


def test_a_useless_edge_is_worth_nothing(found):
    useless, needed = edge(found, "x3", "h1"), edge(found, "x1", "h1")
    assert abs(useless.loss_without) < max(4 * useless.error, 0.002)
    assert abs(useless.effect) < 0.1
    assert needed.loss_without > 10 * needed.error > 0


def test_latents_are_worth_what_their_children_lose(found):
    rises = {latent.latent: latent.loss_without for latent in found.latents}
    assert list(rises) == ["h1", "h2"]
    assert rises["h1"] > rises["h2"] > 0.2
    assert all(latent.loss_without > 5 * latent.error > 0 for latent in found.latents)


def test_effects_have_the_signs_and_sizes_of_the_truth(found):
    for target in ("y0", "y1"):
        assert edge(found, "h1", target).effect > 1.5
    # h1 and h2 raise their outputs, so what lowers h1 is below zero, whatever its sign was.
    assert edge(found, "x0", "h1").effect < 0 < edge(found, "x2", "h2").effect
    ratio = edge(found, "x1", "h1").effect / edge(found, "x0", "h1").effect
    assert ratio == pytest.approx(0.8, abs=0.08)
    assert edge(found, "h1", "h2").effect == pytest.approx(-1.34, abs=0.15)
    assert all(0 <= e.effect_spread < 0.3 for e in found.edges)


def test_latent_values_are_standardised_and_oriented(problem, found):
    data, mean = linear_truth()
    assert found.latent_values.shape == (len(data.x), 2)
    assert found.latent_values.std(axis=0) == pytest.approx([1, 1], abs=0.05)
    for column, own in enumerate((0, 2)):
        assert np.corrcoef(found.latent_values[:, column], mean[:, own])[0, 1] > 0.99


def test_latents_raise_the_outputs_together(problem, found):
    for model in found.models:
        values = run_model(model, problem.x)
        total = sum(values[name] for name in OUTPUTS[2:])
        assert values["h2"] @ (total - total.mean()) > 0


def test_same_seed_same_numbers_in_any_order_of_nodes(problem):
    graph = graph_of()
    before = nx.to_dict_of_dicts(graph), problem.x.copy()
    turned = nx.DiGraph()
    turned.add_nodes_from(reversed(list(graph.nodes(data=True))))
    turned.add_edges_from(reversed(list(graph.edges)))
    first, second = refit(graph, problem), refit(turned, problem)
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    np.testing.assert_array_equal(first.test_losses, second.test_losses)
    other = refit(graph, problem, seed=1)
    assert other.test_loss != first.test_loss
    assert other.test_loss == pytest.approx(first.test_loss, abs=0.01)
    assert nx.to_dict_of_dicts(graph) == before[0]
    np.testing.assert_array_equal(problem.x, before[1])


def test_graphs_of_one_padded_size_share_a_program(problem):
    refit(graph_of(), problem)
    programs = _train._cache_size()
    refit(graph_of(drop=[("h1", "y1")], add=[("h2", "y1")]), problem)
    assert _train._cache_size() == programs


@pytest.mark.parametrize("outputs", [OUTPUTS, ()])
def test_a_graph_without_edges_predicts_the_mean(problem, outputs):
    found = refit(make_graph([], (), INPUTS, outputs), problem)
    assert found.edges == found.latents == ()
    assert found.latent_values.shape == (len(problem.x[0]), 0)
    for model, split in zip(found.models, problem.splits, strict=True):
        expected = problem.y[:, split.train].mean(axis=1)
        assert model.predict(problem.x)[:, 0] == pytest.approx(expected, abs=0.05)
        assert not any(function.output_weights.any() for function in model.functions.values())


def test_odd_graphs_are_fitted_too(problem):
    edges = [("x0", "h1"), ("h1", "y0"), ("h0", "y1"), ("x2", "h2"), ("x2", "y2"), ("h1", "y2")]
    found = refit(make_graph(edges, ["h0", "h1", "h2"], INPUTS, OUTPUTS), problem)
    assert edge(found, "x2", "y2").loss_without > 0.1
    assert edge(found, "h0", "y1").loss_without == pytest.approx(0, abs=1e-9)
    assert edge(found, "h0", "y1").effect == pytest.approx(0, abs=1e-9)
    rises = {latent.latent: latent.loss_without for latent in found.latents}
    assert rises["h2"] == 0
    assert found.models[0].functions["y3"].parents == ()


def drawn_model(graph, problem):
    parents = find_parents(graph, INPUTS, OUTPUTS)
    guess = fit_quadratics(parents, problem.x, problem.y, INPUTS, OUTPUTS)
    return parents, perturb(np.random.default_rng(0), guess)


@pytest.mark.parametrize("room", [1, 4, 7])
def test_padding_changes_no_value(problem, monkeypatch, room):
    monkeypatch.setattr(packing, "ROOM", room)
    parents, model = drawn_model(graph_of(add=[("x3", "y0"), ("y1", "y0")]), problem)
    layout = lay_out(parents, INPUTS, OUTPUTS)
    packed = pack(layout, model)
    x = np.pad(problem.x, ((0, 1), (0, 0)))
    values = run_levels(packed, layout.sources, layout.outputs, x)
    np.testing.assert_allclose(values, model.predict(problem.x), atol=1e-5)
    again = unpack(layout, packed, parents, INPUTS, OUTPUTS)
    np.testing.assert_allclose(again.predict(problem.x), model.predict(problem.x), atol=1e-5)


def test_padding_changes_no_training(problem, monkeypatch):
    usual = refit(graph_of(), problem)
    monkeypatch.setattr(packing, "ROOM", 1)
    tight = refit(graph_of(), problem)
    np.testing.assert_allclose(tight.test_losses, usual.test_losses, atol=0.02)
    assert tight.test_loss == pytest.approx(usual.test_loss, abs=1e-3)


def test_other_units_are_the_same_model(problem):
    _, model = drawn_model(graph_of(), problem)
    turned = rescale(model, {"h1": (0.3, -2.0), "x0": (1.0, 0.5)})
    x = problem.x.copy()
    x[0] = (x[0] - 1.0) / 0.5
    np.testing.assert_allclose(turned.predict(x), model.predict(problem.x), atol=1e-5)
    standard = standardise(model, problem.x)
    values = run_model(standard, problem.x)
    assert [values[name].mean() for name in LATENTS] == pytest.approx([0, 0], abs=1e-9)
    assert [values[name].std() for name in LATENTS] == pytest.approx([1, 1])
    np.testing.assert_allclose(standard.predict(problem.x), model.predict(problem.x), atol=1e-9)


def test_effects_of_a_model_worked_out_by_hand():
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(size=400), rng.random(400) < 0.5], axis=1)
    problem = make_problem(Data(x, rng.normal(size=(400, 1)), ("x0", "x1"), ("y0",)))

    def line(parents, weights):
        none = np.zeros(0)
        return NodeFunction(
            parents, 0.0, np.array(weights), none, np.zeros((0, len(parents))), none
        )

    functions = {"h": line(("x0",), [-1.0]), "y0": line(("x1", "h"), [0.5, 2.0])}
    model = GraphModel(("x0", "x1"), ("y0",), functions)
    exact = problem.y.copy()
    exact[:] = model.predict(problem.x)
    problem = type(problem)(**(vars(problem) | {"y": exact}))
    edges = {(e.source, e.target): e for e in measure_edges((model, model), problem)}
    spread = problem.x[0, problem.seen].std()
    assert edges["x0", "h"].effect == pytest.approx(-2 * spread)
    assert edges["x1", "y0"].effect == pytest.approx(0.5)
    assert edges["h", "y0"].effect == pytest.approx(4 * spread)
    assert {e.effect_spread for e in edges.values()} == {0.0}
    # Where predictions are exact, what a parent at its mean costs is its variance times w squared.
    held = [problem.x[0, s.validation] - problem.x[0, s.train].mean() for s in problem.splits]
    lost = [4 * np.mean(part.astype(float) ** 2) for part in held]
    assert edges["h", "y0"].loss_without == pytest.approx(np.mean(lost), rel=1e-4)
    errors = [4 * np.std(part.astype(float) ** 2, ddof=1) / np.sqrt(len(part)) for part in held]
    assert edges["h", "y0"].error == pytest.approx(np.hypot(*errors) / 2, rel=1e-3)
    (latent,) = measure_latents((model, model), problem)
    assert latent.loss_without == pytest.approx(edges["h", "y0"].loss_without)
    assert latent.effects == {"y0": edges["h", "y0"].effect}


def test_a_latent_is_turned_by_its_net_effects():
    """h1 raises y0 by its own edge and lowers it more by way of h2; y1 it does not reach."""
    data, _ = linear_truth(200)
    problem = make_problem(data)
    lines = {
        "h1": {"x0": 1.0},
        "h2": {"h1": -1.0},
        "y0": {"h1": 1.0, "h2": 3.0},
        "y1": {"x1": 1.0},
        "y2": {"h2": 0.5},
        "y3": {"x2": 1.0},
    }
    none = np.zeros(0)
    functions = {
        name: NodeFunction(
            tuple(own), 0.0, np.array([*own.values()]), none, np.zeros((0, len(own))), none
        )
        for name, own in lines.items()
    }
    model = standardise(GraphModel(INPUTS, OUTPUTS, functions), problem.x)
    models = orient((model, rescale(model, {"h2": (0.0, -1.0)})), problem)
    first, second = measure_latents(models, problem)
    assert {name: np.sign(effect) for name, effect in first.effects.items()} == {"y0": 1, "y2": 1}
    assert first.effects["y0"] == pytest.approx(4 * problem.x[0, problem.seen].std(), rel=0.02)
    weights = {(e.source, e.target): e.effect for e in measure_edges(models, problem)}
    assert weights["x0", "h1"] < 0
    assert weights["h1", "y0"] < 0 < weights["h2", "y0"]
    assert weights["h1", "h2"] > 0
    assert second.effects == {"y0": weights["h2", "y0"], "y2": weights["h2", "y2"]}


def test_trained_latents_have_the_effects_of_their_edges(found):
    h1, h2 = found.latents
    assert h1.effects["y0"] == edge(found, "h1", "y0").effect
    assert h2.effects["y3"] == edge(found, "h2", "y3").effect
    through = edge(found, "h1", "h2").effect * edge(found, "h2", "y3").effect
    assert np.sign(h1.effects["y3"]) == np.sign(through)


@pytest.mark.parametrize(
    ("shift", "words", "carries"),
    [(0.0, "as well as", True), (1.0, "better than", True), (-1.0, "worse than", False)],
)
def test_the_sentence_says_who_predicts_better(shift, words, carries):
    rng = np.random.default_rng(0)
    ours = rng.random((2, 50))
    empty = Refit("mse", (), (), ours, (), (), np.zeros((50, 0)))
    noise = rng.normal(size=50)
    theirs = ours.mean(axis=0) + 0.1 * (noise - noise.mean()) + shift
    compared = compare_losses(empty, theirs)
    assert compared.is_adequate is carries
    assert compared.sentence.startswith(f"The graph's network predicts held-out samples {words}")
    assert f"(loss {ours.mean():.4f} against {theirs.mean():.4f}, " in compared.sentence
    assert ("misses" in compared.sentence) is not carries
    both = compare_losses(empty, np.stack([theirs, theirs]))
    assert both == compared


def test_what_is_exported_predicts_the_same(problem, found):
    (first, _) = json.loads(json.dumps(found.to_json()))["models"]
    functions = {
        name: NodeFunction(
            tuple(own.pop("parents")),
            own.pop("bias"),
            **{key: np.array(value) for key, value in own.items()},
        )
        for name, own in first.items()
    }
    model = GraphModel(INPUTS, OUTPUTS, functions)
    x = problem.x[:, problem.test]
    np.testing.assert_array_equal(model.predict(x), found.models[0].predict(x))
    losses = np.mean((model.predict(x) - problem.y[:, problem.test]) ** 2, axis=0)
    np.testing.assert_allclose(losses, found.test_losses[0], rtol=1e-6)


def test_refusals(problem, found):
    with pytest.raises(InputError, match="inputs must name the 4 columns, got 1 names"):
        refit_graph(graph_of(), problem, ["x0"], OUTPUTS)
    with pytest.raises(InputError, match="every input of the graph must be a column"):
        refit(graph_of(add=[("x9", "h1")]), problem)
    with pytest.raises(InputError, match="a latent must not have the name of a column, got 'y3'"):
        refit(make_graph([("x0", "y3")], ["y3"]), problem)
    with pytest.raises(InputError, match="must have no cycle"):
        refit(graph_of(add=[("h2", "h1")]), problem)
    with pytest.raises(InputError, match="one loss for each of the 120 test samples, got 7"):
        compare_losses(found, np.zeros(7))


def test_baselines_stand_beside_the_graph(problem, found, oracle, monkeypatch):
    """Guessing explains nothing; of linear data a regression explains what the graph explains."""
    compared = compare_networks(found, oracle, problem)
    assert compared.mean_loss == pytest.approx(1.0, abs=0.25)
    assert compared.regression_loss == pytest.approx(compared.graph_loss, abs=0.03)
    assert compared.network_loss == compared.free_loss == pytest.approx(oracle.mean())
    by_regression = compare_regression(found, problem)
    assert by_regression.regression_loss == pytest.approx(compared.regression_loss)
    assert by_regression.mean_loss == pytest.approx(compared.mean_loss)
    assert by_regression.network_loss is None
    monkeypatch.setattr("rinn.refit.compare.MAX_LINEAR", 3)
    assert compare_networks(found, oracle, problem).regression_loss is None
