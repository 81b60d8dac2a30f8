import networkx as nx
import numpy as np
import pytest
from scipy.stats import norm, t

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, check_graph
from rinn.graphs.compare import score_graph
from rinn.graphs.export import EXPORTS, export_graph
from rinn.simulate.datasets import make_dataset
from rinn.strategies import find_strategy
from rinn.strategies.regression import detect_regression, find_z, group_inputs, make_graph

SETTINGS = RunSettings(strategy="regression")
STRONG = 30.0


def detect(x, y):
    names = [tuple(f"{letter}{i}" for i in range(table.shape[1])) for letter, table in
             (("x", x), ("y", y))]  # fmt: skip
    return detect_regression(Data(x, y, *names), SETTINGS).graphs[0]


def simulate(effects, samples=4000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, len(effects)))
    return x, x @ np.array(effects) + rng.normal(size=(samples, len(effects[0])))


def test_z_is_that_of_a_regression():
    x, y = simulate([[1, 0], [0.5, 0], [0, 0]], 300)
    design = np.column_stack([np.ones(300), x])
    slopes, residuals, *_ = np.linalg.lstsq(design, y, rcond=None)
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design))[:, None] * residuals / (300 - 4))
    ratio = (slopes / error)[1:]
    size = -norm.ppf(t.sf(np.abs(ratio), 300 - 4))
    np.testing.assert_allclose(find_z(x, y), np.sign(ratio) * size, rtol=1e-3)


def test_huge_effects_stay_finite():
    x = np.random.default_rng(0).normal(size=(500, 2))
    assert np.isfinite(find_z(np.column_stack([x, x[:, 0]]), x)).all()


def test_latents_of_a_fork_and_a_direct_edge():
    graph = detect(*simulate([[1, 1, 1, 0, 0], [1, -1, 1, 0, 0], [0, 0, 0, 1, 0]]))
    assert by_role(graph, "latent") == ["L1"]
    assert graph.has_edge("x2", "y3")
    assert "y4" not in {target for _, target in graph.edges}


def test_opposite_inputs_share_a_latent():
    graph = detect(*simulate([[1, 1, -1, 0], [-1, -1, 1, 0]]))
    (latent,) = by_role(graph, "latent")
    assert set(graph.predecessors(latent)) == {"x0", "x1"}
    assert graph["x0"][latent]["weight"] * graph["x1"][latent]["weight"] < 0


def test_latent_within_another_is_its_child():
    z = STRONG * np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]])
    graph = make_graph(group_inputs(z), z, 1000, ("a", "b", "c"), tuple("uvwxyz"))
    assert set(graph.edges) == {
        ("a", "L1"), ("L1", "L2"), ("L1", "x"), ("L1", "y"), ("b", "L2"), ("L2", "u"),
        ("L2", "v"), ("L2", "w"), ("c", "z"),
    }  # fmt: skip


def test_effect_of_one_input_beyond_its_group_is_a_direct_edge():
    z = STRONG * np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    graph = make_graph(group_inputs(z), z, 1000, ("a", "b", "c"), tuple("wxyz"))
    assert set(graph.predecessors("z")) == {"c"}
    assert set(graph.predecessors("L1")) == {"a", "b", "c"}


def test_nothing_is_found_in_noise():
    rng = np.random.default_rng(0)
    graph = detect(rng.normal(size=(500, 10)), rng.normal(size=(500, 10)))
    assert graph.number_of_edges() == 0


def test_graph_with_direct_edges_is_checked_scored_and_exported(tmp_path):
    world = make_dataset(
        "random", mechanism="gaussian", direct=3, levels=1, latents=3, outputs=24, seed=1
    )
    graph = detect_regression(as_data(world.x, world.y), SETTINGS).graphs[0]
    check_graph(graph)
    true = {edge for edge in world.truth.edges if edge[0][0] == "x" and edge[1][0] == "y"}
    assert true & set(graph.edges)
    scores = score_graph(graph, world.truth)
    assert scores.latents.f1 > 0.8
    assert score_graph(world.truth, world.truth).edges.f1 == 1
    without = nx.DiGraph(graph)
    without.remove_edges_from(true)
    assert score_graph(without, world.truth).edges.f1 < scores.edges.f1
    for name in EXPORTS:
        export_graph(graph, tmp_path / f"graph.{name}", name)


def test_refusals():
    with pytest.raises(InputError, match="trials must not be given with the strategy regression"):
        find_strategy(RunSettings(strategy="regression", trials=4))
    with pytest.raises(InputError, match=r"X must have at least 12 samples .* but has 8"):
        detect(np.eye(8, 10), np.eye(8, 2))
