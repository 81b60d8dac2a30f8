"""Edges from outputs to outputs in everything that reads a graph: files, refit, report, figures."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.cli import run as run_cli
from rinn.config import RunSettings
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.compare import score_graph
from rinn.graphs.export import EXPORTS, export_graph
from rinn.graphs.files import load_graph, write_graph
from rinn.pipeline import plan_run
from rinn.refit.intervene import predict_do
from rinn.refit.refit import refit_graph
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.graph import plot_graph
from rinn.report.html.graph import draw_graph
from rinn.report.html.layout import layout_info
from rinn.report.index import draw_thumbnail
from rinn.report.info import comparison_info, graph_info
from rinn.runs.check import check_file
from rinn.runs.model import load_model
from rinn.structure.prior.sources import load_prior

OUTPUTS = ["u0", "u1", "u2", "u3", "w"]
TRUE = {("a", "u0"), ("b", "u0"), *(("u0", f"u{i}") for i in (1, 2, 3)), ("c", "w")}


def make_tables():
    """Inputs a and b act on u0, and it on u1 to u3; c acts on w alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 3))
    y = 0.7 * rng.normal(size=(800, 5))
    y[:, 0] += x[:, 0] + x[:, 1]
    y[:, 1:4] += y[:, :1] * [-1.0, 0.8, 1.2]
    y[:, 4] += x[:, 2]
    return pd.DataFrame(x, columns=list("abc")), pd.DataFrame(y, columns=OUTPUTS)


def make_truth():
    truth = nx.DiGraph()
    truth.add_nodes_from("abc", role="input")
    truth.add_nodes_from(OUTPUTS, role="output")
    truth.add_edges_from(TRUE)
    return truth


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    x, y = make_tables()
    x.to_csv(folder / "x.csv", index=False)
    y.to_csv(folder / "y.csv", index=False)
    write_graph(make_truth(), folder / "truth.json")
    words = ["fit", folder / "x.csv", folder / "y.csv", "--out", folder / "run", "--output-edges"]
    words += ["--trials", 4, "--epochs", 2, "--device", "cpu", "--bootstraps", 4, "--quiet"]
    assert run_cli([str(word) for word in [*words, "--truth", folder / "truth.json"]]) == 0
    return folder / "run"


def test_the_run_draws_and_scores_them(run):
    graph = load_graph(run / "graph.json")
    assert set(graph.edges) == TRUE
    assert graph.edges["u0", "u1"]["frequency"] == 1.0
    assert graph.edges["u0", "u1"]["weight"] < 0 < graph.edges["u0", "u3"]["weight"]
    table = pd.read_csv(run / "edges.csv").set_index(["source", "target"])
    assert table.loc[("u0", "u2"), "support"] == "effects"
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["settings"]["output_edges"] is True
    assert not any("may cause outputs" in caution for caution in manifest["warnings"])
    scores = score_graph(graph, make_truth())
    assert (scores.edges.f1, scores.shd) == (1.0, 0)


def test_the_report_counts_and_draws_them(run):
    page = (run / "report.html").read_text()
    assert "3 direct edges and 3 edges between outputs" in page
    graph = load_graph(run / "graph.json")
    drawn = str(draw_graph(graph, layout_info(graph), name="graph"))
    assert drawn.count('class="edge ') == len(TRUE)


def test_rinn_check_says_that_a4_is_broken(run):
    found = check_file(run / "graph.json")
    by_name = {one.name: one for one in found.assumptions}
    assert by_name["A4"].status == "broken"
    assert "u0 -> u1" in by_name["A4"].detail


def test_a_graph_is_not_refused_without_the_truth_of_its_edges():
    plain = make_truth()
    plain.remove_edges_from([("u0", "u1")])
    scores = score_graph(plain, make_truth())
    assert (scores.shd, scores.edges.fn, scores.edges.fp) == (1, 1, 0)


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_every_format_writes_them(run, tmp_path, name):
    graph = load_graph(run / "graph.json")
    path = tmp_path / f"graph.{name}"
    export_graph(graph, path, name)
    assert "u3" in path.read_text()
    if name in ("json", "graphml"):
        assert set(load_graph(path).edges) == TRUE


def test_figures_draw_them_as_bows_beside_their_column():
    truth = make_truth()
    part = nx.DiGraph(truth)
    part.remove_edge("u0", "u3")
    pair = comparison_info(part, truth)
    for figure in (plot_graph(graph_info(truth)), plot_comparison(pair)):
        curves = [patch.get_path().vertices for patch in figure.axes[0].patches]
        bows = [points for points in curves if len(points) == 7 and points[0][0] == points[3][0]]
        assert len(bows) == 3
        for points in bows:
            assert points[1][0] < points[0][0]
            assert tuple(points[5]) == tuple(points[3])  # the head is at the end
    assert "6 edges" in draw_thumbnail(truth)


def test_the_graphs_network_passes_an_output_on():
    x, y = make_tables()
    data = Data(x.to_numpy(), y.to_numpy(), tuple(x), tuple(y))
    problem = make_problem(data)
    turned = make_truth()
    turned.remove_edges_from([("a", "u0"), ("b", "u0"), ("u0", "u1")])
    turned.add_edges_from([("a", "u1"), ("b", "u1"), ("u1", "u0")])  # against the column order
    true, other = (
        refit_graph(g, problem, data.inputs, data.outputs) for g in (make_truth(), turned)
    )
    assert true.test_loss == pytest.approx(other.test_loss, abs=0.02)
    model = true.models[0]
    assert model.functions["u2"].parents == ("u0",)
    assert list(other.models[0].functions).index("u1") < list(other.models[0].functions).index("u0")
    values = model.predict(problem.x)
    assert np.corrcoef(values[0], values[2])[0, 1] > 0.99
    without = make_truth()
    without.remove_edge("u0", "u2")
    assert (
        refit_graph(without, problem, data.inputs, data.outputs).test_loss > true.test_loss + 0.05
    )


def test_a_what_if_follows_them_and_says_what_it_cannot_do(run):
    model = load_model(run)
    x, _ = make_tables()
    change = predict_do(model, x, inputs={"a": 2.0}).to_frame()["change"]
    assert change["u1"] < -0.5 < 0.5 < change["u3"]
    assert change["w"] == 0
    with pytest.raises(InputError, match="edges to cut must lead from an input or a latent, got"):
        predict_do(model, x, without=[("u0", "u1")])


def test_prior_knowledge_says_nothing_of_them(tmp_path):
    (tmp_path / "prior.csv").write_text("statement,first,second\nmust,a,u0\n")
    prior = load_prior(tmp_path / "prior.csv")
    x, y = make_tables()
    data = Data(x.to_numpy(), y.to_numpy(), tuple(x), tuple(y))
    with pytest.raises(InputError, match="output_edges must be off where there is prior knowledge"):
        plan_run(data, RunSettings(output_edges=True), prior)
