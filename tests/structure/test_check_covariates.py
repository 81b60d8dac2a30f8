"""A graph beside data in which a tissue acts on inputs and outputs, and values are missing."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rinn.cli import run
from rinn.errors import InputError
from rinn.graphs.assumptions import check_assumptions
from rinn.graphs.files import write_graph
from rinn.runs.check import check_file
from rinn.structure.check import compare_with_data, correlate_pairs
from tiny_graphs import make_graph

# The only edges: x0 acts on y0 and y1.
GRAPH = make_graph(
    [("x0", "h"), ("h", "y0"), ("h", "y1")],
    inputs=[f"x{i}" for i in range(6)],
    outputs=[f"y{i}" for i in range(5)],
)


def draw_tumours(seed=0, samples=600, tissues=4):
    """Alterations and outputs of which each follows the tissue; y0 and y1 follow x0 besides."""
    rng = np.random.default_rng(seed)
    tissue = rng.integers(tissues, size=samples)
    x = (rng.random((samples, 6)) < rng.choice([0.05, 0.5], (tissues, 6))[tissue]).astype(float)
    chance = rng.choice([0.05, 0.6], (tissues, 5))[tissue]
    chance[:, :2] += 0.35 * x[:, :1]
    y = (rng.random((samples, 5)) < chance).astype(float)
    index = [f"s{n}" for n in range(samples)]
    names = np.array([f"t{number}" for number in tissue])
    return (
        pd.DataFrame(x, index, [f"x{i}" for i in range(6)]),
        pd.DataFrame(y, index, [f"y{i}" for i in range(5)]),
        pd.DataFrame({"tissue": names}, index),
    )


@pytest.mark.parametrize("given", ["inputs", "nothing"])
def test_a_tissue_that_is_held_fixed_contradicts_no_graph(given):
    x, y, z = draw_tumours()
    bare = compare_with_data(GRAPH, x, y, given=given)
    held = compare_with_data(GRAPH, x, y, given=given, covariates=z)
    assert len(bare.unexplained) > 3
    assert held.unexplained == held.silent == ()
    assert (bare.covariates, held.covariates) == ((), ("tissue",))
    assert held.pairs == bare.pairs == 30


def test_an_effect_within_tissues_still_shows():
    x, y, z = draw_tumours()
    empty = make_graph([], inputs=list(x.columns), outputs=list(y.columns))
    found = compare_with_data(empty, x, y, covariates=z)
    assert {(test.x, test.y) for test in found.unexplained} == {("x0", "y0"), ("x0", "y1")}


def test_few_right_graphs_are_contradicted():
    """At the level 0.05 about one in twenty."""
    wrong = 0
    for seed in range(40):
        x, y, z = draw_tumours(seed, samples=300)
        wrong += bool(compare_with_data(GRAPH, x, y, covariates=z).unexplained)
    assert wrong <= 5


def regress(x, y, z, place):
    """The t of one input by least squares on all inputs and levels, worked out the long way."""
    design = np.column_stack([np.ones(len(x)), x, z])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    left, freedom = y - design @ slopes, len(x) - design.shape[1]
    covariance = np.linalg.inv(design.T @ design) * (left @ left) / freedom
    t = slopes[1 + place] / np.sqrt(covariance[1 + place, 1 + place])
    return t, 2 * stats.t.sf(abs(t), freedom)


def test_equal_variances_give_the_usual_regression(monkeypatch):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(90, 2))
    x, y = rng.normal(size=(90, 4)) + z[:, :1], rng.normal(size=(90, 3)) - z[:, 1:]
    monkeypatch.setattr("rinn.structure.check.MIN_VARIANCE", 1e9)  # all are then the same
    found = correlate_pairs(x, y, z)
    for i in range(4):
        for o in range(3):
            assert found.p[i, o] == pytest.approx(regress(x, y[:, o], z, i)[1], rel=1e-6)


def test_an_input_of_one_tissue_is_judged_by_that_tissue():
    """x varies only where y is a coin; in the other nine tissues y is nearly always 0."""
    rng, small = np.random.default_rng(0), {"here": 0, "everywhere": 0}
    for _ in range(300):
        tissue = np.repeat(np.arange(10), 40)
        x = ((tissue == 0) & (rng.random(400) < 0.5)).astype(float)[:, None]
        y = (rng.random(400) < np.where(tissue == 0, 0.5, 0.01)).astype(float)[:, None]
        z = (tissue[:, None] == np.arange(1, 10)).astype(float)
        small["here"] += correlate_pairs(x, y, z).p[0, 0] < 0.05
        small["everywhere"] += regress(x, y[:, 0], z, 0)[1] < 0.05
    assert small["here"] <= 30  # 15 are expected
    assert small["everywhere"] > 60


def test_what_covariates_determine_is_not_tested():
    x, y, z = draw_tumours()
    x["x5"] = (z["tissue"] == "t1").astype(float)
    found = compare_with_data(GRAPH, x, y, covariates=z)
    assert found.untested == ("x5",)
    assert found.pairs == 25
    with pytest.raises(InputError, match="an input that others and covariates do not determine"):
        compare_with_data(GRAPH, x, y, covariates=x.add_prefix("z"))


def test_missing_outputs_are_tested_by_the_other_samples():
    x, y, z = draw_tumours()
    known = np.random.default_rng(1).random(600) < 0.6
    holed = y.where(pd.Series(known, y.index), np.nan).assign(y1=y["y1"], y4=y["y4"])
    found = correlate_pairs(x.to_numpy(), holed.to_numpy())
    for column in range(5):
        rows = np.ones(600, bool) if column in (1, 4) else known
        alone = correlate_pairs(x.to_numpy()[rows], y.to_numpy()[rows][:, [column]])
        np.testing.assert_allclose(found.p[:, column], alone.p[:, 0])
    held = compare_with_data(GRAPH, x, holed, covariates=z)
    assert held.unexplained == ()


def test_an_output_with_too_few_values():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 30)), rng.normal(size=(60, 2))
    y[:40, 1] = np.nan
    graph = make_graph([], inputs=[f"x{i}" for i in range(30)], outputs=["y0", "y1"])
    found = compare_with_data(graph, x, y)
    assert found.few == ("y1",)
    assert found.pairs == 30
    y[:30, 0], y[30:, 1] = np.nan, np.nan
    y[:30, 1] = rng.normal(size=30)
    with pytest.raises(InputError, match=r"at least 32 samples to hold .* fixed, but have 30"):
        compare_with_data(graph, x, y)


@pytest.fixture
def files(tmp_path):
    for name, table in zip("xyz", draw_tumours(), strict=True):
        table.to_csv(tmp_path / f"{name}.csv", index_label="sample")
    write_graph(GRAPH, tmp_path / "graph.json")
    return tmp_path


def test_command_line(files, capsys):
    words = ["check", files / "graph.json", "--x", files / "x.csv", "--y", files / "y.csv"]
    more = ["--covariates", files / "z.csv"]
    assert run([str(word) for word in [*words, *more]]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "all other inputs and tissue held fixed" in said
    assert "in the data but not in the graph: 0 pairs" in said
    assert run([str(word) for word in [*words, *more, "--json"]]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    assert found["covariates"] == ["tissue"]
    assert found["unexplained"] == found["few"] == []
    with pytest.raises(InputError, match="covariates must come with x and y"):
        check_file(files / "graph.json", covariates=files / "z.csv")


def list_slowly(graph, role):
    return [
        f"{a} -> {b}"
        for a in graph
        for b in graph
        if graph.nodes[a]["role"] == graph.nodes[b]["role"] == role and a in nx.ancestors(graph, b)
    ]


@pytest.mark.parametrize(
    "edges",
    [
        [("x0", "h"), ("h", "x1"), ("x1", "k"), ("k", "y0")],
        [("x0", "h"), ("h", "y0"), ("y0", "y1"), ("y1", "y2")],
    ],
)
def test_all_pairs_of_one_side_are_counted(edges):
    graph = make_graph(edges)
    detail = check_assumptions(graph)[3].detail
    pairs = list_slowly(graph, "input") or list_slowly(graph, "output")
    assert pairs
    assert all(pair in detail for pair in pairs)


def test_hundreds_of_inputs_take_no_time(monkeypatch):
    """One look at the ancestors of each node, not of each pair."""
    inputs, outputs = ([f"{side}{i}" for i in range(n)] for side, n in (("x", 300), ("y", 60)))
    edges = [(name, f"h{i % 9}") for i, name in enumerate(inputs)]
    edges += [(f"h{i % 9}", name) for i, name in enumerate(outputs)]
    asked, find = [], nx.ancestors
    monkeypatch.setattr(nx, "ancestors", lambda *all_: asked.append(1) or find(*all_))
    check_assumptions(make_graph(edges))
    assert len(asked) < 2000
