"""A latent has one sign: edges, effects, activity, exports, figures, what-ifs and the report agree.

The sign of a latent is a convention, so that these tests compare two places with each other and
never one place with the simulation.
"""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn import pipeline
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.fit import fit_run
from rinn.graphs.basics import by_role
from rinn.graphs.files import load_graph
from rinn.nets.groups import TrainedNet
from rinn.nets.redundant import draw_weights
from rinn.refit import refit
from rinn.refit.intervene import predict_do
from rinn.refit.model import rescale, standardise
from rinn.refit.samples import Range, RunModel, find_activity
from rinn.refit.starts import fit_quadratics
from rinn.report.html.payload import payload_info
from rinn.report.info import graph_info
from rinn.runs.model import load_model
from rinn.runs.read import load_run
from rinn.runs.write import tabulate_activity
from rinn.simulate.datasets import make_dataset
from rinn.structure.records import LatentGraph

CLEAR = 5  # sampling errors of an effect that has the sign that was measured
SHAPE = {"inputs": 6, "outputs": 8, "latents": 3, "levels": 2}


def simulate(mechanism, seed, samples):
    return make_dataset("random", mechanism=mechanism, seed=seed, samples=samples, **SHAPE)


def start_models(parents, problem, inputs, outputs, *, seed=0, device=None):
    """The models that a refit begins with, which are near the data, with latents of any sign."""
    rng, models = np.random.default_rng(seed), []
    for split in problem.splits:
        x, y = problem.x[:, split.train], problem.y[:, split.train]
        model = standardise(fit_quadratics(parents, x, y, inputs, outputs), x)
        models.append(rescale(model, {name: (0.0, rng.choice([-1, 1])) for name in model.latents}))
    return models


def multiply_path(graph, source, target):
    """The product of the weights along the only path; None where there are several."""
    paths = list(nx.all_simple_edge_paths(graph, source, target))
    return np.prod([graph.edges[e]["weight"] for e in paths[0]]) if len(paths) == 1 else None


def list_reached(graph):
    """Each latent with each output that it reaches."""
    outputs = by_role(graph, "output")
    below = {name: nx.descendants(graph, name) for name in by_role(graph, "latent")}
    return [(latent, o) for latent, reached in below.items() for o in outputs if o in reached]


def find_ranges(own, data):
    """The ranges of inputs and latents, as `load_model` reads them from a run folder."""
    names = [*data.inputs, *(latent.latent for latent in own.latents)]
    found = {}
    for name, values in zip(names, np.hstack([data.x, own.latent_values]).T, strict=True):
        least, most, mean, sd = values.min(), values.max(), values.mean(), values.std()
        found[name] = Range(least, most, mean, max(least, mean - sd), min(most, mean + sd))
    return found


def raise_latent(model, x, latent, **more):
    """What a what-if says each output does, as the latent goes from low to high."""
    low, high = (
        predict_do(model, x, latents={latent: end}, **more).after for end in ("low", "high")
    )
    return dict(zip(model.outputs, high - low, strict=True))


@pytest.fixture(scope="module")
def at_start():
    """Refits that are not trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refit, "refit_models", start_models)
        yield


@pytest.fixture(scope="module", params=["gaussian", "or"])
def refits(request, at_start):
    """Graphs with latents below latents, refitted to data of their own, as a run writes them."""
    found = []
    for seed in range(8):
        simulation = simulate(request.param, seed, 500)
        data = as_data(simulation.x, simulation.y)
        problem = make_problem(data)
        graph = nx.DiGraph()
        graph.add_nodes_from((n, {"role": role}) for n, role in simulation.truth.nodes(data="role"))
        graph.add_edges_from(simulation.truth.edges)
        own = refit.refit_graph(graph, problem, data.inputs, data.outputs)
        graph = pipeline.annotate_latent(LatentGraph(graph, graph), refit=own).graph
        names, scale = (data.inputs, data.outputs), problem.x_scale
        about = own.models, (), scale, find_ranges(own, data)
        model = RunModel(*names, problem.likelihood, *about)
        found.append((graph, own, model, data))
    return found


def test_the_effects_of_a_latent_have_the_signs_of_its_edges(refits):
    deep = 0
    for graph, *_ in refits:
        for latent, output in list_reached(graph):
            effect = graph.nodes[latent]["effects"][output]
            product = multiply_path(graph, latent, output)
            if product is not None:
                assert np.sign(product) == np.sign(effect), (latent, output)
                deep += not graph.has_edge(latent, output)
    assert deep > 5  # through another latent


def test_an_only_edge_is_the_whole_effect(refits):
    for graph, *_ in refits:
        for latent, output in list_reached(graph):
            paths = list(nx.all_simple_paths(graph, latent, output))
            if paths == [[latent, output]]:
                weight = graph.edges[latent, output]["weight"]
                assert graph.nodes[latent]["effects"][output] == weight


def test_latents_have_effects_on_what_they_reach_and_raise_it_in_sum(refits):
    for graph, own, *_ in refits:
        for latent in own.latents:
            effects = graph.nodes[latent.latent]["effects"]
            assert effects == latent.effects
            assert [(latent.latent, o) for o in effects] == [
                pair for pair in list_reached(graph) if pair[0] == latent.latent
            ]
            assert sum(effects.values()) > 0


def test_a_what_if_moves_the_outputs_as_the_effects_say(refits):
    for graph, _, model, data in refits:
        for latent in model.latents:
            moved = raise_latent(model, data.x, latent)
            for output, effect in graph.nodes[latent]["effects"].items():
                assert np.sign(moved[output]) == np.sign(effect), (latent, output)


def test_edges_from_inputs_have_the_sign_of_the_correlation_with_the_activity(refits):
    for graph, own, _, data in refits:
        table = tabulate_activity(data, own)
        for source, target in graph.edges:
            if graph.nodes[source]["role"] == "input":
                column = data.x[:, data.inputs.index(source)]
                r = np.corrcoef(column, table[target])[0, 1]
                assert np.sign(r) == np.sign(graph.edges[source, target]["weight"])


def draw_nets(problem, trials, devices, **rest):
    """Networks as they are before their training."""
    shape = len(problem.x), len(problem.y)
    nets = []
    for trial in trials:
        own = trial.net
        rng = np.random.default_rng(trial.number)
        weights = draw_weights(rng, own.initialiser, own.layers, own.width, *shape)
        nets.append(TrainedNet(trial, weights, "converged", 1, 0.5, 0.5, 0.5))
    return nets


@pytest.fixture(scope="module")
def run(tmp_path_factory, at_start):
    """A run folder without any training: its graph is read from a regression.

    The batch raises the first output and lowers the second, the age the other way round.
    """
    folder = tmp_path_factory.mktemp("signs")
    simulation = simulate("gaussian", 1, 500)
    rng = np.random.default_rng(0)
    beside = pd.DataFrame({"batch": rng.choice(["a", "b"], 500), "age": rng.normal(60, 9, 500)})
    shift = 5 * (beside["batch"] == "b") - (beside["age"] - 60) / 3
    y = simulation.y.add(np.outer(shift, [1, -1] + [0] * 6))
    simulation.x.to_csv(folder / "x.csv", index=False)
    y.to_csv(folder / "y.csv", index=False)
    beside.to_csv(folder / "covariates.csv", index=False)
    settings = RunSettings(trials=2, keep=2, effects="regression")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "run_search", draw_nets)
        paths = folder / "x.csv", folder / "y.csv", folder / "run"
        beside_path = folder / "covariates.csv"
        fit_run(*paths, settings, covariates_path=beside_path, device="cpu", quiet=True)
    return folder / "run"


@pytest.fixture(scope="module")
def graph(run):
    graph = load_graph(run / "graph.json")
    assert any(graph.nodes[s]["role"] == graph.nodes[t]["role"] for s, t in graph.edges)
    return graph


def test_paths_have_the_signs_of_the_measured_effects(run, graph):
    measured = pd.read_csv(run / "effects.csv", index_col=0)
    seen = 0
    for source in by_role(graph, "input"):
        for target in sorted(nx.descendants(graph, source) & set(by_role(graph, "output"))):
            product = multiply_path(graph, source, target)
            if product is not None and abs(measured.loc[source, target]) > CLEAR:
                assert np.sign(product) == np.sign(measured.loc[source, target]), (source, target)
                seen += 1
    assert seen > 8


def test_refit_and_tables_hold_what_the_graph_holds(run, graph):
    written = json.loads((run / "refit.json").read_text())
    table = pd.read_csv(run / "edges.csv").set_index(["source", "target"])
    assert len(written["edges"]) == graph.number_of_edges()
    for edge in written["edges"]:
        ends = edge["source"], edge["target"]
        assert graph.edges[ends]["weight"] == edge["effect"]
        assert table.loc[ends, "weight"] == pytest.approx(edge["effect"])
    for latent in written["latents"]:
        assert graph.nodes[latent["latent"]]["effects"] == latent["effects"]
        assert graph.nodes[latent["latent"]]["loss_without"] == latent["loss_without"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["comparison"]["graph_loss"] == pytest.approx(written["test_loss"])
    other = load_graph(run / "graph.graphml")  # the values of a node are text there
    for name in by_role(graph, "latent"):
        assert other.nodes[name]["effects"] == graph.nodes[name]["effects"]
    assert nx.get_edge_attributes(other, "weight") == nx.get_edge_attributes(graph, "weight")


def test_activity_in_the_folder_is_that_of_the_models(run, graph):
    written = pd.read_csv(run / "activity.csv")
    x = pd.read_csv(run.parent / "x.csv")
    model = load_model(run)
    np.testing.assert_allclose(
        find_activity(model, x)[by_role(graph, "latent")],
        written[by_role(graph, "latent")],
        atol=1e-4,
    )
    beside = pd.read_csv(run.parent / "covariates.csv")
    for latent in model.latents:
        moved = raise_latent(model, x, latent, covariates=beside)
        for output, effect in graph.nodes[latent]["effects"].items():
            assert np.sign(moved[output]) == np.sign(effect)


def test_covariates_do_in_a_what_if_what_their_table_says(run):
    """In the same units; the table is fitted to all samples, the models to those of a split."""
    table = pd.read_csv(run / "covariates.csv").set_index(["covariate", "output"])
    model, x = load_model(run), pd.read_csv(run.parent / "x.csv")
    ages = pd.read_csv(run.parent / "covariates.csv")["age"]

    level, reference = table.loc["batch"].iloc[0][["level", "reference"]]

    def see(batch, age):
        beside = pd.DataFrame({"batch": [batch] * len(x), "age": age})
        return predict_do(model, x, latents={"L1": "high"}, covariates=beside).before

    usual, other = see(reference, ages.mean()), see(level, ages.mean())
    older = see(reference, ages.mean() + ages.std())
    for name, changed in (("batch", other), ("age", older)):
        said = table.loc[name].loc[list(model.outputs)]
        clear = abs(said["coefficient"]) > CLEAR * said["standard_error"]
        assert clear[:2].all()
        signs = np.sign(changed - usual)[clear]
        np.testing.assert_array_equal(signs, np.sign(said["coefficient"][clear]))
        assert (abs(changed - usual - said["coefficient"]) < 3 * said["standard_error"]).all()


def test_figures_and_the_report_colour_edges_alike(run, graph):
    signs = {(e.source, e.target): e.sign for e in graph_info(graph).edges}
    for edge, weight in nx.get_edge_attributes(graph, "weight").items():
        assert signs[edge] == np.sign(weight)


def test_the_card_shows_edges_and_effects_alike(run, graph):
    data = payload_info(load_run(run))
    names = [name for name, *_ in data["nodes"]]
    shown = {}
    for source, target, _, drawn, weight, *_ in data["edges"]:
        if drawn:
            shown[names[source], names[target]] = weight
    assert set(shown) == set(graph.edges)
    for number, about in data["latents"].items():
        effects = dict(zip(data["outputs"], about["effects"], strict=True))
        for output in data["outputs"]:
            if list(nx.all_simple_paths(graph, names[number], output)) == [[names[number], output]]:
                assert shown[names[number], output] == effects[output]


def test_an_inhibitor_of_a_latent_lowers_it_in_every_place(at_start, tmp_path):
    rng = np.random.default_rng(3)
    x = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=["INS", "EGF", "PI3Ki", "MEKi"])
    arms = x["INS"] - x["PI3Ki"], x["EGF"] - x["MEKi"]  # never measured
    y = pd.DataFrame({f"y{n}": 3.0 * arms[n // 3] + rng.normal(size=300) for n in range(6)})
    for name, table in (("x", x), ("y", y)):
        table.to_csv(tmp_path / f"{name}.csv", index_label="sample")
    out = tmp_path / "run"
    settings = RunSettings(bootstraps=2)
    run = fit_run(tmp_path / "x.csv", tmp_path / "y.csv", out, settings, quiet=True)
    edges = pd.read_csv(out / "edges.csv").query("reported").set_index(["source", "target"])
    drawn = {(e.source, e.target): e.weight for e in graph_info(run.graph).edges}
    assert len(by_role(load_graph(out / "graph.json"), "latent")) == 2
    for stimulus, inhibitor in (("INS", "PI3Ki"), ("EGF", "MEKi")):
        (latent,) = edges.loc[stimulus].index
        assert edges.loc[(stimulus, latent), "weight"] > 0
        assert edges.loc[(inhibitor, latent), "weight"] < 0
        assert (edges.loc[latent, "weight"] > 0).all()
        assert drawn[stimulus, latent] > 0 > drawn[inhibitor, latent]
