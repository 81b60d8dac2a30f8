"""Screening of wide tables: what acts is kept, what does not is left out, on linked inputs too."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn import RINN
from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.fit import fit_run
from rinn.graphs.basics import by_role
from rinn.graphs.files import write_graph
from rinn.pipeline import fit_data, plan_run
from rinn.refit.samples import take_samples
from rinn.runs.model import load_model
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.prior.statements import Statement
from rinn.structure.screen import find_passing, screen

SETTINGS = RunSettings(bootstraps=0)


def make_wide(samples=600, inputs=400, outputs=250, latents=3, seed=0):
    """Inputs 4k to 4k + 3 act on latent k, and it on outputs 5k to 5k + 4."""
    rng = np.random.default_rng(seed)
    x = (rng.random((samples, inputs)) < 0.3).astype(float)
    y = rng.normal(size=(samples, outputs))
    for k in range(latents):
        y[:, 5 * k : 5 * k + 5] += x[:, 4 * k : 4 * k + 4].sum(axis=1, keepdims=True)
    names = (
        tuple(f"{letter}{i}" for i in range(n)) for letter, n in (("x", inputs), ("y", outputs))
    )
    return Data(x, y, *names)


def permute(data):
    return replace(data, y=np.random.default_rng(1).permutation(data.y))


def screen_columns(data):
    """The indices of the columns that are kept, and the largest |t| of each input."""
    kept = screen(data, make_problem(data))
    indices = [int(name[1:]) for name in kept.inputs], [int(name[1:]) for name in kept.outputs]
    return *indices, kept.screening.input_t


def test_columns_that_act_are_kept_and_few_others():
    inputs, outputs, _ = screen_columns(make_wide())
    assert set(range(12)) <= set(inputs)
    assert len(inputs) < 18
    assert set(range(15)) <= set(outputs)
    assert len(outputs) < 20


def test_the_graph_of_a_wide_table_has_the_kept_columns_and_the_true_edges():
    data = make_wide()
    fit = fit_data(data, SETTINGS, (), refit=False)
    graph = fit.latent.graph
    latents = [name for name, role in graph.nodes(data="role") if role == "latent"]
    edges = {
        (frozenset(graph.predecessors(name)), frozenset(graph.successors(name))) for name in latents
    }
    assert edges == {
        (
            frozenset(f"x{i}" for i in range(4 * k, 4 * k + 4)),
            frozenset(f"y{o}" for o in range(5 * k, 5 * k + 5)),
        )
        for k in range(3)
    }
    assert fit.data.screening.inputs == data.inputs
    assert len(fit.data.inputs) < 18
    assert fit.effects.z.shape == (len(fit.data.inputs), len(fit.data.outputs))


@pytest.mark.parametrize("samples", [200, 600])
def test_noise_gives_no_edge(samples):
    fit = fit_data(permute(make_wide(samples)), SETTINGS, (), refit=False)
    assert fit.latent.graph.number_of_edges() == 0


def test_the_test_of_fit_is_not_misled_by_the_screening():
    p = [fit_data(make_wide(seed=s), SETTINGS, (), refit=False).latent.fit["p"] for s in range(4)]
    assert min(p) > 0.01
    assert fit_data(permute(make_wide()), SETTINGS, (), refit=False).latent.fit is None


def test_of_linked_inputs_one_is_kept():
    rng = np.random.default_rng(2)
    x = np.empty((800, 300))
    x[:, 0] = rng.random(800) < 0.5
    for i in range(1, 300):
        x[:, i] = np.where(rng.random(800) < 0.02, 1 - x[:, i - 1], x[:, i - 1])
    y = rng.normal(size=(800, 10))
    y[:, :5] += 2 * x[:, [50]]
    names = (tuple(f"{letter}{i}" for i in range(n)) for letter, n in (("x", 300), ("y", 10)))
    inputs, _, t = screen_columns(Data(x, y, *names))
    assert (t > 10).sum() > 20  # many neighbours are associated
    strongest = [i for i in inputs if t[i] > 10]
    assert len(strongest) <= 3
    assert any(abs(i - 50) <= 1 for i in strongest)


def test_many_outputs_are_screened_and_few_inputs_all_kept():
    data = make_wide(inputs=20)
    plan = plan_run(data, SETTINGS)
    assert plan.data.inputs == data.inputs
    assert set(data.outputs[:15]) <= set(plan.data.outputs)
    assert len(plan.data.outputs) < 25


def test_few_columns_are_not_screened():
    data = make_wide(inputs=100, outputs=200)
    plan = plan_run(data, SETTINGS)
    assert plan.data is data
    assert plan.problem.tested == (0, 0)


def test_columns_that_statements_name_are_kept():
    known = PriorKnowledge(statements=(Statement("must", "x399", "y249"),))
    plan = plan_run(make_wide(), SETTINGS, known)
    assert "x399" in plan.data.inputs
    assert "y249" in plan.data.outputs


def test_near_copies_of_a_named_input_are_left_out():
    rng = np.random.default_rng(3)
    data = make_wide(outputs=20)
    x = data.x.copy()
    for i, flipped in ((100, 0.02), (101, 0.02), (102, 0.2)):
        x[:, i] = np.where(rng.random(600) < flipped, 1 - x[:, 0], x[:, 0])
    data = replace(data, x=x)
    problem = make_problem(data)
    named = screen(data, problem, {"x0"})
    assert "x0" in named.inputs
    assert not {"x100", "x101", "x102"} & set(named.inputs)
    # Where the named column is a poor copy, the cause is kept beside it.
    assert {"x0", "x102"} <= set(screen(data, problem, {"x102"}).inputs)


def test_networks_that_are_asked_for_read_all_inputs():
    data = make_wide(samples=1500)
    plan = plan_run(data, replace(SETTINGS, effects="corrected", trials=16))
    assert plan.data is data
    assert plan.trials


def test_gaps_and_test_samples_are_not_looked_at():
    data = make_wide()
    problem = make_problem(data)
    hidden = data.y.copy()
    hidden[problem.test] = 1e3 * data.x[problem.test][:, [50]]  # would look like an effect
    hidden[problem.seen[:30], 0] = np.nan
    inputs, *_ = screen_columns(replace(data, y=hidden))
    assert 50 not in inputs
    assert set(range(12)) <= set(inputs)


def test_an_input_with_many_small_effects_passes():
    owners, p = np.repeat([3, 7], [50, 1]), np.full(51, 5e-4)
    assert find_passing(owners, p, 10, 100).tolist() == [3]


def test_a_wide_table_with_one_output():
    data = make_wide()
    data = replace(data, y=data.y[:, :1], outputs=data.outputs[:1])
    graph = fit_data(data, SETTINGS, (), refit=False).latent.graph
    assert set(graph.edges) == {(f"x{i}", "y0") for i in range(4)}


def test_the_graph_has_all_columns_as_nodes():
    data = make_wide()
    graph = fit_data(data, SETTINGS, (), refit=False).latent.graph
    assert by_role(graph, "input") == list(data.inputs)
    assert by_role(graph, "output") == list(data.outputs)


def test_gene_sets_are_resolved_by_all_columns():
    names = tuple(f"G{i}" for i in range(400))
    data = make_wide()
    data = as_data(pd.DataFrame(data.x, columns=names), pd.DataFrame(data.y, columns=names[:250]))
    sets = {"A": frozenset(names[:4]), "large": frozenset(names[:230])}
    known = PriorKnowledge(sets=sets)
    plan = plan_run(data, SETTINGS, known)
    rows = [plan.data.inputs.index(f"G{i}_x") for i in range(4)]
    pairs = plan.prior.prior.input_pairs
    assert (pairs[np.ix_(rows, rows)] > 0).sum() == 12
    assert (pairs > 0).sum() == 12  # not those of the set with more than half of the inputs
    assert plan_run(permute(data), SETTINGS, known).prior is not None


def test_files_of_a_wide_run(tmp_path):
    data = make_wide()
    for name, values, columns in (("x", data.x, data.inputs), ("y", data.y, data.outputs)):
        frame = pd.DataFrame(values, columns=[f"G{column[1:]}" for column in columns])
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    truth = nx.DiGraph()
    truth.add_nodes_from((f"G{i}_x" if i < 250 else f"G{i}" for i in range(400)), role="input")
    truth.add_nodes_from((f"G{i}_y" for i in range(250)), role="output")
    truth.add_nodes_from(("h", "missed"), role="latent")
    truth.add_edges_from([*((f"G{i}_x", "h") for i in range(4)), ("G200_x", "missed")])
    truth.add_edges_from([*(("h", f"G{o}_y") for o in range(5)), ("missed", "G240_y")])
    truth.add_edge("missed", "G241_y")
    write_graph(truth, tmp_path / "truth.json")
    paths = tmp_path / "x.csv", tmp_path / "y.csv", tmp_path / "run"
    run = fit_run(*paths, SETTINGS, truth_path=tmp_path / "truth.json", device="cpu", quiet=True)
    assert run.scores["paper"]["hidden"]["recall"] == 0.5
    table = pd.read_csv(tmp_path / "run" / "screening.csv")
    assert table["kept"].sum() == len(run.inputs) + len(run.outputs)
    assert len(table) == 650
    model = load_model(tmp_path / "run")
    assert len(take_samples(model, tmp_path / "x.csv").x) == len(run.inputs)
    estimator = RINN(bootstraps=0, device="cpu").fit(data.x, data.y)
    assert estimator.predict(data.x).shape == data.y.shape
